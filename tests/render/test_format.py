#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each writer of src/render/format.h is read back by the readers of its format."""

import html
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

PRINT = Path(os.environ["RAILHEAD"]).parent / "tests" / "render" / "render-print"

# What one YAML reader or another takes for no text, and what breaks out of plain or quoted text.
HOSTILE = [
    "yes", "no", "on", "off", "y", "n", "Y", "NO", "True", "false", "null", "Null", "~", "", " ", "1.33", "1.10", "010", "0o17", "0x1f",
    "1e3", "1_000", "+1", "-1", ".5", ".inf", "-.INF", ".nan", "NaN", "inf", "1:30", "190:20:30", "2026-12-01", "2026-12-01T00:00:00Z",
    "=", "<<", "-", "- a", "?", "? a", ":", ": a", "a: b", "a:", "a:b", "nvcr.io/nvidia/driver:580", "a #b", "#a", "a#b", "[a]", "{a}",
    "a, b", "a]", "&a", "*a", "!a", "!!int 3", "|", ">", "%a", "@a", "`a`", "'", "''", '"', 'a"b', "it's", "\\", "a\\nb", " lead",
    "trail ", "\ttab", "a\tb", "two\nlines", "two\nlines\n", "\nfirst", "last\n\n", "  indented\nlines\n", "a \nb", "---", "...",
    "--- a", "한국어", "한\n글\n", "é", "\u0085", "a\u2028b", "\u2029", "\ufeff", "\x7f", "\x1b[31m", "a\x01b", "😀", "$HOME", "${x}", "`id`",
    "$(id)", "{{ x }}", "{% x %}", "a" * 300, ("word " * 60).strip(), "a\r\nb", "\r", "key\nother: value", "'; rm -rf /; '", "100%", "a&b",
    "<script>", "k=v", "true:", "no:yes", "/etc/passwd", "..", "0", "00:00", "1,5", "e5", "_1", "0.0.0.0/0", "fe80::1", "::1",
]


def made(what, value):
    return subprocess.run([PRINT, what], input=json.dumps(value).encode(), check=True, stdout=subprocess.PIPE).stdout


def yaml_1_2(text):
    """A second reader: yq 4 or ruamel.yaml where there is one."""
    try:
        from ruamel.yaml import YAML
    except ImportError:
        return None
    return YAML(typ="safe", pure=True).load(text)


def yaml_text(t):
    """Every text comes back as itself: alone, as value, key and item, and below a list in a map."""
    for text in HOSTILE:
        document = {text: text, "list": [text, {"deep": [text]}], "z": {text: [[text]]}}
        out = made("yaml", document)
        t.ok(yaml.safe_load(out) == document and yaml.load(out, Loader=yaml.CBaseLoader) == document, f"YAML text {text!r}", out)
        t.ok(yaml.safe_load(made("yaml", text)) == text, f"YAML document {text!r}", made("yaml", text))
    document = {str(i): text for i, text in enumerate(HOSTILE)}
    other = yaml_1_2(made("yaml", document).decode())
    if other is None:
        t.skip("a YAML 1.2 reader agrees", "python3-ruamel.yaml is not installed")
    else:
        t.equal(other, document, "a YAML 1.2 reader agrees")


def yaml_values(t):
    for value in (
        {}, [], {"a": {}, "b": []}, [[], [[]], {}], True, False, None, 0, -1, 2**62, 0.5, 1e100, 1.0, {"n": [1, 2.5, True, None, "x"]},
        {"b": 1, "a": 2, "c": {"z": 1, "y": 2}},
    ):
        out = made("yaml", value)
        back = yaml.safe_load(out)
        t.ok(back == value and repr(back) == repr(value), f"YAML value {value!r}", out)
    t.equal(list(yaml.safe_load(made("yaml", {"b": 1, "a": 2, "0": 3}))), ["b", "a", "0"], "keys keep their order")
    t.equal(made("yaml", {"a": "plain text", "v": "v1.33", "f": "1.33"}).decode(), 'a: plain text\nv: v1.33\nf: "1.33"\n',
            "quotes only where they are needed")
    t.equal(made("yaml", {"s": "#!/bin/sh\necho a\n"}).decode(), "s: |\n  #!/bin/sh\n  echo a\n", "a script is a literal block")
    rng = random.Random(7)
    letters = "ab:#-?\n\t '\"{}[],&*!|>%@`~.0123456789 eE+_\\한\u0085\u2028"
    bad = []
    for _ in range(400):
        value = {"".join(rng.choices(letters, k=rng.randrange(8))): ["".join(rng.choices(letters, k=rng.randrange(14)))] for _ in range(3)}
        if yaml.safe_load(made("yaml", value)) != value:
            bad.append(value)
    t.ok(not bad, "400 random documents come back", bad[:3])


def shell(t):
    words = [w for w in HOSTILE if "\0" not in w]
    command = b"printf '%s\\0'" + made("shell", words)
    for program in ("sh", "bash"):
        out = subprocess.run([program, "-c", command], check=True, stdout=subprocess.PIPE).stdout
        seen = out.decode().split("\0")[:-1]
        t.ok(seen == words, f"{program} sees every word as it is", [(a, b) for a, b in zip(seen, words) if a != b])


def keyfile(t):
    """GLib's own reader where it is installed; NetworkManager uses it."""
    values = [w for w in HOSTILE if "\0" not in w]
    out = b"[g]\n" + made("keyfile", values)
    t.equal(out.decode().count("\n"), len(values) + 1, "a keyfile value is one line")
    try:
        from gi.repository import GLib
    except ImportError:
        t.skip("GLib reads every value as it is", "python3-gi is not installed")
        return
    f = GLib.KeyFile()
    f.load_from_data(out.decode(), len(out), GLib.KeyFileFlags.NONE)
    seen = [f.get_string("g", f"k{i}") for i in range(len(values))]
    t.ok(seen == values, "GLib reads every value as it is", [(a, b) for a, b in zip(seen, values) if a != b])


def the_rest(t):
    out = made("html", HOSTILE).decode()
    seen = [html.unescape(p) for p in re.findall(r"<p>(.*?)</p>", out, flags=re.S)]
    t.ok(seen == HOSTILE and not re.search(r"<(?!/?p>)", out), "HTML text comes back", out[:400])
    for text in HOSTILE:
        out = made("comment", text).decode()
        t.ok(yaml.safe_load(out + "a: 1\n") == {"a": 1} and all(line.startswith("#") for line in out.splitlines()), f"comment {text!r}", out)
    words = ["a", "a-b", "-a", "", "a b", "a;b", "10.0.0.1/24", "é", "a\n", "Ethernet1/1", "fe80::1", "a'b", "$a"]
    t.equal(made("word", words).decode(), "1100001001100", "words")


def patched(pair):
    with tempfile.TemporaryDirectory() as folder:
        f = Path(folder) / "f"
        if pair["before"] is not None:
            f.write_text(pair["before"], newline="")
        run = subprocess.run(["patch", "-p1", "--binary", "-s"], input=made("diff", pair), cwd=folder, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        after = f.read_bytes().decode() if f.exists() else None
        return run.returncode, run.stdout.decode(), after


def diff(t):
    """patch(1) makes `after` of `before`, and no edit script is longer than that of diff -d."""
    rng = random.Random(11)
    longer, wrong = [], []
    for i in range(150):
        size = rng.choice((0, 1, 3, 10, 60))
        before = [f"line {rng.randrange(6)}\n" for _ in range(size)]
        after = list(before)
        for _ in range(rng.randrange(6)):
            at = rng.randrange(len(after) + 1)
            after[at:at + rng.randrange(3)] = [f"line {rng.randrange(8)}\n" for _ in range(rng.randrange(3))]
        pair = {"before": "".join(before)[: -1 if rng.random() < 0.1 else None], "after": "".join(after)[: -1 if rng.random() < 0.1 else None]}
        if not pair["before"] or not pair["after"] or pair["before"] == pair["after"]:
            continue
        code, text, seen = patched(pair)
        if code or seen != pair["after"]:
            wrong.append((pair, code, text, seen))
        with tempfile.TemporaryDirectory() as folder:
            for name in pair:
                (Path(folder) / name).write_text(pair[name])
            peer = subprocess.run(["diff", "-d", "-u", "before", "after"], cwd=folder, stdout=subprocess.PIPE).stdout
        edits = [sum(line[:1] in (b"+", b"-") for line in d.splitlines()[2:]) for d in (made("diff", pair), peer)]
        if edits[0] > edits[1]:
            longer.append((pair, edits))
    t.ok(not wrong, "patch applies random differences", wrong[:2])
    t.ok(not longer, "no script is longer than that of diff", longer[:2])
    t.equal(patched({"before": None, "after": "a\nb\n"})[2], "a\nb\n", "a new file")
    t.equal(patched({"before": "a\nb\n", "after": None})[2], None, "a file that is gone")
    t.equal(made("diff", {"before": "a\n", "after": "a\n"}), b"", "equal texts differ in nothing")
    large = {"before": "".join(f"a{i}\n" for i in range(4000)), "after": "".join(f"b{i}\n" for i in range(4000))}
    t.equal(patched(large)[2], large["after"], "texts without a line in common")
    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("x", 30), ("y", 30)):
            (Path(folder) / name).write_text("".join(f"{name if i in (3, 20) else 'l'}{i}\n" for i in range(lines)))
        pair = {"before": (Path(folder) / "x").read_text(), "after": (Path(folder) / "y").read_text()}
        peer = subprocess.run(["diff", "-u", "--label", "a/f", "--label", "b/f", "x", "y"], cwd=folder, stdout=subprocess.PIPE).stdout
    t.equal(made("diff", pair), peer, "the same bytes as diff -u")


def main():
    t = Tap()
    for case in (yaml_text, yaml_values, shell, keyfile, the_rest, diff):
        t.case(case)
    t.done()


main()
