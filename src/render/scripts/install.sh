#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts the files of one node in their places; install.conf beside it names them.
#
#   --dry-run      say what would be done
#   --rollback     put back what was there before the first installation
#   DESTDIR=DIR    work below DIR, as for an image
#
# What stood in the places is kept below /var/lib/railhead/before on the first installation, and only
# then: installing twice does not lose the state before railhead.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# node, key, files (mode, source, target; a line each), reload, next
# shellcheck source=/dev/null
. "$here/install.conf"
root=${DESTDIR:-}
saved=$root/var/lib/railhead/before/${key:?}

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

# back TARGET
back() {
	if [ -e "$saved/files$1" ]; then
		run cp -p "$saved/files$1" "$root$1"
		[ "$dry" = yes ] || printf 'put back: %s\n' "$1"
	elif [ -e "$saved/absent$1" ]; then
		run rm -f "$root$1"
		[ "$dry" = yes ] || printf 'removed: %s\n' "$1"
	fi
}

dry=no
action=install
for option; do
	case $option in
	--dry-run) dry=yes ;;
	--rollback) action=rollback ;;
	*) die "unknown option '$option' (--dry-run, --rollback)" ;;
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
while read -r mode source target; do
	if [ "$action" = install ]; then
		put "$mode" "$source" "$target"
	else
		back "$target"
	fi
done <<<"${files:?}"
if [ -z "$root" ]; then
	read -ra command <<<"${reload:?}"
	run "${command[@]}"
fi
[ "$action" = rollback ] || [ "$dry" = yes ] || printf '%s\n' "${next:?}"
