#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The mirror: its lists, and the scripts that copy and prove it.

The registry, file server and package repository are doubles in this process (HTTP on the loopback), and so is
skopeo (a shell script that keeps "images" as files): what is tested is what the scripts make of their answers.
"""

import base64
import contextlib
import gzip
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cluster import Rendering, node, run_script, site  # noqa: E402
from tap import Tap  # noqa: E402

INDEX = "application/vnd.oci.image.index.v1+json"
PACKAGES = """<?xml version="1.0"?><metadata>
<package type="rpm"><name>gcc</name><arch>x86_64</arch><version epoch="0" ver="14.2.1" rel="7.el10"/></package>
<package type="rpm"><name>kernel-devel</name><arch>x86_64</arch><version epoch="0" ver="6.12.0" rel="55.el10_2"/></package>
</metadata>"""


class Double(http.server.BaseHTTPRequestHandler):
    """Answers by path; `routes` maps a path to a function of the request."""

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        self.server.asked.append(f"{self.command} {self.path}")
        path = self.path.split("?")[0]
        with contextlib.suppress(BrokenPipeError):
            self.server.routes.get(path, lambda h: h.answer(404))(self)

    do_HEAD = do_GET

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def server(routes):
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Double)
    httpd.routes, httpd.asked, httpd.host = routes, [], f"127.0.0.1:{httpd.server_address[1]}"
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    try:
        yield httpd
    finally:
        httpd.shutdown()
        httpd.server_close()


def manifest(h):
    h.answer(200, b"{}", Content_Type=INDEX)


def page(h):
    h.answer(200, b"<html>please log in</html>", Content_Type="text/html")


def with_login(kind):
    """A registry that asks for a login first; user "ann", password 'p"w\\d'."""
    wanted = "Basic " + base64.b64encode(b'ann:p"w\\d').decode()

    def image(h):
        seen = h.headers.get("Authorization")
        if seen == ("Bearer good" if kind == "bearer" else wanted):
            return manifest(h)
        if kind == "bearer":
            host = h.headers["Host"]
            challenge = f'Bearer realm="http://{host}/token",service="registry",scope="repository:x:pull"'
        else:
            challenge = 'Basic realm="registry"'
        h.answer(401, WWW_Authenticate=challenge)

    def token(h):
        if h.headers.get("Authorization") != wanted or "scope=repository" not in h.path or "service=registry" not in h.path:
            return h.answer(401)
        h.answer(200, json.dumps({"token": "good"}).encode(), Content_Type="application/json")

    return image, token


def lists(folder, images="", files="", packages=""):
    for name, text in (("images", images), ("files", files), ("packages", packages)):
        (Path(folder) / f"{name}.txt").write_text(text)
    return ["--images", f"{folder}/images.txt", "--files", f"{folder}/files.txt", "--packages", f"{folder}/packages.txt"]


def settings(rendering, **values):
    path = rendering.path / "mirror/settings.sh"
    text = path.read_text()
    for name, value in values.items():
        text = re.sub(f"^{name}=.*$", f"{name}={value}", text, flags=re.M)
    path.write_text(text)


# --- lists -----------------------------------------------------------------------------------------------------


def pairs(text):
    return dict(line.split()[:2] for line in text.splitlines() if line and line[0] != "#")


def image_list(t):
    r = Rendering(site(gpu_operator__gds=True, gpu_operator__gdrcopy=True, workload={"kind": "vllm", "image": "docker.io/vllm/vllm-openai:v0.11.0"}))
    images = pairs(r.files["mirror/images.txt"])
    for wanted in (
        "nvcr.io/nvidia/driver:580.126.20-rhel10", "nvcr.io/nvidia/cloud-native/nvidia-fs:2.27.3-rhel10", "nvcr.io/nvidia/cloud-native/gdrdrv:v2.5.2-rhel10",
        "nvcr.io/nvidia/gpu-operator:v26.3.3", "registry.k8s.io/nfd/node-feature-discovery:v0.18.3", "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0",
        "quay.io/example/perftest:26.04", "ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3", "docker.io/vllm/vllm-openai:v0.11.0",
    ):
        t.equal(images.get(wanted), f"registry.example.net:5000/{wanted}", f"{wanted} is in the list")
    t.ok("nvcr.io/nvidia/driver:580.126.20" not in images, "not with a bare tag of the driver")
    t.ok(not any("vgpu" in i or "kubevirt" in i for i in images), "nor what sandboxes alone need", images)
    r = Rendering(site())
    t.ok("nvidia-fs" not in r.files["mirror/images.txt"] and "gdrdrv" not in r.files["mirror/images.txt"], "GDS and GDRCopy only when declared")
    document = site(nodes=3)
    document["nodes"]["gpu-0001"]["os"] = {"id": "rhel", "version": "9.6"}
    document["nodes"]["gpu-0002"]["os"] = {"id": "rhel", "version": "10.1"}
    images = pairs(Rendering(document).files["mirror/images.txt"])
    t.equal(sorted(i.split("-", 1)[1] for i in images if "/driver:" in i), ["rhel10", "rhel9.6"], "one driver image for each system, by major version from 10 on")
    r = Rendering(site(gpu_operator__driver={"precompiled": True, "version": "580"}))
    t.ok(r.status == 0 and "/driver:" not in r.files["mirror/images.txt"] and "declare the exact kernel" in r.said, "a precompiled driver for a pattern of kernels cannot be told", r.said)
    r = Rendering(site(gpu_operator__driver={"precompiled": True, "version": "580"}, profiles__gpu__kernel="6.12.0-55.el10_2.x86_64"))
    t.ok("nvidia/driver:580-6.12.0-55.el10_2.x86_64-rhel10 " in r.files["mirror/images.txt"], "for an exact kernel it can", r.said)
    r = Rendering(site(gpu_operator__driver={"enabled": False}))
    t.ok("/driver:" not in r.files["mirror/images.txt"] and "k8s-driver-manager" not in r.files["mirror/images.txt"], "a driver of the host needs no image")
    r = Rendering(site(profiles__gpu__os=None))
    t.ok(r.status == 2 and "nodes/gpu-0000/os" in r.said, "without a declared system the tag is not known", r.said)
    document = site(registry__mirrors={u: "r.example.net/all" for u in ("docker.io", "ghcr.io", "nvcr.io", "quay.io", "registry.k8s.io")},
                    workload={"image": "quay.io/example/perftest:26.04"}, kubernetes__images={"rdma": "ghcr.io/example/perftest:26.04"})
    r = Rendering(document)
    t.ok(r.status == 2 and "would be the same image of the mirror" in r.said, "two images in one place are refused", r.said)
    document = site(registry__mirrors__nvcr={})
    document["registry"]["mirrors"] = {**site()["registry"]["mirrors"], "nvcr.io/nvidia": "other.example.net/nv"}
    images = pairs(Rendering(document).files["mirror/images.txt"])
    t.equal(images["nvcr.io/nvidia/gpu-operator:v26.3.3"], "other.example.net/nv/gpu-operator:v26.3.3", "the longest prefix names the mirror")


def package_list(t):
    document = site()
    document["nodes"]["gpu-0001"].update(kernel="6.12.0-99.el10_2.x86_64", drivers={"ice": {"source": "out-of-tree", "version": "2.6.6"}})
    text = Rendering(document).files["mirror/packages.txt"]
    wanted = {"gcc", "kernel-devel-6.12.0-*.el10_2.x86_64", "kernel-headers-6.12.0-*.el10_2.x86_64", "kernel-6.12.0-*.el10_2.x86_64",
              "kernel-devel-6.12.0-99.el10_2.x86_64", "elfutils-libelf", "elfutils-libelf-devel", "rdma-core", "perftest", "make"}
    seen = [line for line in text.splitlines() if line and line[0] != "#"]
    t.ok(wanted <= set(seen) and len(seen) == len(set(seen)), "packages of both kernels, each once", text)
    t.ok("make" not in Rendering(site()).files["mirror/packages.txt"], "tools to build NIC drivers only where they are built")
    r = Rendering(site(profiles__gpu__os={"id": "debian", "version": "12"}))
    t.ok("RHEL and its kin only" in r.said and "gcc" not in r.files["mirror/packages.txt"], "other systems: a note", r.said)
    r = Rendering(site(registry=None))
    t.ok(not any(p.startswith("mirror/") for p in r.files) and "declares no registry" in r.said, "no registry, no mirror", r.said)
    document = site()
    document["nodes"]["gpu-0001"]["kernel"] = "6.12.0 $(id)"
    r = Rendering(document)
    t.ok(r.status == 2 and "site.yaml:" in r.said, "a kernel that is no pattern of uname -r is refused", r.said)


def file_list(t):
    r = Rendering(site())
    files = pairs(r.files["mirror/files.txt"])
    chart = "helm.ngc.nvidia.com/nvidia/charts/gpu-operator-v26.3.3.tgz"
    t.equal(files[f"https://{chart}"], chart, "the operator's chart")
    t.ok(chart in r.files["gpu-operator/settings.sh"], "is where install.sh takes it from")
    t.ok("https://helm.cilium.io/cilium-1.19.3.tgz" in files, "and Cilium's, in the release's version", files)
    t.ok("https://helm.cilium.io/cilium-1.18.5.tgz" in pairs(Rendering(site(kubernetes__cni={"name": "cilium", "version": "v1.18.5"})).files["mirror/files.txt"]), "or the declared one")


# --- verify.sh -------------------------------------------------------------------------------------------------


def verify(r, host, folder, images="", files="", packages="", env=None, timeout="5"):
    settings(r, FILES_URL=f"http://{host}/files", PACKAGES_URL=f"http://{host}/rpm")
    text = "".join(f"up.example.net/{i} {host}/{i}  # why\n" for i in images)
    return run_script(r.path / "mirror/verify.sh", "--timeout", timeout, *lists(folder, text, "".join(f"https://x/{f} {f}\n" for f in files), packages),
                      env={"REGISTRY_SCHEME": "http", **(env or {})})


def verify_images(t):
    bearer, token = with_login("bearer")
    basic, _ = with_login("basic")
    routes = {
        "/v2/a/here/manifests/1": manifest,
        "/v2/a/digest/manifests/sha256:ab": manifest,
        "/v2/moved/manifests/1": lambda h: h.answer(307, Location="/v2/a/here/manifests/1"),
        "/v2/away/manifests/1": lambda h: h.answer(307, Location="/v2/gone/manifests/1"),
        "/v2/round/manifests/1": lambda h: h.answer(307, Location="/v2/round/manifests/1"),
        "/v2/broken/manifests/1": lambda h: h.answer(500),
        "/v2/page/manifests/1": page,
        "/v2/bare/manifests/1": lambda h: h.answer(200),
        "/v2/slow/manifests/1": lambda h: (time.sleep(3), manifest(h)),
        "/v2/secret/manifests/1": bearer,
        "/v2/basic/manifests/1": basic,
        "/token": token,
    }
    login = {"REGISTRY_USER": "ann", "REGISTRY_PASSWORD": 'p"w\\d'}
    r = Rendering(site())
    with server(routes) as http_server, tempfile.TemporaryDirectory() as folder:
        def one(*images, **more):
            out = verify(r, http_server.host, folder, images, **more)
            return out.returncode, out.stdout.decode().strip(), out.stderr.decode()

        t.equal(one("a/here:1", "a/digest@sha256:ab", "moved:1"), (0, "3 of 3 present", ""), "images that are there, also behind a redirect")
        t.ok(all(a.startswith("HEAD") for a in http_server.asked), "were asked for with HEAD", http_server.asked)
        for image, why in (
            ("gone:1", "HTTP status 404"), ("a/here:2", "HTTP status 404"), ("away:1", "HTTP status 404"), ("broken:1", "HTTP status 500"),
            ("round:1", "redirects"), ("page:1", "no manifest"), ("bare:1", "no manifest"), ("secret:1", "no token"), ("basic:1", "HTTP status 401"), ("a/here", "no registry or tag"),
        ):
            status, said, error = one("a/here:1", image)
            t.ok(status == 1 and said == "1 of 2 present" and f"/{image}: " in error and why in error, f"{image} is missing: {why}", (status, said, error))
        status, said, error = one("slow:1", timeout="1")
        t.ok(status == 1 and "timed out" in error, "no answer in time is missing", (status, said, error))
        for image in ("secret:1", "basic:1"):
            t.equal(one(image, env=login)[:2], (0, "1 of 1 present"), f"{image} with its login")
            t.equal(one(image, env={**login, "REGISTRY_PASSWORD": "wrong"})[0], 1, f"{image} with a wrong one")
            netrc = Path(folder) / "netrc"
            netrc.write_text("machine 127.0.0.1 login ann password \"p\\\"w\\\\d\"\n")
            t.equal(one(image, env={"NETRC": str(netrc)})[:2], (0, "1 of 1 present"), f"{image} with a netrc file")
        status, said, error = one()
        t.ok(status == 1 and "the list of images is empty" in error, "an empty list is no proof", (status, said, error))
        host = http_server.host
    with tempfile.TemporaryDirectory() as folder:
        out = verify(r, host, folder, ["a/here:1"])
        t.ok(out.returncode == 1 and b"0 of 1" in out.stdout, "nor is a registry that does not answer", out)
        script = r.path / "mirror/verify.sh"
        for wrong in (["--timeout", "0"], ["--timeout"], ["--frob"], ["--images", "/nonexistent"], ["--ca", "/nonexistent"]):
            t.equal(run_script(script, *wrong).returncode, 2, f"verify.sh {wrong} is wrong usage")


def verify_packages(t):
    def repo(primary, name="repodata/primary.xml.gz"):
        repomd = f'<repomd><data type="filelists"><location href="repodata/x"/></data>\n<data type="primary">\n<location href="{name}"/></data></repomd>'
        return {
            "/rpm/repodata/repomd.xml": lambda h: h.answer(200, repomd.encode(), Content_Type="text/xml"),
            f"/rpm/{name}": lambda h: h.answer(200, primary),
            "/v2/a/manifests/1": manifest,
            "/files/dir/chart.tgz": lambda h: h.answer(200, b"x", Content_Type="application/gzip"),
            "/files/login.tgz": page,
            "/files/empty.tgz": lambda h: h.answer(200, b"", Content_Type="application/gzip"),
        }

    r = Rendering(site())
    listed = "# a comment\ngcc\nkernel-devel-6.12.0-*.el10_2.x86_64\n"
    with tempfile.TemporaryDirectory() as folder:
        for what, primary, packages, files, status, said in (
            ("packages and files that are there", gzip.compress(PACKAGES.encode()), listed, ["dir/chart.tgz"], 0, "4 of 4 present"),
            ("metadata that is not compressed", PACKAGES.encode(), listed, [], 0, "3 of 3 present"),
            ("a package that is not there", gzip.compress(PACKAGES.encode()), listed + "kernel-devel-6.12.0-*.el10_1.x86_64\n", [], 1, "no such package"),
            ("a name that is only the beginning of one", gzip.compress(PACKAGES.encode()), "kernel\n", [], 1, "no such package"),
            ("metadata that is cut off", gzip.compress(PACKAGES.encode())[:60], listed, [], 1, "cannot be read"),
            ("metadata of an unknown kind", b"what is this", listed, [], 1, "cannot be read"),
            ("a file that is not there", PACKAGES.encode(), "gcc\n", ["dir/other.tgz"], 1, "HTTP status 404"),
            ("a login page instead of a file", PACKAGES.encode(), "gcc\n", ["login.tgz"], 1, "web page"),
            ("an empty file", PACKAGES.encode(), "gcc\n", ["empty.tgz"], 1, "the file is empty"),
        ):
            with server(repo(primary)) as s:
                out = verify(r, s.host, folder, ["a:1"], files, packages)
            t.ok(out.returncode == status and said in (out.stdout + out.stderr).decode(), f"{what}: {said}", out)
        with server({"/v2/a/manifests/1": manifest}) as s:
            out = verify(r, s.host, folder, ["a:1"], [], "gcc\n")
        t.ok(out.returncode == 1 and "repomd.xml: HTTP status 404" in out.stderr.decode(), "no metadata at all", out)
        with server({"/v2/a/manifests/1": manifest}) as s:
            settings(r, FILES_URL="", PACKAGES_URL="")
            out = run_script(r.path / "mirror/verify.sh", *lists(folder, f"x {s.host}/a:1\n", "https://x y\n", "gcc\n"), env={"REGISTRY_SCHEME": "http"})
        t.ok(out.returncode == 1 and out.stderr.count(b"is not declared") == 2, "lists without a server to ask", out)


# --- copy.sh ---------------------------------------------------------------------------------------------------

SKOPEO = r"""#!/bin/bash
# A double of skopeo: an image is a file of $STATE, named by its reference.
printf '%s\n' "$*" >>"$STATE/argv"
image() { local name=${1#docker://}; echo "$STATE/${name//[\/:]/_}"; }
words=()
for word; do [[ $word == -* ]] || words+=("$word"); done
case $1 in
inspect) cat "$(image "${@: -1}")" 2>/dev/null ;;
copy)
	[ ! -e "$STATE/slow" ] || { touch "$STATE/started"; sleep 30; }
	if [ -e "$STATE/flaky" ]; then rm "$STATE/flaky"; exit 1; fi
	[ ! -e "$STATE/corrupt" ] || { echo other >"$(image "${@: -1}")"; exit 0; }
	cp "$(image "${@: -2:1}")" "$(image "${@: -1}")" ;;
*) exit 1 ;;
esac
"""


@contextlib.contextmanager
def copying(r, files=""):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "skopeo").write_text(SKOPEO)
        (Path(folder) / "skopeo").chmod(0o755)
        names = ["a/one:1", "b:2", "c@sha256:ab"]
        for name in names:
            (Path(folder) / f"up_{name}".replace("/", "_").replace(":", "_")).write_text(name)
        options = lists(folder, "# comment\n\n" + "".join(f"up/{n} mirror/{n}  # why\n" for n in names), files)[:4]

        def run(*args):
            return run_script(r.path / "mirror/copy.sh", *options, "--files-to", f"{folder}/files", *args, path=folder, env={"STATE": folder, "RETRY_PAUSE": "0"})

        yield Path(folder), run


def copies(folder):
    argv = folder / "argv"
    return [line for line in argv.read_text().splitlines() if line.startswith("copy")] if argv.exists() else []


def copy_images(t):
    r = Rendering(site())
    with copying(r) as (folder, run):
        out = run("--dry-run")
        t.ok(out.returncode == 0 and not (folder / "argv").exists() and b"3 of 3 would be copied" in out.stdout, "a dry run asks nobody", out)
        out = run()
        t.ok(out.returncode == 0 and b"3 of 3 are in place" in out.stdout and (folder / "mirror_b_2").read_text() == "b:2", "all images are copied", out)
        t.ok(b"[2/3] up/b:2" in out.stdout, "with progress", out.stdout.decode())
        t.ok(len(copies(folder)) == 3 and all("--all --preserve-digests" in c for c in copies(folder)), "with all architectures and their digests", copies(folder))
        out = run()
        t.ok(out.returncode == 0 and len(copies(folder)) == 3 and out.stdout.count(b"is there already") == 3, "a second run copies nothing", out)
        (folder / "mirror_b_2").write_text("older")
        out = run()
        t.ok(out.returncode == 0 and (folder / "mirror_b_2").read_text() == "b:2", "an image that changed is copied again", out)
        (folder / "mirror_b_2").unlink()
        (folder / "flaky").touch()
        out = run()
        t.ok(out.returncode == 0 and (folder / "mirror_b_2").exists(), "a failure that passes is tried again", out)
        (folder / "mirror_b_2").unlink()
        (folder / "flaky").touch()
        out = run("--retries", "1")
        t.ok(out.returncode == 1 and b"missing: up/b:2" in out.stderr and b"2 of 3" in out.stdout, "once too often", out)
        (folder / "corrupt").touch()
        out = run("--retries", "2")
        t.ok(out.returncode == 1 and b"another digest" in out.stderr, "a mirror that has something else then is no copy", out)
        (folder / "corrupt").unlink()
        (folder / "up_b_2").unlink()
        out = run("--retries", "2")
        t.ok(out.returncode == 1 and b"missing: up/b:2" in out.stderr and b"2 of 3" in out.stdout, "the rest is copied when a source is missing", out)
        (folder / "images.txt").write_text("# nothing\n")
        t.ok(run().returncode == 2, "empty lists are an error")
        (folder / "images.txt").write_text("lonely\n")
        t.ok(run().returncode == 2, "and a source without a target")
        for wrong in (["--retries", "0"], ["--retries"], ["--frob"], ["--ca", "/nonexistent"]):
            t.equal(run(*wrong).returncode, 2, f"copy.sh {wrong} is wrong usage")


def copy_interrupted(t):
    r = Rendering(site())
    with copying(r) as (folder, run):
        (folder / "slow").touch()
        child = subprocess.Popen(
            [r.path / "mirror/copy.sh", "--images", folder / "images.txt", "--files", folder / "files.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "STATE": str(folder)}, start_new_session=True,
        )
        while not (folder / "started").exists() and child.poll() is None:
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGINT)  # as a terminal does
        out, err = child.communicate(timeout=60)
        t.ok(child.returncode == 130 and b"run it again to go on" in err, "Ctrl-C ends it and says so", (child.returncode, out, err))
        (folder / "slow").unlink()
        out = run()
        t.ok(out.returncode == 0 and b"3 of 3 are in place" in out.stdout, "and the next run goes on", out)


def copy_files(t):
    r = Rendering(site())
    routes = {"/chart.tgz": lambda h: h.answer(200, b"chart"), "/empty": lambda h: h.answer(200)}
    with server(routes) as s:
        with copying(r, f"http://{s.host}/chart.tgz dir/chart.tgz\n") as (folder, run):
            out = run()
            t.ok(out.returncode == 0 and (folder / "files/dir/chart.tgz").read_bytes() == b"chart" and b"4 of 4" in out.stdout, "files are fetched too", out)
            asked = len(s.asked)
            t.ok(run().returncode == 0 and len(s.asked) == asked, "once")
        for name in ("gone", "empty"):
            with copying(r, f"http://{s.host}/{name} x\n") as (folder, run):
                out = run("--retries", "1")
                t.ok(out.returncode == 1 and not (folder / "files/x").exists() and f"/{name}".encode() in out.stderr, f"a file that is {name} is missing", out)


def kubespray_lists(t):
    r = Rendering(site())
    with tempfile.TemporaryDirectory() as folder:
        offline = Path(folder) / "contrib/offline"
        offline.mkdir(parents=True)
        script = offline / "generate_list.sh"
        script.write_text(
            '#!/bin/bash\n# a double\ncd "$(dirname "$0")"; echo "$*" >argv; mkdir -p temp\n'
            "printf 'registry.k8s.io/pause:3.10\\nquay.io/cilium/cilium:v1.19.3\\n' >temp/images.list\nprintf 'https://dl.k8s.io/release/x/kubelet\\n' >temp/files.list\n"
        )
        script.chmod(0o755)
        out = run_script(r.path / "mirror/kubespray.sh", folder)
        images, files = (r.path / "mirror/images-kubespray.txt").read_text(), (r.path / "mirror/files-kubespray.txt").read_text()
        t.ok(out.returncode == 0 and "-e kube_version=1.33.7" in (offline / "argv").read_text(), "Kubespray lists what its release needs for this version", out)
        t.equal(images, "registry.k8s.io/pause:3.10 registry.example.net:5000/registry.k8s.io/pause:3.10\nquay.io/cilium/cilium:v1.19.3 registry.example.net:5000/quay.io/cilium/cilium:v1.19.3\n", "images get their mirror")
        t.equal(files, "https://dl.k8s.io/release/x/kubelet dl.k8s.io/release/x/kubelet\n", "files the folder of their domain")
        script.write_text(script.read_text().replace("quay.io/", "elsewhere.io/"))
        out = run_script(r.path / "mirror/kubespray.sh", folder)
        t.ok(out.returncode == 1 and b"no mirror: elsewhere.io/cilium" in out.stderr, "an image without a mirror is an error", out)
        out = run_script(r.path / "mirror/kubespray.sh", f"{folder}/nothing")
        t.ok(out.returncode == 1 and b"is not there" in out.stderr, "so is a folder that is none", out)


def scripts_are_clean(t):
    r = Rendering(site())
    paths = [r.path / p for p in r.files if p.startswith(("mirror/", "kubernetes/", "kubespray/", "gpu-operator/")) and p.endswith(".sh")]
    run = subprocess.run(["shellcheck", "-x", *paths], stdout=subprocess.PIPE)
    t.ok(run.returncode == 0 and len(paths) >= 9, f"shellcheck finds nothing in {len(paths)} scripts and their settings", run.stdout.decode())
    for image, good in (("nvcr.io/a;id:1", False), ("nvcr.io/a$(id):1", False), ("nvcr.io/a b:1", False), ("nvcr.io/a:1\nx y", False), ("nvcr.io/a/b_c:1.2-3", True)):
        r = Rendering(site(kubernetes__images={"cuda": image}))
        t.ok((r.status == 0) == good and (good or "site.yaml:" in r.said), f"image {image!r} is {'taken' if good else 'refused'}", r.said)
    document = site()
    document["nodes"]["gpu-0001"] = node(1, os={"id": "rhel$(id)", "version": "10.2"})
    r = Rendering(document)
    t.ok(r.status == 2 and "site.yaml:" in r.said, "an id of a system that is no word is refused", r.said)


if __name__ == "__main__":
    tap = Tap()
    for case in (image_list, package_list, file_list, verify_images, verify_packages, copy_images, copy_interrupted, copy_files, kubespray_lists, scripts_are_clean):
        tap.case(case)
    tap.done()
