#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In an RDMA test pod: find the device and the GID of this node, then run ib_write_bw. It is given
#
#	RDMA_GID     GID to use, as sysfs writes it; empty: the RoCEv2 GID of a link of this pod
#	RDMA_DEVICE  only this device, or empty
#	RDMA_TOS     traffic class of the packets (the IP ToS byte: DSCP times four), or empty
#	RDMA_PORT    TCP port on which the two sides meet
#	RDMA_PEER    the server's name or address; empty: this is the server
#	RDMA_CM      1: connect by RDMA-CM
set -eu

: "${SYSFS:=/sys}"

fail() {
	echo "rdma-pod: $*" >&2
	exit 1
}

# Is this GID the one to use? $1 is the GID, $2 its link.
wanted() {
	if [ -n "${RDMA_GID:-}" ]; then
		[ "$1" = "$RDMA_GID" ]
		return
	fi
	case $1 in
	fe80:*) return 1 ;;
	esac
	[ -e "$SYSFS/class/net/$2" ]
}

find_gid() {
	for file in "$SYSFS"/class/infiniband/*/ports/*/gids/*; do
		[ -r "$file" ] || continue
		index=${file##*/}
		port_path=${file%/gids/*}
		device=${port_path%/ports/*}
		device=${device##*/}
		[ -z "${RDMA_DEVICE:-}" ] || [ "$device" = "$RDMA_DEVICE" ] || continue
		gid=$(cat "$file" 2>/dev/null) || continue
		type=$(cat "$port_path/gid_attrs/types/$index" 2>/dev/null) || continue
		link=$(cat "$port_path/gid_attrs/ndevs/$index" 2>/dev/null) || link=
		[ "$type" = "RoCE v2" ] || continue
		wanted "$gid" "$link" || continue
		port=${port_path##*/}
		return 0
	done
	return 1
}

echo "locked memory, soft and hard: $(sed -n 's/^Max locked memory  *//p' /proc/self/limits)"
echo "capabilities: $(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)"
find_gid || fail "no RoCEv2 GID ${RDMA_GID:-of a link of this pod}: the pod sees" \
	"$(cat "$SYSFS"/class/infiniband/*/ports/*/gids/* 2>/dev/null | grep -cv '^0000:0000:0000:0000:0000:0000:0000:0000$' || true) GIDs"
echo "device $device, port $port, GID index $index, link $link"

set -- --ib-dev="$device" --ib-port="$port" --gid-index="$index" --port="$RDMA_PORT" --report_gbits -F
[ -z "${RDMA_TOS:-}" ] || set -- "$@" --tclass="$RDMA_TOS"
[ -z "${RDMA_CM:-}" ] || set -- "$@" --rdma_cm
if [ -z "${RDMA_PEER:-}" ]; then
	exec ib_write_bw "$@"
fi
# the server's pod may start later; ib_write_bw itself tries once
attempt=1
until ib_write_bw "$@" "$RDMA_PEER"; do
	[ "$attempt" -lt "${ATTEMPTS:-30}" ] || fail "no connection to $RDMA_PEER"
	attempt=$((attempt + 1))
	sleep "${PAUSE:-2}"
done
