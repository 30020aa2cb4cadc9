/* SPDX-License-Identifier: Apache-2.0 */
/* Gates of level 3: every cause, and the healthy node. */
#include <string.h>

#include "judge/registry.h"
#include "scene.h"

#define JUDGE(s) scene_judge(s, gates_gdr, n_gates_gdr)

/* In the healthy scene: below one switch with both ports, and on the other socket. */
#define NEAR "0000:1c:00.0 → ens1f0"
#define FAR "0000:9d:00.0 → ens1f0"
#define SWITCH_PORT "/pci/devices/0000:17:01.0"	/* above 0000:1c:00.0 */

/* A fresh proof with memory of the near GPU, in which these lengths were tried. */
#define RECORD_OF(is_double, fresh, dmabuf, tried)                                             \
	"[{'double': " is_double ", 'local': {'role': 'listener', 'path': {'link': 'ens1f0'}, " \
	"'memory': {'kind': 'cuda', 'gpu': {'bdf': '0000:1c:00.0'" dmabuf "}}}, 'freshness': " \
	"{'local': {'same': " fresh "}}, 'runs': [{'run': 'register', 'end': 'initiator', "     \
	"'result': {'tried': [{'call': 'ibv_reg_dmabuf_mr', 'errno': 5}]}}, {'run': 'register', " \
	"'end': 'listener', 'result': {'stopped': 'no GPU', 'tried': [" tried "]}}]}]"
#define RECORD(dmabuf, tried) RECORD_OF("false", "true", dmabuf, tried)

static const struct verdict *judged(struct scene *s, const char *gate, const char *subject)
{
	return scene_verdict(JUDGE(s), gate, subject);
}

static void healthy(void **state)
{
	struct scene *s = *state;
	const struct ladder *l = JUDGE(s);
	size_t rows = 0;

	for (size_t i = 0; i < l->n_verdicts; i++)
		rows += !strcmp(l->verdicts[i].gate->id, "gdr.topology");
	assert_int_equal(rows, 8 * 2);
	scene_status(scene_verdict(l, "gdr.topology", NEAR), VERDICT_PASS);
	scene_status(scene_verdict(l, "gdr.acs", NEAR), VERDICT_PASS);
	scene_status(scene_verdict(l, "gdr.acs", FAR), VERDICT_PASS);
	scene_status(scene_verdict(l, "gdr.iommu", NULL), VERDICT_PASS);
	scene_status(scene_verdict(l, "gdr.kernel", NULL), VERDICT_PASS);
	scene_status(scene_verdict(l, "gdr.peermem", NULL), VERDICT_PASS);
	/* no record: never green */
	scene_status(scene_verdict(l, "gdr.export", NULL), VERDICT_UNKNOWN);
	scene_status(scene_verdict(l, "gdr.register", NEAR), VERDICT_UNKNOWN);
}

static void not_wanted(void **state)
{
	struct scene *s = *state;
	const struct ladder *l;

	s->site.gpudirect = false;
	l = JUDGE(s);
	for (size_t i = 0; i < l->n_verdicts; i++)
		scene_status(&l->verdicts[i], VERDICT_NA);
}

/* --- gdr.topology ----------------------------------------------------------------------------- */

static void distances(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_summary(judged(s, "gdr.topology", NEAR), "PIX below bridge 0000:16:00.0");
	v = judged(s, "gdr.topology", FAR);
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "gpu-nic-other-socket", "SYS, between NUMA nodes");
	v = judged(s, "gdr.topology", "0000:3d:00.0 → ens1f0");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "gpu-nic-other-root", "NODE");

	/* through one host bridge */
	scene_set(s->snapshots[0], "/pci/devices/0000:3d:00.0/root", "'pci0000:15'");
	v = judged(s, "gdr.topology", "0000:3d:00.0 → ens1f0");
	scene_cause(v, "gpu-nic-host-bridge", "PHB");

	/* the firmware tells no node */
	scene_set(s->snapshots[0], "/pci/devices/0000:9d:00.0/numa_node", "-1");
	v = judged(s, "gdr.topology", FAR);
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "gpu-nic-other-root-or-socket", "no NUMA node");

	/* a switch more */
	scene_set(s->snapshots[0], "/pci/devices/0000:1c:00.0/parent", "'0000:f1:00.0'");
	scene_set(s->snapshots[0], "/pci/devices/0000:f1:00.0", "{'parent': '0000:f0:00.0'}");
	scene_set(s->snapshots[0], "/pci/devices/0000:f0:00.0", "{'parent': '0000:17:01.0'}");
	v = judged(s, "gdr.topology", NEAR);
	scene_status(v, VERDICT_PASS);
	scene_summary(v, "PXB");
}

static void nearest_port_is_named(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_summary(judged(s, "gdr.topology", NEAR), "nearest port of this GPU");

	/* the second port sits on the far socket */
	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.1/parent", "'0000:9c:00.0'");
	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.1/root", "'pci0000:9a'");
	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.1/numa_node", "1");
	v = judged(s, "gdr.topology", "0000:1c:00.0 → ens1f1");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "gpu-nic-other-socket", "nearer to this GPU: ens1f0 (PIX)");
	scene_summary(judged(s, "gdr.topology", FAR), "nearer to this GPU: ens1f1 (PIX)");
}

static void tree_with_a_hole(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], SWITCH_PORT "/parent", NULL);
	scene_status(judged(s, "gdr.topology", NEAR), VERDICT_UNKNOWN);
	scene_status(judged(s, "gdr.acs", NEAR), VERDICT_UNKNOWN);
	scene_set(s->snapshots[0], SWITCH_PORT "/parent", "'0000:17:01.0'");	/* its own parent */
	scene_status(judged(s, "gdr.topology", NEAR), VERDICT_UNKNOWN);
}

/* --- gdr.acs ---------------------------------------------------------------------------------- */

static void acs_redirect(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], SWITCH_PORT "/acs/request_redirect", "true");
	scene_set(s->snapshots[0], SWITCH_PORT "/acs/ctrl", "'0x001d'");
	v = judged(s, "gdr.acs", NEAR);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "acs-redirect", "bridge 0000:17:01.0 between GPU and NIC redirects "
				       "requests");
	assert_non_null(strstr(v->causes[0].fix, "setpci -s 0000:17:01.0"));
	/* not on the path of the neighbour */
	scene_status(scene_verdict(s->ladder, "gdr.acs", "0000:1d:00.0 → ens1f0"), VERDICT_PASS);

	scene_set(s->snapshots[0], SWITCH_PORT "/acs/request_redirect", "false");
	scene_set(s->snapshots[0], SWITCH_PORT "/acs/completion_redirect", "true");
	scene_cause(judged(s, "gdr.acs", NEAR), "acs-redirect", "redirects completions");
}

static void acs_that_does_not_matter(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], SWITCH_PORT "/acs/source_validation", "true");
	scene_status(judged(s, "gdr.acs", NEAR), VERDICT_PASS);
	scene_set(s->snapshots[0], SWITCH_PORT "/acs", "null");	/* no such capability */
	scene_status(judged(s, "gdr.acs", NEAR), VERDICT_PASS);

	/* above the switch that both share */
	scene_set(s->snapshots[0], "/pci/devices/0000:15:01.0/acs/request_redirect", "true");
	scene_status(judged(s, "gdr.acs", NEAR), VERDICT_PASS);
	/* no switch in common: a warning */
	v = judged(s, "gdr.acs", FAR);
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "acs-redirect-beyond-root", "0000:15:01.0");
}

static void acs_egress_control(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], SWITCH_PORT "/acs/egress_control", "true");
	v = judged(s, "gdr.acs", NEAR);
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "acs-egress-control", "0000:17:01.0");
}

static void acs_unseen(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], SWITCH_PORT "/acs", NULL);
	scene_status(judged(s, "gdr.acs", NEAR), VERDICT_UNKNOWN);
	scene_set(s->snapshots[0], SWITCH_PORT "/acs", "{'cap': '0x005f'}");
	scene_status(judged(s, "gdr.acs", NEAR), VERDICT_UNKNOWN);
	/* what was seen of another bridge still counts */
	scene_set(s->snapshots[0], "/pci/devices/0000:17:00.0/acs/request_redirect", "true");
	scene_status(judged(s, "gdr.acs", NEAR), VERDICT_FAIL);
}

/* --- gdr.iommu -------------------------------------------------------------------------------- */

static void iommu(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.0/iommu_type", "'DMA-FQ'");
	v = judged(s, "gdr.iommu", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "iommu-translating", "0000:1b:00.0 (DMA-FQ)");
	assert_non_null(strstr(v->causes[0].text, "bytes never arrive"));

	/* of a port that no RDMA port stands on: nobody's concern */
	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.0/iommu_type", "'identity'");
	scene_set(s->snapshots[0], "/pci/devices/0000:02:00.0/iommu_type", "'DMA'");
	scene_status(judged(s, "gdr.iommu", NULL), VERDICT_PASS);

	scene_set(s->snapshots[0], "/pci/devices/0000:1c:00.0/iommu_type", "'DMA'");
	v = judged(s, "gdr.iommu", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "iommu-translating", "0000:1c:00.0 (DMA)");

	scene_set(s->snapshots[0], "/pci/devices/0000:1c:00.0/iommu_type", "'unmanaged'");
	scene_cause(judged(s, "gdr.iommu", NULL), "iommu-other-owner", "0000:1c:00.0");
	scene_set(s->snapshots[0], "/pci/devices/0000:1c:00.0/iommu_type", NULL);
	scene_status(judged(s, "gdr.iommu", NULL), VERDICT_UNKNOWN);

	scene_set(s->snapshots[0], "/os/iommu/groups", "0");
	scene_status(judged(s, "gdr.iommu", NULL), VERDICT_PASS);
	scene_set(s->snapshots[0], "/os/iommu", NULL);
	scene_status(judged(s, "gdr.iommu", NULL), VERDICT_UNKNOWN);
}

/* --- gdr.kernel ------------------------------------------------------------------------------- */

static void kernel_features(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/kernel/config/CONFIG_PCI_P2PDMA", "'n'");
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-config", "CONFIG_PCI_P2PDMA");
	scene_set(s->snapshots[0], "/os/kernel/config", NULL);
	scene_status(judged(s, "gdr.kernel", NULL), VERDICT_UNKNOWN);
}

static void kernel_number(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/kernel/release", "'5.10.0-28-amd64'");
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-too-old", "5.10.0-28-amd64 is older than 5.12");
	scene_cause(v, "provider-kernel-old", "irdma registers dma-bufs from kernel 6.3");

	/* new enough for the core, not for irdma */
	scene_set(s->snapshots[0], "/os/kernel/release", "'6.1.0-50-amd64'");
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_no_cause(v, "kernel-too-old");
	scene_cause(v, "provider-kernel-old", "running is 6.1.0-50-amd64");

	/* this distribution takes over later changes: its number is a suspicion only */
	scene_set(s->snapshots[0], "/os/kernel/release", "'4.18.0-553.el8_10.x86_64'");
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_UNKNOWN);
	scene_candidate(v, "kernel-too-old");
	scene_candidate(v, "provider-kernel-old");

	/* … which a registration that worked removes */
	scene_set(s->snapshots[0], "/proofs/gdr",
		  RECORD("", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 0, 'length_bytes': "
			     "1073741824}"));
	scene_status(judged(s, "gdr.kernel", NULL), VERDICT_PASS);
}

static void kernel_provider(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/os/modules/irdma/in_tree", "false");
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "provider-out-of-tree", "irdma is out-of-tree");

	scene_set(s->snapshots[0], "/rdma/devices/rocep27s0f0/driver", "'rdma_rxe'");
	scene_set(s->snapshots[0], "/rdma/devices/rocep27s0f0/parent_device", "null");
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "provider-no-dmabuf", "ens1f0: the driver rdma_rxe");

	scene_set(s->snapshots[0], "/rdma/devices", "{}");
	scene_set(s->snapshots[0], "/links/ens1f0/ethtool/driver", "'qede'");
	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.0/driver", "'qede'");
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "qede");
}

/* errno 93 is the host's kernel, whatever its number says, and explains the registration */
static void kernel_without_the_method(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	scene_set(s->snapshots[0], "/proofs/gdr",
		  RECORD("", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 93}"));
	v = judged(s, "gdr.kernel", NULL);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-no-dmabuf-method", "errno 93");
	v = scene_verdict(s->ladder, "gdr.register", NEAR);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "kernel-no-dmabuf-method", "6.12.0-211");
	assert_string_equal(v->explained_by, "gdr.kernel");
	assert_int_equal(v->n_causes, 1);
	assert_null(strstr(v->causes[0].text, "IOMMU"));
}

static void peermem(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], "/os/modules/nvidia_peermem/loaded", "true");
	scene_status(judged(s, "gdr.peermem", NULL), VERDICT_PASS);
	scene_summary(scene_verdict(s->ladder, "gdr.peermem", NULL), "no evidence");
	scene_set(s->snapshots[0], "/os/modules/nvidia_peermem", NULL);
	scene_status(judged(s, "gdr.peermem", NULL), VERDICT_UNKNOWN);
}

/* --- gdr.export ------------------------------------------------------------------------------- */

static const struct verdict *exported(struct scene *s, const char *record)
{
	scene_set(s->snapshots[0], "/proofs/gdr", record);
	return judged(s, "gdr.export", "0000:1c:00.0");
}

#define EXPORT_FAILS                                                                           \
	"{'call': 'cuMemGetHandleForAddressRange', 'errno': 22, 'text': 'odd size'"

static void export_records(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	/* whatever became of it afterwards */
	v = exported(s, RECORD("", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 95}"));
	scene_status(v, VERDICT_PASS);
	scene_status(scene_verdict(s->ladder, "gdr.export", "0000:1d:00.0"), VERDICT_UNKNOWN);

	/* no export was tried */
	scene_status(exported(s, RECORD(", 'dmabuf': true", "")), VERDICT_UNKNOWN);
	scene_status(exported(s, RECORD("", "{'call': 'cuMemAlloc_v2', 'errno': 12}")),
		     VERDICT_UNKNOWN);

	v = exported(s, RECORD("", EXPORT_FAILS "}"));
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "dmabuf-export-failed", "errno 22: odd size");
	v = exported(s, RECORD("", EXPORT_FAILS ", 'kernel_log': [7, 'NVRM: PCI topology not "
				   "supported for dma-buf']}"));
	scene_cause(v, "nvrm-dmabuf-topology", NULL);
	scene_no_cause(v, "dmabuf-export-failed");

	v = exported(s, RECORD(", 'dmabuf': false", ""));
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "dmabuf-unsupported", NULL);
	scene_candidate(v, "confidential-computing");
	scene_candidate(v, "gpu-too-old");
	scene_candidate(v, "kernel-config");

	scene_set(s->snapshots[0], "/gpu/driver/open", "false");
	v = judged(s, "gdr.export", "0000:1c:00.0");
	scene_cause(v, "driver-closed-module", NULL);
	scene_no_cause(v, "dmabuf-unsupported");
}

/* Neither a pass nor a fail is taken from a double, or from another state of this machine. */
static void records_that_tell_nothing(void **state)
{
	static const char *const records[] = {
		RECORD_OF("true", "true", "", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 0}"),
		RECORD_OF("'no'", "true", "", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 0}"),
		RECORD_OF("false", "false", "", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 93}"),
		RECORD_OF("false", "null", "", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 93}"),
		"[7, {}, {'local': {'memory': {'gpu': 7}}}]",
		"{}",
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		scene_set(s->snapshots[0], "/proofs/gdr", records[i]);
		scene_status(judged(s, "gdr.register", NEAR), VERDICT_UNKNOWN);
		scene_status(scene_verdict(s->ladder, "gdr.export", "0000:1c:00.0"),
			     VERDICT_UNKNOWN);
		scene_status(scene_verdict(s->ladder, "gdr.kernel", NULL), VERDICT_PASS);
	}
}

/* A record of udmabuf tells of the kernel, and of no GPU. */
static void registration_of_udmabuf(void **state)
{
	struct scene *s = *state;

	scene_set(s->snapshots[0], "/os/kernel/release", "'4.18.0-553.el8_10.x86_64'");
	scene_set(s->snapshots[0], "/proofs/dmabuf",
		  RECORD("", "{'call': 'ibv_reg_dmabuf_mr', 'errno': 0}"));
	scene_status(judged(s, "gdr.kernel", NULL), VERDICT_PASS);
	scene_status(scene_verdict(s->ladder, "gdr.register", NEAR), VERDICT_UNKNOWN);
}

/* --- gdr.register ----------------------------------------------------------------------------- */

static const struct verdict *registered(struct scene *s, const char *record)
{
	_cleanup_free_ char *list = xasprintf(RECORD("", "%s"), record);

	scene_set(s->snapshots[0], "/proofs/gdr", list);
	return judged(s, "gdr.register", NEAR);
}

#define REGISTERED "{'call': 'ibv_reg_dmabuf_mr', 'errno': 0, 'length_bytes': 1073741824}"

static void register_succeeds(void **state)
{
	struct scene *s = *state;
	const struct verdict *v = registered(
		s, REGISTERED ", {'call': 'ibv_reg_dmabuf_mr', 'errno': 0, 'length_bytes': 4096}");

	scene_status(v, VERDICT_PASS);
	scene_summary(v, "largest region 1 GiB");
	scene_status(scene_verdict(s->ladder, "gdr.register", "0000:1c:00.0 → ens1f1"),
		     VERDICT_UNKNOWN);
	scene_status(scene_verdict(s->ladder, "gdr.register", FAR), VERDICT_UNKNOWN);

	/* host memory proves nothing here */
	scene_status(registered(s, "{'call': 'ibv_reg_mr', 'errno': 0}"), VERDICT_UNKNOWN);
	v = registered(s, "{'call': 'cuMemAlloc_v2', 'errno': 12, 'text': 'all taken'}");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "cuMemAlloc_v2 failed: all taken");
	v = registered(s, "");
	scene_status(v, VERDICT_UNKNOWN);
	scene_summary(v, "no registration was tried: no GPU");
}

/* The first length that is refused: above 1 GiB it is a note. */
static void register_up_to(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = registered(s, REGISTERED ", {'call': 'ibv_reg_dmabuf_mr', 'errno': 12, "
			  "'length_bytes': 2147483648}");
	scene_status(v, VERDICT_PASS);
	scene_summary(v, "largest region 1 GiB; 2 GiB refused with errno 12");
	v = registered(s, "{'call': 'ibv_reg_dmabuf_mr', 'errno': 0, 'length_bytes': 4096}, "
			  "{'call': 'ibv_reg_dmabuf_mr', 'errno': 12, 'length_bytes': 8192}");
	scene_status(v, VERDICT_WARN);
	scene_cause(v, "register-limited", "refused with errno 12");
}

/* The newest record of this GPU and port counts. */
static void register_newest(void **state)
{
	struct scene *s = *state;
	_cleanup_json_ json_t *list = scene_json(RECORD("", REGISTERED));
	_cleanup_json_ json_t *newer = scene_json(RECORD("", "{'call': 'ibv_reg_dmabuf_mr', "
							     "'errno': 5}"));

	scene_set(json_array_get(newer, 0), "/serial", "8");
	scene_set(json_array_get(list, 0), "/serial", "7");
	json_array_extend(newer, list);
	_cleanup_free_ char *text = json_to_text(newer, false);

	scene_set(s->snapshots[0], "/proofs/gdr", text);
	scene_cause(judged(s, "gdr.register", NEAR), "register-failed", "errno 5");
}

static void register_errno_95(void **state)
{
	struct scene *s = *state;
	const char *record = "{'call': 'ibv_reg_dmabuf_mr', 'errno': 95}";
	const struct verdict *v;

	/* kernel is fine, the library is old */
	scene_set(s->snapshots[0], "/userspace/rdma_core", "'44.0'");
	v = registered(s, record);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "provider-library-old", "rdma-core 44.0");
	scene_no_cause(v, "provider-kernel-old");

	/* the library is fine, the kernel module is another build */
	scene_set(s->snapshots[0], "/userspace/rdma_core", "'60.0'");
	scene_set(s->snapshots[0], "/os/modules/irdma/in_tree", "false");
	v = registered(s, record);
	scene_cause(v, "provider-kernel-old", "out-of-tree build");
	scene_no_cause(v, "provider-library-old");

	/* neither is excluded */
	scene_set(s->snapshots[0], "/userspace/rdma_core", NULL);
	v = registered(s, record);
	scene_cause(v, "register-errno-95", NULL);
	scene_candidate(v, "provider-library-old");
	scene_candidate(v, "provider-kernel-old");

	/* both are */
	scene_set(s->snapshots[0], "/userspace/rdma_core", "'60.0'");
	scene_set(s->snapshots[0], "/os/modules/irdma/in_tree", "true");
	v = registered(s, record);
	scene_status(v, VERDICT_FAIL);
	assert_int_equal(v->n_causes, 1);
	scene_cause(v, "register-errno-95", NULL);

	scene_set(s->snapshots[0], "/rdma/devices/rocep27s0f0/driver", "'rdma_rxe'");
	scene_set(s->snapshots[0], "/rdma/devices/rocep27s0f0/parent_device", "null");
	scene_cause(registered(s, record), "provider-no-dmabuf", "rdma_rxe");
}

static void register_errno_22(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = registered(s, "{'errno': 22, 'length_bytes': 5000}");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "dmabuf-unaligned", "length 5000");
	v = registered(s, "{'errno': 22, 'length_bytes': 8192, 'offset_bytes': 512}");
	scene_cause(v, "dmabuf-unaligned", "offset 512");
	v = registered(s, "{'errno': 22, 'length_bytes': 8192}");
	scene_cause(v, "register-errno-22", NULL);
	scene_candidate(v, "dmabuf-outside");
	scene_candidate(v, "iova-misaligned");
	scene_set(s->snapshots[0], "/rdma/devices/rocep27s0f0/capabilities/max_mr_size", "4096");
	v = registered(s, "{'errno': 22, 'length_bytes': 8192}");
	scene_cause(v, "mr-too-long", "largest region is 4096");
}

static void register_errno_12(void **state)
{
	struct scene *s = *state;
	const char *record = "{'errno': 12, 'length_bytes': 4294967296}";
	const struct verdict *v;

	/* passthrough and unlimited: what remains is the adapter */
	v = registered(s, record);
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "adapter-page-tables", "4294967296 bytes");

	scene_set(s->snapshots[0], "/pci/devices/0000:1b:00.0/iommu_type", "'DMA'");
	scene_set(s->snapshots[0], "/os/memlock/self",
		  "{'soft_bytes': 8388608, 'cap_ipc_lock': false}");
	v = registered(s, record);
	scene_cause(v, "register-errno-12", NULL);
	scene_no_cause(v, "adapter-page-tables");
	scene_candidate(v, "iommu-translating");
	scene_candidate(v, "adapter-page-tables");
	scene_candidate(v, "memlock-low");
	assert_string_equal(v->explained_by, "gdr.iommu");

	scene_set(s->snapshots[0], "/os/memlock/self/cap_ipc_lock", "true");
	v = registered(s, record);
	for (size_t i = 0; i < v->n_causes; i++)
		assert_string_not_equal(v->causes[i].id, "memlock-low");
}

static void register_errno_14_and_others(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = registered(s, "{'errno': 14, 'call': 'ibv_reg_mr'}");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "plain-reg-mr", "peer-memory");
	v = registered(s, "{'errno': 14}");
	scene_no_cause(v, "plain-reg-mr");
	scene_candidate(v, "plain-reg-mr");
	v = registered(s, "{'errno': 14, 'call': 'ibv_reg_dmabuf_mr'}");
	scene_cause(v, "register-errno-14", "cannot be mapped");
	for (size_t i = 0; i < v->n_causes; i++)
		assert_string_not_equal(v->causes[i].id, "plain-reg-mr");
	v = registered(s, "{'errno': 5}");
	scene_cause(v, "register-failed", "errno 5");
}

static void register_errno_524(void **state)
{
	struct scene *s = *state;
	const struct verdict *v;

	v = registered(s, "{'errno': 524, 'pcie_mapping': true}");
	scene_status(v, VERDICT_FAIL);
	scene_cause(v, "dmabuf-pcie-mapping", NULL);
	v = registered(s, "{'errno': 524}");
	scene_cause(v, "register-errno-524", NULL);
	scene_candidate(v, "dmabuf-pcie-mapping");
	scene_candidate(v, "nvrm-dmabuf-topology");

	scene_set(s->snapshots[0], "/os/log/lines",
		  "[{'text': 'NVRM: PCI topology not supported for dma-buf'}]");
	v = registered(s, "{'errno': 524}");
	scene_cause(v, "nvrm-dmabuf-topology", "Arm root complex");
	scene_no_cause(v, "register-errno-524");

	/* the record may have the line when the log has it no more */
	scene_set(s->snapshots[0], "/os/log/lines", "[]");
	v = registered(s, "{'errno': 524, 'kernel_log': ['NVRM: PCI topology not supported for "
			  "dma-buf']}");
	scene_cause(v, "nvrm-dmabuf-topology", "Arm root complex");
}

#define SCENE(f) cmocka_unit_test_setup_teardown(f, scene_open, scene_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(healthy),
		SCENE(not_wanted),
		SCENE(distances),
		SCENE(nearest_port_is_named),
		SCENE(tree_with_a_hole),
		SCENE(acs_redirect),
		SCENE(acs_that_does_not_matter),
		SCENE(acs_egress_control),
		SCENE(acs_unseen),
		SCENE(iommu),
		SCENE(kernel_features),
		SCENE(kernel_number),
		SCENE(kernel_provider),
		SCENE(kernel_without_the_method),
		SCENE(peermem),
		SCENE(export_records),
		SCENE(records_that_tell_nothing),
		SCENE(registration_of_udmabuf),
		SCENE(register_succeeds),
		SCENE(register_up_to),
		SCENE(register_newest),
		SCENE(register_errno_95),
		SCENE(register_errno_22),
		SCENE(register_errno_12),
		SCENE(register_errno_14_and_others),
		SCENE(register_errno_524),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
