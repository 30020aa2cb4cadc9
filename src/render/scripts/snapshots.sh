#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Take a snapshot of every node of nodes.txt over ssh. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
	cat <<'EOF'
Usage: snapshots.sh [FOLDER]

Runs `railhead snapshot` on every node of nodes.txt and writes FOLDER/NODE.json (default: snapshots).
Then: railhead check --site site.yaml FOLDER/*.json

The login needs to be root or have the same view of the machine. A node that does not answer is named,
its earlier snapshot stays as it was, and the others go on.
JOBS (default: 16) nodes are asked at once; SSH (default: ssh) is the program that does it.
Exit status: 0 when every node answered, 1 when not, 2 for wrong usage.
EOF
}

case ${1-} in
-h | --help)
	usage
	exit 0
	;;
-*)
	usage >&2
	exit 2
	;;
esac
[ $# -le 1 ] || {
	usage >&2
	exit 2
}
folder=${1:-snapshots}
mkdir -p -- "$folder"

# A snapshot appears when it is whole.
take() {
	local node=$1 login=$2 port=$3 new=$folder/.$1.new

	if "${SSH:-ssh}" -o BatchMode=yes -o ConnectTimeout=10 -p "$port" -- "$login" \
		railhead snapshot </dev/null >"$new" && [ -s "$new" ]; then
		mv -- "$new" "$folder/$node.json"
	else
		rm -f -- "$new"
		printf 'snapshots.sh: %s (%s): no snapshot\n' "$node" "$login" >&2
		return 1
	fi
}

status=0
running=0
while read -r node login port; do
	case $node in '' | '#'*) continue ;; esac
	if [ "$running" -ge "${JOBS:-16}" ]; then
		wait -n || status=1
		running=$((running - 1))
	fi
	take "$node" "$login" "$port" &
	running=$((running + 1))
done <"$here/nodes.txt"
while [ "$running" -gt 0 ]; do
	wait -n || status=1
	running=$((running - 1))
done
exit "$status"
