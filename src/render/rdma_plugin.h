/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA in pods: the device plugin and the pods that test it. */
#pragma once

#include "render/render.h"

/* Extended resource that pods ask for. Borrowed. */
const char *rdma_resource(const struct render *r);
/* Do pods use RDMA: workers have RDMA ports, and pod_rdma is not `none`? */
bool rdma_pods_wanted(const struct render *r);
/* Pod Security level of pods that use RDMA here, and why ("" for baseline). */
const char *rdma_pods_level(const struct render *r, const char **why);

/* kubernetes/rdma-device-plugin.yaml, node-feature-rule.yaml */
void rdma_plugin_render(struct render *r);
/* kubernetes/rdma-test.yaml (rdma_pods.c) */
void rdma_pods_render(struct render *r);
