#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line as a user meets it: usage, bad input, files, signals, and a machine that has nothing."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap, public_program  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
RAILHEAD = os.environ["RAILHEAD"]
NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def run(*args, env=None, stdin=b"", program=RAILHEAD, **kwargs):
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    environment.update(env or {})
    return subprocess.run(
        [program, *map(str, args)], input=stdin, stdout=kwargs.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
        env=environment, timeout=kwargs.pop("timeout", 120), **kwargs
    )


def usage(t):
    for args, text in (
        ([], "Usage: railhead VERB"),
        (["chekc"], "did you mean 'check'"),
        (["check", "--sit", "x"], None),
        (["check", "--fromat", "json"], "did you mean --format"),
        (["check", "--format", "xml"], "unknown format 'xml'"),
        (["check", "--format"], "needs a value"),
        (["check", "-Z"], "unknown option -Z"),
        (["check", "--color", "red"], "auto, always or never"),
        (["explain"], "GATE... is missing"),
        (["explain", "net.bnod"], "did you mean 'net.bond'"),
        (["gates", "x"], "unexpected operand 'x'"),
        (["record"], "say where to"),
        (["report", "a", "b"], "unexpected operand"),
        (["\x1b[31m"], "\\x1b[31m"),
    ):
        r = run(*args)
        if text is None:
            continue  # an unambiguous abbreviation is getopt's own business
        t.ok(r.returncode == 2 and text in r.stderr.decode() and not r.stdout, f"usage error: {args}", r)
    for verb in ("check", "gates", "explain", "snapshot", "record", "report", "version", "completion"):
        r = run(verb, "--help")
        t.ok(r.returncode == 0 and f"Usage: railhead {verb}" in r.stdout.decode(), f"{verb} --help", r)
    t.equal(run("--version").stdout.split()[0], b"railhead", "--version")
    t.ok(json.loads(run("version", "-f", "json").stdout)["schemas"]["snapshot"] == "railhead.snapshot/1", "version as JSON")


def explain(t):
    two = json.loads(run("explain", "net.bond", "rdma.gid", "-f", "json").stdout)
    t.equal([g["id"] for g in two["gates"]], ["net.bond", "rdma.gid"], "several gates are one JSON document")
    text = run("explain", "net.bond", "rdma.gid").stdout.decode()
    t.ok("net.bond" in text and "rdma.gid" in text and "Sources" in text, "several gates in words", text)


def completion(t):
    script = run("completion").stdout.decode()
    probe = 'COMP_WORDS=(railhead check --f); COMP_CWORD=2; _railhead; echo "${COMPREPLY[*]}"'
    r = subprocess.run(["bash", "-c", script + probe], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    t.equal(r.stdout.strip(), b"--format", "completes an option")
    probe = 'COMP_WORDS=(railhead explain rdma.dev); COMP_CWORD=2; _railhead; echo "${COMPREPLY[*]}"'
    r = subprocess.run(["bash", "-c", script + probe], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    t.equal(r.stdout.strip(), b"rdma.device", "completes a gate")


def bad_snapshots(t):
    with tempfile.TemporaryDirectory() as folder:
        bad = Path(folder) / "bad.json"
        for content, text in (
            (b"", "empty"),
            (b"{", "bad.json:1"),
            (b"[" * (1 << 20), "nested deeper"),
            (b'{"schema": "railhead.snapshot/2"}', 'this railhead reads "railhead.snapshot/1"'),
            (b'{"a": 1}', "not a railhead snapshot"),
            (b'{"schema": "railhead.snapshot/1", "links": []}', "/links is not an object"),
            (b'{"schema": "railhead.snapshot/1"}', "no host name"),
            (b"\xff\xfe{}", "bad.json:1"),
            (gzip.compress(b"{}"), "--replay"),
            (b'{"schema": "railhead.snapshot/1", "schema": "x"}', "duplicate"),
        ):
            bad.write_bytes(content)
            site = ["--site", TOP / "examples/lab.yaml"]
            r = run("check", *site, bad)
            t.ok(r.returncode == 2 and text in r.stderr.decode(), f"snapshot {content[:30]!r}: {text}", r)
        r = run("check", Path(folder) / "none.json")
        t.ok(r.returncode == 2 and "No such file" in r.stderr.decode(), "snapshot that is not there", r)
        bad.write_text('{"schema": "railhead.snapshot/1", "node": {"hostname": "nowhere"}}')
        r = run("check", "--site", TOP / "examples/lab.yaml", bad)
        t.ok(r.returncode == 2 and "gpu-node-01" in r.stderr.decode() and "--node" in r.stderr.decode(), "unknown node: the site's nodes are named", r)
        r = run("check", "--site", TOP / "examples/lab.yaml", "--node", "gpu-node-01", bad)
        t.ok(r.returncode == 1, "an empty snapshot is judged: nothing passes that was not seen", r)
        report = json.loads(run("check", "--site", TOP / "examples/lab.yaml", "--node", "gpu-node-01", "-f", "json", bad).stdout)
        passed = [v["gate"] for v in report["verdicts"] if v["status"] == "pass"]
        t.equal(passed, [], "an empty snapshot passes no gate")
        r = run("check", bad, bad)
        t.ok(r.returncode == 2 and "both of node" in r.stderr.decode(), "one node twice", r)
        garbage = Path(folder) / "garbage.rec"
        for content in (b"", b"x", gzip.compress(b""), gzip.compress(b"{}"), gzip.compress(b"[]"), gzip.compress(b"[" * (1 << 20)),
                        gzip.compress(b'{"schema":"railhead.recording/9"}'), b"\x1f\x8b" + b"\0" * 40):
            garbage.write_bytes(content)
            r = run("check", "--replay", garbage)
            t.ok(r.returncode == 2 and b"garbage.rec" in r.stderr, f"recording {content[:20]!r} is refused", r)


def bare_machine(t):
    """Without RDMA, GPU or root: exit 1, every gate says what is missing, nothing is green unseen."""
    with public_program(RAILHEAD) as program:
        r = run("check", "-f", "json", program=program, **NOBODY)
        text = run("check", program=program, **NOBODY)
    t.equal(r.returncode, 1, "check without anything ends with 1")
    report = json.loads(r.stdout)
    for v in report["verdicts"]:
        if v["status"] == "unknown":
            t.ok(v["summary"] and v["obtain"], f"{v['gate']}: unknown says how to obtain the fact", v)
        if v["status"] == "pass":
            seen = [e for e in v["evidence"] if e.get("value") is not None or not e.get("missing")]
            t.ok(seen, f"{v['gate']}: a pass has evidence", v)
    t.ok(text.returncode == 1 and b"railhead" in text.stdout and b"\x1b" not in text.stdout, "text without colour in a pipe", text.stdout[-500:])


def replay_is_the_same(t):
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "a.rec"
        r = run("record", "-o", recording, "--note", "test")
        t.equal((r.returncode, r.stderr), (0, b""), "record")
        reports = []
        for _ in range(2):
            r = run("check", "--replay", recording, "-f", "json")
            reports.append(r.stdout)
        t.ok(reports[0] == reports[1] and reports[0], "two replays give the same bytes")
        replayed = json.loads(reports[0])
        t.equal(replayed["nodes"][0]["source"], "replay", "the report says that it is a replay")
        live = json.loads(run("check", "-f", "json").stdout)
        key = lambda report: [(v["gate"], v.get("subject"), v["status"], v["summary"]) for v in report["verdicts"]]
        t.equal(key(replayed), key(live), "a replay gives the verdicts of the machine")
        anonymous = Path(folder) / "b.rec"
        r = run("record", "--anonymize", "-o", anonymous)
        t.equal(r.returncode, 0, "record --anonymize")
        data = gzip.decompress(anonymous.read_bytes())
        host = os.uname().nodename.encode()
        t.ok(len(host) < 3 or b'"' + host + b'"' not in data, "no host name is left")
        r = run("check", "--replay", anonymous, "-f", "json")
        hidden = json.loads(r.stdout)
        t.equal([v["status"] for v in hidden["verdicts"]], [v["status"] for v in live["verdicts"]], "anonymized: the same verdicts")


def output(t):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "r.json"
        r = run("check", "-f", "json", "-o", out)
        t.ok(r.returncode == 1 and not r.stdout and json.loads(out.read_text()), "-o FILE", r)
        t.equal(os.listdir(folder), ["r.json"], "no temporary file is left")
        t.equal(out.stat().st_mode & 0o777, 0o666 & ~os.umask(os.umask(0o22)), "the file has the usual mode")
        for form, mark in (("html", b"<html"), ("junit", b"<testsuite"), ("ctrf", b'"results"'), ("text", b"railhead")):
            r = run("report", out, "-f", form)
            t.ok(r.returncode == 1 and mark in r.stdout, f"a stored report as {form}", r.stdout[:300])
        r = run("report", "-", stdin=b'{"schema": "railhead.report/9"}')
        t.ok(r.returncode == 2 and b"railhead.report/1" in r.stderr, "a report of another schema", r)
        r = run("check", "-o", Path(folder) / "none" / "x")
        t.ok(r.returncode == 3 and b"none/x" in r.stderr, "-o in a folder that is not there", r)
        with open("/dev/full", "wb") as full:
            for verb in (["check"], ["snapshot"], ["gates"], ["--help"], ["version"]):
                r = run(*verb, stdout=full)
                t.ok(r.returncode == 3 and b"No space left" in r.stderr, f"{verb[0]} to a full disk", r)
        r = run("snapshot", "-o", "/dev/full")
        t.ok(r.returncode == 3 and b"No space left" in r.stderr, "-o to a full disk", r)
        read, write = os.pipe()
        os.close(read)
        r = run("gates", stdout=write)
        os.close(write)
        t.ok(r.returncode == 3 and b"Broken pipe" in r.stderr, "a closed pipe is an error, not a signal", r)


def odd_inputs(t):
    """Files that are no files: whatever it is, an answer, and soon."""
    with tempfile.TemporaryDirectory() as folder:
        fifo = Path(folder) / "fifo"
        os.mkfifo(fifo)
        for args in (["check", "-s", fifo], ["check", fifo], ["check", "--replay", fifo], ["report", fifo], ["check", "--since", fifo]):
            for path in (fifo, folder, "/dev/zero"):
                r = run(*(path if a is fifo else a for a in args), timeout=20)
                t.ok(r.returncode == 2 and str(path).encode() in r.stderr, f"{args[:-1]} {Path(path).name}", r)
        name = Path(folder) / "name.json"
        name.write_text(json.dumps({"schema": "railhead.snapshot/1", "node": {"hostname": "a\u001b[31mb"}}))
        r = run("check", "-s", TOP / "examples/lab.yaml", name)
        t.ok(r.returncode == 2 and b"\x1b" not in r.stderr and b"\\x1b[31m" in r.stderr, "a terminal sequence in a name is shown, not sent", r)
        bomb = Path(folder) / "bomb.rec"
        for content, text in (
            (b"\0" * (256 << 20), "more than 64 MiB"),
            (b'{"schema":"railhead.recording/1","doors":{"read":{"/x":[' + b"[]," * (16 << 20) + b"0]}}}", "values"),
        ):
            bomb.write_bytes(gzip.compress(content, 1))
            r = run("check", "--replay", bomb, timeout=20)
            t.ok(r.returncode == 2 and text in r.stderr.decode(), f"a recording that unfolds to {text}", r)
    r = run("check", "-s", "/dev/stdin", "/dev/null", stdin=(TOP / "examples/lab.yaml").read_bytes())
    t.ok(r.returncode == 2 and b"/dev/null: empty" in r.stderr, "a site from a pipe", r)


def odd_outputs(t):
    """check and record write alike: what is there keeps its place and mode, what fails leaves nothing."""
    with tempfile.TemporaryDirectory() as folder:
        out, link, dangling, fifo = (Path(folder) / n for n in ("out", "link", "dangling", "fifo"))
        link.symlink_to("out")
        dangling.symlink_to("later")
        os.mkfifo(fifo)
        for verb, status in (("check", 1), ("record", 0)):
            out.write_text("old")
            out.chmod(0o600)
            r = run(verb, "-o", link)
            t.equal((r.returncode, r.stderr), (status, b""), f"{verb} -o a symbolic link")
            t.ok(link.is_symlink() and out.read_bytes() != b"old" and out.stat().st_mode & 0o777 == 0o600, "the link keeps its place, the file its mode")
            r = run(verb, "-o", dangling)
            t.ok(r.returncode == status and dangling.is_symlink() and (Path(folder) / "later").stat().st_size > 99, f"{verb} -o a link to nothing", r)
            r = run(verb, "-o", folder)
            t.ok(r.returncode == 3 and b"Is a directory" in r.stderr, f"{verb} -o a folder", r)
            reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE)
            r = run(verb, "-o", fifo)
            t.ok(len(reader.communicate()[0]) > 99 and r.returncode == status, f"{verb} -o a pipe", r)
            before = sorted(os.listdir(folder))
            small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
            r = run(verb, "-o", out, preexec_fn=small)
            t.ok(r.returncode == 3 and b"File too large" in r.stderr, f"{verb} beyond the limit of file sizes", r)
            t.ok(sorted(os.listdir(folder)) == before and out.stat().st_size > 99, "nothing is left, the old file is whole", os.listdir(folder))
            if NOBODY:
                out.chmod(0o444)
                os.chown(folder, 65534, 65534)
                with public_program(RAILHEAD) as program:
                    r = run(verb, "-o", out, program=program, **NOBODY)
                t.ok(r.returncode == 3 and b"Permission denied" in r.stderr, f"{verb} -o a file that is read-only", r)
        for stream in (0, 1, 2):
            r = run("record", "-o", out, preexec_fn=lambda: os.close(stream), stdout=None)
            t.ok(r.returncode == 0 and gzip.decompress(out.read_bytes()), f"record with stream {stream} closed", r)
        r = run("check", "-", preexec_fn=lambda: os.close(0))
        t.ok(r.returncode == 2 and b"standard input" in r.stderr, "a snapshot from a closed stream", r)


def interrupts(t):
    """Whenever it is stopped: no file but a whole one, and no child."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        for verb in ("check", "record"):
            for i in range(30):
                process = subprocess.Popen([RAILHEAD, verb, "-o", out], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                time.sleep(i * 0.01)
                process.send_signal(signal.SIGINT if i % 2 else signal.SIGTERM)
                _, errors = process.communicate()
                if errors or os.listdir(folder) not in ([], ["out"]):
                    t.ok(False, f"{verb} stopped after {i * 10} ms", [errors, os.listdir(folder)])
                    return
            t.ok(True, f"{verb} stopped at 30 moments leaves nothing")


def many_verdicts(t):
    """The reports of a large site: each form takes time in proportion."""
    report = json.loads(run("check", "-f", "json", TOP / "tests/data/snapshots/bare.json").stdout)
    one = next(v for v in report["verdicts"] if v["status"] == "unknown")
    report["verdicts"] += [dict(one, subject=f"port{i}", explained_by=f"{one['gate']} (port{20000 - i})") for i in range(1, 20000)]
    report["result"]["counts"]["unknown"] += 19999
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "r.json"
        file.write_text(json.dumps(report))
        for form in ("html", "junit", "ctrf", "text", "json"):
            start = time.monotonic()
            r = run("report", file, "-f", form)
            seconds = time.monotonic() - start
            t.ok(r.returncode == 1 and seconds < 30, f"20,000 verdicts as {form}", (r.stderr, seconds))


def limits(t):
    """Few file descriptors, and a working directory that is gone."""
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
    r = run("check", "-q", preexec_fn=few)
    t.ok(r.returncode in (1, 3), "check with 16 file descriptors ends in order", r)
    with tempfile.TemporaryDirectory() as folder:
        gone = Path(folder) / "gone"
        gone.mkdir()
        r = run("version", preexec_fn=lambda: (os.chdir(gone), os.rmdir(gone)))
        t.equal(r.returncode, 0, "a working directory that is gone")
    r = run("check", "-q", env={"LC_ALL": "C", "TERM": "dumb"})
    t.equal(r.returncode, 1, "check in the C locale")
    r = run("check", "-q", env={"PATH": ""})
    t.equal(r.returncode, 1, "check without PATH")


def main():
    t = Tap()
    for case in (usage, explain, completion, bad_snapshots, bare_machine, replay_is_the_same, output, odd_inputs, odd_outputs, interrupts, many_verdicts, limits):
        t.case(case)
    t.done()


main()
