/* SPDX-License-Identifier: Apache-2.0 */
/* What the renderers of the cluster's side share: its nodes, their taints, and manifests. */
#pragma once

#include "render/render.h"

/* Labels that railhead's own manifests select by. */
#define CLUSTER_LABEL_RDMA "railhead/rdma"	/* "true": a node with declared RDMA ports */
#define CLUSTER_LABEL_NODE "railhead/node"	/* of test pods: the node that they test */

/* --- nodes ------------------------------------------------------------------------------------ */

/* Is the node a worker of the cluster: `kube_node`, or what stands for it when it is not said. */
bool cluster_is_worker(const struct render *r, const struct site_node *node);
/* Does it run the control plane? */
bool cluster_is_control_plane(const struct render *r, const struct site_node *node);
/* Does it declare at least one GPU? */
bool cluster_has_gpus(const struct site_node *node);
/* `node_ip`, else `ssh/address` when that is an address; NULL. Borrowed. */
const char *cluster_node_ip(const struct render *r, const struct site_node *node);

/* Version of the declared GPU Operator with its 'v', as its chart has it; NULL without one. The
 * caller frees. */
char *cluster_operator_version(const struct render *r);
/* Namespace that the operator is installed into: declared, else the one of its documents.
 * Borrowed. */
const char *cluster_operator_namespace(const struct render *r);

/* --- taints ----------------------------------------------------------------------------------- */

/* "key=value:effect" that a new GPU node keeps until its gates pass. */
const char *cluster_unproven_taint(const struct render *r);
/* Taints that Kubespray gives a node: its own, and the unproven one of GPU nodes. New array of
 * texts. */
json_t *cluster_node_taints(const struct render *r, const struct site_node *node);
/* Labels likewise, with CLUSTER_LABEL_RDMA on nodes with RDMA ports. New object. */
json_t *cluster_node_labels(const struct render *r, const struct site_node *node);
/* Tolerations of what has to run on GPU nodes that are not proven yet. New reference to an array
 * that is read only. */
json_t *cluster_tolerations(struct render *r);

/* --- manifests -------------------------------------------------------------------------------- */

/* json_pack() that cannot fail: texts of a site are UTF-8, so only memory can be missing. */
json_t *manifest_pack(const char *fmt, ...);
/* Add a YAML document to a file, with a comment above it (NULL: none). Steals `document`. */
void manifest_add(struct render_file *file, const char *comment, json_t *document);
/* A namespace with the Pod Security level ("privileged", "baseline") that its pods need. */
json_t *manifest_namespace(const char *name, const char *level);
/* [{"name": the declared pull secret}], or NULL. New reference. */
json_t *manifest_pull_secrets(const struct render *r);
