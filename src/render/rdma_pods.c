/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that test RDMA between workers: on each RDMA port of a worker a server, and a client that
 * talks to the next worker of the same rail, so that every port sends and receives.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "render/cluster.h"
#include "render/images.h"
#include "render/rdma_plugin.h"
#include "render/scripts.h"

#define NAMESPACE "railhead-rdma-test"
#define FIRST_PORT 18515	/* of perftest */
#define NAME_MAX_LABEL 63u	/* of a service, RFC 1035 */

enum way { HOST_GID, HOST_NETWORK, SECOND_NETWORK };

struct pods {
	struct render *r;
	struct render_file *file;
	const char *image;	/* as the nodes pull it */
	enum way way;
	bool ipc_lock;
	bool rdma_cm;
	const char *network;	/* of the second network */
	char *tos;		/* IP ToS byte, or NULL */
};

static enum way declared_way(const struct render *r)
{
	const char *way = json_string_value(render_declared(r, "/kubernetes/pod_rdma"));

	if (way && !strcmp(way, "host-network"))
		return HOST_NETWORK;
	return way && !strcmp(way, "second-network") ? SECOND_NETWORK : HOST_GID;
}

/* Kubernetes sets no limit of locked memory, a container inherits that of containerd: without a
 * limit no capability is needed. */
static bool needs_ipc_lock(const struct render *r)
{
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];

		if (node->n_rdma && cluster_is_worker(r, node) &&
		    (!node->memlock_bytes.set || node->memlock_bytes.value != -1))
			return true;
	}
	return false;
}

const char *rdma_pods_level(const struct render *r, const char **why)
{
	*why = "Baseline: raw verbs need no more than the devices of the resource.";
	if (declared_way(r) == HOST_NETWORK)
		*why = "Privileged: baseline forbids the host's network.";
	else if (needs_ipc_lock(r))
		*why = "Privileged: baseline forbids IPC_LOCK, which is needed where locked memory "
		       "is limited.";
	else
		return "baseline";
	return "privileged";
}

/* --- one pod ---------------------------------------------------------------------------------- */

/* A port of a worker. */
struct end {
	const struct site_node *node;
	size_t index;	/* of the node in the site */
	size_t port;	/* of the port in the node */
};

/* "rdma-server-gpu-node-01-p0". A node whose name makes no name of a service counts by its place;
 * node names do not begin with '-'. The caller frees. */
static char *pod_name(const char *role, const struct end *end)
{
	char *name = xasprintf("rdma-%s-%s-p%zu", role, end->node->name, end->port);

	if (strlen(name) <= NAME_MAX_LABEL && !strchr(name, '.'))
		return name;
	free(name);
	return xasprintf("rdma-%s--%zu-p%zu", role, end->index, end->port);
}

/* An address as the GID that the kernel makes of it, as sysfs writes it; NULL without one. */
static char *gid_text(const char *address)
{
	unsigned char gid[16] = { [10] = 0xff, [11] = 0xff };
	char *text;

	if (!address || (inet_pton(AF_INET, address, gid + 12) != 1 &&
			 inet_pton(AF_INET6, address, gid) != 1))
		return NULL;
	text = xmalloc(40);
	for (size_t i = 0; i < 8; i++)
		snprintf(text + 5 * i, 6, "%02x%02x%s", gid[2 * i], gid[2 * i + 1],
			 i < 7 ? ":" : "");
	return text;
}

static void add_env(json_t *env, const char *name, const char *value)
{
	if (value)
		json_append(env, manifest_pack("{ssss}", "name", name, "value", value));
}

static json_t *environment(const struct pods *p, const struct end *end, const char *peer)
{
	const struct site_rdma *port = &end->node->rdma[end->port];
	_cleanup_free_ char *tcp = xasprintf("%zu", FIRST_PORT + end->port);
	_cleanup_free_ char *gid = p->way == SECOND_NETWORK ? NULL : gid_text(port->address);
	json_t *env = json_array_new();

	add_env(env, "RDMA_GID", gid);
	add_env(env, "RDMA_DEVICE", port->device);
	add_env(env, "RDMA_TOS", p->tos);
	add_env(env, "RDMA_PORT", tcp);
	add_env(env, "RDMA_PEER", peer);
	add_env(env, "RDMA_CM", p->rdma_cm ? "1" : NULL);
	return env;
}

static json_t *pod(const struct pods *p, const char *role, const struct end *end, const char *peer)
{
	_cleanup_free_ char *name = pod_name(role, end);
	json_t *metadata, *labels, *container, *spec;

	labels = manifest_pack("{ss}", "app", name);
	if (strlen(end->node->name) <= NAME_MAX_LABEL)
		json_put_string(labels, CLUSTER_LABEL_NODE, end->node->name);
	metadata = manifest_pack("{ssss so}", "name", name, "namespace", NAMESPACE, "labels",
				 labels);
	if (p->way == SECOND_NETWORK)
		json_put(metadata, "annotations",
			 manifest_pack("{ss}", "k8s.v1.cni.cncf.io/networks", p->network));
	container = manifest_pack("{ssss s[ss] so s{s{ss}} s[{ssss}]}", "name", "perftest", "image",
				  p->image, "command", "/bin/sh", "/railhead/rdma-pod.sh", "env",
				  environment(p, end, peer), "resources", "limits",
				  rdma_resource(p->r), "1", "volumeMounts", "name", "script",
				  "mountPath", "/railhead");
	if (p->ipc_lock)
		json_put(container, "securityContext",
			 manifest_pack("{s{s[s]}}", "capabilities", "add", "IPC_LOCK"));
	spec = manifest_pack("{ss s{ss} so s[o] s[{sss{ss}}]}", "restartPolicy", "Never",
			     "nodeSelector", "kubernetes.io/hostname", end->node->name,
			     "tolerations", cluster_tolerations(p->r), "containers", container,
			     "volumes", "name", "script", "configMap", "name", "rdma-test");
	if (p->way == HOST_NETWORK) {
		json_put_bool(spec, "hostNetwork", true);
		json_put_string(spec, "dnsPolicy", "ClusterFirstWithHostNet");
	}
	json_put(spec, "imagePullSecrets", manifest_pull_secrets(p->r));
	return manifest_pack("{ssss soso}", "apiVersion", "v1", "kind", "Pod", "metadata", metadata,
			     "spec", spec);
}

/* The name of a server in DNS, before it is ready: both sides wait for each other. */
static json_t *service(const char *name, size_t port)
{
	return manifest_pack("{ssss s{ssss} s{ss sb s{ss} s[{si}]}}", "apiVersion", "v1", "kind",
			     "Service", "metadata", "name", name, "namespace", NAMESPACE, "spec",
			     "clusterIP", "None", "publishNotReadyAddresses", 1, "selector", "app",
			     name, "ports", "port", (int)(FIRST_PORT + port));
}

/* --- pairs ------------------------------------------------------------------------------------ */

static void add_server(const struct pods *p, const struct end *end)
{
	_cleanup_free_ char *name = pod_name("server", end);

	if (p->way != HOST_NETWORK)
		manifest_add(p->file, NULL, service(name, end->port));
	manifest_add(p->file, NULL, pod(p, "server", end, NULL));
}

static void add_client(const struct pods *p, const struct end *end, const struct end *server)
{
	_cleanup_free_ char *name = pod_name("server", server);

	/* the host's network reaches the RDMA address itself; RDMA-CM needs it */
	if (p->way == HOST_NETWORK)
		manifest_add(p->file, NULL,
			     pod(p, "client", end, server->node->rdma[server->port].address));
	else
		manifest_add(p->file, NULL, pod(p, "client", end, name));
}

/* A node outside the cluster on that rail, for a worker that has no other worker to talk to. */
static const struct site_rdma *outside_peer(const struct render *r, const char *rail)
{
	for (size_t i = 0; i < r->site->n_nodes; i++) {
		const struct site_node *node = &r->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma && !cluster_is_worker(r, node); k++) {
			const char *other = node->rdma[k].rail ? node->rdma[k].rail : "";

			if (!strcmp(other, rail) && node->rdma[k].address)
				return &node->rdma[k];
		}
	}
	return NULL;
}

static void add_rail(const struct pods *p, const char *rail, json_t *members)
{
	size_t n = json_array_size(members);
	_cleanup_free_ struct end *ends = xcalloc(n, sizeof(*ends));

	for (size_t i = 0; i < n; i++) {
		json_t *member = json_array_get(members, i);

		ends[i].index = (size_t)json_integer_value(json_array_get(member, 0));
		ends[i].port = (size_t)json_integer_value(json_array_get(member, 1));
		ends[i].node = &p->r->site->nodes[ends[i].index];
	}
	if (n == 1) {
		const struct site_rdma *peer = outside_peer(p->r, rail);

		if (!peer) {
			render_note(p->r, "kubernetes/rdma-test.yaml: %s has nobody to talk to on rail "
					  "'%s'", ends[0].node->name, rail);
			return;
		}
		_cleanup_free_ char *text = xasprintf(
			"No second worker is on this rail: start ib_write_bw -p %zu on the host with "
			"%s,\nwith its GID index and --tclass as here, before this pod.",
			FIRST_PORT + ends[0].port, peer->address);
		manifest_add(p->file, text, pod(p, "client", &ends[0], peer->address));
		return;
	}
	for (size_t i = 0; i < n; i++)
		add_server(p, &ends[i]);
	for (size_t i = 0; i < n; i++)
		add_client(p, &ends[i], &ends[(i + 1) % n]);
}

/* Ports of workers by rail, {rail: [[node, port], …]}, in the order of the site. */
static json_t *rails(const struct pods *p)
{
	json_t *by_rail = json_object_new();

	for (size_t i = 0; i < p->r->site->n_nodes; i++) {
		const struct site_node *node = &p->r->site->nodes[i];

		for (size_t k = 0; k < node->n_rdma && cluster_is_worker(p->r, node); k++) {
			const struct site_rdma *port = &node->rdma[k];

			if (!port->address && p->way != SECOND_NETWORK) {
				render_note(p->r, "kubernetes/rdma-test.yaml: %s of %s has no address, "
						  "so its GID cannot be told",
					    port->link, node->name);
				continue;
			}
			json_append(json_arr(by_rail, port->rail ? port->rail : ""),
				    manifest_pack("[ii]", (int)i, (int)k));
		}
	}
	return by_rail;
}

static void render_pods(struct pods *p)
{
	const char *why, *level = rdma_pods_level(p->r, &why), *rail;
	_cleanup_json_ json_t *by_rail = rails(p);
	json_t *members;

	p->file = render_file_add(p->r, 0644, "pods that test RDMA between workers",
				  "kubernetes/rdma-test.yaml");
	manifest_add(p->file, why, manifest_namespace(NAMESPACE, level));
	manifest_add(p->file, NULL,
		     manifest_pack("{ssss s{ssss} s{ss}}", "apiVersion", "v1", "kind", "ConfigMap",
				   "metadata", "name", "rdma-test", "namespace", NAMESPACE, "data",
				   "rdma-pod.sh", scripts_text("rdma-pod")));
	json_object_foreach(by_rail, rail, members)
		add_rail(p, rail, members);
}

void rdma_pods_render(struct render *r)
{
	const char *image = images_declared(r, "rdma");
	_cleanup_free_ char *target = NULL, *tos = NULL;
	struct pods p = {
		.r = r,
		.way = declared_way(r),
		.ipc_lock = needs_ipc_lock(r),
		.network = json_string_value(render_declared(r, "/kubernetes/rdma_network")),
	};

	if (!image) {
		render_note(r, "kubernetes/rdma-test.yaml: no image is declared "
			       "(kubernetes/images/rdma)");
		return;
	}
	if (p.way == SECOND_NETWORK && !p.network) {
		render_note(r, "kubernetes/rdma-test.yaml: the second network has no name "
			       "(kubernetes/rdma_network)");
		return;
	}
	/* in a pod with a network of its own, RDMA-CM finds no device of the host's */
	p.rdma_cm = p.way == HOST_NETWORK &&
		    json_is_true(render_declared(r, "/kubernetes/rdma_cm"));
	if (p.way == SECOND_NETWORK && json_is_true(render_declared(r, "/kubernetes/rdma_cm")))
		render_note(r, "kubernetes/rdma-test.yaml: tests raw verbs; the addresses of the second "
			       "network, which RDMA-CM needs, are not known on paper");
	target = images_target_or_refuse(r, image, "the RDMA test pods");
	p.image = target;
	/* the traffic class of verbs is the whole ToS byte; the DSCP is its upper six bits */
	if (r->site->qos.dscp.set)
		tos = xasprintf("%lld", (long long)r->site->qos.dscp.value << 2);
	p.tos = tos;
	render_pods(&p);
}
