#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kubespray's playbooks for this site, in their order. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/settings.sh"

usage() {
	cat <<EOF
Usage: commands.sh [--dry-run] STEP [NODE...]

  check         Kubespray is release $RELEASE, and the inventory is complete
  ping          every node can be logged in to
  cluster       make a new cluster of all nodes
  facts         read the facts of all nodes; add needs them
  add NODE...   add workers to the cluster: facts, then scale.yml for these nodes only
  remove NODE...  undo: drain, reset and take out these nodes; asks before it starts

  --dry-run     say which commands would run

KUBESPRAY names the folder of the checked-out release (default: kubespray). CLUSTER_INVENTORY names the
inventory of a cluster that exists already: the nodes of this site are added to it.

The taint of unproven nodes is set by add. Run add for new nodes only: on a proven node it would come back.
EOF
}

die() {
	printf 'commands.sh: %s\n' "$*" >&2
	exit 1
}

run() {
	printf '+ %s\n' "$*"
	[ "$dry_run" ] || "$@"
}

playbook() {
	local name=$1
	shift
	run ansible-playbook "${inventory[@]}" --become "$KUBESPRAY/$name" "$@"
}

# The names of a group's hosts, also those of its children.
hosts_of() {
	ansible "$1" "${inventory[@]}" --list-hosts 2>/dev/null | sed -n 's/^ \{4,\}//p'
}

check() {
	local group
	[ -d "$KUBESPRAY" ] || die "there is no folder '$KUBESPRAY': git clone --branch $RELEASE the repository of Kubespray"
	if git -C "$KUBESPRAY" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$KUBESPRAY" tag --points-at HEAD | grep -qxF -e "$RELEASE" ||
			die "$KUBESPRAY is not release $RELEASE, for which these variables were written"
	fi
	command -v ansible-playbook >/dev/null || die "ansible is not installed: see $KUBESPRAY/requirements.txt"
	for group in kube_control_plane etcd kube_node; do
		[ "$(hosts_of "$group")" ] ||
			die "group $group has no hosts: declare kubernetes/control_plane, or set CLUSTER_INVENTORY"
	done
	echo "Kubespray $RELEASE with $(hosts_of kube_node | wc -l) workers"
}

# Nodes of the command line that are workers of the inventory, joined by commas.
limit() {
	local node workers
	[ $# -gt 0 ] || die "name the nodes"
	workers=$(hosts_of kube_node)
	for node; do
		grep -qxF -e "$node" <<<"$workers" || die "'$node' is no worker of this inventory"
	done
	local IFS=,
	echo "$*"
}

: "${KUBESPRAY:=kubespray}"
dry_run=
if [ "${1:-}" = --dry-run ]; then
	dry_run=1
	shift
fi
[ $# -gt 0 ] || {
	usage >&2
	exit 2
}
inventory=()
[ ! "${CLUSTER_INVENTORY:-}" ] || inventory+=(-i "$CLUSTER_INVENTORY")
inventory+=(-i "$here/inventory/hosts.yaml")

step=$1
shift
case $step in
-h | --help) usage ;;
check) check ;;
ping) run ansible all "${inventory[@]}" -m ping ;;
cluster)
	check
	playbook cluster.yml
	;;
facts) playbook playbooks/facts.yml ;;
add)
	nodes=$(limit "$@")
	check
	# without a limit: scale.yml needs the facts of the nodes that it does not touch
	playbook playbooks/facts.yml
	playbook scale.yml --limit="$nodes"
	;;
remove)
	nodes=$(limit "$@")
	playbook remove-node.yml -e node="$nodes"
	;;
*)
	usage >&2
	exit 2
	;;
esac
