#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules that the whole tree keeps: rooms, doors, licences, scripts, links between documents."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

TOP = Path(os.environ["RAILHEAD_SOURCE"])
RAILHEAD = os.environ["RAILHEAD"]

# A room may include from these; see docs/architecture.md.
ROOMS = {
    "base": {"base"},
    "host": {"base", "host"},
    "observe": {"base", "host", "observe"},
    "site": {"base", "site"},
    "prove": {"base", "host", "observe", "site", "prove"},
    "matrix": {"base", "site", "matrix"},
    "judge": {"base", "site", "matrix", "judge"},
    "plan": {"base", "site", "matrix", "judge", "plan"},
    "render": {"base", "site", "matrix", "judge", "plan", "render"},
    "report": {"base", "site", "matrix", "judge", "plan", "report"},
    "cmd": {"base", "host", "observe", "site", "prove", "matrix", "judge", "plan", "render", "report", "cmd"},
}
EXCEPTIONS = {("observe", "judge/signature.h")}

# What opens the machine. Only host/ does; cmd/ reads the files that the caller names, site/ the site file,
# matrix/ the tables, all by way of base/file.h.
DOORS = re.compile(
    r"\b(fopen|open|file_open|file_read|file_list|file_write|openat|opendir|socket|popen|system|mnl_socket_open|klogctl|dlopen|ioctl|fork|execv\w*)\s*\("
)
DOORS_ALLOWED = {
    "src/base/file.c": {"open", "opendir", "file_open", "file_read", "file_list", "file_write"},
    "src/base/folder.c": {"open", "openat"},
    "src/cmd/input.c": {"file_open"},
    "src/cmd/output.c": {"file_write", "ioctl"},
    "src/matrix/matrix.c": {"file_read", "file_list"},
    "src/prove/record_store.c": {"file_read", "file_list", "file_write"},
    "src/site/site.c": {"file_read"},
    # opened at run time, inside the bounded child of host_probe_run()
    "src/observe/nvml_probe.c": {"dlopen"},
    # GPU memory, which a proof works with itself
    "src/prove/cuda.c": {"dlopen"},
}


def files(*patterns):
    out = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=TOP, check=True, stdout=subprocess.PIPE)
    return [p for p in out.stdout.decode().split("\0") if p]


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    return re.sub(r"//[^\n]*", "", text)


def rooms(t):
    bad = []
    for path in files("src/*.c", "src/*.h"):
        parts = path.split("/")
        if len(parts) < 3:
            continue
        for included in re.findall(r'#include "([^"]+)"', (TOP / path).read_text()):
            room = included.split("/")[0]
            if "/" in included and room not in ROOMS[parts[1]] and (parts[1], included) not in EXCEPTIONS:
                bad.append(f"{path} includes {included}")
    t.ok(not bad, "rooms include only from the rooms to their left", "\n".join(bad))


def doors(t):
    bad = []
    for path in files("src/*.c"):
        if path.startswith("src/host/"):
            continue
        for number, line in enumerate(without_comments((TOP / path).read_text()).splitlines(), 1):
            for call in DOORS.findall(line):
                if call not in DOORS_ALLOWED.get(path, set()):
                    bad.append(f"{path}: {call}()")
    t.ok(not bad, "only host/ opens the machine", "\n".join(bad))


def licences(t):
    bad = []
    for path in files("*.c", "*.h", "*.py", "*.sh", "*.build", "bootstrap", "lab/lab", "tests/run", ".ci/run"):
        head = (TOP / path).read_text(errors="replace")[:300]
        if path.startswith("tests/data/"):
            continue
        wanted = "GPL-2.0-only" if path.startswith("lab/dcbsim/") and path.endswith((".c", ".h")) else "SPDX-License-Identifier"
        if wanted not in head:
            bad.append(path)
    t.ok(not bad, "every source file names its licence", "\n".join(bad))


def scripts(t):
    bash = []
    for path in files():
        full = TOP / path
        if full.is_file() and not path.startswith("tests/data/"):
            with open(full, "rb") as f:
                if re.match(rb"#!.*\b(ba)?sh\b", f.readline()):
                    bash.append(path)
    run = subprocess.run(["shellcheck", "-x", *bash], cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    t.ok(len(bash) >= 3 and run.returncode == 0, f"shellcheck finds nothing in {len(bash)} scripts", run.stdout.decode())


def links(t):
    bad = []
    for path in files("*.md"):
        text = re.sub(r"```.*?```", "", (TOP / path).read_text(), flags=re.S)
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if not re.match(r"[a-z]+:", target) and not (TOP / path).parent.joinpath(target).exists():
                bad.append(f"{path} -> {target}")
    t.ok(not bad, "links between documents lead somewhere", "\n".join(bad))


def man_pages(t):
    """Each verb has a page; each page names every option of its verb; mandoc finds no error."""
    helps = subprocess.run([RAILHEAD, "--help"], check=True, stdout=subprocess.PIPE).stdout.decode()
    verbs = re.findall(r"^  (\w[\w-]*) ", helps.split("Verbs:")[1], flags=re.M)
    t.ok(len(verbs) >= 7, "the verbs are listed", helps)
    for verb in verbs:
        page = TOP / "man" / f"railhead-{verb}.1"
        usage = subprocess.run([RAILHEAD, verb, "--help"], check=True, stdout=subprocess.PIPE).stdout.decode()
        options = re.findall(r"--([a-z-]+)", usage.split("Options:")[1])
        text = page.read_text().replace("\\-", "-") if page.exists() else ""
        missing = [o for o in options if f"-{o}" not in text]
        t.ok(page.exists() and not missing, f"man page of {verb} names all of its options", f"missing: {missing}")
    pages = sorted(str(p) for p in (TOP / "man").glob("*.[1-8]"))
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    t.ok(lint.returncode == 0, "mandoc finds nothing wrong in the man pages", lint.stdout.decode())


def gates_documented(t):
    """The registry holds together: needs exist, texts are written."""
    gates = json.loads(subprocess.run([RAILHEAD, "gates", "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
    gates = gates["gates"]
    ids = {g["id"] for g in gates}
    t.ok(len(ids) == len(gates) and len(ids) > 50, f"{len(ids)} gates, each id once")
    bad = [f"{g['id']} needs {n}" for g in gates for n in g.get("needs", []) if n not in ids]
    t.ok(not bad, "every gate that is needed exists", "\n".join(bad))
    for text in ("title", "proves", "why", "fix", "obtain", "source"):
        bad = [g["id"] for g in gates if not g.get(text)]
        t.ok(not bad, f"every gate says its {text}", " ".join(bad))


# Objects of a snapshot whose member names are data (a link, a counter, a parameter), not names of docs/snapshot.md.
OPEN_MAPS = re.compile(
    r"/os/(release|kernel/config|memlock/services|modules(/[^/]+/parameters)?|packages|sysctl)"
    r"|/pci/(devices|auxiliary)"
    r"|/links(/[^/]+/(vlan/(egress|ingress)|ethtool/(private_flags|statistics)|dcb/(peer/)?dscp))?"
    r"|/devlink(/[^/]+(/[^/]+/(versions/[^/]+|parameters))?)?"
    r"|/rdma/(chardev|devices(/[^/]+/(ports|cm|resources|(ports/[^/]+/)?(hw_)?counters))?)"
    r"|/userspace/failed"
    r"|/gpu/(devices|driver/parameters)"
)


def undocumented(value, words, pointer=""):
    """Pointers whose last name is no word of docs/snapshot.md."""
    if isinstance(value, list):
        return {p for item in value for p in undocumented(item, words, pointer + "/N")}
    if not isinstance(value, dict):
        return set()
    open_map = OPEN_MAPS.fullmatch(pointer)
    found = {f"{pointer}/{name}" for name in value if not open_map and name not in words}
    for name, member in value.items():
        found |= undocumented(member, words, f"{pointer}/{name}")
    return found


def facts_documented(t):
    """Every name that observers write, judges read, or a snapshot holds stands in docs/snapshot.md."""
    words = set(re.findall(r"\w+", (TOP / "docs/snapshot.md").read_text()))
    put = r'\b(?:json_put\w*|json_obj|json_arr|attr_put_\w+|sysfs_put_\w+)\([^;"]*"([a-z]\w*)"'
    read = r'\b(?:fact\w*|peek\w*|json_at)\([^;]*?"/((?!os/modules/)[^"]*)"'
    for room, pattern in (("observe", put), ("judge", read)):
        # judges on paper read the site file and the support matrix, which have schemas of their own
        sources = [path for path in files(f"src/{room}/*.c") if not path.startswith("src/judge/plan")]
        names = [(path, name) for path in sources for literal in re.findall(pattern, (TOP / path).read_text())
                 for name in literal.split("/")]
        bad = [f"{path}: {name}" for path, name in names if re.fullmatch(r"[a-z]\w*", name) and name not in words]
        t.ok(len(names) > 100 and not bad, f"docs/snapshot.md has the {len(names)} names in src/{room}", "\n".join(bad))
    paper = set(re.findall(r"\w+", (TOP / "docs/site.md").read_text() + (TOP / "docs/data.md").read_text()))
    names = [(path, name) for path in files("src/judge/plan*.c") for literal in
             re.findall(r'\b(?:declared\w*|fact_declared|json_at)\([^;]*?"/([^"]*)"', (TOP / path).read_text())
             for name in literal.split("/")]
    bad = [f"{path}: {name}" for path, name in names if re.fullmatch(r"[a-z]\w*", name) and name not in paper]
    t.ok(len(names) > 50 and not bad, f"docs/site.md and docs/data.md have the {len(names)} names in src/judge/plan*.c", "\n".join(bad))
    live = subprocess.run([RAILHEAD, "snapshot"], check=True, stdout=subprocess.PIPE).stdout
    snapshots = {"this machine": json.loads(live)}
    for path in files("tests/data/snapshots/*.json"):
        snapshots[path] = json.loads((TOP / path).read_text())
    for name, snapshot in snapshots.items():
        bad = undocumented(snapshot, words)
        t.ok(not bad, f"docs/snapshot.md has every name of {name}", "\n".join(sorted(bad)))


def installed(t):
    """What a package would hold: the program, a page for each verb, the completion script."""
    build = Path(RAILHEAD).parent
    out = subprocess.run(["meson", "introspect", "--installed", build], check=True, stdout=subprocess.PIPE).stdout
    places = {Path(p).name for p in json.loads(out).values()}
    wanted = {p.name for p in (TOP / "man").glob("*.1")} | {"railhead", "railhead.bash"}
    t.ok(wanted <= places, "program, man pages and completion are installed", f"missing: {sorted(wanted - places)}")


def main():
    t = Tap()
    for case in (rooms, doors, licences, scripts, links, man_pages, gates_documented, facts_documented, installed):
        t.case(case)
    t.done()


main()
