/* SPDX-License-Identifier: Apache-2.0 */
/* Titles of phases and levels. */
#include "report/report.h"

#include "judge/gate.h"

const char *report_phase_title(unsigned phase)
{
	return gate_phase_title(phase);
}

const char *report_level_title(unsigned level)
{
	static const char *const titles[] = {
		[0] = "on paper",
		[1] = "GPU and node",
		[2] = "network and RoCE",
		[3] = "GPUDirect RDMA",
		[4] = "storage data path",
		[5] = "workload",
	};

	return level < ARRAY_SIZE(titles) ? titles[level] : "";
}
