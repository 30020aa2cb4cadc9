#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Switch configurations: golden files of every network operating system, and what must hold in all of them.

After an intended change, `--update` writes the golden files anew; the difference is reviewed against the documents
that docs/switch.md names.
"""

import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, str(HERE.parent))
from tap import Tap  # noqa: E402

TOP = Path(os.environ.get("RAILHEAD_SOURCE", HERE.parent.parent))
RAILHEAD = os.environ["RAILHEAD"]
GOLDEN = HERE / "golden" / "switch"
UPDATE = "--update" in sys.argv[1:]

# How each system names its ports.
PORTS = {
    "sonic": lambda n: f"Ethernet{4 * (n - 1)}",
    "nvue": lambda n: f"swp{n}",
    "eos": lambda n: f"Ethernet{n}/1",
    "nxos": lambda n: f"Ethernet1/{n}",
    "os10": lambda n: f"ethernet1/1/{n}",
}

QOS = """
qos: {dscp: 24, priority: 3, traffic_class: 3, bandwidth: 60%, pfc: true, ecn: true}
"""
SWITCH = """
switch:
  names: [leaf-01]
  port_speed: 100G
  cable_metres: 5
  mtu: 9216
  vlan: 100
  lacp_rate: fast
  headroom: 128KiB
  cnp_dscp: 48
  ecn: {min: 150KiB, max: 1500KiB, probability: 10%}
"""
NODES = """
schema: railhead.site/1
name: bundles
profiles:
  bonded:
    links:
      ens1f0: {mtu: 9000, switch: leaf-01}
      ens1f1: {mtu: 9000, switch: SECOND}
    bonds:
      bond1: {mode: 802.3ad, ports: [ens1f0, ens1f1], mtu: 9000}
nodes:
  gpu-node-01:
    profile: bonded
    links: {ens1f0: {switch_port: P1}, ens1f1: {switch_port: P2}}
    bonds: {bond1: {addresses: [10.10.1.11/24]}}
    rdma: {bond1: {}}
  gpu-node-02:
    profile: bonded
    links: {ens1f0: {switch_port: P3}, ens1f1: {switch_port: P4}}
    bonds: {bond1: {port_channel: 20}}
    vlans: {bond1.200: {link: bond1, id: 200, addresses: [10.20.1.12/24], egress: {3: 3}}}
    rdma: {bond1.200: {}}
  aistor-01:
    profile: bonded
    roles: [storage]
    links: {ens1f0: {switch_port: P5}, ens1f1: {switch_port: P6}}
    bonds: {bond1: {addresses: [10.10.1.21/24]}}
    rdma: {bond1: {}}
"""


def site_rails(platform):
    """The two-rails example, whose ports are those of SONiC."""
    text = (TOP / "examples" / "e810-two-rails.yaml").read_text()
    text = re.sub(r"(?m)^  platform: .*\n", f"  platform: {platform}\n", text)
    return re.sub(r"switch_port: Ethernet(\d+)", lambda m: "switch_port: " + PORTS[platform](int(m[1]) // 4 + 1), text)


def with_ports(text, platform):
    return re.sub(r"\bP(\d)\b", lambda m: PORTS[platform](int(m[1])), text)


def site_bundle(platform):
    """LACP on one switch, tagged VLAN on one node, congestion notifications."""
    return with_ports(NODES.replace("SECOND", "leaf-01") + QOS + SWITCH + f"  platform: {platform}\n", platform)


def site_pair(platform):
    """LACP across two switches; no untagged VLAN, no thresholds, no headroom, queues of Tomahawk, dynamic buffers."""
    switch = """
switch:
  names: [leaf-01, leaf-02]
  port_speed: 100G
  cable_metres: 5
  mtu: 9100
  lacp_rate: slow
  mclag_domain: 7
  port_channel_first: 11
  buffer_model: dynamic
  tx_queue: uc-tx-queue
"""
    return with_ports(NODES.replace("SECOND", "leaf-02") + QOS + switch + f"  platform: {platform}\n", platform)


CASES = {"two-rails": site_rails, "bundle": site_bundle, "pair": site_pair}


def render(text, folder):
    """Render a site; the result of the program."""
    site = Path(folder) / "site.yaml"
    site.write_text(text)
    return subprocess.run(
        [RAILHEAD, "render", str(site), "-o", str(Path(folder) / "out"), "--force"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300,
    )


def switch_files(text, t=None, name=""):
    """{path below switch/: text} of a rendering, and what the program said."""
    with tempfile.TemporaryDirectory() as folder:
        r = render(text, folder)
        if t:
            t.equal(r.returncode, 0, f"{name}: rendered")
        if r.returncode:
            print("# " + r.stderr.replace("\n", "\n# "))
        top = Path(folder) / "out" / "switch"
        return {str(p.relative_to(top)): p.read_text() for p in sorted(top.rglob("*")) if p.is_file()}, r.stderr


def config_of(files):
    """The configurations, without verify.txt and without comments."""
    text = ""
    for path, content in files.items():
        if not path.endswith("verify.txt"):
            text += "".join(line + "\n" for line in content.splitlines() if not re.match(r"[!#] ", line))
    return text


def golden(t):
    seen = set()
    for case, site in CASES.items():
        for platform in PORTS:
            files, _ = switch_files(site(platform), t, f"{case} on {platform}")
            t.ok(files and all(path.startswith(platform + "/") for path in files), f"{case}: only {platform} is rendered", files.keys())
            for path, text in files.items():
                file = GOLDEN / case / path
                seen.add(file)
                if UPDATE:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
                expected = file.read_text() if file.exists() else ""
                difference = difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "rendered", lineterm="")
                t.ok(text == expected, f"{case}/{path} is as reviewed", "\n".join(difference))
    for file in sorted(GOLDEN.rglob("*")):
        if file.is_file() and file not in seen:
            if UPDATE:
                file.unlink()
            else:
                t.ok(False, f"{file.relative_to(GOLDEN)} is rendered no more")


def same_again(t):
    first, _ = switch_files(site_pair("sonic").replace("  platform: sonic\n", ""), t, "all systems")
    second, _ = switch_files(site_pair("sonic").replace("  platform: sonic\n", ""))
    t.equal(sorted({path.split("/")[0] for path in first}), sorted(PORTS), "without a platform, each kind is rendered")
    t.equal(first, second, "the same site gives the same bytes")


def sonic_tables(t):
    """References between tables lead somewhere, and every value is text, as config_db.json has it."""
    for case, site in CASES.items():
        files, _ = switch_files(site("sonic"))
        for path, text in files.items():
            if not path.endswith(".json"):
                continue
            config = json.loads(text)
            bad = [(table, key) for table, rows in config.items() for key, row in rows.items()
                   if not isinstance(row, dict) or not all(isinstance(v, str) for v in row.values())]
            t.equal(bad, [], f"{case}/{path}: rows of text")
            t.equal(sorted(config["DSCP_TO_TC_MAP"]["ROCE"], key=int), [str(n) for n in range(64)], f"{case}: 64 DSCPs")
            t.equal([k for k, v in config["DSCP_TO_TC_MAP"]["ROCE"].items() if v == "3"], ["24"], f"{case}: one DSCP is RoCE")
            t.equal([k for k, v in config["TC_TO_PRIORITY_GROUP_MAP"]["ROCE"].items() if v == "3"], ["3"], f"{case}: one group is lossless")
            bad = []
            for port, row in config["PORT_QOS_MAP"].items():
                bad += [port] if row["pfc_enable"] != "3" or row["pfcwd_sw_enable"] != "3" else []
                for field, table in (("dscp_to_tc_map", "DSCP_TO_TC_MAP"), ("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
                                     ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"), ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE")):
                    bad += [(port, field)] if row[field] not in config[table] else []
            for key, row in config["QUEUE"].items():
                bad += [key] if row.get("scheduler") not in config["SCHEDULER"] else []
                bad += [key] if row.get("wred_profile", "ROCE") not in config["WRED_PROFILE"] else []
            for key, row in config.get("BUFFER_PG", {}).items():
                bad += [key] if row["profile"] not in ("NULL", *config.get("BUFFER_PROFILE", {})) else []
            for key in config.get("PORTCHANNEL_MEMBER", {}):
                bundle, port = key.split("|")
                bad += [key] if bundle not in config["PORTCHANNEL"] or port not in config["PORT_QOS_MAP"] else []
                bad += [key] if any(k.endswith("|" + port) for k in config["VLAN_MEMBER"]) or "mtu" in config["PORT"][port] else []
            for key in config["VLAN_MEMBER"]:
                vlan, port = key.split("|")
                bad += [key] if vlan not in config["VLAN"] or port not in {**config["PORT"], **config.get("PORTCHANNEL", {})} else []
            t.equal(bad, [], f"{case}/{path}: every reference leads somewhere")


def pair_is_alike(t):
    """Both switches of a pair have the same bundles with the same numbers."""
    numbers = {"sonic": r'"7\|PortChannel(\d+)"', "nvue": r"mlag id (\d+)", "eos": r"(?m)^   mlag (\d+)",
               "nxos": r"(?m)^  vpc (\d+)", "os10": r"vlt-port-channel (\d+)"}
    for platform, pattern in numbers.items():
        files, _ = switch_files(site_pair(platform))
        for switch in ("leaf-01", "leaf-02"):
            text = "".join(v for k, v in files.items() if switch in k and not k.endswith(".txt"))
            t.equal(re.findall(pattern, text), ["11", "20", "12"], f"{platform}: bundles of {switch}")


def other_class(t):
    """DSCP 26 on priority 4 changes every place: no 24, no 3 is left."""
    for platform in PORTS:
        site = site_bundle(platform).replace("dscp: 24, priority: 3, traffic_class: 3", "dscp: 26, priority: 4, traffic_class: 4")
        site = site.replace("egress: {3: 3}", "egress: {4: 4}")
        text = config_of(switch_files(site, t, f"{platform}: DSCP 26, priority 4")[0])
        t.ok(re.search(r"\b26\b", text), f"{platform}: DSCP 26 is there")
        if platform == "sonic":
            config = json.loads(text)
            t.equal([k for k, v in config["DSCP_TO_TC_MAP"]["ROCE"].items() if v == "4"], ["26"], "sonic: DSCP 26 is class 4")
            t.equal([k for k, v in config["TC_TO_PRIORITY_GROUP_MAP"]["ROCE"].items() if v == "4"], ["4"], "sonic: group 4")
            t.equal({(r["pfc_enable"], r["pfcwd_sw_enable"]) for r in config["PORT_QOS_MAP"].values()}, {("4", "4")}, "sonic: PFC on 4")
            t.equal({k.split("|")[1] for k in config["QUEUE"]}, {"0", "4", "6"}, "sonic: queues 0, 4 and 6")
            continue
        # what is left of 24 and 3 after the list of other DSCPs, ports and unused queues
        text = re.sub(r"(?m)^.*(dscp [0-9, -]*\b0\b|bandwidth remaining percent 0).*\n|^  class type queuing c-out-8q-q[12357]\n", "", text)
        text = re.sub(r"swp\d+|[Ee]thernet[\d/]+|802\.3ad", "", text)
        t.equal(re.findall(r"(?m)^.*\b(?:24|3)\b.*$|.*(?:nq|q)3\b.*", text), [], f"{platform}: nothing is left of 24 and 3")


def parts_that_are_off(t):
    pfc = re.compile(r"pfc|pause|priority-flow-control|no-drop|lossless|BUFFER|CABLE", re.I)
    ecn = re.compile(r"random-detect|congestion-control|wred|ecn", re.I)
    ets = re.compile(r"bandwidth|SCHEDULER|egress-scheduler|ets mode", re.I)
    for platform in PORTS:
        for value, gone in (("pfc: false", [pfc]), ("ecn: false", [ecn]), ("dcb: false", [pfc, ets])):
            key = value.split(":")[0]
            site = site_bundle(platform)
            site = site.replace(f"{key}: true", value) if f"{key}: true" in site else site.replace("qos: {", "qos: {" + value + ", ")
            text = config_of(switch_files(site, t, f"{platform}: {value}")[0])
            for pattern in gone:
                t.equal(pattern.findall(text), [], f"{platform}: {value} leaves {pattern.pattern} out")
        text = config_of(switch_files(site_bundle(platform).replace("  cnp", "  pfc_watchdog: false\n  cnp"))[0])
        t.ok(not re.search("watch|PFC_WD|pfcwd", text), f"{platform}: pfc_watchdog: false", text)


def what_is_not_declared(t):
    site = site_bundle("eos").replace("    links: {ens1f0: {switch_port: Ethernet3/1}, ens1f1: {switch_port: Ethernet4/1}}\n", "")
    files, said = switch_files(site, t, "ports without switch_port")
    text = files["eos/leaf-01/config.cfg"]
    t.ok("Ethernet3/1" not in text and "gpu-node-02:" not in text and "qos profile ROCE" in text, "only these ports are left out", text)
    t.ok("! " in text and "gpu-node-02 ens1f0, gpu-node-02 ens1f1: no switch_port" in text, "the top of the file tells it")
    t.ok("no switch_port is declared" in said, "the program tells it", said)
    files, said = switch_files(site_bundle("eos").replace("  ecn: {min: 150KiB, max: 1500KiB, probability: 10%}\n", ""))
    t.ok("minimum-threshold 150000 bytes maximum-threshold 1500000 bytes max-mark-probability 100" in files["eos/leaf-01/config.cfg"]
         and "default of Cumulus" in files["eos/leaf-01/config.cfg"], "marking without thresholds: a default, and whose")
    files, said = switch_files(site_bundle("nxos").replace(QOS, "").replace("  cnp_dscp: 48\n", ""), t, "no class")
    t.ok("qos" not in config_of(files) and "QoS is not configured" in said, "no class, no QoS", files)
    site = site_bundle("os10").replace("  platform: os10\n", "").replace("port_channel: 20", "port_channel: 129")
    files, said = switch_files(site, t, "all systems, and a number that one lacks")
    t.ok(sorted({path.split("/")[0] for path in files}) == ["eos", "nvue", "nxos", "sonic"]
         and "switch/os10: not rendered: port channel 129" in said, "a system that cannot take the site is left out and told", said)
    files, _ = switch_files(site_bundle("eos"))
    t.ok("mtu 9214" in files["eos/leaf-01/config.cfg"] and "switch/mtu 9216" in files["eos/leaf-01/config.cfg"],
         "an MTU above what EOS takes is told")


def refused(t):
    bundle = site_bundle("sonic")
    for name, site, text in (
        ("a command in a switch's name", bundle.replace("leaf-01", '"leaf-01; reload"'), "letters, digits"),
        ("a folder as a switch's name", bundle.replace("leaf-01", '".."'), "in its name"),
        ("a path as a switch's name", bundle.replace("leaf-01", '"a/../../b"'), "in its name"),
        ("a command as a port", bundle.replace("switch_port: Ethernet0,", "").replace("switch_port: Ethernet0}", 'switch_port: "Ethernet0; reload"}'), "letters, digits"),
        ("a link name with a bar", bundle.replace("ens1f0", '"ens1|0"'), "cannot stand in a switch configuration"),
        ("a link name with a quote", bundle.replace("ens1f0", "'ens1\"0'"), "cannot stand in a switch configuration"),
        ("one port for two", bundle.replace("switch_port: Ethernet4}", "switch_port: Ethernet0}"), "port Ethernet0 of leaf-01 belongs to gpu-node-01/ens1f0"),
        ("one number for two", bundle.replace("bond1: {addresses: [10.10.1.11/24]}", "bond1: {port_channel: 20, addresses: [10.10.1.11/24]}"), "port channel 20"),
        ("a number that SONiC lacks", bundle.replace("port_channel: 20", "port_channel: 10000"), "port channel"),
        ("a number that OS10 lacks", site_bundle("os10").replace("port_channel: 20", "port_channel: 129"), "it has 1 to 128"),
        ("VLAN 1 on SONiC", bundle.replace("vlan: 100", "vlan: 1"), "VLAN 1 cannot be configured"),
        ("a VLAN tagged and untagged", bundle.replace("vlan: 100", "vlan: 200"), "tagged here and untagged"),
        ("an MTU of the hosts that is too large", bundle.replace("mtu: 9000", "mtu: 9500"), "hosts have an MTU of 9500"),
        ("RoCE on priority 0", bundle.replace("priority: 3,", "priority: 0,"), "must not be paused"),
        ("RoCE on DSCP 0", bundle.replace("dscp: 24,", "dscp: 0,"), "must not be paused"),
        ("notifications in the RoCE queue", bundle.replace("cnp_dscp: 48", "cnp_dscp: 25"), "would share queue 3"),
        ("thresholds in the wrong order", bundle.replace("min: 150KiB, max: 1500KiB", "min: 1500KiB, max: 150KiB"), "above max"),
        ("half of the thresholds", bundle.replace("min: 150KiB, ", ""), "declared together"),
    ):
        t.ok(site not in (bundle, site_bundle("os10")), f"{name}: the site differs")
        with tempfile.TemporaryDirectory() as folder:
            r = render(site, folder)
            t.ok(r.returncode == 2 and text in r.stderr and not (Path(folder) / "out").exists(), f"refused: {name}", r.stderr)


def main():
    t = Tap()
    for case in (golden, same_again, sonic_tables, pair_is_alike, other_class, parts_that_are_off, what_is_not_declared, refused):
        t.case(case)
    t.done()


main()
