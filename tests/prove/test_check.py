#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`railhead check --proofs`: from the folder of records to the gate; and the schema of a record."""

import copy
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
RAILHEAD = os.environ["RAILHEAD"]
EXAMPLE = json.loads((TOP / "tests/data/proofs/host-aistor-01.json").read_text())
NODES = [json.loads((TOP / f"tests/data/snapshots/e810-{n}-healthy.json").read_text()) for n in ("b300", "storage")]
SITE = TOP / "tests/data/sites/e810-rails.yaml"


def railhead(*args):
    return subprocess.run([RAILHEAD, "check", "--format", "json", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)


def write(folder, name, value):
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def rail1(record):
    """The same run over the other rail."""
    other = copy.deepcopy(record)
    for end, node in ((other["local"], NODES[0]), (other["peer"], NODES[1])):
        text = json.dumps(end).replace("ens1f0", "ens1f1").replace("rocep27s0f0", "rocep27s0f1").replace("0000:1b:00.0", "0000:1b:00.1")
        end.update(json.loads(text))
        end["fingerprint"]["link"]["addresses"] = [a["address"] for a in node["links"]["ens1f1"]["addresses"]]
    return other


def verdict_of(t, run, gate, name):
    if not t.ok(run.returncode in (0, 1), f"{name}: judged", run.stderr.decode()):
        return {"status": "", "summary": ""}
    return next(v for v in json.loads(run.stdout)["verdicts"] if v["gate"] == gate)


def records_of_both_rails(t):
    with tempfile.TemporaryDirectory() as folder:
        nodes = [write(folder, f"{i}.json", n) for i, n in enumerate(NODES)]
        write(folder, "proofs/a.json", EXAMPLE)
        args = ("-s", SITE, "--proofs", f"{folder}/proofs", *nodes)
        v = verdict_of(t, railhead(*args), "proof.host", "one rail")
        t.equal(v["status"], "unknown", "one rail of two is not enough")
        t.ok("no run of this kind is recorded for gpu-node-01/ens1f1" in v["summary"], "the other rail is named", v)
        write(folder, "proofs/b.json", rail1(EXAMPLE))
        v = verdict_of(t, railhead(*args), "proof.host", "both rails")
        t.equal(v["status"], "pass", f"both rails are proven: {v['summary']}")
        v = verdict_of(t, railhead("-s", SITE, *nodes), "proof.host", "not asked for")
        t.equal(v["status"], "unknown", "snapshots alone have no records")

        write(folder, "proofs/c.json", "{\"schema\": \"railhead.pr")
        v = verdict_of(t, railhead(*args), "proof.host", "a damaged file beside")
        t.equal(v["status"], "pass", "a damaged file does not hide the good ones")
        changed = copy.deepcopy(NODES[1])
        changed["links"]["ens1f1"]["ethtool"]["firmware"] = "4.99"
        write(folder, "1.json", changed)
        v = verdict_of(t, railhead(*args), "proof.host", "new firmware")
        t.equal(v["status"], "unknown", "new firmware at the peer makes it stale")
        t.ok("aistor-01 has changed: nics ens1f1 firmware was" in v["summary"], "what changed is told", v["summary"])


def double_is_no_proof(t):
    with tempfile.TemporaryDirectory() as folder:
        nodes = [write(folder, f"{i}.json", n) for i, n in enumerate(NODES)]
        for name, record in (("a", EXAMPLE), ("b", rail1(EXAMPLE))):
            # whatever verdict the file claims
            write(folder, f"proofs/{name}.json", {**record, "double": True, "verdict": {"status": "pass", "why": []}})
        v = verdict_of(t, railhead("-s", SITE, "--proofs", f"{folder}/proofs", *nodes), "proof.host", "double")
        t.equal(v["status"], "unknown", "a record of a test double is no proof")
        t.ok("test double" in v["summary"], "and says so", v["summary"])


def folders(t):
    with tempfile.TemporaryDirectory() as folder:
        run = railhead("--proofs", f"{folder}/none", write(folder, "0.json", NODES[0]))
        t.equal(run.returncode, 2, "a folder that was named must be there")
        t.ok(f"{folder}/none" in run.stderr.decode(), "its name is in the message", run.stderr.decode())
        for name in ("ostype", "hostname", "osrelease", "version", "arch"):
            write(folder, f"root/proc/sys/kernel/{name}", "x\n")
        run = railhead("--root", f"{folder}/root")
        t.ok(run.returncode in (0, 1), "the usual folder need not be there", run.stderr.decode())
        write(folder, "root/var/lib/railhead/proofs", "a file\n")
        run = railhead("--root", f"{folder}/root")
        t.ok(run.returncode in (0, 1), "nor be a folder", run.stderr.decode())


def schema(t):
    validator = jsonschema.Draft202012Validator(json.loads((TOP / "docs/schema/proof-1.json").read_text()))
    validator.check_schema(validator.schema)
    errors = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(EXAMPLE)]
    t.ok(not errors, "the example is valid", "\n".join(errors))
    for member in validator.schema["required"]:
        t.ok(not validator.is_valid({k: v for k, v in EXAMPLE.items() if k != member}), f"the schema misses {member}")
    words = (TOP / "docs/proof.md").read_text()
    names = set(EXAMPLE) | set(EXAMPLE["local"]) | set(EXAMPLE["local"]["path"]) | set(EXAMPLE["local"]["fingerprint"])
    t.equal([n for n in sorted(names) if f"`{n}`" not in words and f'"{n}"' not in words], [], "docs/proof.md has every member")


def main():
    t = Tap()
    for case in (records_of_both_rails, double_is_no_proof, folders, schema):
        t.case(case)
    t.done()


main()
