# SPDX-License-Identifier: Apache-2.0
"""Other shapes of the ConnectX-7 nodes: two ports in one RoCE LAG, eight rails, a virtual machine.

How RoCE LAG shows itself is read in source: one device mlx5_bond_0 whose net device is a bond port and whose GIDs are the bond's
(drivers/infiniband/hw/mlx5/main.c, drivers/infiniband/core/roce_gid_mgmt.c). Not seen on hardware by this project.
"""

import copy

import mlx5
from e810 import gid_of

PORTS = ("ens2f0np0", "ens2f1np1")
RAILS = 8


def lag(document):
    """Both ports of the adapter in bond1, mode 802.3ad; one RDMA device."""
    second = mlx5.NIC[:-1] + "1"
    devices, links = document["pci"]["devices"], document["links"]
    plain, bdfs = links.pop(mlx5.LINK), (mlx5.NIC, second)
    addresses, plain["addresses"] = plain["addresses"], []
    plain["ethtool"]["speed_mbps"] = 200000
    devices[second] = copy.deepcopy(devices[mlx5.NIC])
    document["devlink"]["pci"][second] = copy.deepcopy(document["devlink"]["pci"][mlx5.NIC])
    bond_mac = plain["mac"]
    for i, (name, bdf) in enumerate(zip(PORTS, bdfs)):
        port = links[name] = copy.deepcopy(plain)
        port.update(index=4 + i, parent_device=bdf, master="bond1", permanent_mac=bond_mac[:-2] + f"{0xa0 + i:02x}")
        port["ethtool"]["bus_info"] = bdf
        port["bond_port"] = {"state": "active", "mii": "up", "failures": 0, "permanent_mac": port["permanent_mac"], "aggregator_id": 1, "actor_state": 63, "partner_state": 63}
        devices[bdf].update(links=[name], rdma=["mlx5_bond_0"] if i == 0 else [])
    links["bond1"] = {
        "index": 9, "mtu": 9000, "mac": bond_mac, "kind": "bond", "up": True, "carrier": True, "operstate": "up", "alternative_names": [], "addresses": addresses,
        "bond": {"mode": "802.3ad", "miimon_ms": 100, "lacp_rate": "fast", "lacp_active": True, "xmit_hash_policy": "layer3+4", "ad_select": "stable", "min_links": 0,
                 "aggregator": {"id": 1, "ports": 2, "actor_key": 29, "partner_key": 1001, "partner_mac": "00:00:5e:00:53:f0"}}}
    device = document["rdma"]["devices"]["mlx5_bond_0"] = document["rdma"]["devices"].pop(mlx5.RDMA)
    device["ports"]["1"].update(link=PORTS[0], speed_gbps=200.0)
    for gid in device["ports"]["1"]["gids"]:
        gid["link"] = "bond1"
    document["userspace"]["opened"] = ["mlx5_bond_0"]
    document["routes"][0].update(link="bond1")
    return document


def rails(document, last):
    """Eight adapters with a subnet each, 10.0.N.0/24, two of which are below the PCIe switch of the GPUs."""
    devices, rdma = document["pci"]["devices"], document["rdma"]
    adapter, link = devices.pop(mlx5.NIC), document["links"].pop(mlx5.LINK)
    device, flash = rdma["devices"].pop(mlx5.RDMA), document["devlink"]["pci"].pop(mlx5.NIC)
    document["routes"], document["pci"]["auxiliary"], names = [], {}, []
    for i in range(RAILS):
        bdf, name, verbs, address = f"0000:{0x18 + 0x10 * i:02x}:00.0", f"ens{i}np0", f"mlx5_{i}", f"10.0.{i}.{last}"
        names.append(verbs)
        devices[bdf] = {**copy.deepcopy(adapter), "links": [name], "rdma": [verbs], "iommu_group": 100 + i, "numa_node": i // 4}
        if i:
            devices[bdf].update(parent=None, root=f"pci0000:{0x15 + 0x10 * i:02x}")
        port = document["links"][name] = copy.deepcopy(link)
        port.update(index=30 + i, parent_device=bdf, mac=link["mac"][:-2] + f"{0xa0 + i:02x}", permanent_mac=link["mac"][:-2] + f"{0xa0 + i:02x}",
                    addresses=[{"family": "ipv4", "address": address, "prefix": 24, "scope": "global", "flags": ["permanent"]}])
        port["ethtool"]["bus_info"] = bdf
        one = rdma["devices"][verbs] = copy.deepcopy(device)
        one.update(index=i, parent_device=bdf, uverbs=f"uverbs{i}")
        one["ports"]["1"]["link"] = name
        for k, gid in enumerate(one["ports"]["1"]["gids"]):
            gid.update(link=name, **({"gid": gid_of(address)} if k >= 2 else {}))
        rdma["chardev"][f"uverbs{i}"] = dict(rdma["chardev"]["uverbs0"])
        document["devlink"]["pci"][bdf] = copy.deepcopy(flash)
        document["pci"]["auxiliary"][f"mlx5_core.rdma.{i}"] = {"parent": bdf, "driver": "mlx5_ib.rdma"}
        document["routes"].append({"family": "ipv4", "destination": f"10.0.{i}.0/24", "link": name, "source": address, "metric": 100 + i, "table": "main", "type": "unicast",
                                   "scope": "link"})
    document["userspace"]["opened"] = names
    return document


def virtual_machine(document):
    """Adapter and GPUs passed through to a guest whose hypervisor shows no bridge, no NUMA node and no IOMMU."""
    devices = document["pci"]["devices"]
    for bdf in [b for b, d in devices.items() if d.get("port_type")]:
        del devices[bdf]
    for device in devices.values():
        device.update(numa_node=-1, parent=None, root="pci0000:00")
        device.pop("iommu_group", None)
        device.pop("iommu_type", None)
    document["os"]["iommu"] = {"groups": 0, "types": []}
    return document
