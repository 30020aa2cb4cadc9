# SPDX-License-Identifier: Apache-2.0
"""Proofs in a lab with one fault: what each one does to them, in verdicts, words and counters."""

import json
import re
import time

from prove_ends import ADDRESS, HERE, INTEGRITY, THERE, End, all_runs, fault, healed_well, listen, prove, seen, verified

WRITE = ("--operation", "write")
WRITES = all_runs("integrity", operations=("write",))


# --- what a proof survives ----------------------------------------------------------------------

def errors(record):
    """What the counters of rxe count when a packet did not come as it should, of both ends."""
    rdma = [record[end]["counters"]["difference"]["rdma"] for end in ("local", "peer")]
    return {name: sum(counters[name] for counters in rdma) for name in ("out_of_seq_request", "rcvd_seq_err", "completer_retry_err", "duplicate_request")}


def disordered(t, name):
    """Packets that are lost or overtaken: all bytes are right all the same, and the price is told."""
    with fault(t, name):
        ends = prove("--sizes", "1..64K", "--duration", "1", there_form="text")
        record = verified(t, name, ends, all_runs("integrity", "bandwidth", "latency"))
    if not record:
        return
    grown = errors(record)
    t.ok(grown["out_of_seq_request"] > 0, f"{name}: the counters show packets out of their sequence", grown)
    text = " ".join(ends[1].out.split())
    t.ok(re.search(r"errors \S+: .*out_of_seq_request \+\d", text), f"{name}: the report says which error counters grew", ends[1].out)
    speed = [r["result"] for r in record["runs"] if r["run"] == "bandwidth"]
    t.ok(all(s["steady"] or s["steady_why"] for s in speed), f"{name}: a speed that is not steady is said to be none", json.dumps(speed)[:2000])


def lost(t):
    disordered(t, "loss1")


def reordered(t):
    disordered(t, "reorder2")


def port_down(t):
    """One port of the bond goes in mid-run: the other one carries on, of all queue pairs."""
    there, token = listen()
    here = End(HERE, ADDRESS, "--token", token, "--size", "64K", *WRITE, "--qps", "8", "--duration", "8")
    here.until("bandwidth")
    with fault(t, "bond-port-down"):
        ends = here.end(), there.end()
        verified(t, "bond-port-down", ends, all_runs("integrity", "bandwidth", "latency", operations=("write",)))


def ucm_missing(t):
    """A proof asks nothing of rdma_cm, and says nothing of it."""
    with fault(t, "rdma-ucm-missing"):
        ends = prove("--size", "64K", *WRITE, *INTEGRITY)
        verified(t, "rdma-ucm-missing", ends, WRITES)
        t.ok(not re.search("rdma_?u?cm", seen(ends)), "rdma-ucm-missing: and is no word of the proof", seen(ends))


def mtu_peer(t):
    """The smaller MTU of both ends is used."""
    with fault(t, "mtu-peer"):
        record = verified(t, "mtu-peer", prove("--size", "64K", *WRITE, *INTEGRITY), WRITES)
    if record:
        t.equal((record["local"]["path"]["mtu_bytes"], record["peer"]["path"]["mtu_bytes"]), (4096, 1024), "mtu-peer: both are told")


# --- marks --------------------------------------------------------------------------------------

def marks(t, name, *args):
    """Both ends of a marking proof in a lab with this fault; the statuses and the runs."""
    with fault(t, name):
        ends = here, there = prove("--size", "4K", *WRITE, *INTEGRITY, "--dscp", "24", *args)
    t.ok(here.status == there.status and len(here.records) == 2, f"{name}: two records", seen(ends))
    host, marking = here.records
    t.equal((host["kind"], host["verdict"]["status"], marking["kind"]), ("host", "pass", "marking"), f"{name}: the bytes are right")
    return marking["verdict"]["status"], marking["runs"]


def remarked(t):
    status, runs = marks(t, "remark-dscp0")
    t.equal(status, "fail", "DSCP 24 made 0 on the way: fail")
    t.ok(runs and all(r["result"]["verified"] is False for r in runs), "both ways", json.dumps(runs))
    t.ok(all("DSCP 24 and ECN 0 were sent, DSCP 0 and ECN 0 arrived" in r["result"]["fault"]["text"] for r in runs), "in words", json.dumps(runs))


def congested(t):
    """A switch that marks CE is at its work: on packets that allow it, and on no others."""
    for args, sent, arrived in (((), 0, 0), (("--ecn",), 2, 3)):
        status, runs = marks(t, "ce-mark", *args)
        name = f"CE marking, ECN {sent} sent"
        t.equal(status, "pass", f"{name}: pass")
        for run in runs:
            result = run["result"]
            t.equal(([(a["dscp"], a["ecn"]) for a in result["arrived"]], result["ce_marked"]),
                    ([(24, arrived)], result["messages_arrived"] if arrived == 3 else 0), f"{name}: what arrived")


# --- what ends a proof --------------------------------------------------------------------------

def ended(t, name, end, words):
    """An end whose proof did not come to its end: a record that says so, and proves nothing."""
    t.ok(end.status == 1 and re.search(words, end.text), f"{name}: {end.node} says so and ends", end.seen())
    record = (end.records or [{}])[0]
    t.equal(record.get("verdict", {}).get("status"), "unknown", f"{name}: the record of {end.node} proves nothing")
    t.ok(re.search(words, record.get("runs", [{}])[-1].get("error", "")), f"{name}: it says which run did not end", json.dumps(record.get("runs")))


def midrun():
    """Both ends, in a run that goes on for long."""
    there, token = listen()
    here = End(HERE, ADDRESS, "--token", token, "--size", "64K", *WRITE, "--duration", "60")
    here.until("bandwidth")
    time.sleep(1)
    return here, there


def killed(t, who, signal):
    """One end goes in the middle of a run: the other one ends, and says what happened."""
    here, there = midrun()
    gone, left = (here, there) if who == HERE else (there, here)
    gone.signal(signal)
    here.end()
    there.end()
    ended(t, f"{who} {signal}", left, "gone|closed|reset")
    t.ok(gone.status != 0, f"{who} {signal}: is no success", gone.seen())


def link_down(t):
    """No packet passes any more, of RDMA or of the control channel: each end sees it for itself."""
    here, there = midrun()
    with fault(t, "link-down"):
        here.end()
        there.end()
    # which of both is seen first depends on the device: with rxe it was the control channel
    ended(t, "link-down", here, "the peer acknowledges nothing|the peer is gone")
    ended(t, "link-down", there, "the peer is gone")
    healed_well(t, "link-down")


# --- what keeps a proof from beginning ----------------------------------------------------------

def memlock(t):
    with fault(t, "memlock-64k"):
        ends = here, there = prove("--size", "1M", *WRITE, *INTEGRITY, prefix=("setpriv", "--bounding-set", "-ipc_lock"))
    for end in ends:
        t.ok(end.status == 1 and "limit of locked memory is 64 kB" in end.text, f"64 KiB of locked memory: {end.node} names it as the reason", end.seen())


def no_device(t):
    with fault(t, "rxe-missing"):
        ends = prove("--size", "64K", *INTEGRITY)
    for end in ends:
        t.ok(end.status == 1 and re.search("no RDMA device.* bond1", end.text), f"no RDMA device at one end: {end.node} says so", end.seen())


def no_address(t):
    """Over the management network, as that of the port cannot be reached."""
    with fault(t, "address-missing"):
        there = End(THERE, "--listen", "--once")
        token = there.until(r"--token (\S+)")[1]
        here = End(HERE, "10.0.0.21", "--token", token, "--size", "64K", *INTEGRITY).end()
        there.end()
    for end in (here, there):
        t.ok(end.status == 1 and re.search(r"bond1.*10\.10\.1\.11|10\.10\.1\.11.*bond1", end.text), f"no address: {end.node} says which, and where it is missing", end.seen())


CASES = {
    "loss": lost,
    "reorder": reordered,
    "bond-port-down": port_down,
    "rdma-ucm-missing": ucm_missing,
    "mtu-peer": mtu_peer,
    "remarked": remarked,
    "ce-mark": congested,
    "listener-killed": lambda t: killed(t, THERE, "KILL"),
    "initiator-killed": lambda t: killed(t, HERE, "KILL"),
    "interrupted": lambda t: killed(t, HERE, "INT"),
    "link-down": link_down,
    "memlock": memlock,
    "rxe-missing": no_device,
    "address-missing": no_address,
}
