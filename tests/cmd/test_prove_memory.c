/* SPDX-License-Identifier: Apache-2.0 */
/* Which end of a suite gdr has memory of a GPU, by the roles in the site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/prove.h"

static void by_roles(void **state)
{
	static const struct {
		const char *node, *host;	/* NULL node: this machine is not known */
		const char *memory[2];
	} rows[] = {
		{ "gpu-node-01", "10.10.1.21", { "cuda", "host" } },
		{ "gpu-node-01", "aistor-01", { "cuda", "host" } },
		{ "aistor-01", "10.10.1.11", { "host", "cuda" } },
		{ "aistor-01", "10.0.0.11", { "host", "cuda" } },
		{ "aistor-01", "gpu-node-01", { "host", "cuda" } },
		{ "gpu-node-01", "10.10.1.11", { "cuda", "cuda" } },
		{ NULL, "10.10.1.11", { "host", "cuda" } },
		/* nobody says which end has one */
		{ NULL, "10.10.1.21", { "cuda", "host" } },
		{ NULL, "10.10.1.1", { "cuda", "host" } },
		{ "aistor-01", "192.0.2.1", { "cuda", "host" } },
	};
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;

	(void)state;
	assert_int_equal(site_load(&site, RAILHEAD_SOURCE "/examples/lab.yaml", &err), 0);
	/* the lab has none */
	site_node_find(site, "gpu-node-01")->roles = SITE_ROLE_GPU;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct session_parameters p = {0};

		prove_suite_memory(&p, site,
				   rows[i].node ? site_node_find(site, rows[i].node) : NULL,
				   rows[i].host);
		assert_string_equal(p.memory[0], rows[i].memory[0]);
		assert_string_equal(p.memory[1], rows[i].memory[1]);
	}
}

static void without_a_site(void **state)
{
	struct session_parameters p = {0};

	(void)state;
	prove_suite_memory(&p, NULL, NULL, "10.10.1.21");
	assert_string_equal(p.memory[0], "cuda");
	assert_string_equal(p.memory[1], "host");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_roles),
		cmocka_unit_test(without_a_site),
	};

	return cmocka_run_group_tests_name("prove_memory", tests, NULL, NULL);
}
