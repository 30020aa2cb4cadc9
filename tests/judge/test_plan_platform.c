/* SPDX-License-Identifier: Apache-2.0 */
/* On paper: system, Kubernetes, installer, GPU, driver, and the GPUDirect RDMA table. */
#include <string.h>

#include "paper.h"

#define OPERATOR(version) "gpu_operator: {version: " version "}\n"
#define KUBERNETES(version) "kubernetes: {version: \"" version "\"}\n"
#define KUBESPRAY(release, version) \
	"kubernetes: {version: \"" version "\", kubespray: {version: " release "}}\n"
#define DRIVER(keys) "gpu_operator: {version: v26.3.3, driver: {" keys "}}\n"

/* A GPU node with its system, GPUs and one RDMA link. */
#define NODE(name, os, gpus, link)                                                             \
	"  " name ":\n"                                                                        \
	"    roles: [gpu]\n" os gpus                                                           \
	"    links: {p0: {" link "}}\n"                                                        \
	"    rdma: {p0: {}}\n"
#define RHEL(version) "    os: {id: rhel, version: \"" version "\"}\n"
#define GPUS(keys) "    gpus: {" keys "}\n"
#define B300 GPUS("B300: {count: 8}")

static void os_matrix(void **state)
{
	static const struct paper_case cases[] = {
		{ "no operator", { HEAD NODES, KUBERNETES("1.33.1") }, VERDICT_NA, NULL,
		  "no GPU Operator", NULL },
		{ "no GPU node",
		  { HEAD "nodes:\n  a: {roles: [storage]}\n", OPERATOR("v26.3.3") }, VERDICT_NA, NULL,
		  "no GPU node", NULL },
		{ "26.3 with 10.2 and 1.33", { HEAD NODES, OPERATOR("v26.3.3"), KUBERNETES("1.33.11") },
		  VERDICT_PASS, NULL, "platform-support.rst", NULL },
		{ "26.7 with 10.2 and 1.36", { HEAD NODES, OPERATOR("v26.7.0"), KUBERNETES("v1.36.2") },
		  VERDICT_PASS, NULL, "26.7", NULL },
		{ "version without v", { HEAD NODES, OPERATOR("26.3.3"), KUBERNETES("1.33") },
		  VERDICT_PASS, NULL, "26.3", NULL },
		{ "26.7 no longer takes 1.32",
		  { HEAD NODES, OPERATOR("v26.7.0"), KUBERNETES("1.32.9") }, VERDICT_FAIL,
		  "kubernetes-out-of-range", "1.33 to 1.36", NULL },
		{ "Kubernetes too new", { HEAD NODES, OPERATOR("v26.7.0"), KUBERNETES("1.37.0") },
		  VERDICT_FAIL, "kubernetes-out-of-range", "1.37.0 is out of range", NULL },
		{ "system version", { HEAD "nodes:\n", NODE("a", RHEL("10.9"), B300, "driver: ice"),
				      OPERATOR("v26.3.3"), KUBERNETES("1.33.1") },
		  VERDICT_FAIL, "os-version-not-listed", "10.2", NULL },
		{ "system", { HEAD "nodes:\n",
			      NODE("a", "    os: {id: debian, version: \"12\"}\n", B300, "driver: ice"),
			      OPERATOR("v26.3.3"), KUBERNETES("1.33.1") },
		  VERDICT_FAIL, "os-not-listed", "debian of a", NULL },
		{ "unknown line", { HEAD NODES, OPERATOR("v24.6.0"), KUBERNETES("1.33.1") },
		  VERDICT_UNKNOWN, NULL, "24.6", "platforms" },
		{ "GDS on RHEL",
		  { HEAD NODES, "gpu_operator: {version: v26.7.0, gds: true}\n",
		    KUBERNETES("1.34.1") },
		  VERDICT_WARN, "gds-os-not-listed", "rhel 10.2", NULL },
		{ "GDS on Ubuntu",
		  { HEAD "nodes:\n", NODE("a", "    os: {id: ubuntu, version: \"24.04\"}\n", B300,
					  "driver: ice"),
		    "gpu_operator: {version: v26.7.0, gds: true}\n", KUBERNETES("1.34.1") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "GDS and a precompiled driver",
		  { HEAD "nodes:\n", NODE("a", "    os: {id: ubuntu, version: \"24.04\"}\n", B300,
					  "driver: ice"),
		    "gpu_operator: {version: v26.7.0, gds: true, driver: {precompiled: true}}\n",
		    KUBERNETES("1.34.1") },
		  VERDICT_FAIL, "gds-precompiled", "precompiled", NULL },
		{ "no operator version", { HEAD NODES, "gpu_operator: {gds: false}\n",
					   KUBERNETES("1.33.1") },
		  VERDICT_UNKNOWN, NULL, NULL, "gpu_operator/version" },
		{ "no Kubernetes version", { HEAD NODES, OPERATOR("v26.3.3") }, VERDICT_UNKNOWN, NULL,
		  NULL, "kubernetes/version" },
		{ "no system", { HEAD "nodes:\n", NODE("a", "", B300, "driver: ice"),
				 OPERATOR("v26.3.3"), KUBERNETES("1.33.1") },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/os" },
	};

	(void)state;
	paper_cases("plan.os-matrix", cases, ARRAY_SIZE(cases));

	/* the other line is a way out */
	paper_option(PAPER("plan.os-matrix", HEAD NODES, OPERATOR("v26.7.0"), KUBERNETES("1.32.9")),
		     "kubernetes-out-of-range", "GPU Operator 26.3");
}

static void kubespray(void **state)
{
	static const struct paper_case cases[] = {
		{ "none", { HEAD NODES, KUBERNETES("1.33.1") }, VERDICT_NA, NULL, NULL, NULL },
		{ "1.33 on RHEL 10", { HEAD NODES, KUBESPRAY("v2.31.0", "1.33.11") }, VERDICT_PASS,
		  NULL, "kube_version: 1.33.11", NULL },
		{ "its default", { HEAD NODES, KUBESPRAY("v2.31.0", "1.35.4") }, VERDICT_PASS, NULL,
		  "lists rhel 10.2", NULL },
		{ "v2.29 does not list RHEL 10", { HEAD NODES, KUBESPRAY("v2.29.0", "1.33.5") },
		  VERDICT_FAIL, "kubespray-os", "will not refuse", NULL },
		{ "patch without checksum", { HEAD NODES, KUBESPRAY("v2.30.0", "1.33.11") },
		  VERDICT_FAIL, "kubespray-kubernetes", "1.33.7", NULL },
		{ "minor out of range", { HEAD NODES, KUBESPRAY("v2.31.0", "1.36.0") }, VERDICT_FAIL,
		  "kubespray-kubernetes", "1.36.0", NULL },
		{ "unknown release", { HEAD NODES, KUBESPRAY("v9.9.9", "1.33.1") }, VERDICT_UNKNOWN,
		  NULL, "v9.9.9", "kubespray" },
		{ "no release", { HEAD NODES, "kubernetes: {version: \"1.33.1\", kubespray: {}}\n" },
		  VERDICT_UNKNOWN, NULL, NULL, "kubernetes/kubespray/version" },
		{ "no version", { HEAD NODES, "kubernetes: {kubespray: {version: v2.31.0}}\n" },
		  VERDICT_UNKNOWN, NULL, NULL, "kubernetes/version" },
		{ "no system", { HEAD "nodes:\n", NODE("a", "", "", "driver: ice"),
				 KUBESPRAY("v2.31.0", "1.33.1") },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/os" },
		/* what Kubespray does not install does not matter */
		{ "storage node of another system",
		  { HEAD NODES "  s: {roles: [storage], os: {id: sles, version: \"15.7\"}}\n",
		    KUBESPRAY("v2.31.0", "1.33.11") },
		  VERDICT_PASS, NULL, NULL, NULL },
		{ "control plane of another system",
		  { HEAD NODES "  s: {roles: [storage], os: {id: sles, version: \"15.7\"}}\n",
		    "kubernetes: {version: \"1.33.11\", kubespray: {version: v2.31.0}, "
		    "control_plane: [s]}\n" },
		  VERDICT_FAIL, "kubespray-os", "sles", NULL },
	};

	(void)state;
	paper_cases("plan.kubespray", cases, ARRAY_SIZE(cases));
	paper_option(PAPER("plan.kubespray", HEAD NODES, KUBESPRAY("v2.29.0", "1.33.5")),
		     "kubespray-os", "v2.31.0");
}

static void gpu_matrix(void **state)
{
	static const struct paper_case cases[] = {
		{ "no GPU", { HEAD "nodes:\n  a: {roles: [storage]}\n" }, VERDICT_NA, NULL, NULL,
		  NULL },
		{ "GPU node without GPUs", { HEAD "nodes:\n  a: {roles: [gpu]}\n" }, VERDICT_UNKNOWN,
		  NULL, NULL, "gpus" },
		{ "listed driver", { HEAD NODES, DRIVER("version: \"580.126.20\"") }, VERDICT_PASS,
		  NULL, "580.82.07", NULL },
		{ "default of the operator", { HEAD NODES, OPERATOR("v26.3.3") }, VERDICT_PASS, NULL,
		  "580.126.20", NULL },
		{ "first driver", { HEAD NODES, DRIVER("version: \"580.82.07\"") }, VERDICT_PASS, NULL,
		  NULL, NULL },
		{ "before the first", { HEAD NODES, DRIVER("version: \"580.65.06\"") }, VERDICT_FAIL,
		  "gpu-driver-too-old", "580.82.07", NULL },
		{ "branch that is not listed", { HEAD NODES, DRIVER("version: \"999.10.01\"") },
		  VERDICT_WARN, "gpu-driver-branch-not-listed", NULL, NULL },
		{ "outside the declared range",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.2"),
					  GPUS("B300: {count: 8, driver_min: \"590.0\"}"),
					  "driver: ice"),
		    OPERATOR("v26.3.3") },
		  VERDICT_FAIL, "gpu-driver-out-of-range", "590.0", NULL },
		{ "line that the matrix does not know",
		  { HEAD NODES, "gpu_operator: {version: v25.3.0, "
				"driver: {version: \"580.126.20\"}}\n" },
		  VERDICT_UNKNOWN, NULL, "v25.3.0", "gpus" },
		{ "release without drivers in the matrix",
		  { HEAD NODES, "gpu_operator: {version: v26.7.99, "
				"driver: {version: \"595.91.07\"}}\n" },
		  VERDICT_UNKNOWN, NULL, "no drivers of GPU Operator v26.7.99", "gpu-drivers" },
		{ "driver of the host, version not declared", { HEAD NODES, DRIVER("enabled: false") },
		  VERDICT_UNKNOWN, NULL, NULL, "gpu_operator/driver/version" },
		{ "branch of a precompiled driver",
		  { HEAD NODES, DRIVER("precompiled: true, version: \"580\"") }, VERDICT_PASS, NULL,
		  "driver 580", NULL },
		{ "branch of a precompiled driver, before the first",
		  { HEAD NODES, DRIVER("precompiled: true, version: \"570\"") }, VERDICT_FAIL,
		  "gpu-driver-too-old", "580.82.07", NULL },
		{ "GPUs of one node not declared",
		  { HEAD NODES, "  b: {roles: [gpu]}\n", DRIVER("version: \"580.126.20\"") },
		  VERDICT_UNKNOWN, NULL, "GPUs of b", "nodes/b/gpus" },
		{ "another PCI id",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.2"),
					  GPUS("B300: {count: 8, pci_id: \"10de:1234\"}"),
					  "driver: ice"),
		    OPERATOR("v26.3.3") },
		  VERDICT_WARN, "gpu-pci-id-differs", "10de:3182", NULL },
		{ "unknown model", { HEAD "nodes:\n", NODE("a", RHEL("10.2"), GPUS("X9: {count: 1}"),
							   "driver: ice"),
				     OPERATOR("v26.3.3") },
		  VERDICT_UNKNOWN, NULL, "X9", "gpus" },
		{ "no operator, no driver", { HEAD NODES }, VERDICT_UNKNOWN, NULL, NULL,
		  "gpu_operator/driver/version" },
		{ "no operator version", { HEAD NODES, "gpu_operator: {driver: {version: "
						       "\"580.126.20\"}}\n" },
		  VERDICT_UNKNOWN, NULL, NULL, "gpu_operator/version" },
		{ "version by chart value", { HEAD NODES, "gpu_operator: {version: v26.3.3, values: "
							  "{driver.version: \"580.65.06\"}}\n" },
		  VERDICT_FAIL, "gpu-driver-too-old", "580.65.06", NULL },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.gpu-matrix", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.gpu-matrix", HEAD NODES, DRIVER("version: \"580.126.09\""));
	scene_status(v, VERDICT_PASS);
	paper_unverified(v, "gpu.driver", "580.126.09 is of a listed branch");
}

/* Each kind of node that passes is told, with the line of its node in the file. */
static void every_system(void **state)
{
	const struct verdict *v;
	bool line = false;

	(void)state;
	v = PAPER("plan.os-matrix", HEAD "nodes:\n",
		  NODE("a", RHEL("10.2"), B300, "driver: ice"),
		  NODE("b", RHEL("9.6"), B300, "driver: ice"), OPERATOR("v26.7.0"),
		  KUBERNETES("1.34.1"));
	scene_status(v, VERDICT_PASS);
	scene_summary(v, "rhel 10.2 with");
	scene_summary(v, "rhel 9.6 with");
	for (size_t i = 0; i < v->n_evidence; i++)
		line |= !strcmp(v->evidence[i].pointer, "/nodes/b/os/version") &&
			!strcmp(v->evidence[i].node, "site.yaml:10");
	assert_true(line);
}

/* A model of another line than the declared one; the matrix knows both lines. */
static void gpu_of_another_line(void **state)
{
	const struct verdict *v;

	(void)state;
	paper_table("gpus", "  - model: B300\n    architecture: blackwell\n    kernel_module: both\n"
			    "    operators: [\"26.7\"]\n    source: test\n    date: \"2026-01-01\"\n"
			    "    confidence: read\n"
			    "  - model: X9\n    architecture: test\n    kernel_module: both\n"
			    "    operators: [\"26.3\"]\n");
	v = PAPER("plan.gpu-matrix", HEAD NODES, DRIVER("version: \"580.126.20\""));
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "gpu-not-in-operator", "26.7");
}

static void gdr_matrix(void **state)
{
	static const struct paper_case cases[] = {
		{ "not wanted", { HEAD "gpudirect: false\n" NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "no GPU", { HEAD "nodes:\n  a: {roles: [storage]}\n" }, VERDICT_NA, NULL, NULL,
		  NULL },
		{ "E810", { HEAD NODES, OPERATOR("v26.3.3") }, VERDICT_WARN, "gdr-nic-not-listed",
		  "unverified, level 3 gates are the proof", NULL },
		{ "ConnectX on a listed system",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.0"), B300, "driver: mlx5_core"),
		    OPERATOR("v26.3.3"), "network_operator: {version: v26.1.0}\n" },
		  VERDICT_PASS, NULL, "rhel 10.0", NULL },
		{ "ConnectX on RHEL 10.2",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.2"), B300, "driver: mlx5_core"),
		    OPERATOR("v26.3.3") },
		  VERDICT_WARN, "gdr-os-not-listed", "rhel 10.0", NULL },
		{ "ConnectX without Network Operator",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.0"), B300, "driver: mlx5_core"),
		    OPERATOR("v26.3.3") },
		  VERDICT_WARN, "gdr-network-operator-none", "declares none", NULL },
		{ "ConnectX, Network Operator without version",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.0"), B300, "driver: mlx5_core"),
		    OPERATOR("v26.3.3"), "network_operator: {ofed_driver: true}\n" },
		  VERDICT_UNKNOWN, NULL, NULL, "network_operator/version" },
		{ "ConnectX without GPU Operator",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.0"), B300, "driver: mlx5_core"),
		    "network_operator: {version: v26.1.0}\n" },
		  VERDICT_WARN, "gdr-operator-none", "of the GPU Operator", NULL },
		{ "GPU Operator without version", { HEAD NODES, "gpu_operator: {gds: false}\n" },
		  VERDICT_UNKNOWN, NULL, NULL, "gpu_operator/version" },
		{ "GPU Operator that the matrix does not know", { HEAD NODES, OPERATOR("v99.1.0") },
		  VERDICT_UNKNOWN, NULL, "v99.1.0", "gpudirect" },
		{ "ConnectX, Network Operator older than the row",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.0"), B300, "driver: mlx5_core"),
		    OPERATOR("v26.3.3"), "network_operator: {version: v25.1.0}\n" },
		  VERDICT_WARN, "gdr-network-operator-old", "26.1.0", NULL },
		{ "driver not declared",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.2"), B300, ""), OPERATOR("v26.3.3") },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/links/p0/driver" },
		{ "driver without a row",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.2"), B300, "driver: cxgb4"),
		    OPERATOR("v26.3.3") },
		  VERDICT_UNKNOWN, NULL, "cxgb4", "nics" },
		{ "no RDMA port",
		  { HEAD "gpudirect: true\nnodes:\n  a: {roles: [gpu]}\n", OPERATOR("v26.3.3") },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/rdma" },
		{ "ConnectX without a system",
		  { HEAD "nodes:\n", NODE("a", "", B300, "driver: mlx5_core"),
		    OPERATOR("v26.3.3") },
		  VERDICT_UNKNOWN, NULL, NULL, "nodes/a/os" },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.gdr-matrix", cases, ARRAY_SIZE(cases));
	v = PAPER("plan.gdr-matrix", HEAD NODES, OPERATOR("v26.3.3"));
	paper_unverified(v, "gdr.register", "DMA-BUF");
	paper_unverified(v, "proof.gdr", "bytes");
}

static void kernel_module(void **state)
{
	static const struct paper_case cases[] = {
		{ "not wanted", { HEAD "gpudirect: false\n" NODES }, VERDICT_NA, NULL, NULL, NULL },
		{ "no operator", { HEAD NODES }, VERDICT_NA, NULL, "installed on the hosts", NULL },
		{ "host driver", { HEAD NODES, DRIVER("enabled: false") }, VERDICT_NA, NULL,
		  "installed on the hosts", NULL },
		{ "open", { HEAD NODES, DRIVER("kernel_module_type: open") }, VERDICT_PASS, NULL,
		  "open", NULL },
		{ "proprietary, for GDS alone",
		  { HEAD "gpudirect: false\n" NODES,
		    "gpu_operator: {version: v26.3.3, gds: true, driver: {kernel_module_type: "
		    "proprietary}}\n" },
		  VERDICT_FAIL, "kernel-module-proprietary", "nvidia-fs", NULL },
		{ "proprietary", { HEAD NODES, DRIVER("kernel_module_type: proprietary") },
		  VERDICT_FAIL, "kernel-module-proprietary", "no DMA-BUF", NULL },
		{ "proprietary on a B300", { HEAD NODES, DRIVER("kernel_module_type: proprietary") },
		  VERDICT_FAIL, "gpu-without-module", "no proprietary", NULL },
		{ "auto", { HEAD NODES, DRIVER("version: \"580.126.20\", kernel_module_type: auto") },
		  VERDICT_PASS, NULL, "ends as open", NULL },
		{ "auto is the default", { HEAD NODES, OPERATOR("v26.3.3") }, VERDICT_PASS, NULL,
		  "ends as open", NULL },
		{ "auto before it was known",
		  { HEAD NODES, DRIVER("version: \"570.86.10\", kernel_module_type: auto") },
		  VERDICT_FAIL, "kernel-module-auto-not-understood", "570.86.15", NULL },
		{ "auto where it was first known",
		  { HEAD NODES, DRIVER("version: \"570.86.15\", kernel_module_type: auto") },
		  VERDICT_PASS, NULL, "ends as open", NULL },
		{ "auto on a listed branch before it was known",
		  { HEAD NODES, DRIVER("version: \"535.309.01\", kernel_module_type: auto") },
		  VERDICT_FAIL, "kernel-module-auto-not-understood", "535.309.01", NULL },
		{ "auto on an unknown branch",
		  { HEAD NODES, DRIVER("version: \"999.1\", kernel_module_type: auto") },
		  VERDICT_UNKNOWN, NULL, "999.1", "kernel_module_type: open" },
		{ "auto without driver", { HEAD NODES, "gpu_operator: {gds: false}\n" },
		  VERDICT_UNKNOWN, NULL, NULL, "gpu_operator/driver/version" },
		{ "proprietary on a GPU with both",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.2"), GPUS("H100: {count: 8}"), "driver: ice"),
		    DRIVER("kernel_module_type: proprietary") },
		  VERDICT_FAIL, "kernel-module-proprietary", NULL, NULL },
		{ "open on a GPU without it",
		  { HEAD "nodes:\n", NODE("a", RHEL("10.2"), GPUS("V100: {count: 8}"), "driver: ice"),
		    DRIVER("kernel_module_type: open") },
		  VERDICT_FAIL, "gpu-without-module", "no open kernel module", NULL },
		{ "by chart value", { HEAD NODES, "gpu_operator: {version: v26.3.3, values: "
						  "{driver.kernelModuleType: proprietary}}\n" },
		  VERDICT_FAIL, "kernel-module-proprietary", NULL, NULL },
	};
	const struct verdict *v;

	(void)state;
	paper_cases("plan.kernel-module", cases, ARRAY_SIZE(cases));
	paper_unverified(PAPER("plan.kernel-module", HEAD NODES, OPERATOR("v26.3.3")),
			 "gpu.open-module", "auto");
	paper_unverified(PAPER("plan.kernel-module", HEAD NODES), "gpu.open-module", "host");

	/* a row that an operator of the site corrected */
	paper_table("gpu-drivers", "  - operator: v26.3.3\n    version: \"580.126.20\"\n"
				   "    default: true\n    auto_module: proprietary\n");
	v = PAPER("plan.kernel-module", HEAD NODES, OPERATOR("v26.3.3"));
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-module-auto-proprietary", "no DMA-BUF");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(os_matrix, paper_close),
		cmocka_unit_test_teardown(kubespray, paper_close),
		cmocka_unit_test_teardown(every_system, paper_close),
		cmocka_unit_test_teardown(gpu_matrix, paper_close),
		cmocka_unit_test_teardown(gpu_of_another_line, paper_close),
		cmocka_unit_test_teardown(gdr_matrix, paper_close),
		cmocka_unit_test_teardown(kernel_module, paper_close),
	};

	return cmocka_run_group_tests_name("judge/plan_platform", tests, NULL, NULL);
}
