# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# Links and bonds, for nodes and switch.

fabric_mtu=9000

# The last byte of a NIC's MAC address tells which one it is (see lab/lib/up.sh).
# name_nics BYTE=NAME...
name_nics() {
	local link address pair
	for link in /sys/class/net/*; do
		[[ -e $link/address ]] || continue	# bonding_masters is no link
		read -r address <"$link/address"
		for pair in "$@"; do
			[[ $address == 52:54:00:01:*:"${pair%%=*}" ]] || continue
			echo "link set ${link##*/} name ${pair#*=}"
		done
	done | ip -batch -
}

# min_links: without it a bond says that it has carrier when it has lost its last port.
# Prints the commands for 'ip -batch' that make a bond: bond_commands NAME MODE MTU PORT...
bond_commands() {
	local bond=$1 mode=$2 mtu=$3 port options='miimon 100'
	shift 3
	[[ $mode == 802.3ad ]] && options+=' lacp_rate fast min_links 1 xmit_hash_policy layer3+4'
	echo "link add $bond type bond mode $mode $options"
	echo "link set $bond mtu $mtu"
	for port in "$@"; do
		echo "link set $port down"
		echo "link set $port master $bond"
	done
	echo "link set $bond up"
}

# True if a bond has all of its ports in one aggregator with a partner that answers.
# bond_negotiated BOND PORTS
bond_negotiated() {
	local folder=/sys/class/net/$1/bonding partner ports
	read -r partner <"$folder/ad_partner_mac" && read -r ports <"$folder/ad_num_ports" || return 1
	[[ $partner != 00:00:00:00:00:00 && $ports == "$2" ]]
}

# Nothing ever arrives here, so that reading from it with a time limit is a sleep that starts no process.
exec {never}<> <(:)

nap() {
	read -rt "$1" -u "$never" || true
}

# wait_until SECONDS WHAT COMMAND...: polls a condition; WHAT is for the message.
wait_until() {
	local limit=$1 what=$2 deadline
	shift 2
	deadline=$((SECONDS + limit))
	until "$@"; do
		if ((SECONDS >= deadline)); then
			echo "$what: not so after $limit s"
			return 1
		fi
		nap 0.2
	done
}
