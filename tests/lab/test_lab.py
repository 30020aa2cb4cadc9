#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ladder on real input: three guests with a real kernel, real LACP and real RoCEv2 (rxe).

First the healthy site: what passes, what is unknown and why. Then each fault alone: the gate that is meant for it
fails and names the cause, and every gate that does not depend on it keeps its verdict.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
LAB = str(TOP / "lab" / "lab")
# The guests see the host's files, so the plain build runs in them; the sanitizers' build is too slow there.
RAILHEAD = TOP / "build" / "railhead"
SITE = TOP / "examples" / "lab.yaml"
NODES = ("gpu-node-01", "aistor-01")
PAIR = "pair"

# Gates that later work feeds: unknown in the lab, each with a way to obtain its fact.
UNKNOWN = {
    "rdma.counters": "an earlier snapshot",
    "proof.host": "active test",
    "proof.baseline": "active test",
    "proof.pfc": "active test",
    "proof.ecn": "active test",
    "proof.marking": "active test",
}
# What the healthy lab must pass on both nodes: seen, and right.
PASS = {
    "os.release", "os.kernel", "os.memlock", "os.kernel-log", "net.bond", "net.address", "net.mtu", "nic.driver",
    "rdma.module", "rdma.device", "rdma.protocol", "rdma.gid", "rdma.mtu", "rdma.chardev", "rdma.userspace", "rdma.netns",
    "qos.dcbx", "qos.flow-control", "qos.dscp", "qos.ets", "qos.pfc", "qos.equal", "qos.tos",
}

# name: (where it is injected and judged, gate, subject, cause, gates that depend on it and may change too)
FAULTS = {
    "bond-port-down": ("gpu-node-01", "net.bond", "bond1", "port-", {"net.mtu", "os.kernel-log"}),
    "lacp-silent": ("gpu-node-01", "net.bond", "bond1", "lacp-no-partner", {"os.kernel-log"}),
    "mtu-member": ("gpu-node-01", "net.mtu", "bond1", "mtu-member-low", set()),
    "bond-mode": ("gpu-node-01", "net.bond", "bond1", "bond-mode", {"os.kernel-log"}),
    "address-missing": ("gpu-node-01", "net.address", None, "address-missing", {"rdma.gid"}),
    "rxe-missing": ("gpu-node-01", "rdma.device", "bond1", "rxe-link-missing", {"rdma.userspace", "rdma.chardev", "rdma.netns"}),
    "pfc-p0": ("gpu-node-01", "qos.pfc", "roce0", "pfc-", {"qos.equal"}),
    "dscp-missing": ("gpu-node-01", "qos.dscp", "roce0", "dscp-", {"qos.equal"}),
    "tc3-zero": ("gpu-node-01", "qos.ets", "roce0", "ets-", {"qos.equal"}),
    "rdma-ucm-missing": ("gpu-node-01", "rdma.chardev", None, "rdma-ucm", {"rdma.module"}),
    "memlock-64k": ("gpu-node-01", "os.memlock", None, "memlock-", set()),
    "mtu-peer": (PAIR, "net.mtu", "gpu-node-01/bond1 ↔ aistor-01/bond1", "mtu-pair", {"rdma.mtu"}),
}

# A limit of locked memory binds only who has no CAP_IPC_LOCK: root without it stands for a pod that is not root.
PREFIX = {"memlock-64k": ("setpriv", "--bounding-set", "-ipc_lock")}


def lab(*args, timeout=300):
    return subprocess.run([LAB, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout)


def on_node(node, *args, prefix=()):
    return lab("exec", node, *prefix, RAILHEAD, *args)


def check(where, folder, prefix=()):
    """The report of one node, or of both snapshots judged on the host."""
    if where != PAIR:
        result = on_node(where, "check", "--site", SITE, "--format", "json", prefix=prefix)
    else:
        files = []
        for node in NODES:
            path = Path(folder) / f"{node}.json"
            path.write_bytes(on_node(node, "snapshot").stdout)
            files.append(str(path))
        result = subprocess.run([RAILHEAD, "check", "--site", SITE, "--format", "json", *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"check on {where}: exit {result.returncode}: {result.stderr.decode()}")
    return json.loads(result.stdout)


def converged(where, folder):
    """The report once LACP has settled: a bond that was just made may still be seen without its partner."""
    deadline = time.monotonic() + 120
    while True:
        report = check(where, folder)
        if not any(v["status"] == "fail" for v in report["verdicts"]) or time.monotonic() > deadline:
            return report
        time.sleep(2)


def verdicts(report):
    return {(v["gate"], v.get("node"), v.get("subject")): v for v in report["verdicts"]}


def line(v):
    return json.dumps({k: v.get(k) for k in ("gate", "node", "subject", "status", "summary", "blocked_by", "causes")}, ensure_ascii=False)


def healthy(t, baseline):
    for where, report in baseline.items():
        failed = [
            line(v)
            for v in report["verdicts"]
            if v["status"] in ("fail", "warn") or (v["status"] == "blocked" and v["gate"] not in UNKNOWN)
        ]
        t.ok(not failed, f"{where}: nothing fails or warns in the healthy lab, and only proofs wait for a proof", "\n".join(failed))
        unknown = [v for v in report["verdicts"] if v["status"] == "unknown"]
        strange = [line(v) for v in unknown if v["gate"] not in UNKNOWN and not (where != PAIR and "↔" in (v.get("subject") or ""))]
        t.ok(not strange, f"{where}: unknown are only gates that later work feeds, and peers not seen", "\n".join(strange))
        for v in unknown:
            t.ok(v["obtain"], f"{where}: {v['gate']}: says how to obtain its fact", line(v))
        if where == PAIR:
            for gate in ("net.mtu", "rdma.mtu"):
                t.ok(
                    any(v["gate"] == gate and v["status"] == "pass" and "↔" in (v.get("subject") or "") for v in report["verdicts"]),
                    f"{gate} passes between the nodes",
                )
            continue
        passed = {v["gate"] for v in report["verdicts"] if v["status"] == "pass"}
        t.ok(PASS <= passed, f"{where}: {len(PASS)} gates pass", f"missing: {sorted(PASS - passed)}")
        for v in report["verdicts"]:
            if v["status"] == "pass":
                t.ok(v["evidence"], f"{where}: {v['gate']} {v.get('subject') or ''} passes with evidence")


def replay(t, folder):
    """A recording of a guest judged on the host gives what the guest said."""
    node = NODES[0]
    recording = Path(folder) / "node.rec"
    recording.write_bytes(on_node(node, "record", "-o", "-").stdout)
    live = verdicts(check(node, folder))
    replayed = json.loads(
        subprocess.run([RAILHEAD, "check", "--site", SITE, "--format", "json", "--replay", recording], stdout=subprocess.PIPE).stdout
    )
    t.equal(
        {k: (v["status"], v["summary"]) for k, v in verdicts(replayed).items()},
        {k: (v["status"], v["summary"]) for k, v in live.items()},
        "a recording gives the same verdicts on another machine",
    )


def observers(t, script, name):
    """What railhead sees of a guest, compared there with what ip, rdma, ibv_devinfo and lspci say."""
    environment = [f"{k}={os.environ[k]}" for k in ("PATH", "NVML_DOUBLE_PATH", "RAILHEAD_SOURCE") if k in os.environ]
    result = lab("exec", NODES[0], "env", *environment, f"RAILHEAD={RAILHEAD}", "python3", TOP / "tests" / "observe" / script, timeout=600)
    results = [x for x in result.stdout.decode("utf-8", "replace").splitlines() if re.match(r"(not )?ok ", x)]
    skipped = [x for x in results if "# SKIP" in x]
    failed = [x for x in results if x.startswith("not ")]
    t.ok(len(results) > 4 and not failed and result.returncode == 0, f"{name}: {len(results)} comparisons in the guest",
         "\n".join(failed) + result.stdout.decode()[-2000:] + result.stderr.decode()[-2000:])
    t.ok(not skipped, f"{name}: nothing is skipped where there are VLANs and RDMA", "\n".join(skipped))


def fault(t, name, baseline, folder):
    where, gate, subject, cause, dependents = FAULTS[name]
    result = lab("fault", name)
    if not t.ok(result.returncode == 0, f"{name}: injected", result.stderr.decode()):
        return
    try:
        report = check(where, folder, PREFIX.get(name, ()))
    finally:
        healed = lab("heal", name)
    seen = verdicts(report)
    found = [v for k, v in seen.items() if k[0] == gate and (subject is None or k[2] == subject) and v["status"] == "fail"]
    t.ok(found, f"{name}: {gate} {subject or ''} fails", "\n".join(line(v) for k, v in seen.items() if k[0] == gate))
    certain = [c for v in found for c in v["causes"] if not c["candidate"]]
    t.ok(any(c["id"].startswith(cause) for c in certain), f"{name}: the cause is {cause}", "\n".join(line(v) for v in found))
    t.ok(all(c["fix"] for c in certain), f"{name}: and how to fix it is said", json.dumps(certain))
    changed = []
    for key, before in verdicts(baseline[where]).items():
        after = seen.get(key)
        if before["status"] != "pass" or key[0] == gate or key[0] in dependents:
            continue
        if after is None:
            # physical links and ports of a bond that is gone have no verdict of their own
            if name not in ("bond-mode", "rxe-missing"):
                changed.append(f"{key} has no verdict any more")
        elif after["status"] == "blocked" and any(b.startswith(gate) for b in after["blocked_by"]):
            continue
        elif after["status"] != "pass":
            changed.append(line(after))
    t.ok(not changed, f"{name}: every gate that does not depend on it still passes", "\n".join(changed))
    t.ok(healed.returncode == 0, f"{name}: healed", healed.stderr.decode())


def settle(t, name, where, baseline, folder):
    """After the cure the ladder is as before (LACP takes a few seconds)."""
    before = {k: v["status"] for k, v in verdicts(baseline[where]).items()}
    deadline = time.monotonic() + 60
    while True:
        after = {k: v["status"] for k, v in verdicts(check(where, folder)).items()}
        if after == before or time.monotonic() > deadline:
            break
        time.sleep(1)
    t.ok(after == before, f"{name}: the ladder is as before after the cure", {k: (before.get(k), v) for k, v in after.items() if before.get(k) != v})


def main():
    t = Tap()
    only = sys.argv[1:]
    keep = os.environ.get("LAB_KEEP")
    running = lab("status").returncode == 0
    if not running:
        up = lab("up", timeout=600)
        if not t.ok(up.returncode == 0, "the lab boots", (up.stdout + up.stderr).decode()):
            lab("down")
            t.done()
    try:
        with tempfile.TemporaryDirectory() as folder:
            baseline = {where: converged(where, folder) for where in (*NODES, PAIR)}
            t.case(lambda t: healthy(t, baseline))
            t.case(lambda t: replay(t, folder))
            if not only:
                t.case(lambda t: observers(t, "test_live.py", "devices, modules, RDMA"))
                t.case(lambda t: observers(t, "test_against_ip.py", "links, addresses, routes"))
            for name in FAULTS:
                if only and name not in only:
                    continue
                t.case(lambda t, name=name: fault(t, name, baseline, folder))
                t.case(lambda t, name=name: settle(t, name, FAULTS[name][0], baseline, folder))
    finally:
        if not (running or keep):
            down = lab("down")
            t.ok(down.returncode == 0, "the lab goes down", down.stderr.decode())
    t.done()


main()
