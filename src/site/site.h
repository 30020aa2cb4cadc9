/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The declared system: site.yaml after parsing. Schema and meaning of every key: docs/site.md,
 * which is generated from the same table that drives the parser (site/schema.c).
 *
 * A member that the site does not declare is NULL, 0 entries, or `set` = false. Judges treat
 * "not declared" as its own case: they judge what holds without a declaration and say what was
 * assumed. All strings and arrays are owned by the site.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"

#define SITE_SCHEMA "railhead.site/1"

/* A number that may not be declared. */
struct site_number {
	bool set;
	int64_t value;
};

/* A truth value that may not be declared. */
struct site_bool {
	bool set;
	bool value;
};

enum site_role {
	SITE_ROLE_GPU = 1 << 0,
	SITE_ROLE_STORAGE = 1 << 1,
	SITE_ROLE_CLIENT = 1 << 2,
};

/* A line of the site file, for messages: "site.yaml:31". */
struct site_where {
	unsigned line, column;	/* from 1; 0 = not from a file (discovered) */
};

struct site_bond {
	struct site_where where;
	char *name;
	char *mode;		/* "802.3ad", "active-backup", … as the kernel spells it */
	char **ports;		/* NULL-terminated link names, enslave order */
	char *lacp_rate;	/* "fast", "slow" */
	char *xmit_hash_policy;
	struct site_number mtu;
	char **addresses;	/* NULL-terminated "10.0.0.11/24" */
};

struct site_vlan {
	struct site_where where;
	char *name;
	char *link;		/* parent link */
	struct site_number id;
	struct site_number mtu;
	char **addresses;
	/* egress priority map: egress[p] = PCP for kernel priority p, -1 = not declared */
	int egress[8];
};

struct site_link {
	struct site_where where;
	char *name;
	char *pci;		/* BDF, may be NULL */
	char *driver;		/* expected driver */
	char *firmware; /* NVM version, devlink fw.bundle_id or fw.mgmt or ethtool text prefix */
	char *ddp;		/* DDP package name (fw.app.name) */
	struct site_number speed_mbps;	/* declared speed of the port */
	struct site_number mtu;
	char **addresses;
};

/* One RDMA port: what a RoCE GID belongs to. */
struct site_rdma {
	struct site_where where;
	char *link;		/* plain link, bond or VLAN that carries the address */
	char *device;		/* RDMA device name, NULL = whichever belongs to the link */
	char *address;		/* IPv4 (or IPv6) without prefix, whose GID is used */
	char *protocol;		/* "roce" (default) or "iwarp" */
	char *rail; /* rail name: ports of one rail on different nodes talk to each other */
	struct site_number roce_mtu;	/* 256…4096 bytes */
};

struct site_gpu {
	struct site_where where;
	char *model;		/* "B300" */
	char *pci_id;		/* "10de:3182" */
	struct site_number count;
	char *driver_min, *driver_max;	/* version range, either may be NULL */
};

/* Where a kernel driver comes from. */
struct site_driver {
	struct site_where where;
	char *name;	/* "ice", "irdma", "mlx5_core" */
	char *source;	/* "inbox" (of the kernel) or "out-of-tree"; the default is inbox */
	char *version;	/* of an out-of-tree driver */
};

struct site_node {
	struct site_where where;
	char *name;
	unsigned roles;		/* enum site_role bits */
	char *os_id;		/* "rhel" */
	char *os_version;	/* "10.2" */
	char *kernel;		/* shell pattern of uname -r: "6.12.0-*.el10_2.x86_64" */
	char *rdma_core_min;	/* lowest rdma-core version */
	struct site_number memlock_bytes;	/* lowest accepted; -1 = unlimited */
	char *rdma_netns;	/* "shared", "exclusive" */
	struct site_link *links;
	size_t n_links;
	struct site_bond *bonds;
	size_t n_bonds;
	struct site_vlan *vlans;
	size_t n_vlans;
	struct site_rdma *rdma;
	size_t n_rdma;
	struct site_gpu *gpus;	/* one entry per model */
	size_t n_gpus;
	struct site_driver *drivers;
	size_t n_drivers;
};

/* Quality of service of the RoCE class, the same on hosts and switch. */
struct site_qos {
	bool declared;
	struct site_where where;
	struct site_number dscp;	/* 24 */
	struct site_number priority;	/* 3 */
	struct site_number traffic_class;	/* 3 */
	struct site_number bandwidth_percent;	/* lowest ETS share of the RoCE TC, percent */
	int prio_tc[8];			/* declared priority → TC, -1 = not declared */
	int tc_bandwidth[8];		/* declared ETS percent by TC, -1 = not declared */
	struct site_bool pfc;		/* PFC on the RoCE priority */
	struct site_bool ecn;
	struct site_bool dcb;		/* false: NICs of this site have no DCB to judge */
};

struct site {
	char *path;		/* file, NULL when discovered */
	char *name;
	bool assumed;		/* made by site_discover(), nothing was declared */
	struct site_qos qos;
	bool kubernetes;	/* a Kubernetes section is declared */
	bool storage;		/* a storage section is declared */
	bool workload;		/* a workload (vLLM) section is declared */
	bool gpudirect;		/* level 3 is wanted (default: any node has GPUs) */
	char *kubernetes_version;
	struct site_node *nodes;
	size_t n_nodes;
	/* The whole file as JSON, for plan, render and reports; profiles and defaults are merged
	 * into its nodes. Read only: values are shared. NULL when discovered. */
	json_t *document;
	json_t *lines;	/* see site_line() */
};

/*
 * Read and check a site file. Errors name file, line and column, and the nearest valid key.
 * -EINVAL for content, other errno values for the file itself. All errors found are in `err`, a
 * line each (at most 20).
 */
int site_load(struct site **site, const char *path, struct error *err);
/*
 * The same, with values laid over the file before it is checked, each "KEY=VALUE" (NULL-terminated
 * list, may be NULL): KEY is a key path with slashes or dots ("gpu_operator.version",
 * "nodes/gpu-1/links/ens1f0/mtu", "storage/nodes/0"), keys of the schema also in camel case; VALUE
 * is a YAML value. Profiles and defaults apply as usual. A message about a wrong one names it as
 * `--upgrade KEY=VALUE`.
 */
int site_load_with(struct site **site, const char *path, const char *const *overrides,
		   struct error *err);
/* The same from memory; `name` is used in messages. */
int site_parse(struct site **site, const char *text, size_t len, const char *name,
	       struct error *err);
int site_parse_with(struct site **site, const char *text, size_t len, const char *name,
		    const char *const *overrides, struct error *err);

/*
 * A site made from what one or more snapshots show: each RDMA device's link, bonds, GPUs.
 * `assumed` is true. Node i is made from snapshot i and has its host name. Never fails on odd
 * snapshots; what is not understood is left out. -EINVAL without any snapshot.
 */
int site_discover(struct site **site, json_t *const *snapshots, size_t n, struct error *err);

void site_free(struct site *site);

static inline RH_UNUSED void cleanup_site_p(struct site **site)
{
	site_free(*site);
}
#define _cleanup_site_ __attribute__((cleanup(cleanup_site_p)))

/* Line of the file where the value at a pointer of `document` was written (of its key, in a map);
 * 0 when it is not known: below /nodes, or discovered. */
unsigned site_line(const struct site *site, const char *pointer);

struct site_node *site_node_find(const struct site *site, const char *name);
struct site_bond *site_bond_find(const struct site_node *node, const char *name);
struct site_vlan *site_vlan_find(const struct site_node *node, const char *name);
struct site_link *site_link_find(const struct site_node *node, const char *name);
struct site_rdma *site_rdma_find(const struct site_node *node, const char *link);
struct site_driver *site_driver_find(const struct site_node *node, const char *name);

/* Schema table as text: the reference part of docs/site.md, in Markdown. Caller frees. */
char *site_schema_markdown(void);
