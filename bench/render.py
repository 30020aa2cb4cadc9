#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead render beside a Python program that writes the same files, on this machine, in one run.

usage: bench/render.py [--rounds N] [--railhead PATH] [--nodes N...]

The site is examples/e810-two-rails.yaml with as many GPU nodes as asked for; all renderers run. The peer is
what a deployment repository does: it reads the same site with PyYAML's C reader, writes as many files with the
same contents (YAML and JSON ones dumped from objects by the C emitter, all others as text that it has
ready), and hashes each. It plans nothing and decides nothing: a lower bound for any such program.
Contestants take turns; a contestant's folder is new each time (`update`: one that has the files already).
Reported, in milliseconds: median wall time over the rounds and, in parentheses, median processor time, which other
work on the machine disturbs less; the ratio is of processor time. The files go to $TMPDIR: making a thousand of them
costs a disk more than all the rest. Needs: python3-yaml.
"""

import argparse
import copy
import itertools
import json
import os
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

TOP = Path(__file__).resolve().parent.parent
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

PEER = """
import hashlib, json, os, pickle, sys, yaml
yaml.load(open(sys.argv[1]), Loader=yaml.CSafeLoader)
for path, kind, content in pickle.load(open(sys.argv[2], "rb")):
    if kind == "yaml":
        text = yaml.dump_all(content, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True)
    elif kind == "json":
        text = json.dumps(content, indent=2)
    else:
        text = content
    path = os.path.join(sys.argv[3], path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
    hashlib.sha256(text.encode()).hexdigest()
"""


def site(n):
    """The two-rails example with n nodes in all."""
    document = yaml.safe_load((TOP / "examples/e810-two-rails.yaml").read_text())
    nodes = document["nodes"]
    gpu = nodes.pop("gpu-node-01")
    nodes.pop("gpu-node-02")
    for i in range(n - len(nodes)):
        node = copy.deepcopy(gpu)
        third, fourth = divmod(i, 200)
        address = f"{third + 1}.{fourth + 10}"
        node["ssh"]["address"] = node["node_ip"] = f"10.0.{address}"
        node["bonds"]["bond0"]["addresses"] = [f"10.0.{address}/16"]
        node["links"]["ens1f0"] = {"addresses": [f"10.11.{address}/16"], "switch_port": f"Ethernet{4 * i + 16}"}
        node["links"]["ens1f1"] = {"addresses": [f"10.12.{address}/16"], "switch_port": f"Ethernet{4 * i + 16}"}
        nodes[f"gpu-node-{i + 1:04}"] = node
    return yaml.safe_dump(document, sort_keys=False)


def digest(folder):
    """What the peer writes: the same files, those of YAML and JSON as objects."""
    files = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        text, kind = path.read_text(), "text"
        if path.suffix in (".yaml", ".yml"):
            kind, text = "yaml", list(yaml.load_all(text, Loader=yaml.CSafeLoader))
        elif path.suffix == ".json":
            kind, text = "json", json.loads(text)
        files.append((str(path.relative_to(folder)), kind, text))
    return files


def cpu():
    """Processor seconds of all children so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def timed(command, good=(0,)):
    """Wall and processor time of one command, in milliseconds."""
    start, used = time.perf_counter(), cpu()
    done = subprocess.run(command, **QUIET)
    seconds, used = time.perf_counter() - start, cpu() - used
    if done.returncode not in good:
        sys.exit(f"{command}: exit status {done.returncode}")
    return seconds * 1000, used * 1000


def measure(railhead, nodes, rounds, top):
    path, out = top / "site.yaml", top / "out"
    numbers = itertools.count()

    def fresh():
        """A folder that is not there. None is removed meanwhile: ext4 looks long for inodes after that."""
        return top / f"new-{next(numbers)}"

    path.write_text(site(nodes))
    render = [railhead, "render", path, "--force", "-o"]
    timed([*render, out])
    (top / "files").write_bytes(pickle.dumps(digest(out)))
    files = [p for p in out.rglob("*") if p.is_file()]
    size = sum(p.stat().st_size for p in files)
    contestants = {
        "plan": lambda: timed([railhead, "plan", "-q", path], good=(0, 1)),
        "render": lambda: timed([*render, fresh()]),
        "update": lambda: timed([*render, out]),
        "peer": lambda: timed([sys.executable, "-c", PEER, path, top / "files", fresh()]),
    }
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, go in contestants.items():
            times[name].append(go())
    wall = {name: statistics.median(t[0] for t in times[name]) for name in times}
    used = {name: statistics.median(t[1] for t in times[name]) for name in times}
    cells = [f"{wall[name]:.1f} ({used[name]:.1f})" for name in contestants]
    print(f"| {nodes} | {len(files)} | {size >> 10} | {' | '.join(cells)} | {used['peer'] / used['render']:.1f} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--railhead", default=str(TOP / "build/railhead"))
    arguments.add_argument("--nodes", type=int, nargs="+", default=[4, 64, 1000])
    args = arguments.parse_args()
    print("| nodes | files | KiB | plan | render | update | peer | peer / render |\n|---|---|---|---|---|---|---|---|")
    for nodes in args.nodes:
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as top:
            measure(args.railhead, nodes, max(3, args.rounds if nodes < 500 else args.rounds // 3), Path(top))


main()
