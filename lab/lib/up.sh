# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# Starts and stops the guests.

# Ports of the exec channel per guest: so many commands can run side by side.
exec_ports=8
# The second line only saves time: self tests, address randomisation and audits cost seconds under emulation.
kernel_options="console=ttyS0 quiet panic=-1 \
mitigations=off nokaslr cryptomgr.notests tsc=reliable no_timer_check random.trust_cpu=on audit=0 apparmor=0 selinux=0"
boot_attempts=3
boot_timeout_s=${LAB_TIMEOUT:-180}

# A wire joins two guests. The first end listens, so it is the guest that starts first: the switch.
# wire ROLE NAME: prints the -netdev option of one end.
wire() {
	local role=$1 name=$2 server=off
	[[ $role == listen ]] && server=on
	printf 'stream,id=%s,server=%s,addr.type=unix,addr.path=wire-%s\n' "$name" "$server" "$name"
}

# nic SLOT MAC ROLE WIRE: prints the options of one NIC, one per line. Speed and duplex are said because a bond gives a
# port of unknown speed the LACP key 0, with which it never aggregates.
nic() {
	local slot=$1 mac=$2 role=$3 name=$4
	printf '%s\n' -netdev "$(wire "$role" "$name")" \
		-device "virtio-net-pci,id=nic-$name,netdev=$name,mac=$mac,addr=$slot,multifunction=on,romfile=,speed=25000,duplex=full"
}

# The NICs of a guest. lab/guest/setup names them by MAC address; the last byte says which port it is.
nics_of() {
	case $1 in
	switch-01)
		nic 03.0 52:54:00:01:fe:01 listen mgmt-a
		nic 03.1 52:54:00:01:fe:02 listen mgmt-b
		nic 10.0 52:54:00:01:fe:11 listen a0
		nic 10.1 52:54:00:01:fe:12 listen a1
		nic 11.0 52:54:00:01:fe:21 listen b0
		nic 11.1 52:54:00:01:fe:22 listen b1
		;;
	gpu-node-01)
		nic 03.0 52:54:00:01:0b:01 connect mgmt-a
		nic 10.0 52:54:00:01:0b:11 connect a0
		nic 10.1 52:54:00:01:0b:12 connect a1
		;;
	aistor-01)
		nic 03.0 52:54:00:01:15:01 connect mgmt-b
		nic 10.0 52:54:00:01:15:11 connect b0
		nic 10.1 52:54:00:01:15:12 connect b1
		;;
	esac
}

memory_of() {
	case $1 in
	switch-01) echo 512M ;;
	*) echo 2G ;;
	esac
}

# The ports of the exec channel of a guest, one option per line.
exec_channel_of() {
	local node=$1 number
	printf '%s\n' -device virtio-serial-pci,id=exec,addr=06.0
	for ((number = 0; number < exec_ports; number++)); do
		printf '%s\n' -chardev "socket,id=exec$number,path=$node.exec$number,server=on,wait=off" \
			-device "virtserialport,bus=exec.0,chardev=exec$number,name=exec$number"
	done
}

# close_inherited: a guest outlives its caller, whose locks and pipes it must not keep open.
close_inherited() {
	local fd
	for fd in "/proc/$BASHPID/fd"/*; do
		fd=${fd##*/}
		((fd <= 2)) || exec {fd}>&-
	done
}

# CPU: all features, so that the host's programs run whatever they were built for; but not a fifth level of page tables,
# which emulation walks in software.
start_guest() {
	local node=$1 options
	mapfile -t options < <(nics_of "$node"; exec_channel_of "$node")
	options+=(
		-name "$node" -nodefaults -display none -no-reboot
		-M "q35,accel=tcg,hpet=off,smbus=off,sata=off,i8042=off,vmport=off" -cpu "max,la57=off" -smp 1 -m "$(memory_of "$node")"
		-kernel "$(kernel_image)" -initrd "$initrd"
		-append "$kernel_options lab.node=$node lab.top=$top lab.cache=$cache"
		-serial "file:$node.console"
		-qmp "unix:$node.qmp,server=on,wait=off"
		-virtfs "local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$top,mount_tag=top,security_model=none,readonly=on,multidevs=remap"
		-pidfile "$run/$node.pid" -daemonize
	)
	# Names of sockets are relative, because a socket's path must be short and that of a build folder need not be.
	(cd "$run" && close_inherited && exec qemu-system-x86_64 "${options[@]}") || die "$node: QEMU does not start"
}

console_says() {
	grep -aq "$2" "$run/$1.console" 2>/dev/null
}

# not_up NODE REASON: says why a guest did not come up, and keeps all consoles, since the state folder will go.
not_up() {
	say "$1 $2; last lines on its console:"
	tail -n 20 "$run/$1.console" >&2
	mkdir -p "$cache/consoles"
	cp "$run"/*.console "$cache/consoles"
	say "the consoles are kept in $cache/consoles"
	return 1
}

# Fails when a guest says that it failed, has ended, or took too long.
wait_for_guest() {
	local node=$1 deadline=$2
	until console_says "$node" '^lab: ready'; do
		if console_says "$node" '^lab: failed'; then
			not_up "$node" 'did not come up' || return
		elif ! node_pid "$node" >/dev/null; then
			not_up "$node" 'ended while it started' || return
		elif ((SECONDS >= deadline)); then
			not_up "$node" "was not ready after $boot_timeout_s s (LAB_TIMEOUT sets the limit)" || return
		fi
		sleep 0.2
	done
	say "$node is ready ($SECONDS s)"
}

boot_guests() {
	local node deadline=$((SECONDS + boot_timeout_s))
	mkdir -m 700 "$run"
	for node in "${nodes[@]}"; do
		start_guest "$node"
	done
	say "booting ${nodes[*]}"
	for node in "${nodes[@]}"; do
		wait_for_guest "$node" "$deadline" || return
	done
}

# With LAB_KEEP set the guests stay, to look at what went wrong.
give_up() {
	if [[ -n ${LAB_KEEP:-} ]]; then
		touch "$run/up"
		trap - EXIT
	fi
	die 'the lab did not come up'
}

kernel_died() {
	grep -aq 'Kernel panic' "$run"/*.console
}

# Seen once, on a host that was so busy that a guest took 14 s to start instead of 4; the cause was not found.
lacp_did_not_settle() {
	grep -aq '^lab: failed: bond1 has both ports in one aggregator' "$run"/*.console
}

stop_guest() {
	local node=$1 pid tries
	pid=$(node_pid "$node") || return 0
	kill "$pid" 2>/dev/null || return 0
	for ((tries = 0; tries < 50; tries++)); do
		node_pid "$node" >/dev/null || return 0
		sleep 0.1
	done
	say "$node (pid $pid) does not end, killing it"
	kill -KILL "$pid" 2>/dev/null || true
}

stop_all() {
	local node
	for node in "${nodes[@]}"; do
		stop_guest "$node"
	done
	rm -rf "$run"
}

lab_up() {
	need_tool qemu-system-x86_64 qemu-system-x86
	lock_lab guests
	if lab_is_up; then
		say "the lab is already up"
		return
	fi
	prepare_all
	stop_all
	trap 'trap - EXIT; stop_all' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	until boot_guests; do
		((--boot_attempts > 0)) || give_up
		# Seen about once in a hundred boots, under load, before the first program runs.
		if kernel_died; then
			say 'a guest kernel died under emulation, booting again'
		elif lacp_did_not_settle; then
			say 'LACP did not settle under emulation, booting again'
		else
			give_up
		fi
		stop_all
	done
	touch "$run/up"
	trap - EXIT INT TERM HUP
	say "the lab is up"
}

lab_down() {
	lock_lab guests
	[[ -d $run ]] || {
		say "the lab is not up"
		return
	}
	stop_all
	say "the lab is down"
}

lab_status() {
	local node pid fault up=true
	for node in "${nodes[@]}"; do
		if pid=$(node_pid "$node"); then
			printf '%-12s running, pid %s\n' "$node" "$pid"
		else
			printf '%-12s not running\n' "$node"
			up=false
		fi
	done
	if fault=$(fault_active); then
		printf 'fault        %s\n' "$fault"
	fi
	[[ $up == true ]]
}
