# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# Faults of the switch. Sourced by 'fault' after switch.sh. What it does to packets it does on the way out of the bonds, both
# ways, so that each node sees it in what it receives. LACPDUs do not pass the bonds' queues and stay untouched.

fabric=(bond-a bond-b)
to_ports=(a0 a1)

# drop_egress TYPE PORT...: drops all frames of an Ethernet type.
drop_egress() {
	local type=$1 port
	shift
	for port in "$@"; do
		tc qdisc add dev "$port" clsact
		tc filter add dev "$port" egress protocol "$type" matchall action drop
	done
}

undo_egress() {
	local port
	for port in "$@"; do
		tc qdisc del dev "$port" clsact
	done
}

# rewrite_roce MATCH... -- VALUE RETAIN: changes the bits of the DS field of RoCEv2 packets that RETAIN names.
# The invariant CRC of RoCEv2 leaves the DS field out, the IP checksum does not.
rewrite_roce() {
	local port match=()
	while [[ $1 != -- ]]; do
		match+=("$1")
		shift
	done
	for port in "${fabric[@]}"; do
		tc filter add dev "$port" egress protocol ip flower ip_proto udp dst_port 4791 "${match[@]}" \
			action pedit ex munge ip dsfield set "$2" retain "$3" pipe action csum ip
	done
}

netem() {
	local port
	for port in "${fabric[@]}"; do
		tc qdisc add dev "$port" root netem "$@"
	done
}

undo_netem() {
	local port
	for port in "${fabric[@]}"; do
		tc qdisc del dev "$port" root
	done
}

clsact() {
	local port
	for port in "${fabric[@]}"; do
		tc qdisc add dev "$port" clsact
	done
}

inject_lacp_silent() {
	drop_egress 0x8809 "${to_ports[@]}"
}

heal_lacp_silent() {
	undo_egress "${to_ports[@]}"
}

inject_remark_dscp0() {
	clsact
	rewrite_roce -- 0 0xfc
}

heal_remark_dscp0() {
	undo_egress "${fabric[@]}"
}

shows_remark_dscp0() {
	[[ $(tc filter show dev bond-b egress) == *pedit* ]]
}

# Only ECN-capable packets get the mark: ECT(0) is 2, ECT(1) is 1, CE is 3.
inject_ce_mark() {
	clsact
	rewrite_roce ip_tos 2/3 -- 3 3
	rewrite_roce ip_tos 1/3 -- 3 3
}

heal_ce_mark() {
	undo_egress "${fabric[@]}"
}

shows_ce_mark() {
	shows_remark_dscp0
}

inject_loss1() {
	netem loss 1%
}

heal_loss1() {
	undo_netem
}

shows_loss1() {
	[[ $(tc qdisc show dev bond-b) == *netem* ]]
}

# Two packets in a hundred overtake the others, which wait.
inject_reorder2() {
	netem delay 2ms reorder 2%
}

heal_reorder2() {
	undo_netem
}

shows_reorder2() {
	shows_loss1
}
