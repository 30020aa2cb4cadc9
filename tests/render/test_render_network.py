#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host network and QoS of rendered sites, read by their own consumers: NetworkManager, GLib, systemd, bash."""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from tap import Tap  # noqa: E402
import sites  # noqa: E402


def keyfile(path):
    """Sections of a keyfile; GLib's reader where it is installed."""
    try:
        from gi.repository import GLib
    except ImportError:
        parser = configparser.RawConfigParser(delimiters="=", strict=True, interpolation=None)
        parser.optionxform = str
        parser.read_string(path.read_text())
        return {s: dict(parser[s]) for s in parser.sections()}
    f = GLib.KeyFile()
    f.load_from_file(str(path), GLib.KeyFileFlags.NONE)
    return {g: {k: f.get_string(g, k) for k in f.get_keys(g)[0]} for g in f.get_groups()[0]}


def nmcli(path):
    """What NetworkManager makes of a profile: None when it refuses it."""
    done = subprocess.run(["nmcli", "--offline", "connection", "modify", "connection.zone", "seen"], input=path.read_bytes(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode() if done.returncode == 0 else None


def profiles(folder, node):
    return {p.stem: keyfile(p) for p in (folder / "network" / node).glob("*.nmconnection")}


def every_profile(t, top):
    """Each profile of the examples and of the generated sites is taken by NetworkManager, with every key of it."""
    renderings = {e.stem: sites.rendered(e, top / e.stem) for e in sites.EXAMPLES}
    renderings["generated"] = sites.rendered(sites.site(qos=sites.QOS), top / "generated")
    have_nmcli = shutil.which("nmcli")
    for name, folder in renderings.items():
        paths = sorted(folder.glob("network/*/*.nmconnection"))
        refused, lost, uuids = [], [], set()
        for path in paths:
            mine = keyfile(path)
            uuids.add(mine["connection"]["uuid"])
            seen = nmcli(path) if have_nmcli else None
            if have_nmcli and seen is None:
                refused.append(str(path))
                continue
            if not have_nmcli:
                continue
            written = top / "seen"
            written.write_text(seen)
            theirs = keyfile(written)
            # what it does not understand it drops without a word; it has its own form for a gateway and for defaults
            for ip in ("ipv4", "ipv6"):
                if "gateway" in mine.get(ip, {}):
                    mine[ip]["address1"] += "," + mine[ip].pop("gateway")
            lost += [(path.name, s, k, mine[s][k], theirs.get(s, {}).get(k)) for s in mine for k in mine[s]
                     if theirs.get(s, {}).get(k) != mine[s][k] and (s, k) != ("connection", "autoconnect")]
        t.ok(len(uuids) == len(paths) and all(uuid.UUID(u).version == 8 for u in uuids), f"{name}: each of {len(paths)} profiles has its own UUID")
        t.ok(all((p.stat().st_mode & 0o777) == 0o600 for p in paths), f"{name}: profiles are for root alone")
        if have_nmcli:
            t.ok(not refused and not lost, f"{name}: NetworkManager takes every profile and key", refused + lost)
        else:
            t.skip(f"{name}: NetworkManager takes every profile and key", "nmcli is not installed")
    return renderings


def bond_and_vlan(t, folder):
    p = profiles(folder, "node-01")
    t.equal(sorted(p), ["bond0", "bond1", "bond1.100", "eno1", "eno2", "ens-a.0", "ens-b.1"], "a link that carries nothing has no profile")
    bond0, bond1, vlan = p["bond0"], p["bond1"], p["bond1.100"]
    t.equal(bond0["bond"], {"mode": "active-backup", "miimon": "100"}, "active-backup: its options alone")
    t.equal(bond1["bond"], {"mode": "802.3ad", "miimon": "100", "lacp_rate": "slow", "xmit_hash_policy": "layer2+3"}, "802.3ad: all options")
    t.equal((bond1["ipv4"], bond1["ipv6"]), ({"method": "disabled"}, {"method": "disabled"}), "a bond below a VLAN has no IP")
    t.equal([p[x]["ethernet"]["mtu"] for x in ("bond1", "bond1.100", "ens-b.1", "ens-a.0")], ["9000"] * 4, "the MTU on ports, bond and VLAN")
    t.equal({x: p[x]["connection"].get("master") for x in ("eno1", "eno2", "ens-a.0", "ens-b.1")},
            {"eno1": "bond0", "eno2": "bond0", "ens-a.0": "bond1", "ens-b.1": "bond1"}, "ports know their bond")
    t.equal(vlan["vlan"], {"parent": "bond1", "id": "100", "flags": "1", "egress-priority-map": "3:3;5:5;"},
            "the VLAN has the declared egress map and that of the RoCE priority")
    t.equal(vlan["ipv4"], {"method": "manual", "address1": "10.10.1.11/24", "route1": "10.20.0.0/16,10.10.1.1", "never-default": "true"},
            "address and route of the VLAN, never the default route")
    t.equal(bond0["ipv4"], {"method": "manual", "address1": "10.0.0.11/24", "gateway": "10.0.0.1", "dns": "10.0.0.2;"}, "gateway and name server, IPv4")
    t.equal(bond0["ipv6"], {"method": "manual", "address1": "fd00::11/64", "route1": "fd01::/48,fd00::1", "never-default": "true", "dns": "fd00::2;"},
            "address, route and name server, IPv6")


def several_rails(t, folder):
    p = profiles(folder, "node-02")
    ipv4, ipv6 = p["ens2f1"]["ipv4"], p["ens2f1"]["ipv6"]
    tables = [p[x]["ipv4"]["routing-rule1"].split()[-1] for x in ("ens2f0", "ens2f1")]
    t.ok(len(set(tables)) == 2, "rails in one subnet have a table each", tables)
    t.equal(ipv4, {"method": "manual", "address1": "10.10.2.112/24", "route1": "10.30.0.0/16,10.10.2.1", "route2": "10.30.0.0/16,10.10.2.1",
                   "route2_options": "table=1002", "route3": "10.10.2.0/24", "route3_options": "table=1002",
                   "routing-rule1": "priority 1002 from 10.10.2.112 table 1002", "never-default": "true"}, "source routing, IPv4")
    t.equal((ipv6["route1"], ipv6["routing-rule1"]), ("fd02::/64", "priority 1002 from fd02::112 table 1002"), "source routing, IPv6")
    sysctl = (folder / "network/node-02/sysctl.conf").read_text()
    values = dict(line.split(" = ") for line in sysctl.splitlines() if not line.startswith("#"))
    t.equal(values, {"net/ipv4/conf/all/arp_ignore": "1", "net/ipv4/conf/all/arp_announce": "2", "net/ipv4/conf/ens2f0/rp_filter": "2",
                     "net/ipv4/conf/ens2f1/rp_filter": "2"}, "ARP of several rails")
    t.ok(not (folder / "network/node-01/sysctl.conf").exists(), "one rail needs no sysctl")


def lines(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")] if path.exists() else None


def host_files(t, top, folder):
    one, two = folder / "network/node-01", folder / "network/node-02"
    t.equal(lines(one / "modules-load.conf"), ["irdma", "ib_uverbs", "rdma_ucm"], "modules of an ice node")
    t.equal(lines(two / "modules-load.conf"), ["mlx5_ib", "ib_uverbs", "rdma_ucm"], "modules of an mlx5 node")
    t.equal(lines(one / "modprobe.conf"), ["options ib_core netns_mode=0", "options irdma roce_ena=1"], "options that the declaration demands")
    t.equal(lines(two / "modprobe.conf"), None, "and no others")
    t.equal((lines(one / "limits.conf"), lines(two / "limits.conf")), (["* - memlock 1048576"], ["* - memlock unlimited"]), "locked memory of logins")
    t.ok("perftest" in lines(one / "packages.txt") and "ibverbs-providers" in lines(one / "packages.txt"), "packages of Debian")
    t.ok("perftest" in lines(two / "packages.txt") and "iproute" in lines(two / "packages.txt"), "packages of RHEL")
    cluster = sites.rendered(sites.site(kubernetes={"version": "1.33.11"}), top / "cluster")
    t.equal((lines(cluster / "network/node-01/containerd.conf"), lines(cluster / "network/node-02/containerd.conf")),
            (["[Service]", "LimitMEMLOCK=1073741824"], ["[Service]", "LimitMEMLOCK=infinity"]), "locked memory of pods")
    t.ok("ib_umad" in lines(cluster / "network/node-01/modules-load.conf"), "the device plugin gets ib_umad")
    t.ok(not list(folder.glob("network/*/containerd.conf")), "no drop-in without a cluster")


def qos_plans(t, top, folder):
    plan = json.loads((folder / "qos/node-01/qos-plan.json").read_text())
    t.equal((plan["schema"], plan["site"], plan["node"]), ("railhead.qos-plan/1", "generated", "node-01"), "QoS plan: whose it is")
    steps = {p["link"]: p["steps"] for p in plan["ports"]}
    t.equal([s["set"] for s in steps["ens-b.1"]], ["private-flag", "dcbx", "pause", "dscp", "ets", "pfc"], "steps of an ice port, in its order")
    t.ok(steps["ens-b.1"] == steps["ens-a.0"] and plan["equal"] == [["ens-b.1", "ens-a.0"]], "both ports of the bond get the same")
    ets = steps["ens-b.1"][4]
    t.equal((ets["prio_tc"], ets["tc_bandwidth"]), ([0, 1, 2, 3, 0, 0, 0, 0], [17, 17, 16, 50, 0, 0, 0, 0]), "classes are contiguous, none in use starves")
    t.equal(steps["ens-b.1"][3], {"set": "dscp", "dscp": 24, "priority": 3}, "the DSCP entry")
    t.equal(steps["ens-b.1"][5], {"set": "pfc", "priorities": [3]}, "PFC on one priority")
    other = json.loads((folder / "qos/node-02/qos-plan.json").read_text())
    t.ok(all(p["steps"][0]["set"] == "dcbx" for p in other["ports"]) and "equal" not in other, "mlx5 has no flag for an agent, rails are no bond")
    rdma = json.loads((folder / "qos/node-01/qos-rdma-plan.json").read_text())
    t.equal(rdma["rdma"], [{"link": "bond1.100", "default_roce_tos": 96}], "the ToS byte is four times the DSCP")
    for qos, sums in (({"tc_bandwidth": {"0": 50, "3": 50}}, True), ({"tc_bandwidth": {"0": 50, "3": 40}}, False), ({"prio_tc": {"3": 0}, "traffic_class": 0}, True),
                      ({"bandwidth": "100%"}, True), ({"pfc": False}, True)):
        path = sites.write(top / "q.yaml", sites.site(qos={**sites.QOS, **qos}))
        r = sites.run(path, "--force", "-o", top / "q")
        t.ok((r.returncode == 0) == sums, f"qos {qos}", r)
        if sums:
            ets = next(s for s in json.loads((top / "q/qos/node-01/qos-plan.json").read_text())["ports"][0]["steps"] if s["set"] == "ets")
            t.equal(sum(ets["tc_bandwidth"]), 100, f"shares of {qos} add up to 100")
    for qos in ({"dcb": False}, {"dscp": None}):
        declared = {k: v for k, v in {**sites.QOS, **qos}.items() if v is not None}
        t.ok(not (sites.rendered(sites.site(qos=declared), top / "none") / "qos").exists(), f"qos {qos}: nothing for the hosts")


def units(t, top, folder):
    """systemd reads them in a root of their own, where the program is."""
    if not shutil.which("systemd-analyze"):
        t.skip("systemd takes the units", "systemd-analyze is not installed")
        return
    root = top / "root"
    shutil.copytree(folder / "qos/node-01", root / "etc/systemd/system", ignore=shutil.ignore_patterns("*.json", "*.sh", "*.conf"))
    (root / "usr/bin").mkdir(parents=True)
    shutil.copy("/bin/true", root / "usr/bin/railhead")
    (root / "usr/lib/systemd/system").mkdir(parents=True)
    for unit in ("network-pre.target", "network-online.target", "multi-user.target", "sysinit.target", "basic.target", "shutdown.target"):
        (root / "usr/lib/systemd/system" / unit).write_text("[Unit]\nDescription=stands for the real one\n")
    names = sorted(p.name for p in (root / "etc/systemd/system").iterdir())
    v = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--root={root}", *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    t.ok(names == ["railhead-qos-rdma.service", "railhead-qos.service"] and v.returncode == 0 and not v.stdout, "systemd takes the units", v.stdout.decode())
    (root / "etc/systemd/system/railhead-qos.service").write_text((folder / "qos/node-01/railhead-qos.service").read_text().replace("oneshot", "oneshoot"))
    v = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--root={root}", "railhead-qos.service"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    t.ok(v.returncode or b"oneshoot" in v.stdout, "and it would see a mistake", v.stdout.decode())
    text = (folder / "qos/node-01/railhead-qos.service").read_text()
    device = subprocess.run(["systemd-escape", "-p", "--suffix=device", "/sys/subsystem/net/devices/ens-b.1"], stdout=subprocess.PIPE).stdout.decode().strip()
    t.ok(f"After={device}\n" in text and f"Wants={device}\n" in text, f"it waits for {device}", text)
    t.ok("Before=network-pre.target NetworkManager.service\n" in text, "it comes before the bond", text)
    after = sites.rendered(sites.site(qos={**sites.QOS, "order": "after-bond"}), top / "after")
    t.ok("Before=network" not in (after / "qos/node-01/railhead-qos.service").read_text(), "or after it, when the site says so")


def installer(t, top, folder):
    for kind, count in (("network", 10), ("qos", 4)):
        source, root = folder / kind / "node-01", top / f"root-{kind}"
        check = subprocess.run(["shellcheck", "-x", "install.sh", "install.conf"], cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        t.ok(check.returncode == 0, f"{kind}: shellcheck finds nothing", check.stdout.decode())

        def install(*args):
            return subprocess.run([source / "install.sh", *args], env={**os.environ, "DESTDIR": str(root)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        targets = [line.split() for line in re.search(r"files='?(.*?)'?\nreload", (source / "install.conf").read_text(), flags=re.S)[1].splitlines()]
        t.ok(len(targets) == count, f"{kind}: {len(targets)} files to install", targets)
        dry = install("--dry-run")
        t.ok(dry.returncode == 0 and b"would run: install -m" in dry.stdout and not root.exists(), f"{kind}: --dry-run changes nothing", dry.stdout.decode())
        mine = root / targets[0][2].lstrip("/")
        mine.parent.mkdir(parents=True)
        mine.write_text("as it was\n")
        first = install()
        right = all((root / to.lstrip("/")).read_bytes() == (source / what).read_bytes() and oct((root / to.lstrip("/")).stat().st_mode & 0o777) == f"0o{mode}"
                    for mode, what, to in targets)
        t.ok(first.returncode == 0 and right and b"Nothing was" in first.stdout, f"{kind}: every file is in its place", first.stdout.decode())
        t.ok(install().stdout.count(b"unchanged") == len(targets), f"{kind}: a second time there is nothing to do")
        back = install("--rollback")
        t.ok(back.returncode == 0 and mine.read_text() == "as it was\n" and not any((root / to.lstrip("/")).exists() for _, _, to in targets[1:]),
             f"{kind}: --rollback puts back what was there", back.stdout.decode())
        mine.write_text("changed since\n")
        install()
        install("--rollback")
        t.ok(mine.read_text() == "changed since\n", f"{kind}: after a rollback the next installation keeps what it finds then")
        install()
        gone = targets[1]
        conf = source / "install.conf"
        all_files = conf.read_text()
        conf.write_text(all_files.replace(" ".join(gone) + "\n", "").replace("\n" + " ".join(gone), ""))
        less = install()
        t.ok(less.returncode == 0 and not (root / gone[2].lstrip("/")).exists() and (root / targets[0][2].lstrip("/")).exists(),
             f"{kind}: what an earlier rendering installed and this one has not is taken away", less.stdout.decode())
        conf.write_text(all_files)
        for args, code, said in ((["--help"], 0, b"Usage: install.sh"), (["--forse"], 2, b"Usage: install.sh"), (["x"], 2, b"Usage: install.sh")):
            r = install(*args)
            t.ok(r.returncode == code and said in r.stdout, f"{kind}: install.sh {args[0]}", r.stdout.decode())
        here = subprocess.run([source / "install.sh"], env={k: v for k, v in os.environ.items() if k != "DESTDIR"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        t.ok(here.returncode == 1 and b"these files are for node-01" in here.stdout, f"{kind}: it refuses another machine", here.stdout.decode())


def refused(t, top):
    """Names that could break out of a file, and what is left out."""
    for name in ("a;b", "$(id)", "a'b", "a\"b", "-a", "a[b]", ".hidden", "a&b", "a\\b"):
        node = sites.rails(12)
        node["links"][name] = {"addresses": ["10.99.0.1/24"]}
        r = sites.run(sites.write(top / "r.yaml", sites.site({"node-01": node})), "--force", "-o", top / "r")
        t.ok(r.returncode == 2 and b"nodes/node-01/links/" in r.stderr and not (top / "r").exists(), f"link name {name!r} is refused", r.stderr.decode())
    node = sites.bonded(11)
    del node["vlans"]["bond1.100"]["addresses"], node["vlans"]["bond1.100"]["routes"]
    node["bonds"].pop("bond0")
    r = sites.run(sites.write(top / "r.yaml", sites.site({f"node-{i:02}": node for i in range(3)})), "--force", "-o", top / "r")
    t.ok(r.returncode == 0 and b"network/node-00 and 2 others: bond1.100 has no address" in r.stderr, "what has no address is left out, and that is said once",
         r.stderr.decode())
    for name in ("x\u2028[Unit]", "x\u2029ExecStart=/bin/sh", "한국어 # $(id)"):
        folder = sites.rendered({**sites.site(qos=sites.QOS), "name": name}, top / "h")
        bad = [p for p in folder.glob("[nq]*/*/*") if p.suffix in (".nmconnection", ".service", ".conf") and re.search("[\u2028\u2029]", p.read_text())]
        t.ok(not bad, f"the site's name {name!r} breaks no comment", bad)


def order(t, top):
    """NetworkManager enslaves by name; with ice the first port carries the RDMA device, also when RoCE is on a VLAN above."""
    said = b"network/node-01: NetworkManager takes ports into bond1 by name"
    on_bond, by_name, other = sites.bonded(11), sites.bonded(11), sites.bonded(11)
    del on_bond["vlans"]
    on_bond["bonds"]["bond1"]["addresses"] = ["10.10.1.11/24"]
    on_bond["rdma"] = {"bond1": {}}
    by_name["bonds"]["bond1"]["ports"].sort()
    for link in ("ens-a.0", "ens-b.1"):
        other["links"][link]["driver"] = "mlx5_core"
    for node, told, name in ((sites.bonded(11), True, "RoCE on a VLAN of the bond"), (on_bond, True, "RoCE on the bond"), (by_name, False, "ports by name"),
                             (other, False, "another driver")):
        r = sites.run(sites.write(top / "o.yaml", sites.site({"node-01": node})), "--force", "-o", top / "o")
        t.ok(r.returncode == 0 and (said in r.stderr) == told, f"order of ports, {name}: {'told' if told else 'nothing to tell'}", r.stderr.decode())


def a_thousand(t, top):
    folder = sites.rendered(sites.many(1000), top / "many")
    nodes = list((folder / "network").iterdir())
    ids = {re.search(r"uuid=(\S+)", p.read_text())[1] for p in folder.glob("network/*/bond0.nmconnection")}
    t.ok(len(nodes) == 1000 and len(ids) == 1000, "a site of 1,000 nodes", (len(nodes), len(ids)))
    broken = sites.many(1000)
    broken["nodes"]["node-0777"]["links"] = {"x;y": {"addresses": ["10.9.0.1/24"]}}
    r = sites.run(sites.write(top / "b.yaml", broken), "--force", "-o", top / "b")
    t.ok(r.returncode == 2 and b"nodes/node-0777/links/x;y" in r.stderr, "a mistake in one of them names it", r.stderr.decode())


def main():
    t = Tap()
    os.environ.pop("DESTDIR", None)
    with tempfile.TemporaryDirectory() as top:
        top = Path(top)
        folder = every_profile(t, top)["generated"]
        for case in (bond_and_vlan, several_rails):
            t.case(lambda t, case=case: case(t, folder))
        for case in (host_files, qos_plans, units, installer):
            t.case(lambda t, case=case: case(t, top, folder))
        for case in (refused, order, a_thousand):
            t.case(lambda t, case=case: case(t, top))
    t.done()


main()
