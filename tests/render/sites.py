# SPDX-License-Identifier: Apache-2.0
"""Sites for the tests of rendering: made here, written as YAML, rendered."""

import json
import os
import subprocess
from pathlib import Path

import yaml

TOP = Path(os.environ["RAILHEAD_SOURCE"])
RAILHEAD = os.environ["RAILHEAD"]
EXAMPLES = sorted((TOP / "examples").glob("*.yaml"))


def bonded(number):
    """A node with a management bond, and RoCE on a VLAN over an LACP bond whose ports do not come by name."""
    return {
        "os": {"id": "debian", "version": "12"}, "memlock": "1GiB", "rdma_netns": "exclusive", "dns": ["10.0.0.2", "fd00::2"],
        "drivers": {"ice": {"source": "out-of-tree", "version": "2.6.6"}, "irdma": {"source": "out-of-tree"}},
        "links": {
            "eno1": {}, "eno2": {}, "ens-b.1": {"driver": "ice", "pci": "0000:1b:00.1", "mtu": 9000}, "ens-a.0": {"driver": "ice"},
            "spare": {"mtu": 9000},
        },
        "bonds": {
            "bond0": {"mode": "active-backup", "ports": ["eno1", "eno2"], "addresses": [f"10.0.0.{number}/24", f"fd00::{number}/64"],
                      "gateway": "10.0.0.1", "routes": [{"to": "fd01::/48", "via": "fd00::1"}]},
            "bond1": {"mode": "802.3ad", "ports": ["ens-b.1", "ens-a.0"], "lacp_rate": "slow", "xmit_hash_policy": "layer2+3", "mtu": 9000},
        },
        "vlans": {"bond1.100": {"link": "bond1", "id": 100, "mtu": 9000, "addresses": [f"10.10.1.{number}/24"], "egress": {"5": 5},
                                "routes": [{"to": "10.20.0.0/16", "via": "10.10.1.1"}]}},
        "rdma": {"bond1.100": {"rail": "rail0"}},
    }


def rails(number):
    """Two rails of an mlx5 adapter in one subnet, one of them with IPv6 too."""
    return {
        "os": {"id": "rhel", "version": "10.0"}, "memlock": "unlimited",
        "links": {
            "eno1": {"addresses": [f"10.0.0.{number}/24"], "gateway": "10.0.0.1"},
            "ens2f0": {"driver": "mlx5_core", "mtu": 9000, "addresses": [f"10.10.2.{number}/24", f"fd02::{number}/64"]},
            "ens2f1": {"driver": "mlx5_core", "mtu": 9000, "addresses": [f"10.10.2.{number + 100}/24", f"fd02::{number + 100}/64"],
                       "routes": [{"to": "10.30.0.0/16", "via": "10.10.2.1"}]},
        },
        "rdma": {"ens2f0": {"rail": "rail0"}, "ens2f1": {"rail": "rail1"}},
    }


QOS = {"dscp": 24, "priority": 3, "traffic_class": 3, "bandwidth": "50%", "pfc": True}


def site(nodes=None, **sections):
    nodes = nodes or {"node-01": bonded(11), "node-02": rails(12)}
    return {"schema": "railhead.site/1", "name": "generated", "nodes": nodes, **sections}


def many(n, kind=bonded):
    """A site of n nodes in one profile each, as a user would write it."""
    profile = kind(0)
    for where in ("links", "bonds", "vlans"):
        for link in profile.get(where, {}).values():
            link.pop("addresses", None)
    nodes = {}
    for i in range(n):
        of_node = kind(0)
        nodes[f"node-{i:04}"] = {"profile": "node"}
        for where in ("links", "bonds", "vlans"):
            for name, link in of_node.get(where, {}).items():
                if link.get("addresses"):
                    third, fourth = divmod(i + 1, 250)
                    address = {"bond0": "10.0", "bond1.100": "10.10"}.get(name, "10.20")
                    addresses = [f"{address}.{third}.{fourth + 2}/16"]
                    if any(":" in a for a in link["addresses"]):
                        addresses.append(f"fd00::{third}:{fourth + 2}/64")
                    nodes[f"node-{i:04}"].setdefault(where, {})[name] = {"addresses": addresses}
    return {"schema": "railhead.site/1", "name": "many", "profiles": {"node": profile}, "nodes": nodes, "qos": QOS}


def write(path, document):
    Path(path).write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def run(*args, **kwargs):
    return subprocess.run([RAILHEAD, "render", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, **kwargs)


def rendered(document, folder, *args):
    """Folder with the rendering of a site: a path, or a document that is written beside it."""
    folder = Path(folder)
    if not isinstance(document, Path):
        document = write(folder.with_suffix(".yaml"), document)
    done = run(document, "--force", "-o", folder, *args)
    if done.returncode:
        raise RuntimeError(f"{document}: {done.returncode}: {done.stderr.decode()}")
    return folder


def contents(folder):
    return {str(p.relative_to(folder)): (p.read_bytes(), oct(p.lstat().st_mode)) for p in Path(folder).rglob("*") if p.is_file()}


def manifest(folder):
    return json.loads((Path(folder) / "manifest.json").read_text())
