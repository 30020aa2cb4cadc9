# SPDX-License-Identifier: Apache-2.0
"""Nodes with one two-port E810 at 0000:1b:00: a GPU node with eight B300, and a storage node.

Two rails without a bond as node() gives it; bonded() puts both ports into bond1, as in-tree ice leaves it or as the
out-of-tree pair with the LAG DDP package does.
"""

KERNEL = "6.12.0-211.7.1.el10_2.x86_64"  # form of RHEL 10.2 kernels; this build number is made up
NIC_NOTE = (
    "hand-made: E810-C (8086:1592) as in the Linux ice driver's documentation and Intel's RDMA guide 635330; "
    "in-tree ice and irdma of RHEL 10; hw_counters names of mainline before the GEN3 series"
)
GPU_NOTE = "HGX B300: 10de:3182 and driver texts from open-gpu-kernel-modules; PCIe tree made up (4 switches, 2 sockets)"

MEMLOCK = {"soft_bytes": -1, "hard_bytes": -1}
E810_SPEED_MBPS = 100000


def module(path, version=None, in_tree=True, license="GPL v2", **more):
    out = {"loaded": True, "builtin": False, "taint": "" if in_tree else "OE", "refcount": 1, "parameters": {}, "in_tree": in_tree,
           "blacklisted": False,
           "file": {"path": f"/lib/modules/{KERNEL}/{path}", "license": license, "vermagic": f"{KERNEL} SMP preempt mod_unload modversions",
                    "parameters": []}}
    if version:
        out["version"] = version
        out["file"]["version"] = version
    out.update(more)
    return out


def modules():
    base = "kernel/drivers"
    return {
        "ice": module(f"{base}/net/ethernet/intel/ice/ice.ko.xz"),
        "irdma": module(f"{base}/infiniband/hw/irdma/irdma.ko.xz", license="Dual BSD/GPL"),
        "ib_core": module(f"{base}/infiniband/core/ib_core.ko.xz", license="Dual BSD/GPL"),
        "ib_uverbs": module(f"{base}/infiniband/core/ib_uverbs.ko.xz", license="Dual BSD/GPL"),
        "rdma_cm": module(f"{base}/infiniband/core/rdma_cm.ko.xz", license="Dual BSD/GPL"),
        "rdma_ucm": module(f"{base}/infiniband/core/rdma_ucm.ko.xz", license="Dual BSD/GPL"),
        "bonding": module(f"{base}/net/bonding/bonding.ko.xz"),
        "nvidia_peermem": {"loaded": False, "blacklisted": False, "file": None},
    }


def nvidia_modules():
    out = {}
    for name in ("nvidia", "nvidia_uvm"):
        out[name] = module(f"extra/nvidia/{name}.ko.xz", version="595.91.07", in_tree=False, license="Dual MIT/GPL")
    return out


def os_section():
    return {
        "release": {"id": "rhel", "version_id": "10.2", "name": "Red Hat Enterprise Linux", "pretty_name": "Red Hat Enterprise Linux 10.2 (Coughlan)"},
        "kernel": {"release": KERNEL, "version": "#1 SMP PREEMPT_DYNAMIC", "cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=0 ro intel_iommu=on iommu=pt", "tainted": 12288,
                   "config": {"CONFIG_PCI_P2PDMA": "y", "CONFIG_DMA_SHARED_BUFFER": "y", "CONFIG_INFINIBAND": "m", "CONFIG_INFINIBAND_USER_ACCESS": "m",
                              "CONFIG_INFINIBAND_IRDMA": "m", "CONFIG_MLX5_INFINIBAND": "m", "CONFIG_DCB": "y", "CONFIG_UDMABUF": "y"},
                   "headers": True, "installed": [KERNEL]},
        "memlock": {"self": {**MEMLOCK, "cap_ipc_lock": True}, "services": {"containerd": {**MEMLOCK, "pid": 2001}, "kubelet": {**MEMLOCK, "pid": 2101}}},
        "modules": modules(),
        "packages": {"rdma-core": ["60.0-1.el10"], "linux-firmware": ["20260601-1.el10"]},
        "log": {"readable": True, "lines": []},
        "iommu": {"groups": 64, "types": ["identity"]},
        "sysctl": {"net.ipv4.conf.all.arp_ignore": "1", "net.ipv4.conf.all.arp_announce": "2", "net.ipv4.conf.all.rp_filter": "2"},
    }


def pci_device(vendor, device, klass, driver, numa, parent, root, group, **more):
    return {"vendor": vendor, "device": device, "subsystem_vendor": vendor, "subsystem_device": "0x0002", "class": klass, "driver": driver,
            "numa_node": numa, "parent": parent, "root": root, "iommu_group": group, "iommu_type": "identity", **more}


ACS_OFF = {"cap": "0x005f", "ctrl": "0x0000", "source_validation": False, "translation_blocking": False, "request_redirect": False,
           "completion_redirect": False, "upstream_forwarding": False, "egress_control": False, "direct_translated": False}


def bridge(port_type, numa, parent, root, group, acs=None):
    out = pci_device("0x1000", "0xc030", "0x060400", "pcieport", numa, parent, root, group, port_type=port_type,
                     link={"speed_gts": 32.0, "width": 16, "max_speed_gts": 32.0, "max_width": 16})
    out["acs"] = acs
    return out


def switch(devices, number, bus, numa, below):
    """A root port with one PCIe switch: `below` are (BDF, device) pairs, one downstream port each."""
    root = f"pci0000:{bus:02x}"
    port = f"0000:{bus:02x}:01.0"
    upstream = f"0000:{bus + 1:02x}:00.0"
    group = number * 16
    devices[port] = bridge("root_port", numa, None, root, group, dict(ACS_OFF))
    devices[upstream] = bridge("upstream", numa, port, root, group + 1, None)
    for i, (functions, make) in enumerate(below):
        downstream = f"0000:{bus + 2:02x}:{i:02x}.0"
        devices[downstream] = bridge("downstream", numa, upstream, root, group + 2 + i, dict(ACS_OFF))
        for k, bdf in enumerate(functions):
            devices[bdf] = make(bdf, numa, downstream, root, group + 6 + 2 * i + k)


def b300(bdf, numa, parent, root, group):
    return pci_device("0x10de", "0x3182", "0x030200", "nvidia", numa, parent, root, group, bar_max_bytes=1 << 39,
                      link={"speed_gts": 64.0, "width": 16, "max_speed_gts": 64.0, "max_width": 16})


def e810(names):
    def make(bdf, numa, parent, root, group):
        name, rdma = names[bdf]
        return pci_device("0x8086", "0x1592", "0x020000", "ice", numa, parent, root, group, links=[name], rdma=[rdma], vfs=0, acs=dict(ACS_OFF),
                          link={"speed_gts": 16.0, "width": 16, "max_speed_gts": 16.0, "max_width": 16}, bar_max_bytes=1 << 25)
    return make


def dcb():
    return {
        "dcbx": {"host": True, "lld_managed": False, "cee": False, "ieee": True, "static": False},
        "ets": {"willing": False, "max_tcs": 8, "cbs": False, "tc_tx_bw": [50, 0, 0, 50, 0, 0, 0, 0], "tc_tsa": ["ets"] * 8, "prio_tc": [0, 1, 2, 3, 4, 5, 6, 7]},
        "pfc": {"max_tcs": 8, "enabled": [3], "mbc": False, "delay": 0, "requests": [0] * 8, "indications": [0] * 8},
        "app": [{"selector": 5, "protocol": 24, "priority": 3}],
        "dscp": {"24": 3},
    }


def ethtool(bdf):
    statistics = {f"{d}_priority_{p}_{x}.nic": 0 for d in ("tx", "rx") for p in range(8) for x in ("xon", "xoff")}
    statistics.update({"link_xon_rx.nic": 0, "link_xon_tx.nic": 0, "link_xoff_rx.nic": 0, "link_xoff_tx.nic": 0, "rx_dropped.nic": 0,
                       "rx_crc_errors.nic": 0, "tx_dropped_link_down.nic": 0})
    return {"driver": "ice", "driver_version": KERNEL, "firmware": "4.91 0x800214b4 1.3909.0", "bus_info": bdf, "speed_mbps": E810_SPEED_MBPS, "duplex": "full",
            "autoneg": True, "link": True, "fec": {"active": "RS", "configured": ["RS"]}, "pause": {"autoneg": False, "rx": False, "tx": False},
            "private_flags": {"link-down-on-close": False, "fw-lldp-agent": False, "vf-true-promisc-support": False, "mdd-auto-reset-vf": False, "legacy-rx": False},
            "statistics": statistics}


def e810_link(index, name, bdf, mac, address):
    return {"index": index, "mtu": 9000, "min_mtu": 68, "max_mtu": 9702, "mac": mac, "permanent_mac": mac, "kind": "", "parent_bus": "pci", "parent_device": bdf,
            "up": True, "carrier": True, "operstate": "up", "alternative_names": [],
            "addresses": [{"family": "ipv4", "address": address, "prefix": 24, "scope": "global", "flags": ["permanent"]}],
            "statistics": {k: 0 for k in ("rx_bytes", "tx_bytes", "rx_packets", "tx_packets", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped")},
            "vfs": 0, "ethtool": ethtool(bdf), "dcb": dcb()}


def mgmt_links(first, addresses):
    """bond0 over two ports of an on-board NIC; active-backup, so no LACP partner is needed."""
    out = {}
    for i in range(2):
        mac = f"00:00:5e:00:53:{first + i:02x}"
        out[f"eno{i + 1}"] = {"index": 2 + i, "mtu": 1500, "min_mtu": 68, "max_mtu": 9710, "mac": f"00:00:5e:00:53:{first:02x}", "permanent_mac": mac, "kind": "",
                              "parent_bus": "pci", "parent_device": f"0000:02:00.{i}", "up": True, "carrier": True, "operstate": "up", "master": "bond0",
                              "addresses": [], "bond_port": {"state": "active" if i == 0 else "backup", "mii": "up", "failures": 0, "permanent_mac": mac},
                              "ethtool": {"driver": "igb", "speed_mbps": 1000, "duplex": "full", "autoneg": True, "link": True}}
    out["bond0"] = {"index": 6, "mtu": 1500, "mac": f"00:00:5e:00:53:{first:02x}", "kind": "bond", "up": True, "carrier": True, "operstate": "up",
                    "addresses": [{"family": "ipv4", "address": addresses, "prefix": 24, "scope": "global", "flags": ["permanent"]}],
                    "bond": {"mode": "active-backup", "miimon_ms": 100, "lacp_active": True, "xmit_hash_policy": "layer2", "min_links": 0, "active_port": "eno1"}}
    return out


HW_COUNTERS = ["ip4InDiscards", "ip4InTruncatedPkts", "ip4OutNoRoutes", "ip6InDiscards", "ip6InTruncatedPkts", "ip6OutNoRoutes", "rxVlanErrors", "ip4InOctets",
               "ip4InPkts", "ip4OutOctets", "ip4OutPkts", "iwInRdmaReads", "iwInRdmaSends", "iwInRdmaWrites", "iwOutRdmaReads", "iwOutRdmaSends", "iwOutRdmaWrites",
               "iwRdmaBnd", "iwRdmaInv", "tcpRetransSegs", "tcpInOptErrors", "tcpInProtoErrors", "tcpInSegs", "tcpOutSegs", "cnpHandled", "cnpIgnored", "cnpSent",
               "RxUDP", "TxUDP", "RxECNMrkd"]


def gid_of(address):
    a, b, c, d = (int(x) for x in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


def rdma_device(index, bdf, link, address, guid):
    return {"index": index, "firmware": "1.71", "node_guid": guid, "sys_image_guid": guid, "node_type": "ca", "protocol": "roce", "parent_device": bdf, "driver": "irdma",
            "uverbs": f"uverbs{index}", "abi_version": 5,
            "ports": {"1": {"state": "ACTIVE", "physical_state": "LINK_UP", "link": link, "link_layer": "Ethernet", "active_mtu": 4096, "max_mtu": 4096, "speed_gbps": 100.0,
                            "gids": [{"index": 0, "gid": "fe80:0000:0000:0000:0200:5eff:fe00:5300", "type": "RoCE v2", "link": link},
                                     {"index": 1, "gid": gid_of(address), "type": "RoCE v2", "link": link}],
                            "counters": {}, "hw_counters": {name: 0 for name in HW_COUNTERS}}},
            "resources": {"qp": 1, "cq": 2, "mr": 0, "pd": 1, "cm_id": 0},
            "capabilities": {"max_mr_size": (1 << 64) // 2 - 1, "max_qp": 65533, "max_sge": 13, "atomic": "NONE", "page_size_cap": 1075838976},
            "cm": {"1": {"default_roce_tos": 96, "default_roce_mode": "RoCE v2"}}}


def chardev(names):
    return {name: {"present": True, "mode": "0666", "usable": True} for name in names}


def devlink(serial):
    versions = {"fixed": {"board.id": "K72181-004"}, "running": {"fw.mgmt": "7.9.1", "fw.mgmt.api": "1.7.11", "fw.undi": "1.3909.0", "fw.bundle_id": "0x800214b4",
                "fw.app.name": "ICE OS Default Package", "fw.app": "1.3.43.0", "fw.app.bundle_id": "0xc0000001"}, "stored": {"fw.bundle_id": "0x800214b4"}}
    return {"driver": "ice", "serial": serial, "versions": versions,
            "parameters": {"enable_roce": {"generic": True, "values": {"runtime": True}}, "enable_iwarp": {"generic": True, "values": {"runtime": False}}}}


def node(hostname, note, last, gpus):
    devices = {}
    ports = {"0000:1b:00.0": ("ens1f0", "rocep27s0f0"), "0000:1b:00.1": ("ens1f1", "rocep27s0f1")}
    gpu_list = []
    if gpus:
        below = [([f"0000:{b:02x}:00.0"], b300) for b in (0x1c, 0x1d)]
        switch(devices, 1, 0x15, 0, [(list(ports), e810(ports)), *below])
        gpu_list += ["0000:1c:00.0", "0000:1d:00.0"]
        for number, (bus, numa) in enumerate(((0x3a, 0), (0x9a, 1), (0xba, 1)), 2):
            pair = [f"0000:{bus + 3:02x}:00.0", f"0000:{bus + 4:02x}:00.0"]
            switch(devices, number, bus, numa, [([bdf], b300) for bdf in pair])
            gpu_list += pair
    else:
        devices["0000:15:01.0"] = bridge("root_port", 0, None, "pci0000:15", 16, dict(ACS_OFF))
        for i, bdf in enumerate(ports):
            devices[bdf] = e810(ports)(bdf, 0, "0000:15:01.0", "pci0000:15", 17 + i)
    for i in range(2):
        devices[f"0000:02:00.{i}"] = pci_device("0x8086", "0x1521", "0x020000", "igb", 0, None, "pci0000:00", 200 + i, links=[f"eno{i + 1}"])
    addresses = {"ens1f0": f"198.51.100.{last}", "ens1f1": f"203.0.113.{last}"}
    links = mgmt_links(0x10 + last, f"192.0.2.{last}")
    rdma = {}
    for i, (bdf, (name, device)) in enumerate(ports.items()):
        links[name] = e810_link(4 + i, name, bdf, f"00:00:5e:00:53:{0x40 + last + i:02x}", addresses[name])
        rdma[device] = rdma_device(i, bdf, name, addresses[name], f"0200:5eff:fe00:53{0x40 + last + i:02x}")
    links["lo"] = {"index": 1, "mtu": 65536, "kind": "", "up": True, "carrier": True, "operstate": "unknown", "mac": "00:00:00:00:00:00",
                   "addresses": [{"family": "ipv4", "address": "127.0.0.1", "prefix": 8, "scope": "host", "flags": ["permanent"]}]}
    out = {
        "schema": "railhead.snapshot/1", "railhead": "handmade", "taken": {"realtime": "2026-01-01T00:00:00Z", "boottime_ns": 3600 * 10**9},
        "source": {"kind": "handmade", "note": note},
        "node": {"hostname": hostname, "boot_id": "00000000-0000-4000-8000-000000000000", "machine": "x86_64"},
        "gaps": [],
        "os": os_section(),
        "pci": {"devices": devices, "auxiliary": {f"ice.roce.{i}": {"parent": bdf, "driver": "irdma"} for i, bdf in enumerate(ports)}},
        "links": links,
        "routes": [{"family": "ipv4", "destination": "default", "gateway": "192.0.2.1", "link": "bond0", "metric": 300, "table": "main", "type": "unicast", "scope": "global"}]
        + [{"family": "ipv4", "destination": d, "link": link, "source": s, "metric": 100, "table": "main", "type": "unicast", "scope": "link"}
           for d, link, s in (("192.0.2.0/24", "bond0", f"192.0.2.{last}"), ("198.51.100.0/24", "ens1f0", addresses["ens1f0"]),
                              ("203.0.113.0/24", "ens1f1", addresses["ens1f1"]))],
        "devlink": {"pci": {bdf: devlink(f"00-00-5e-ff-ff-00-53-{last + i:02x}") for i, bdf in enumerate(ports)}},
        "rdma": {"netlink": True, "netns_mode": "shared", "devices": rdma, "chardev": chardev(["rdma_cm", "uverbs0", "uverbs1", "umad0", "umad1"])},
        "userspace": {"rdma_core": "60.0", "providers": ["bnxt_re", "efa", "irdma", "mlx5", "rxe"], "warnings": [], "opened": list(rdma), "failed": {}},
    }
    if gpus:
        out["os"]["modules"].update(nvidia_modules())
        out["os"]["packages"]["kmod-nvidia-open"] = ["595.91.07-1.el10"]
        out["gpu"] = {
            "driver": {"loaded": True, "version": "595.91.07", "open": True,
                       "text": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  595.91.07  Release Build  (dvs-builder@U22-I3-AF03-24-4)",
                       "parameters": {"DmaRemapPeerMmio": "1", "GrdmaPciTopoCheckOverride": "0", "CoherentGPUMemoryMode": "driver"}},
            "nvml": {"status": "ok", "library_version": "595.91.07", "driver_version": "595.91.07", "library_path": "/usr/lib64/libnvidia-ml.so.595.91.07", "double": False},
            "devices": {bdf: {"model": "NVIDIA B300 SXM6 AC", "uuid": f"GPU-00000000-0000-4000-8000-{i:012x}", "firmware": "595.91.07", "minor": i,
                              "bar1_total_bytes": 1 << 39, "bar1_used_bytes": 1 << 20, "ecc": True, "persistence": True,
                              "pcie": {"generation": 6, "width": 16, "max_generation": 6, "max_width": 16}} for i, bdf in enumerate(gpu_list)},
        }
    return out


LACP_WORKING = 63  # activity, short timeout, aggregation, synchronization, collecting, distributing
AGGREGATOR = {"id": 1, "ports": 2, "actor_key": 29, "partner_key": 3, "partner_mac": "00:00:5e:00:53:fe"}


def bond_port(mac):
    return {"state": "active", "mii": "up", "failures": 0, "permanent_mac": mac, "aggregator_id": 1, "actor_state": LACP_WORKING, "partner_state": LACP_WORKING,
            "actor_churn": "none", "partner_churn": "none", "actor_churned_count": 0, "partner_churned_count": 0, "speed_mbps": E810_SPEED_MBPS, "duplex": "full",
            "partner_mac": AGGREGATOR["partner_mac"], "actor_key": AGGREGATOR["actor_key"], "partner_key": AGGREGATOR["partner_key"]}


def bonded(document, out_of_tree):
    """Both ports into bond1. In-tree ice takes the RDMA device of both away; the out-of-tree pair leaves the first port's."""
    links, ports = document["links"], ("ens1f0", "ens1f1")
    address = links[ports[0]]["addresses"][0]
    for name in ports:
        link = links[name]
        link.update(master="bond1", addresses=[], mac=links[ports[0]]["permanent_mac"], bond_port=bond_port(link["permanent_mac"]))
    links["bond1"] = {"index": 9, "mtu": 9000, "mac": links[ports[0]]["permanent_mac"], "kind": "bond", "up": True, "carrier": True, "operstate": "up",
                      "addresses": [address],
                      "bond": {"mode": "802.3ad", "miimon_ms": 100, "lacp_rate": "fast", "lacp_active": True, "xmit_hash_policy": "layer3+4", "ad_select": "stable",
                               "min_links": 0, "aggregator": dict(AGGREGATOR)}}
    document["routes"] = [r for r in document["routes"] if r["link"] != ports[1]]
    for route in document["routes"]:
        if route["link"] == ports[0]:
            route["link"] = "bond1"
    keep = "rocep27s0f0" if out_of_tree else None
    document["rdma"]["devices"] = {n: d for n, d in document["rdma"]["devices"].items() if n == keep}
    for device in document["rdma"]["devices"].values():
        for gid in device["ports"]["1"]["gids"]:
            gid["link"] = "bond1"
    document["pci"]["auxiliary"] = {n: a for n, a in document["pci"]["auxiliary"].items() if out_of_tree and n == "ice.roce.0"}
    for name in ports:
        device = document["pci"]["devices"][links[name]["parent_device"]]
        device["rdma"] = [n for n in device["rdma"] if n == keep]
    left = ["rdma_cm", "uverbs0", "umad0"] if out_of_tree else ["rdma_cm"]
    document["rdma"]["chardev"] = chardev(left)
    document["userspace"]["opened"] = [keep] if keep else []
    document["source"]["note"] += "; bonding states of drivers/net/bonding, keys and MACs made up"
    if out_of_tree:
        document["os"]["modules"].update(
            ice=module("updates/drivers/net/ethernet/intel/ice/ice.ko", version="2.6.6", in_tree=False),
            irdma=module("updates/drivers/infiniband/hw/irdma/irdma.ko", version="1.17.11", in_tree=False, license="Dual BSD/GPL"))
        document["os"]["modules"]["irdma"]["file"]["parameters"] = ["roce_ena", "limits_sel", "dcqcn_enable"]
        document["os"]["modules"]["irdma"]["parameters"] = {"roce_ena": "1"}
        for device in document["devlink"]["pci"].values():
            device["versions"]["running"].update({"fw.app.name": "ICE LAG Package", "fw.app": "1.3.1.0"})
        document["source"]["note"] += "; conditions of RDMA over a bond: README 2.6.6 of intel/ethernet-linux-ice (irdma version and DDP name made up)"
    return document
