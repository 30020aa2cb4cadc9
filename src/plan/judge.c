/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

int plan_judge(struct ladder **ladder, const struct site *site, const struct matrix *matrix,
	       struct error *err)
{
	struct judge_input input = { .site = site, .matrix = matrix, .paper = true };

	return judge_all(ladder, &input, err);
}
