# SPDX-License-Identifier: Apache-2.0
"""Writes the files of sysfs and procfs from which a snapshot's facts would have come.

The other way round as src/observe, written apart from it: a tree made of a snapshot, observed with --root, must give the
same facts again. Only what is read from files is written; netlink, ioctls and probes are not answered below a root.
"""

import struct
from pathlib import Path

ACS_BITS = ("source_validation", "translation_blocking", "request_redirect", "completion_redirect", "upstream_forwarding",
            "egress_control", "direct_translated")
# Device/port type of the PCI Express Capabilities Register
PORT_TYPES = {"root_port": 4, "upstream": 5, "downstream": 6, "pcie_to_pci": 7}
STATES = {"DOWN": 1, "INIT": 2, "ARMED": 3, "ACTIVE": 4}
PHYSICAL_STATES = {"SLEEP": (1, "Sleep"), "POLLING": (2, "Polling"), "DISABLED": (3, "Disabled"), "LINK_UP": (5, "LinkUp")}
NODE_TYPES = {"ca": "1: CA", "rnic": "4: RNIC"}


class Tree:
    def __init__(self, root):
        self.root = Path(root)

    def place(self, path):
        whole = self.root / path.lstrip("/")
        whole.parent.mkdir(parents=True, exist_ok=True)
        return whole

    def file(self, path, value):
        self.place(path).write_text(f"{value}\n")

    def bytes(self, path, value):
        self.place(path).write_bytes(value)

    def folder(self, path):
        (self.root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def link(self, path, target):
        self.place(path).symlink_to(target)


def config_space(device):
    """4096 bytes: the header, a PCI Express capability, and ACS behind another extended capability."""
    b = bytearray(4096)
    bridge = device["class"] == "0x060400"
    struct.pack_into("<HH", b, 0, int(device["vendor"], 16), int(device["device"], 16))
    b[0x06] = 0x10  # status: capability list
    b[0x0E] = 0x01 if bridge else 0x80 if "acs" in device else 0x00
    b[0x34] = 0x40
    b[0x40:0x42] = bytes([0x01, 0x70])
    b[0x70:0x72] = bytes([0x10, 0x00])
    struct.pack_into("<H", b, 0x72, 2 | PORT_TYPES.get(device.get("port_type"), 0) << 4)
    struct.pack_into("<I", b, 0x100, 0x0001 | 1 << 16 | (0x148 if device.get("acs") else 0) << 20)
    if device.get("acs"):
        ctrl = sum(1 << i for i, bit in enumerate(ACS_BITS) if device["acs"][bit])
        struct.pack_into("<IHH", b, 0x148, 0x000D | 1 << 16, int(device["acs"]["cap"], 16), ctrl)
    return bytes(b)


def device_places(devices):
    """BDF -> "pci0000:15/0000:15:01.0/…", the way below /sys/devices."""

    def place(bdf):
        parent = devices[bdf]["parent"]
        return (place(parent) if parent else devices[bdf]["root"]) + "/" + bdf

    return {bdf: place(bdf) for bdf in devices}


def pci(t, snapshot):
    devices = snapshot["pci"]["devices"]
    places = device_places(devices)
    for bdf, d in devices.items():
        at = f"/sys/devices/{places[bdf]}"
        up = "../" * (places[bdf].count("/") + 2)
        t.link(f"/sys/bus/pci/devices/{bdf}", f"../../../devices/{places[bdf]}")
        for name in ("vendor", "device", "subsystem_vendor", "subsystem_device", "class", "numa_node"):
            if name in d:
                t.file(f"{at}/{name}", d[name])
        if d["driver"]:
            t.link(f"{at}/driver", f"{up}bus/pci/drivers/{d['driver']}")
        if "iommu_group" in d:
            t.link(f"{at}/iommu_group", f"{up}kernel/iommu_groups/{d['iommu_group']}")
            t.place(f"/sys/kernel/iommu_groups/{d['iommu_group']}/type").write_text(d["iommu_type"] + "\n")
        link = d.get("link", {})
        for name, key in (("current_link_speed", "speed_gts"), ("max_link_speed", "max_speed_gts")):
            if key in link:
                t.file(f"{at}/{name}", f"{link[key]} GT/s PCIe")
        for name, key in (("current_link_width", "width"), ("max_link_width", "max_width")):
            if key in link:
                t.file(f"{at}/{name}", link[key])
        if "physfn" in d:
            t.link(f"{at}/physfn", f"../{d['physfn']}")
        else:
            t.bytes(f"{at}/config", config_space(d))
        if "vfs" in d:
            t.file(f"{at}/sriov_numvfs", d["vfs"])
        start = 0x380000000000
        end = start + d.get("bar_max_bytes", 0) - 1
        bars = [f"0x{start:016x} 0x{end:016x} 0x{0x14220C:016x}" if "bar_max_bytes" in d else "0x0 0x0 0x0"]
        t.file(f"{at}/resource", "\n".join(bars + [f"0x{0:016x} 0x{0:016x} 0x{0:016x}"] * 12))
        for name in d.get("links", []):
            t.folder(f"{at}/net/{name}")
            t.link(f"/sys/class/net/{name}", f"../../devices/{places[bdf]}/net/{name}")
        for name in d.get("rdma", []):
            t.link(f"/sys/class/infiniband/{name}", f"../../devices/{places[bdf]}/infiniband/{name}")
            t.folder(f"{at}/infiniband/{name}")
            t.link(f"{at}/infiniband/{name}/device", f"../../../{bdf}")
    t.folder("/sys/bus/auxiliary/devices")
    for name, a in snapshot["pci"].get("auxiliary", {}).items():
        at = f"{places[a['parent']]}/{name}"
        t.folder(f"/sys/devices/{at}")
        t.link(f"/sys/bus/auxiliary/devices/{name}", f"../../../devices/{at}")
        if a["driver"]:
            t.link(f"/sys/devices/{at}/driver", "../" * (at.count("/") + 2) + f"bus/auxiliary/drivers/{a['driver']}")
    # groups of devices that the snapshot does not keep
    groups = t.root / "sys/kernel/iommu_groups"
    missing = snapshot["os"]["iommu"]["groups"] - len(list(groups.iterdir()) if groups.is_dir() else [])
    for i in range(missing):
        t.file(f"/sys/kernel/iommu_groups/{1000 + i}/type", snapshot["os"]["iommu"]["types"][0])


def rdma(t, snapshot):
    t.folder("/sys/class/infiniband")
    for name, d in snapshot["rdma"]["devices"].items():
        at = f"/sys/class/infiniband/{name}"
        t.file(f"{at}/node_type", NODE_TYPES[d["node_type"]])
        t.file(f"{at}/node_guid", d["node_guid"])
        t.file(f"{at}/sys_image_guid", d["sys_image_guid"])
        t.file(f"{at}/fw_ver", d["firmware"])
        t.file(f"/sys/class/infiniband_verbs/{d['uverbs']}/ibdev", name)
        t.file(f"/sys/class/infiniband_verbs/{d['uverbs']}/abi_version", d["abi_version"])
        for number, p in d["ports"].items():
            port = f"{at}/ports/{number}"
            t.file(f"{port}/state", f"{STATES[p['state']]}: {p['state']}")
            t.file(f"{port}/phys_state", "%d: %s" % PHYSICAL_STATES[p["physical_state"]])
            t.file(f"{port}/link_layer", p["link_layer"])
            t.file(f"{port}/rate", f"{p['speed_gbps']:g} Gb/sec (4X EDR)")
            for index in range(32):
                t.file(f"{port}/gids/{index}", ":".join(["0000"] * 8))
            for gid in p["gids"]:
                t.file(f"{port}/gids/{gid['index']}", gid["gid"])
                t.file(f"{port}/gid_attrs/types/{gid['index']}", gid["type"])
                t.file(f"{port}/gid_attrs/ndevs/{gid['index']}", gid["link"])
            for folder in ("counters", "hw_counters"):
                if folder in p:
                    t.folder(f"{port}/{folder}")
                for counter, value in p.get(folder, {}).items():
                    t.file(f"{port}/{folder}/{counter}", value)
        t.folder("/sys/kernel/config/rdma_cm")
        for number, cm in (d.get("cm") or {}).items():
            for key, value in cm.items():
                t.file(f"/sys/kernel/config/rdma_cm/{name}/ports/{number}/{key}", value)


def node(t, snapshot):
    release = snapshot["os"]["kernel"]["release"]
    t.file("/etc/os-release", "\n".join(f'{k.upper()}="{v}"' for k, v in snapshot["os"]["release"].items()))
    t.file("/proc/sys/kernel/hostname", snapshot["node"]["hostname"])
    t.file("/proc/sys/kernel/random/boot_id", snapshot["node"]["boot_id"])
    t.file("/proc/sys/kernel/arch", snapshot["node"]["machine"])
    t.file("/proc/sys/kernel/osrelease", release)
    t.file("/proc/sys/kernel/version", snapshot["os"]["kernel"]["version"])
    t.file("/proc/sys/kernel/tainted", snapshot["os"]["kernel"]["tainted"])
    t.file("/proc/cmdline", snapshot["os"]["kernel"]["cmdline"])
    lines = [f"# {k} is not set" if v == "n" else f"{k}={v}" for k, v in snapshot["os"]["kernel"]["config"].items()]
    t.file(f"/boot/config-{release}", "\n".join(["# Linux kernel configuration", "CONFIG_64BIT=y"] + lines))
    for installed in snapshot["os"]["kernel"]["installed"]:
        t.folder(f"/lib/modules/{installed}")
    if snapshot["os"]["kernel"]["headers"]:
        t.folder(f"/usr/src/kernels/{release}")
        t.link(f"/lib/modules/{release}/build", f"../../../usr/src/kernels/{release}")
    for name, value in snapshot["os"].get("sysctl", {}).items():
        t.file("/proc/sys/" + name.replace(".", "/"), value)
    for name, module in snapshot["os"]["modules"].items():
        if module["loaded"] and not module.get("builtin"):
            t.file(f"/sys/module/{name}/initstate", "live")
            t.file(f"/sys/module/{name}/refcnt", module["refcount"])
            t.file(f"/sys/module/{name}/taint", module["taint"])
            if "version" in module:
                t.file(f"/sys/module/{name}/version", module["version"])
    for name, service in snapshot["os"]["memlock"]["services"].items():
        soft, hard = (("unlimited" if service[k] < 0 else service[k]) for k in ("soft_bytes", "hard_bytes"))
        t.file(f"/sys/fs/cgroup/system.slice/{name}.service/cgroup.procs", service["pid"])
        t.file(f"/proc/{service['pid']}/comm", name)
        t.file(f"/proc/{service['pid']}/limits", "Limit                     Soft Limit           Hard Limit           "
               f"Units     \nMax locked memory         {soft:<21}{hard:<21}bytes     ")


def userspace(t, snapshot):
    u = snapshot["userspace"]
    t.file(f"/usr/lib64/libibverbs.so.1.15.{u['rdma_core']}", "")
    t.link("/usr/lib64/libibverbs.so.1", f"libibverbs.so.1.15.{u['rdma_core']}")
    for name in u["providers"]:
        t.file(f"/usr/lib64/libibverbs/lib{name}-rdmav57.so", "")
        t.file(f"/etc/libibverbs.d/{name}.driver", f"driver {name}")


def gpu(t, snapshot):
    g = snapshot.get("gpu")
    if not g or not g["driver"]["loaded"]:
        return
    t.file("/proc/driver/nvidia/version", g["driver"]["text"] + "\nGCC version:  gcc version 14.2.1")
    t.file("/proc/driver/nvidia/params", "\n".join(f"{k}: {v}" for k, v in g["driver"]["parameters"].items()))
    for bdf, d in g["devices"].items():
        t.file(f"/proc/driver/nvidia/gpus/{bdf}/information",
               f"Model: \t\t {d['model']}\nIRQ:   \t\t 210\nGPU UUID: \t {d['uuid']}\nBus Type: \t PCIe\n"
               f"Bus Location: \t {bdf}\nDevice Minor: \t {d['minor']}\nGPU Firmware: \t {d['firmware']}")


def write(root, snapshot):
    t = Tree(root)
    for part in (node, pci, rdma, userspace, gpu):
        part(t, snapshot)
