#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead plan as a user meets it: every form, exit statuses, what-if, bad input, large sites.

test_plan.py --update writes the golden bill anew, for a person to read.
"""

import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
RAILHEAD = os.environ["RAILHEAD"]
PROPOSAL = "examples/original-proposal.yaml"
RAILS = "examples/e810-two-rails.yaml"
GOLDEN = TOP / "tests" / "data" / "plan"
FORMS = ("text", "json", "html", "junit", "ctrf")


def run(*args, env=None, **kwargs):
    """From the top of the tree, so that messages name files as the examples are called."""
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    environment.update(env or {})
    return subprocess.run([RAILHEAD, "plan", *map(str, args)], stdin=subprocess.DEVNULL, stdout=kwargs.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, env=environment, cwd=TOP, timeout=300, **kwargs)


def document(*args):
    return json.loads(run(*args, "--data", "data", "-f", "json").stdout)


def schema(name):
    return jsonschema.Draft202012Validator(json.loads((TOP / "docs/schema" / name).read_text()))


class Nesting(HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link", "br", "input"):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.wrong.append(tag)


def every_form(t):
    plan = document(PROPOSAL)
    errors = [f"{e.json_path}: {e.message[:200]}" for e in schema("report-1.json").iter_errors(plan)]
    t.ok(not errors, "json: the plan is a report", "\n".join(errors))
    t.ok(plan["paper"] and len(plan["verdicts"]) == 17 and not plan["nodes"], "json: 17 gates, and no machine was asked")
    t.equal({v["gate"] for v in plan["verdicts"] if v["status"] == "fail"} >= {"plan.bond-rdma", "plan.storage-client"}, True, "json: what cannot work fails")
    bond = next(v for v in plan["verdicts"] if v["gate"] == "plan.bond-rdma")
    t.ok(len(bond["causes"][0]["options"]) == 3, "json: the bond has its ways out", bond["causes"])
    headroom = next(v for v in plan["verdicts"] if v["gate"] == "plan.headroom")
    t.ok(plan["buffers"]["numbers"][0]["formula"] in headroom["summary"], "json: gate and buffers compute the same", plan["buffers"])
    root = ElementTree.fromstring(run(PROPOSAL, "-f", "junit").stdout)
    t.equal(len(root.findall("testsuite/testcase")), 17, "junit: a case for each gate")
    t.ok("PFC headroom" in root.find("testsuite/system-out").text, "junit: the buffers stand in the suite")
    ctrf = json.loads(run(PROPOSAL, "-f", "ctrf").stdout)
    t.ok(len(ctrf["results"]["tests"]) == 17 and ctrf["extra"]["buffers"]["numbers"], "ctrf: a test for each gate, and the buffers")
    page = Nesting()
    page.feed(run(PROPOSAL, "-f", "html").stdout.decode())
    t.ok(not page.wrong and not page.stack, "html: well nested", page.wrong)
    text = run(PROPOSAL).stdout.decode()
    order = [text.find(s) for s in ("Phase 0", "options -", "Buffers of the switch", "Stays unverified", "\nstopped by plan.")]
    t.ok(-1 not in order and order == sorted(order), "text: ladder with options, buffers, what stays unverified, closing line", order)
    t.ok("railhead:" not in text, "text: a plan shows no railhead")
    quiet = run("-q", PROPOSAL).stdout.decode()
    t.ok(quiet.count("\n") == 1 and quiet.startswith("stopped by plan."), "text: -q is one line", quiet)
    t.ok("original-proposal.yaml:" in run("-v", PROPOSAL).stdout.decode(), "text: -v names lines of the site file")


def stored_plan_is_the_same(t):
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder) / "plan.json"
        run(PROPOSAL, "-f", "json", "-o", stored)
        for form in FORMS:
            again = subprocess.run([RAILHEAD, "report", "-f", form, stored], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            t.ok(again.stdout == run(PROPOSAL, "-f", form).stdout and again.returncode == 1, f"{form}: the same from a stored plan", again.stderr)


def deterministic(t):
    for args in ((PROPOSAL,), (PROPOSAL, "-f", "json"), (PROPOSAL, "--components"), ("--matrix",), (PROPOSAL, "--upgrade", "gpuOperator.version=v26.7.0", "-f", "json")):
        t.ok(run(*args).stdout == run(*args).stdout, f"the same bytes each time: {' '.join(args)}")


def exit_statuses(t):
    for args, status, text in (
        ((PROPOSAL,), 1, None),
        (("--matrix",), 0, None),
        ((PROPOSAL, "--components"), 0, None),
        ((), 2, "SITE is missing"),
        ((PROPOSAL, "--site", RAILS), 2, "named twice"),
        ((PROPOSAL, RAILS), 2, "unexpected operand"),
        (("--matrix", PROPOSAL), 2, "takes no site"),
        (("--matrix", "--components"), 2, "exclude each other"),
        ((PROPOSAL, "--components", "--upgrade", "name=x"), 2, "exclude each other"),
        ((PROPOSAL, "--components", "-f", "html"), 2, "--components prints text or json, not html"),
        (("--matrix", "-f", "junit"), 2, "--matrix prints text or json"),
        ((PROPOSAL, "-f", "xml"), 2, "unknown format 'xml'"),
        (("no-such.yaml",), 2, "no-such.yaml: No such file"),
        ((PROPOSAL, "--data", "no-such-folder"), 2, "no-such-folder"),
    ):
        r = run(*args)
        t.ok(r.returncode == status and (text is None or text in r.stderr.decode()), f"exit {status}: {' '.join(args)}", (r.returncode, r.stderr))
        t.ok(status != 2 or not r.stdout, f"a usage error prints nothing else: {' '.join(args)}", r.stdout)
    t.ok(run("--site", PROPOSAL).stdout == run(PROPOSAL).stdout, "--site says the same as the operand")


def good_plan(t):
    """Two rails, with what is still missing there declared."""
    plan = document(RAILS)
    held = [v for v in plan["verdicts"] if v["status"] in ("fail", "blocked", "unknown")]
    r = run("-q", RAILS)
    t.equal(r.returncode, 1 if held else 0, "two rails: the exit status is that of the verdicts")
    text = r.stdout.decode()
    t.ok(text.startswith("stopped by" if any(v["status"] == "fail" for v in held) else "not decided" if held else "nothing on paper stands against it"), "two rails: the closing line agrees", text)
    t.ok(not any(v["gate"] == "plan.bond-rdma" for v in held), "two rails: no bond stands against them", held)


def upgrade(t):
    changes = document(PROPOSAL, "--upgrade", "gpuOperator.version=v26.7.0")
    errors = [f"{e.json_path}: {e.message[:200]}" for e in schema("difference-1.json").iter_errors(changes)]
    t.ok(not errors, "upgrade: valid", "\n".join(errors))
    repo = [v for v in changes["verdicts"] if v["gate"] == "plan.operator-repo"]
    t.ok(len(repo) == 1 and "v26.3.3" in repo[0]["before"]["summary"] and "v26.3.3" not in repo[0]["after"]["summary"],
         "upgrade: v26.7.0 changes plan.operator-repo", repo)
    gates = {v["gate"] for v in changes["verdicts"]}
    t.ok(not gates & {"plan.bond-rdma", "plan.storage-client", "plan.qos", "plan.headroom"}, "upgrade: shows nothing that stays", gates)
    versions = {c["component"]: (c["before"].get("version"), c["after"].get("version")) for c in changes["components"]}
    t.equal(versions.get("GPU device plugin"), ("v0.19.3", "v0.20.0"), "upgrade: parts of the operator change with it")
    t.ok("ice" not in versions, "upgrade: and others do not")
    text = run(PROPOSAL, "--upgrade", "gpuOperator.version=v26.7.0").stdout.decode()
    t.ok("v26.3.3, required → v26.7.0, required" in text and "Buffers of the switch" not in text, "upgrade: in words", text)

    same = run(PROPOSAL, "--upgrade", "gpu_operator/version=v26.3.3")
    t.ok("nothing changes" in same.stdout.decode() and same.returncode == 1, "upgrade: to the same changes nothing", same.stdout)
    lower = document(PROPOSAL, "--upgrade", "switch.cable_metres=300")
    t.ok([b["name"] for b in lower["buffers"]] == ["PFC headroom"], "upgrade: a longer cable changes the buffers", lower["buffers"])

    rails = ("defaults.drivers.ice.source=out-of-tree", "defaults.drivers.ice.version=2.6.6", "defaults.drivers.irdma.source=out-of-tree")
    bond = document(PROPOSAL, *(a for r in rails for a in ("--upgrade", r)))
    change = [v for v in bond["verdicts"] if v["gate"] == "plan.bond-rdma"]
    t.ok(len(change) == 1 and change[0]["after"]["summary"] != change[0]["before"]["summary"], "upgrade: several values at once", change)
    lag = [c for c in bond["components"] if c["component"] == "ice_lag DDP package"]
    t.ok(lag and lag[0]["before"]["need"] == "not-needed" and lag[0]["after"]["need"] == "required", "upgrade: the bill changes too", lag)

    fixed = ("gpu_operator.version=v26.7.0", "gpu_operator.driver.repo_config=repos", "storage.client.library=http",
             "profiles.e810-node.rdma={ens1f0: {}}", "profiles.e810-node.bonds={bond0: {mode: 802.3ad, ports: [eno1, eno2]}}")
    r = run(PROPOSAL, *(a for f in fixed for a in ("--upgrade", f)), "-f", "json")
    after = json.loads(r.stdout)["after"] if r.returncode < 2 else {}
    t.equal(r.returncode, 0 if after.get("passed") else 1 if after else 2, "upgrade: the exit status is that of the plan after")


def bad_upgrades(t):
    for value, text in (
        ("gpuOperator.verson=v26.7.0", "--upgrade gpuOperator.verson=v26.7.0: gpu_operator: unknown key 'verson'; did you mean 'version'?"),
        ("gpuOperator.driver.kernelModuleType=opne", "did you mean 'open'?"),
        ("gpu_operator.version", "expected KEY=VALUE"),
        ("nodes.gpu-node-02.os.version=10.1", "there is no 'gpu-node-02' in the file; did you mean 'gpu-node-01'?"),
        ("qos.dscp=96", "ToS 96 is DSCP 24"),
        ("storage.nodes.0=aistor-09", "with --upgrade storage.nodes.0=aistor-09: examples/original-proposal.yaml: storage/nodes"),
        ("name=[", "--upgrade name=[: "),
        ("name=\x1b[31m", "\\x1b[31m"),
        ("name=&a [*a]", "alias"),
        ("x" * 5000 + "=1", "unknown key"),
        ("=1", "a key in the path is empty"),
        (".".join("a" * 40) + "=1", "too many keys"),
    ):
        r = run(PROPOSAL, "--upgrade", value)
        t.ok(r.returncode == 2 and text in r.stderr.decode() and not r.stdout and b"\x1b" not in r.stderr, f"refused: {value[:60]!r}", r)


def bad_data(t):
    with tempfile.TemporaryDirectory() as folder:
        bad = Path(folder) / "kubespray.yaml"
        bad.write_text("schema: railhead.data/1\ntable: kubespray\nrows:\n  - {release: v2.31.0, sorce: x}\n")
        for args in (("--matrix",), (PROPOSAL,), (PROPOSAL, "--components")):
            r = run(*args, "--data", folder)
            t.ok(r.returncode == 2 and "kubespray.yaml:4" in r.stderr.decode() and not r.stdout, f"a bad row is named: {args[0]}", r.stderr)
        bad.write_text("schema: railhead.data/1\ntable: kubespray\nrows: []\n")
        r = run(PROPOSAL, "--data", folder, "-f", "json")
        kubespray = next(v for v in json.loads(r.stdout)["verdicts"] if v["gate"] == "plan.kubespray")
        t.ok(kubespray["status"] in ("fail", "unknown", "warn"), "an own table is used", kubespray["summary"])
        shown = run("--matrix", "--data", folder).stdout.decode()
        t.ok(f"kubespray: 0 rows ({folder}/kubespray.yaml)" in shown and shown.count(folder) == 1, "the matrix tells where each table came from", shown[:2000])


def matrix(t):
    tables = document("--matrix")["tables"]
    names = [p.stem for p in (TOP / "data").glob("*.yaml")]
    t.equal(sorted(tables), sorted(names), "matrix: every table")
    rows = [(name, row) for name, table in tables.items() for row in table["rows"]]
    bad = [name for name, row in rows if not (row["source"] and row["date"] and row["confidence"])]
    t.ok(len(rows) > 100 and not bad, f"matrix: {len(rows)} rows, each with source, date and confidence", bad)
    for width in (60, 80, 200):
        text = run("--matrix", "--data", "data", env={"COLUMNS": str(width)}).stdout.decode()
        t.ok(all(f"{name}: {len(table['rows'])} rows (" in text for name, table in tables.items()), f"matrix: every table in {width} columns")
        over = [line for line in text.split("\n") if len(line) > width]
        t.ok(not over, f"matrix: fits {width} columns", "\n".join(over))
    t.ok("seen 20" in run("--matrix", "-v").stdout.decode(), "matrix: -v tells the sources")


def components(t):
    bill = document(PROPOSAL, "--components")
    errors = [f"{e.json_path}: {e.message[:200]}" for e in schema("components-1.json").iter_errors(bill)]
    t.ok(not errors, "components: valid", "\n".join(errors))
    t.equal(bill["components"], document(PROPOSAL)["components"], "components: the plan has the same")
    # PFC of a declared class is on unless it is declared off, as the gates take it
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site.yaml"
        text = (TOP / RAILS).read_text().replace("  pfc: true\n", "")
        for text, wanted, what in ((text, True, "not declared"), (text.replace("qos:\n", "qos:\n  pfc: false\n"), False, "off")):
            site.write_text(text)
            names = {c["component"] for c in document(site, "--components")["components"]}
            t.equal("DCB: DSCP map, ETS, PFC" in names, wanted, f"components: PFC {what}")
    for file, args in goldens():
        t.equal(run(*args).stdout.decode().splitlines(), (GOLDEN / file).read_text().splitlines(), f"components: {file}")


def goldens():
    yield "components-original-proposal.txt", (PROPOSAL, "--components", "--data", "data")


def hostile_texts(t):
    """Characters that turn text around are no control characters to the site's parser, but a terminal obeys them."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site.yaml"
        site.write_text((TOP / PROPOSAL).read_text().replace("name: original-proposal", 'name: "a\u202e<b>"').replace("  version: RELEASE", '  version: "1\u2066" # RELEASE'))
        for args in ((site,), (site, "-f", "json"), (site, "-f", "html"), (site, "--components"), (site, "--components", "-f", "json"),
                     (site, "--upgrade", "storage.version=x\u202ey"), (site, "--upgrade", "storage.version=x\u202ey", "-f", "json")):
            out = run(*args).stdout.decode()
            t.ok(len(out) > 200 and not set("\u202e\u2066") & set(out) and "\\u202e" not in out, f"safe: {' '.join(map(str, args[1:]))}", out[:300])
        page = run(site, "-f", "html").stdout.decode()
        t.ok("a\\u{202e}<b>" not in page and "a\\u{202e}&lt;b&gt;" in page, "html: a name stays text")


def no_reader(t):
    for args in ((PROPOSAL,), (PROPOSAL, "--components"), ("--matrix",), (PROPOSAL, "--upgrade", "qos.dscp=26")):
        with open("/dev/full", "wb") as full:
            r = run(*args, stdout=full)
        t.ok(r.returncode == 3 and b"No space left" in r.stderr, f"a full disk is no success: {' '.join(args)}", (r.returncode, r.stderr))
        read, write = os.pipe()
        os.close(read)
        r = run(*args, stdout=write)
        os.close(write)
        t.ok(r.returncode == 3 and b"Broken pipe" in r.stderr, f"a closed pipe is no success: {' '.join(args)}", (r.returncode, r.stderr))
    with tempfile.TemporaryDirectory() as folder:
        r = run(PROPOSAL, "-o", Path(folder) / "no" / "such" / "file")
        t.ok(r.returncode == 3 and not os.listdir(folder), "a file that cannot be made leaves none", r.stderr)


def large_site(nodes):
    """The proposal with many GPU nodes."""
    text = (TOP / PROPOSAL).read_text()
    head, tail = text.split("\nnodes:\n", 1)
    many = "".join(f"  gpu-{i:04d}:\n    profile: gpu-node\n    bonds:\n      bond0: {{addresses: [10.{20 + i // 250}.{i % 250}.11/16]}}\n"
                   f"      bond1: {{addresses: [10.{30 + i // 250}.{i % 250}.11/16]}}\n" for i in range(nodes))
    return head + "\nnodes:\n" + many + tail


def large(t):
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site.yaml"
        site.write_text(large_site(1000))
        r = run(site, "-f", "json")
        plan = json.loads(r.stdout)
        t.ok(r.returncode == 1 and not r.stderr and len(plan["verdicts"]) == 17, "1,000 nodes are planned", r.stderr)
        small = document(PROPOSAL)
        statuses = [[(v["gate"], v["status"]) for v in p["verdicts"]] for p in (small, plan)]
        t.equal(statuses[1], statuses[0], "1,000 nodes: the verdicts are those of two")
        longest = max((v["summary"] for v in plan["verdicts"]), key=len)
        t.ok(len(longest) < 2000, "1,000 nodes: a summary names a few of them", longest)
        t.equal(plan["components"], small["components"], "1,000 nodes: the bill is that of two")
        for form in FORMS:
            t.ok(len(run(site, "-f", form).stdout) < 1 << 20, f"1,000 nodes: {form} stays small")
        text = large_site(1000).replace("  gpu-0777:\n    profile: gpu-node\n", "  gpu-0777:\n    profile: gpu-node\n    os: {version: \"11.0\"}\n")
        site.write_text(text)
        verdict = next(v for v in document(site)["verdicts"] if v["gate"] == "plan.os-matrix")
        line = text[:text.index("  gpu-0777:")].count("\n") + 1
        t.ok(verdict["status"] == "fail" and "rhel 11.0 of gpu-0777 is not listed" in verdict["summary"], "1,000 nodes: the one that does not fit is named", verdict["summary"])
        t.ok(any(e["node"] == f"{site}:{line}" and e["pointer"] == "/nodes/gpu-0777/os/version" for e in verdict["evidence"]), "1,000 nodes: with file and line", verdict["evidence"])
        site.write_text(large_site(1000).replace("  gpu-0777:\n    profile: gpu-node\n", "  gpu-0777:\n    profile: gpu-nod\n"))
        r = run(site)
        t.ok(r.returncode == 2 and "nodes/gpu-0777: there is no profile 'gpu-nod'" in r.stderr.decode(), "1,000 nodes: a mistake in one is named", r.stderr)
        site.write_text(large_site(1000))
        r = run(site, "--upgrade", "nodes.gpu-0777.links.ens1f0.driver=mlx5_core", "-f", "json")
        changed = json.loads(r.stdout)
        t.ok(r.returncode == 1 and changed["verdicts"], "1,000 nodes: one of them is changed", r.stderr)


def main():
    if sys.argv[1:] == ["--update"]:
        GOLDEN.mkdir(exist_ok=True)
        for file, args in goldens():
            (GOLDEN / file).write_bytes(run(*args).stdout)
        return
    t = Tap()
    for case in (every_form, stored_plan_is_the_same, deterministic, exit_statuses, good_plan, upgrade, bad_upgrades, bad_data, matrix, components,
                 hostile_texts, no_reader, large):
        t.case(case)
    t.done()


main()
