#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes manifests by the schema of the declared version, and the script of the RDMA test pods."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import EXAMPLES, TOP, Rendering, double, node, run_script, site  # noqa: E402
from tap import Tap  # noqa: E402

PLUGIN, RDMA, CUDA = "kubernetes/rdma-device-plugin.yaml", "kubernetes/rdma-test.yaml", "kubernetes/cuda-test.yaml"
POD_SCRIPT = TOP / "src/render/scripts/rdma-pod.sh"
# kubernetes-validate (PyPI) brings the schemas of Kubernetes; ./bootstrap test installs it there.
PYTHON = TOP / "build-tools/bin/python3"
VALIDATE = """
import sys, yaml, kubernetes_validate
bad = 0
for path in sys.argv[2:]:
    for document in yaml.safe_load_all(open(path)):
        try:
            kubernetes_validate.validate(document, sys.argv[1], strict=True)
        except kubernetes_validate.ValidationError as e:
            bad += 1
            print(path, document.get("kind"), e.message[:300])
sys.exit(1 if bad else 0)
"""


def manifests(rendering):
    return [
        p for p in sorted(rendering.files)
        if p.endswith(".yaml") and p.startswith(("kubernetes/", "gpu-operator/")) and "values" not in p and "feature-rule" not in p
    ]


def by_schema(t):
    # the folder may be there without the package: bootstrap makes it before it asks the network
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import kubernetes_validate"], stderr=subprocess.DEVNULL).returncode:
        t.skip("manifests by the schema of Kubernetes", "kubernetes-validate is not installed: ./bootstrap test does it")
        return
    renderings = [("a small site", "1.33", Rendering(site(registry__pull_secret="pull", registry__ca_file="/ca.pem", workload={"namespace": "vllm"})))]
    for way in ("host-network", "second-network"):
        renderings.append((way, "1.35", Rendering(site(kubernetes__version="1.35.4", kubernetes__pod_rdma=way, kubernetes__rdma_network="default/rdma", profiles__gpu__memlock="1GiB"))))
    renderings += [(name, "1.33", Rendering(EXAMPLES / f"{name}.yaml")) for name in ("e810-two-rails", "original-proposal", "connectx", "e810-oot-lacp")]
    for name, version, r in renderings:
        paths = manifests(r)
        run = subprocess.run([PYTHON, "-c", VALIDATE, version, *(r.path / p for p in paths)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        t.ok(run.returncode == 0 and len(paths) >= 4, f"{name}: {len(paths)} files fit the schema of Kubernetes {version}", run.stdout.decode() or paths)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write("apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [{name: c, image: i, comand: [x]}]}\n")
        f.flush()
        run = subprocess.run([PYTHON, "-c", VALIDATE, "1.33", f.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        t.ok(run.returncode == 1 and b"comand" in run.stdout, "the schema finds a misspelt key", run)


def namespaces(t):
    """Every file brings the namespace of its pods, with a level that allows them and no more."""
    for what, changes, levels in (
        ("plain pods without a limit of locked memory", {}, {RDMA: "baseline", CUDA: "baseline", PLUGIN: "privileged"}),
        ("plain pods with one", {"profiles__gpu__memlock": "1GiB"}, {RDMA: "privileged"}),
        ("plain pods where none is declared", {"profiles__gpu__memlock": None}, {RDMA: "privileged"}),
        ("the host's network", {"kubernetes__pod_rdma": "host-network"}, {RDMA: "privileged"}),
        ("a second network", {"kubernetes__pod_rdma": "second-network", "kubernetes__rdma_network": "rdma"}, {RDMA: "baseline"}),
    ):
        r = Rendering(site(workload={"namespace": "vllm"}, **changes))
        for path, level in levels.items():
            documents = r.documents(path)
            labels = documents[0]["metadata"]["labels"]
            t.equal(labels["pod-security.kubernetes.io/enforce"], level, f"{what}: {path} is {level}")
            name = documents[0]["metadata"]["name"]
            t.ok(all(d["metadata"].get("namespace") == name for d in documents[1:]), f"{what}: all of {path} is in its namespace")
        t.equal(r.yaml("kubernetes/workload-namespace.yaml")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], levels[RDMA], f"{what}: the workload's namespace")
        capabilities = [c for d in r.documents(RDMA) if d["kind"] == "Pod" for c in d["spec"]["containers"][0].get("securityContext", {}).get("capabilities", {}).get("add", [])]
        t.equal(set(capabilities), {"IPC_LOCK"} if "memlock" in "".join(changes) else set(), f"{what}: IPC_LOCK only where memory is limited")


def device_plugin(t):
    document = site(nodes=3)
    profile = document["profiles"]["gpu"]
    profile["links"]["ens1f1"] = {"driver": "ice"}
    profile["bonds"] = {"bond1": {"mode": "802.3ad", "ports": ["ens1f0", "ens1f1"], "addresses": ["10.9.0.1/24"]}}
    profile["vlans"] = {"bond1.100": {"link": "bond1", "id": 100, "addresses": ["10.8.0.1/24"]}}
    profile["rdma"] = {"bond1.100": {}}
    for i, n in enumerate(document["nodes"].values()):
        n.pop("links")
        n["vlans"] = {"bond1.100": {"addresses": [f"10.8.0.{i + 1}/24"]}}
        n["bonds"] = {"bond1": {"addresses": [f"10.9.0.{i + 1}/24"]}}
    r = Rendering(document)
    if not t.ok(PLUGIN in r.files, "a plugin is rendered", r.said):
        return
    _, config, daemon = r.documents(PLUGIN)
    entry = json.loads(config["data"]["config.json"])["configList"][0]
    t.equal(entry["selectors"], {"vendors": ["8086"], "drivers": ["ice"], "ifNames": ["ens1f0", "ens1f1"], "linkTypes": ["ether"]},
            "ports of a VLAN on a bond are the bond's members, by vendor and driver")
    t.equal((entry["resourcePrefix"], entry["resourceName"]), ("rdma", "e810"), "the declared resource")
    spec = daemon["spec"]["template"]["spec"]
    t.equal(spec["nodeSelector"], {"railhead/rdma": "true"}, "on nodes with RDMA ports")
    t.ok({"key": "railhead/unproven", "operator": "Equal", "value": "true", "effect": "NoSchedule"} in spec["tolerations"], "also on those that are not proven yet", spec)
    t.equal(spec["containers"][0]["image"], "registry.example.net:5000/ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3", "from the mirror")
    t.equal(sorted(v["hostPath"]["path"] for v in spec["volumes"] if "hostPath" in v), ["/dev", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet/plugins_registry"], "with kubelet's folders")
    rule = r.yaml("kubernetes/node-feature-rule.yaml")["spec"]["rules"]
    t.equal([x["matchFeatures"][1]["matchExpressions"] for x in rule], [{"irdma": {"op": "Exists"}, "ib_uverbs": {"op": "Exists"}}], "NFD labels nodes with irdma")
    document = site()
    del document["profiles"]["gpu"]["links"]["ens1f0"]["driver"]
    document["nodes"]["gpu-0001"]["links"] = {"ens1f0": {"addresses": ["10.10.0.2/16"], "driver": "ice"}}
    selectors = json.loads(Rendering(document).documents(PLUGIN)[1]["data"]["config.json"])["configList"][0]["selectors"]
    t.equal(set(selectors), {"ifNames", "linkTypes"}, "no vendor is named where one port does not tell its driver")
    for image, good in (("v1.5.1", False), ("v1.5.2", True), ("network-operator-v26.1.0", True), ("latest", True)):
        r = Rendering(site(kubernetes__images={"device_plugin": f"ghcr.io/x/p:{image}"}))
        t.ok((r.status == 0) == good and (good or "issm" in r.said), f"plugin {image} is {'taken' if good else 'refused'}", r.said)
    r = Rendering(site(kubernetes__rdma_resource="rdma/my-nic"))
    t.ok(r.status == 2 and "rdma_resource" in r.said, "a name that the plugin refuses is refused here", r.said)
    r = Rendering(site(network_operator={"version": "26.1.0", "rdma_device_plugin": True}))
    t.ok(PLUGIN not in r.files and "the Network Operator brings" in r.said, "not beside that of the Network Operator", r.said)
    document = site(nodes=2)
    document["profiles"]["gpu"]["links"]["ens2f0"] = {}
    document["nodes"]["gpu-0001"] = {**node(1), "rdma": {"ens2f0": {"address": None}}}
    document["nodes"]["gpu-0001"] = {**node(1), "links": {"ens2f0": {"driver": "ice", "addresses": ["10.11.0.1/16"]}}, "rdma": {"ens2f0": {"rail": "rail1"}}}
    r = Rendering(document)
    t.ok("link ens2f0 is an RDMA port on some nodes and not on gpu-0000" in r.said, "a link that means different things is noted", r.said)


def rdma_pods(t):
    r = Rendering(site(nodes=3))
    documents = r.documents(RDMA)
    pods = {d["metadata"]["name"]: d for d in documents if d["kind"] == "Pod"}
    t.equal(sorted(pods), [f"rdma-{role}-gpu-000{i}-p0" for role in ("client", "server") for i in range(3)], "a server and a client on each worker")
    services = {d["metadata"]["name"] for d in documents if d["kind"] == "Service"}
    peers = set()
    for name, pod in pods.items():
        container = pod["spec"]["containers"][0]
        env = {e["name"]: e["value"] for e in container["env"]}
        number = int(name.split("-")[3])
        t.equal(pod["spec"]["nodeSelector"], {"kubernetes.io/hostname": f"gpu-000{number}"}, f"{name} runs on its node")
        t.equal(env["RDMA_GID"], f"0000:0000:0000:0000:0000:ffff:0a0a:000{number + 1}", f"{name} has the GID of its node's address")
        t.equal((env["RDMA_TOS"], container["resources"]["limits"]), ("96", {"rdma/e810": "1"}), f"{name}: ToS 96 for DSCP 24, and the resource")
        if "client" in name:
            peers.add(env["RDMA_PEER"])
            t.ok(env["RDMA_PEER"] in services and not env["RDMA_PEER"].startswith(f"rdma-server-gpu-000{number}-"), f"{name} talks to another node's server")
        t.ok("hostNetwork" not in pod["spec"], f"{name} has a network of its own")
    t.equal(len(peers), 3, "every server is used")
    r = Rendering(site(kubernetes__pod_rdma="host-network", kubernetes__rdma_cm=True))
    env = [{e["name"]: e["value"] for e in d["spec"]["containers"][0]["env"]} for d in r.documents(RDMA) if d["kind"] == "Pod"]
    t.ok(all(e["RDMA_CM"] == "1" for e in env) and {e.get("RDMA_PEER") for e in env} == {None, "10.10.0.1", "10.10.0.2"}, "host network: RDMA-CM to the RDMA address", env)
    t.ok(all(d["spec"]["hostNetwork"] for d in r.documents(RDMA) if d["kind"] == "Pod"), "host network: all of them")
    r = Rendering(site(kubernetes__pod_rdma="host-gid", kubernetes__rdma_cm=True))
    t.ok("RDMA_CM" not in r.files[RDMA].split("kind: Service")[1], "plain pods never use RDMA-CM")
    r = Rendering(site(kubernetes__pod_rdma="second-network", kubernetes__rdma_network="default/rdma"))
    pod = [d for d in r.documents(RDMA) if d["kind"] == "Pod"][0]
    t.equal(pod["metadata"]["annotations"], {"k8s.v1.cni.cncf.io/networks": "default/rdma"}, "second network: the annotation")
    t.ok("RDMA_GID" not in r.files[RDMA].split("kind: Service")[1], "whose GID is the pod's own")
    r = Rendering(site(kubernetes__pod_rdma="second-network"))
    t.ok(RDMA not in r.files and "rdma_network" in r.said, "without a name: a note", r.said)
    document = site(nodes=1)
    document["nodes"]["store"] = {"roles": ["storage"], "links": {"ens1f0": {"addresses": ["10.10.9.9/16"]}}, "rdma": {"ens1f0": {"rail": "rail0"}}}
    r = Rendering(document)
    t.ok("start ib_write_bw -p 18515 on the host with 10.10.9.9" in r.files[RDMA] and 'RDMA_PEER\n      value: "10.10.9.9"' in r.files[RDMA], "one worker alone talks to a node outside", r.files[RDMA][-900:])
    r = Rendering(site(nodes=1))
    t.ok("nobody to talk to" in r.said, "or to nobody, with a note", r.said)
    document = site(nodes=1)
    document["nodes"]["a.b"] = node(1)
    document["nodes"]["n" * 60] = node(2)
    r = Rendering(document)
    names = [d["metadata"]["name"] for d in r.documents(RDMA) if d["kind"] == "Service"]
    t.ok(r.status == 0 and all(len(n) <= 63 and "." not in n for n in names) and len(set(names)) == 3, "names of nodes that make no name of a service", names)
    for images, note in ((None, "kubernetes/images/"),):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "other-images.yaml").write_text("schema: railhead.data/1\ntable: other-images\nrows: []\n")
            r = Rendering(site(kubernetes__images=images), "--data", folder)
        t.ok(r.status == 0 and not {RDMA, CUDA, PLUGIN} & set(r.files) and r.said.count(note) == 3, "without images: notes", r.said)
    r = Rendering(site(kubernetes__pod_rdma="none"))
    t.ok(not {RDMA, PLUGIN} & set(r.files) and CUDA in r.files, "no RDMA in pods, no files of it", r.files.keys())


def cuda_pods(t):
    r = Rendering(site(nodes=2, registry__pull_secret="pull"))
    pods = [d for d in r.documents(CUDA) if d["kind"] == "Pod"]
    t.equal([p["spec"]["nodeSelector"]["kubernetes.io/hostname"] for p in pods], ["gpu-0000", "gpu-0001"], "one pod on each GPU node")
    t.ok(all(p["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "1"} for p in pods), "with one GPU")
    t.equal([[x["key"] for x in p["spec"]["tolerations"]] for p in pods], [["nvidia.com/gpu", "railhead/unproven"]] * 2, "and the taints of GPU nodes tolerated")
    t.ok(all(p["spec"]["imagePullSecrets"] == [{"name": "pull"}] for p in pods), "and the pull secret")
    t.ok("secret pull holds a password" in r.said, "which is not rendered: a note", r.said)
    t.ok(not any(p.startswith("kubernetes/") for p in Rendering(site(kubernetes=None)).files), "no cluster, no manifests")


def pod_script(t):
    """rdma-pod.sh below a made tree of sysfs, with a double of ib_write_bw."""
    t.ok(subprocess.run(["shellcheck", POD_SCRIPT]).returncode == 0, "shellcheck finds nothing in rdma-pod.sh")
    r = Rendering(site())
    t.equal(r.documents(RDMA)[1]["data"]["rdma-pod.sh"], POD_SCRIPT.read_text(), "the ConfigMap has the script")
    gids = [
        ("irdma0", 0, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2", "ens1f0"), ("irdma0", 1, "0000:0000:0000:0000:0000:ffff:0a0a:0001", "IB/RoCE v1", "ens1f0"),
        ("irdma0", 2, "0000:0000:0000:0000:0000:ffff:0a0a:0001", "RoCE v2", "ens1f0"), ("irdma1", 0, "fe80:0000:0000:0000:0000:0000:0000:0002", "RoCE v2", "net1"),
        ("irdma1", 3, "0000:0000:0000:0000:0000:ffff:0a0a:0105", "RoCE v2", "net1"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for device, index, gid, kind, link in gids:
            port = Path(folder) / f"sys/class/infiniband/{device}/ports/1"
            for name, value in ((f"gids/{index}", gid), (f"gid_attrs/types/{index}", kind), (f"gid_attrs/ndevs/{index}", link)):
                (port / name).parent.mkdir(parents=True, exist_ok=True)
                (port / name).write_text(value + "\n")
        (Path(folder) / "sys/class/net/net1").mkdir(parents=True)

        def run(**env):
            argv = Path(folder) / "ib_write_bw.argv"
            argv.unlink(missing_ok=True)
            out = run_script(POD_SCRIPT, path=folder, env={"SYSFS": f"{folder}/sys", "RDMA_PORT": "18515", "PAUSE": "0", "ATTEMPTS": "3", **env})
            return out, argv.read_text().splitlines() if argv.exists() else []

        double(folder, "ib_write_bw")
        out, asked = run(RDMA_GID=gids[2][2], RDMA_TOS="96")
        t.ok(out.returncode == 0 and asked == ["--ib-dev=irdma0 --ib-port=1 --gid-index=2 --port=18515 --report_gbits -F --tclass=96 "], "the server takes the RoCEv2 entry of its GID", (out, asked))
        t.ok(b"locked memory" in out.stdout and b"GID index 2" in out.stdout, "and says what it sees", out.stdout)
        out, asked = run(RDMA_GID=gids[2][2], RDMA_PEER="rdma-server-x-p0")
        t.ok(asked[0].endswith("-F rdma-server-x-p0 "), "the client names its peer", asked)
        out, asked = run(RDMA_PEER="x")
        t.ok("--ib-dev=irdma1" in asked[0] and "--gid-index=3" in asked[0], "without a GID: that of a link of this pod, and no link-local one", asked)
        out, asked = run(RDMA_GID=gids[2][2], RDMA_CM="1", RDMA_PEER="x")
        t.ok("--rdma_cm" in asked[0], "RDMA-CM", asked)
        for env in ({"RDMA_GID": "0000:0000:0000:0000:0000:ffff:0a0a:0009"}, {"RDMA_GID": gids[2][2], "RDMA_DEVICE": "irdma1"}):
            out, asked = run(**env)
            t.ok(out.returncode == 1 and not asked and b"no RoCEv2 GID" in out.stderr, f"{env}: no such GID is an error", out)
        double(folder, "ib_write_bw", f'[ "$(wc -l <"{folder}/ib_write_bw.argv")" -ge 2 ]')
        out, asked = run(RDMA_PEER="x")
        t.ok(out.returncode == 0 and len(asked) == 2, "a server that is late is waited for", (out, asked))
        double(folder, "ib_write_bw", "exit 1")
        out, asked = run(RDMA_PEER="x")
        t.ok(out.returncode == 1 and len(asked) == 3 and b"no connection" in out.stderr, "but not for ever", (out, asked))


def nodes_script(t):
    document = site(kubernetes__unproven_taint="example.net/new=yes:NoExecute")
    document["nodes"]["gpu-0001"]["labels"] = {"example.net/gpu": "b300"}
    r = Rendering(document)
    script = r.path / "kubernetes/nodes.sh"
    with tempfile.TemporaryDirectory() as folder:
        kubectl = double(folder, "kubectl")
        out = run_script(script, "--dry-run", "label", path=folder)
        t.ok(out.returncode == 0 and not kubectl.exists() and "label node gpu-0001 --overwrite example.net/gpu=b300 railhead/rdma=true" in out.stdout.decode(), "labels of all nodes", out)
        for args, wanted in ((["taint", "gpu-0001"], "taint node gpu-0001 --overwrite example.net/new=yes:NoExecute"), (["prove", "gpu-0001"], "taint node gpu-0001 example.net/new=yes:NoExecute-")):
            kubectl.unlink(missing_ok=True)
            out = run_script(script, *args, path=folder)
            t.ok(out.returncode == 0 and wanted in kubectl.read_text().replace("\\", ""), f"{args}", kubectl.read_text())
        for args in (["prove"], ["prove", "gpu-9"], ["label", "x y"], ["frob"], []):
            t.ok(run_script(script, *args, path=folder).returncode != 0, f"nodes.sh {args} is refused")


def reproducible(t):
    first, second = (Rendering(site(nodes=8, registry__pull_secret="pull")) for _ in range(2))
    t.equal(first.files, second.files, "the same site gives the same bytes")
    for path, text in first.files.items():
        if path.endswith((".yaml", ".yml")) and not path.startswith("network/"):
            loaded = list(yaml.safe_load_all(text))
            t.ok(all(d is not None for d in loaded) and not re.search(r"[ \t]$", text, re.M), f"{path} is YAML without trailing blanks")
    big = Rendering(site(nodes=1000))
    pods = [line for line in big.files[CUDA].splitlines() if line == "kind: Pod"]
    t.equal((big.status, len(pods)), (0, 1000), "1,000 GPU nodes")


if __name__ == "__main__":
    tap = Tap()
    for case in (by_schema, namespaces, device_plugin, rdma_pods, cuda_pods, pod_script, nodes_script, reproducible):
        tap.case(case)
    tap.done()
