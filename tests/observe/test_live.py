#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The snapshot of this machine, compared with what other programs say of it."""

import ipaddress
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap, public_program  # noqa: E402

RAILHEAD = os.environ["RAILHEAD"]
DOUBLE = os.environ["NVML_DOUBLE_PATH"]
NOBODY = 65534


def snapshot(*args, env=None, user=None, program=RAILHEAD):
    run = subprocess.run([program, "snapshot", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, user=user,
                         group=user, extra_groups=[] if user else None, env={**os.environ, **(env or {})})
    if run.returncode:
        raise RuntimeError(run.stderr.decode())
    return json.loads(run.stdout)


def output(*argv):
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE).stdout.decode()


def head(t):
    s = snapshot()
    t.equal(s["schema"], "railhead.snapshot/1", "schema")
    t.equal(s["source"]["kind"], "live", "source")
    taken = time.mktime(time.strptime(s["taken"]["realtime"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
    t.ok(abs(time.time() - taken) < 60, "time of this minute, in UTC", s["taken"])
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    t.ok(abs(uptime - s["taken"]["boottime_ns"] / 1e9) < 60, "time since boot", s["taken"])
    for gap in s["gaps"]:
        known = gap["pointer"].startswith("/") and gap["reason"]
        t.ok(known, f"the gap {gap['pointer']} says why", gap)


def node(t):
    s = snapshot()
    t.equal(s["node"]["hostname"], output("uname", "-n").strip(), "host name as uname says")
    t.equal(s["node"]["machine"], output("uname", "-m").strip(), "machine as uname says")
    t.equal(s["os"]["kernel"]["release"], output("uname", "-r").strip(), "kernel release as uname says")
    t.equal(s["os"]["kernel"]["version"], output("uname", "-v").strip(), "kernel version as uname says")
    t.equal(s["os"]["kernel"]["cmdline"], Path("/proc/cmdline").read_text().strip(), "command line of the kernel")
    release = platform.freedesktop_os_release()
    t.equal(s["os"]["release"], {k.lower(): release[k] for k in ("ID", "VERSION_ID", "NAME", "PRETTY_NAME") if k in release},
            "os-release as Python reads it")
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    memlock = s["os"]["memlock"]["self"]
    t.equal((memlock["soft_bytes"], memlock["hard_bytes"]), (soft, hard), "locked memory as getrlimit says")


def modules(t):
    s = snapshot()
    folder = Path("/sys/module")
    for name, facts in s["os"]["modules"].items():
        at = folder / name
        loaded = at.is_dir() and (not (at / "initstate").exists() or (at / "initstate").read_text().strip() == "live")
        loaded = loaded or facts.get("builtin", False)
        t.equal(facts["loaded"], loaded, f"module {name} as /sys/module shows it")


def packages(t):
    s = snapshot()
    if not shutil.which("dpkg-query"):
        t.skip("packages as dpkg says", "no dpkg-query here")
        return
    found = s["os"].get("packages", {})
    lines = output("dpkg-query", "-W", "-f", "${db:Status-Status}\t${Package}\t${Version}\n").splitlines()
    installed = {}
    for status, name, version in (line.split("\t") for line in lines):
        if status == "installed":
            installed.setdefault(name, []).append(version)
    for name in ("rdma-core", "libibverbs1", "ibverbs-providers", "perftest"):
        t.equal(found.get(name), installed.get(name), f"package {name} as dpkg says")


def pci(t):
    s = snapshot()
    bus = Path("/sys/bus/pci/devices")
    if not bus.is_dir():
        t.equal(s["pci"].get("devices", {}), {}, "no PCI bus, no devices")
        return
    wanted = re.compile("0x(02....|03....|12....|0604..|0680..)$")
    expected = {d.name for d in bus.iterdir() if wanted.match((d / "class").read_text().strip())}
    t.equal(set(s["pci"]["devices"]), expected, "devices of the classes of interest")
    if not shutil.which("lspci"):
        t.skip("devices as lspci says", "no lspci here")
        return
    for line in output("lspci", "-Dnmm").splitlines():
        bdf, *fields = re.findall(r'"[^"]*"|\S+', line)
        fields = [f.strip('"') for f in fields if f.startswith('"')]
        device = s["pci"]["devices"].get(bdf)
        if device:
            seen = (device["class"][2:6], device["vendor"][2:], device["device"][2:])
            t.equal(seen, tuple(fields[:3]), f"{bdf} as lspci says")
        driver = Path(f"/sys/bus/pci/devices/{bdf}/driver")
        if device:
            t.equal(device["driver"], driver.resolve().name if driver.exists() else None, f"driver of {bdf}")
    for name in os.listdir("/sys/class/net"):
        for device in re.findall(r"/([0-9a-f]{4}:[0-9a-f:.]+)/(?:virtio\d+/)?net/", os.path.realpath(f"/sys/class/net/{name}") + "/"):
            t.ok(name in s["pci"]["devices"][device]["links"], f"{name} belongs to {device}", s["pci"]["devices"][device])


def userspace(t):
    s = snapshot()
    found = [p.resolve().name for d in ("/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")
             for p in Path(d).glob("libibverbs.so.1")]
    if not found:
        t.ok(any(g["pointer"] == "/userspace/rdma_core" for g in s["gaps"]), "no libibverbs: a gap", s["gaps"])
        return
    versioned = re.match(r"libibverbs\.so\.1\.\d+\.(\d+\..+)", found[0])
    expected = versioned.group(1) if versioned else next(
        s["os"]["packages"][p][0].split("-")[0] for p in ("libibverbs1", "libibverbs") if p in s["os"]["packages"])
    t.equal(s["userspace"]["rdma_core"], expected, "version of rdma-core")
    t.ok(set(s["userspace"]["providers"]) <= {p.name.split("-rdmav")[0][3:] for p in Path("/").glob("usr/lib*/**/libibverbs/lib*.so")},
         "providers have a library", s["userspace"])


def rdma(t):
    s = snapshot()
    names = os.listdir("/sys/class/infiniband") if os.path.isdir("/sys/class/infiniband") else []
    t.equal(sorted(s["rdma"]["devices"]), sorted(names), "RDMA devices as sysfs lists them")
    if not shutil.which("rdma") or not names:
        t.skip("RDMA devices as rdma(8) says", "no RDMA device or no rdma(8) here")
        return
    for d in json.loads(output("rdma", "-j", "dev")):
        seen = s["rdma"]["devices"][d["ifname"]]
        for key, other in (("index", "ifindex"), ("node_guid", "node_guid"), ("node_type", "node_type")):
            t.equal(seen[key], d[other], f"{key} of {d['ifname']} as rdma says")
    for link in json.loads(output("rdma", "-j", "link")):
        seen = s["rdma"]["devices"][link["ifname"]]["ports"][str(link["port"])]
        for key, other in (("state", "state"), ("physical_state", "physical_state"), ("link", "netdev")):
            t.equal(seen.get(key), link.get(other), f"{key} of {link['ifname']} as rdma says")
    for device in json.loads(output("rdma", "-j", "res")):
        seen = s["rdma"]["devices"][device["ifname"]]["resources"]
        expected = {k: v for k, v in device.items() if k not in ("ifindex", "ifname")}
        t.equal({k: seen.get(k) for k in expected}, expected, f"resources of {device['ifname']} as rdma says")


def verbs(t):
    s = snapshot()
    if not shutil.which("ibv_devinfo") or not s["rdma"]["devices"]:
        t.skip("attributes as ibv_devinfo says", "no RDMA device or no ibv_devinfo here")
        return
    t.equal(sorted(s["userspace"]["opened"]), sorted(s["rdma"]["devices"]), "libibverbs opens every device")
    for name, device in s["rdma"]["devices"].items():
        text = output("ibv_devinfo", "-v", "-d", name)
        value = dict(re.findall(r"^\s*(\w+):\s+(\S+)", text, re.M))
        capabilities = device["capabilities"]
        t.equal(capabilities["max_qp"], int(value["max_qp"]), f"max_qp of {name}")
        t.equal(capabilities["max_sge"], int(value["max_sge"]), f"max_sge of {name}")
        t.equal(int(capabilities["max_mr_size"]), int(value["max_mr_size"], 16), f"max_mr_size of {name}")
        t.equal(capabilities["page_size_cap"], int(value["page_size_cap"], 16), f"page_size_cap of {name}")
        t.ok(f"ATOMIC_{capabilities['atomic']}" in value["atomic_cap"], f"atomic of {name}", value["atomic_cap"])
        port = device["ports"]["1"]
        t.equal((port["active_mtu"], port["max_mtu"]), (int(value["active_mtu"]), int(value["max_mtu"])), f"MTU of {name}")
        t.equal(port["link_layer"], value["link_layer"], f"link layer of {name}")
        for gid in port["gids"]:
            address = ipaddress.ip_address(gid["gid"])
            shown = re.search(rf"GID\[\s*{gid['index']}\]:\s+(\S+?),? ", text + " ")
            t.ok(shown and ipaddress.ip_address(shown.group(1).rstrip(",")) == address, f"GID {gid['index']} of {name}", text)


def double(t):
    ok = snapshot(env={"RAILHEAD_NVML": DOUBLE, "NVML_DOUBLE": "ok"})
    t.equal(ok["source"]["kind"], "double", "a snapshot with a double says so")
    t.equal(ok["gpu"]["nvml"]["status"], "ok", "the double answers")
    t.equal(sorted(ok["gpu"]["devices"]), ["0000:1b:00.0", "10000:43:00.0"], "its GPUs")
    begin = time.monotonic()
    hang = snapshot(env={"RAILHEAD_NVML": DOUBLE, "NVML_DOUBLE": "hang"})
    t.equal(hang["gpu"]["nvml"]["status"], "timeout", "a hanging library is left")
    t.ok(time.monotonic() - begin < 15, "within its time", time.monotonic() - begin)
    crash = snapshot(env={"RAILHEAD_NVML": DOUBLE, "NVML_DOUBLE": "crash"})
    t.equal(crash["gpu"]["nvml"]["status"], "crashed", "a crashing library takes nothing with it")


def recording(t):
    """A replay asks what was asked, and sees what was seen."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording")
        run = subprocess.run([RAILHEAD, "record", "-o", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not t.equal(run.returncode, 0, "record"):
            print("# " + run.stderr.decode())
            return
        one, two = snapshot("--replay", path), snapshot("--replay", path)
    t.equal(one, two, "two replays are equal")
    t.equal(one["source"]["kind"], "replay", "a replay says so")
    live = snapshot()
    lost = {g["pointer"] for g in one["gaps"]} - {g["pointer"] for g in live["gaps"]}
    t.equal(lost, set(), "a replay has no gap that the machine has not")
    # The log grows meanwhile.
    del one["os"]["log"], live["os"]["log"]
    for part in ("node", "os", "pci", "userspace"):
        t.equal(one[part], live[part], f"/{part} of the replay as of the machine")


def unprivileged(t):
    if os.geteuid() != 0:
        t.skip("as another user", "only root can become another user")
        return
    with public_program(RAILHEAD) as program:
        s = snapshot(user=NOBODY, program=program)
    t.equal(s["os"]["memlock"]["self"]["cap_ipc_lock"], False, "a user has no CAP_IPC_LOCK")
    hints = {g["pointer"]: g.get("hint", "") for g in s["gaps"]}
    readable = s["os"]["log"].get("readable")
    t.ok(readable is True or "root" in hints.get("/os/log/lines", ""), "an unreadable log says how to read it", s["os"]["log"])
    for bdf, device in s["pci"]["devices"].items():
        if device["class"] == "0x060400":
            t.ok("root" in hints.get(f"/pci/devices/{bdf}/acs", ""), f"ACS of {bdf} says how to see it", hints)


def main():
    t = Tap()
    for function in (head, node, modules, packages, pci, userspace, rdma, verbs, double, recording, unprivileged):
        t.case(function)
    t.done()


main()
