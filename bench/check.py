#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead check against the single tools that show the same facts, on this machine, in one run.

usage: bench/check.py [--rounds N] [--railhead PATH] [--no-ansible]

Each round runs every contestant once, in turn, so that whatever else the machine does falls on all of
them alike. Reported per contestant: median wall time, its ratio to railhead's, and the peak resident
memory of the largest process in it (GNU time, in a run of its own: what wait4(2) tells of a child of Python is Python's). Then railhead alone over growing numbers of links (veth in a network
namespace of its own, needs root) and of virtual functions (a tree of files below --root), for the curve.
Needs: iproute2, ethtool, pciutils, time, ansible-core (or --no-ansible).
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def run(command):
    """Wall seconds of one command."""
    start = time.perf_counter()
    subprocess.run(command, **QUIET)
    return time.perf_counter() - start


def peak(command):
    """Peak resident set in KiB of the largest process of one command."""
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["/usr/bin/time", "-q", "-f", "%M", "-o", out.name, *command], **QUIET)
        return int(out.read().split()[-1])


def links():
    return sorted(os.listdir("/sys/class/net"))


def single_tools():
    """The calls that an engineer types to see the same facts: once for all, and once per link."""
    calls = [
        ["ip", "-j", "-d", "-s", "link"],
        ["ip", "-j", "addr"],
        ["ip", "-j", "route", "show", "table", "all"],
        ["rdma", "-j", "link"],
        ["rdma", "-j", "dev"],
        ["devlink", "-j", "dev", "info"],
        ["devlink", "-j", "dev", "param"],
    ]
    for link in links():
        calls += [
            ["ethtool", link],
            ["ethtool", "-i", link],
            ["ethtool", "-a", link],
            ["ethtool", "--show-priv-flags", link],
            ["ethtool", "-S", link],
            ["dcb", "-j", "ets", "show", "dev", link],
            ["dcb", "-j", "pfc", "show", "dev", link],
            ["dcb", "-j", "app", "show", "dev", link],
            ["dcb", "-j", "dcbx", "show", "dev", link],
        ]
    return calls


def contest(railhead, rounds, with_ansible):
    tools = single_tools()
    contestants = {
        "railhead check --format json": [[railhead, "check", "--format", "json"]],
        "lspci -vvv": [["lspci", "-vvv"]],
        f"sum of {len(tools)} single tools": tools,
        "the same and lspci -vvv": tools + [["lspci", "-vvv"]],
    }
    if with_ansible:
        contestants["ansible -m setup"] = [["ansible", "localhost", "-c", "local", "-m", "setup"]]
    seen = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, commands in contestants.items():
            seen[name].append(sum(run(c) for c in commands))
    base = statistics.median(seen["railhead check --format json"])
    print(f"{'':38} {'median':>10} {'min':>9} {'x railhead':>11} {'peak RSS':>10}")
    for name, seconds in seen.items():
        median = statistics.median(seconds)
        rss = max(peak(c) for c in contestants[name])
        print(f"{name:38} {median * 1e3:7.1f} ms {min(seconds) * 1e3:6.1f} ms {median / base:10.2f}x {rss / 1024:6.1f} MiB")


def in_namespace(railhead, n, rounds):
    """railhead check in a fresh network namespace with n veth links; the median of `rounds`."""
    script = (
        f"ip link set lo up; for i in $(seq {n // 2}); do echo link add a$i type veth peer name b$i; done | ip -batch -;"
        f" exec {sys.executable} {__file__} --measure {rounds} --railhead {railhead}"
    )
    out = subprocess.run(["unshare", "-n", "sh", "-c", script], check=True, stdout=subprocess.PIPE).stdout
    return [float(x) for x in out.split()]


def vf_tree(folder, n):
    """A tree of files with one physical function and n virtual ones, as sysfs shows them."""
    bus = Path(folder) / "sys/bus/pci/devices"
    bridge = Path(folder) / "sys/devices/pci0000:00/0000:00:01.0"
    bus.mkdir(parents=True)
    for i in range(n + 1):
        name = f"0000:01:{i // 8:02x}.{i % 8}"
        device = bridge / name
        device.mkdir(parents=True)
        values = {
            "vendor": "0x8086", "device": "0x1592" if i == 0 else "0x1889", "class": "0x020000",
            "subsystem_vendor": "0x8086", "subsystem_device": "0x0002", "numa_node": "0",
            "current_link_speed": "16.0 GT/s PCIe", "current_link_width": "16",
            "max_link_speed": "16.0 GT/s PCIe", "max_link_width": "16",
            "resource": "0x00000000fb000000 0x00000000fbffffff 0x000000000014220c\n",
        }
        for key, value in values.items():
            (device / key).write_text(value + "\n")
        (device / "config").write_bytes(bytes.fromhex("8680921506041000") + bytes(4088))
        if i:
            (device / "physfn").symlink_to("../0000:01:00.0")
        (bus / name).symlink_to(f"../../../devices/pci0000:00/0000:00:01.0/{name}")


def row(n, seconds, rss, empty):
    """One line of a curve; what each one adds is counted from the run with none."""
    each = f"{(seconds - empty) / n * 1e6:8.1f} us" if n else " " * 11
    return f"  {n:5}                              {seconds * 1e3:8.1f} ms {each} {rss / 1024:8.1f} MiB"


def curve(railhead, rounds):
    print("\nlinks (veth, own network namespace)      median     each adds   peak RSS")
    if os.geteuid():
        print("  needs root")
    else:
        for n in (0, 50, 100, 200, 400, 800):
            seconds, rss = in_namespace(railhead, n, rounds)
            empty = seconds if n == 0 else empty
            print(row(n, seconds, rss, empty))
    print("\nvirtual functions (files below --root)   median     each adds   peak RSS")
    for n in (0, 16, 64, 128, 256):
        with tempfile.TemporaryDirectory() as folder:
            vf_tree(folder, n)
            command = [railhead, "check", "--format", "json", "--root", folder]
            seconds, rss = statistics.median(run(command) for _ in range(rounds)), peak(command)
        empty = seconds if n == 0 else empty
        print(row(n, seconds, rss, empty))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--railhead", default=str(TOP / "build" / "railhead"))
    parser.add_argument("--no-ansible", action="store_true")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        command = [args.railhead, "check", "--format", "json"]
        print(statistics.median(run(command) for _ in range(args.measure)), peak(command))
        return 0
    needed = ["ip", "rdma", "dcb", "devlink", "ethtool", "lspci", "/usr/bin/time"] + ([] if args.no_ansible else ["ansible"])
    missing = [tool for tool in needed if not shutil.which(tool)]
    if missing or not os.access(args.railhead, os.X_OK):
        print(f"bench: missing: {' '.join(missing) or args.railhead}", file=sys.stderr)
        return 2
    contest(args.railhead, args.rounds, not args.no_ansible)
    curve(args.railhead, args.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
