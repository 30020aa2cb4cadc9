#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of hardware that no test machine has: made into file trees, observed with --root, compared with themselves."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree_of_snapshot  # noqa: E402
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
RAILHEAD = os.environ["RAILHEAD"]
ABSENT = "(absent)"
# Told by netlink or by libibverbs, which do not answer below a root.
NOT_IN_FILES = {"index", "resources", "capabilities", "active_mtu", "max_mtu"}
NVML = {"bar1_total_bytes", "bar1_used_bytes", "ecc", "persistence", "pcie"}


def observe(snapshot):
    with tempfile.TemporaryDirectory(prefix="railhead-tree-") as root:
        tree_of_snapshot.write(root, snapshot)
        begin = time.monotonic()
        run = subprocess.run([RAILHEAD, "snapshot", "--root", root], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        elapsed = time.monotonic() - begin
    if run.returncode:
        raise RuntimeError(run.stderr.decode())
    return json.loads(run.stdout), elapsed


def without_empty(snapshot):
    """Hand-made snapshots leave out some of what the observer says of devices that have none of it, and of options that are off."""
    for device in snapshot["pci"]["devices"].values():
        if device.get("rdma") == []:
            del device["rdma"]
    config = snapshot["os"]["kernel"]["config"]
    snapshot["os"]["kernel"]["config"] = {k: v for k, v in config.items() if v != "n"}
    return snapshot


def differences(pointer, expected, seen, out):
    """Where the trees of values differ, as text; facts that the observer adds are told too."""
    if isinstance(expected, dict) and isinstance(seen, dict):
        for key in sorted(set(expected) | set(seen)):
            differences(f"{pointer}/{key}", expected.get(key, ABSENT), seen.get(key, ABSENT), out)
    elif expected != seen:
        out.append(f"{pointer}: expected {expected!r}, seen {seen!r}")
    return out


def without(value, keys):
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys}
    return value


def same(t, name, pointer, expected, seen, ignore=frozenset()):
    for part in pointer.strip("/").split("/"):
        expected, seen = expected.get(part, ABSENT), seen.get(part, ABSENT) if isinstance(seen, dict) else ABSENT
    expected, seen = without(expected, ignore), without(seen, ignore)
    found = differences(pointer, expected, seen, [])
    t.ok(not found and expected != ABSENT, f"{name}: {pointer}", "\n".join(found) or "absent on both sides")


def compare(t, name, snapshot):
    seen = without_empty(observe(snapshot)[0])
    snapshot = without_empty(snapshot)
    t.equal(seen["source"]["kind"], "tree", f"{name}: says that it saw a tree")
    for pointer in ("/node", "/os/release", "/os/kernel", "/os/memlock/services", "/os/iommu", "/pci"):
        same(t, name, pointer, snapshot, seen)
    for device in seen["rdma"]["devices"].values():
        for port in device["ports"].values():
            # The member "link" of a GID stays, that of a port comes from netlink.
            t.ok("link" not in port, f"{name}: the link of a port is not guessed", port)
    for device in snapshot["rdma"]["devices"].values():
        for port in device["ports"].values():
            port.pop("link")
    same(t, name, "/rdma/devices", snapshot, seen, NOT_IN_FILES)
    t.ok("netlink" not in seen["rdma"], f"{name}: nothing is said about netlink")
    same(t, name, "/userspace", snapshot, seen, {"opened", "failed", "warnings"})
    if "gpu" in snapshot:
        same(t, name, "/gpu/driver", snapshot, seen)
        same(t, name, "/gpu/devices", snapshot, seen, NVML)
    for module, facts in snapshot["os"]["modules"].items():
        if facts["loaded"]:
            keys = {"loaded", "version", "taint", "refcount", "in_tree"} & set(facts)
            t.equal({k: seen["os"]["modules"].get(module, {}).get(k) for k in keys}, {k: facts[k] for k in keys},
                    f"{name}: /os/modules/{module}")
    gaps = {g["pointer"] for g in seen["gaps"]}
    t.ok(all(g["reason"] for g in seen["gaps"]), f"{name}: every gap has a reason")
    expected = {"/rdma/netlink", "/rdma/netns_mode", "/os/log/lines"} | ({"/userspace/opened"} if snapshot["rdma"]["devices"] else set())
    t.ok(expected <= gaps, f"{name}: what files do not tell is a gap", expected - gaps)


def healthy(t):
    paths = sorted((TOP / "tests/data/snapshots").glob("*.json"))
    snapshots = {path.stem: json.loads(path.read_text()) for path in paths}
    # Whole nodes, not the ones that show how little may be known.
    whole = {name: s for name, s in snapshots.items() if {"release", "modules", "iommu"} <= set(s["os"]) and "rdma" in s}
    t.ok(len(whole) >= 2, "there are snapshots of whole nodes", sorted(snapshots))
    for name, snapshot in whole.items():
        compare(t, name, snapshot)


def virtual_functions(snapshot, count):
    """The snapshot with `count` virtual functions on its first network adapter, each with a link."""
    big = copy.deepcopy(snapshot)
    devices = big["pci"]["devices"]
    bdf = next(b for b, d in devices.items() if d["class"] == "0x020000" and d["links"])
    devices[bdf]["vfs"] = count
    for i in range(count):
        devices[f"{bdf[:8]}{1 + i // 8:02x}.{i % 8}"] = {
            "vendor": "0x8086", "device": "0x1889", "subsystem_vendor": "0x8086", "subsystem_device": "0x0000",
            "class": "0x020000", "driver": "iavf", "numa_node": 0, "parent": devices[bdf]["parent"], "root": devices[bdf]["root"],
            "links": [f"vf{i}"], "physfn": bdf, "bar_max_bytes": 131072}
    return big


def many_functions(t):
    small = json.loads((TOP / "tests/data/snapshots/e810-b300-healthy.json").read_text())
    big = virtual_functions(small, 64)
    seen, elapsed = observe(big)
    same(t, "64 virtual functions", "/pci", without_empty(big), without_empty(seen))
    # Milliseconds without sanitizers; the bound only catches work that grows with the square.
    t.ok(elapsed < 5, "64 virtual functions are seen within 5 s", f"{elapsed:.3f} s")


def damaged(t):
    """One changed fact must be seen: the comparison above can fail."""
    snapshot = json.loads((TOP / "tests/data/snapshots/e810-b300-healthy.json").read_text())
    changed = copy.deepcopy(snapshot)
    bdf = next(b for b, d in changed["pci"]["devices"].items() if d.get("acs"))
    changed["pci"]["devices"][bdf]["acs"]["request_redirect"] = True
    seen, _ = observe(changed)
    acs = seen["pci"]["devices"][bdf]["acs"]
    t.equal((acs["request_redirect"], acs["ctrl"]), (True, "0x0004"), "a changed ACS control register is seen")


def main():
    t = Tap()
    for function in (healthy, many_functions, damaged):
        t.case(function)
    t.done()


main()
