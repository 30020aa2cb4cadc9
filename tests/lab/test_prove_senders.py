#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead prove --senders between two guests: two senders on one node, into the other node at the same time."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from prove_ends import ADDRESS, HERE, THERE, booted, carried, End, lab, runs_of, seen, timed  # noqa: E402
from tap import Tap  # noqa: E402

SEAT = r"--token (\S+)(?: --port (\d+))?\n"
QUICK = ("--operation", "write", "--size", "64K")


def incast(*more):
    """A listener for two senders, and both of them begun, each with its own options."""
    there = End(THERE, "--listen", "--once", "--bind", ADDRESS, "--senders", "2")
    if not there.until(SEAT + ".*" + SEAT):
        raise RuntimeError(f"no two command lines: {there.end().seen()}")
    seats = re.findall(SEAT, there.text)
    return there, [End(HERE, ADDRESS, "--token", token, *(("--port", port) if port else ()), *QUICK, *args) for (token, port), args in zip(seats, more)]


def ended(there, here):
    return [end.end() for end in (*here, there)]


def steps_of(there):
    """(sender, step) in the order in which the listener began them."""
    return re.findall(r"sender ([12]): ((?:integrity|bandwidth|latency): .*)", there.text)


def together(t):
    there, here = incast(*[("--duration", "1")] * 2)
    ends = ended(there, here)
    if not t.ok(all(end.status == 0 for end in ends) and [[r["kind"] for r in end.records] for end in ends] == [["host", "marking"], ["host", "marking"], ["host", "marking"] * 2], "two senders: proven at all ends", seen(ends)):
        return
    records = [r for end in ends for r in end.records]
    t.equal([(r["parameters"].get("senders"), r["verdict"]["status"]) for r in records], [(2, "pass")] * 8, "each record says how many there were")
    t.equal({(r["run"], r["kind"]): r["runs"] for end in here for r in end.records}, {(r["run"], r["kind"]): r["runs"] for r in there.records},
            "the listener keeps what each sender keeps")
    records = [r for r in records if r["kind"] == "host"]
    for record in records[:2]:
        carried(t, "two senders", record)
    # what begins before the step before it has ended for all would stand among the lines of that step
    lines = steps_of(there)
    pairs = [lines[i:i + 2] for i in range(0, len(lines), 2)]
    t.equal(len(pairs), len(runs_of(records[0])), "each step of each sender was begun")
    t.ok(all({who for who, _ in pair} == {"1", "2"} and len({what for _, what in pair}) == 1 for pair in pairs), "both were in each step together", there.text)
    speeds = [r["result"]["gbit_per_s"] for record in records for r in record["runs"] if r["run"] == "bandwidth"]
    t.ok(len(speeds) == 8 and all(speeds), "each has its share", speeds)


def different(t):
    """The one that comes second with other steps is told what differs, and the first is told of it."""
    there, here = incast(("--duration", "1"), ("--duration", "2"))
    ends = ended(there, here)
    t.ok(all(end.status != 0 for end in ends), "two that differ: nothing is proven", seen(ends))
    t.ok(sum(bool(re.search(r"all senders run the same: seconds is \d", end.text)) for end in here) >= 1, "the refused one is told what differs", seen(ends))
    t.ok(any(re.search("sender [12] of 2 is gone", end.text) for end in here), "and the other one that it is alone", seen(ends))


def alone(t):
    """One sender goes before the other one came: the listener does not wait for that one any more."""
    there = End(THERE, "--listen", "--once", "--bind", ADDRESS, "--senders", "2")
    token = there.until(SEAT)[1]
    # as much memory as one may have, and two together not
    here = End(HERE, ADDRESS, "--token", token, "--operation", "write", "--size", "64M", "--qps", "64")
    ends = ended(there, [here])
    t.ok(all(end.status != 0 for end in ends) and "2 senders with" in here.text, "one is refused", seen(ends))
    t.ok(re.search("sender 2: sender 1 of 2 is gone", there.text), "the other one is not waited for", seen(ends))


def killed(t, who):
    """A sender, or the process that serves one, is killed in mid-run: what the other one did is no incast, and it says so."""
    there, here = incast(*[("--duration", "4")] * 2)
    if t.ok(there.until(r"sender 1: bandwidth(.*\n)*.*sender 2: bandwidth|sender 2: bandwidth(.*\n)*.*sender 1: bandwidth"), f"{who}: both are in it", there.text):
        # the newest: one of the senders, or the process that serves the second
        t.equal(lab("exec", who, "pkill", "-KILL", "-n", "-x", "railhead").returncode, 0, f"{who}: one is killed")
    ends = ended(there, here)
    t.ok(all(end.status != 0 for end in ends), f"{who}: nothing is proven", seen(ends))
    t.ok(any(re.search("sender [12] of 2 is gone", end.text) for end in here), f"{who}: the one that is left knows why", seen(ends))
    left = [r for r in there.records if re.search("sender [12] of 2 is gone", r["runs"][-1].get("error", ""))]
    t.ok(left and "result" not in left[0]["runs"][-1] and left[0]["verdict"]["status"] == "unknown",
         f"{who}: what the other one did then is no result", json.dumps(there.records)[:3000])
    t.ok(not lab("exec", THERE, "pgrep", "-x", "railhead").stdout, f"{who}: no process is left")


def interrupted(t):
    there, here = incast(*[("--duration", "4")] * 2)
    if t.ok(there.until("sender [12]: bandwidth"), "Ctrl-C: it runs", there.text):
        # the oldest: the one that a terminal would tell
        t.equal(lab("exec", THERE, "pkill", "-INT", "-o", "-x", "railhead").returncode, 0, "Ctrl-C: it is told")
    ends = ended(there, here)
    t.ok(all(end.status != 0 for end in ends) and "interrupted" in there.text, "Ctrl-C: all end", seen(ends))
    t.ok(not lab("exec", THERE, "pgrep", "-x", "railhead").stdout, "Ctrl-C: no process is left")


def main():
    t = Tap()
    only = sys.argv[1:]
    cases = {
        "together": together,
        "different": different,
        "alone": alone,
        "sender-killed": lambda t: killed(t, HERE),
        "server-killed": lambda t: killed(t, THERE),
        "interrupted": interrupted,
    }
    with booted(t) as up:
        for name, case in cases.items():
            if up and (not only or name in only):
                t.case(timed(case, name))
    t.done()


main()
