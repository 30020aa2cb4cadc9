/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the judges of the gates on paper (plan_*.c): rows of the support matrix, nodes that
 * are alike, and the NICs that carry RDMA. Look-ups leave no evidence; a judge notes the row that
 * decides with fact_row(), and what was declared with declared() or plan_declared().
 */
#pragma once

#include "judge/gate.h"

/* --- the support matrix ----------------------------------------------------------------------- */

/* Rows of a table; empty when the judge has no matrix. Borrowed. */
json_t *plan_rows(const struct judging *g, const char *table);
/* The first row of a table whose member `key` is `value`, or NULL. Borrowed. */
json_t *plan_row(const struct judging *g, const char *table, const char *key, const char *value);

/* "platform-support.rst (26.7.0), seen 2026-08-21": what a message says of a row. With a mark when
 * the row is inferred or unverified. Lives until the judge returns. */
const char *plan_row_text(struct judging *g, json_t *row);

/* First two numbers of a version: "v26.3.3" -> "26.3". Lives until the judge returns. */
const char *plan_line(struct judging *g, const char *version);

/* Is a Kubernetes version in {min, max}? Ends that name a minor version hold for all patches. */
bool plan_in_range(const char *version, json_t *range);
/* "1.33 to 1.36". Lives until the judge returns. */
const char *plan_range_text(struct judging *g, json_t *range);

/* Is this text in an array of texts? */
bool plan_has(json_t *texts, const char *text);
/* Texts of an array in one line, "10.0, 10.1 and 10.2"; at most `most` of them are named, then
 * "and 7 more". Lives until the judge returns. */
const char *plan_list(struct judging *g, json_t *texts, size_t most);

/* --- declarations ----------------------------------------------------------------------------- */

/* A value of the operator's chart by its dotted key: from `gpu_operator.values`, else from the key
 * of the site that stands for it. Noted as evidence. NULL when neither is declared. Booleans as
 * "true", "false". */
const char *plan_helm(struct judging *g, const char *key);
/* The same as a truth; another text is "unknown", and taken as the fallback. */
bool plan_helm_bool(struct judging *g, bool fallback, const char *key);

/* Declared version of the GPU Operator, noted; NULL, and a finding "unknown", without one. */
const char *plan_operator_version(struct judging *g);

/* Declared driver version, of a precompiled driver its branch; else the default of the declared
 * operator's row (noted, and told by judge_assume()); NULL when there is neither, or the driver is
 * the hosts' own. */
const char *plan_gpu_driver(struct judging *g);
/* Row of `gpu-drivers` for this operator: of the exact version, else of the same branch. */
json_t *plan_gpu_driver_row(struct judging *g, const char *operator_version, const char *driver);

/* Beside the roles of a node: it is a worker of the cluster, and so runs pods. Those are all but
 * nodes that only store, unless `kube_node` says otherwise. */
#define PLAN_WORKERS (1u << 31)

/* Has the node one of these roles? 0: yes. */
bool plan_has_role(const struct judging *g, const struct site_node *node, unsigned roles);

/* --- nodes that are alike --------------------------------------------------------------------- */

/* One thing that differs between nodes, and who has it. */
struct plan_case {
	const struct site_node *node;	/* the first with it */
	const void *what;		/* what the caller keeps of the first */
	size_t n;			/* nodes that have it */
	const struct site_node *second, *last;	/* the second and the newest of them */
};

/* In the order in which they first came. {0} is empty. */
struct plan_cases {
	struct plan_case *list;
	size_t n, capacity;
	json_t *index;	/* key -> place in `list` */
};

/* Count `node` to the case of this key: once, however many of its links have it. */
void plan_case_add(struct plan_cases *cases, const struct site_node *node, const void *what,
		   const char *fmt, ...) RH_PRINTF(4, 5);
void plan_cases_clear(struct plan_cases *cases);
#define _cleanup_plan_cases_ __attribute__((cleanup(plan_cases_clear)))

/* "gpu-01", "gpu-01 and gpu-02", "gpu-01 and 999 others". Lives until the judge returns. */
const char *plan_nodes(struct judging *g, const struct plan_case *c);

/* Distinct systems (os.id and os.version) of nodes with one of these roles; 0: of all nodes. */
void plan_systems(const struct judging *g, unsigned roles, struct plan_cases *cases);
/* Does any node have one of these roles? */
bool plan_any(const struct judging *g, unsigned roles);
/* What all judges say of GPU nodes without an RDMA port: a finding "unknown", if there are any. */
void plan_ports_declared(struct judging *g);

/* --- NICs that carry RDMA --------------------------------------------------------------------- */

/* A NIC as it is declared: what the rows of `nics` are chosen by. */
struct plan_nic {
	const char *driver;	/* of the link; NULL: not declared */
	const char *rdma_driver;	/* of the row; NULL: no row */
	const char *source;	/* "inbox", "out-of-tree" */
	const char *version;	/* of the out-of-tree driver, may be NULL */
	json_t *row;		/* borrowed; NULL: the matrix has none for driver and source */
	bool too_old;		/* the row holds from a newer version on */
};

/* The NIC of a physical link. A link of a virtual machine carries software RDMA (rxe). */
struct plan_nic plan_nic_of(const struct judging *g, const struct site_node *node,
			    const char *link);

/* Distinct NICs below the RDMA ports of nodes with one of these roles (0: of all); `what` of a
 * case is the name of the link. */
void plan_nics(const struct judging *g, unsigned roles, struct plan_cases *cases);
/* The same, and told apart by the operating system of the node. */
void plan_nics_by_system(const struct judging *g, unsigned roles, struct plan_cases *cases);

/* "ice (inbox)", "ice 2.6.6 (out-of-tree)". Lives until the judge returns. */
const char *plan_nic_text(struct judging *g, const struct plan_nic *nic);

/* What all judges say of a NIC without a row: adds a finding "unknown" and returns true. */
bool plan_nic_unknown(struct judging *g, const struct plan_case *c, const struct plan_nic *nic);

/* Note the source and version of a node's drivers and of the link as evidence. */
void plan_nic_fact(struct judging *g, const struct plan_case *c);

/* Driver of a node that is declared as of DOCA-OFED, whose ib_core is OFED's too; or NULL. */
const struct site_driver *plan_host_ofed(const struct site_node *node);

/* The bond that an RDMA port lies on, also below VLANs, or that its link is a port of; or NULL. */
const struct site_bond *plan_bond_of(const struct site_node *node, const struct site_rdma *port);

/* --- the judges, by file ---------------------------------------------------------------------- */

/* plan_platform.c */
void judge_plan_os_matrix(struct judging *g);
void judge_plan_kubespray(struct judging *g);
/* plan_gpu.c */
void judge_plan_gpu_matrix(struct judging *g);
void judge_plan_kernel_module(struct judging *g);
/* plan_gdr.c */
void judge_plan_gdr_matrix(struct judging *g);
/* plan_operator.c */
void judge_plan_driver_rdma(struct judging *g);
void judge_plan_network_operator(struct judging *g);
/* plan_repo.c */
void judge_plan_operator_repo(struct judging *g);
/* plan_images.c */
void judge_plan_images(struct judging *g);
/* plan_bond.c */
void judge_plan_bond_rdma(struct judging *g);
void judge_plan_driver_pair(struct judging *g);
/* plan_qos.c */
void judge_plan_qos(struct judging *g);
/* plan_flow.c */
void judge_plan_qos_order(struct judging *g);
void judge_plan_ecn_host(struct judging *g);
void judge_plan_headroom(struct judging *g);
/* plan_path.c */
void judge_plan_pod_network(struct judging *g);
void judge_plan_storage_client(struct judging *g);
