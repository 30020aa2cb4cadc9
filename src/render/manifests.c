/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes manifests. */
#include "render/render.h"

void render_manifests(struct render *r)
{
	(void)r;
}
