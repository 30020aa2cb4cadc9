#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proof records in a report and for themselves: charts, tables, and what hostile records may not do.

test_proofs.py --update writes the golden files anew, for a person to look at.
"""

import copy
import json
import math
import os
import re
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
PRINT = Path(os.environ["RAILHEAD"]).parent / "tests" / "report" / "report-fixture"
GOLDEN = TOP / "tests" / "data" / "report"
EXAMPLES = TOP / "tests" / "data" / "proofs"
FRESH = {"local": {"same": True}, "peer": {"same": True}}
VOID = {"meta", "link", "br", "input"}
FORMS = ("text", "json", "html", "junit", "ctrf")


def example(kind):
    return json.loads((EXAMPLES / f"{kind}-aistor-01.json").read_text())


def changed(record, **members):
    record = copy.deepcopy(record)
    record.update(members)
    return record


def fresh():
    return [changed(example(kind), freshness=FRESH) for kind in ("host", "baseline", "pfc")]


def all_states():
    """One that proves, and one of each sort that does not."""
    baseline, pfc = example("baseline"), example("pfc")
    gdr = changed(baseline, kind="gdr", run="4123456789abcdef", verdict={"status": "fail", "why": ["bytes were wrong"]}, freshness=FRESH)
    gdr["local"]["memory"] = {"kind": "cuda", "double": False, "gpu": {"bdf": "0000:2a:00.0", "model": "B300"}}
    gdr["runs"] = [run for run in gdr["runs"] if run["run"] == "bandwidth"][:2]
    gdr["runs"].append({"run": "bandwidth", "operation": "read", "reverse": False, "error": "no acknowledgement for 30 s"})
    gdr["runs"].insert(0, {"run": "register", "end": "initiator", "result": {"largest_bytes": 8192, "stopped": "this length failed", "tried": [
        {"length_bytes": 8192, "call": "ibv_reg_dmabuf_mr", "errno": 0}, {"length_bytes": 16384, "call": "ibv_reg_dmabuf_mr", "errno": 12, "text": "cannot be registered: Cannot allocate memory", "kernel_log": ["NVRM: x"]}]}})
    return [
        changed(baseline, freshness=FRESH),
        changed(pfc, freshness={"local": {"same": False, "changed": "kernel was \"1\", is \"2\""}, "peer": {"same": True}}),
        changed(pfc, kind="ecn", run="3123456789abcdef", double=True, verdict={"status": "unknown", "why": ["a test double was used"]}, freshness=FRESH),
        changed(pfc, kind="dmabuf", run="5123456789abcdef", freshness={"local": {"same": True}}),
        gdr,
    ]


def output(records, name, form, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
        json.dump(records, f)
        f.flush()
        r = subprocess.run([PRINT, name, form, f"proofs={f.name}", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if r.returncode:
        raise RuntimeError(f"{name} {form}: {r.stderr.decode()}")
    return r.stdout.decode("utf-8")


class Page(HTMLParser):
    """Checks nesting; collects elements, and the words that are shown."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.stack, self.problems, self.elements, self.words = [], [], [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if not self.stack or self.stack[-1] not in ("style", "script"):
            self.words.append(data)


def section(page):
    start = page.index('<section aria-labelledby="proofs">')
    return page[start:page.index("</section>", start) + len("</section>\n")]


def charts(page):
    """Each chart as an element: what is no XML raises."""
    return [ElementTree.fromstring(svg) for svg in re.findall(r'<svg class="plot".*?</svg>', page, re.S)]


def goldens():
    yield "proofs.html", section(output(all_states(), "site", "html"))
    yield "proofs-80.txt", output([example("baseline"), example("pfc")], "records", "text", "width=80")


def is_golden(t):
    for file, made in goldens():
        t.equal(made.splitlines(), (GOLDEN / file).read_text().splitlines(), f"golden: {file}")


def document_is_valid(t):
    schema = json.loads((TOP / "docs/schema/report-1.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    for records in (fresh(), all_states(), hostile()):
        text = output(records, "site", "json")
        document = json.loads(text)
        errors = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(document)]
        t.ok(not errors, "json: a document with proofs is valid", "\n".join(errors))
        for form in FORMS:
            t.ok(output(records, "site", form) == output(records, "site", form, "reread"), f"{form}: the same from a stored report")
    proofs = json.dumps(json.loads(output(all_states(), "site", "json"))["proofs"])
    for kept_back in ("198.51.100", "fingerprint", "gid", "samples_gbit", "reasons", "firmware"):
        t.ok(kept_back not in proofs, f"json: {kept_back} stays in the record")
    document = json.loads(output(fresh(), "site", "json"))
    del document["proofs"][0]["verdict"]
    t.ok(not validator.is_valid(document), "json: the schema misses a verdict")


def newest_counts(t):
    old = changed(example("pfc"), taken="2025-01-01T00:00:00Z", run="6123456789abcdef", freshness=FRESH)
    new = changed(example("pfc"), freshness={"local": {"same": True}})
    turned = changed(new, local=new["peer"], peer=new["local"], freshness=FRESH)
    for order in ((old, new, turned), (turned, new, old)):
        proofs = json.loads(output(list(order), "site", "json"))["proofs"]
        t.equal([(p["run"], len(p["freshness"])) for p in proofs], [(new["run"], 2)], "of two records the newest, of both ends' the one that was compared at both")
    other = changed(example("pfc"), freshness=FRESH)
    for end in ("local", "peer"):
        other[end]["path"]["link"] = "ens1f1"
    page = section(output([new, other], "site", "html"))
    t.equal(page.count("<article"), 2, "each pair of ports for itself")


def charts_show(t):
    page = section(output(all_states(), "site", "html"))
    drawn = charts(page)
    titles = [c.findtext("title") for c in drawn]
    wanted = [f"{what}, {a} → {b}" for what in ("Bandwidth", "Message rate") for a, b in (("gpu-node-01/ens1f0", "aistor-01/ens1f0"), ("aistor-01/ens1f0", "gpu-node-01/ens1f0"))]
    t.equal(titles[:4], wanted, "bandwidth and rate for each direction")
    t.ok("Latency" in titles and "CPU time, aistor-01/ens1f0" in titles and sum(x.startswith("Latency of ") for x in titles) == 3, "latency, histograms and CPU time", titles)
    t.ok(all(c.find("desc") is not None and c.get("role") == "img" and c.get("aria-labelledby") for c in drawn), "each chart speaks to a screen reader")
    groups = [g for c in drawn for g in c.findall("g")]
    states = {(g.get("class"), g.findtext("text[@class='value']").split(", ", 1)[-1]) for g in groups if g.find("text[@class='value']") is not None and "," in g.findtext("text[@class='value']")}
    for kind, note in (("pfc", "stale"), ("ecn", "test double"), ("dmabuf", "not compared"), ("gdr", "failed")):
        t.ok((f"s-{kind} hollow", note) in states, f"{note}: drawn hollow, and labelled", states)
    solid = [g for g in groups if g.get("class") == "s-baseline"]
    t.ok(len(solid) > 20 and all("," not in (g.findtext("text[@class='value']") or "") for g in solid), "what proves is drawn full")
    t.ok(any(g.find("path[@class='other']") is not None for g in solid), "perftest stands beside it")
    words = " ".join(Page(page).words)
    for word in ("no acknowledgement for 30 s", "kernel was \"1\", is \"2\"", "rx_priority_3_xoff.nic", "railhead ÷ perftest", "1.01", "DSCP 24, ECN 0", "senders 2",
                 "ibv_reg_dmabuf_mr of 16 KiB: errno 12, cannot be registered", "this length failed"):
        t.ok(word in words, f"says \"{word}\"")
    quiet = section(output([changed(example("host"), freshness=FRESH)], "site", "html"))
    t.equal(len(charts(quiet)), 0, "nothing is drawn of what was not run")
    t.ok("id=\"proofs\"" not in output([], "site", "html"), "no section without records")


def pairs_have_a_limit(t):
    records = []
    for port in range(40):
        records.append(changed(example("pfc"), freshness=FRESH))
        records[-1]["local"]["path"]["link"] = f"rail{port}"
    page = section(output(records, "site", "html"))
    t.equal((page.count("<article"), page.count("<figcaption>Latency<"), "Charts of the first 32 of 40 pairs" in page), (40, 32, True), "a page draws 32 pairs, lists all, and says so")


def check_takes_them(t):
    """From the folder of records to the report, by the program itself; and a snapshot that has nonsense below /proofs."""
    snapshots = [json.loads((TOP / f"tests/data/snapshots/e810-{name}-healthy.json").read_text()) for name in ("b300", "storage")]
    snapshots[1]["proofs"] = {"pfc": [7, {"schema": "railhead.proof/1"}, {**example("pfc"), "runs": 5}], "gdr": [{"gpu": "x", "link": "y"}], "cuda": "z"}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.json" for i in range(2)]
        for path, snapshot in zip(paths, snapshots):
            path.write_text(json.dumps(snapshot))
        for options, kinds in ((("--proofs", EXAMPLES), ["baseline", "host", "pfc"]), ((), [])):
            r = subprocess.run([os.environ["RAILHEAD"], "check", "--site", TOP / "examples/e810-two-rails.yaml", "-f", "json", *options, *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            t.ok(r.returncode in (0, 1), "check ends as it should", r.stderr.decode())
            t.equal(sorted(p["kind"] for p in json.loads(r.stdout).get("proofs", [])), kinds, "check puts the records into the report")


def numbers_are_those_of_the_record(t):
    page = section(output([changed(example("baseline"), freshness=FRESH)], "site", "html"))
    shown = set(re.findall(r'<td class="number">([^<]*)</td>', page))
    for run in example("baseline")["runs"]:
        result = run["result"]
        if run["run"] == "bandwidth":
            value = result["gbit_per_s"]
            t.ok(f"{value:.3g}" in shown, f"{run['operation']} {result['size_bytes']}: {value} is in the table", shown)
    bars = charts(page)[0].findall("g/rect")
    widths = [float(bar.get("width")) for bar in bars]
    forward = [r["result"]["gbit_per_s"] for r in example("baseline")["runs"] if r["run"] == "bandwidth" and r["result"]["size_bytes"] > 8 and r["reverse"] == (r["operation"] == "read")]
    ratios = [w / v for w, v in zip(widths, forward)]
    t.ok(len(widths) == len(forward) == 6 and max(ratios) - min(ratios) < 0.01, "bars are as long as their numbers", (widths, forward))


def page_of_one_proof(t):
    for records in ([example("pfc")], []):
        source = output(records, "records", "html")
        page = Page(source)
        t.ok(not page.problems and not page.stack, "a page of its own is well nested", page.problems or page.stack)
        t.equal(len([a for tag, a in page.elements if tag == "script"]), 1, "with one script")
    t.ok(' hollow"' not in section(output([example("pfc")], "records", "html")), "what was just made is not stale")


def text_tables(t):
    text = output([example("baseline"), example("pfc")], "records", "text", "width=100")
    t.ok(re.search(r"^    write +64 KiB +→ +91\.8 +175095 +yes +14\.2 +9\.1 +90\.7 +1\.01$", text, re.M), "a line for each speed run, with perftest beside it", text[:4000])
    t.ok(re.search(r"^    read +8 B +← +3\.57 +3\.84 +6\.14 +15\.7 +65\.3 +50000 +3\.88 +0\.99$", text, re.M), "and for each latency", text[:6000])
    t.ok("perftest" not in output([example("pfc")], "records", "text"), "no column that nothing has")
    t.ok("not steady: variation 14.2 %" in text, "says what was not steady")
    gdr = re.sub(r"\s+", " ", output([all_states()[-1]], "records", "text"))
    t.ok("register gpu-node-01: up to 8 KiB; this length failed; ibv_reg_dmabuf_mr of 16 KiB: errno 12, cannot be registered: Cannot allocate memory; kernel: NVRM: x" in gdr, "what memory could be registered", gdr[:1500])
    t.ok("no acknowledgement for 30 s" in gdr, "a run that did not end says why", gdr)
    for width in (40, 60, 80):
        over = [line for line in output([example("baseline")], "records", "text", f"width={width}").split("\n") if len(line) > width]
        t.ok(not over, f"fits {width} columns", "\n".join(over[:5]))
    t.ok("then every byte right" in output([example("baseline")], "records", "text", "verbose=1"), "-v tells each run in words")


SCRIPT = "</svg></title><script>alert(1)</script><img src=x onerror=alert(1)>"
ABSURD = (-1, -1e300, 1e300, 1e-300, 2**62, 0, None, "12", True, [], {}, [1], SCRIPT)


def hostile():
    """Records in which every number of a result has one absurd value after the other, and every text is markup."""
    records = []
    for number, value in enumerate(ABSURD):
        record = changed(example("baseline" if number % 2 else "pfc"), run=f"{number:016x}", kind=("baseline", "pfc", "ecn", "gdr", "host", "marking", "x_1")[number % 7])
        for end in ("local", "peer"):
            record[end]["node"] = f"{SCRIPT}{number}"
            record[end]["path"]["link"] = "\"' onload=\"x"
            record[end]["counters"] = {"why": [SCRIPT, 7], "difference": {"rdma": {"cnp" + SCRIPT: value, "ecn": 3}, "pause": {SCRIPT: {"xoff" + SCRIPT: 12}, "y": 5}, "tcp": value, "link": []}}
        for run in record["runs"]:
            for key in run.get("result", {}):
                if key not in ("verified", "histogram", "arrived"):
                    run["result"][key] = value
            for bucket in run.get("result", {}).get("histogram", []):
                bucket["to_ns"] = value
        record["runs"] += [{"run": SCRIPT, "operation": SCRIPT, "error": SCRIPT}, {"run": "bandwidth", "operation": SCRIPT, "reverse": 7, "result": {"gbit_per_s": 5, "size_bytes": 65536, "cpu": value}},
                           {"run": "bandwidth", "operation": "write", "result": value}, {"run": "latency", "result": {"histogram": [value, {}], "median_ns": 1e14, "min_ns": 1e-9}},
                           {"run": "marking", "operation": "send", "result": {"sent": value, "arrived": [value, {"dscp": SCRIPT}]}}, {"run": "perftest", "operation": "write", "result": {"gbit_per_s": value, "ratio": SCRIPT}}]
        record["parameters"] = {"senders": value, "dscp": value, "qps": SCRIPT}
        record["verdict"] = {"status": ("pass", SCRIPT)[number % 2], "why": [SCRIPT, value]}
        record["freshness"] = {"local": {"same": value, "changed": SCRIPT}, "peer": value} if number % 3 else value
        records.append(record)
    return records


def hostile_records(t):
    for name in ("site", "records"):
        source = output(hostile(), name, "html")
        page = Page(source)
        t.ok(not page.problems and not page.stack, f"hostile {name}: well nested", page.problems[:3] or page.stack)
        t.ok("<script>alert" not in source and "<img" not in source, f"hostile {name}: markup stays text")
        t.equal([tag for tag, _ in page.elements].count("script"), 1, f"hostile {name}: one script, its own")
        acts = [(tag, k) for tag, a in page.elements for k in a if k.startswith("on") or k in ("style", "src")]
        t.ok(not acts, f"hostile {name}: no handler", acts)
        ids = [a["id"] for _, a in page.elements if "id" in a]
        t.equal(len(ids), len(set(ids)), f"hostile {name}: no id twice")
        drawn = charts(source)
        t.ok(drawn, f"hostile {name}: what makes sense is drawn")
        places = [float(v) for c in drawn for e in c.iter() for k in ("x", "y", "cx", "cy", "width", "height") if (v := e.get(k))]
        places += [float(v) for c in drawn for e in c.iter("path") for v in re.findall(r"-?\w[\w.]*", e.get("d").replace("M", " ").replace("L", " "))]
        t.ok(all(math.isfinite(p) and -1 <= p <= 1e5 for p in places), f"hostile {name}: every place is in the picture", [p for p in places if not math.isfinite(p) or p < 0 or p > 1e5][:5])
        t.ok(not re.search(r">-?(nan|inf)\b", source), f"hostile {name}: no number that is none")
    for form in ("text", "json"):
        t.ok("\033" not in output(hostile(), "records", form), f"hostile {form}: is safe")
    for form in ("text", "junit", "ctrf"):
        output(hostile(), "site", form)


def examples_are_valid(t):
    validator = jsonschema.Draft202012Validator(json.loads((TOP / "docs/schema/proof-1.json").read_text()))
    for path in sorted(EXAMPLES.glob("*.json")):
        errors = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(json.loads(path.read_text()))]
        t.ok(not errors, f"{path.name} has the form of the schema", "\n".join(errors))


def main():
    if sys.argv[1:] == ["--update"]:
        for file, made in goldens():
            (GOLDEN / file).write_text(made)
        return
    t = Tap()
    for case in (is_golden, document_is_valid, newest_counts, charts_show, pairs_have_a_limit, check_takes_them, numbers_are_those_of_the_record, page_of_one_proof, text_tables, hostile_records, examples_are_valid):
        t.case(case)
    t.done()


main()
