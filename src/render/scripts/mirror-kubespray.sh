#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# List the images and files of a Kubespray release for copy.sh and verify.sh. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/settings.sh"

usage() {
	cat <<EOF
Usage: kubespray.sh FOLDER

FOLDER is the checked-out release of Kubespray, with ansible installed. Its own contrib/offline/generate_list.sh
is run for Kubernetes $KUBE_VERSION, and two lists are written beside this script:

  images-kubespray.txt  for copy.sh --images and verify.sh --images
  files-kubespray.txt   for copy.sh --files and verify.sh --files

The release lists what any of its options needs; the lists are longer than this site's share.
EOF
}

die() {
	printf 'kubespray.sh: %s\n' "$*" >&2
	exit 1
}

# Where the nodes pull an image from: the longest prefix of mirrors.txt, replaced.
mirrored() {
	awk '
		FNR == NR { if ($0 !~ /^#/ && NF == 2) mirror[$1] = $2; next }
		/^[[:space:]]*$/ { next }
		{
			best = ""
			for (prefix in mirror)
				if (index($1, prefix "/") == 1 && length(prefix) > length(best)) best = prefix
			if (best == "") { print "no mirror: " $1 > "/dev/stderr"; bad = 1; next }
			print $1 " " mirror[best] substr($1, length(best) + 1)
		}
		END { exit bad }' "$here/mirrors.txt" "$1"
}

case ${1:-} in
-h | --help)
	usage
	exit 0
	;;
esac
[ $# -eq 1 ] || {
	usage >&2
	exit 2
}
offline=$1/contrib/offline
[ -x "$offline/generate_list.sh" ] || die "$offline/generate_list.sh is not there"
# without an inventory: the names of the upstream registries are wanted here
options=()
[ ! "$KUBE_VERSION" ] || options+=(-e "kube_version=$KUBE_VERSION")
"$offline/generate_list.sh" ${options[@]+"${options[@]}"} >/dev/null || die "generate_list.sh failed"
for list in images.list files.list; do
	[ -s "$offline/temp/$list" ] || die "generate_list.sh wrote no $list"
done
mirrored "$offline/temp/images.list" >"$here/images-kubespray.txt" || die "registry/mirrors of the site lacks those"
# the original domains are the top folders, as Kubespray's offline.yml has them
sed -n 's|^https\{0,1\}://\(.*\)$|& \1|p' "$offline/temp/files.list" >"$here/files-kubespray.txt"
wc -l "$here/images-kubespray.txt" "$here/files-kubespray.txt"
