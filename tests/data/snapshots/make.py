#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the hand-made base snapshots beside it: hardware that no test machine has.

Nothing here was captured. Values come from the documents named in each `source`; where a value only has to be
plausible (serial numbers, MACs of the documentation range 00:00:5e:00:53:xx, addresses of 192.0.2.0/24,
198.51.100.0/24 and 203.0.113.0/24) it is made up. The cases in ../cases patch these bases.

usage: make.py            rewrite the files
       make.py --check    fail when a file differs from what would be written
"""

import json
import sys
from pathlib import Path

import bare
import e810
import mlx5
import mlx5_shapes

HERE = Path(__file__).resolve().parent


def gpu_node():
    return e810.node("gpu-node-01", f"{e810.NIC_NOTE}; {e810.GPU_NOTE}", 11, True)


def storage_node():
    return e810.node("aistor-01", e810.NIC_NOTE, 21, False)


FILES = {
    "bare.json": bare.node(),
    "e810-b300-healthy.json": gpu_node(),
    "e810-storage-healthy.json": storage_node(),
    "e810-b300-bond-in-tree.json": e810.bonded(gpu_node(), out_of_tree=False),
    "e810-b300-bond-oot.json": e810.bonded(gpu_node(), out_of_tree=True),
    "e810-storage-bond-oot.json": e810.bonded(storage_node(), out_of_tree=True),
    "mlx5-h100.json": mlx5.node("gpu-node-02", 12, True),
    "mlx5-storage.json": mlx5.node("aistor-02", 22, False),
    "mlx5-h100-lag.json": mlx5_shapes.lag(mlx5.node("gpu-node-02", 12, True)),
    "mlx5-storage-lag.json": mlx5_shapes.lag(mlx5.node("aistor-02", 22, False)),
    "mlx5-h100-rails.json": mlx5_shapes.rails(mlx5.node("gpu-node-02", 12, True), 12),
    "mlx5-storage-rails.json": mlx5_shapes.rails(mlx5.node("aistor-02", 22, False), 22),
    "mlx5-h100-guest.json": mlx5_shapes.virtual_machine(mlx5.node("gpu-node-02", 12, True)),
}


def main():
    bad = []
    for name, document in FILES.items():
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        path = HERE / name
        if "--check" in sys.argv:
            if not path.exists() or path.read_text() != text:
                bad.append(name)
        else:
            path.write_text(text)
    if bad:
        print(f"not as make.py writes them: {' '.join(bad)}", file=sys.stderr)
    return 1 if bad else 0


sys.exit(main())
