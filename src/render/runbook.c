/* SPDX-License-Identifier: Apache-2.0 */
/* Runbook. */
#include "render/render.h"

void render_runbook(struct render *r)
{
	(void)r;
}
