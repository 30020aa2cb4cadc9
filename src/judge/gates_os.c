/* SPDX-License-Identifier: Apache-2.0 */
/* Operating system gates: release, kernel, locked memory, kernel log. */
#include <string.h>

#include "base/text.h"
#include "judge/kernel_release.h"
#include "judge/memlock.h"
#include "judge/registry.h"
#include "judge/signature.h"
#include "judge/subject.h"

/* --- os.release ------------------------------------------------------------------------------- */

static void judge_release(struct judging *g)
{
	const struct site_node *node = g->node;
	const char *id = fact_string(g, "/os/release/id");
	const char *version = fact_string(g, "/os/release/version_id");

	if (!id || !version)
		return;
	if (!node->os_id && !node->os_version) {
		judge_assume(g, "%s %s is the wanted operating system", id, version);
		judge_pass(g, "%s %s, none declared", id, version);
		return;
	}
	if (node->os_id) {
		fact_declared(g, &node->where, json_text_new(node->os_id), "nodes/%s/os/id",
			      node->name);
		if (strcmp(id, node->os_id)) {
			judge_fail(g, "os-other-distribution",
				   "install the declared distribution, or correct the site file: "
				   "the support matrix is judged for what is declared",
				   "the node runs %s %s, declared is %s %s", id, version,
				   node->os_id,
				   node->os_version ? node->os_version : "");
			return;
		}
	}
	if (node->os_version) {
		fact_declared(g, &node->where, json_text_new(node->os_version),
			      "nodes/%s/os/version", node->name);
		if (strcmp(version, node->os_version)) {
			judge_fail(g, "os-other-version",
				   "update the node to the declared release (RHEL: "
				   "subscription-manager release --set, or the mirror's release "
				   "repositories, then dnf update and reboot), or correct the site "
				   "file",
				   "the node runs %s %s, declared is %s", id, version,
				   node->os_version);
			return;
		}
	}
	judge_pass(g, "%s %s", id, version);
}

/* --- os.kernel-log ---------------------------------------------------------------------------- */

/* BDF that a driver's line names ("ice 0000:01:00.0: …"); NULL when it names none. */
static const char *device_of_line(struct judging *g, const char *text)
{
	static const size_t len = sizeof("0000:00:00.0") - 1;

	for (const char *s = text; strlen(s) >= len; s++) {
		const char *word = judge_text(g, "%.*s", (int)len, s);

		if (subject_is_bdf(word))
			return word;
		s += strcspn(s, " ");
		if (!*s)
			break;
	}
	return NULL;
}

/* A driver that was reloaded leaves the bad line and, later, the good one: the later one holds. */
static bool is_superseded(struct judging *g, const struct signature *s, const char *text)
{
	const char *device = device_of_line(g, text);

	if (!device || (!text_starts_with(s->id, "ice-ddp-") && strcmp(s->id, "ice-safe-mode")))
		return false;
	return signature_newer(g->snapshot, "ice-ddp-loaded", s->id, device);
}

/* Newest line whose meaning is exactly `s`, or -1. */
static int64_t newest_line(json_t *lines, const struct signature *s)
{
	for (size_t i = json_array_size(lines); i-- > 0;) {
		const char *text = json_get_string(json_array_get(lines, i), "text", "");

		if (signature_of_text(text) == s)
			return (int64_t)i;
	}
	return -1;
}

/* Gate that judges the same fault by other facts, and so has its cause; by what ids begin with. */
static const struct {
	const char *prefix, *gate;
} judged_by[] = {
	{ "ice-ddp-", "nic.firmware" },
	{ "ice-safe-mode", "nic.firmware" },
	{ "nvm-newer-stopped", "nic.driver" },
	{ "nvm-", "nic.firmware" },
	{ "ice-rdma-config", "rdma.device" },
	{ "ice-lag-", "rdma.device" },
	{ "ice-dcb-not-contiguous", "qos.ets" },
	{ "irdma-unknown-symbol", "nic.driver-pair" },
	{ "irdma-unknown-parameter", "rdma.module" },
	{ "pcie-limited", "pci.link" },
	{ "bond-no-partner", "net.bond" },
	{ "iommu-fault", "gdr.iommu" },
	{ "nvrm-dmabuf-", "gdr.register" },
	{ "nvrm-version-mismatch", "gpu.driver" },
};

static const char *gate_of_signature(const struct signature *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(judged_by); i++) {
		if (text_starts_with(s->id, judged_by[i].prefix))
			return judged_by[i].gate;
	}
	return NULL;
}

/* The lines that fail are a consequence when one gate has the cause of them all. */
struct log_root {
	const char *gate;
	bool several;
};

static void log_root_add(struct log_root *root, const struct signature *s)
{
	const char *gate = gate_of_signature(s);

	root->several |= !gate || (root->gate && strcmp(root->gate, gate));
	root->gate = gate;
}

static void judge_kernel_log(struct judging *g)
{
	size_t n, found = 0;
	struct log_root root = {0};
	const struct signature *signatures = signature_table(&n);
	json_t *lines = peek(g, "/os/log/lines");
	bool readable;

	if (!fact_bool(g, &readable, "/os/log/readable"))
		return;
	if (!readable) {
		judge_unknown(g, "run railhead as root, or set kernel.dmesg_restrict=0",
			      "the kernel log may not be read");
		return;
	}
	if (!lines) {
		fact(g, "/os/log/lines");	/* says why */
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct signature *s = &signatures[i];
		int64_t at = s->weight == VERDICT_PASS ? -1 : newest_line(lines, s);
		const char *text;

		if (at < 0)
			continue;
		text = json_get_string(json_array_get(lines, (size_t)at), "text", "");
		if (is_superseded(g, s, text))
			continue;
		fact(g, "/os/log/lines/%u", (unsigned)at);
		if (s->weight == VERDICT_FAIL) {
			judge_fail(g, s->id, s->fix, "%s: \"%s\"", s->text, text);
			log_root_add(&root, s);
		} else {
			judge_warn(g, s->id, s->fix, "%s: \"%s\"", s->text, text);
		}
		found++;
	}
	if (root.gate && !root.several)
		judge_explained_by(g, root.gate, NULL);
	if (!found)
		judge_pass(g, "none of the known fault lines is in the kernel log");
}

/* --- the gates -------------------------------------------------------------------------------- */

const struct gate gates_os[] = {
	{
		.id = "os.release",
		.phase = 0,
		.level = 1,
		.scope = GATE_NODE,
		.title = "operating system release",
		.judge = judge_release,
		.proves = "The node runs the distribution and the release that the site declares.",
		.why = "Every support matrix (GPU Operator, Kubernetes installer, drivers) is a "
		       "statement about one release. On another release the paper gates have "
		       "judged a system that does not exist.",
		.fix = "Update or reinstall the node, or correct `os` in the site file and run "
		       "`railhead plan` again.",
		.obtain = "/etc/os-release must be readable; run `railhead snapshot` on the node "
			  "itself.",
		.source = "os-release(5)",
	},
	{
		.id = "os.kernel",
		.phase = 0,
		.level = 1,
		.scope = GATE_NODE,
		.title = "running kernel, the same on all nodes of a role",
		.judge = judge_kernel,
		.proves = "The running kernel belongs to the release (RHEL 10 is 6.12 with an el10 "
			  "tag; 5.14 is RHEL 9), is the newest one installed, matches the declared "
			  "pattern, equals the kernel of the other nodes of its role, and has "
			  "headers.",
		.why = "Modules are built and packaged for one kernel. After an update without "
		       "reboot the old kernel still runs while module files, headers and the "
		       "driver container follow the new one. Nodes of one role with different "
		       "kernels have different ice, irdma and RDMA cores, and a proof on one says "
		       "nothing about the other.",
		.fix = "Reboot into the installed kernel; install the declared kernel on every "
		       "node of the role; install the headers (RHEL: kernel-devel-$(uname -r)) or "
		       "keep that package in the mirror.",
		.obtain = "/proc/sys/kernel/osrelease and /lib/modules must be readable; run "
			  "`railhead snapshot` on the node itself.",
		.source = "gpu-driver-container rhel10/nvidia-driver (installs kernel-headers, "
			  "kernel-devel and kernel of the running release); RHEL kernel versions: "
			  "10.0 = 6.12.0-55.el10, 10.1 = 6.12.0-124.el10_1. The build number of "
			  "10.2 is unverified, so gates ask for features and not for that number.",
	},
	{
		.id = "os.memlock",
		.phase = 5,
		.level = 1,
		.scope = GATE_NODE,
		.title = "locked-memory limit of this process and of the container runtime",
		.judge = judge_memlock,
		.proves = "Memory may be registered with a NIC: RLIMIT_MEMLOCK is unlimited, or as "
			  "large as declared, for this process, for containerd or CRI-O, and in "
			  "every pod that was looked into.",
		.why = "ibv_reg_mr() pins memory and counts it against RLIMIT_MEMLOCK. The default "
		       "is 8 MiB (64 KiB before Linux 5.16). Kubernetes cannot set it: a container "
		       "inherits it from the container runtime. CAP_IPC_LOCK lifts the limit only "
		       "while it is effective, which it is for root; for a non-root container "
		       "`IPC_LOCK` reaches the bounding set alone and does nothing. Registration "
		       "then fails with ENOMEM, and NCCL falls back to TCP without a word.",
		.fix = "A drop-in for the runtime: `systemctl edit containerd` with [Service] "
		       "LimitMEMLOCK=infinity, `systemctl restart containerd`, then start the pods "
		       "again: running containers keep the old limit. On the host: "
		       "/etc/security/limits.d.",
		.obtain = "/proc/PID/limits of containerd must be readable (root); pods are looked "
			  "into from inside.",
		.source = "drivers/infiniband/core/umem.c (ib_umem_get); getrlimit(2); "
			  "capabilities(7); NVIDIA/nvidia-container-toolkit#2037 (measured table "
			  "root/non-root); Kubespray containerd_limit_mem_lock (default infinity)",
	},
	{
		.id = "os.kernel-log",
		.phase = 5,
		.level = 1,
		.scope = GATE_NODE,
		.title = "no known fault lines in the kernel log",
		.judge = judge_kernel_log,
		.proves = "The kernel log since boot holds none of the lines that are known to "
			  "mean a fault on this path: ice Safe Mode, adapter reset, HMC or PE "
			  "critical error, IOMMU (DMAR) faults, NVRM refusals of DMA-BUF, Xid.",
		.why = "Drivers say the true cause once, in the log, and then go on with less: "
		       "Safe Mode still has a carrier, a reset adapter still has its RDMA device, "
		       "a DMAR fault still leaves a bandwidth number. Each line known here has one "
		       "meaning.",
		.fix = "As the named cause says. After the repair reboot (or clear the log) so "
		       "that old lines do not speak for the present.",
		.obtain = "Read access to /dev/kmsg: run as root, or set kernel.dmesg_restrict=0.",
		.source = "each line's own source stands in the signature table; kernel "
			  "Documentation/ABI/testing/dev-kmsg",
	},
};

const size_t n_gates_os = ARRAY_SIZE(gates_os);
