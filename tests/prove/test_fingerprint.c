/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints: each member makes a proof stale, and the text says what has changed. */
#include <string.h>

#include "../judge/scene.h"
#include "records.h"

static const struct {
	const char *pointer, *value, *changed;
} changes[] = {
	{ "/os/kernel/release", "'6.12.99'", "kernel was" },
	{ "/os/iommu/types", "['DMA']", "iommu was" },
	{ "/userspace/rdma_core", "'61.0'", "rdma_core was \"60.0\", is \"61.0\"" },
	{ "/userspace/rdma_core", NULL, "rdma_core was \"60.0\", is not observed" },
	{ "/rdma/devices/rocep27s0f0/firmware", "'1.72'", "rdma firmware was \"1.71\"" },
	{ "/rdma/devices/rocep27s0f0/driver", "'irdma2'", "rdma driver was" },
	{ "/rdma/devices/rocep27s0f0/ports/1/active_mtu", "1024", "rdma active_mtu 1 was 4096" },
	{ "/rdma/devices/rocep27s0f0/cm/1/default_roce_tos", "0", "roce_tos 1 was 96, is 0" },
	{ "/rdma/devices/rocep27s0f0", NULL, "rdma driver was \"irdma\", is not observed" },
	{ "/os/modules/irdma/in_tree", "false", "rdma in_tree was true, is false" },
	{ "/os/modules/irdma/version", "'2.0.10'", "rdma version was not observed, is" },
	{ "/os/modules/ice/srcversion", "'ABC'", "nics ens1f0 srcversion was not observed" },
	{ "/links/ens1f0/mtu", "1500", "link mtu was 9000, is 1500" },
	{ "/links/ens1f0/addresses", "[]", "link addresses was [\"198.51.100.11\"]" },
	{ "/links/ens1f0/parent_device", "'0000:1c:00.0'", "nics ens1f0 pci was" },
	{ "/links/ens1f0/ethtool/firmware", "'4.92'", "nics ens1f0 firmware was" },
	{ "/links/ens1f0/ethtool/driver", "'ice2'", "nics ens1f0 driver was" },
	{ "/links/ens1f0/dcb/pfc/enabled", "[]", "nics ens1f0 dcb pfc was [3], is []" },
	{ "/links/ens1f0/dcb/dscp", "{'26': 3}", "nics ens1f0 dcb dscp 24 was 3" },
	{ "/links/ens1f0/dcb/ets/prio_tc", "[0, 0, 0, 0, 0, 0, 0, 0]", "dcb prio_tc was" },
	{ "/links/ens1f0/vlan", "{'id': 100}", "link vlan was not observed" },
	{ "/links/ens1f0", NULL, "link mtu was 9000, is not observed" },
};

static void stale_by_each_member(void **state)
{
	_cleanup_json_ json_t *snapshot = records_snapshot("e810-b300-healthy.json");
	_cleanup_json_ json_t *then = proof_fingerprint(snapshot, "ens1f0", "rocep27s0f0");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		_cleanup_json_ json_t *later = json_deep_copy(snapshot);
		_cleanup_json_ json_t *same = proof_fingerprint(later, "ens1f0", "rocep27s0f0");

		assert_null(proof_fingerprint_difference(then, same));
		scene_set(later, changes[i].pointer, changes[i].value);
		_cleanup_json_ json_t *now = proof_fingerprint(later, "ens1f0", "rocep27s0f0");
		_cleanup_free_ char *text = proof_fingerprint_difference(then, now);
		if (!text || !strstr(text, changes[i].changed))
			fail_msg("%s: \"%s\" is not in \"%s\"", changes[i].pointer,
				 changes[i].changed, text ? text : "(nothing)");
	}
}

/* Of a bond: mode and policy, and each member. */
static void bond_fingerprint(void **state)
{
	_cleanup_json_ json_t *snapshot = records_snapshot("e810-b300-bond-oot.json");
	_cleanup_json_ json_t *then = proof_fingerprint(snapshot, "bond1", "rocep27s0f0");

	(void)state;
	assert_non_null(json_at(then, "/nics/ens1f0"));
	assert_non_null(json_at(then, "/nics/ens1f1"));
	scene_set(snapshot, "/links/bond1/bond/xmit_hash_policy", "'layer2'");
	scene_set(snapshot, "/links/ens1f1/master", "'bond7'");
	_cleanup_json_ json_t *now = proof_fingerprint(snapshot, "bond1", "rocep27s0f0");
	_cleanup_free_ char *text = proof_fingerprint_difference(then, now);
	assert_non_null(strstr(text, "link bond xmit_hash_policy was \"layer3+4\", is \"layer2\""));
	assert_non_null(strstr(text, "nics ens1f1 was"));
}

/* A machine that was replaced does not flood. */
static void everything_changed(void **state)
{
	_cleanup_json_ json_t *snapshot = records_snapshot("e810-b300-healthy.json");
	_cleanup_json_ json_t *then = proof_fingerprint(snapshot, "ens1f0", "rocep27s0f0");
	_cleanup_json_ json_t *none = json_object_new();
	_cleanup_json_ json_t *other = proof_fingerprint(none, "eth0", "mlx5_0");
	_cleanup_json_ json_t *flat = json_object_new();

	(void)state;
	for (int i = 0; i < 30; i++) {
		_cleanup_free_ char *key = xasprintf("k%d", i);

		json_put_int(flat, key, i);
	}
	_cleanup_free_ char *text = proof_fingerprint_difference(then, other);
	assert_non_null(strstr(text, "rdma device was \"rocep27s0f0\", is \"mlx5_0\""));
	_cleanup_free_ char *many = proof_fingerprint_difference(flat, none);
	assert_non_null(strstr(many, "k9 was 9, is not observed; and 20 more"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stale_by_each_member),
		cmocka_unit_test(bond_fingerprint),
		cmocka_unit_test(everything_changed),
	};

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
