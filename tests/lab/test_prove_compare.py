#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead prove --compare perftest between two guests: the real ib_write_bw, ib_read_bw and their latency twins over rxe."""

import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prove_ends import ADDRESS, HERE, THERE, booted, carried, End, lab, listen, runs_of, seen, timed  # noqa: E402
from tap import Tap  # noqa: E402

RUNS = [(run, operation, reverse) for kind, ways in (("bandwidth", (False, True)), ("latency", (False,))) for operation in ("write", "read")
        for reverse in ways for run in (kind, "perftest")]
QUICK = ("--operation", "write", "--size", "64K", "--duration", "1", "--compare", "perftest")


def gone(t, name):
    for node in (HERE, THERE):
        left = lab("exec", node, "pgrep", "-f", "^/usr/bin/ib_")
        t.ok(left.returncode == 1, f"{name}: no perftest runs on at {node}", left.stdout)


def compared(t):
    there, token = listen("--compare", "perftest")
    here = End(HERE, ADDRESS, "--token", token, "--operation", "write,read", "--size", "4K", "--duration", "1", "--compare", "perftest", "--dscp", "24", "--ecn")
    ends = here, there = here.end(), there.end()
    if not t.ok(here.status == 0 and there.status == 0 and here.records and there.records, "write and read: proven at both ends", seen(ends)):
        return
    mine, theirs = here.records[0], there.records[0]
    t.equal([r for r in runs_of(mine) if r[0] != "integrity"], RUNS, "perftest follows each speed run")
    t.equal(mine["runs"], theirs["runs"], "both ends keep the same")
    carried(t, "with perftest", mine)
    own, unmeasured = {}, 0
    for run in mine["runs"]:
        name = f"{run['run']} of {run['operation']}{', listener to initiator' if run['reverse'] else ''}"
        result = run.get("result", {})
        if run["run"] != "perftest":
            own = {"kind": run["run"], **result}
            continue
        # on a slow guest perftest now and then prints a speed of 0, which the record tells as what it is
        if "numbers that cannot be" in run.get("error", ""):
            unmeasured += 1
            continue
        latency = own["kind"] == "latency"
        key = "median_ns" if latency else "gbit_per_s"
        if not t.ok(result.get(key, 0) > 0 and abs(result["ratio"] - own[key] / result[key]) < 1e-9, f"{name}: its {key}, and the ratio", json.dumps(run)):
            continue
        t.ok(result["tool"] == f"ib_{run['operation']}_{'lat' if latency else 'bw'}" and re.fullmatch(r"[\d.-]+", result["version"]), f"{name}: which it is", result)
        words = set(result["command"].split())
        t.ok({"--ib-dev=rxe0", f"--size={own['size_bytes']}", "--tclass=98", "10.10.1.11" if run["reverse"] else ADDRESS} <= words,
             f"{name}: with the same parameters", result["command"])
        t.ok(latency or (result["qps"], result["depth"]) == (own["qps"], own["depth"]), f"{name}: and queues", result)
    t.ok(unmeasured < 3, "most of what perftest measured is a number", unmeasured)
    # what perftest moved is not in the counters of the proof
    sent = sum(r["result"]["bytes"] for r in mine["runs"] if r["run"] != "perftest" and r["reverse"] == (r["operation"] == "read"))
    t.equal(mine["local"]["counters"]["payload_out_bytes"] >= sent // 2, True, "the payload is ours alone")
    gone(t, "afterwards")


def refused(t):
    there, token = listen()
    ends = End(HERE, ADDRESS, "--token", token, *QUICK).end(), there.end()
    t.ok(all(e.status == 0 for e in ends), "a listener without perftest: proven all the same", seen(ends))
    errors = {r.get("error") for e in ends for record in e.records for r in record["runs"] if r["run"] == "perftest"}
    t.equal(errors, {f"{THERE}: perftest is not run where --compare perftest was not given"}, "and the record says why there is nothing to compare with")


def interrupted(t):
    there, token = listen("--compare", "perftest")
    here = End(HERE, ADDRESS, "--token", token, *QUICK[:-4], "--duration", "10", *QUICK[-2:])
    begun = here.until("perftest")
    time.sleep(2)
    here.signal("INT")
    ends = here.end(), there.end()
    t.ok(begun and ends[0].status != 0 and ends[1].status == 1, "interrupted while perftest runs: both ends end", seen(ends))
    gone(t, "interrupted")


def main():
    t = Tap()
    with booted(t) as up:
        for case in (compared, refused, interrupted):
            if up:
                t.case(timed(case, case.__name__))
    t.done()


main()
