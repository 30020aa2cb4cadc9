/* SPDX-License-Identifier: Apache-2.0 */
#include "prove/run_wait.h"

#include <sched.h>

#include "prove/run_common.h"

/* Some 20 us of looks at a CQ: longer than a message takes on any network of this kind. */
#define SPIN 1024u
/* A look at the control channel is a system call. */
#define ASK_NS 5000000u

unsigned run_wait_spin(void)
{
	cpu_set_t processors;

	/* more processors than the set has room for is not one */
	return sched_getaffinity(0, sizeof(processors), &processors) == 0 &&
			       CPU_COUNT(&processors) == 1 ? 1 : SPIN;
}

bool run_wait_idle(struct run_wait *wait)
{
	if (++wait->looks < wait->spin)
		return false;
	wait->looks = 0;
	sched_yield();
	uint64_t now = run_now_ns();
	if (!wait->begun_ns)
		wait->begun_ns = wait->asked_ns = now;
	if (now - wait->asked_ns < ASK_NS)
		return false;
	wait->asked_ns = now;
	return true;
}

bool run_wait_is_over(const struct run_wait *wait)
{
	return wait->asked_ns - wait->begun_ns > wait->limit_ns;
}
