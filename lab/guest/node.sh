# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# A node: bond0 for management, bond1 with RoCE. Small steps, because a fault takes some of them back and heals by
# repeating them.

mgmt_mtu=1500
roce_ports=(roce0 roce1)
roce_dscp=24
roce_priority=3
bond1_mode=802.3ad
lacp_limit_s=60

case $(</proc/sys/kernel/hostname) in
gpu-node-01) host_byte=11 ;;
aistor-01) host_byte=21 ;;
esac
mgmt_address=10.0.0.$host_byte/24
roce_address=10.10.1.$host_byte/24

load_modules() {
	modprobe -a virtio_net rdma_rxe rdma_ucm
	# max_bonds: without it the module makes a bond0 of its own.
	modprobe bonding max_bonds=0
}

name_ports() {
	name_nics 01=mgmt0 11=roce0 12=roce1
}

bond0_make() {
	{
		echo 'link set lo up'
		bond_commands bond0 active-backup "$mgmt_mtu" mgmt0
		echo "addr add $mgmt_address dev bond0"
	} | ip -batch -
}

address_add() {
	ip addr add "$roce_address" dev bond1
}

# bond1_make MODE
bond1_make() {
	{
		bond_commands bond1 "$1" "$fabric_mtu" "${roce_ports[@]}"
		echo "addr add $roce_address dev bond1"
	} | ip -batch -
}

bond1_remove() {
	ip link del bond1
}

# dcb_once WORD...: 'dcb' of iproute2 6.1 numbers its messages by the second, and takes what is left of the one before
# as "Protocol error" when a second ends in between. The setting may have been made then.
dcb_once() {
	local said words=("$@")
	for _ in 1 2 3; do
		if { said=$(dcb "${words[@]}" 2>&1 >&3); } 3>&1; then
			return
		fi
		[[ $said == *'Protocol error'* ]] || break
		# what is there already is not added again
		[[ ${words[*]:0:2} != 'app add' ]] || words[1]=replace
	done
	echo "$said" >&2
	return 1
}

# dcb_ports COMMAND...: runs dcb commands on both ports. %s in a command stands for the port.
# One process per command: 'dcb -batch' of iproute2 6.1 mixes up the replies of its second command.
dcb_ports() {
	local port command words
	for port in "${roce_ports[@]}"; do
		for command in "$@"; do
			read -ra words <<<"${command/\%s/$port}"
			dcb_once "${words[@]}"
		done
	done
}

# qos_dscp add|del
qos_dscp() {
	dcb_ports "app $1 dev %s dscp-prio $roce_dscp:$roce_priority"
}

# Traffic classes from 0 without a gap, so that class 3 needs four: best effort gets what RoCE does not.
# qos_ets PERCENT_OF_TC0 PERCENT_OF_TC3
qos_ets() {
	dcb_ports "ets set dev %s willing off tc-tsa all:ets tc-bw all:0 0:$1 3:$2 prio-tc all:0 1:1 2:2 3:3"
}

# qos_pfc PRIORITY...: switches PFC on for these priorities and off for the others.
qos_pfc() {
	dcb_ports "pfc set dev %s prio-pfc all:off ${*/%/:on}"
}

# In the order that ice asks for: DSCP first, because its first entry resets ETS, and all of it before the ports are bonded.
qos_make() {
	local ports
	printf -v ports '%s,' "${roce_ports[@]}"
	insmod /opt/lab/dcbsim.ko "devices=${ports%,}"
	dcb_ports 'dcbx set dev %s host ieee'
	qos_dscp add
	qos_ets 50 50
	qos_pfc "$roce_priority"
}

rxe_add() {
	rdma link add rxe0 type rxe netdev bond1
	tos_set
}

rxe_remove() {
	rdma link del rxe0
}

# RDMA-CM has its own default, which is a whole traffic class byte and not a DSCP. It lives as long as the RDMA device.
tos_set() {
	local folder=/sys/kernel/config/rdma_cm/rxe0
	mkdir -p "$folder"
	echo $((roce_dscp << 2)) >"$folder/ports/1/default_roce_tos"
}

bond1_ready() {
	bond_negotiated bond1 "${#roce_ports[@]}"
}

rxe_ready() {
	local state
	read -r state </sys/class/infiniband/rxe0/ports/1/state && [[ $state == *ACTIVE ]]
}

node_setup() {
	load_modules
	name_ports
	qos_make
	bond0_make
	bond1_make "$bond1_mode"
	rxe_add
	wait_until "$lacp_limit_s" 'bond1 has both ports in one aggregator with a partner' bond1_ready
	wait_until 5 'rxe0 is active' rxe_ready
}
