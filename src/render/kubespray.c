/* SPDX-License-Identifier: Apache-2.0 */
/* Kubespray: inventory, variables, commands. */
#include "render/render.h"

void render_kubespray(struct render *r)
{
	(void)r;
}
