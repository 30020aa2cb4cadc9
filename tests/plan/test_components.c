/* SPDX-License-Identifier: Apache-2.0 */
/* The bill: what a site needs follows from what it declares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "plan/plan.h"

/* Every site below begins with this: one GPU node with one RDMA port. */
static const char head[] =
	"schema: railhead.site/1\n"
	"name: test\n"
	"nodes:\n"
	"  gpu-1:\n"
	"    gpus: {B300: {count: 8}}\n";

static json_t *bill_of(const char *rest)
{
	_cleanup_matrix_ struct matrix *matrix = NULL;
	_cleanup_error_ struct error err = {0};
	_cleanup_site_ struct site *site = NULL;
	_cleanup_free_ char *text = xasprintf("%s%s", head, rest);

	if (site_parse(&site, text, strlen(text), "site.yaml", &err) ||
	    matrix_load(&matrix, RAILHEAD_SOURCE "/data", &err))
		fail_msg("%s", error_text(&err));
	return plan_components(site, matrix);
}

/* The component of this name that is looked for; with several, the one that lives `where`. */
static json_t *component(json_t *bill, const char *name, const char *where)
{
	json_t *one, *found = NULL;
	size_t i;

	json_array_foreach(bill, i, one) {
		if (strcmp(json_get_string(one, "component", ""), name) ||
		    (where && strcmp(json_get_string(one, "where", ""), where)))
			continue;
		if (found)
			fail_msg("%s stands twice", name);
		found = one;
	}
	return found;
}

static void need(json_t *bill, const char *name, const char *expected)
{
	json_t *one = component(bill, name, NULL);

	if (!one)
		fail_msg("no component %s", name);
	if (strcmp(json_get_string(one, "need", ""), expected))
		fail_msg("%s is %s, expected %s", name, json_get_string(one, "need", ""), expected);
	assert_non_null(json_get_string(one, "why", NULL));
	assert_non_null(json_get_string(one, "source", NULL));
}

static void version(json_t *bill, const char *name, const char *expected, const char *from)
{
	json_t *one = component(bill, name, NULL);

	assert_non_null(one);
	if (!expected) {
		assert_null(json_object_get(one, "version"));
		return;
	}
	assert_string_equal(json_get_string(one, "version", "(none)"), expected);
	if (strncmp(json_get_string(one, "version_from", ""), from, strlen(from)))
		fail_msg("%s: from %s", name, json_get_string(one, "version_from", ""));
}

#define E810 "    links: {ens1f0: {driver: ice}, ens1f1: {driver: ice}}\n"
#define BOND "    bonds: {bond1: {mode: 802.3ad, ports: [ens1f0, ens1f1]}}\n    rdma: {bond1: {}}\n"

static void test_in_tree_bond(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(E810 BOND);

	(void)state;
	need(bill, "ice", "required");
	assert_non_null(strstr(json_get_string(component(bill, "ice", NULL), "why", ""),
			       "as soon as it joins any bond"));
	need(bill, "ice_lag DDP package", "not-needed");
	need(bill, "DDP package", "required");
	need(bill, "nvidia-peermem", "must-not");
	/* no cluster, no store is declared */
	assert_null(component(bill, "Kubernetes", NULL));
	assert_null(component(bill, "DOCA-OFED", NULL));
	assert_null(component(bill, "storage client", NULL));
	assert_null(component(bill, "GPU Operator", NULL));
}

static void test_out_of_tree_bond(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(
		E810 BOND
		"    drivers: {ice: {source: out-of-tree, version: 2.6.6}, irdma: {source: out-of-tree}}\n");

	(void)state;
	need(bill, "ice_lag DDP package", "required");
	need(bill, "DDP package", "not-needed");
	version(bill, "ice", "2.6.6 (out-of-tree)", "declared");
	version(bill, "irdma", "out-of-tree", "declared");
}

static void test_out_of_tree_rails_need_no_lag(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(
		E810 "    rdma: {ens1f0: {}}\n    drivers: {ice: {source: out-of-tree}}\n");

	(void)state;
	need(bill, "ice_lag DDP package", "not-needed");
	need(bill, "DDP package", "required");
}

static void test_connectx(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(
		"    links: {ens1f0: {driver: mlx5_core}}\n    rdma: {ens1f0: {}}\n"
		"kubernetes: {version: 1.33.1, pod_rdma: host-gid}\n"
		"storage: {kind: aistor, client: {library: s3rdma}}\n");

	(void)state;
	need(bill, "mlx5_core and mlx5_ib", "required");
	need(bill, "ice", "not-needed");
	need(bill, "nvidia-peermem", "not-needed");
	need(bill, "Network Operator", "recommended");
	/* its core would hide the GIDs that pods are declared to use */
	need(bill, "DOCA-OFED", "must-not");
	need(bill, "storage client", "required");
	need(bill, "object store server", "required");
	assert_null(component(bill, "E810 NVM firmware", NULL));
}

static void test_client_without_dc(void **state)
{
	_cleanup_json_ json_t *dc = bill_of(E810 "    rdma: {ens1f0: {}}\n"
					    "storage: {client: {library: s3rdma}}\n");
	_cleanup_json_ json_t *http = bill_of(E810 "    rdma: {ens1f0: {}}\n"
					      "storage: {client: {library: http}}\n");

	(void)state;
	need(dc, "storage client", "must-not");
	need(http, "storage client", "required");
}

static void test_operator_and_its_parts(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(
		E810 "    rdma: {ens1f0: {}}\n"
		"kubernetes: {version: 1.33.1, kubespray: {version: v2.31.0}, cni: {name: cilium}}\n"
		"gpu_operator:\n"
		"  version: v26.3.3\n"
		"  gdrcopy: true\n"
		"  values: {gds.enabled: \"true\", toolkit.version: v9.9.9}\n");

	(void)state;
	version(bill, "GPU Operator", "v26.3.3", "declared");
	version(bill, "GPU device plugin", "v0.19.3", "images.yaml:");
	/* what the chart's values say comes before the matrix */
	version(bill, "container toolkit", "v9.9.9", "declared");
	need(bill, "GDRCopy (gdrdrv)", "recommended");
	need(bill, "GDS (nvidia-fs)", "recommended");
	need(bill, "VFIO manager", "not-needed");
	version(bill, "VFIO manager", NULL, NULL);
	need(bill, "kernel-devel, kernel-headers, gcc", "required");
	version(bill, "CNI", "cilium 1.19.3", "kubespray.yaml:");
	version(bill, "containerd", "2.2.3", "kubespray.yaml:");
	/* as the chart of the declared operator has it */
	json_t *driver = component(bill, "NVIDIA driver", "driver container");
	assert_string_equal(json_get_string(driver, "version", ""), "580.126.20");
}

/* A version means the same with and without its 'v', as it does to the gates. */
static void test_versions_without_v(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(
		E810 "    rdma: {ens1f0: {}}\n"
		"kubernetes: {version: 1.33.1, kubespray: {version: 2.31.0}, cni: {name: cilium}}\n"
		"gpu_operator: {version: 26.3.3}\n");

	(void)state;
	version(bill, "GPU device plugin", "v0.19.3", "images.yaml:");
	version(bill, "containerd", "2.2.3", "kubespray.yaml:");
}

static void test_host_driver_and_sandbox(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(
		E810 "    rdma: {ens1f0: {}}\n"
		"gpu_operator:\n"
		"  version: v26.7.0\n"
		"  driver: {enabled: false}\n"
		"  values: {sandboxWorkloads.enabled: \"true\"}\n");
	json_t *container = component(bill, "NVIDIA driver", "driver container");
	json_t *host = component(bill, "NVIDIA driver", "host");

	(void)state;
	assert_string_equal(json_get_string(container, "need", ""), "not-needed");
	assert_string_equal(json_get_string(host, "need", ""), "required");
	need(bill, "kernel-devel, kernel-headers, gcc", "not-needed");
	need(bill, "VFIO manager", "required");
	version(bill, "VFIO manager", "v0.12.0", "images.yaml:");
}

static void test_pods(void **state)
{
	_cleanup_json_ json_t *second = bill_of(
		E810 "    rdma: {ens1f0: {}}\nkubernetes: {pod_rdma: second-network}\n");
	_cleanup_json_ json_t *none = bill_of(
		E810 "    rdma: {ens1f0: {}}\nkubernetes: {pod_rdma: none}\n");
	_cleanup_json_ json_t *network = bill_of(
		E810 "    rdma: {ens1f0: {}}\nkubernetes: {pod_rdma: host-network}\n");

	(void)state;
	need(second, "Multus", "required");
	need(second, "RDMA device plugin", "required");
	need(none, "Multus", "not-needed");
	need(none, "RDMA device plugin", "not-needed");
	need(network, "Pod Security level privileged", "required");
	need(network, "DOCA-OFED", "must-not");
}

/* A component has one answer, and a name stands at one place once. */
static void test_names_are_unique(void **state)
{
	_cleanup_json_ json_t *bill = bill_of(
		E810 BOND
		"kubernetes: {version: 1.33.1, pod_rdma: host-gid, kubespray: {version: v2.31.0}}\n"
		"gpu_operator: {version: v26.7.0}\nqos: {dscp: 24, priority: 3, pfc: true, ecn: true}\n"
		"switch: {}\nstorage: {client: {library: s3rdma}}\nworkload: {kind: vllm}\n");
	_cleanup_json_ json_t *seen = json_object_new();
	json_t *one;
	size_t i;

	(void)state;
	assert_true(json_array_size(bill) > 50);
	json_array_foreach(bill, i, one) {
		_cleanup_free_ char *key = xasprintf("%s (%s)",
						     json_get_string(one, "component", ""),
						     json_get_string(one, "where", ""));

		if (json_object_get(seen, key))
			fail_msg("%s stands twice", key);
		json_put_bool(seen, key, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_tree_bond),
		cmocka_unit_test(test_out_of_tree_bond),
		cmocka_unit_test(test_out_of_tree_rails_need_no_lag),
		cmocka_unit_test(test_connectx),
		cmocka_unit_test(test_client_without_dc),
		cmocka_unit_test(test_operator_and_its_parts),
		cmocka_unit_test(test_versions_without_v),
		cmocka_unit_test(test_host_driver_and_sandbox),
		cmocka_unit_test(test_pods),
		cmocka_unit_test(test_names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
