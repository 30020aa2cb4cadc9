#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install, check or remove the GPU Operator as this site declares it. See --help.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/settings.sh"

usage() {
	cat <<EOF
Usage: install.sh [--dry-run] [--chart FILE-OR-URL] [install | status | uninstall]

  install    namespace, package repositories and certificate of the driver container, then the chart
             (version $VERSION)
  status     what runs, and what ClusterPolicy says
  uninstall  remove the release; CRDs and the namespace stay

  --dry-run  say which commands would run; the chart is rendered and nothing is changed
  --chart    another place of the chart

Needs helm 3 and a kubectl that reaches the cluster.
EOF
}

die() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

run() {
	printf '+ %s\n' "$*"
	[ "$dry_run" ] || "$@"
}

# The private key is no part of the bundle: only certificates go into the ConfigMap.
apply_ca() {
	[ -r "$CA_FILE" ] || die "$CA_FILE (registry/ca_file) cannot be read here; copy it from a node"
	printf '+ kubectl create configmap %s --from-file=%s=%s | kubectl apply\n' "$CA_CONFIGMAP" "$CA_KEY" "$CA_FILE"
	[ "$dry_run" ] && return
	kubectl create configmap "$CA_CONFIGMAP" --namespace "$NAMESPACE" --from-file="$CA_KEY=$CA_FILE" \
		--dry-run=client -o yaml | kubectl apply -f -
}

install_operator() {
	local options=()

	run kubectl apply -f "$here/namespace.yaml"
	if [ "$PULL_SECRET" ] && [ ! "$dry_run" ]; then
		kubectl get secret "$PULL_SECRET" --namespace "$NAMESPACE" >/dev/null ||
			die "secret $PULL_SECRET is missing; make it with: kubectl create secret docker-registry" \
				"$PULL_SECRET --namespace $NAMESPACE --docker-server=… --docker-username=… --docker-password=…"
	fi
	[ ! "$REPOSITORIES" ] || run kubectl apply -f "$here/$REPOSITORIES"
	[ ! "$CA_CONFIGMAP" ] || apply_ca
	[ ! "$CA_FILE" ] || [ ! -r "$CA_FILE" ] || options+=(--ca-file "$CA_FILE")
	[ ! "$dry_run" ] || options+=(--dry-run)
	printf '+ helm upgrade --install gpu-operator %s …\n' "$chart"
	helm upgrade --install gpu-operator "$chart" --version "$VERSION" --namespace "$NAMESPACE" \
		--values "$here/values.yaml" ${options[@]+"${options[@]}"} || die "helm could not install $chart"
	echo "The driver is built on each node: this takes minutes. Look with: install.sh status"
}

status_operator() {
	helm status gpu-operator --namespace "$NAMESPACE" | sed -n '1,8p'
	kubectl get pods --namespace "$NAMESPACE" -o wide
	kubectl get clusterpolicies.nvidia.com -o custom-columns=NAME:.metadata.name,STATE:.status.state
}

dry_run=
# shellcheck disable=SC2153  # of settings.sh
chart=$CHART
verb=install
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--dry-run) dry_run=1 ;;
	--chart)
		[ $# -ge 2 ] || die "--chart needs a value"
		chart=$2
		shift
		;;
	install | status | uninstall) verb=$1 ;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift
done
# a chart without a scheme lies beside this script, unless the caller knows better
case $chart in
*://* | /*) ;;
*) [ -e "$chart" ] || chart=$here/$chart ;;
esac

case $verb in
install) install_operator ;;
status) status_operator ;;
uninstall) run helm uninstall gpu-operator --namespace "$NAMESPACE" --wait ;;
esac
