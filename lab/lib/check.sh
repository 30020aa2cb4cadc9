# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared between the files of one program
# Walks the ladder on the nodes of the lab.

railhead=${RAILHEAD:-$top/build/railhead}
site=${LAB_SITE:-$top/examples/lab.yaml}

headline() {
	printf '\n=== %s\n\n' "$*"
}

# lab_check [OPTION...]: options go to 'railhead check'. Exits with the highest status of all checks.
lab_check() {
	local node status worst=0 snapshots=()
	need_lab
	[[ -x $railhead ]] || die "no program at $railhead (build it, or set RAILHEAD)"
	[[ -r $site ]] || die "no site at $site (LAB_SITE sets another)"
	for node in "${rdma_nodes[@]}"; do
		headline "$node"
		status=0
		guest "$node" "$railhead" check --site "$site" "$@" || status=$?
		((status > worst)) && worst=$status
		guest "$node" "$railhead" snapshot >"$run/$node.json" || die "$node: no snapshot"
		snapshots+=("$run/$node.json")
	done
	headline "${rdma_nodes[*]} together"
	status=0
	"$railhead" check --site "$site" "$@" "${snapshots[@]}" || status=$?
	((status > worst)) && worst=$status
	return "$worst"
}
