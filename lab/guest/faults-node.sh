# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# Faults of a node. Sourced by 'fault' after node.sh.

net=/sys/class/net

# is FILE VALUE: true if a file of sysfs holds this value.
is() {
	local value
	read -r value <"$1" && [[ $value == "$2" ]]
} 2>/dev/null

has_address() {
	[[ $(ip -brief addr show dev bond1) == *" $roce_address "* ]]
}

# qos_is DSCP P0 P3 PERCENT: true if both ports have the DSCP entry ('yes' or 'no'), PFC on P0 and P3 ('on' or 'off') and
# this much bandwidth for traffic class 3.
qos_is() {
	local state line ports=0 dscp=no
	state=$(dcb_ports 'app show dev %s dscp-prio' 'pfc show dev %s prio-pfc' 'ets show dev %s tc-bw')
	while read -r line; do
		case "$line " in
		dscp-prio*:"$roce_priority "*) dscp=yes ;;
		prio-pfc*) [[ "$line " == *" 0:$2 "*" 3:$3 "* ]] || return ;;
		tc-bw*) [[ "$line " == *" 3:$4 "* && $dscp == "$1" ]] && ports=$((ports + 1)) dscp=no ;;
		esac
	done <<<"$state"
	((ports == ${#roce_ports[@]}))
}

shows_healthy() {
	local port
	bond1_ready && rxe_ready && is "$net/bond1/bonding/mode" '802.3ad 4' || return
	is /sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos "$((roce_dscp << 2))" || return
	[[ -e /dev/infiniband/rdma_cm && $(ulimit -l) == unlimited ]] || return
	for port in bond1 "${roce_ports[@]}"; do
		is "$net/$port/mtu" "$fabric_mtu" && is "$net/$port/carrier" 1 || return
	done
	has_address && qos_is yes off on 50
}

# The cable is pulled from outside (see lab/lib/faults.sh); here it only shows.
shows_bond_port_down() {
	is "$net/roce1/carrier" 0 && is "$net/bond1/bonding/ad_num_ports" 1
}

shows_link_down() {
	is "$net/bond1/carrier" 0
}

# The partner's information times out after three missed LACPDUs; what is left are the defaults, and those are zero.
shows_lacp_silent() {
	is "$net/bond1/bonding/ad_partner_mac" 00:00:00:00:00:00
}

inject_mtu_member() {
	ip link set roce1 mtu 1500
}

heal_mtu_member() {
	ip link set roce1 mtu "$fabric_mtu"
}

shows_mtu_member() {
	is "$net/roce1/mtu" 1500 && is "$net/bond1/mtu" "$fabric_mtu"
}

# Removing the bond removes the RDMA link with it.
inject_bond_mode() {
	bond1_remove
	bond1_make active-backup
	rxe_add
}

heal_bond_mode() {
	bond1_remove
	bond1_make "$bond1_mode"
	rxe_add
}

shows_bond_mode() {
	is "$net/bond1/bonding/mode" 'active-backup 1' && is "$net/bond1/carrier" 1 && rxe_ready
}

inject_address_missing() {
	ip addr del "$roce_address" dev bond1
}

heal_address_missing() {
	address_add
}

shows_address_missing() {
	! has_address
}

inject_rxe_missing() {
	rxe_remove
}

heal_rxe_missing() {
	rxe_add
}

shows_rxe_missing() {
	[[ ! -e /sys/class/infiniband/rxe0 ]]
}

inject_pfc_p0() {
	qos_pfc 0 "$roce_priority"
}

heal_pfc_p0() {
	qos_pfc "$roce_priority"
}

shows_pfc_p0() {
	qos_is yes on on 50
}

inject_dscp_missing() {
	qos_dscp del
}

heal_dscp_missing() {
	qos_dscp add
}

shows_dscp_missing() {
	qos_is no off on 50
}

inject_tc3_zero() {
	qos_ets 100 0
}

heal_tc3_zero() {
	qos_ets 50 50
}

shows_tc3_zero() {
	qos_is yes off on 0
}

# Not 'modprobe -r', which would take rdma_cm and its default ToS with it.
inject_rdma_ucm_missing() {
	rmmod rdma_ucm
}

heal_rdma_ucm_missing() {
	modprobe rdma_ucm
}

shows_rdma_ucm_missing() {
	[[ ! -e /dev/infiniband/rdma_cm ]]
}

# Commands inherit their limits from the agents that start them.
agents_memlock() {
	local comm
	for comm in /proc/[0-9]*/comm; do
		is "$comm" labagent || continue
		comm=${comm#/proc/}
		prlimit --pid "${comm%/comm}" --memlock="$1:$1"
	done
}

inject_memlock_64k() {
	agents_memlock 65536
}

heal_memlock_64k() {
	agents_memlock unlimited
}

shows_memlock_64k() {
	[[ $(ulimit -l) == 64 ]]
}

inject_mtu_peer() {
	ip link set bond1 mtu 1500
}

heal_mtu_peer() {
	ip link set bond1 mtu "$fabric_mtu"
}

shows_mtu_peer() {
	is "$net/bond1/mtu" 1500 && is "$net/roce0/mtu" 1500
}
