#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead plan on sites of growing size, against a YAML library that only loads the same file.

usage: bench/plan.py [--rounds N] [--railhead PATH]

The sites are examples/original-proposal.yaml with 64 and with 1,000 GPU nodes more. Each round runs every
contestant once, in turn, so that whatever else the machine does falls on all of them alike. Reported per contestant:
median wall time and median CPU time (user and system, which another load of the machine changes least), the ratio of its CPU time
to railhead's, and the peak resident memory (GNU time, in a run of its own). The peers are python3-yaml with its C
loader (libyaml, as railhead) and with its own loader; they check nothing, judge nothing, and write nothing.
Needs: python3-yaml, time.
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
LOAD = "import sys, yaml; yaml.load(open(sys.argv[1]), Loader=yaml.{})"


def site(nodes):
    """The original proposal with that many GPU nodes more."""
    head, tail = (TOP / "examples/original-proposal.yaml").read_text().split("\nnodes:\n", 1)
    many = "".join(
        f"  gpu-{i:04d}:\n    profile: gpu-node\n    bonds:\n      bond0: {{addresses: [10.{20 + i // 250}.{i % 250}.11/16]}}\n"
        f"      bond1: {{addresses: [10.{30 + i // 250}.{i % 250}.11/16]}}\n" for i in range(nodes)
    )
    return head + "\nnodes:\n" + many + tail


def run(command):
    """Wall and CPU seconds of one command."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"bench: {' '.join(map(str, command))}: status {child.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def peak(command):
    """Peak resident set in KiB."""
    with tempfile.NamedTemporaryFile("r") as out:
        subprocess.run(["/usr/bin/time", "-q", "-f", "%M", "-o", out.name, *command], stdout=subprocess.DEVNULL)
        return int(out.read().split()[-1])


def contest(railhead, path, nodes, rounds):
    contestants = {
        "railhead plan": [railhead, "plan", path],
        "railhead plan -f json": [railhead, "plan", "-f", "json", path],
        "railhead plan --upgrade …": [railhead, "plan", "--upgrade", "gpuOperator.version=v26.7.0", path],
        "python3 -c 'pass'": [sys.executable, "-c", "pass"],
        "python3-yaml, C loader": [sys.executable, "-c", LOAD.format("CSafeLoader"), path],
        "python3-yaml, own loader": [sys.executable, "-c", LOAD.format("SafeLoader"), path],
    }
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, command in contestants.items():
            times[name].append(run(command))
    mine = statistics.median(cpu for _, cpu in times["railhead plan"])
    print(f"{nodes} nodes ({path.stat().st_size // 1024} KiB)".ljust(28) + "      wall       CPU  x railhead   peak RSS")
    for name, command in contestants.items():
        wall, cpu = (statistics.median(t[k] for t in times[name]) for k in (0, 1))
        print(f"{name:<28}{wall * 1000:7.1f} ms{cpu * 1000:7.1f} ms{cpu / mine:10.2f}x{peak(command) / 1024:8.1f} MiB")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--railhead", default=str(TOP / "build" / "railhead"))
    args = parser.parse_args()
    if not os.access(args.railhead, os.X_OK) or not shutil.which("/usr/bin/time"):
        print(f"bench: missing: {args.railhead} or /usr/bin/time", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        for nodes in (64, 1000):
            path = Path(folder) / f"site-{nodes}.yaml"
            path.write_text(site(nodes))
            contest(args.railhead, path, nodes, args.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
