#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runbook of every example, in both languages: does it name what was rendered, and can it be read?"""

import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

RAILHEAD = os.environ["RAILHEAD"]
TOP = Path(os.environ["RAILHEAD_SOURCE"])
PHASES = 22
NOT_IN_BOOK = {"runbook.md", "runbook.html", "manifest.json", "SHA256SUMS"}
VOID = {"meta", "link", "br", "hr", "img"}


def railhead(*arguments):
    return subprocess.run([RAILHEAD, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class Page(html.parser.HTMLParser):
    """Strict about balance; keeps text, links, anchors and who contains whom."""

    ONLY_IN = {"li": {"ul", "ol"}, "code": {"p", "li", "pre", "a", "h2", "h3"}, "p": {"body", "li"}, "pre": {"body", "li"}}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.links, self.anchors, self.code, self.headings = [], [], [], set(), [], []
        self.text = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in self.ONLY_IN and (not self.open or self.open[-1] not in self.ONLY_IN[tag]):
            self.wrong.append(f"<{tag}> in <{self.open[-1] if self.open else ''}> at {self.getpos()}")
        if "id" in attrs:
            if attrs["id"] in self.anchors:
                self.wrong.append(f"id {attrs['id']} twice")
            self.anchors.add(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if tag == "h2":
            self.headings.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.text.append(data)
        if "h2" in self.open:
            self.headings[-1] += data
        if self.open and self.open[-1] == "code" and "pre" in self.open:
            self.code.append(data)


def page_of(folder):
    page = Page()
    page.feed((folder / "runbook.html").read_text(encoding="utf-8"))
    page.close()
    return page


def markdown_links(text):
    return re.findall(r"\]\(([^)]+)\)", re.sub(r"^( *)```.*?^ *```$", "", text, flags=re.S | re.M))


def markdown_code(text):
    out = []
    for indent, body in re.findall(r"^( *)```sh\n(.*?)^ *```$", text, flags=re.S | re.M):
        out.append("".join(line.removeprefix(indent) + "\n" for line in body.splitlines()).rstrip("\n"))
    return out


def phrases():
    """(English, Korean) of each phrase, as the table has them."""
    out = []
    string = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    for path in sorted((TOP / "src/render").glob("runbook_phrases*.h")):
        for en, ko in re.findall(r"^PHRASE\(\w+,\s*" + string + r",\s*" + string + r"\)$", path.read_text(encoding="utf-8"), flags=re.M):
            join = lambda s: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', s)).replace('\\"', '"')  # noqa: E731
            out.append((join(en), join(ko)))
    return out


def nodes_of(folder):
    return [line.split()[0] for line in (folder / "nodes.txt").read_text().splitlines()]


def mentioned(path, text, nodes):
    """By name, or as the kind of file that each node has."""
    kind = "/".join(
        "NODE" if part in nodes else f"NODE.{part.rsplit('.', 1)[1]}" if "." in part and part.rsplit(".", 1)[0] in nodes else part for part in path.split("/")
    )
    return f"`{path}`" in text or f"`{kind}`" in text


def check_book(t, name, folder, korean):
    text = (folder / "runbook.md").read_text(encoding="utf-8")
    page = page_of(folder)
    files = {entry["path"] for entry in json.loads((folder / "manifest.json").read_text())["files"]}
    places = files | {parent.as_posix() + "/" for path in files for parent in Path(path).parents}

    t.ok(not page.wrong and not page.open, f"{name}: the page is well-formed", "\n".join(page.wrong + page.open))
    for form, links, anchors in (
        ("Markdown", markdown_links(text), set(re.findall(r'<a id="([^"]+)"></a>', text))),
        ("page", page.links, page.anchors),
    ):
        bad = [link for link in links if (link[1:] not in anchors if link.startswith("#") else unquote(link) not in places)]
        t.ok(len(links) > PHASES and not bad, f"{name}: links of the {form} lead somewhere", "\n".join(bad))
    t.equal(sorted(page.links), sorted(markdown_links(text)), f"{name}: Markdown and page have the same links")
    commands = markdown_code(text)
    differing = [f"{a!r}\n{b!r}" for a, b in zip(page.code, commands) if a != b]
    t.ok(not differing and len(page.code) == len(commands) > PHASES, f"{name}: Markdown and page have the same commands", "\n".join(differing))

    nodes = set(nodes_of(folder))
    lost = [path for path in sorted(files - NOT_IN_BOOK) if not mentioned(path, text, nodes)]
    t.ok(not lost, f"{name}: every rendered file is named", "\n".join(lost))

    gates = {gate["id"]: gate["phase"] for gate in json.loads(railhead("gates", "-f", "json").stdout)["gates"]}
    rooms = "|".join(sorted({gate.split(".")[0] for gate in gates}))
    used = set(re.findall(rf"`((?:{rooms})\.[a-z0-9-]+)`", text))
    explained = {word for command in page.code for line in command.splitlines() if line.startswith("railhead explain") for word in line.split()[2:]}
    t.ok(used <= set(gates) and explained <= set(gates) and explained, f"{name}: every gate that it names exists", str((used | explained) - set(gates)))

    order = [int(m.group(1)) for m in (re.match(r"(\d+) · ", heading) for heading in page.headings) if m]
    t.equal(order, list(range(PHASES)), f"{name}: the phases are there in order")
    sections = re.split(r'^<a id="phase-\d+"></a>$', text, flags=re.M)[1:]
    absent = next((ko if korean else en) for en, ko in phrases() if en.startswith("This site does not have this phase"))
    for phase, section in enumerate(sections):
        if absent in section:
            t.ok(len([line for line in section.splitlines() if line]) == 3, f"{name}: phase {phase} says why it is absent", section)
        else:
            want = {gate for gate, where in gates.items() if where == phase}
            t.ok(all(f"- `{gate}` " in section for gate in want) and section.count("\n### ") >= 4, f"{name}: phase {phase} has its parts", section)

    # files that a command names are there
    named = {word for command in page.code for word in re.findall(r"(?<![\w/.-])(?:kubernetes|kubespray|mirror|gpu-operator|network|qos|switch)/[\w./-]+", command)}
    made = {"mirror/images-kubespray.txt", "mirror/files-kubespray.txt"}  # by mirror/kubespray.sh
    missing = sorted(word for word in named - made if word not in places and word + "/" not in places)
    t.ok(not missing, f"{name}: commands name files that were rendered", str(missing))

    # verbs that this railhead does not have are not to be called
    verbs = {line.split()[0] for line in railhead("--help").stdout.splitlines() if line.startswith("  ")}
    called = {m for command in page.code for m in re.findall(r"(?:^|\s)railhead ([a-z-]+)", command)}
    t.ok(called <= verbs, f"{name}: commands call verbs that are there", str(called - verbs))
    for later in ("prove", "qos"):
        t.ok(later not in verbs or later in called, f"{name}: `railhead {later}` exists, so it is used (src/render/runbook_hand.c)")

    if korean:
        # a phrase between its arguments and code words, in pieces long enough to be no name
        pieces = {p.strip(" .,;:()") for en, _ in phrases() for p in re.split(r"`[^`]*`|\{\d!?\}", en)}
        left = [piece for piece in pieces if len(piece) > 20 and piece in text]
        t.ok(not left, f"{name}: no English phrase is left", "\n".join(left))


def render(site, folder, language):
    return railhead("render", site, "-o", folder, "--force", "--lang", language)


def examples(t):
    with tempfile.TemporaryDirectory() as scratch:
        for site in sorted((TOP / "examples").glob("*.yaml")):
            for language in ("en", "ko"):
                folder = Path(scratch) / f"{site.stem}.{language}"
                result = render(site, folder, language)
                if t.ok(result.returncode == 0, f"{site.stem} renders in {language}", result.stderr):
                    check_book(t, f"{site.stem}, {language}", folder, language == "ko")


def qos_by_hand(t):
    """The commands of phase 14 are the rendered plan: each step, in its order."""
    program = {"private-flag": "ethtool", "dcbx": "dcb dcbx", "pause": "ethtool", "dscp": "dcb app", "ets": "dcb ets", "pfc": "dcb pfc"}
    with tempfile.TemporaryDirectory() as scratch:
        for site in ("e810-two-rails", "e810-oot-lacp", "connectx"):
            folder = Path(scratch) / site
            render(TOP / f"examples/{site}.yaml", folder, "en")
            plan = json.loads((folder / "qos/gpu-node-01/qos-plan.json").read_text())
            command = next(c for c in page_of(folder).code if "dcb app add" in c)
            lines = [line.strip() for line in command.splitlines() if line.startswith("\t")]
            steps = plan["ports"][0]["steps"]
            t.ok(
                len(lines) == len(steps) and all(line.startswith(program[step["set"]] + " ") for line, step in zip(lines, steps)),
                f"{site}: each step of the plan is a command",
                command,
            )
            ets = next(line for line in lines if line.startswith("dcb ets"))
            shares = [int(share.split(":")[1]) for share in ets.split(" tc-bw ")[1].split()]
            t.ok(sum(shares) == 100 and shares[3] == 50, f"{site}: the shares add up", ets)
            t.equal("prio-tc" in ets, site == "connectx", f"{site}: ice gets no map of priorities")


def plan_is_told(t):
    with tempfile.TemporaryDirectory() as scratch:
        site = TOP / "examples/original-proposal.yaml"
        render(site, scratch, "en")
        text = (Path(scratch) / "runbook.md").read_text(encoding="utf-8")
        plan = json.loads(railhead("plan", site, "-f", "json").stdout)
        for verdict in plan["verdicts"]:
            if verdict["status"] in ("fail", "warn"):
                t.ok(f"- `{verdict['gate']}` **{verdict['status']}** " in text, f"{verdict['gate']} is told")
        t.ok("The plan of this site fails" in text, "a plan that fails is said")
        t.ok("wrong for `plan.bond-rdma`" in text or "see `plan.bond-rdma`" in text, "phase 2 warns of RDMA on the bond of an inbox ice")
        # measured in this order: nothing is set on hosts or switch before the baseline
        at = [text.index(f'<a id="phase-{n}"></a>') for n in (13, 14, 15, 16)]
        senders = [re.findall(r"--senders (\d+)", text[a:b]) for a, b in ((at[0], at[1]), (at[2], at[3]))]
        t.ok(senders[0] and senders[0] == senders[1], "the baseline has as many senders as PFC, or they cannot be compared", senders)
        t.ok("dcb pfc set" not in text[: at[1]] and "dcb pfc set" in text[at[1] : at[2]], "PFC is set after the baseline")


HOSTILE = "a<b>&amp; `x` [l](javascript:1) *b* {0} </title><script>alert(1)</script> | #"


def hostile_site(t):
    """Texts of the site reach the book as text."""
    site = f"""
schema: railhead.site/1
name: "{HOSTILE}"
nodes:
  node-1:
    gpus: {{"{HOSTILE}": {{count: 1}}}}
    links: {{eth0: {{driver: ice, ddp: "{HOSTILE}", addresses: [10.0.0.1/24]}}}}
    drivers: {{ice: {{source: out-of-tree}}}}
    rdma: {{eth0: {{}}}}
    rdma_netns: shared
  node-2:
    links: {{eth0: {{driver: ice, addresses: [10.0.0.2/24]}}}}
    rdma: {{eth0: {{}}}}
storage: {{kind: other, version: "{HOSTILE}"}}
switch: {{names: ["sw"], model: "{HOSTILE}"}}
qos: {{dscp: 24, priority: 3, pfc: true, ecn: true}}
"""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "site.yaml"
        path.write_text(site)
        for language in ("en", "ko"):
            folder = Path(scratch) / language
            result = render(path, folder, language)
            if not t.ok(result.returncode == 0, f"a hostile site renders ({language})", result.stderr):
                continue
            page = page_of(folder)
            source = (folder / "runbook.html").read_text(encoding="utf-8")
            text = (folder / "runbook.md").read_text(encoding="utf-8")
            t.ok(not page.wrong and not page.open, "the page stays well-formed", "\n".join(page.wrong))
            t.ok("<script" not in source and not [link for link in page.links if ":" in link], "nothing becomes markup in the page")
            t.ok("\x1b" not in source + text, "no control character passes")
            t.ok("a<b>&amp; `x` [l](javascript:1) *b* {0}" in "".join(page.text), "the page shows the name as it is")
            outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text.replace("\\`", ""), flags=re.S)
            t.ok("](javascript" not in outside.replace("\\]", "") and not re.search(r"(?<!\\)<(?!a id=|/a>)", outside), "nothing becomes markup in Markdown", outside)


def many_nodes(t):
    """The book of a thousand nodes is not longer than that of a few, but for its name lists."""
    lengths = []
    for n in (20, 1000):
        nodes = "".join(
            f"  n-{i:04}: {{profile: p, ssh: {{address: 10.1.{i // 250}.{i % 250 + 1}}}, links: {{eth0: {{addresses: [10.2.{i // 250}.{i % 250 + 1}/16]}}}}}}\n"
            for i in range(n)
        )
        site = (
            "schema: railhead.site/1\nname: many\nprofiles:\n  p:\n    os: {id: rhel, version: '10.2'}\n"
            "    links: {eth0: {driver: ice, speed: 100G, mtu: 9000}}\n    rdma: {eth0: {rail: r}}\n"
            f"nodes:\n{nodes}qos: {{dscp: 24, priority: 3, pfc: true}}\n"
        )
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "site.yaml"
            path.write_text(site)
            result = render(path, Path(scratch) / "out", "en")
            if not t.ok(result.returncode == 0, f"{n} nodes render", result.stderr):
                return
            text = (Path(scratch) / "out/runbook.md").read_text()
            lengths.append(len(text))
            t.equal(len(nodes_of(Path(scratch) / "out")), n, f"all {n} nodes are in nodes.txt")
    t.ok(lengths[1] < lengths[0] * 1.1, "the book does not grow with the nodes", str(lengths))


def snapshots(t):
    """snapshots.sh with a stand-in for ssh."""
    with tempfile.TemporaryDirectory() as scratch:
        render(TOP / "examples/e810-two-rails.yaml", Path(scratch) / "out", "en")
        out = Path(scratch) / "out"
        ssh = Path(scratch) / "ssh"
        ssh.write_text('#!/bin/sh\ncase "$*" in *10.0.0.12*) exit 255;; esac\necho "$*"\n')
        ssh.chmod(0o755)
        env = dict(os.environ, SSH=str(ssh), JOBS="2")
        run = subprocess.run([out / "snapshots.sh", "s p"], cwd=scratch, env=env, stderr=subprocess.PIPE, text=True, check=False)
        t.equal(sorted(p.name for p in (Path(scratch) / "s p").iterdir()), ["aistor-01.json", "gpu-node-01.json", "kube-01.json"], "a file for each node that answers")
        t.ok(run.returncode == 1 and "gpu-node-02 (root@10.0.0.12): no snapshot" in run.stderr, "the node that does not is named", run.stderr)
        t.ok("-p 22 -- root@10.0.0.21 railhead snapshot" in (Path(scratch) / "s p/aistor-01.json").read_text(), "it is asked over ssh, as declared")
        for arguments in (["-x"], ["a", "b"]):
            bad = subprocess.run([out / "snapshots.sh", *arguments], cwd=scratch, env=env, stderr=subprocess.PIPE, text=True, check=False)
            t.ok(bad.returncode == 2 and "Usage" in bad.stderr, f"{arguments} is wrong usage", bad.stderr)


def main():
    t = Tap()
    t.ok(len(phrases()) > 150, "the table of phrases is read", len(phrases()))
    for case in (examples, qos_by_hand, plan_is_told, hostile_site, many_nodes, snapshots):
        t.case(case)
    t.done()


main()
