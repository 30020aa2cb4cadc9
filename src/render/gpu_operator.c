/* SPDX-License-Identifier: Apache-2.0 */
/* GPU Operator: values of its chart. */
#include "render/render.h"

void render_gpu_operator(struct render *r)
{
	(void)r;
}
