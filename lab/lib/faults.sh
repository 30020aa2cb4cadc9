# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# Faults, one at a time. What happens in a guest is in lab/guest/fault; cables are pulled here, at the QEMUs.

# One line per fault: name, where it is made ('wire': here), where it shows, what it is.
fault_table() {
	cat <<-'EOT'
		bond-port-down    wire         gpu-node-01  the cable of one bond1 port is pulled
		lacp-silent       switch-01    gpu-node-01  the switch sends no LACPDUs to the node
		mtu-member        gpu-node-01  gpu-node-01  one bond1 port has MTU 1500, the bond and the other port 9000
		bond-mode         gpu-node-01  gpu-node-01  bond1 is active-backup
		address-missing   gpu-node-01  gpu-node-01  bond1 has no IPv4 address
		rxe-missing       gpu-node-01  gpu-node-01  bond1 has no RDMA device
		pfc-p0            gpu-node-01  gpu-node-01  PFC is on for priority 0 as well as 3
		dscp-missing      gpu-node-01  gpu-node-01  DSCP 24 has no priority
		tc3-zero          gpu-node-01  gpu-node-01  traffic class 3 has 0 % of the bandwidth
		rdma-ucm-missing  gpu-node-01  gpu-node-01  module rdma_ucm is not loaded
		memlock-64k       gpu-node-01  gpu-node-01  commands without CAP_IPC_LOCK may lock 64 KiB of memory
		mtu-peer          aistor-01    aistor-01    bond1 of the storage node has MTU 1500
		link-down         wire         aistor-01    both cables of bond1 of the storage node are pulled
		remark-dscp0      switch-01    switch-01    the switch sets the DSCP of RoCE packets to 0
		ce-mark           switch-01    switch-01    the switch marks ECN-capable RoCE packets CE
		loss1             switch-01    switch-01    the switch loses 1 % of the packets between the nodes
		reorder2          switch-01    switch-01    the switch lets 2 % of the packets overtake others
	EOT
}

# Prints where a fault is made and where it shows.
fault_places() {
	fault_table | awk -v name="$1" '$1 == name { print $2, $3 }'
}

fault_list() {
	fault_table | awk '{ name = $1; $1 = $2 = $3 = ""; sub(/^ +/, ""); printf "%-17s %s\n", name, $0 }'
}

need_fault() {
	[[ -n $(fault_places "$1") ]] || usage_error "no fault '$1' (see 'lab fault --list')"
}

fault_active() {
	[[ -e $run/fault ]] && cat "$run/fault"
}

# set_wire NAME true|false: a cable has two ends, and both see it go.
set_wire() {
	local wire=$1 state=$2 node
	for node in switch-01 gpu-node-01 aistor-01; do
		[[ $(nics_of "$node") == *"id=nic-$wire,"* ]] || continue
		(cd "$run" && "$lab/lib/qmp" "$node.qmp" set_link "{\"name\": \"nic-$wire\", \"up\": $state}") >/dev/null ||
			die "cannot change the link $wire at $node"
	done
}

set_wires_of() {
	local fault=$1 state=$2 wire wires=()
	case $fault in
	bond-port-down) wires=(a1) ;;
	link-down) wires=(b0 b1) ;;
	esac
	for wire in "${wires[@]}"; do
		set_wire "$wire" "$state"
	done
}

# fault_step inject|heal NAME PLACE
fault_step() {
	local step=$1 name=$2 place=$3 state=false
	[[ $step == heal ]] && state=true
	if [[ $place == wire ]]; then
		set_wires_of "$name" "$state"
	else
		guest "$place" /opt/lab/fault "$step" "$name" || die "$place: cannot $step $name"
	fi
}

fault_inject() {
	local name=$1 active made shows
	need_fault "$name"
	need_lab
	lock_lab fault
	active=$(fault_active) && die "fault $active is there already (heal it first: one at a time)"
	read -r made shows < <(fault_places "$name")
	echo "$name" >"$run/fault"
	fault_step inject "$name" "$made"
	guest "$shows" /opt/lab/fault await "$name" >&2 || die "$name was injected but does not show on $shows"
	say "fault $name: $(fault_list | awk -v name="$name" '$1 == name { $1 = ""; sub(/^ +/, ""); print }')"
}

fault_heal() {
	local name=${1:-} active made node
	[[ -z $name ]] || need_fault "$name"
	need_lab
	lock_lab fault
	active=$(fault_active) || {
		say "no fault to heal"
		return
	}
	[[ -z $name || $name == "$active" ]] || die "the fault that is there is $active, not $name"
	read -r made _ < <(fault_places "$active")
	fault_step heal "$active" "$made"
	for node in "${rdma_nodes[@]}"; do
		guest "$node" /opt/lab/fault await healthy >&2 || die "$node does not recover from $active (restart the lab)"
	done
	rm "$run/fault"
	say "healed $active"
}
