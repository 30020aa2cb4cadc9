/* SPDX-License-Identifier: Apache-2.0 */
/* On paper: what runs beside the NIC, the driver container in the air gap, and the mirror. */
#include <string.h>

#include "base/strbuf.h"
#include "paper.h"

#define CONNECTX                                                                               \
	"nodes:\n"                                                                             \
	"  gpu-1:\n"                                                                           \
	"    roles: [gpu]\n"                                                                   \
	"    os: {id: rhel, version: \"10.0\"}\n"                                              \
	"    links: {p0: {driver: mlx5_core}}\n"                                               \
	"    rdma: {p0: {}}\n"
#define OPERATOR(version, more) "gpu_operator: {version: " version more "}\n"
#define DRIVER(keys) ", driver: {" keys "}"
#define GAP(more) "registry: {host: \"r.example.net:5000\", air_gapped: true" more "}\n"
#define PACKAGES_URL ", packages_url: \"https://p.example.net/rhel10\""

static void driver_rdma(void **state)
{
	static const struct paper_case cases[] = {
		{ "no operator", { HEAD NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "host driver",
		  { HEAD NODES, OPERATOR("v26.3.3", DRIVER("enabled: false, rdma: {enabled: true}")) },
		  VERDICT_NA, NULL, NULL, NULL },
		{ "no RDMA", { HEAD "nodes:\n  a: {roles: [gpu]}\n", OPERATOR("v26.3.3", "") },
		  VERDICT_NA, NULL, NULL, NULL },
		{ "default", { HEAD NODES, OPERATOR("v26.3.3", "") }, VERDICT_PASS, NULL, "is off",
		  NULL },
		{ "enabled on E810",
		  { HEAD NODES, OPERATOR("v26.3.3", DRIVER("rdma: {enabled: true}")) }, VERDICT_FAIL,
		  "driver-rdma-enabled", "mlx5_core for ever", NULL },
		{ "enabled by chart value",
		  { HEAD NODES, OPERATOR("v26.3.3", ", values: {driver.rdma.enabled: \"true\"}") },
		  VERDICT_FAIL, "driver-rdma-enabled", NULL, NULL },
		{ "useHostMofed alone",
		  { HEAD NODES, OPERATOR("v26.3.3", DRIVER("rdma: {use_host_mofed: true}")) },
		  VERDICT_WARN, "driver-rdma-host-mofed", "it does nothing", NULL },
		{ "enabled on ConnectX without OFED",
		  { HEAD CONNECTX, OPERATOR("v26.3.3", DRIVER("rdma: {enabled: true}")) },
		  VERDICT_WARN, "driver-rdma-without-ofed", "DMA-BUF needs neither", NULL },
		{ "enabled on ConnectX with the OFED container",
		  { HEAD CONNECTX, OPERATOR("v26.3.3", DRIVER("rdma: {enabled: true}")),
		    "network_operator: {version: v26.1.0, ofed_driver: true}\n" },
		  VERDICT_PASS, NULL, "DMA-BUF needs neither", NULL },
		{ "neither true nor false",
		  { HEAD NODES, OPERATOR("v26.3.3", ", values: {driver.rdma.enabled: \"True\"}") },
		  VERDICT_UNKNOWN, NULL, "'True'", "true or false" },
		{ "enabled, driver not declared",
		  { HEAD "nodes:\n  a: {roles: [gpu], links: {p0: {}}, rdma: {p0: {}}}\n",
		    OPERATOR("v26.3.3", DRIVER("rdma: {enabled: true}")) },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/links/p0/driver" },
	};

	(void)state;
	paper_cases("plan.driver-rdma", cases, ARRAY_SIZE(cases));
	paper_unverified(PAPER("plan.driver-rdma", HEAD NODES,
			       OPERATOR("v26.3.3", DRIVER("rdma: {enabled: true}"))),
			 "gpu.operator", "pci-15b3.present");
	/* the baseboard of other GPUs has no ConnectX */
	assert_int_equal(PAPER("plan.driver-rdma",
			       HEAD "nodes:\n  a: {roles: [gpu], gpus: {H100: {count: 8}}, "
				    "links: {p0: {driver: ice}}, rdma: {p0: {}}}\n",
			       OPERATOR("v26.3.3", DRIVER("rdma: {enabled: true}")))
				 ->n_unverified, 0);
}

static void network_operator(void **state)
{
	static const struct paper_case cases[] = {
		{ "no RDMA", { HEAD "nodes:\n  a: {roles: [gpu]}\n" }, VERDICT_NA, NULL, NULL, NULL },
		{ "none", { HEAD NODES }, VERDICT_PASS, NULL, "no Network Operator", NULL },
		{ "without OFED", { HEAD NODES, "network_operator: {rdma_device_plugin: true}\n" },
		  VERDICT_PASS, NULL, "no OFED", NULL },
		{ "OFED on E810", { HEAD NODES, "network_operator: {ofed_driver: true}\n" },
		  VERDICT_FAIL, "ofed-beside-other-nic", "irdma", NULL },
		{ "OFED on a storage node that is a worker",
		  { HEAD CONNECTX "  s: {roles: [storage], kube_node: true, links: {p0: {driver: ice}}, "
				  "rdma: {p0: {}}}\n",
		    "network_operator: {version: v26.1.0, ofed_driver: true}\n" },
		  VERDICT_FAIL, "ofed-beside-other-nic", "irdma carries RDMA on s", NULL },
		{ "OFED, and a storage node outside the cluster",
		  { HEAD CONNECTX "  s: {roles: [storage], links: {p0: {driver: ice}}, "
				  "rdma: {p0: {}}}\n",
		    "network_operator: {version: v26.1.0, ofed_driver: true}\n" },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "OFED on the hosts, beside irdma",
		  { HEAD "nodes:\n  a: {roles: [gpu], drivers: {mlx5_core: {source: out-of-tree}}, "
		    "links: {p0: {driver: ice}}, rdma: {p0: {}}}\n" },
		  VERDICT_FAIL, "ofed-beside-other-nic", "mlx5_core of a is out-of-tree", NULL },
		{ "OFED on the hosts, ConnectX",
		  { HEAD "nodes:\n  a: {roles: [gpu], drivers: {mlx5_core: {source: out-of-tree}}, "
		    "links: {p0: {driver: mlx5_core}}, rdma: {p0: {}}}\n" },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "OFED on ConnectX",
		  { HEAD CONNECTX, "network_operator: {version: v26.1.0, ofed_driver: true}\n" },
		  VERDICT_PASS, NULL, "mlx5_core", NULL },
		{ "system that it does not list",
		  { HEAD NODES, "network_operator: {version: v26.1.0}\n" }, VERDICT_WARN,
		  "network-operator-platform", "rhel 10.2", NULL },
		{ "Kubernetes that it does not list",
		  { HEAD CONNECTX, "network_operator: {version: v26.1.0}\n",
		    "kubernetes: {version: \"1.36.1\"}\n" },
		  VERDICT_WARN, "network-operator-platform", "1.36.1", NULL },
		{ "driver not declared",
		  { HEAD "nodes:\n  a: {roles: [gpu], links: {p0: {}}, rdma: {p0: {}}}\n",
		    "network_operator: {ofed_driver: true}\n" },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/links/p0/driver" },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.network-operator", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.network-operator", HEAD NODES, "network_operator: {ofed_driver: true}\n");
	paper_option(v, "ofed-beside-other-nic", "leave out ofedDriver");
	scene_cause(v, "ofed-beside-other-nic", "must be unloaded first");
	paper_unverified(PAPER("plan.network-operator", HEAD NODES,
			       "network_operator: {version: v1.2.3}\n"),
			 NULL, "v1.2.3");
}

#define REPO DRIVER("repo_config: repo-config")
#define KERNEL_PACKAGES                                                                        \
	"kernel-headers-6.12.0-211.el10_2.x86_64, kernel-6.12.0-211.el10_2.x86_64, "           \
	"gcc-14.3.1-2.1.el10, elfutils-libelf-0.193-1.el10, elfutils-libelf-devel-0.193-1.el10"

static void operator_repo(void **state)
{
	static const struct paper_case cases[] = {
		{ "no operator", { HEAD NODES, GAP("") }, VERDICT_NA, NULL, NULL, NULL },
		{ "no air gap", { HEAD NODES, OPERATOR("v26.3.3", "") }, VERDICT_NA, NULL,
		  "not declared as air-gapped", NULL },
		{ "not RHEL",
		  { HEAD "nodes:\n  a: {roles: [gpu], os: {id: ubuntu, version: \"24.04\"}}\n",
		    OPERATOR("v26.3.3", ""), GAP("") },
		  VERDICT_NA, NULL, "RHEL", NULL },
		{ "host driver", { HEAD NODES, OPERATOR("v26.3.3", DRIVER("enabled: false")), GAP("") },
		  VERDICT_PASS, NULL, "installed on the hosts", NULL },
		{ "precompiled",
		  { HEAD NODES, OPERATOR("v26.3.3", DRIVER("precompiled: true")), GAP("") },
		  VERDICT_PASS, NULL, "precompiled", NULL },
		{ "26.3.0 mounts the paths", { HEAD NODES, OPERATOR("v26.3.0", REPO), GAP(PACKAGES_URL) },
		  VERDICT_FAIL, "entitlement-paths", "does not start where they are missing", NULL },
		{ "26.3.3 mounts the paths", { HEAD NODES, OPERATOR("v26.3.3", REPO), GAP(PACKAGES_URL) },
		  VERDICT_FAIL, "entitlement-paths", "v26.3.3", NULL },
		{ "26.3.3 with the paths made",
		  { HEAD NODES,
		    OPERATOR("v26.3.3", DRIVER("repo_config: repo-config, entitlement: true")),
		    GAP(PACKAGES_URL) },
		  VERDICT_WARN, "entitlement-work-around", "not tried", NULL },
		{ "26.3.3 without repositories",
		  { HEAD NODES, OPERATOR("v26.3.3", DRIVER("entitlement: true")), GAP("") },
		  VERDICT_FAIL, "no-package-repository", "ubi.repo", NULL },
		{ "26.7.0 with repositories",
		  { HEAD NODES, OPERATOR("v26.7.0", REPO), GAP(PACKAGES_URL) }, VERDICT_PASS, NULL,
		  "no subscription paths", NULL },
		{ "26.7.0 without repositories mounts the paths",
		  { HEAD NODES, OPERATOR("v26.7.0", ""), GAP("") }, VERDICT_FAIL,
		  "entitlement-paths", "without driver.repoConfig", NULL },
		{ "26.7.0 with the rendered repositories",
		  { HEAD NODES, OPERATOR("v26.7.0", ""), GAP(PACKAGES_URL) }, VERDICT_PASS, NULL,
		  "no subscription paths", NULL },
		{ "packages complete",
		  { HEAD NODES, OPERATOR("v26.7.0", REPO),
		    GAP(", packages: [kernel-devel-6.12.0-211.el10_2.x86_64, " KERNEL_PACKAGES "]") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "no kernel-devel",
		  { HEAD NODES, OPERATOR("v26.7.0", REPO), GAP(", packages: [" KERNEL_PACKAGES "]") },
		  VERDICT_FAIL, "packages-missing", "kernel-devel-6.12.0-*.el10_2.x86_64", NULL },
		{ "kernel-devel of another kernel",
		  { HEAD NODES, OPERATOR("v26.7.0", REPO),
		    GAP(", packages: [kernel-devel-5.14.0-570.el9_6.x86_64, " KERNEL_PACKAGES "]") },
		  VERDICT_FAIL, "packages-missing", "kernel-devel", NULL },
		{ "packages, kernel not declared",
		  { HEAD "nodes:\n  a: {roles: [gpu], os: {id: rhel, version: \"10.2\"}}\n",
		    OPERATOR("v26.7.0", REPO), GAP(", packages: [gcc]") },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/kernel" },
		{ "no version", { HEAD NODES, "gpu_operator: {gds: false}\n", GAP("") },
		  VERDICT_UNKNOWN, NULL, NULL, "gpu_operator/version" },
		{ "no system", { HEAD "nodes:\n  a: {roles: [gpu]}\n", OPERATOR("v26.7.0", REPO),
				 GAP("") },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/os" },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.operator-repo", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.operator-repo", HEAD NODES, OPERATOR("v26.7.0", ""), GAP(""));
	paper_option(v, "entitlement-paths", "when driver.repoConfig is set");
	v = PAPER("plan.operator-repo", HEAD NODES, OPERATOR("v26.3.3", ""), GAP(""));
	paper_option(v, "entitlement-paths", "v26.7.0");
	paper_option(v, "entitlement-paths", "precompiled");
	paper_option(v, "entitlement-paths", "driver.enabled: false");
	paper_option(v, "entitlement-paths", "/etc/pki/entitlement");
	v = PAPER("plan.operator-repo", HEAD NODES, OPERATOR("v26.7.0", REPO), GAP(PACKAGES_URL));
	paper_unverified(v, NULL, "mirror/verify.sh");
	paper_unverified(v, "gpu.operator", "ubi.repo");
	v = PAPER("plan.operator-repo", HEAD NODES, OPERATOR("v26.7.0", REPO), GAP(""));
	paper_assumed(v, "ConfigMap");
	v = PAPER("plan.operator-repo", HEAD NODES, OPERATOR("v26.7.0", ""), GAP(PACKAGES_URL));
	paper_assumed(v, "registry.packages_url");
}

/* --- images ----------------------------------------------------------------------------------- */

#define MIRRORS \
	", mirrors: {nvcr.io: \"r.example.net:5000/nvcr.io\", " \
	"registry.k8s.io: \"r.example.net:5000/k8s\"}"

/* All images of 26.3.3 on RHEL 10.2, with or without one that a test leaves out or replaces. */
static char *registry_text(const char *leave_out, const char *instead)
{
	static const char *const all[] = {
		"nvcr.io/nvidia/gpu-operator:v26.3.3",
		"nvcr.io/nvidia/driver:580.126.20-rhel10",
		"nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.11.0",
		"nvcr.io/nvidia/k8s/container-toolkit:v1.19.1",
		"nvcr.io/nvidia/k8s-device-plugin:v0.19.3",
		"nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless",
		"nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.14.2",
		"r.example.net:5000/k8s/nfd/node-feature-discovery:v0.18.3@sha256:0123",
	};
	struct strbuf b = {0};

	strbuf_puts(&b, "registry:\n  host: \"r.example.net:5000\"\n  air_gapped: true\n  mirrors: "
			"{nvcr.io: \"r.example.net:5000/nvcr.io\", "
			"registry.k8s.io: \"r.example.net:5000/k8s\"}\n  images:\n");
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!leave_out || !strstr(all[i], leave_out))
			strbuf_printf(&b, "    - \"%s\"\n", all[i]);
	}
	if (instead)
		strbuf_printf(&b, "    - \"%s\"\n", instead);
	return strbuf_steal(&b);
}

static void images(void **state)
{
	static const struct paper_case cases[] = {
		{ "no operator", { HEAD NODES, GAP(MIRRORS) }, VERDICT_NA, NULL, NULL, NULL },
		{ "no registry", { HEAD NODES, OPERATOR("v26.3.3", "") }, VERDICT_NA, NULL, NULL,
		  NULL },
		{ "no air gap, no mirrors",
		  { HEAD NODES, OPERATOR("v26.3.3", ""), "registry: {host: r.example.net}\n" },
		  VERDICT_NA, NULL, NULL, NULL },
		{ "no GPU node",
		  { HEAD "nodes:\n  a: {roles: [storage]}\n", OPERATOR("v26.3.3", ""), GAP(MIRRORS) },
		  VERDICT_NA, NULL, NULL, NULL },
		{ "mirrors", { HEAD NODES, OPERATOR("v26.3.3", ""), GAP(MIRRORS) }, VERDICT_PASS, NULL,
		  "each with a mirror", NULL },
		{ "no mirror at all", { HEAD NODES, OPERATOR("v26.3.3", ""), GAP("") }, VERDICT_FAIL,
		  "image-mirror-missing", "nvcr.io and registry.k8s.io", NULL },
		{ "NFD has another upstream",
		  { HEAD NODES, OPERATOR("v26.3.3", ""),
		    GAP(", mirrors: {nvcr.io: \"r.example.net:5000/nvcr.io\"}") },
		  VERDICT_FAIL, "image-mirror-missing", "registry.k8s.io", NULL },
		{ "repositories by chart values",
		  { HEAD NODES,
		    OPERATOR("v26.3.3", ", values: {nfd.enabled: \"false\", "
					"operator.repository: \"r.example.net:5000/x\"}"),
		    GAP(", mirrors: {nvcr.io: \"r.example.net:5000/nvcr.io\"}") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "unknown operator", { HEAD NODES, OPERATOR("v1.2.3", ""), GAP(MIRRORS) },
		  VERDICT_UNKNOWN, NULL, "v1.2.3", "images" },
		{ "no version", { HEAD NODES, "gpu_operator: {gds: false}\n", GAP(MIRRORS) },
		  VERDICT_UNKNOWN, NULL, NULL, "gpu_operator/version" },
		{ "no system", { HEAD "nodes:\n  a: {roles: [gpu]}\n", OPERATOR("v26.3.3", ""),
				 GAP(MIRRORS) },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/os" },
	};

	(void)state;
	paper_cases("plan.images", cases, ARRAY_SIZE(cases));
	paper_unverified(PAPER("plan.images", HEAD NODES, OPERATOR("v26.3.3", ""), GAP(MIRRORS)), NULL,
			 "mirror/verify.sh");
	paper_unverified(PAPER("plan.images", HEAD NODES,
			       OPERATOR("v26.3.3", DRIVER("precompiled: true")), GAP(MIRRORS)),
			 "gpu.operator", "precompiled");
}

static void images_held(void **state)
{
	static const struct {
		const char *leave_out, *instead, *operator_keys;
		enum verdict_status status;
		const char *cause, *text;
	} cases[] = {
		{ NULL, NULL, "", VERDICT_PASS, NULL, "its tag in the registry" },
		{ "/driver:", "nvcr.io/nvidia/driver:580.126.20", "", VERDICT_FAIL,
		  "image-tag-without-suffix", "driver:580.126.20-rhel10" },
		{ "/driver:", "nvcr.io/nvidia/driver:580.126.20-rhel10.2", "", VERDICT_FAIL,
		  "image-missing", "driver:580.126.20-rhel10" },
		{ "node-feature", NULL, "", VERDICT_FAIL, "image-nfd-missing",
		  "registry.k8s.io/nfd/node-feature-discovery" },
		{ "toolkit", NULL, "", VERDICT_FAIL, "image-missing", "container-toolkit:v1.19.1" },
		{ "toolkit", NULL, ", values: {toolkit.enabled: \"false\"}", VERDICT_PASS, NULL, NULL },
		{ NULL, NULL, ", gds: true", VERDICT_FAIL, "image-missing", "nvidia-fs:2.27.3-rhel10" },
		{ NULL, "nvcr.io/nvidia/cloud-native/nvidia-fs:2.27.3", ", gds: true", VERDICT_FAIL,
		  "image-tag-without-suffix", "nvidia-fs:2.27.3-rhel10" },
		{ NULL, "nvcr.io/nvidia/cloud-native/gdrdrv:v2.5.2-rhel10", ", gdrcopy: true",
		  VERDICT_PASS, NULL, NULL },
		{ NULL, NULL, ", driver: {version: \"580.159.04\"}", VERDICT_FAIL, "image-missing",
		  "driver:580.159.04-rhel10" },
		{ "driver", NULL, ", driver: {enabled: false}", VERDICT_PASS, NULL, NULL },
		{ "/driver:", "nvcr.io/nvidia/driver:580-6.12.0-211.el10_2.x86_64-rhel10",
		  ", driver: {precompiled: true}", VERDICT_PASS, NULL, NULL },
		{ "toolkit", NULL, ", driver: {precompiled: true}", VERDICT_FAIL, "image-missing",
		  "container-toolkit" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *registry = registry_text(cases[i].leave_out, cases[i].instead);
		_cleanup_free_ char *keys = xasprintf("gpu_operator: {version: v26.3.3%s}\n",
						      cases[i].operator_keys);
		const struct verdict *v = PAPER("plan.images", HEAD NODES, keys, registry);

		print_message("# case %zu\n", i);
		scene_status(v, cases[i].status);
		if (cases[i].cause)
			scene_cause(v, cases[i].cause, cases[i].text);
		else if (cases[i].text)
			scene_summary(v, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(driver_rdma, paper_close),
		cmocka_unit_test_teardown(network_operator, paper_close),
		cmocka_unit_test_teardown(operator_repo, paper_close),
		cmocka_unit_test_teardown(images, paper_close),
		cmocka_unit_test_teardown(images_held, paper_close),
	};

	return cmocka_run_group_tests_name("judge/plan_operator", tests, NULL, NULL);
}
