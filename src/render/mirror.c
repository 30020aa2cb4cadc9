/* SPDX-License-Identifier: Apache-2.0 */
/* Mirror of the air gap: images, packages, copying and proof. */
#include "render/render.h"

void render_mirror(struct render *r)
{
	(void)r;
}
