/* SPDX-License-Identifier: Apache-2.0 */
/* What the two halves of Kubespray's files share, and what the mirror has to know of it. */
#pragma once

#include "render/render.h"

/* Does Kubespray install the cluster? */
bool kubespray_declared(const struct render *r);
/* Declared release with its 'v' ("v2.31.0"), or NULL. The caller frees. */
char *kubespray_release(const struct render *r);
/* Row of the table `kubespray`, or NULL. Borrowed. */
json_t *kubespray_row(const struct render *r);
/* Version of Cilium whose chart the release downloads, or NULL when it downloads none. The caller
 * frees. */
char *kubespray_cilium_chart(const struct render *r);

/* group_vars/ (kubespray_vars.c); `gpu_nodes`: the inventory has group gpu_node. */
void kubespray_render_vars(struct render *r, bool gpu_nodes);
/*
 * Ansible reads every value as a Jinja template: a text of the site that could open one is
 * refused. `what` names the file.
 */
void kubespray_refuse_templates(struct render *r, const char *what, json_t *value);
