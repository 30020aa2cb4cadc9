#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead prove beside perftest, on the same two guests of the lab, in one run.

usage: bench/prove.py [--rounds N] [--seconds S] [--railhead PATH] [--operation LIST] [--sizes LIST]

Each round runs, for each size, one proof and then the programs of perftest that measure the same, with the same size,
number of queue pairs, depth and ACK timeout, for as long, both from gpu-node-01 to aistor-01 with nothing marked; every other round
perftest is first. So whatever else the machine does falls on both alike, and what counts is the ratio: that of each
round, then the median of those. A speed of railhead is worth nothing when its proof did not pass: this ends with an error
then. perftest asks for a completion every quarter of the queue, as railhead does; everything else is its default.
Of railhead's time the integrity pass, which perftest has not, is told apart.

The lab has to be up (lab/lab up); with --up it is booted first and taken down again. PATH has to lie within the
repository: the guests see nothing else. Needs: perftest in the guests, which have the programs of this machine.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
LAB = str(TOP / "lab" / "lab")
HERE, THERE, ADDRESS = "gpu-node-01", "aistor-01", "10.10.1.21"
QPS = 1
# One latency for all: that of a message which costs nothing but the way.
LATENCY_BYTES = 8
# Round trips per second that perftest, which cannot measure a median by time, is given to fill its time.
TRIPS_PER_SECOND = 500
# As railhead's default: with perftest's (14, 67 ms) emulated machines send again what is only late.
ACK_TIMEOUT = 17
LIMIT_S = 300
SIZES = {"8": 8, "64K": 64 << 10, "1M": 1 << 20}


def depth(size):
    """As many as perftest's default, as long as they hold no more than 16 MiB."""
    return min(128, (16 << 20) // size)


def start(node, *command):
    return subprocess.Popen([LAB, "exec", node, *map(str, command)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process, what):
    out, err = process.communicate(timeout=LIMIT_S)
    if process.returncode:
        sys.exit(f"{what}: exit status {process.returncode}\n{out}{err}")
    return out


# --- railhead -----------------------------------------------------------------------------------------


def prove(options, size, operations):
    """{(operation, what): value} of one proof, and the seconds of its integrity pass."""
    here = [options.railhead, "prove", "--no-store", "-f", "json"]
    there = start(THERE, *here, "--listen", "--once", "--bind", ADDRESS)
    token = next((m[1] for m in map(re.compile(r"--token (\S+)").search, there.stderr) if m), None)
    if not token:
        sys.exit(f"{options.railhead}: no token from the listener: {there.communicate()[1]}")
    us = start(HERE, *here, ADDRESS, "--token", token, "--operation", ",".join(operations), "--sizes", f"{min(size, LATENCY_BYTES)}..{size}",
               "--qps", QPS, "--depth", depth(size), "--duration", options.seconds)
    integrity = None
    for line in us.stderr:
        now = time.monotonic()
        if "integrity:" in line and integrity is None:
            began = now
            integrity = 0
        elif "bandwidth:" in line and not integrity:
            integrity = now - began
            break
    record = json.loads(finish(us, "railhead prove"))[0]
    finish(there, "railhead prove --listen")
    if record["verdict"]["status"] != "pass":
        sys.exit(f"the proof did not pass: {record['verdict']}")
    values = {}
    for run in record["runs"]:
        result, operation = run["result"], run["operation"]
        if run["reverse"]:
            continue
        if run["run"] == "bandwidth":
            values[operation, "rate"] = result["messages_per_s"]
        elif run["run"] == "latency":
            values[operation, "latency"] = result["median_ns"] / 1000
    return values, integrity


# --- perftest -----------------------------------------------------------------------------------------


def perftest(program, *args):
    """The words of the line of results."""
    command = [program, "-d", "rxe0", "-F", "-u", str(ACK_TIMEOUT), *map(str, args)]
    there = start(THERE, *command)
    for _ in range(40):
        time.sleep(0.25)
        us = start(HERE, *command, ADDRESS)
        out, err = us.communicate(timeout=LIMIT_S)
        if us.returncode == 0:
            break
        if there.poll() is not None or "Couldn't connect" not in out + err:
            there.kill()
            sys.exit(f"{' '.join(command)}: exit status {us.returncode}\n{out}{err}{there.communicate()}")
    finish(there, program)
    rows = [line.split() for line in out.splitlines() if re.match(r"\s*\d+\s+\d+\s+[\d.]+", line)]
    if not rows:
        sys.exit(f"{' '.join(command)}: no line of results in\n{out}")
    return rows[-1]


def perftest_values(options, size, operations):
    values = {}
    for operation in operations:
        words = perftest(f"ib_{operation}_bw", "-s", size, "-q", QPS, "-t", depth(size), "-Q", max(1, depth(size) // 4), "-D", options.seconds)
        # bandwidth has more digits where messages are large, the rate where they are small; MB are 2^20 here
        by_bytes, by_messages = float(words[3]) * (1 << 20) / size, float(words[4]) * 1e6
        values[operation, "rate"] = by_bytes if size > 4096 else by_messages
        if size == LATENCY_BYTES:
            words = perftest(f"ib_{operation}_lat", "-s", size, "-n", int(options.seconds * TRIPS_PER_SECOND))
            values[operation, "latency"] = float(words[4])
    return values


# --- both ---------------------------------------------------------------------------------------------


def measure(options, sizes, operations):
    """{(size, operation, what): [(railhead, perftest), …]} and {size: [seconds of integrity, …]}"""
    seen, integrity = {}, {}
    try:
        for number in range(options.rounds):
            measure_round(options, number, sizes, operations, seen, integrity)
    except KeyboardInterrupt:
        print("interrupted: the figures are of fewer rounds", file=sys.stderr)
    return seen, integrity


def measure_round(options, number, sizes, operations, seen, integrity):
    for name in sizes:
        theirs = perftest_values(options, SIZES[name], operations) if number % 2 else None
        ours, seconds = prove(options, SIZES[name], operations)
        theirs = theirs or perftest_values(options, SIZES[name], operations)
        integrity.setdefault(name, []).append(seconds)
        for key, value in theirs.items():
            if not value:
                print(f"round {number + 1}: {name} {key[0]}: perftest told no speed, left out", file=sys.stderr)
                continue
            seen.setdefault((name, *key), []).append((ours[key], value))
            print(f"round {number + 1}: {name} {key[0]} {key[1]}: railhead {ours[key]:.1f}, perftest {value:.1f}", file=sys.stderr)


def report(seen, integrity, operations):
    print(f"{'':28}{'railhead':>12}{'perftest':>12}{'ratio':>8}   of rounds")
    for (size, operation, what), pairs in sorted(seen.items(), key=lambda item: (item[0][2] != "rate", operations.index(item[0][1]), SIZES[item[0][0]])):
        ratios = [ours / theirs for ours, theirs in pairs]
        ours, theirs = (statistics.median(column) for column in zip(*pairs))
        unit = "us"
        if what == "rate":
            small = SIZES[size] < 4096
            scale = 1 if small else SIZES[size] * 8 / 1e6
            ours, theirs, unit = ours * scale, theirs * scale, "messages/s" if small else "Mbit/s"
        title = f"{operation} {size}{' latency' if what == 'latency' else ''}, {unit}"
        print(f"{title:28}{ours:12.1f}{theirs:12.1f}{statistics.median(ratios):8.2f}   {min(ratios):.2f} to {max(ratios):.2f}")
    for size, seconds in integrity.items():
        print(f"integrity of sizes up to {size}, {' and '.join(operations)}, both ways: {statistics.median(seconds):.1f} s, not in the above")


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--railhead", default=str(TOP / "build" / "railhead"))
    parser.add_argument("--operation", default="write,read")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--up", action="store_true", help="boot the lab, and take it down again")
    options = parser.parse_args()
    operations = options.operation.split(",")
    if options.up:
        subprocess.run([LAB, "up"], check=True)
    try:
        report(*measure(options, options.sizes.split(","), operations), operations)
    finally:
        if options.up:
            subprocess.run([LAB, "down"], check=False)


main()
