# SPDX-License-Identifier: Apache-2.0
"""Sites for the tests of Kubespray, GPU Operator, mirror and manifests, and their renderings."""

import copy
import os
import subprocess
import tempfile
from pathlib import Path

import yaml

TOP = Path(os.environ["RAILHEAD_SOURCE"])
RAILHEAD = os.environ["RAILHEAD"]
EXAMPLES = TOP / "examples"


def node(number, **keys):
    return {
        "profile": "gpu",
        "ssh": {"address": f"10.0.{number // 250}.{number % 250 + 1}", "user": "admin"},
        "links": {"ens1f0": {"addresses": [f"10.10.{number // 250}.{number % 250 + 1}/16"]}},
        **keys,
    }


def site(nodes=2, **changes):
    """A small air-gapped site; `changes` replace values by path: kubernetes__version="1.34.3"."""
    document = {
        "schema": "railhead.site/1",
        "name": "test",
        "profiles": {
            "gpu": {
                "os": {"id": "rhel", "version": "10.2"},
                "kernel": "6.12.0-*.el10_2.x86_64",
                "memlock": "unlimited",
                "gpus": {"B300": {"count": 8}},
                "links": {"ens1f0": {"driver": "ice"}},
                "rdma": {"ens1f0": {"rail": "rail0"}},
            }
        },
        "nodes": {f"gpu-{i:04}": node(i) for i in range(nodes)},
        "qos": {"dscp": 24, "priority": 3},
        "kubernetes": {
            "version": "1.33.7",
            "kubespray": {"version": "v2.31.0"},
            "cni": {"name": "cilium"},
            "control_plane": ["gpu-0000"],
            "rdma_resource": "rdma/e810",
            "pod_rdma": "host-gid",
            "images": {
                "cuda": "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0",
                "rdma": "quay.io/example/perftest:26.04",
                "device_plugin": "ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3",
            },
        },
        "gpu_operator": {"version": "v26.3.3", "driver": {"version": "580.126.20"}},
        "registry": {
            "host": "registry.example.net:5000",
            "air_gapped": True,
            "files_url": "https://files.example.net/k8s",
            "packages_url": "https://packages.example.net/rhel10",
            "mirrors": {u: f"registry.example.net:5000/{u}" for u in ("docker.io", "ghcr.io", "nvcr.io", "quay.io", "registry.k8s.io")},
        },
    }
    document = copy.deepcopy(document)
    for path, value in changes.items():
        *above, last = path.split("__")
        at = document
        for key in above:
            at = at.setdefault(key, {})
        if value is None:
            at.pop(last, None)
        else:
            at[last] = value
    return document


class Rendering:
    """`railhead render` of a site (a dict, or the path of a file): files by path, and what was said."""

    def __init__(self, what, *options, program=RAILHEAD):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "out"
        if isinstance(what, dict):
            file = Path(self.folder.name) / "site.yaml"
            file.write_text(yaml.safe_dump(what, sort_keys=False, allow_unicode=True, width=10000))
            what = file
        run = subprocess.run(
            [program, "render", "--force", "-o", self.path, *options, what], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            timeout=300,
        )
        self.status = run.returncode
        self.said = run.stderr.decode()
        self.files = {}
        if self.path.is_dir():
            self.files = {str(p.relative_to(self.path)): p.read_text() for p in self.path.rglob("*") if p.is_file()}

    def yaml(self, path):
        return yaml.safe_load(self.files[path])

    def documents(self, path):
        return list(yaml.safe_load_all(self.files[path]))


def double(folder, name, body="exit 0"):
    """A program of that name that writes its arguments to NAME.argv: a double, not the real one."""
    path = Path(folder) / name
    path.write_text(f'#!/bin/bash\nprintf \'%q \' "$@" >>"{folder}/{name}.argv"\necho >>"{folder}/{name}.argv"\n{body}\n')
    path.chmod(0o755)
    return Path(folder) / f"{name}.argv"


def run_script(script, *args, path=None, env=None, cwd=None, timeout=120):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("REGISTRY_")}
    if path:
        environment["PATH"] = f"{path}:{environment['PATH']}"
    environment.update(env or {})
    return subprocess.run(
        [script, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=cwd, timeout=timeout
    )
