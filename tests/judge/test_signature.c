/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel log signatures: real lines, and lines that only look alike. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/signature.h"

/* Lines as reports print them, and what they mean; NULL: nothing. */
static void lines(void **state)
{
	static const struct {
		const char *text, *id;
	} table[] = {
		{ "ice 0000:01:00.0: Direct firmware load for intel/ice/ddp/ice.pkg failed with "
		  "error -2",
		  "ice-ddp-file-not-loaded" },
		{ "ice 0000:01:00.0: The DDP package file was not found or could not be read. "
		  "Entering Safe Mode",
		  "ice-ddp-not-found" },
		{ "ice 0000:01:00.0: The DDP package file is invalid. Entering Safe Mode.",
		  "ice-ddp-invalid" },
		{ "ice 0000:01:00.0: The DDP package file version is higher than the driver "
		  "supports.  Please use an updated driver.  Entering Safe Mode.",
		  "ice-ddp-too-new" },
		{ "ice 0000:01:00.0: The DDP package file version is lower than the driver "
		  "supports.  The driver requires version 1.3.x.x.  Please use an updated DDP "
		  "Package file.  Entering Safe Mode.",
		  "ice-ddp-too-old" },
		{ "ice 0000:01:00.0: The DDP package could not be loaded because its signature is "
		  "not valid.  Please use a valid DDP Package.  Entering Safe Mode.",
		  "ice-ddp-signature" },
		{ "ice 0000:01:00.0: The DDP Package could not be loaded because its security "
		  "revision is too low.  Please use an updated DDP Package.  Entering Safe Mode.",
		  "ice-ddp-revision" },
		{ "ice 0000:01:00.0: The device has a DDP package that is not supported by the "
		  "driver.  The device has package 'x' version 2.0.x.x.  The driver requires "
		  "version 1.3.x.x.  Entering Safe Mode.",
		  "ice-ddp-on-device-unsupported" },
		{ "ice 0000:01:00.0: The firmware loaded on the device is not compatible with the "
		  "DDP package.  Please update the device's NVM.  Entering safe mode.",
		  "ice-ddp-firmware-mismatch" },
		{ "ice 0000:01:00.0: An error occurred on the device while loading the DDP "
		  "package.  The device will be reset.",
		  "ice-ddp-load-error" },
		{ "ice 0000:01:00.0: An unknown error occurred when loading the DDP package, "
		  "please reboot the system.  If the problem persists, update the NVM.  Entering "
		  "Safe Mode.",
		  "ice-safe-mode" },
		{ "ice 0000:10:00.0: The DDP package was successfully loaded: ICE OS Default "
		  "Package version 1.3.26.0",
		  "ice-ddp-loaded" },
		{ "ice 0000:10:00.1: DDP package already present on device: ICE OS Default Package "
		  "version 1.3.26.0",
		  "ice-ddp-loaded" },
		{ "ice 0000:10:00.0: FW LLDP is disabled, DCBx/LLDP in SW mode.",
		  "ice-fw-lldp-off" },
		{ "ice 0000:ec:00.0: RDMA functionality is not available with the current device "
		  "config",
		  "ice-rdma-config" },
		{ "ice 0000:4c:00.0 rocep76s0: ICE OICR event notification: oicr = 0x10000003",
		  "irdma-oicr" },
		{ "ice 0000:4c:00.0 rocep76s0: critical PE Error, GLPE_CRITERR=0x00011424",
		  "irdma-critical" },
		{ "ice 0000:4c:00.0 rocep76s0: Requesting a reset", "irdma-reset" },
		{ "ice 0000:1b:00.0 ens1f0: Found non-ice netdev eno1", "ice-lag-non-ice" },
		{ "ice 0000:1b:00.0 ens1f0: Found netdev ens2f0 on different device",
		  "ice-lag-different-device" },
		{ "ice 0000:1b:00.0 ens1f0: Found netdev ens1f1 with different DCB config",
		  "ice-lag-different-dcb" },
		{ "irdma: Unknown symbol ice_get_qos_params (err -2)", "irdma-unknown-symbol" },
		{ "ice 0000:4c:00.0 rocep76s0: HMC Error", "irdma-hmc-error" },
		{ "ice 0000:1b:00.0: Non-contiguous TCs - Disabling DCB",
		  "ice-dcb-not-contiguous" },
		{ "ice 0000:1b:00.0 ens1f0: DCB changes not allowed when in a bond",
		  "ice-dcb-bonded" },
		{ "INFO: Flow control is enabled for this traffic class (3) on this vsi.",
		  "irdma-flow-control" },
		{ "bond1: Warning: No 802.3ad response from the link partner for any adapters in "
		  "the bond",
		  "bond-no-partner" },
		{ "mlx5_core 0000:18:00.0: mlx5_pcie_event:299:(pid 268): Detected insufficient "
		  "power on the PCIe slot (27W).",
		  "mlx5-power" },
		{ "NETDEV WATCHDOG: ens1f0 (ice): transmit queue 3 timed out 5120 ms",
		  "nic-tx-timeout" },
		{ "NVRM: API mismatch: the client has the version 580.95.05, but",
		  "nvrm-version-mismatch" },
		{ "NVRM: Xid (PCI:0000:19:00): 31, pid=4242, name=python3, Ch 00000008",
		  "nvrm-xid-application" },
		{ "NVRM: Xid (PCI:0000:19:00): 131, pid=1, name=x", "nvrm-xid" },
		{ "NVRM: Xid (PCI:0000:19:00): 48, pid=1, DBE at 13, 31, 43", "nvrm-xid" },
		{ "irdma: unknown parameter 'roce_ena' ignored", "irdma-unknown-parameter" },
		{ "INFO: Flow control is disabled for this traffic class (3) on this vsi.",
		  "irdma-no-flow-control" },
		{ "ice 0000:65:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s "
		  "PCIe x8 link at 0000:64:00.0 (capable of 126.024 Gb/s with 16.0 GT/s PCIe x8 "
		  "link)",
		  "pcie-limited" },
		{ "ice 0000:10:00.0: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 "
		  "link)",
		  NULL },
		{ "DMAR: [DMA Write NO_PASID] Request device [1b:00.0] fault addr 0x1000 [fault "
		  "reason 0x05] PTE Write access is not set",
		  "iommu-fault" },
		{ "DMAR: IOMMU enabled", NULL },
		{ "AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:1b:00.0 domain=0x0001]",
		  "iommu-fault" },
		{ "NVRM: nvidia 0000:1c:00.0: topology not supported for mapping type FORCE_PCIE",
		  "nvrm-dmabuf-force-pcie" },
		{ "NVRM: PCI topology not supported for dma-buf", "nvrm-dmabuf-topology" },
		{ "NVRM: importer unable to handle MMIO without struct page",
		  "nvrm-dmabuf-importer" },
		{ "NVRM: Xid (PCI:0000:1c:00): 79, pid=1, GPU has fallen off the bus.",
		  "nvrm-xid" },
		{ "NVRM: GPU 0000:1c:00.0: GPU has fallen off the bus.", "nvrm-fallen-off" },
		{ "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  595.91.07", NULL },
		{ "ice 0000:01:00.0 eno1np0: NIC Link is up 10 Gbps Full Duplex, Requested FEC: "
		  "RS-FEC, Negotiated FEC: NONE, Autoneg Advertised: On, Autoneg Negotiated: "
		  "False, Flow Control: None",
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct signature *s = signature_of_text(table[i].text);

		if (table[i].id && !s)
			fail_msg("nothing matches: %s", table[i].text);
		if (s && !table[i].id)
			fail_msg("%s matches: %s", s->id, table[i].text);
		if (s)
			assert_string_equal(s->id, table[i].id);
	}
}

static void table_is_whole(void **state)
{
	size_t n;
	const struct signature *table = signature_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		assert_non_null(table[i].id);
		assert_non_null(table[i].all_of[0]);
		assert_non_null(table[i].text);
		assert_non_null(table[i].source);
		assert_true(table[i].fix || table[i].weight == VERDICT_PASS);
		assert_null(table[i].all_of[3]);
	}
}

static json_t *log_of(const char *const *text, size_t n)
{
	json_t *snapshot = json_object(),
	       *list = json_arr(json_obj(json_obj(snapshot, "os"), "log"), "lines");

	for (size_t i = 0; i < n; i++) {
		json_t *line = json_object();

		json_put_string(line, "text", text[i]);
		json_array_append_new(list, line);
	}
	return snapshot;
}

static void newest_about(void **state)
{
	static const char *const text[] = {
		"ice 0000:01:00.0: The DDP package file is invalid. Entering Safe Mode.",
		"ice 0000:01:00.1: The DDP package file is invalid. Entering Safe Mode.",
		("ice 0000:01:00.0: The DDP package was successfully loaded: ICE OS Default Package "
		 "version 1.3.26.0"),
		"ice 0000:01:00.0 ens1f0np0: Requesting a reset",
	};
	json_t *s = log_of(text, 4);

	(void)state;
	assert_ptr_equal(signature_find(s, "ice-safe-mode", NULL), json_at(s, "/os/log/lines/1"));
	assert_ptr_equal(signature_find(s, "ice-safe-mode", "0000:01:00.0"),
			 json_at(s, "/os/log/lines/0"));
	assert_null(signature_find(s, "ice-safe-mode", "0000:01:00"));
	assert_null(signature_find(s, "irdma-reset", "ens1f0"));
	assert_non_null(signature_find(s, "irdma-reset", "ens1f0np0"));
	assert_null(signature_find(s, "nobody", NULL));
	assert_false(signature_newer(s, "ice-safe-mode", "ice-ddp-loaded", "0000:01:00.0"));
	assert_true(signature_newer(s, "ice-safe-mode", "ice-ddp-loaded", "0000:01:00.1"));
	assert_true(signature_newer(s, "ice-ddp-loaded", "ice-safe-mode", "0000:01:00.0"));
	assert_false(signature_newer(s, "nobody", "ice-ddp-loaded", NULL));
	json_decref(s);
	assert_null(signature_find(NULL, "ice-safe-mode", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(table_is_whole),
		cmocka_unit_test(newest_about),
	};

	return cmocka_run_group_tests_name("signature", tests, NULL, NULL);
}
