#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts the files of one node in their places; install.conf beside it names them. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# node, key, files (mode, source, target; a line each), reload, next
# shellcheck source=/dev/null
. "$here/install.conf"
root=${DESTDIR:-}
saved=$root/var/lib/railhead/before/${key:?}

usage() {
	cat <<EOF
Usage: install.sh [--dry-run] [--rollback]

Puts the files beside it in their places on ${node:?}; install.conf names them.

  --dry-run    say what would be done
  --rollback   put back what was there before the first installation
  DESTDIR=DIR  (environment) work below DIR, as for an image

What stood in the places is kept below /var/lib/railhead/before on the first installation, and only then:
installing twice does not lose the state before railhead. A file that an earlier rendering installed and
this one does not have is taken away again.
EOF
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# run COMMAND...: or say it
run() {
	if [ "$dry" = yes ]; then
		printf 'would run:'
		printf ' %q' "$@"
		printf '\n'
	else
		"$@"
	fi
}

# keep TARGET: what is there before the first installation, or that nothing is
keep() {
	if [ -e "$saved/files$1" ] || [ -e "$saved/absent$1" ]; then
		return
	fi
	if [ -e "$root$1" ]; then
		run mkdir -p "$saved/files${1%/*}"
		run cp -p "$root$1" "$saved/files$1"
	else
		run mkdir -p "$saved/absent${1%/*}"
		run touch "$saved/absent$1"
	fi
}

# put MODE SOURCE TARGET
put() {
	if cmp -s "$here/$2" "$root$3" && [ "$(stat -c %a "$root$3")" = "$1" ]; then
		printf 'unchanged: %s\n' "$3"
		return
	fi
	keep "$3"
	run mkdir -p "$root${3%/*}"
	run install -m "$1" "${owner[@]}" "$here/$2" "$root$3"
	[ "$dry" = yes ] || printf 'installed: %s\n' "$3"
}

# back TARGET: as it was. Nothing is kept of it after that, so that the next installation keeps what it
# finds then.
back() {
	if [ -e "$saved/files$1" ]; then
		run cp -p "$saved/files$1" "$root$1"
		run rm -f "$saved/files$1"
		[ "$dry" = yes ] || printf 'put back: %s\n' "$1"
	elif [ -e "$saved/absent$1" ]; then
		run rm -f "$root$1" "$saved/absent$1"
		[ "$dry" = yes ] || printf 'removed: %s\n' "$1"
	fi
}

# kept: targets of every installation so far that was not taken back, a line each.
kept() {
	local below
	for below in files absent; do
		[ ! -d "$saved/$below" ] || (cd "$saved/$below" && find . -type f | sed 's/^\.//')
	done | sort
}

dry=no
action=install
for option; do
	case $option in
	--dry-run) dry=yes ;;
	--rollback) action=rollback ;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
done

owner=()
if [ -z "$root" ]; then
	host=$(uname -n)
	[ "$host" = "${node:?}" ] || [ "${host%%.*}" = "${node%%.*}" ] ||
		die "these files are for $node, this is $host"
	[ "$dry" = yes ] || [ "$(id -u)" = 0 ] || die "run it as root"
	owner=(-o root -g root)
fi
targets=
while read -r mode source target; do
	targets+=$target$'\n'
	[ "$action" = rollback ] || put "$mode" "$source" "$target"
done <<<"${files:?}"
while read -r target; do
	if [ "$action" = rollback ] || ! grep -qxF -e "$target" <<<"$targets"; then
		back "$target"
	fi
done < <(kept)
if [ -z "$root" ]; then
	read -ra command <<<"${reload:?}"
	run "${command[@]}"
fi
[ "$action" = rollback ] || [ "$dry" = yes ] || printf '%s\n' "${next:?}"
