#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges against public reports and hand-made snapshots: what must be said, and what must not.

Each file in tests/data/cases/ is one case:

  {"case": "001 E810 in Safe Mode …", "source": "where the report is, or who derived the values",
   "runs": [{
     "name": "…",
     "site": "e810-bond.yaml",            file in tests/data/sites/, absent: discovered
     "node": "gpu-node-01",               --node, absent: by host name
     "base": "e810-healthy.json",         file in tests/data/snapshots/
     "patch": {…},                        JSON merge patch (RFC 7396) on the base
     "peer": "…", "peer_patch": {…},      second snapshot, for gates between two nodes
     "previous": "…", "previous_patch": {…}  an earlier snapshot, for --since
     "printed": ["/pointer", …],          facts that the report printed
     "derived": ["/pointer", …],          facts that were derived or made up to complete the picture
     "must":     [{"gate": "rdma.device", "subject": "ens1f0", "status": "fail", "cause": "ice-safe-mode",
                   "text": ["regular expression", …], "explained_by": "nic.firmware"}],
     "must_not": [{"gate": "net.bond", "status": "fail", "cause": "…", "text": "…"}]}]}

A `must` entry holds when one verdict of that gate (and subject) has all of what is listed; "cause" looks
among certain causes, "candidate" among candidates. A `must_not` entry holds when no verdict has all of it.
Every leaf that a patch sets must be covered by `printed` or `derived`, so that no value is left unmarked.
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


def merge(base, patch):
    if not isinstance(patch, dict):
        return patch
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and value.get("$null"):
            result[key] = None  # a JSON null, which a merge patch cannot say
        else:
            result[key] = merge(result.get(key), value)
    return result


def leaves(patch, at=""):
    if isinstance(patch, dict) and patch and not patch.get("$null"):
        for key, value in patch.items():
            yield from leaves(value, f"{at}/{key.replace('~', '~0').replace('/', '~1')}")
    else:
        yield at


def unmarked(run):
    marks = run.get("printed", []) + run.get("derived", [])
    for name in ("patch", "peer_patch", "previous_patch"):
        for leaf in leaves(run.get(name, {})):
            if leaf and not any(leaf == m or leaf.startswith(m.rstrip("/") + "/") for m in marks):
                yield leaf


def snapshot(run, key, patch, folder, name):
    document = merge(json.loads((DATA / "snapshots" / run[key]).read_text()), run.get(patch, {}))
    path = Path(folder) / name
    path.write_text(json.dumps(document))
    return str(path)


def check(run, folder):
    command = [RAILHEAD, "check", "--format", "json"]
    if "site" in run:
        command += ["--site", str(DATA / "sites" / run["site"])]
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
        if v["gate"] == wanted["gate"] and ("subject" not in wanted or v.get("subject") == wanted["subject"])
    ]


def short(verdicts):
    return json.dumps(
        [
            {k: v.get(k) for k in ("gate", "subject", "status", "summary", "causes", "explained_by", "blocked_by")}
            for v in verdicts
        ],
        indent=1,
        ensure_ascii=False,
    )


def one_case(t, path):
    case = json.loads(path.read_text())
    t.ok(case.get("source"), f"{path.stem}: names its source")
    for number, run in enumerate(case["runs"], 1):
        name = f"{path.stem}: {run.get('name', number)}"
        loose = list(unmarked(run))
        t.ok(not loose, f"{name}: every value is marked printed or derived", "\n".join(loose))
        with tempfile.TemporaryDirectory() as folder:
            report = check(run, folder)
        for wanted in run.get("must", []):
            found = of_gate(report, wanted)
            t.ok(any(holds(v, wanted) for v in found), f"{name}: must {json.dumps(wanted)}", short(found))
        for unwanted in run.get("must_not", []):
            found = of_gate(report, unwanted)
            t.ok(found and not any(holds(v, unwanted) for v in found), f"{name}: must not {json.dumps(unwanted)}", short(found))


def main():
    t = Tap()
    only = sys.argv[1:]
    paths = sorted((DATA / "cases").glob("*.json"))
    t.ok(paths, "there are cases")
    for path in paths:
        if only and not any(o in path.stem for o in only):
            continue
        t.case(lambda t, path=path: one_case(t, path))
    t.done()


main()
