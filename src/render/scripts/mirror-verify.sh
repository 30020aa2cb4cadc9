#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prove that the mirror is complete: every image, file and package that this site needs. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/settings.sh"

usage() {
	cat <<'EOF'
Usage: verify.sh [--timeout SECONDS] [--images FILE] [--files FILE] [--packages FILE] [--ca FILE]

Asks the mirror for the manifest of every image (HEAD), for every file (HEAD), and for the metadata of the
package repository, in which every package is looked up. Run it on a node: what matters is what nodes reach.

It fails closed. Anything but a clear yes (another status, a timeout, a login page, an empty file or list of
images, metadata that cannot be read) counts as missing. A site may need no files or packages: their lists may
be empty.

--ca FILE is the mirror's CA certificate, "" for those of the system (default: registry/ca_file).
REGISTRY_USER and REGISTRY_PASSWORD, or NETRC (a file), hold the login.
Exit status: 0 when everything is there, 1 when not, 2 for wrong usage.
EOF
}

die() {
	printf 'verify.sh: %s\n' "$*" >&2
	exit 2
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

accept='application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json,'
accept+=' application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json'

present=0
missing=()

yes() {
	present=$((present + 1))
}

no() {
	missing+=("$1: $2")
}

# fetch URL [OPTION]...: headers of the last answer go to $scratch/headers, the body to $scratch/body, the status
# to $status ("000": no answer).
fetch() {
	local url=$1
	shift
	: >"$scratch/headers"
	# no --fail: the status is what is asked for
	status=$(curl --silent --show-error --location --max-redirs 5 --proto '=https,http' --max-time "$timeout" \
		${curl_options[@]+"${curl_options[@]}"} "$@" --dump-header "$scratch/headers" --output "$scratch/body" \
		--write-out '%{http_code}' --url "$url" 2>"$scratch/error") || status=000
}

# header NAME: its value in the last answer (after redirects there are several heads in the file).
header() {
	tr -d '\r' <"$scratch/headers" | awk -v name="$1" '
		/^HTTP\// { value = "" }
		tolower($0) ~ "^" tolower(name) ":" { sub(/^[^:]*: */, ""); value = $0 }
		END { print value }'
}

reason() {
	if [ "$status" = 000 ]; then
		tr '\n' ' ' <"$scratch/error" | sed 's/^curl: //; s/ *$//'
	else
		echo "HTTP status $status"
	fi
}

# parameter NAME CHALLENGE: of a WWW-Authenticate header.
parameter() {
	sed -n "s/.*[ ,]$1=\"\([^\"]*\)\".*/\1/p" <<<"$2"
}

# A login goes to curl in a file: arguments can be seen by every user of the machine.
login_file() {
	[ "${REGISTRY_USER:-}" ] || return 0
	local text="$REGISTRY_USER:${REGISTRY_PASSWORD:-}"
	text=${text//\\/\\\\}
	printf 'user = "%s"\n' "${text//\"/\\\"}" >"$scratch/login"
	login_options=(--config "$scratch/login")
}

# token CHALLENGE NAME: a bearer token for pulling, into $scratch/token as a header for curl; 1 when there is none.
token() {
	local realm service token
	realm=$(parameter realm "$1")
	service=$(parameter service "$1")
	[ "$realm" ] || return 1
	fetch "$realm" --get --data-urlencode "service=$service" --data-urlencode "scope=repository:$2:pull" \
		${login_options[@]+"${login_options[@]}"}
	[ "$status" = 200 ] || return 1
	token=$(tr -d '\n' <"$scratch/body" | sed -n 's/.*"\(access_\)\{0,1\}token" *: *"\([^"]*\)".*/\2/p')
	[ "$token" ] || return 1
	printf 'header = "Authorization: Bearer %s"\n' "$token" >"$scratch/token"
}

verify_image() {
	local image=$1 host path name reference challenge
	host=${image%%/*}
	path=${image#*/}
	if [[ $path == *@* ]]; then
		reference=${path##*@}
		name=${path%@*}
		name=${name%:*}
	else
		reference=${path##*:}
		name=${path%:*}
	fi
	if [ "$host" = "$image" ] || [ "$name" = "$path" ] || [ ! "$reference" ]; then
		no "$image" "no registry or tag in its name"
		return
	fi
	local url=$REGISTRY_SCHEME://$host/v2/$name/manifests/$reference
	fetch "$url" --head --header "Accept: $accept"
	if [ "$status" = 401 ]; then
		challenge=$(header www-authenticate)
		case ${challenge,,} in
		bearer*)
			if token "$challenge" "$name"; then
				fetch "$url" --head --header "Accept: $accept" --config "$scratch/token"
			else
				no "$image" "its registry gives no token ($(reason))"
				return
			fi
			;;
		basic*) fetch "$url" --head --header "Accept: $accept" ${login_options[@]+"${login_options[@]}"} ;;
		esac
	fi
	if [ "$status" != 200 ]; then
		no "$image" "$(reason)"
		return
	fi
	# a proxy's login page is a 200 too
	case $(header content-type) in
	application/vnd.oci.image.* | application/vnd.docker.distribution.manifest.*) yes ;;
	*) no "$image" "the answer is no manifest (Content-Type $(header content-type))" ;;
	esac
}

verify_file() {
	fetch "$FILES_URL/$1" --head ${login_options[@]+"${login_options[@]}"}
	if [ "$status-$(header content-length)" = 200-0 ]; then
		no "$FILES_URL/$1" "the file is empty"
		return
	fi
	case $status-$(header content-type) in
	200-text/html*) no "$FILES_URL/$1" "the answer is a web page" ;;
	200-*) yes ;;
	*) no "$FILES_URL/$1" "$(reason)" ;;
	esac
}

# unpack FILE: to standard output, by what it begins with.
unpack() {
	case $(head -c 4 "$1" | od -An -tx1 | tr -d ' \n') in
	1f8b*) gzip -dc "$1" ;;
	28b52ffd) zstd -dcq "$1" ;;
	fd377a58) xz -dc "$1" ;;
	3c3f786d) cat "$1" ;;
	*) return 1 ;;
	esac
}

# Names of all packages of the repository: "name" and "name-version-release.arch" on a line each.
package_names() {
	awk 'BEGIN { RS = "</package>" }
		function inside(tag,   s) {
			if (!match($0, "<" tag ">[^<]*")) return ""
			s = substr($0, RSTART, RLENGTH); sub(/^[^>]*>/, "", s); return s
		}
		function attribute(name,   s) {
			if (!match($0, "<version [^>]*")) return ""
			s = substr($0, RSTART, RLENGTH)
			if (!match(s, name "=\"[^\"]*")) return ""
			s = substr(s, RSTART, RLENGTH); sub(/^[^"]*"/, "", s); return s
		}
		inside("name") != "" {
			print inside("name")
			print inside("name") "-" attribute("ver") "-" attribute("rel") "." inside("arch")
		}'
}

verify_packages() {
	local primary pattern name found names=()
	fetch "$PACKAGES_URL/repodata/repomd.xml" ${login_options[@]+"${login_options[@]}"}
	if [ "$status" != 200 ]; then
		no "$PACKAGES_URL/repodata/repomd.xml" "$(reason)"
		return
	fi
	primary=$(tr -d '\n' <"$scratch/body" | sed 's/<data /\n<data /g' |
		sed -n '/<data type="primary"/s/.*<location [^>]*href="\([^"]*\)".*/\1/p')
	if [ ! "$primary" ]; then
		no "$PACKAGES_URL/repodata/repomd.xml" "names no primary metadata"
		return
	fi
	fetch "$PACKAGES_URL/$primary" ${login_options[@]+"${login_options[@]}"}
	if [ "$status" != 200 ] || ! unpack "$scratch/body" >"$scratch/primary.xml" 2>"$scratch/error"; then
		no "$PACKAGES_URL/$primary" "cannot be read ($(reason))"
		return
	fi
	package_names <"$scratch/primary.xml" >"$scratch/names"
	mapfile -t names <"$scratch/names"
	while read -r pattern; do
		case $pattern in '' | '#'*) continue ;; esac
		found=
		for name in "${names[@]}"; do
			# shellcheck disable=SC2053  # a pattern on purpose
			if [[ $name == $pattern ]]; then
				found=1
				break
			fi
		done
		if [ "$found" ]; then
			yes
		else
			no "$pattern" "no such package in $PACKAGES_URL"
		fi
	done <"$packages"
}

count() {
	grep -cv -e '^#' -e '^[[:space:]]*$' "$1" || true
}

timeout=20
images=$here/images.txt
files=$here/files.txt
packages=$here/packages.txt
: "${REGISTRY_SCHEME:=https}"
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--timeout | --images | --files | --packages | --ca)
		[ $# -ge 2 ] || die "$1 needs a value"
		case $1 in
		--timeout) timeout=$2 ;;
		--images) images=$2 ;;
		--files) files=$2 ;;
		--packages) packages=$2 ;;
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
[[ $timeout =~ ^[1-9][0-9]*$ ]] || die "--timeout: '$timeout' is not a number of seconds"
command -v curl >/dev/null || die "curl is not installed"
for list in "$images" "$files" "$packages"; do
	[ -r "$list" ] || die "$list cannot be read"
done

curl_options=()
login_options=()
if [ "$CA_FILE" ]; then
	[ -r "$CA_FILE" ] || die "$CA_FILE cannot be read: name the certificate with --ca"
	curl_options+=(--cacert "$CA_FILE")
fi
[ ! "${NETRC:-}" ] || login_options+=(--netrc-file "$NETRC")
login_file

[ "$(count "$images")" -gt 0 ] || no "$images" "the list of images is empty"
while read -r _ target _; do
	verify_image "$target"
done < <(grep -v -e '^#' -e '^[[:space:]]*$' "$images")
if [ "$(count "$files")" -gt 0 ]; then
	if [ "$FILES_URL" ]; then
		while read -r _ path _; do
			verify_file "$path"
		done < <(grep -v -e '^#' -e '^[[:space:]]*$' "$files")
	else
		no "$files" "registry/files_url is not declared"
	fi
fi
if [ "$(count "$packages")" -gt 0 ]; then
	if [ "$PACKAGES_URL" ]; then
		verify_packages
	else
		no "$packages" "registry/packages_url is not declared"
	fi
fi

printf '%d of %d present\n' "$present" "$((present + ${#missing[@]}))"
if [ ${#missing[@]} -gt 0 ]; then
	printf 'missing: %s\n' "${missing[@]}" >&2
	exit 1
fi
