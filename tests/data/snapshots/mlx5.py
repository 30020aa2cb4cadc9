# SPDX-License-Identifier: Apache-2.0
"""Nodes with one ConnectX-7 port: a GPU node with two H100 on its PCIe switch, and a storage node.

The reports about mlx5 are told on this hardware: one NIC and one GPU below a switch, a second GPU and an unused
downstream port beside them, so that bridges on and off the path of a pair can be told apart.
"""

from e810 import ACS_OFF, MEMLOCK, bridge, chardev, gid_of, mgmt_links, module

KERNEL = "6.12.0-211.7.1.el10_2.x86_64"
NOTE = ("hand-made: ConnectX-7 (15b3:1021) and H100 (10de:2330) as in pci.ids; counters and DCB of mlx5 as in drivers/net/ethernet/mellanox/mlx5; "
        "firmware number, PCIe tree and addresses made up")
NIC, LINK, RDMA = "0000:18:00.0", "ens2np0", "mlx5_0"
GPUS = ("0000:19:00.0", "0000:1a:00.0")
SPEED_MBPS = 400000
DRIVER = "580.95.05"


def modules(gpus):
    rdma, net = "kernel/drivers/infiniband", "kernel/drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.ko.xz"
    out = {"mlx5_core": module(net), "mlx5_ib": module(f"{rdma}/hw/mlx5/mlx5_ib.ko.xz"), "bonding": module("kernel/drivers/net/bonding/bonding.ko.xz"),
           "nvidia_peermem": {"loaded": False, "blacklisted": False, "file": None}}
    for name in ("ib_core", "ib_uverbs", "rdma_cm", "rdma_ucm"):
        out[name] = module(f"{rdma}/core/{name}.ko.xz", license="Dual BSD/GPL")
    for name in ("nvidia", "nvidia_uvm") if gpus else ():
        out[name] = module(f"extra/nvidia/{name}.ko.xz", version=DRIVER, in_tree=False, license="Dual MIT/GPL")
    return out


def pci(gpus):
    def device(vendor, ident, klass, driver, parent, group, **more):
        return {"vendor": vendor, "device": ident, "subsystem_vendor": vendor, "subsystem_device": "0x0001", "class": klass, "driver": driver, "numa_node": 0,
                "parent": parent, "root": "pci0000:15", "iommu_group": group, "iommu_type": "identity",
                "link": {"speed_gts": 32.0, "width": 16, "max_speed_gts": 32.0, "max_width": 16}, **more}

    devices = {"0000:15:01.0": bridge("root_port", 0, None, "pci0000:15", 10, dict(ACS_OFF)),
               "0000:16:00.0": bridge("upstream", 0, "0000:15:01.0", "pci0000:15", 11, None)}
    for i in range(4):  # NIC, GPU, GPU, nothing
        devices[f"0000:17:{i:02x}.0"] = bridge("downstream", 0, "0000:16:00.0", "pci0000:15", 12 + i, dict(ACS_OFF))
    devices[NIC] = device("0x15b3", "0x1021", "0x020000", "mlx5_core", "0000:17:00.0", 20, links=[LINK], rdma=[RDMA], vfs=0, acs=None, bar_max_bytes=1 << 25)
    for i, bdf in enumerate(GPUS if gpus else ()):
        devices[bdf] = device("0x10de", "0x2330", "0x030200", "nvidia", f"0000:17:{i + 1:02x}.0", 21 + i, bar_max_bytes=1 << 37)
    for i in range(2):
        devices[f"0000:02:00.{i}"] = {"vendor": "0x8086", "device": "0x1521", "class": "0x020000", "driver": "igb", "numa_node": 0, "parent": None, "root": "pci0000:00",
                                      "iommu_group": 40 + i, "iommu_type": "identity", "links": [f"eno{i + 1}"], "rdma": []}
    return devices


def link(last):
    mac = f"00:00:5e:00:53:{0x80 + last:02x}"
    dcb = {"dcbx": {"host": True, "lld_managed": False, "cee": False, "ieee": True, "static": False},
           "ets": {"willing": False, "max_tcs": 8, "cbs": False, "tc_tx_bw": [50, 0, 0, 50, 0, 0, 0, 0], "tc_tsa": ["ets"] * 8, "prio_tc": [0, 1, 2, 3, 4, 5, 6, 7]},
           "pfc": {"max_tcs": 8, "enabled": [3], "mbc": False, "delay": 0, "requests": [0] * 8, "indications": [0] * 8},
           "app": [{"selector": 5, "protocol": 24, "priority": 3}], "dscp": {"24": 3}}
    return {"index": 4, "mtu": 9000, "min_mtu": 68, "max_mtu": 9978, "mac": mac, "permanent_mac": mac, "kind": "", "parent_bus": "pci", "parent_device": NIC,
            "up": True, "carrier": True, "operstate": "up", "alternative_names": [],
            "addresses": [{"family": "ipv4", "address": f"198.51.100.{last}", "prefix": 24, "scope": "global", "flags": ["permanent"]}],
            "statistics": {"rx_bytes": 0, "tx_bytes": 0, "rx_packets": 0, "tx_packets": 0, "rx_errors": 0, "tx_errors": 0, "rx_dropped": 0, "tx_dropped": 0}, "vfs": 0,
            "ethtool": {"driver": "mlx5_core", "driver_version": KERNEL, "firmware": "28.43.2026 (MT_0000000838)", "bus_info": NIC, "speed_mbps": SPEED_MBPS,
                        "duplex": "full", "autoneg": True, "link": True, "pause": {"autoneg": False, "rx": False, "tx": False}, "private_flags": {},
                        "statistics": {"rx_pause_ctrl_phy": 0, "tx_pause_ctrl_phy": 0, "rx_discards_phy": 0, "rx_out_of_buffer": 0}},
            "dcb": dcb}


HW_COUNTERS = ["out_of_sequence", "out_of_buffer", "packet_seq_err", "rnr_nak_retry_err", "local_ack_timeout_err", "implied_nak_seq_err", "np_cnp_sent", "rp_cnp_handled",
               "np_ecn_marked_roce_packets", "rx_icrc_encapsulated", "roce_adp_retrans", "roce_slow_restart"]


def rdma_device(last):
    port = {"state": "ACTIVE", "physical_state": "LINK_UP", "link": LINK, "link_layer": "Ethernet", "active_mtu": 4096, "max_mtu": 4096, "speed_gbps": 400.0,
            "gids": [{"index": i, "gid": gid, "type": kind, "link": LINK}
                     for i, (gid, kind) in enumerate((g, k) for g in ("fe80:0000:0000:0000:0200:5eff:fe00:5380", gid_of(f"198.51.100.{last}"))
                                                     for k in ("IB/RoCE v1", "RoCE v2"))],
            "counters": {"port_rcv_errors": 0, "port_xmit_discards": 0}, "hw_counters": {name: 0 for name in HW_COUNTERS}}
    guid = f"0200:5eff:fe00:53{0x80 + last:02x}"
    return {"index": 0, "firmware": "28.43.2026", "node_guid": guid, "sys_image_guid": guid, "node_type": "ca", "protocol": "roce", "parent_device": NIC, "driver": "mlx5_ib",
            "uverbs": "uverbs0", "abi_version": 1, "ports": {"1": port}, "resources": {"qp": 1, "cq": 2, "mr": 0, "pd": 1, "cm_id": 0},
            "capabilities": {"max_mr_size": (1 << 64) // 2 - 1, "max_qp": 131072, "max_sge": 30, "atomic": "HCA", "page_size_cap": 4294963200},
            "cm": {"1": {"default_roce_tos": 96, "default_roce_mode": "RoCE v2"}}}


def node(hostname, last, gpus):
    out = {
        "schema": "railhead.snapshot/1", "railhead": "handmade", "taken": {"realtime": "2026-01-01T00:00:00Z", "boottime_ns": 3600 * 10**9},
        "source": {"kind": "handmade", "note": NOTE}, "node": {"hostname": hostname, "boot_id": "00000000-0000-4000-8000-000000000000", "machine": "x86_64"}, "gaps": [],
        "os": {
            "release": {"id": "rhel", "version_id": "10.2", "name": "Red Hat Enterprise Linux", "pretty_name": "Red Hat Enterprise Linux 10.2 (Coughlan)"},
            "kernel": {"release": KERNEL, "version": "#1 SMP PREEMPT_DYNAMIC", "cmdline": "ro iommu=pt", "tainted": 12288,
                       "config": {"CONFIG_PCI_P2PDMA": "y", "CONFIG_DMA_SHARED_BUFFER": "y", "CONFIG_INFINIBAND": "m", "CONFIG_MLX5_INFINIBAND": "m", "CONFIG_DCB": "y"},
                       "headers": True, "installed": [KERNEL]},
            "memlock": {"self": {**MEMLOCK, "cap_ipc_lock": True}, "services": {"containerd": {**MEMLOCK, "pid": 2001}}},
            "modules": modules(gpus), "packages": {"rdma-core": ["60.0-1.el10"]}, "log": {"readable": True, "lines": []},
            "iommu": {"groups": 32, "types": ["identity"]},
            "sysctl": {"net.ipv4.conf.all.arp_ignore": "1", "net.ipv4.conf.all.arp_announce": "2", "net.ipv4.conf.all.rp_filter": "2"},
        },
        "pci": {"devices": pci(gpus), "auxiliary": {"mlx5_core.rdma.0": {"parent": NIC, "driver": "mlx5_ib.rdma"}}},
        "links": {**mgmt_links(0x30 + last, f"192.0.2.{last}"), LINK: link(last)},
        "routes": [{"family": "ipv4", "destination": "198.51.100.0/24", "link": LINK, "source": f"198.51.100.{last}", "metric": 100, "table": "main", "type": "unicast",
                    "scope": "link"}],
        "devlink": {"pci": {NIC: {"driver": "mlx5_core", "versions": {"fixed": {"fw.psid": "MT_0000000838"}, "running": {"fw.version": "28.43.2026", "fw": "28.43.2026"},
                                                                      "stored": {"fw.version": "28.43.2026", "fw": "28.43.2026"}}, "parameters": {}}}},
        "rdma": {"netlink": True, "netns_mode": "shared", "devices": {RDMA: rdma_device(last)}, "chardev": chardev(["rdma_cm", "uverbs0", "umad0"])},
        "userspace": {"rdma_core": "60.0", "providers": ["bnxt_re", "irdma", "mlx5", "rxe"], "warnings": [], "opened": [RDMA], "failed": {}},
    }
    if gpus:
        out["gpu"] = {
            "driver": {"loaded": True, "version": DRIVER, "open": True,
                       "text": f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {DRIVER}  Release Build", "parameters": {"DmaRemapPeerMmio": "1"}},
            "nvml": {"status": "ok", "library_version": DRIVER, "driver_version": DRIVER, "library_path": f"/usr/lib64/libnvidia-ml.so.{DRIVER}", "double": False},
            "devices": {bdf: {"model": "NVIDIA H100 80GB HBM3", "uuid": f"GPU-00000000-0000-4000-8000-{i:012x}", "firmware": DRIVER, "minor": i,
                              "bar1_total_bytes": 1 << 37, "bar1_used_bytes": 1 << 20, "ecc": True, "persistence": True,
                              "pcie": {"generation": 5, "width": 16, "max_generation": 5, "max_width": 16}} for i, bdf in enumerate(GPUS)},
        }
    return out
