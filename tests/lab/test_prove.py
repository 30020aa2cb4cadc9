#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead prove over real RoCEv2 (rxe) between two guests: what passes, and what each fault makes of it."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
LAB = str(TOP / "lab" / "lab")
# The guests see the repository and not what lies elsewhere; the sanitizers' build is too slow there.
RAILHEAD = str(TOP / "build" / "railhead")
SITE = str(TOP / "examples" / "lab.yaml")
HERE, THERE, ADDRESS = "gpu-node-01", "aistor-01", "10.10.1.21"
STORE = "/run/railhead-proofs"
# No step of a proof waits longer than its own limits; emulated machines are slow.
LIMIT = 600
INTEGRITY = ("--duration", "0")


def lab(*args, timeout=300):
    return subprocess.run([LAB, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)


class End:
    """One end of a proof, in its guest."""

    def __init__(self, node, *args, prefix=()):
        self.text = ""
        self.process = subprocess.Popen([LAB, "exec", node, *prefix, RAILHEAD, "prove", "--site", SITE, "--store", STORE, "-f", "json", *args],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def until(self, pattern):
        """Wait for a line on standard error; its match, or None at the end."""
        for line in self.process.stderr:
            self.text += line
            if found := re.search(pattern, line):
                return found
        return None

    def end(self):
        out, err = self.process.communicate(timeout=LIMIT)
        self.text += err
        self.status = self.process.returncode
        self.records = json.loads(out) if out else None
        return self


def listen():
    there = End(THERE, "--listen", "--once", "--bind", ADDRESS)
    return there, there.until(r"--token (\S+)")[1]


def prove(*args, prefix=()):
    """Both ends of a proof that was run to its end."""
    there, token = listen()
    here = End(HERE, ADDRESS, "--token", token, *args, prefix=prefix).end()
    return here, there.end()


def verified(t, name, ends, runs):
    """Passed at both ends, with the same runs, and all bytes looked at."""
    here, there = ends
    seen = [end.text + json.dumps(end.records)[:3000] for end in ends]
    if not t.ok(here.status == 0 and there.status == 0 and here.records and there.records, f"{name}: proven at both ends", "\n".join(seen)):
        return None
    mine, theirs = here.records[0], there.records[0]
    t.equal((mine["verdict"]["status"], mine["kind"], mine["double"]), ("pass", "host", False), f"{name}: the verdict")
    t.ok(mine["run"] == theirs["run"] and mine["runs"] == theirs["runs"], f"{name}: both ends keep the same")
    t.equal([mine["local"], mine["peer"]], [theirs["peer"], theirs["local"]], f"{name}: each from its side")
    t.equal([(r["run"], r["operation"], r["reverse"]) for r in mine["runs"]], runs, f"{name}: everything was run")
    t.ok(all(r["result"]["verified"] for r in mine["runs"] if r["run"] != "latency"), f"{name}: every byte was right")
    for node in ("local", "peer"):
        counters = mine[node]["counters"]
        # segments are counted, not bytes: a small payload cannot always be told from what was said about it
        t.ok(counters["rdma_moved"] is True and counters["tcp_moved"] is not True, f"{name}: {node}: RDMA carried it", json.dumps(counters))
    return mine


def all_runs(*kinds, operations=("write", "read", "send")):
    return [(kind, operation, reverse) for kind in kinds for operation in operations for reverse in ((False,) if kind == "latency" else (False, True))]


def healthy(t):
    record = verified(t, "1 B to 1 MiB", prove("--sizes", "1..1M", "--duration", "1", "--dscp", "24"), all_runs("integrity", "bandwidth", "latency"))
    if record:
        path = record["local"]["path"]
        t.equal((path["link"], path["device"], path["address"], record["peer"]["path"]["address"]), ("bond1", "rxe0", "10.10.1.11", ADDRESS), "the path was found")
        t.ok(path["reasons"], "and why is told")
        for node in (HERE, THERE):
            files = lab("exec", node, "ls", STORE).stdout.split()
            t.ok(any(f.startswith("host-") for f in files) and any(f.startswith("marking-") for f in files), f"{node} keeps the records", files)
    verified(t, "odd sizes, 4 QPs", prove("--sizes", "3..50003", "--qps", "4", *INTEGRITY), all_runs("integrity"))
    verified(t, "write of 777777 B", prove("--size", "777777", "--operation", "write", *INTEGRITY), all_runs("integrity", operations=("write",)))


def marking(t):
    for args, ecn in ((("--dscp", "24"), 0), (("--dscp", "24", "--ecn"), 2)):
        here, there = prove("--size", "4K", "--operation", "write", *INTEGRITY, *args)
        name = " ".join(args)
        t.ok(here.status == 0 and there.status == 0 and len(here.records or ()) == 2, f"{name}: proven", here.text)
        record = (here.records or [{}])[-1]
        t.equal((record.get("kind"), record.get("parameters", {}).get("traffic_class")), ("marking", 24 << 2 | ecn), f"{name}: marked so")
        t.ok(all(r["result"]["verified"] for r in record.get("runs", ())), f"{name}: and arrived so, both ways", json.dumps(record.get("runs")))


def remarked(t):
    lab("fault", "remark-dscp0")
    try:
        here, there = prove("--size", "4K", "--operation", "write", *INTEGRITY, "--dscp", "24")
    finally:
        healed = lab("heal")
    t.ok(here.status == 1 and there.status == 1 and here.records, "DSCP 24 made 0 on the way is not proven", here.text)
    if here.records:
        t.equal([(r["kind"], r["verdict"]["status"]) for r in here.records], [("host", "pass"), ("marking", "fail")], "the bytes are, the marking is not")
        runs = here.records[-1]["runs"]
        t.ok(runs and all(r["result"]["verified"] is False for r in runs), "both ways", json.dumps(runs))
    t.ok(healed.returncode == 0, "remarking is healed", healed.stderr)


def kill(node, signal):
    return lab("exec", node, "pkill", f"-{signal}", "-x", "railhead")


def killed(t, who, signal, words):
    """One end goes in the middle of a run: the other one ends, and says what happened."""
    there, token = listen()
    here = End(HERE, ADDRESS, "--token", token, "--size", "64K", "--operation", "write", "--duration", "60")
    if t.ok(here.until("bandwidth"), f"{who} {signal}: the run begins", here.text):
        time.sleep(1)
        kill(who, signal)
    here.end()
    there.end()
    gone, left = (here, there) if who == HERE else (there, here)
    t.ok(left.status == 1 and re.search(words, left.text), f"{who} {signal}: the other end says so and ends", (left.status, left.text))
    record = (left.records or [{}])[0]
    t.equal(record.get("verdict", {}).get("status"), "unknown", f"{who} {signal}: the record proves nothing")
    t.ok(re.search(words, record.get("runs", [{}])[-1].get("error", "")), f"{who} {signal}: and says which run did not end", json.dumps(record.get("runs")))
    t.ok(gone.status != 0, f"{who} {signal}: is no success", (gone.status, gone.text))


def memlock(t):
    lab("fault", "memlock-64k")
    try:
        here, there = prove("--size", "1M", "--operation", "write", *INTEGRITY, prefix=("setpriv", "--bounding-set", "-ipc_lock"))
    finally:
        healed = lab("heal")
    t.ok(here.status == 1 and "limit of locked memory is 64 kB" in here.text, "64 KiB of locked memory: named as the reason", (here.status, here.text))
    t.ok(there.status == 1 and "limit of locked memory is 64 kB" in there.text, "at the other end too", (there.status, there.text))
    t.ok(healed.returncode == 0, "memlock is healed", healed.stderr)


def after_all(t):
    """No fault of a proof stays behind: the same proof passes at the end, and check takes it."""
    verified(t, "at the end", prove("--size", "64K", *INTEGRITY), all_runs("integrity"))


def main():
    t = Tap()
    only = sys.argv[1:]
    running = lab("status").returncode == 0
    if not running:
        up = lab("up", timeout=600)
        if not t.ok(up.returncode == 0, "the lab boots", up.stdout + up.stderr):
            lab("down")
            t.done()
    cases = {
        "healthy": healthy,
        "marking": marking,
        "remarked": remarked,
        "listener-killed": lambda t: killed(t, THERE, "KILL", "gone|closed|reset"),
        "initiator-killed": lambda t: killed(t, HERE, "KILL", "gone|closed|reset"),
        "interrupted": lambda t: killed(t, HERE, "INT", "gone|closed|reset"),
        "memlock": memlock,
        "after": after_all,
    }
    try:
        for name, case in cases.items():
            if not only or name in only:
                t.case(case)
    finally:
        if not (running or os.environ.get("LAB_KEEP")):
            down = lab("down")
            t.ok(down.returncode == 0, "the lab goes down", down.stderr)
    t.done()


main()
