#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The folder of a rendering: the same bytes, brought up to date, compared, and safe from what else is in it."""

import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from tap import Tap, public_program  # noqa: E402
import sites  # noqa: E402

NOBODY = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}


def text(run):
    return f"{run.returncode}\n{run.stdout.decode()}\n{run.stderr.decode()}"


def scratch(case):
    """Each case has a folder with a site and its rendering."""

    def inner(t):
        with tempfile.TemporaryDirectory() as top:
            top = Path(top)
            site = sites.site(qos=sites.QOS)
            sites.rendered(site, top / "out")
            case(t, top, top / "out.yaml", site)

    inner.__name__ = case.__name__
    return inner


def set_mtu(top, site, mtu=1500):
    site["nodes"]["node-02"]["links"]["ens2f0"]["mtu"] = mtu
    return sites.write(top / "out.yaml", site)


@scratch
def same_bytes(t, top, path, site):
    before = sites.contents(top / "out")
    for name in ("a", "b/c"):
        (top / name).parent.mkdir(exist_ok=True)
        sites.rendered(path, top / name)
        t.ok(sites.contents(top / name) == before, f"the same bytes and modes in another folder ({name})")
    os.chdir(top)
    r = sites.run("out.yaml", "--force", "-o", "relative")
    t.ok(not r.returncode and sites.contents(top / "relative") == before, "and from another working folder", text(r))
    again = sites.run(path, "--force", "-o", top / "out")
    t.ok(sites.contents(top / "out") == before and b" 0 new, 0 changed, 0 removed" in again.stdout, "a second run writes nothing", text(again))
    times = {p: p.stat().st_mtime_ns for p in (top / "out").rglob("*")}
    sites.run(path, "--force", "-o", top / "out")
    t.ok({p: p.stat().st_mtime_ns for p in (top / "out").rglob("*")} == times, "and touches no file")


@scratch
def manifest(t, top, path, site):
    m = sites.manifest(top / "out")
    files = sites.contents(top / "out")
    t.equal((m["schema"], m["site"]), ("railhead.manifest/1", "generated"), "manifest: schema and site")
    t.equal(sorted(f["path"] for f in m["files"]), sorted(set(files) - {"manifest.json"}), "manifest: every file but itself, and no other")
    bad = [f for f in m["files"] if hashlib.sha256(files[f["path"]][0]).hexdigest() != f["sha256"] or len(files[f["path"]][0]) != f["size"]
           or int(f["mode"], 8) != (top / "out" / f["path"]).stat().st_mode & 0o7777 or not f["what"]]
    t.ok(not bad, "manifest: hash, size, mode and purpose of each", bad[:3])
    check = subprocess.run(["sha256sum", "--strict", "-c", "SHA256SUMS"], cwd=top / "out", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    t.ok(check.returncode == 0 and check.stdout.count(b": OK") == len(files) - 2, "sha256sum -c agrees", check.stdout.decode())


@scratch
def difference(t, top, path, site):
    r = sites.run(path, "--diff", top / "out")
    t.ok(r.returncode == 0 and not r.stdout, "--diff: nothing would change", text(r))
    del site["nodes"]["node-01"]
    site["nodes"]["node-03"] = sites.rails(13)
    set_mtu(top, site)
    before = sites.contents(top / "out")
    r = sites.run(path, "--diff", top / "out")
    out = r.stdout.decode()
    t.ok(r.returncode == 1 and "-mtu=9000\n+mtu=1500\n" in out and "--- a/network/node-02/ens2f0.nmconnection" in out, "--diff shows a change", out[:2000])
    t.ok(sites.contents(top / "out") == before, "--diff writes nothing")
    t.ok(sites.run(path, "-q", "--diff", top / "out").stdout == b"", "--diff -q: the exit status alone")
    patched = top / "patched"
    shutil.copytree(top / "out", patched)
    p = subprocess.run(["patch", "-p1", "-s", "-E"], input=r.stdout, cwd=patched, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    sites.rendered(path, top / "fresh")
    own = ("manifest.json", "SHA256SUMS")
    bytes_of = lambda folder: {k: v[0] for k, v in sites.contents(folder).items() if k not in own}  # noqa: E731
    t.ok(p.returncode == 0 and bytes_of(patched) == bytes_of(top / "fresh"), "patch -p1 makes the new rendering of the old one", p.stdout.decode())
    for args in (["--diff", top / "nowhere"], ["--diff", top / "out", "-o", top / "out"], ["--diff", path], []):
        r = sites.run(path, *args)
        t.ok(r.returncode == 2 and r.stderr and not r.stdout, f"usage: {[str(a) for a in args]}", text(r))


@scratch
def update(t, top, path, site):
    (top / "out" / "network" / "node-01" / "notes.txt").write_text("mine")
    (top / "out" / "mine").mkdir()
    del site["nodes"]["node-01"]
    set_mtu(top, site)
    r = sites.run(path, "--force", "-o", top / "out")
    left = [p.name for p in (top / "out" / "network" / "node-01").iterdir()]
    t.ok(r.returncode == 0 and left == ["notes.txt"] and (top / "out" / "mine").is_dir(), "stale files go, foreign ones stay", text(r))
    t.ok(not (top / "out" / "qos" / "node-01").exists(), "folders that became empty go")
    shutil.rmtree(top / "out" / "mine")
    (top / "out" / "network" / "node-01" / "notes.txt").unlink()
    (top / "out" / "network" / "node-01").rmdir()
    sites.rendered(path, top / "fresh")
    t.ok(sites.contents(top / "out") == sites.contents(top / "fresh"), "brought up to date is the same as fresh")
    target = top / "out" / "network" / "node-02" / "ens2f0.nmconnection"
    target.chmod(0o644)
    r = sites.run(path, "--diff", top / "out")
    t.ok(r.returncode == 1 and b"mode 0644 becomes 0600" in r.stdout, "--diff tells a mode", text(r))
    sites.run(path, "--force", "-o", top / "out")
    t.equal(oct(target.stat().st_mode & 0o777), "0o600", "a wrong mode is put right, with no question")


@scratch
def edited(t, top, path, site):
    out = top / "out"
    a, b = out / "network/node-02/ens2f0.nmconnection", out / "network/node-01/bond0.nmconnection"
    for f in (a, b):
        f.write_text(f.read_text() + "# mine\n")
    r = sites.run(path, "--diff", out)
    t.ok(r.stdout.count(b": edited since it was rendered") == 2, "--diff names edited files", text(r))
    del site["nodes"]["node-01"]
    set_mtu(top, site)
    site.pop("qos")  # whose plan is not what is tried here
    sites.write(path, site)
    before = sites.contents(out)
    r = sites.run(path, "-o", out)
    t.ok(r.returncode == 2 and b"node-02/ens2f0.nmconnection: edited" in r.stderr and b"node-01/bond0.nmconnection: edited" in r.stderr,
         "edited files are an error that names them", text(r))
    t.ok(sites.contents(out) == before, "and nothing was written")
    r = sites.run(path, "--force", "-o", out)
    kept = [Path(f"{a}.orig"), Path(f"{b}.orig")]
    t.ok(r.returncode == 0 and all(f.read_text().endswith("# mine\n") for f in kept) and "# mine" not in a.read_text() and not b.exists(),
         "--force keeps them as FILE.orig", text(r))
    a.write_text("again\n")
    sites.run(path, "--force", "-o", out)
    t.ok(Path(f"{a}.orig.2").read_text() == "again\n" and kept[0].read_text().endswith("# mine\n"), "and never one over another")
    foreign = top / "foreign"
    (foreign / "network" / "node-02").mkdir(parents=True)
    (foreign / "network/node-02/install.sh").write_text("not railhead's\n")
    r = sites.run(path, "-o", foreign)
    t.ok(r.returncode == 2 and b"install.sh: not rendered by railhead" in r.stderr and len(sites.contents(foreign)) == 1, "a foreign file in the way", text(r))


@scratch
def kinds(t, top, path, site):
    """A file where a folder has to be, and a folder where a file has to be."""
    out = top / "out"

    def blocked(content):
        shutil.rmtree(out / "network" / "node-01")
        (out / "network" / "node-01").write_text(content)

    blocked("mine\n")
    r = sites.run(path, "--diff", out)
    t.ok(r.returncode == 1 and b"network/node-01: in the way, not rendered by railhead\n" in r.stdout and b"+++ b/network/node-01/bond0.nmconnection" in r.stdout,
         "--diff with a file in the place of a folder", text(r)[:1500])
    site.pop("qos")  # whose plan is not what is tried here
    plain = sites.write(top / "plain.yaml", site)
    sites.rendered(plain, top / "plain")
    out, node = top / "plain", top / "plain" / "network" / "node-01"
    fresh = sites.contents(out)
    blocked("mine\n")
    before = sites.contents(out)
    r = sites.run(plain, "-o", out)
    t.ok(r.returncode == 2 and b"network/node-01: not rendered by railhead" in r.stderr and sites.contents(out) == before, "a foreign file in the place of a folder is an error that names it", text(r))
    r = sites.run(plain, "--force", "-o", out)
    t.ok(r.returncode == 0 and Path(f"{node}.orig").read_text() == "mine\n", "--force keeps it as FILE.orig", text(r))
    Path(f"{node}.orig").unlink()
    t.ok(sites.contents(out) == fresh, "and the folder is as new")

    blocked("old\n")
    m = sites.manifest(out)
    m["files"] = [f for f in m["files"] if not f["path"].startswith("network/node-01/")]
    m["files"].append({"path": "network/node-01", "mode": "0644", "size": 4, "sha256": hashlib.sha256(b"old\n").hexdigest(), "what": ""})
    (out / "manifest.json").write_text(json.dumps(m))
    r = sites.run(plain, "-o", out)
    t.ok(r.returncode == 0 and sites.contents(out) == fresh, "a file of an earlier rendering becomes a folder", text(r))

    (out / "nodes.txt").unlink()
    (out / "nodes.txt").mkdir()
    (out / "nodes.txt" / "y").write_text("old\n")
    m = sites.manifest(out)
    m["files"] = [f for f in m["files"] if f["path"] != "nodes.txt"]
    m["files"].append({"path": "nodes.txt/y", "mode": "0644", "size": 4, "sha256": hashlib.sha256(b"old\n").hexdigest(), "what": ""})
    (out / "manifest.json").write_text(json.dumps(m))
    r = sites.run(plain, "-o", out)
    t.ok(r.returncode == 2 and b"nodes.txt: not rendered" in r.stderr, "a folder in the place of a file is an error that names it", text(r))
    r = sites.run(plain, "--force", "-o", out)
    t.ok(r.returncode == 0 and (out / "nodes.txt.orig" / "y").read_text() == "old\n", "--force keeps it, with all that is in it", text(r))


@scratch
def hostile(t, top, path, site):
    """Links, odd files and false manifests in the folder: nothing outside is read, written or removed."""
    victim = top / "victim"
    victim.mkdir()
    (victim / "bond0.nmconnection").write_text("precious\n")
    out = top / "out"

    def safe(name, code=(2, 3)):
        r = sites.run(path, "--force", "-o", out)
        t.ok(r.returncode in code and [p.name for p in victim.iterdir()] == ["bond0.nmconnection"]
             and (victim / "bond0.nmconnection").read_text() == "precious\n", name, text(r))
        d = sites.run(path, "--diff", out)
        t.ok(b"precious" not in d.stdout and d.returncode in (0, 1, 2), f"--diff, {name}", text(d))

    shutil.rmtree(out / "network" / "node-01")
    (out / "network" / "node-01").symlink_to(victim)
    safe("a folder that is a link to another one is kept aside, not followed", (0,))
    t.ok((out / "network" / "node-01.orig").is_symlink() and (out / "network" / "node-01" / "install.sh").is_file(), "the link became FOLDER.orig")
    (out / "network" / "node-01.orig").unlink()
    target = out / "network/node-01/bond0.nmconnection"
    target.unlink()
    target.symlink_to(victim / "bond0.nmconnection")
    safe("a file that is a link is kept aside, not written through", (0,))
    t.ok(not target.is_symlink() and Path(f"{target}.orig").is_symlink(), "the link became FILE.orig")
    target.unlink()
    os.mkfifo(target)
    safe("a FIFO in the way is waited for by nobody", (0,))
    shutil.rmtree(out)
    out.mkdir()
    (out / ".railhead-new").symlink_to(victim)
    safe("a link in the place of the staging folder")
    (out / ".railhead-new").unlink()
    for bad in ({"path": "../victim/bond0.nmconnection"}, {"path": "/etc/passwd"}, {"path": "a//b"}, {"path": ""}, {"sha256": "0"}, {"path": "a b"}):
        entry = {"path": "x", "mode": "0644", "size": 9, "sha256": hashlib.sha256(b"precious\n").hexdigest(), "what": "", **bad}
        (out / "manifest.json").write_text(json.dumps({"schema": "railhead.manifest/1", "files": [entry]}))
        safe(f"a manifest with {bad}")
    for bad in ("", "{", "[]", '{"schema": "other/1", "files": []}', '{"schema": "railhead.manifest/1"}', '{"schema": "railhead.manifest/1", "files": [1]}'):
        (out / "manifest.json").write_text(bad)
        r = sites.run(path, "-o", out, "--force")
        t.ok(r.returncode == 2 and b"manifest.json" in r.stderr and len(list(out.iterdir())) == 1, f"a manifest {bad!r}", text(r))


@scratch
def no_room(t, top, path, site):
    before = sites.contents(top / "out")
    set_mtu(top, site)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))  # noqa: E731
    r = sites.run(path, "--force", "-o", top / "out", preexec_fn=limit)
    t.ok(r.returncode == 3 and sites.contents(top / "out") == before and not (top / "out/.railhead-new").exists(), "files that cannot be written whole", text(r))
    r = sites.run(path, "--force", "-o", top / "new", preexec_fn=limit)
    t.ok(r.returncode == 3 and sites.contents(top / "new") == {}, "and in a new folder", text(r))
    disk = top / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96k", "none", disk], stderr=subprocess.DEVNULL).returncode == 0 if os.geteuid() == 0 else False
    if mounted:
        try:
            r = sites.run(path, "--force", "-o", disk / "out")
            t.ok(r.returncode == 3 and b"No space" in r.stderr and sites.contents(disk) == {}, "a full disk", text(r))
        finally:
            subprocess.run(["umount", disk], check=True)
    else:
        t.skip("a full disk", "mounting a tmpfs is not allowed here")
    for place in ("/proc", "/dev/null", top / "no" / "parent", path):
        r = sites.run(path, "--force", "-o", place)
        t.ok(r.returncode in (2, 3) and str(place).encode() in r.stderr, f"-o {place}", text(r))
    with public_program(sites.RAILHEAD) as program:
        os.chmod(top, 0o755)
        r = subprocess.run([program, "render", path, "--force", "-o", top / "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **NOBODY)
    if NOBODY:
        t.ok(r.returncode == 3 and b"Permission denied" in r.stderr and sites.contents(top / "out") == before, "a folder of another user", text(r))
    else:
        t.skip("a folder of another user", "needs root")


def whole(folder):
    """Every file is as the manifest says, or there is none yet."""
    if not (folder / "manifest.json").exists():
        return True
    return all(hashlib.sha256((folder / f["path"]).read_bytes()).hexdigest() == f["sha256"] for f in sites.manifest(folder)["files"])


def interrupted(t):
    with tempfile.TemporaryDirectory() as top:
        top = Path(top)
        out = top / "out"
        path = sites.write(top / "a.yaml", sites.many(120))
        other = sites.many(120)
        other["profiles"]["node"]["bonds"]["bond1"]["xmit_hash_policy"] = "layer3+4"
        changed = sites.write(top / "b.yaml", other)
        started = time.monotonic()
        sites.run(path, "--force", "-o", out)
        duration = time.monotonic() - started
        old = sites.contents(out)
        sites.rendered(changed, top / "fresh")
        new = sites.contents(top / "fresh")
        seen, bad = set(), []
        for i in range(12):
            for sent in (signal.SIGTERM, signal.SIGINT):
                child = subprocess.Popen([sites.RAILHEAD, "render", changed, "--force", "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(duration * (i + 1) / 13)
                child.send_signal(sent)
                child.wait()
                now = sites.contents(out)
                seen.add("old" if now == old else "new" if now == new else "mixed")
                if now not in (old, new):
                    bad.append((i, sent, sorted(k for k in now if now[k] not in (old.get(k), new.get(k)))[:5]))
                sites.run(path, "--force", "-o", out)
                if sites.contents(out) != old:
                    shutil.rmtree(out)
                    sites.rendered(path, out)
        t.ok(not bad, f"an interrupt leaves the old rendering or the new one (seen: {', '.join(sorted(seen))})", bad[:3])
        child = subprocess.Popen([sites.RAILHEAD, "render", changed, "--force", "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(duration / 2)
        child.kill()
        child.wait()
        r = sites.run(changed, "--force", "-o", out)
        t.ok(r.returncode == 0 and sites.contents(out) == new and whole(out), "after SIGKILL the next run puts it right", text(r))


@scratch
def together(t, top, path, site):
    """Two at once: one writes, the other is told so."""
    many = sites.write(top / "many.yaml", sites.many(200))
    children = [subprocess.Popen([sites.RAILHEAD, "render", many, "--force", "-q", "-o", top / "both"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(4)]
    results = [(c.communicate()[1], c.returncode) for c in children]
    t.ok(all(code == 0 or b"another program is writing" in err for err, code in results) and any(code == 0 for _, code in results) and whole(top / "both"),
         "several at once do not mix", results)


def refusal(t):
    """A plan that fails keeps a site from being rendered; a site that cannot be rendered says all of it."""
    proposal = sites.TOP / "examples" / "original-proposal.yaml"
    with tempfile.TemporaryDirectory() as top:
        out = Path(top) / "out"
        r = sites.run(proposal, "-o", out)
        t.ok(r.returncode == 1 and b"fail     plan.bond-rdma: " in r.stderr and b"railhead plan " in r.stderr and not r.stdout and not out.exists(),
             "a plan that fails: the gates, where to read more, and nothing written", text(r))
        r = sites.run(proposal, "--force", "-o", out)
        t.ok(r.returncode == 0 and b"plan.bond-rdma" in r.stderr and (out / "manifest.json").exists() and f"Begin with {out}/runbook.md".encode() in r.stdout,
             "--force renders it, and still says so", text(r))
        r = sites.run(proposal, "--diff", out)
        t.ok(r.returncode == 0 and b"plan.bond-rdma" in r.stderr, "--diff compares it all the same", text(r))
        quiet = sites.run(proposal, "--force", "-q", "-o", out)
        t.ok(quiet.stdout.count(b"\n") == 1 and b"note:" not in quiet.stderr, "-q: the closing line", text(quiet))
        korean = sites.run(proposal, "--lang", "ko", "--diff", out)
        t.ok(korean.returncode == 1 and all(line.startswith(b"+++ b/runbook.") for line in korean.stdout.splitlines() if line.startswith(b"+++ ")),
             "--lang ko changes the runbook and nothing else", text(korean)[:1500])
        for args, said in (([proposal, "--lang", "fr", "-o", out], b"--lang takes en or ko"), ([Path(top) / "none", "-o", out], b"none"), (["-o", out], b"SITE"),
                           ([proposal, "--data", Path(top) / "none", "-o", out], b"none")):
            r = sites.run(*args)
            t.ok(r.returncode == 2 and said in r.stderr, f"usage: {said.decode()}", text(r))


def main():
    t = Tap()
    for case in (refusal, same_bytes, manifest, difference, update, edited, kinds, hostile, no_room, interrupted, together):
        t.case(case)
    t.done()


main()
