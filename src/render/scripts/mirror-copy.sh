#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copy the images of images.txt and the files of files.txt to the mirror. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/settings.sh"

usage() {
	cat <<'EOF'
Usage: copy.sh [--dry-run] [--retries N] [--images FILE] [--files FILE] [--files-to FOLDER]

Run it where both the internet and the mirror can be reached. It can be stopped and started again at any
time: what the mirror already has with the same digest is not copied again.

  --dry-run         say what would be copied
  --retries N       attempts for each image and file (default: 4, with growing pauses)
  --images FILE     another list of images, "SOURCE TARGET" per line
  --files FILE      another list of files, "URL PATH" per line
  --ca FILE         CA certificate of the mirror; "" for those of the system (default: registry/ca_file)
  --files-to FOLDER where files go (default: files); serve that folder as registry/files_url

Logins are skopeo's own: `skopeo login REGISTRY`.
Exit status: 0 when all is there, 1 when something is missing, 130 when interrupted.
EOF
}

die() {
	printf 'copy.sh: %s\n' "$*" >&2
	exit 2
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
done_count=0
total=0
failed=()

# The child has the signal too: nothing half is left, since a registry shows an image when its manifest
# arrives, which is last.
interrupted() {
	printf '\ncopy.sh: interrupted after %d of %d; run it again to go on\n' "$done_count" "$total" >&2
	exit 130
}
trap interrupted INT TERM HUP

# try COMMAND...: until it works, at most $retries times.
try() {
	local attempt=1
	until "$@"; do
		[ "$attempt" -lt "$retries" ] || return 1
		sleep "$((attempt * RETRY_PAUSE))"
		attempt=$((attempt + 1))
	done
}

# digest SIDE IMAGE: of the manifest or index, as its registry has it; nothing when it is not there.
digest() {
	local options=()
	[ "$1" = source ] || options=("${mirror_options[@]}")
	skopeo inspect --raw ${options[@]+"${options[@]}"} "docker://$2" >"$scratch/manifest" 2>"$scratch/error" || return 1
	[ -s "$scratch/manifest" ] || return 1
	sha256sum "$scratch/manifest" | cut -d' ' -f1
}

copy_image() {
	local source=$1 target=$2 theirs ours options=()
	if [ "$source" = "$target" ]; then
		echo "  is named by its mirror; nothing to copy"
		return
	fi
	theirs=$(try digest source "$source") || {
		sed 's/^/  /' "$scratch/error" >&2
		return 1
	}
	if ours=$(digest target "$target") && [ "$ours" = "$theirs" ]; then
		echo "  is there already (sha256:${ours:0:12})"
		return
	fi
	[ ! "$CA_FILE" ] || options+=(--dest-cert-dir "$scratch/certs")
	[ "$REGISTRY_SCHEME" != http ] || options+=(--dest-tls-verify=false)
	# all architectures and the digests as they are: a digest in a manifest then still holds
	try skopeo copy --all --preserve-digests ${options[@]+"${options[@]}"} "docker://$source" "docker://$target" || return 1
	ours=$(try digest target "$target") || return 1
	if [ "$ours" != "$theirs" ]; then
		echo "  the mirror has another digest than the source" >&2
		return 1
	fi
}

copy_file() {
	local url=$1 path=$files_to/$2
	if [ -s "$path" ]; then
		echo "  is there already"
		return
	fi
	mkdir -p "$(dirname "$path")"
	try curl --fail --silent --show-error --location --proto '=https,http' --output "$path.part" "$url" || return 1
	[ -s "$path.part" ] || return 1
	mv "$path.part" "$path"
}

# each FUNCTION LIST: for every line "FROM TO" of a list.
each() {
	local function=$1 list=$2 from to
	while read -r from to _; do
		case $from in '' | '#'*) continue ;; esac
		[ "$to" ] || die "$list: '$from' has no target"
		printf '[%d/%d] %s\n' "$((done_count + 1))" "$total" "$from"
		if [ "$dry_run" ]; then
			printf '  would go to %s\n' "$to"
		elif ! "$function" "$from" "$to" </dev/null; then
			failed+=("$from")
			printf '  FAILED: %s\n' "$from" >&2
		fi
		done_count=$((done_count + 1))
	done <"$list"
}

count() {
	grep -cv -e '^#' -e '^[[:space:]]*$' "$1" || true
}

dry_run=
retries=4
images=$here/images.txt
files=$here/files.txt
files_to=files
: "${RETRY_PAUSE:=5}"
: "${REGISTRY_SCHEME:=https}"
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--dry-run) dry_run=1 ;;
	--retries | --images | --files | --files-to | --ca)
		[ $# -ge 2 ] || die "$1 needs a value"
		case $1 in
		--retries) retries=$2 ;;
		--images) images=$2 ;;
		--files) files=$2 ;;
		--files-to) files_to=$2 ;;
		--ca) CA_FILE=$2 ;;
		esac
		shift
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift
done
[[ $retries =~ ^[1-9][0-9]*$ ]] || die "--retries: '$retries' is not a number from 1"
[ -r "$images" ] || die "$images cannot be read"
[ -r "$files" ] || die "$files cannot be read"
total=$(($(count "$images") + $(count "$files")))
[ "$total" -gt 0 ] || die "both lists are empty"

mirror_options=()
if [ ! "$dry_run" ]; then
	command -v skopeo >/dev/null || die "skopeo is not installed"
	if [ "$CA_FILE" ]; then
		[ -r "$CA_FILE" ] || die "$CA_FILE cannot be read: name the certificate with --ca"
		mkdir "$scratch/certs"
		cp "$CA_FILE" "$scratch/certs/ca.crt"
		mirror_options+=(--cert-dir "$scratch/certs")
	fi
	[ "$REGISTRY_SCHEME" != http ] || mirror_options+=(--tls-verify=false)
fi

each copy_image "$images"
each copy_file "$files"
printf '%d of %d %s\n' "$((done_count - ${#failed[@]}))" "$total" "$([ "$dry_run" ] && echo 'would be copied' || echo 'are in place')"
if [ ${#failed[@]} -gt 0 ]; then
	printf 'missing: %s\n' "${failed[@]}" >&2
	exit 1
fi
