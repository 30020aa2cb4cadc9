/* SPDX-License-Identifier: Apache-2.0 */
/* Host network. */
#include "render/render.h"

void render_network(struct render *r)
{
	(void)r;
}
