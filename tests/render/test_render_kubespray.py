#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kubespray's files as Ansible reads them, and no variable that a release does not have."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import EXAMPLES, TOP, Rendering, double, node, run_script, site  # noqa: E402
from tap import Tap  # noqa: E402

RELEASES = ("v2.28.1", "v2.29.1", "v2.30.0", "v2.31.0")
VARS = "kubespray/inventory/group_vars/"
# Of Ansible itself: how to reach a host.
CONNECTION = {"ansible_host", "ansible_port", "ansible_user"}


def inventory(rendering):
    """What `ansible-inventory` makes of it, host variables with those of all groups merged in."""
    run = subprocess.run(
        ["ansible-inventory", "-i", rendering.path / "kubespray/inventory/hosts.yaml", "--list"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "ANSIBLE_LOCALHOST_WARNING": "false", "LC_ALL": "C.UTF-8"},
    )
    return json.loads(run.stdout) if run.returncode == 0 else run.stderr.decode()


def examples(t):
    for name in ("e810-two-rails", "original-proposal", "connectx", "e810-oot-lacp"):
        r = Rendering(EXAMPLES / f"{name}.yaml")
        if not t.ok("kubespray/inventory/hosts.yaml" in r.files, f"{name} has an inventory", r.said):
            continue
        seen = inventory(r)
        t.ok(isinstance(seen, dict), f"{name}: Ansible reads the inventory", seen)
    r = Rendering(EXAMPLES / "e810-two-rails.yaml")
    seen = inventory(r)
    hosts = seen["_meta"]["hostvars"]
    t.equal(seen["kube_control_plane"]["hosts"], ["kube-01"], "the declared node runs the control plane")
    t.equal(seen["etcd"]["children"], ["kube_control_plane"], "etcd runs on the control plane")
    t.equal(seen["gpu_node"]["hosts"], ["gpu-node-01", "gpu-node-02"], "GPU nodes have a group of their own")
    t.equal(seen["kube_node"]["children"], ["gpu_node"], "and are workers by it")
    t.ok("aistor-01" not in hosts, "a storage node is not in the inventory", hosts.keys())
    gpu = hosts["gpu-node-01"]
    t.equal((gpu["ansible_host"], gpu["ansible_user"], gpu["ip"], gpu["access_ip"]), ("10.0.0.11", "root", "10.0.0.11", "10.0.0.11"),
            "addresses and login")
    t.equal(gpu["node_taints"], ["railhead/unproven=true:NoSchedule"], "a GPU node is tainted until it is proven")
    t.ok("node_taints" not in hosts["kube-01"], "the control plane is not", hosts["kube-01"])
    t.equal(gpu["node_labels"], {"example.net/gpu": "b300", "example.net/rdma": "e810", "railhead/rdma": "true"}, "labels")
    t.equal((gpu["kubelet_topology_manager_policy"], gpu["kubelet_topology_manager_scope"]), ("restricted", "pod"), "topology manager")
    t.ok("kubelet_topology_manager_policy" not in hosts["kube-01"], "of GPU nodes alone", hosts["kube-01"])
    t.equal((gpu["kube_version"], gpu["kube_network_plugin"]), ("1.35.4", "cilium"), "version without its v, and the CNI plugin")


def names_are_known(t):
    for release in RELEASES:
        known = {line for line in (TOP / f"tests/data/kubespray/variables-{release}.txt").read_text().splitlines() if line[0] != "#"}
        for cni in ("cilium", "calico", "other"):
            document = site(
                kubernetes__version="v1.33.7", kubernetes__kubespray={"version": release[1:]}, kubernetes__cni={"name": cni, "version": "1.18.5"},
                kubernetes__containerd="2.0.1", kubernetes__api_endpoint="api.example.net:6443", kubernetes__topology_manager="restricted",
                kubernetes__topology_scope="pod", registry__ca_file="/etc/pki/ca.crt", kubernetes__rdma_network="default/rdma",
                registry__mirrors={u: f"r.example.net/{u}" for u in ("docker.io", "ghcr.io", "nvcr.io", "quay.io", "registry.k8s.io", "gcr.io")},
            )
            document["nodes"]["gpu-0001"] = node(1, memlock="1GiB", labels={"a": "b"}, taints=["x=y:NoExecute"])
            r = Rendering(document)
            if not t.equal(r.status, 0, f"{release}, {cni}: rendered"):
                t.ok(False, "why not", r.said)
                continue
            used = set()
            for path, text in r.files.items():
                if path.startswith(VARS):
                    used |= set(r.yaml(path))
            for host in r.yaml("kubespray/inventory/hosts.yaml")["all"]["hosts"].values():
                used |= set(host)
            unknown = sorted(used - known - CONNECTION)
            t.ok(not unknown and len(used) > 15, f"{release}, {cni}: {len(used)} variables, all of them known to the release", unknown)
            t.ok(not r.files["kubespray/inventory/group_vars/k8s_cluster/k8s-cluster.yml"].count('"v1'), "no v before a version")
            t.equal("cilium_extra_values" in used, cni == "cilium" and release >= "v2.29", f"{release}, {cni}: values of Cilium's chart")


def mirror_variables(t):
    r = Rendering(site(registry__ca_file="/etc/pki/ca.crt"))
    offline = r.yaml(VARS + "all/offline.yml")
    t.equal(offline["quay_image_repo"], "registry.example.net:5000/quay.io", "images of Kubespray come from the mirror")
    t.ok("gcr_image_repo" not in offline, "a registry without a mirror is not named", offline)
    t.equal(offline["dl_k8s_io_url"], "{{ files_repo }}/dl.k8s.io", "binaries come from the file server")
    mirrors = {m["prefix"]: m for m in r.yaml(VARS + "all/containerd.yml")["containerd_registries_mirrors"]}
    t.equal(
        mirrors["quay.io"],
        {
            "prefix": "quay.io",
            "mirrors": [{
                "host": "https://registry.example.net:5000/v2/quay.io", "capabilities": ["pull", "resolve"], "skip_verify": False,
                "override_path": True, "ca": "/etc/pki/ca.crt",
            }],
            "server": "https://registry.example.net:5000",
        },
        "containerd: a mirror below a path overrides the path of the API, and nothing falls back to the internet",
    )
    t.equal(mirrors["registry.example.net:5000"]["mirrors"][0]["host"], "https://registry.example.net:5000", "the registry itself, for its CA")
    r = Rendering(site(registry=None))
    t.ok(not any("offline.yml" in p or "containerd.yml" in p for p in r.files), "no registry, no such variables", r.files.keys())


def memlock(t):
    document = site()
    document["nodes"]["gpu-0001"]["memlock"] = "1GiB"
    r = Rendering(document)
    hosts = r.yaml("kubespray/inventory/hosts.yaml")["all"]["hosts"]
    t.equal(hosts["gpu-0001"].get("containerd_limit_mem_lock"), 1 << 30, "a declared limit of locked memory is set")
    t.ok("containerd_limit_mem_lock" not in hosts["gpu-0000"], "none where it is unlimited, which is the default", hosts["gpu-0000"])


def not_declared(t):
    r = Rendering(site(kubernetes__kubespray=None))
    t.ok(r.status == 0 and not any(p.startswith("kubespray/") for p in r.files), "no Kubespray, no files of it", r.files.keys())
    t.ok("does not declare kubernetes/kubespray" in r.said, "and a note says so", r.said)
    r = Rendering(site(kubernetes__control_plane=None))
    t.ok(r.status == 0 and "CLUSTER_INVENTORY" in r.said, "no control plane: a note tells how to join a cluster that exists", r.said)
    r = Rendering(site(kubernetes__kubespray={"version": "v2.99.0"}))
    t.ok(r.status == 2 and "v2.99.0 are not known" in r.said, "variables of a release that is not known are refused", r.said)


def hostile(t):
    r = Rendering(site(registry__ca_file="/etc/{{inventory_hostname}}.crt"))
    t.ok(r.status == 2 and "as a template" in r.said and not r.files, "a path that is a Jinja template is refused", r.said)
    for path, value in (("kubernetes__version", "1.33.7{{lookup('pipe','id')}}"), ("kubernetes__containerd", "2.0.5{%set_x=1%}")):
        r = Rendering(site(**{path: value}))
        t.ok(r.status == 2 and "site.yaml:" in r.said and not r.files, f"{path}: so is a version, with file and line", r.said)
    for key, value in (
        ("labels", {"a b": "c"}), ("labels", {"a": "x y"}), ("labels", {"a": "$(id)"}), ("labels", {"a": "{{ x }}"}), ("labels", {"a": "'"}),
        ("labels", {"-a": "b"}), ("labels", {"a": "b" * 64}), ("taints", ["a=b"]), ("taints", ["a=b:Sometimes"]), ("taints", ["a=b c:NoSchedule"]),
        ("taints", ["a=`id`:NoExecute"]), ("taints", [":NoSchedule"]), ("taints", ["a=b=c:NoSchedule"]),
    ):
        document = site()
        document["nodes"]["gpu-0001"][key] = value
        r = Rendering(document)
        t.ok(r.status == 2 and "site.yaml:" in r.said and "gpu-0001" in r.said, f"{key} {value} is refused with file, line and node", r.said)
    document = site()
    document["nodes"]["gpu-0001"].update(labels={"yes": "no", "on": "1.33", "example.net/x_y": "true"}, taints=["a=:NoSchedule", "a:NoExecute"])
    r = Rendering(document)
    seen = inventory(r)["_meta"]["hostvars"]["gpu-0001"]
    t.equal(seen["node_labels"], {"yes": "no", "on": "1.33", "example.net/x_y": "true", "railhead/rdma": "true"}, "words of YAML stay texts")
    t.equal(seen["node_taints"][:2], ["a=:NoSchedule", "a:NoExecute"], "taints without a value")


def commands(t):
    r = Rendering(site())
    script = r.path / "kubespray/commands.sh"
    check = subprocess.run(["shellcheck", "-x", script, r.path / "kubespray/settings.sh"], stdout=subprocess.PIPE)
    t.ok(check.returncode == 0, "shellcheck finds nothing in commands.sh", check.stdout.decode())
    with tempfile.TemporaryDirectory() as folder:
        checkout = os.path.join(folder, "kubespray")
        os.mkdir(checkout)
        env = {"KUBESPRAY": checkout}
        out = run_script(script, "--dry-run", "add", "gpu-0001", env=env)
        said = out.stdout.decode()
        t.ok(out.returncode == 0 and said.index("playbooks/facts.yml") < said.index("scale.yml --limit=gpu-0001"), "facts of all, then scale.yml for one", out)
        t.ok("--limit" not in said.split("facts.yml")[1].splitlines()[0], "facts have no limit", said)
        argv = double(folder, "ansible-playbook")
        out = run_script(script, "remove", "gpu-0001", env=env, path=folder)
        t.ok(out.returncode == 0 and "remove-node.yml -e node=gpu-0001" in argv.read_text(), "remove-node.yml takes one out", out)
        for wrong, text in ((["add", "gpu-9999"], "is no worker"), (["add"], "name the nodes"), (["add", "all"], "is no worker"), (["frob"], "Usage"), ([], "Usage")):
            out = run_script(script, *wrong, env=env, path=folder)
            t.ok(out.returncode != 0 and text in out.stderr.decode(), f"commands.sh {wrong} is refused", out)
        shutil.rmtree(checkout)
        out = run_script(script, "check", env=env, path=folder)
        t.ok(out.returncode == 1 and "v2.31.0" in out.stderr.decode(), "check names the release that is missing", out)
        subprocess.run(["git", "init", "-q", checkout], check=True)
        out = run_script(script, "check", env=env, path=folder)
        t.ok(out.returncode == 1 and "is not release v2.31.0" in out.stderr.decode(), "and a checkout of another release", out)
    r = Rendering(site(kubernetes__control_plane=None))
    with tempfile.TemporaryDirectory() as folder:
        out = run_script(r.path / "kubespray/commands.sh", "check", env={"KUBESPRAY": folder})
        t.ok(out.returncode == 1 and "kube_control_plane has no hosts" in out.stderr.decode(), "check sees that the control plane is missing", out)


def many_nodes(t):
    r = Rendering(site(nodes=1000))
    t.equal(r.status, 0, "a site of 1,000 nodes is rendered")
    t.equal(len(r.yaml("kubespray/inventory/hosts.yaml")["all"]["hosts"]), 1000, "with all of them in the inventory")


if __name__ == "__main__":
    tap = Tap()
    if shutil.which("ansible-inventory") is None:
        raise SystemExit("ansible-core is not installed: ./bootstrap test does it")
    for case in (examples, names_are_known, mirror_variables, memlock, not_declared, hostile, commands, many_nodes):
        tap.case(case)
    tap.done()
