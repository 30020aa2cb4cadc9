/* SPDX-License-Identifier: Apache-2.0 */
/* Switch configuration. */
#include "render/render.h"

void render_switch(struct render *r)
{
	(void)r;
}
