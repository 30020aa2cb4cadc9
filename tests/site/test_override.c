/* SPDX-License-Identifier: Apache-2.0 */
/* Values laid over a site file: where they go, what they leave alone, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "site/site.h"

static const char file[] =
	"schema: railhead.site/1\n"
	"name: test\n"
	"defaults:\n"
	"  os: {id: rhel, version: \"10.2\"}\n"
	"profiles:\n"
	"  gpu:\n"
	"    links: &links\n"
	"      ens1f0: {mtu: 9000}\n"
	"      ens1f1: {mtu: 9000}\n"
	"nodes:\n"
	"  gpu-1: {profile: gpu}\n"
	"  gpu-2.example.net: {links: *links}\n"
	"gpu_operator: {version: v26.3.3}\n"
	"registry: {mirrors: {nvcr.io: a.example.net}}\n"
	"storage: {nodes: [gpu-1]}\n";

static int parse(struct site **site, const char *override, struct error *err)
{
	const char *overrides[] = { override, NULL };

	return site_parse_with(site, file, strlen(file), "site.yaml", overrides, err);
}

static void becomes(const char *override, const char *at, const char *expected)
{
	_cleanup_site_ struct site *site = NULL;
	_cleanup_error_ struct error err = {0};

	if (parse(&site, override, &err))
		fail_msg("%s: %s", override, error_text(&err));
	_cleanup_free_ char *text =
		json_to_text(json_pointer_get(site->document, at), false);
	assert_string_equal(text, expected);
}

static void test_values_land(void **state)
{
	(void)state;
	becomes("gpu_operator.version=v26.7.0", "/gpu_operator/version", "\"v26.7.0\"");
	becomes("gpuOperator.version=v26.7.0", "/gpu_operator/version", "\"v26.7.0\"");
	becomes("gpuOperator/driver/kernelModuleType=open",
		"/gpu_operator/driver/kernel_module_type", "\"open\"");
	becomes("gpuOperator.driver.rdma={enabled: true}", "/gpu_operator/driver/rdma/enabled",
		"true");
	becomes("defaults.os.version=10.1", "/nodes/gpu-1/os/version", "\"10.1\"");
	becomes("nodes/gpu-2.example.net/os/version=\"9.6\"",
		"/nodes/gpu-2.example.net/os/version", "\"9.6\"");
	becomes("nodes.gpu-1.links.ens1f0.mtu=1500", "/nodes/gpu-1/links/ens1f0/mtu", "1500");
	becomes("nodes.gpu-1.links.ens1f0.mtu=1500", "/nodes/gpu-1/links/ens1f1/mtu", "9000");
	becomes("nodes.gpu-1.drivers.ice.source=out-of-tree",
		"/nodes/gpu-1/drivers/ice/source", "\"out-of-tree\"");
	becomes("registry/mirrors/nvcr.io=b.example.net", "/registry/mirrors/nvcr.io",
		"\"b.example.net\"");
	becomes("storage.nodes.0=gpu-2.example.net", "/storage/nodes", "[\"gpu-2.example.net\"]");
	becomes("storage.nodes.1=gpu-2.example.net", "/storage/nodes",
		"[\"gpu-1\",\"gpu-2.example.net\"]");
	becomes("qos.prio_tc.3=3", "/qos/prio_tc/3", "3");
	becomes("workload={kind: vllm}", "/workload/kind", "\"vllm\"");
}

/* What the file shares by an alias is not shared any more. */
static void test_aliases_keep_their_value(void **state)
{
	(void)state;
	becomes("profiles.gpu.links.ens1f0.mtu=1500", "/nodes/gpu-1/links/ens1f0/mtu", "1500");
	becomes("profiles.gpu.links.ens1f0.mtu=1500",
		"/nodes/gpu-2.example.net/links/ens1f0/mtu", "9000");
	becomes("nodes/gpu-2.example.net/links/ens1f0/mtu=1500", "/nodes/gpu-1/links/ens1f0/mtu",
		"9000");
}

static void test_later_wins(void **state)
{
	const char *overrides[] = { "kubernetes.version=1.33.0", "kubernetes.version=1.34.1",
				    NULL };
	_cleanup_site_ struct site *site = NULL;
	_cleanup_error_ struct error err = {0};

	(void)state;
	assert_int_equal(site_parse_with(&site, file, strlen(file), "site.yaml", overrides, &err),
			 0);
	assert_string_equal(site->kubernetes_version, "1.34.1");
}

static void refused(const char *override, const char *expected)
{
	_cleanup_site_ struct site *site = NULL;
	_cleanup_error_ struct error err = {0};

	assert_true(parse(&site, override, &err) < 0);
	assert_null(site);
	assert_string_equal(error_text(&err), expected);
}

static void test_refusals(void **state)
{
	(void)state;
	refused("gpuOperator.verson=v26.7.0",
		"--upgrade gpuOperator.verson=v26.7.0: gpu_operator: unknown key 'verson'; did you "
		"mean 'version'?");
	refused("gpuOperatr.version=1", "--upgrade gpuOperatr.version=1: unknown key "
					"'gpu_operatr'; did you mean 'gpu_operator'?");
	refused("gpu_operator.driver.kernel_module_type=opne",
		"--upgrade gpu_operator.driver.kernel_module_type=opne: "
		"gpu_operator/driver/kernel_module_type: 'opne' is not a kernel module type; did you "
		"mean 'open'?");
	refused("gpu_operator.version", "--upgrade gpu_operator.version: expected KEY=VALUE");
	refused("gpu_operator.version=",
		"--upgrade gpu_operator.version=: no value behind '='");
	refused("gpu_operator..version=1",
		"--upgrade gpu_operator..version=1: a key in the path is empty");
	refused("gpu_operator.version=[1",
		"--upgrade gpu_operator.version=[1: did not find expected ',' or ']' (while "
		"parsing a flow sequence that begins in line 1)");
	refused("gpu_operator.version.major=1",
		"--upgrade gpu_operator.version.major=1: gpu_operator/version: it is a version and "
		"has no keys (a path with a name like nvcr.io in it is written with slashes)");
	refused("nodes.gpu-3.os.version=10.1", "--upgrade nodes.gpu-3.os.version=10.1: nodes: there "
					       "is no 'gpu-3' in the file; did you mean 'gpu-1'?");
	refused("storage.nodes.2=gpu-1",
		"--upgrade storage.nodes.2=gpu-1: storage/nodes: expected the index of an item, from "
		"0 to 1 (which adds one), found '2'");
	/* fits the schema and leads nowhere */
	refused("storage.nodes.0=gpu-9",
		"site.yaml: storage/nodes: there is no node 'gpu-9'; did you mean 'gpu-1'?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_land),
		cmocka_unit_test(test_aliases_keep_their_value),
		cmocka_unit_test(test_later_wins),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
