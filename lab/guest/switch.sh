# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# The switch: one bridge between the two LACP bonds of the nodes, one for management.

switch_setup() {
	modprobe -a virtio_net bonding bridge
	name_nics 01=mgmt-a 02=mgmt-b 11=a0 12=a1 21=b0 22=b1
	{
		echo 'link set lo up'
		bond_commands bond-a 802.3ad "$fabric_mtu" a0 a1
		bond_commands bond-b 802.3ad "$fabric_mtu" b0 b1
		echo "link add br-fabric mtu $fabric_mtu type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
		echo 'link set bond-a master br-fabric'
		echo 'link set bond-b master br-fabric'
		echo 'link set br-fabric up'
		echo 'link add br-mgmt type bridge stp_state 0 forward_delay 0 mcast_snooping 0'
		echo 'link set mgmt-a master br-mgmt up'
		echo 'link set mgmt-b master br-mgmt up'
		echo 'link set br-mgmt up'
	} | ip -batch -
}
