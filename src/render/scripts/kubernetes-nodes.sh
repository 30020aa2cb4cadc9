#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Labels and the taint of this site's nodes. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/settings.sh"

usage() {
	cat <<EOF
Usage: nodes.sh [--dry-run] (label | taint | prove | list) [NODE...]

  label  set the declared labels (nodes.txt), of all nodes when none is named
  taint  set $TAINT: nothing else is scheduled on the node
  prove  remove that taint, when the node's gates have passed
  list   nodes that still have it

  --dry-run  say which commands would run
EOF
}

die() {
	printf 'nodes.sh: %s\n' "$*" >&2
	exit 1
}

run() {
	printf '+ %s\n' "$*"
	[ "$dry_run" ] || "$@"
}

# labels NODE: its labels, a line each.
labels() {
	awk -v node="$1" '!/^#/ && $1 == node { for (i = 2; i <= NF; i++) print $i }' "$here/nodes.txt"
}

known() {
	awk -v node="$1" '!/^#/ && $1 == node { found = 1 } END { exit !found }' "$here/nodes.txt"
}

dry_run=
if [ "${1:-}" = --dry-run ]; then
	dry_run=1
	shift
fi
[ $# -gt 0 ] || {
	usage >&2
	exit 2
}
verb=$1
shift
if [ "$verb" = label ] && [ $# -eq 0 ]; then
	mapfile -t nodes < <(awk '!/^#/ { print $1 }' "$here/nodes.txt")
	set -- "${nodes[@]}"
fi
for node; do
	known "$node" || die "'$node' is no worker of this site"
done
case $verb in
-h | --help) usage ;;
label)
	for node; do
		mapfile -t words < <(labels "$node")
		[ ${#words[@]} -eq 0 ] || run kubectl label node "$node" --overwrite "${words[@]}"
	done
	;;
taint | prove)
	[ $# -gt 0 ] || die "name the nodes"
	for node; do
		if [ "$verb" = taint ]; then
			run kubectl taint node "$node" --overwrite "$TAINT"
		else
			run kubectl taint node "$node" "$TAINT-"
		fi
	done
	;;
list)
	run kubectl get nodes -o \
		"custom-columns=NODE:.metadata.name,UNPROVEN:.spec.taints[?(@.key==\"$TAINT_KEY\")].effect"
	;;
*)
	usage >&2
	exit 2
	;;
esac
