#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every form of the hand-made ladders of fixture.c, read by a parser of its own kind.

test_formats.py --update writes the golden texts anew, for a person to look at.
"""

import base64
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
PRINT = Path(os.environ["RAILHEAD"]).parent / "tests" / "report" / "report-fixture"
GOLDEN = TOP / "tests" / "data" / "report"
LADDERS = ("site", "paths", "complete", "nothing", "hostile", "korean", "empty", "plan", "plan-good", "many")
SMALL = LADDERS[:-1]  # for what takes seconds on 5,000 verdicts and looks at each alike
# what a terminal would act on: C0 but newline, DEL, C1, and the characters that turn text around
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@functools.lru_cache(maxsize=None)
def make(name, form, *options):
    r = subprocess.run([PRINT, name, form, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if r.returncode:
        raise RuntimeError(f"{name} {form}: {r.stderr.decode()}")
    return r.stdout.decode("utf-8")  # strict: each form is valid UTF-8


def columns(line):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide - sum(unicodedata.combining(c) != 0 for c in line)


def goldens():
    for name in ("site", "paths", "nothing", "korean", "empty"):
        for width in (80, 120):
            yield f"{name}-{width}.txt", (name, "text", f"width={width}")
    for name in ("plan", "plan-good", "components", "difference"):
        yield f"{name}-80.txt", (name, "text", "width=80")
    yield "plan-80-evidence.txt", ("plan", "text", "width=80", "verbose=1")
    yield "site-80-evidence.txt", ("site", "text", "width=80", "verbose=1")
    yield "site-80-ascii.txt", ("site", "text", "width=80", "ascii")
    yield "gates-80.txt", ("gates", "text", "width=80")
    yield "explain-80.txt", ("explain:os.release", "text", "width=80")


def text_is_golden(t):
    for file, args in goldens():
        t.equal(make(*args).splitlines(), (GOLDEN / file).read_text().splitlines(), f"text: {file}")


def text_fits(t):
    for name in LADDERS:
        for width in (40, 60, 80, 120):
            for options in ((), ("verbose=2",), ("ascii",)):
                if name == "many" and (width != 80 or options):
                    continue
                lines = make(name, "text", f"width={width}", *options).split("\n")
                over = [line for line in lines if columns(line) > width]
                t.ok(not over, f"text: {name} fits {width} columns {' '.join(options)}", "\n".join(over))
                blank = [line for line in lines if line != line.rstrip()]
                t.ok(not blank, f"text: {name} has no blanks at line ends, {width} {' '.join(options)}", blank)


def text_is_safe(t):
    for name in ("hostile", "korean", "site"):
        for options in ((), ("verbose=2",), ("quiet",)):
            seen = ACTS.findall(make(name, "text", *options))
            t.ok(not seen, f"text: {name} holds nothing that a terminal acts on {options}", seen)
    coloured = make("hostile", "text", "colour", "verbose=1")
    left = ACTS.findall(re.sub(r"\x1b\[(0|1|2|1;31|3[1-6])m", "", coloured))
    t.ok("\x1b[1;31m" in coloured and not left, "text: colours are the only escapes, when asked for", left)
    t.equal(re.sub(r"\x1b\[[0-9;]*m", "", make("site", "text", "colour")), make("site", "text"), "text: colour changes nothing else")
    t.ok(make("korean", "text", "ascii").isascii(), "text: ascii is ASCII")


def text_says(t):
    site = make("site", "text")
    order = [site.find(s) for s in ("net.mtu      aistor-01", "━━ railhead: net.mtu aistor-01 bond1 — phase 2", "✗ rdma.device")]
    t.ok(-1 not in order and order == sorted(order), "text: the railhead stands behind the last gate that passes", order)
    for words in ("maybe   irdma is not loaded", "see     net.address (bond1) explains this", "(handmade)", "(from a test double)",
                  "(assumed: the same MTU", "obtain  railhead prove", "6 pass, 2 warn, 2 fail, 1 blocked, 2 unknown, 2 n/a"):
        t.ok(words in site, f"text: says \"{words}\"", site)
    quiet = make("site", "text", "quiet").split("\n")
    t.ok(len(quiet) == 2 and quiet[0].startswith("proven up to net.mtu aistor-01 bond1 (phase 2); stopped by rdma.device gpu-node-01 bond1: "),
         "text: quiet is one line", quiet)
    nothing = make("nothing", "text", "quiet")
    t.ok(nothing.startswith("nothing is proven; stopped by os.release: ") and "; first failure rdma.device bond1: no RDMA device; " in nothing,
         "text: an unknown that stops the path does not hide the failure to mend", nothing)
    paths = make("paths", "text").split("\n")
    t.ok(len(paths) < 25 and any("and 55 alike" in line for line in paths), "text: 64 paths do not flood", len(paths))
    t.equal(make("paths", "text", "verbose=1").count("gdr.topology  0000:"), 64, "text: -v shows each of the 64")


def json_is_valid(t):
    schema = json.loads((TOP / "docs/schema/report-1.json").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for name in SMALL:
        document = json.loads(make(name, "json"))
        errors = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(document)]
        t.ok(not errors, f"json: {name} is valid", "\n".join(errors))
        t.equal(sum(document["result"]["counts"].values()), len(document["verdicts"]), f"json: {name} counts each verdict once")
    document = json.loads(make("site", "json"))
    t.equal((document["result"]["railhead"]["gate"], document["result"]["stopped_by"]["gate"]), ("net.mtu", "rdma.device"), "json: railhead and stop")
    for member in ("status", "causes", "gate"):
        broken = json.loads(make("site", "json"))
        del broken["verdicts"][6][member]
        t.ok(not validator.is_valid(broken), f"json: the schema misses {member}")


def json_of_plans_is_valid(t):
    for name in ("components", "difference"):
        schema = json.loads((TOP / f"docs/schema/{name}-1.json").read_text())
        validator = jsonschema.Draft202012Validator(schema)
        validator.check_schema(schema)
        document = json.loads(make(name, "json"))
        errors = [f"{e.json_path}: {e.message[:200]}" for e in validator.iter_errors(document)]
        t.ok(not errors, f"json: {name} is valid", "\n".join(errors))
        t.ok(not ACTS.search(make(name, "json")), f"json: {name} is safe")
    plan = json.loads(make("plan", "json"))
    validator = jsonschema.Draft202012Validator(json.loads((TOP / "docs/schema/report-1.json").read_text()))
    for place, key in ((plan["verdicts"][1]["unverified"][0], "text"), (plan["buffers"]["numbers"][0], "value"), (plan["components"][0], "need")):
        kept = place.pop(key)
        t.ok(not validator.is_valid(plan), f"json: the schema misses {key} of a plan")
        place[key] = kept


def plans_say(t):
    text = make("plan", "text", "quiet")
    t.equal(text, "stopped by plan.bond-rdma: ice does not do RDMA over bond1; and by plan.storage-client; 1 pass, 1 warn, 2 fail\n", "text: a plan ends with what fails")
    t.equal(make("plan-good", "text", "quiet"), "nothing on paper stands against it; 1 pass, 1 warn\n", "text: a good plan ends well")
    t.ok("railhead:" not in make("plan-good", "text"), "text: nothing is proven by a plan")
    t.equal(make("plan", "text").count("bytes go into GPU memory"), 1, "text: what two gates leave open is told once")
    for form, words in (("html", ("unbond the ports", "bytes go into", "44 KiB to 79 KiB", "nvidia-peermem")), ("junit", ("option: unbond", "unverified: bytes", "PFC headroom")),
                        ("ctrf", ("option: unbond", "bytes go into", "44 KiB to 79 KiB"))):
        missing = [w for w in words if w not in make("plan", form)]
        t.ok(not missing, f"{form}: has options, buffers and what stays unverified", missing)
    good = make("plan-good", "html")
    t.ok("Proven up to" not in good and "nothing stands against it" in good, "html: nothing is proven by a plan")


def json_gates_are_valid(t):
    schema = json.loads((TOP / "docs/schema/gates-1.json").read_text())
    for name in ("gates", "explain:os.release"):
        document = json.loads(make(name, "json"))
        jsonschema.Draft202012Validator(schema).validate(document)
        t.ok(document["gates"][0]["id"] == "os.release", f"json: {name} is valid")


def forms_come_from_the_json_alone(t):
    for name in SMALL:
        for form in ("text", "json", "html", "junit", "ctrf"):
            t.ok(make(name, form) == make(name, form, "reread"), f"{form}: {name} is the same from a stored report")


def junit_is_xml(t):
    element = {"fail": "failure", "unknown": "error", "blocked": "skipped", "n/a": "skipped", "pass": "system-out", "warn": "system-out"}
    for name in LADDERS:
        root = ElementTree.fromstring(make(name, "junit").encode())
        verdicts = json.loads(make(name, "json"))["verdicts"]
        cases = root.findall("testsuite/testcase")
        t.equal(len(cases), len(verdicts), f"junit: {name} has a case for each verdict")
        for key, tag in (("tests", "testcase"), ("failures", "testcase/failure"), ("errors", "testcase/error"), ("skipped", "testcase/skipped")):
            right = [int(s.get(key)) == len(s.findall(tag)) for s in root.findall("testsuite")]
            t.ok(all(right) and int(root.get(key)) == len(root.findall("testsuite/" + tag)), f"junit: {name} counts its {key}")
        seen = sorted((c[0].tag, c.get("classname").split(".", 2)[2]) for c in cases)
        t.ok(seen == sorted((element[v["status"]], v["gate"]) for v in verdicts), f"junit: {name} has the right outcome for each gate", seen[:20])
    root = ElementTree.fromstring(make("site", "junit").encode())
    failure = root.find(".//failure[@type='bond-in-tree-ice']")
    t.ok(failure is not None and "ip link set ens1f0 nomaster\n" in failure.text and "no RDMA device" in failure.get("message"),
         "junit: a failure says cause and fix", make("site", "junit"))
    t.equal(len(root.findall("testsuite")), 4, "junit: one suite for each node and level")


CTRF_STATUS = {"pass": "passed", "warn": "passed", "fail": "failed", "blocked": "pending", "unknown": "other", "n/a": "skipped"}


def ctrf_is_valid(t):
    schema = json.loads((GOLDEN / "ctrf-subset.schema.json").read_text())
    for name in LADDERS:
        document = json.loads(make(name, "ctrf"))
        errors = [f"{e.json_path}: {e.message[:200]}" for e in jsonschema.Draft202012Validator(schema).iter_errors(document)]
        t.ok(not errors, f"ctrf: {name} is valid", "\n".join(errors))
        results, verdicts = document["results"], json.loads(make(name, "json"))["verdicts"]
        statuses = [test["status"] for test in results["tests"]]
        t.ok(statuses == [CTRF_STATUS[v["status"]] for v in verdicts], f"ctrf: {name} has the right status for each verdict")
        summary = [results["summary"][s] for s in ("passed", "failed", "skipped", "pending", "other")]
        t.equal(summary, [statuses.count(s) for s in ("passed", "failed", "skipped", "pending", "other")], f"ctrf: {name} counts")
    results = json.loads(make("site", "ctrf"))["results"]
    t.equal(results["summary"]["start"], 1787220930000, "ctrf: start is the time of the facts, in ms")
    t.ok("Take the ports out of the bond" in results["tests"][6]["trace"], "ctrf: the trace holds the fix", results["tests"][6])
    t.equal(results["environment"]["healthy"], False, "ctrf: not healthy")


VOID = {"meta", "link", "br", "input"}


class Page(HTMLParser):
    """Checks nesting; collects what the tests look at."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.problems, self.elements, self.texts = [], [], [], {}
        self.words = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.elements.append((tag, attrs))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.problems.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        inside = self.stack[-1] if self.stack else ""
        self.texts.setdefault(inside, []).append(data)
        if inside not in ("style", "script"):
            self.words.append(data)


def page_of(name):
    source, page = make(name, "html"), Page()
    page.feed(source)
    page.close()
    return source, page


def html_is_sound(t):
    for name in LADDERS:
        source, page = page_of(name)
        t.ok(not page.problems and not page.stack, f"html: {name} is well nested", page.problems or page.stack)
        verdicts = json.loads(make(name, "json"))["verdicts"]
        rows = [(a["id"], a["data-status"], a["data-node"]) for tag, a in page.elements if "verdict" in a.get("class", "").split()]
        wanted = [(f"v{i}", v["status"].replace("n/a", "na"), v.get("node", "")) for i, v in enumerate(verdicts)]
        t.ok(sorted(rows) == sorted(wanted), f"html: {name} has a row for each verdict", rows[:10])
        ids = [a["id"] for _, a in page.elements if "id" in a]
        t.equal(len(ids), len(set(ids)), f"html: {name} has no id twice")
        links = {a["href"] for _, a in page.elements if "href" in a}
        t.ok(all(h == "data:," or (h[0] == "#" and h[1:] in ids) for h in links), f"html: {name} links only into itself", links)
        loads = [(tag, a) for tag, a in page.elements if {"src", "srcset", "action", "formaction", "data", "poster"} & set(a)]
        t.ok(not loads and not re.search(r"https?:|//[a-z]|url\(|@import", re.sub(r"^\s*//.*$", "", source, flags=re.M)),
             f"html: {name} asks nobody for anything", loads)
        acts = [(tag, k) for tag, a in page.elements for k in a if k.startswith("on") or k == "style"]
        t.ok(not acts, f"html: {name} has no inline handler or style", acts)
        t.equal([tag for tag, _ in page.elements].count("script"), 1, f"html: {name} has one script, its own")
        words = " ".join(page.words)
        missing = [c["text"] for v in verdicts for c in v["causes"] if c["text"].replace("`", "") not in re.sub(r"\s*\n\s*", "", "".join(page.words))]
        t.ok(not missing or name == "hostile", f"html: {name} shows each cause", missing[:3])
        inside = re.sub(r"<(style|script)>.*?</\1>", "", source, flags=re.S)
        t.ok(not ACTS.search(inside), f"html: {name} holds no control character", ACTS.findall(inside)[:5])
        t.ok(len(words) > 200, f"html: {name} has text")


def html_policy(t):
    source, page = page_of("hostile")
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    t.equal(rules["default-src"], "'none'", "html: the policy forbids by default")
    for element, rule in (("style", "style-src"), ("script", "script-src")):
        digest = base64.b64encode(hashlib.sha256("".join(page.texts[element]).encode()).digest()).decode()
        t.equal(rules[rule], f"'sha256-{digest}'", f"html: the policy allows the {element} of the page and no other")
    t.ok("<script>alert" not in source and "</li><script" not in source, "html: hostile text stays text")
    t.ok("</li><script>alert('x')</script>" in "".join(page.words), "html: and is shown as it is")


def html_is_accessible(t):
    _, page = page_of("site")
    t.equal(dict(page.elements)["html"].get("lang"), "en", "html: the language is declared")
    svgs = [a for tag, a in page.elements if tag == "svg"]
    t.ok(all(a.get("aria-hidden") == "true" or a.get("aria-label") for a in svgs), "html: each sign has a name or is hidden from readers", svgs)
    hidden = [a for tag, a in page.elements if tag in ("form", "button") and a.get("id") in ("filters", "theme")]
    t.ok(len(hidden) == 2 and all("hidden" in a for a in hidden), "html: what needs the script is hidden without it", hidden)


def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def html_contrast(t):
    """WCAG 2.1, 1.4.3: 4.5 to 1 for text; each colour on each ground, in both themes."""
    css = (TOP / "src/report/html/page.css").read_text()
    blocks = re.findall(r":root[^{]*\{([^}]*--paper: #[^}]*--na:[^}]*)\}", css)
    themes = [dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6});", block)) for block in blocks]
    t.ok(len(themes) == 3 and themes[1] == themes[2], "html: both ways into the dark theme have the same colours", themes)
    for theme in themes[:2]:
        for text in ("ink", "soft", "track", "pass", "warn", "fail", "unknown", "blocked", "na"):
            for ground in ("paper", "card", "sunk"):
                a, b = sorted((luminance(theme[text]), luminance(theme[ground])))
                t.ok((b + 0.05) / (a + 0.05) >= 4.5, f"html: {text} {theme[text]} on {ground} {theme[ground]} can be read", (b + 0.05) / (a + 0.05))
        # 1.4.11: 3 to 1 for what a chart is drawn with
        for series in ("host", "marking", "baseline", "pfc", "ecn", "dmabuf", "gdr"):
            a, b = sorted((luminance(theme[series]), luminance(theme["card"])))
            t.ok((b + 0.05) / (a + 0.05) >= 3, f"html: {series} {theme[series]} on {theme['card']} can be seen", (b + 0.05) / (a + 0.05))


def main():
    if sys.argv[1:] == ["--update"]:
        for file, args in goldens():
            (GOLDEN / file).write_text(make(*args))
        return
    t = Tap()
    for case in (text_is_golden, text_fits, text_is_safe, text_says, json_is_valid, json_of_plans_is_valid, plans_say, json_gates_are_valid, forms_come_from_the_json_alone,
                 junit_is_xml, ctrf_is_valid, html_is_sound, html_policy, html_is_accessible, html_contrast):
        t.case(case)
    t.done()


main()
