/* SPDX-License-Identifier: Apache-2.0 */
/* plan.pod-network and plan.storage-client: do pods and the store's client find an RDMA path? */
#include <string.h>

#include "judge/plan.h"

/* --- plan.pod-network ------------------------------------------------------------------------- */

/* Way out of everything that a plain pod cannot do. */
static void pod_options(struct judging *g)
{
	judge_option(g, "kubernetes.pod_rdma: host-network (the namespace must allow privileged "
			"pods)");
	judge_option(g, "kubernetes.pod_rdma: second-network, an interface of the RDMA NIC in the "
			"pod");
}

/* Nodes where the RDMA devices belong to one network namespace. */
static bool judge_netns(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases exclusive = {0}, unset = {0};

	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		if (!node->n_rdma || !plan_has_role(g, node, PLAN_WORKERS))
			continue;
		if (!node->rdma_netns)
			plan_case_add(&unset, node, NULL, "unset");
		else if (!strcmp(node->rdma_netns, "exclusive"))
			plan_case_add(&exclusive, node, NULL, "exclusive");
	}
	if (unset.n)
		judge_assume(g, "rdma_netns shared, the kernel's default");
	if (!exclusive.n)
		return true;
	judge_fail(g, "pod-netns-exclusive", "rdma_netns: shared, or pod_rdma: second-network",
		   "rdma_netns of %s is exclusive: a plain pod sees no RDMA device, and the shared "
		   "device plugin refuses to run", plan_nodes(g, &exclusive.list[0]));
	return false;
}

/* An RDMA core that hides the host's GIDs: DOCA-OFED, from a container or on the host. */
static bool judge_ofed_core(struct judging *g, const struct plan_cases *nics)
{
	bool ok = true;

	if (declared_bool(g, false, "/network_operator/ofed_driver")) {
		judge_fail(g, "pod-gids-hidden", "network_operator.ofed_driver: false",
			   "the OFED driver container replaces ib_core, and its core shows a plain "
			   "pod no GID of the host: raw verbs fail as well");
		pod_options(g);
		ok = false;
	}
	for (size_t i = 0; ok && i < nics->n; i++) {
		const struct plan_case *c = &nics->list[i];
		const struct site_driver *ofed = plan_host_ofed(c->node);

		if (!ofed)
			continue;
		fact_declared(g, &ofed->where, json_text_new(ofed->source),
			      "/nodes/%s/drivers/%s/source", c->node->name, ofed->name);
		judge_fail(g, "pod-gids-hidden", "one of the options; or the kernel's own driver",
			   "%s of %s is out-of-tree (DOCA-OFED), and its ib_core shows a plain pod "
			   "no GID of the host: raw verbs fail as well", ofed->name,
			   plan_nodes(g, c));
		pod_options(g);
		ok = false;
	}
	return ok;
}

/* iWARP has no other way to connect than RDMA-CM: drivers/infiniband/core/iwcm.c, which a plain pod
 * has no interface for. */
static bool judge_iwarp(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases iwarp = {0};

	for (size_t i = 0; i < g->site->n_nodes; i++) {
		const struct site_node *node = &g->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma; k++) {
			const struct site_rdma *port = &node->rdma[k];

			if (port->protocol && !strcmp(port->protocol, "iwarp") &&
			    plan_has_role(g, node, PLAN_WORKERS))
				plan_case_add(&iwarp, node, port, "iwarp");
		}
	}
	for (size_t i = 0; i < iwarp.n; i++) {
		const struct plan_case *c = &iwarp.list[i];
		const struct site_rdma *port = c->what;

		fact_declared(g, &port->where, json_text_new(port->protocol),
			      "/nodes/%s/rdma/%s/protocol", c->node->name, port->link);
		judge_fail(g, "pod-iwarp", "protocol: roce, or one of the options",
			   "%s of %s is declared as iWARP, which connects by RDMA-CM only, and a "
			   "plain pod has no interface for that", port->link, plan_nodes(g, c));
		pod_options(g);
	}
	return !iwarp.n;
}

static void judge_host_gid(struct judging *g, const struct plan_cases *nics)
{
	json_t *cm = declared(g, "/kubernetes/rdma_cm");
	bool ok = judge_netns(g);

	ok = judge_ofed_core(g, nics) && ok;
	ok = judge_iwarp(g) && ok;
	if (json_is_true(cm)) {
		judge_fail(g, "pod-rdma-cm", "one of the options",
			   "pods use RDMA-CM, and a plain pod has no interface of the RDMA NIC: it "
			   "ends with ENODEV; \"no second network\" holds for raw verbs only");
		pod_options(g);
		ok = false;
	} else if (!cm) {
		judge_unknown(g, "declare kubernetes/rdma_cm: false when pods use raw verbs only",
			      "whether pods use RDMA-CM is not declared, and a plain pod cannot");
		ok = false;
	}
	if (!ok)
		return;
	judge_pass(g, "plain pods use raw verbs with the host's GIDs on the kernel's own RDMA "
		      "stack");
	judge_unverified(g, "proof.pod", "raw verbs from a plain pod work on this NIC: measured "
					 "with soft-RoCE, an inference for others");
}

void judge_plan_pod_network(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	const char *way;

	if (!g->site->kubernetes) {
		judge_na(g, "no Kubernetes is declared");
		return;
	}
	plan_nics(g, PLAN_WORKERS, &nics);
	if (!nics.n) {
		judge_na(g, "no node that runs pods has an RDMA port");
		return;
	}
	way = declared_string(g, "/kubernetes/pod_rdma");
	if (!way) {
		judge_unknown(g, "declare kubernetes/pod_rdma: host-gid, host-network, "
				 "second-network or none",
			      "how pods reach RDMA is not declared");
	} else if (!strcmp(way, "none")) {
		judge_na(g, "no pod uses RDMA");
	} else if (!strcmp(way, "host-gid")) {
		judge_host_gid(g, &nics);
	} else if (!strcmp(way, "host-network")) {
		judge_pass(g, "pods use the host's network: raw verbs and RDMA-CM find the NIC");
		judge_unverified(g, "proof.pod", "the namespace allows privileged pods, which the "
						 "host's network needs");
	} else {
		judge_pass(g, "pods have an interface of the RDMA NIC");
		judge_unverified(g, "proof.pod", "an interface below the RDMA port has a GID in "
						 "the pod: not tried on E810 (macvlan), and ice "
						 "offers no RDMA to virtual functions while it is "
						 "in a bond");
	}
}

/* --- plan.storage-client ---------------------------------------------------------------------- */

/* Row of the library, of this kind of store before one of any. */
static json_t *client_row(const struct judging *g, const char *library, const char *kind)
{
	json_t *row, *any = NULL;
	size_t i;

	json_array_foreach(plan_rows(g, "storage-clients"), i, row) {
		const char *store = json_get_string(row, "store", "any");

		if (strcmp(json_get_string(row, "library", ""), library))
			continue;
		if (kind && !strcmp(store, kind))
			return row;
		if (!any || !strcmp(store, "any"))
			any = row;
	}
	return any;
}

static void client_options(struct judging *g)
{
	judge_option(g, "a NIC with DC transport (ConnectX, BlueField) for the path to the store");
	judge_option(g, "a client and a server that speak RC, such as hipobj-rc-v2 (experimental; "
			"whether this store serves it must be asked of its vendor)");
	judge_option(g, "storage.client.library: http, and level 4 is TCP by intent");
}

/* The transport of the library against the NIC of a client. False: it cannot be used. */
static bool judge_transport(struct judging *g, const struct plan_case *c, json_t *row,
			    const char *library)
{
	struct plan_nic nic = plan_nic_of(g, c->node, c->what);
	bool dc = !strcmp(json_get_string(row, "transport", ""), "dc");
	bool silent = !strcmp(json_get_string(row, "fallback", ""), "silent-http");

	plan_nic_fact(g, c);
	if (plan_nic_unknown(g, c, &nic))
		return false;
	fact_row(g, nic.row);
	if (dc && !json_get_bool(nic.row, "dc_transport", false)) {
		judge_fail(g, "storage-client-needs-dc", "one of the options",
			   "client library %s needs DC transport and %s of %s has none%s (%s)",
			   library, plan_nic_text(g, &nic), plan_nodes(g, c),
			   silent ? ": every transfer falls back to HTTP in silence" : "",
			   plan_row_text(g, row));
		client_options(g);
		return false;
	}
	judge_pass(g, "client library %s uses %s transport, which %s has (%s)", library,
		   dc ? "DC" : "RC", plan_nic_text(g, &nic), plan_row_text(g, row));
	return true;
}

/* The server begins each transfer: with a DC token it needs DC as well. */
static void judge_server_nics(struct judging *g, const char *library)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};

	plan_nics(g, SITE_ROLE_STORAGE, &nics);
	if (!nics.n)
		judge_unverified(g, "storage.server",
				 "the NIC of the server, which is not declared, has DC transport "
				 "too");
	for (size_t i = 0; i < nics.n; i++) {
		const struct plan_case *c = &nics.list[i];
		struct plan_nic nic = plan_nic_of(g, c->node, c->what);

		if (!nic.row || json_get_bool(nic.row, "dc_transport", false))
			continue;
		fact_row(g, nic.row);
		judge_warn(g, "storage-server-without-dc", "a NIC with DC transport on both ends",
			   "the clients have DC transport, and %s of %s has none: the server "
			   "begins each transfer of %s, so it needs DC as well (inferred)",
			   plan_nic_text(g, &nic), plan_nodes(g, c), library);
	}
}

/* The build of the server, and whether this store has such a server at all. */
static void judge_server(struct judging *g, json_t *row, const char *library, const char *kind)
{
	const char *build = declared_string(g, "/storage/build");
	const char *store = json_get_string(row, "store", "any");

	if (kind && strcmp(store, "any") && strcmp(store, kind)) {
		judge_fail(g, "storage-other-store", "a client of this store",
			   "client library %s is for %s, declared is %s (%s)", library, store, kind,
			   plan_row_text(g, row));
		return;
	}
	if (!strcmp(json_get_string(row, "server_build", "any"), "any"))
		return;
	if (!build)
		judge_unknown(g, "declare storage/build: rdma or standard",
			      "the build of the server is not declared: the standard one ignores "
			      "RDMA settings");
	else if (strcmp(build, "rdma"))
		judge_fail(g, "storage-standard-build", "the RDMA build of the server (minio.rdma)",
			   "the server is the %s build: it takes RDMA settings and ignores them",
			   build);
}

void judge_plan_storage_client(struct judging *g)
{
	_cleanup_plan_cases_ struct plan_cases nics = {0};
	const char *library, *kind;
	bool clients_fit = true;
	json_t *row;

	if (!g->site->storage) {
		judge_na(g, "no object store is declared");
		return;
	}
	library = declared_string(g, "/storage/client/library");
	kind = declared_string(g, "/storage/kind");
	if (!library) {
		judge_unknown(g, "declare storage/client/library",
			      "the client library is not declared");
		return;
	}
	row = client_row(g, library, kind);
	if (!row) {
		judge_unknown(g, "add its row to the table `storage-clients` (--data DIR)",
			      "the support matrix has no row for client library %s", library);
		return;
	}
	fact_row(g, row);
	if (!strcmp(json_get_string(row, "transport", ""), "tcp")) {
		judge_warn(g, "storage-client-tcp", "a client library that uses RDMA, if level 4 "
						    "is to",
			   "client library %s moves objects by TCP: no RDMA between GPU and store, "
			   "as declared", library);
		return;
	}
	judge_server(g, row, library, kind);
	plan_nics(g, (unsigned)SITE_ROLE_GPU | SITE_ROLE_CLIENT, &nics);
	if (!nics.n)
		judge_unknown(g, "declare nodes/NODE/rdma", "no RDMA port of a client is declared");
	else
		plan_ports_declared(g);
	for (size_t i = 0; i < nics.n; i++)
		clients_fit = judge_transport(g, &nics.list[i], row, library) && clients_fit;
	if (clients_fit && !strcmp(json_get_string(row, "transport", ""), "dc"))
		judge_server_nics(g, library);
	judge_unverified(g, "storage.server", "the server answers with its RDMA build");
	if (!strcmp(json_get_string(row, "transport", ""), "rc"))
		judge_unverified(g, "storage.server", "the store serves the RC protocol of %s",
				 library);
	judge_unverified(g, "storage.path", "GET and PUT go by RDMA: reply header and counters, "
					    "not throughput");
}
