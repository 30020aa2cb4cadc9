# SPDX-License-Identifier: Apache-2.0
"""Two ends of a proof in two guests of the lab, and what every proof that passed has in common."""

import atexit
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

TOP = Path(os.environ["RAILHEAD_SOURCE"])
LAB = str(TOP / "lab" / "lab")


def own_copy(program):
    """A copy for this test: the guests run a file of this machine, and a build that replaces it under a running process crashes that."""
    place = TOP / "build" / "lab"
    place.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(dir=place, prefix="prove-")
    atexit.register(shutil.rmtree, folder)
    os.chmod(folder, 0o755)
    return shutil.copy2(program, os.path.join(folder, "railhead"))


# The guests see the repository and not what lies elsewhere; the sanitizers' build is too slow there.
RAILHEAD = own_copy(os.environ.get("LAB_RAILHEAD", TOP / "build" / "railhead"))
SITE = str(TOP / "examples" / "lab.yaml")
HERE, THERE, ADDRESS = "gpu-node-01", "aistor-01", "10.10.1.21"
STORE = "/run/railhead-proofs"
# No step of a proof waits longer than its own limits; emulated machines are slow.
LIMIT = 600
INTEGRITY = ("--duration", "0")
OPERATIONS = ("write", "read", "send")


def lab(*args, timeout=300):
    return subprocess.run([LAB, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout)


class End:
    """One end of a proof, in its guest."""

    def __init__(self, node, *args, form="json", prefix=()):
        self.node, self.form, self.text, self.out, self.ended = node, form, "", "", False
        self.said = threading.Condition()
        self.process = subprocess.Popen(
            [LAB, "exec", node, *prefix, RAILHEAD, "prove", "--site", SITE, "--store", STORE, "-f", form, *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.threads = [threading.Thread(target=self.read_errors), threading.Thread(target=self.read_output)]
        for thread in self.threads:
            thread.start()

    def read_errors(self):
        for line in self.process.stderr:
            with self.said:
                self.text += line
                self.said.notify_all()
        with self.said:
            self.ended = True
            self.said.notify_all()

    def read_output(self):
        self.out = self.process.stdout.read()

    def until(self, pattern):
        """Wait until standard error has this; its match, or None when it ends without."""
        with self.said:
            self.said.wait_for(lambda: self.ended or re.search(pattern, self.text), LIMIT)
            return re.search(pattern, self.text)

    def end(self):
        """Wait for its end, within the limit."""
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.signal("KILL")
            self.text += f"\nkilled: it did not end within {LIMIT} s"
            self.process.wait()
        for thread in self.threads:
            thread.join()
        self.status = self.process.returncode
        self.records = json.loads(self.out) if self.form == "json" and self.out else []
        return self

    def signal(self, name):
        return lab("exec", self.node, "pkill", f"-{name}", "-x", "railhead")

    def seen(self):
        return f"{self.node}: exit {self.status}\n{self.text}\n{self.out[:3000]}"


def listen(*args, **more):
    there = End(THERE, "--listen", "--once", "--bind", ADDRESS, *args, **more)
    found = there.until(r"--token (\S+)")
    if not found:
        raise RuntimeError(f"no token: {there.end().seen()}")
    return there, found[1]


def prove(*args, prefix=(), there_form="json"):
    """Both ends of a proof that was run to its end."""
    there, token = listen(form=there_form)
    here = End(HERE, ADDRESS, "--token", token, *args, prefix=prefix).end()
    return here, there.end()


def seen(ends):
    return "\n".join(end.seen() for end in ends)


def all_runs(*kinds, operations=OPERATIONS):
    """(run, operation, reverse), in their order. A round trip has no direction."""
    return [(kind, operation, reverse) for kind in kinds for operation in operations for reverse in ((False,) if kind == "latency" else (False, True))]


def runs_of(record):
    return [(r["run"], r["operation"], r["reverse"]) for r in record["runs"]]


def carried(t, name, record):
    """The counters of both ends say that RDMA carried it."""
    for node in ("local", "peer"):
        counters = record[node]["counters"]
        # segments are counted, not bytes: a small payload cannot always be told from what was said about it
        t.ok(counters["rdma_moved"] is True and counters["tcp_moved"] is not True, f"{name}: {node}: RDMA carried it", json.dumps(counters))


def verified(t, name, ends, runs, kind="host"):
    """Passed at both ends, with the same runs, and all bytes looked at. The connecting end's record, or None."""
    here, there = ends
    if not t.ok(here.status == 0 and there.status == 0 and here.records, f"{name}: proven at both ends", seen(ends)):
        return None
    mine = here.records[0]
    t.equal((mine["verdict"]["status"], mine["kind"], mine["double"]), ("pass", kind, False), f"{name}: the verdict")
    if there.form == "json":
        theirs = there.records[0]
        t.ok(mine["run"] == theirs["run"] and mine["runs"] == theirs["runs"], f"{name}: both ends keep the same", seen(ends))
        t.equal([mine["local"], mine["peer"]], [theirs["peer"], theirs["local"]], f"{name}: each from its side")
    t.equal(runs_of(mine), runs, f"{name}: everything was run")
    t.ok(all(r["result"]["verified"] for r in mine["runs"] if r["run"] != "latency"), f"{name}: every byte was right", json.dumps(mine["runs"]))
    carried(t, name, mine)
    return mine


@contextlib.contextmanager
def fault(t, name):
    """The lab with one fault, which is gone afterwards."""
    made = lab("fault", name)
    try:
        if made.returncode:
            raise RuntimeError(f"fault {name}: {made.stderr}")
        yield
    finally:
        healed = lab("heal")
        t.ok(healed.returncode == 0, f"{name}: is healed", healed.stderr)


def healed_well(t, name):
    """No fault of a proof stays behind: the next one passes."""
    verified(t, f"after {name}", prove("--size", "64K", "--operation", "write", *INTEGRITY), all_runs("integrity", operations=("write",)))


@contextlib.contextmanager
def booted(t):
    """The lab as it is, or booted for this test; whether it is there."""
    running = lab("status").returncode == 0
    up = None if running else lab("up", timeout=600)
    try:
        yield running or t.ok(up.returncode == 0, "the lab boots", up.stdout + up.stderr)
    finally:
        if not (running or os.environ.get("LAB_KEEP")):
            down = lab("down")
            t.ok(down.returncode == 0, "the lab goes down", down.stderr)


def timed(case, name):
    """The case, with its seconds as a comment of the test's output."""
    def run(t):
        begun = time.monotonic()
        try:
            case(t)
        finally:
            print(f"# {name}: {time.monotonic() - begun:.0f} s", flush=True)
    run.__name__ = name
    return run
