#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values of the GPU Operator's chart: typed, all known to the chart, every image from the mirror."""

import configparser
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import EXAMPLES, TOP, Rendering, double, run_script, site  # noqa: E402
from tap import Tap  # noqa: E402

VALUES = "gpu-operator/values.yaml"
CHARTS = {
    row["version"]: row["keys"]
    for row in yaml.safe_load((TOP / "data/chart-keys.yaml").read_text())["rows"] if row["chart"] == "gpu-operator"
}
IMAGES = yaml.safe_load((TOP / "data/images.yaml").read_text())["rows"]
TYPES = {"bool": bool, "int": int, "string": str, "list": list, "map": dict}


def leaves(values, keys, path=""):
    """(key of the chart, value): a value that the chart calls a map is a leaf."""
    for name, value in values.items():
        key = f"{path}{name}"
        if isinstance(value, dict) and keys.get(key) != "map":
            yield from leaves(value, keys, key + ".")
        else:
            yield key, value


def every_version(t):
    t.ok(len(CHARTS) >= 2, "the matrix has keys of several versions", CHARTS.keys())
    for version, keys in CHARTS.items():
        r = Rendering(site(gpu_operator={"version": version, "gds": True, "gdrcopy": True}, registry__pull_secret="pull", registry__ca_file="/ca.pem"))
        if not t.equal(r.status, 0, f"{version} is rendered"):
            t.ok(False, "why not", r.said)
            continue
        values = r.yaml(VALUES)
        wrong = [(k, v) for k, v in leaves(values, keys) if k not in keys or type(v) is not TYPES[keys[k]]]
        t.ok(not wrong, f"{version}: every value has a key of the chart and its type", wrong)
        flat = dict(leaves(values, keys))
        rows = [row for row in IMAGES if row["operator"] == version]
        for row in rows:
            key = row["key"]
            if key == "node-feature-discovery":
                seen = flat[f"{key}.image.repository"], flat[f"{key}.image.tag"], flat[f"{key}.imagePullSecrets"]
                want = f"registry.example.net:5000/{row['repository']}/{row['image']}", row["version"], [{"name": "pull"}]
            else:
                seen = flat[f"{key}.repository"], flat.get(f"{key}.version"), flat.get(f"{key}.imagePullSecrets")
                want = f"registry.example.net:5000/{row['repository']}", row["version"], ["pull"] if f"{key}.imagePullSecrets" in keys else None
                if key == "driver":
                    want = want[0], flat["driver.version"], want[2]
            t.equal(seen, want, f"{version}: {key} comes from the mirror")
        t.ok(len(rows) > 10, f"{version}: {len(rows)} images")
        text = r.files[VALUES]
        t.ok(not re.search(r"^[^#]*\b(nvcr|registry\.k8s)\.io", text.replace("5000/nvcr.io", "").replace("5000/registry.k8s.io", ""), re.M),
             f"{version}: no upstream registry is named", text)


def driver(t):
    def flat(**changes):
        r = Rendering(site(**changes))
        return dict(leaves(r.yaml(VALUES), CHARTS["v26.3.3"])) if r.status == 0 else r.said

    v = flat()
    t.equal((v["driver.enabled"], v["driver.kernelModuleType"], v["driver.rdma.enabled"], v["driver.rdma.useHostMofed"]), (True, "open", False, False),
            "a NIC that is not NVIDIA's needs the open module and no peer memory")
    t.equal(flat(gpu_operator__driver={"kernel_module_type": "auto"})["driver.kernelModuleType"], "open", "auto is told as open where DMA-BUF is wanted")
    t.equal(flat(gpudirect=False, gpu_operator__driver={"kernel_module_type": "auto"})["driver.kernelModuleType"], "auto", "and stays auto where it is not")
    t.equal(flat(gpu_operator__driver={"kernel_module_type": "proprietary"})["driver.kernelModuleType"], "proprietary", "what is declared is rendered")
    t.equal(flat(gpu_operator__driver={"rdma": {"enabled": True, "use_host_mofed": True}})["driver.rdma.useHostMofed"], True, "peer memory when declared")
    t.equal(v["driver.version"], "580.126.20", "the driver version is bare: the operator adds the system")
    t.equal(flat(gpu_operator__driver={"enabled": False})["driver.enabled"], False, "a driver of the host")
    t.equal(v["daemonsets.tolerations"], [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "railhead/unproven", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
    ], "the operator's pods run on a node that is not proven yet")
    t.equal(v["node-feature-discovery.worker.tolerations"][-1]["key"], "node-role.kubernetes.io/control-plane", "NFD keeps what its chart has")
    taints = flat(kubernetes__unproven_taint="readiness.example.net/rdma:NoExecute")["node-feature-discovery.worker.tolerations"]
    t.ok({"key": "readiness.example.net/rdma", "operator": "Exists", "effect": "NoExecute"} in taints, "NFD tolerates a declared taint too", taints)
    version = Rendering(site(gpu_operator__version="26.3.3"))
    t.ok("gpu-operator-v26.3.3.tgz" in version.files["gpu-operator/settings.sh"], "a version without v is the same", version.said)


def user_values(t):
    r = Rendering(site(gpu_operator__values={
        "dcgmExporter.enabled": "false", "driver.startupProbe.failureThreshold": "240", "mig.strategy": "mixed",
        "driver.env": '[{"name": "A", "value": "it\'s: {{ x }}"}]', "daemonsets.labels": '{"team": "gpu"}', "daemonsets.annotations.example.net/a.b": "yes",
        "operator.tolerations": "[]", "toolkit.version": "1.30",
    }))
    v = r.yaml(VALUES)
    t.equal(v["dcgmExporter"]["enabled"], False, "a truth value")
    t.equal(v["driver"]["startupProbe"]["failureThreshold"], 240, "a number")
    t.equal(v["mig"]["strategy"], "mixed", "a text")
    t.equal(v["driver"]["env"], [{"name": "A", "value": "it's: {{ x }}"}], "a list")
    t.equal(v["daemonsets"]["labels"], {"team": "gpu"}, "a map")
    t.equal(v["daemonsets"]["annotations"], {"example.net/a.b": "yes"}, "below a map, dots belong to the name, and words of YAML are texts")
    t.equal(v["operator"]["tolerations"], [], "an empty list")
    t.equal(v["toolkit"]["version"], "1.30", "a version stays a text")
    t.ok("dcgm-exporter" not in r.files["mirror/images.txt"], "a component that is off has no image in the list")
    t.ok("container-toolkit:1.30 " in r.files["mirror/images.txt"], "and a replaced version has")
    for values, text in (
        ({"driver.versoin": "1"}, "did you mean 'driver.version'"),
        ({"dcgmExporter.enable": "false"}, "did you mean 'dcgmExporter.enabled'"),
        ({"zzz": "1"}, "has no key 'zzz'"),
        ({"driver": "{}"}, "has no key 'driver'"),
        ({"driver.enabled.x": "1"}, "has no key"),
        ({"driver.rdma.enabled": "yes"}, "is not true or false"),
        ({"driver.startupProbe.failureThreshold": "many"}, "is not a number"),
        ({"driver.env": "A=b"}, "is not a list"),
        ({"driver.env": '{"a": 1}'}, "is not a list"),
        ({"daemonsets.labels": "[1"}, "is not a map"),
        ({"driver.version": "570.1"}, "say it once"),
        ({"gds.enabled": "true", "x": "1"}, "has no key 'x'"),
    ):
        r = Rendering(site(gpu_operator__values=values))
        line = "say it once" in text or re.search(r"site\.yaml:\d+: gpu_operator/values/", r.said)
        t.ok(r.status == 2 and text in r.said and line and not r.files, f"{values} is refused with its line", r.said)
    r = Rendering(site(gpu_operator__values={"driver.version": "580.126.20", "gds.enabled": "true"}))
    t.equal((r.status, r.yaml(VALUES)["gds"]["enabled"]), (0, True), "the same said twice, and a key without a declaration of its own")


def unknown_version(t):
    r = Rendering(site(gpu_operator__version="v27.1.0"))
    t.ok(r.status == 2 and "gpu-operator v27.1.0 are not known" in r.said and "v26.7.0" in r.said and "--data" in r.said, "a version without keys is refused, and the known ones are named", r.said)
    with tempfile.TemporaryDirectory() as folder:
        for table in ("chart-keys", "images"):
            text = (TOP / f"data/{table}.yaml").read_text()
            (Path(folder) / f"{table}.yaml").write_text(text.replace("v26.7.0", "v27.1.0"))
        r = Rendering(site(gpu_operator__version="v27.1.0"), "--data", folder)
        t.ok(r.status == 0 and "chart gpu-operator v27.1.0" in r.files[VALUES], "--data adds it", r.said)


def repositories(t):
    path = "gpu-operator/repositories.yaml"
    r = Rendering(site(registry__ca_file="/etc/pki/ca.pem", gpu_operator__driver={"repo_config": "repo-config"}))
    config = r.yaml(path)
    t.equal((config["metadata"]["name"], config["metadata"]["namespace"], r.yaml(VALUES)["driver"]["repoConfig"]["configMapName"]),
            ("repo-config", "gpu-operator", "repo-config"), "the declared name stands in both")
    ini = configparser.ConfigParser(interpolation=None)
    ini.read_string(config["data"]["railhead.repo"])
    repo = dict(ini["railhead-packages"])
    t.equal((repo["baseurl"], repo["gpgcheck"]), ("https://packages.example.net/rhel10", "1"), "the declared repository, with signatures checked")
    key = re.search(r"CA_KEY=(\S+)", r.files["gpu-operator/settings.sh"]).group(1)
    t.equal((repo["sslcacert"], r.yaml(VALUES)["driver"]["certConfig"]["name"]), (f"/etc/pki/ca-trust/extracted/pem/{key}", "railhead-ca"), "and the CA where the operator mounts it")
    ini = configparser.ConfigParser()
    ini.read_string(config["data"]["ubi.repo"])
    t.equal(ini.sections(), [], "the image's own repository is shadowed by an empty file")
    t.ok(path not in Rendering(site(gpu_operator__driver={"precompiled": True}, profiles__gpu__kernel="6.12.0-55.el10_2.x86_64")).files, "none for a precompiled driver")
    r = Rendering(site(registry__packages_url=None))
    t.ok(path not in r.files and "registry/packages_url is not declared" in r.said, "none without a repository, and a note", r.said)
    r = Rendering(site(profiles__gpu__os={"id": "ubuntu", "version": "24.04"}, gpu_operator__driver={"repo_config": "apt"}))
    t.ok(path not in r.files and "written by hand" in r.said, "none for another system, and a note", r.said)
    t.ok("driver:580.126.20-ubuntu24.04 " in Rendering(site(profiles__gpu__os={"id": "ubuntu", "version": "24.04"})).files["mirror/images.txt"], "whose driver image has its whole version")


def install(t):
    r = Rendering(site(registry__pull_secret="pull", registry__ca_file="/etc/pki/ca.pem"))
    script = r.path / "gpu-operator/install.sh"
    check = subprocess.run(["shellcheck", "-x", script, r.path / "gpu-operator/settings.sh"], stdout=subprocess.PIPE)
    t.ok(check.returncode == 0, "shellcheck finds nothing in install.sh", check.stdout.decode())
    t.equal(r.yaml("gpu-operator/namespace.yaml")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "privileged", "the namespace is privileged")
    ca = r.path / "ca.pem"
    ca.write_text("certificate\n")
    settings = r.path / "gpu-operator/settings.sh"
    settings.write_text(settings.read_text().replace("/etc/pki/ca.pem", str(ca)))
    with tempfile.TemporaryDirectory() as folder:
        kubectl, helm = double(folder, "kubectl", "cat >/dev/null 2>&1 </dev/null; exit 0"), double(folder, "helm")
        out = run_script(script, "--dry-run", path=folder)
        t.ok(out.returncode == 0 and not kubectl.exists() and "--dry-run" in helm.read_text(), "a dry run changes nothing", out)
        helm.unlink()
        out = run_script(script, path=folder)
        said = helm.read_text() if helm.exists() else ""
        chart = "https://files.example.net/k8s/helm.ngc.nvidia.com/nvidia/charts/gpu-operator-v26.3.3.tgz"
        t.ok(out.returncode == 0 and f"upgrade --install gpu-operator {chart} --version v26.3.3 --namespace gpu-operator" in said, "the chart of that version, from the mirror", out)
        asked = kubectl.read_text()
        t.ok(asked.index("namespace.yaml") < asked.index("get secret pull") < asked.index("repositories.yaml") < asked.index("create configmap"), "namespace, secret, repositories, certificate", asked)
        out = run_script(script, "--chart", "/tmp/x.tgz", path=folder)
        t.ok("gpu-operator /tmp/x.tgz" in helm.read_text(), "another place of the chart", out)
        double(folder, "kubectl", "[ \"$1\" != get ]")
        out = run_script(script, path=folder)
        t.ok(out.returncode == 1 and "secret pull is missing" in out.stderr.decode(), "a missing pull secret is told before anything is pulled", out)
        double(folder, "kubectl")
        double(folder, "helm", "exit 1")
        out = run_script(script, path=folder)
        t.ok(out.returncode == 1 and "could not install" in out.stderr.decode(), "helm's failure is a failure", out)
        t.equal(run_script(script, "frob", path=folder).returncode, 2, "wrong usage")


def example(t):
    r = Rendering(EXAMPLES / "original-proposal.yaml")
    t.equal(r.yaml(VALUES)["driver"]["kernelModuleType"], "open", "the proposal, with --force")
    r = Rendering(site(gpu_operator=None))
    t.ok(not any(p.startswith("gpu-operator/") for p in r.files) and "declares no gpu_operator" in r.said, "no operator, no files of it", r.said)
    document = site()
    del document["registry"]["mirrors"]["nvcr.io"]
    r = Rendering(document)
    t.ok(r.status == 2 and "no mirror of nvcr.io" in r.said, "an air gap without a mirror of the images is refused", r.said)
    document["registry"]["air_gapped"] = False
    r = Rendering(document)
    t.equal(r.yaml(VALUES)["driver"]["repository"], "nvcr.io/nvidia", "without an air gap they come from upstream")


if __name__ == "__main__":
    tap = Tap()
    for case in (every_version, driver, user_values, unknown_version, repositories, install, example):
        tap.case(case)
    tap.done()
