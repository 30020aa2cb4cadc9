# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# What every part of the lab shares: where things are, how to speak to the user, how to reach a guest.

# The folder above lab/ is the one that the guests see at the same path.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
lab=$top/lab
cache=$(realpath -m "${LAB_CACHE:-$top/build/lab}")
# State of a running lab: sockets, pid files, consoles.
run=$cache/run

nodes=(switch-01 gpu-node-01 aistor-01)
rdma_nodes=(gpu-node-01 aistor-01)

say() {
	printf 'lab: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 1
}

usage_error() {
	say "$@"
	say "try 'lab --help'"
	exit 2
}

need_tool() {
	command -v "$1" >/dev/null || die "$1 is missing (Debian package: $2)"
}

node_is_known() {
	local node
	for node in "${nodes[@]}"; do
		[[ $node == "$1" ]] && return
	done
	return 1
}

need_node() {
	node_is_known "$1" || usage_error "no node '$1' (nodes: ${nodes[*]})"
}

# Prints the pid of a guest's QEMU if it runs. The pid file alone is no proof: the number may be somebody else's by now.
node_pid() {
	local pid pid_file=$run/$1.pid arguments argument
	[[ -r $pid_file ]] && read -r pid <"$pid_file" || return 1
	mapfile -d '' arguments 2>/dev/null <"/proc/$pid/cmdline" || return 1
	for argument in "${arguments[@]}"; do
		[[ $argument == "$pid_file" ]] || continue
		printf '%s\n' "$pid"
		return 0	# said, because a bare return in a trap gives the status from before the trap
	done
	return 1
} 2>/dev/null

lab_is_up() {
	[[ -e $run/up ]] && node_pid "${nodes[0]}" >/dev/null
}

need_lab() {
	lab_is_up || die "the lab is not up (start it with 'lab up')"
}

# Runs a command of the lab's own in a guest: guest NODE COMMAND [ARG...]. Without standard input, which a loop may be
# reading, and within a time limit.
guest() {
	timeout "${LAB_TIMEOUT:-180}" "$cache/bin/labexec" "$run" "$@" </dev/null
}

# lock_lab NAME: one process at a time starts and stops guests ('guests'), one changes what they are ('fault'). Two locks, so
# that a fault that hangs does not keep 'down' from working. Held until the process ends.
lock_lab() {
	mkdir -p "$cache"
	exec {lab_lock}>"$cache/$1.lock"
	flock --nonblock "$lab_lock" || die "another lab command is at work in $cache"
}
