/* SPDX-License-Identifier: Apache-2.0 */
/* QoS of the hosts. */
#include "render/render.h"

void render_qos(struct render *r)
{
	(void)r;
}
