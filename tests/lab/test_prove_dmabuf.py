#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead prove with DMA-BUFs of host memory over rxe, which cannot register one: what is said of it, and what the double in its
place may prove."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prove_ends import ADDRESS, HERE, INTEGRITY, End, all_runs, booted, listen, runs_of, seen, timed  # noqa: E402
from tap import Tap  # noqa: E402

WORDS = "not supported by this provider"
ONE = ("--size", "64K", "--operation", "write", *INTEGRITY)


def prove(memory, *args):
    there, token = listen(*args)
    here = End(HERE, ADDRESS, "--token", token, "--memory", memory, *ONE, *args).end()
    return here, there.end()


def registrations(record):
    return [run for run in record["runs"] if run["run"] == "register"]


def refused(t):
    """Without the double: both ends say that it is the provider, and keep a record of it."""
    ends = prove("udmabuf")
    for end in ends:
        t.equal(end.status, 1, f"{end.node}: udmabuf is not proven over rxe")
        t.ok(WORDS in end.text and "EOPNOTSUPP" in end.text, f"{end.node}: and the provider is named as the reason", seen(ends))
        if not t.ok(end.records, f"{end.node}: a record is left", seen(ends)):
            continue
        record = end.records[0]
        t.equal((record["kind"], record["double"], record["verdict"]["status"]), ("dmabuf", False, "unknown"), f"{end.node}: what it comes to")
        runs = registrations(record)
        t.equal([run["end"] for run in runs], ["initiator", "listener"], f"{end.node}: both ends tried")
        for run in runs:
            tried = run["result"]["tried"]
            t.equal([(a["call"], a["errno"]) for a in tried], [("ibv_reg_dmabuf_mr", 95)], f"{end.node}: errno 95 at the first length of the {run['end']}")
            t.ok(WORDS in tried[0]["text"], f"{end.node}: in words", json.dumps(tried))
        t.ok(WORDS in record["runs"][-1].get("error", ""), f"{end.node}: the run that did not take place says why", json.dumps(record["runs"][-1]))


def one_end(t):
    """Where only one end has such memory, the other one is told."""
    here, there = ends = prove("host,udmabuf")
    t.equal((here.status, there.status), (1, 1), "udmabuf at the listener alone: not proven")
    t.ok("the other end" in here.text and WORDS in here.text, "the connecting end is told why", seen(ends))
    t.ok(here.records and [run["end"] for run in registrations(here.records[0])] == ["listener"], "and what the listener tried", seen(ends))


def double(t):
    """With the double everything runs, and nothing is proven."""
    ends = prove("udmabuf", "--dmabuf-double")
    for end in ends:
        t.equal(end.status, 1, f"{end.node}: a double is no proof")
        if not t.ok(end.records, f"{end.node}: a record is left", seen(ends)):
            continue
        record = end.records[0]
        t.equal((record["kind"], record["double"], record["verdict"]["status"]), ("dmabuf", True, "unknown"), f"{end.node}: the record says so")
        moved = {"runs": [run for run in record["runs"] if run["run"] != "register"]}
        t.equal(runs_of(moved), all_runs("integrity", operations=("write",)), f"{end.node}: everything was run")
        t.ok(all(run["result"]["verified"] for run in record["runs"] if run["run"] == "integrity"), f"{end.node}: the bytes were right", json.dumps(record["runs"]))
        for side in ("local", "peer"):
            memory = record[side]["memory"]
            t.ok(memory["double"] is True and WORDS in memory["double_why"], f"{end.node}: {side}: what the double stands for", json.dumps(memory))
            t.equal(record[side]["kernel_log"].get("iommu_faults"), 0, f"{end.node}: {side}: root reads the kernel log")


CASES = {"refused": refused, "one-end": one_end, "double": double}


def main():
    t = Tap()
    only = sys.argv[1:]
    with booted(t) as up:
        for name, case in CASES.items():
            if up and (not only or name in only):
                t.case(timed(case, name))
    t.done()


main()
