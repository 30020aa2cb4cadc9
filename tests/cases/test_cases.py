#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges against public reports and hand-made snapshots: what must be said, and what must not.

Each file in tests/data/cases/ is one case; tests/data/README.md tells how to write one:

  {"case": "001 E810 in Safe Mode …", "source": "where the report is, or who derived the values",
   "left_out": ["an expectation of the report that no gate of this program judges: why"],
   "runs": [{
     "name": "…",
     "like": "name of an earlier run",    this run is that one with more patches; expectations are not taken over
     "site": "e810-bond.yaml",            file in tests/data/sites/, or the site itself as an object; absent, null: discovered
     "node": "gpu-node-01",               --node, absent: by host name
     "base": "e810-healthy.json",         file in tests/data/snapshots/
     "patch": {…},                        JSON merge patch (RFC 7396) on the base; {"$null": true} is a JSON null
     "peer": "…", "peer_patch": {…},      second snapshot, for gates between two nodes
     "previous": "…", "previous_patch": {…}  an earlier snapshot, for --since
     "printed": ["/pointer", …],          facts that the report printed
     "derived": ["/pointer", …],          facts that were derived or made up to complete the picture
     "root": "nic.firmware",              one fault: every other failure is explained by this gate, or blocked
     "exactly": {"warn": ["gdr.topology"], "fail": []},   gates that have a verdict of this status, all of them
     "must":     [{"gate": "rdma.device", "subject": "ens1f0", "status": "fail", "cause": "ice-safe-mode",
                   "text": ["regular expression", …], "explained_by": "nic.firmware"}],
     "must_not": [{"gate": "net.bond", "status": "fail", "cause": "…", "text": "…"}]}]}

A `must` entry holds when one verdict of that gate (and node, and subject) has all of what is listed; "cause" looks
among certain causes, "candidate" among candidates; with "every": true all verdicts of that gate must have it, those between two nodes left out.
A `must_not` entry holds when no verdict has all of it; the gate "*" stands for all gates.
Every leaf that a patch sets must be covered by `printed` or `derived`, so that no value is left unmarked; a mark that
covers nothing, a key that nobody reads and a cause that no judge can give are errors.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
DATA = TOP / "tests" / "data"
RAILHEAD = os.environ["RAILHEAD"]

PATCHES = ("patch", "peer_patch", "previous_patch")
CASE_KEYS = {"case", "source", "left_out", "runs"}
RUN_KEYS = {"name", "like", "site", "node", "base", "peer", "previous", "printed", "derived", "root", "exactly", "must", "must_not", *PATCHES}
WANTED_KEYS = {"gate", "node", "subject", "status", "cause", "candidate", "explained_by", "text", "every"}
STATUSES = ("pass", "warn", "fail", "blocked", "unknown", "n/a")


def is_null(patch):
    return isinstance(patch, dict) and patch.get("$null")


def merge(base, patch):
    """RFC 7396."""
    if is_null(patch):
        return None
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def combine(first, second):
    """The patch that does what two do one after the other."""
    if not isinstance(first, dict) or not isinstance(second, dict) or is_null(first) or is_null(second):
        return second
    result = dict(first)
    for key, value in second.items():
        result[key] = combine(first[key], value) if key in first else value
    return result


def leaves(patch, at=""):
    if isinstance(patch, dict) and patch and not is_null(patch):
        for key, value in patch.items():
            yield from leaves(value, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
    else:
        yield at


def covers(mark, leaf):
    return leaf == mark or leaf.startswith(mark.rstrip("/") + "/")


def marking(run, own):
    """What is wrong with the marks of a run: leaves that have none, marks of its own that have no leaf."""
    marks = run.get("printed", []) + run.get("derived", [])
    found = [leaf for name in PATCHES for leaf in leaves(run.get(name, {})) if leaf]
    return [f"not marked: {leaf}" for leaf in found if not any(covers(m, leaf) for m in marks)] + [
        f"marks nothing: {m}" for m in own if not any(covers(m, leaf) for leaf in found)
    ]


def expanded(case, run):
    """The run with what it takes over from the run that it is like."""
    if "like" not in run:
        return run
    model = next(r for r in case["runs"] if r.get("name") == run["like"] and r is not run)
    model = expanded(case, model)
    result = {**{k: v for k, v in model.items() if k not in ("must", "must_not", "root", "exactly")}, **run}
    for name in PATCHES:
        if name in model and name in run:
            result[name] = combine(model[name], run[name])
    for name in ("printed", "derived"):
        result[name] = model.get(name, []) + run.get(name, [])
    return result


def judge_words():
    """Every string in the judges' sources: a cause id that is none of them cannot be given."""
    words = set()
    for path in sorted((TOP / "src" / "judge").glob("*.c")):
        words.update(re.findall(r'"((?:[^"\\\n]|\\.)*)"', path.read_text()))
    return words


def misspelt(case, words):
    """What would make an expectation hold by a slip."""
    bad = [f"case: key {k}" for k in case.keys() - CASE_KEYS]
    for run in case["runs"]:
        bad += [f"{run.get('name')}: key {k}" for k in run.keys() - RUN_KEYS]
        for wanted in run.get("must", []) + run.get("must_not", []):
            bad += [f"{run.get('name')}: key {k}" for k in wanted.keys() - WANTED_KEYS]
            statuses = wanted.get("status", [])
            for status in [statuses] if isinstance(statuses, str) else statuses:
                if status not in STATUSES:
                    bad.append(f"{run.get('name')}: status {status}")
            for key in ("cause", "candidate"):
                if key in wanted and wanted[key] not in words:
                    bad.append(f"{run.get('name')}: no judge gives the cause {wanted[key]}")
    return bad


def snapshot(run, key, patch, folder, name):
    document = merge(json.loads((DATA / "snapshots" / run[key]).read_text()), run.get(patch, {}))
    path = Path(folder) / name
    path.write_text(json.dumps(document))
    return str(path)


def yaml(value):
    """Flow style; a scalar is quoted only where it must be, for the parser takes a quoted number or speed as text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml(k)}: {yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(yaml(v) for v in value) + "]"
    if isinstance(value, str) and re.fullmatch(r"[\w./+%-]+", value):
        return value
    return json.dumps(value)


def site_file(site, folder):
    if isinstance(site, str):
        return str(DATA / "sites" / site)
    path = Path(folder) / "site.yaml"
    path.write_text(yaml(site) + "\n")
    return str(path)


def check(run, folder):
    command = [RAILHEAD, "check", "--format", "json"]
    if run.get("site"):
        command += ["--site", site_file(run["site"], folder)]
    if "node" in run:
        command += ["--node", run["node"]]
    if "previous" in run:
        command += ["--since", snapshot(run, "previous", "previous_patch", folder, "previous.json")]
    command.append(snapshot(run, "base", "patch", folder, "node.json"))
    if "peer" in run:
        command.append(snapshot(run, "peer", "peer_patch", folder, "peer.json"))
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode not in (0, 1):
        raise RuntimeError(f"exit {result.returncode}: {result.stderr.decode()}")
    return json.loads(result.stdout)


def text_of(verdict):
    """All that a person reads of a verdict, candidates left out: they name no cause."""
    parts = [verdict.get("summary") or "", verdict.get("explained_by") or "", verdict.get("obtain") or ""]
    for cause in verdict.get("causes") or []:
        if not cause.get("candidate"):
            parts += [cause["text"], cause.get("fix") or ""]
    return "\n".join(parts)


def holds(verdict, wanted):
    causes = [c["id"] for c in verdict.get("causes") or [] if not c.get("candidate")]
    candidates = [c["id"] for c in verdict.get("causes") or [] if c.get("candidate")]
    statuses = wanted.get("status", verdict["status"])
    texts = wanted.get("text", [])
    return (
        verdict["status"] in ([statuses] if isinstance(statuses, str) else statuses)
        and ("cause" not in wanted or wanted["cause"] in causes)
        and ("candidate" not in wanted or wanted["candidate"] in candidates)
        and ("explained_by" not in wanted or wanted["explained_by"] in (verdict.get("explained_by") or ""))
        and all(re.search(x, text_of(verdict), re.I) for x in ([texts] if isinstance(texts, str) else texts))
    )


def of_gate(report, wanted):
    return [
        v
        for v in report["verdicts"]
        if wanted["gate"] in ("*", v["gate"])
        and ("subject" not in wanted or v.get("subject") == wanted["subject"])
        and ("node" not in wanted or v.get("node") == wanted["node"])
    ]


def loose_failures(report, root):
    """Failures that neither are of the root gate nor lead to it by what explains them."""
    explained = {root}
    failures = [v for v in report["verdicts"] if v["status"] == "fail"]

    def gate_of(name):
        return (name or "").split(" ")[0]

    while True:
        more = {v["gate"] for v in report["verdicts"] if gate_of(v.get("explained_by")) in explained} - explained
        if not more:
            break
        explained |= more
    return [v for v in failures if v["gate"] != root and gate_of(v.get("explained_by")) not in explained]


def short(verdicts):
    return json.dumps(
        [
            {k: v.get(k) for k in ("gate", "node", "subject", "status", "summary", "causes", "explained_by", "blocked_by")}
            for v in verdicts
        ],
        indent=1,
        ensure_ascii=False,
    )


def one_run(t, name, run, own):
    wrong = marking(run, own)
    t.ok(not wrong, f"{name}: every value is marked printed or derived", "\n".join(wrong))
    with tempfile.TemporaryDirectory() as folder:
        report = check(run, folder)
    if "root" in run:
        roots = [v for v in of_gate(report, {"gate": run["root"]}) if v["status"] == "fail"]
        loose = loose_failures(report, run["root"])
        t.ok(roots and not loose, f"{name}: all failures lead to {run['root']}", short(loose))
    for status, gates in run.get("exactly", {}).items():
        seen = sorted({v["gate"] for v in report["verdicts"] if v["status"] == status})
        t.equal(seen, sorted(gates), f"{name}: exactly these gates are {status}")
    for wanted in run.get("must", []):
        found = of_gate(report, wanted)
        if wanted.get("every"):
            found = [v for v in found if " ↔ " not in (v.get("subject") or "")]
        rule = all if wanted.get("every") else any
        t.ok(found and rule(holds(v, wanted) for v in found), f"{name}: must {json.dumps(wanted)}", short(found))
    for unwanted in run.get("must_not", []):
        found = of_gate(report, unwanted)
        t.ok(
            found and not any(holds(v, unwanted) for v in found),
            f"{name}: must not {json.dumps(unwanted)}",
            short([v for v in found if holds(v, unwanted)] or found),
        )


def one_case(t, path, words):
    case = json.loads(path.read_text())
    slips = misspelt(case, words)
    t.ok(case.get("source"), f"{path.stem}: names its source")
    t.ok(not slips, f"{path.stem}: names only what exists", "\n".join(slips))
    for number, run in enumerate(case["runs"], 1):
        name = f"{path.stem}: {run.get('name', number)}"
        t.ok(run.get("must") or run.get("must_not") or run.get("exactly"), f"{name}: expects something")
        own = run.get("printed", []) + run.get("derived", [])
        t.case(lambda t, name=name, run=run, own=own: one_run(t, name, expanded(case, run), own))
    for line in case.get("left_out", []):
        print(f"# {path.stem}: left out: {line}")
    return len(case.get("left_out", []))


def main():
    t = Tap()
    only = sys.argv[1:]
    paths = sorted((DATA / "cases").glob("*.json"))
    words = judge_words()
    left_out = 0
    t.ok(paths, "there are cases")
    made = subprocess.run([sys.executable, str(DATA / "snapshots" / "make.py"), "--check"], stderr=subprocess.PIPE)
    t.ok(made.returncode == 0, "the base snapshots are as make.py writes them", made.stderr.decode())
    for path in paths:
        if only and not any(o in path.stem for o in only):
            continue
        counts = []
        t.case(lambda t, path=path: counts.append(one_case(t, path, words)))
        left_out += sum(counts)
    print(f"# {left_out} expectations of reports are left out, each with its reason above")
    t.done()


main()
