/* SPDX-License-Identifier: Apache-2.0 */
/* The host network of one node: what its renderers share. */
#pragma once

#include "judge/net_address.h"
#include "render/installer.h"
#include "render/render.h"

enum network_kind { NETWORK_PORT, NETWORK_BOND, NETWORK_VLAN };

/* A declared link of any kind, with what stands above and below it. */
struct network_link {
	enum network_kind kind;
	const char *name;
	const struct site_bond *bond;	/* kind NETWORK_BOND */
	const struct site_vlan *vlan;	/* kind NETWORK_VLAN */
	const struct site_rdma *rdma;	/* its RDMA port, NULL: none */
	char *const *addresses;		/* NULL-terminated, or NULL */
	int64_t mtu;			/* 0: not declared */
	json_t *declared;		/* its object in the document: gateway, routes */
	const struct network_link *master;	/* the bond that it is a port of */
	bool rendered;	/* it has an address, or something above it has */
	unsigned table;	/* routing table of its own, 0: none is needed */
};

struct network {
	struct render *r;
	const struct site_node *node;
	struct network_link *links;	/* ports, bonds, VLANs, as declared */
	size_t n;
	struct installer installer;
};

/* Add NETWORK/NODE/`name` and have it installed at `target`, which is formatted. */
struct render_file *network_file(struct network *net, unsigned mode, const char *what,
				 const char *name, const char *target, ...) RH_PRINTF(5, 6);

/* Declared RDMA ports that have an address. */
size_t network_rails(const struct network *net);

/* NetworkManager profiles: network_keyfile.c */
void network_keyfiles(struct network *net);
/* sysctl, modules, limits, packages: network_host.c */
void network_host_files(struct network *net);

/* Packages that a node with RDMA needs on an operating system (`ID` of os-release), as its package
 * manager names them; NULL-terminated, NULL: not known. */
const char *const *network_packages(const char *os_id);
