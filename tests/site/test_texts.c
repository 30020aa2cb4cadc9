/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that have to agree with the code: the reference in docs/site.md, and the examples. After an
 * intended change, `--update` writes the reference and the golden documents anew; the difference is
 * reviewed with the change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "reference.h"
#include "site/site.h"

#define BEGIN "<!-- reference: written by test-site-texts --update -->\n\n"
#define DOCS RAILHEAD_SOURCE "/docs/site.md"

static bool update;

static void test_reference(void **state RH_UNUSED)
{
	_cleanup_free_ char *reference = site_schema_markdown();

	check_reference(DOCS, BEGIN, reference, update);
}

static struct site *loaded(const char *path)
{
	_cleanup_error_ struct error err = {0};
	struct site *site;

	if (site_load(&site, path, &err) < 0)
		fail_msg("%s", error_text(&err));
	return site;
}

/* The YAML blocks of the documentation: whole files, and parts that begin with `nodes`. */
static void test_yaml_in_the_documentation(void **state RH_UNUSED)
{
	_cleanup_free_ char *docs = file_text(DOCS);
	unsigned blocks = 0;

	for (char *at = docs; (at = strstr(at, "```yaml\n"));) {
		_cleanup_error_ struct error err = {0};
		_cleanup_site_ struct site *site = NULL;

		at += strlen("```yaml\n");
		char *end = strstr(at, "```\n");
		assert_non_null(end);
		bool whole = !strncmp(at, "schema:", strlen("schema:"));
		_cleanup_free_ char *text = xasprintf("%s%.*s", whole ? "" : "schema: railhead.site/1\nname: x\n",
						      (int)(end - at), at);
		if (site_parse(&site, text, strlen(text), "docs/site.md", &err) < 0)
			fail_msg("%s", error_text(&err));
		blocks++;
		at = end + strlen("```\n");
	}
	assert_true(blocks >= 3);
}

static void check_golden(const struct site *site, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/tests/site/golden/%s.json", RAILHEAD_SOURCE, name);
	_cleanup_free_ char *text = json_to_text(site->document, true);

	if (update) {
		write_text(path, text, strlen(text), "\n");
		return;
	}
	_cleanup_free_ char *golden = file_text(path);
	golden[strlen(golden) - 1] = '\0';
	assert_string_equal(text, golden);
}

static void test_original_proposal(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = loaded(RAILHEAD_SOURCE "/examples/original-proposal.yaml");
	const struct site_node *gpu = site_node_find(site, "gpu-node-01");
	const struct site_node *store = site_node_find(site, "aistor-01");

	check_golden(site, "original-proposal");
	assert_int_equal(site->n_nodes, 3);
	assert_true(site->gpudirect && site->kubernetes && site->storage && site->workload);
	assert_int_equal(gpu->roles, SITE_ROLE_GPU);
	assert_string_equal(gpu->os_version, "10.2");
	assert_int_equal(gpu->gpus[0].count.value, 8);
	assert_string_equal(site_bond_find(gpu, "bond1")->mode, "802.3ad");
	assert_int_equal(site_bond_find(gpu, "bond1")->mtu.value, 9000);
	assert_string_equal(site_link_find(gpu, "ens1f1")->driver, "ice");
	assert_string_equal(site_rdma_find(gpu, "bond1")->address, "10.10.1.11");
	assert_int_equal(store->roles, SITE_ROLE_STORAGE);
	assert_int_equal(store->n_gpus, 0);
	assert_string_equal(site_rdma_find(store, "bond1")->address, "10.10.1.21");
	assert_int_equal(site->qos.dscp.value, 24);
	assert_int_equal(site->qos.priority.value, 3);
	assert_int_equal(site->qos.traffic_class.value, 3);
	assert_true(site->qos.pfc.value);
}

static void test_lab(void **state RH_UNUSED)
{
	_cleanup_site_ struct site *site = loaded(RAILHEAD_SOURCE "/examples/lab.yaml");
	const struct site_node *gpu = site_node_find(site, "gpu-node-01");
	const struct site_node *store = site_node_find(site, "aistor-01");

	check_golden(site, "lab");
	assert_int_equal(site->n_nodes, 2);
	assert_false(site->gpudirect);
	assert_int_equal(gpu->roles, SITE_ROLE_CLIENT);
	assert_int_equal(store->roles, SITE_ROLE_STORAGE);
	assert_string_equal(site_bond_find(gpu, "bond0")->mode, "active-backup");
	assert_string_equal(site_bond_find(gpu, "bond1")->ports[1], "roce1");
	assert_string_equal(site_bond_find(gpu, "bond0")->addresses[0], "10.0.0.11/24");
	assert_string_equal(site_rdma_find(gpu, "bond1")->address, "10.10.1.11");
	assert_string_equal(site_rdma_find(store, "bond1")->address, "10.10.1.21");
	assert_int_equal(site->qos.dscp.value, 24);
}

/* One family and one shape each: what sets an example apart from the others. */
static void test_other_examples(void **state RH_UNUSED)
{
	static const struct {
		const char *name, *driver, *rdma;
		bool out_of_tree;
	} examples[] = {
		{ "e810-two-rails", "ice", "ens1f1", false },
		{ "e810-oot-lacp", "ice", "bond1", true },
		{ "connectx", "mlx5_core", "bond1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		_cleanup_free_ char *path = xasprintf("%s/examples/%s.yaml", RAILHEAD_SOURCE,
						      examples[i].name);
		_cleanup_site_ struct site *site = loaded(path);
		const struct site_node *gpu = site_node_find(site, "gpu-node-01");

		assert_string_equal(site->name, examples[i].name);
		assert_non_null(site_node_find(site, "kube-01"));
		assert_non_null(site_rdma_find(gpu, examples[i].rdma));
		const struct site_bond *bond = site_bond_find(gpu, examples[i].rdma);
		const char *port = bond ? bond->ports[0] : examples[i].rdma;
		assert_string_equal(site_link_find(gpu, port)->driver, examples[i].driver);
		assert_true(examples[i].out_of_tree ==
			    (gpu->n_drivers && gpu->drivers[0].source &&
			     !strcmp(gpu->drivers[0].source, "out-of-tree")));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference),
		cmocka_unit_test(test_yaml_in_the_documentation),
		cmocka_unit_test(test_original_proposal),
		cmocka_unit_test(test_lab),
		cmocka_unit_test(test_other_examples),
	};

	update = argc > 1 && !strcmp(argv[1], "--update");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
