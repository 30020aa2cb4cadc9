# SPDX-License-Identifier: Apache-2.0
"""The facts of /links and /routes against what iproute2 says of the same links.

Runs in a network namespace with links of its own when that is allowed (root), so that nothing
changes between the two looks, and on the machine's own links otherwise.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import time

RAILHEAD = os.environ["RAILHEAD"]
CLONE_NEWNET = 0x40000000
FAMILIES = {"inet": "ipv4", "inet6": "ipv6"}

results = []


def result(name, problems):
    results.append((not problems, name, None))
    for problem in problems[:20]:
        print(f"# {name}: {problem}")


def skip(name, reason):
    results.append((True, name, reason))


def command(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def ip(*argv):
    text = command("ip", "-j", *argv)
    return [entry for entry in json.loads(text or "[]") if entry]


def snapshot():
    return json.loads(command(RAILHEAD, "snapshot"))


def own_namespace():
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.unshare(CLONE_NEWNET) == 0


LINKS = """
link set lo up
link add v0 mtu 9000 type veth peer name v1
link add br0 type bridge
link set v1 master br0
link property add dev v0 altname rail0 altname odd~name
addr add 192.0.2.1/24 dev v0
addr add 192.0.2.129/25 dev v0 valid_lft 500 preferred_lft 300
addr add 10.9.9.1 peer 10.9.9.2/32 dev v0
addr add 2001:db8::1/64 dev v0 nodad
addr add 2001:db8::2/64 dev v0 nodad preferred_lft 0
link set v0 up
link set v1 up
link set br0 up
route add 198.51.100.0/24 via 192.0.2.9 metric 50
route add 203.0.113.0/24 nexthop via 192.0.2.7 weight 3 nexthop via 192.0.2.8
route add blackhole 203.0.113.128/25
route add 198.18.0.0/15 via inet6 fe80::9 dev v0
route add default via 192.0.2.254 src 192.0.2.1
route add unreachable 203.0.113.64/26 table 100
-6 route add 2001:db8:7::/48 via 2001:db8::9 metric 7
-6 route add default via fe80::254 dev v0
"""
VLAN = ("link", "add", "link", "v0", "name", "v0.100", "type", "vlan", "id", "100",
        "egress-qos-map", "3:3", "5:0", "ingress-qos-map", "2:1")


def make_links():
    for line in LINKS.strip().splitlines():
        command("ip", *line.split())
    time.sleep(2)  # link-local addresses: duplicate address detection takes a second


def compare(where, have, want, key, problems):
    if have != want:
        problems.append(f"{where}: {key} is {have!r}, ip says {want!r}")


def expected_link(entry):
    """What ip says of a link, by the names of docs/snapshot.md."""
    info = entry.get("linkinfo", {})
    want = {
        "index": entry["ifindex"],
        "mtu": entry["mtu"],
        "kind": info.get("info_kind", ""),
        "up": "UP" in entry["flags"],
        "carrier": "NO-CARRIER" not in entry["flags"] and "UP" in entry["flags"],
        "operstate": entry["operstate"].lower(),
        "alternative_names": entry.get("altnames", []),
    }
    for ours, theirs in (("min_mtu", "min_mtu"), ("max_mtu", "max_mtu"), ("master", "master"),
                         ("lower", "link"), ("permanent_mac", "permaddr"),
                         ("parent_bus", "parentbus"), ("parent_device", "parentdev")):
        want[ours] = entry.get(theirs)
    if entry.get("link_type") in ("ether", "loopback"):
        want["mac"] = entry["address"]
    return want


def compare_links(facts, label):
    problems = []
    links = facts["links"]
    entries = ip("-d", "link")
    compare("links", sorted(links), sorted(e["ifname"] for e in entries), "names", problems)
    for entry in entries:
        name = entry["ifname"]
        link = links.get(name, {})
        for key, want in expected_link(entry).items():
            # of a link that is down, or without IFF_UP, ip's flags do not tell the carrier; ip
            # prints the permanent address only where it differs
            if key == "carrier" and not want and "NO-CARRIER" not in entry["flags"]:
                continue
            if key == "permanent_mac" and want is None:
                continue
            compare(name, link.get(key), want, key, problems)
    result(f"{label}: links", problems)


def compare_statistics(before, label):
    problems = []
    for entry in ip("-s", "link"):
        have = before["links"].get(entry["ifname"], {}).get("statistics")
        if have is None:
            problems.append(f"{entry['ifname']}: no statistics")
            continue
        for ours, (side, theirs) in {
                "rx_bytes": ("rx", "bytes"), "tx_bytes": ("tx", "bytes"),
                "rx_packets": ("rx", "packets"), "tx_packets": ("tx", "packets"),
                "rx_errors": ("rx", "errors"), "tx_errors": ("tx", "errors"),
                "rx_dropped": ("rx", "dropped"), "tx_dropped": ("tx", "dropped")}.items():
            now = entry["stats64"][side][theirs]
            # packets may have passed between the two looks; more than a few would be a mix-up
            if not have[ours] <= now <= have[ours] * 1.1 + 20000:
                problems.append(f"{entry['ifname']}: {ours} was {have[ours]}, is {now}")
    result(f"{label}: statistics", problems)


# a word of "flags" in our list for each boolean of ip's
ADDRESS_FLAGS = ("secondary", "temporary", "deprecated", "tentative", "dadfailed", "nodad",
                 "noprefixroute", "mngtmpaddr", "home", "optimistic", "autojoin")


def compare_addresses(facts, label):
    problems = []
    for entry in ip("addr"):
        have = sorted((a["family"], a["address"], a["prefix"], a["scope"],
                       tuple(sorted(set(a["flags"]) & set(ADDRESS_FLAGS))))
                      for a in facts["links"].get(entry["ifname"], {}).get("addresses", []))
        want = sorted((FAMILIES[a["family"]], a["local"], a["prefixlen"], a["scope"],
                       tuple(sorted(f for f in ADDRESS_FLAGS if a.get(f))))
                      for a in entry["addr_info"])
        compare(entry["ifname"], have, want, "addresses", problems)
        dynamic = {a["local"] for a in entry["addr_info"] if a.get("dynamic")}
        for address in facts["links"].get(entry["ifname"], {}).get("addresses", []):
            compare(entry["ifname"], "permanent" in address["flags"],
                    address["address"] not in dynamic, address["address"] + " permanent", problems)
    result(f"{label}: addresses", problems)


def expected_route(route, family, table):
    destination = route["dst"]
    if destination != "default" and "/" not in destination:
        destination += "/32" if family == "ipv4" else "/128"
    gateway = route.get("gateway") or route.get("via", {}).get("host")
    hops = tuple((h.get("gateway"), h.get("dev"), h["weight"]) for h in route.get("nexthops", []))
    return (family, table, route.get("type", "unicast"), destination, gateway or "",
            route.get("dev") or "", route.get("prefsrc") or "", route.get("metric") or 0, hops)


def compare_routes(facts, label):
    problems = []
    want = []
    for option, family in (("-4", "ipv4"), ("-6", "ipv6")):
        for table in ("main", "local"):
            want += [expected_route(r, family, table)
                     for r in ip("-d", option, "route", "show", "table", table)]
    have = [(r["family"], r["table"], r["type"], r["destination"], r.get("gateway") or "",
             r.get("link") or "", r.get("source") or "", r.get("metric") or 0,
             tuple((h.get("gateway"), h.get("link"), h["weight"]) for h in r.get("nexthops", [])))
            for r in facts["routes"]]
    for route in sorted(set(have) - set(want)):
        problems.append(f"ip does not have {route}")
    for route in sorted(set(want) - set(have)):
        problems.append(f"absent: {route}")
    compare("routes", len(have), len(want), "number", problems)
    result(f"{label}: {len(want)} routes", problems)


def compare_vlan():
    if subprocess.run(("ip",) + VLAN, capture_output=True).returncode:
        skip("vlan", "this kernel has no VLAN links (8021q)")
        return
    problems = []
    link = snapshot()["links"]["v0.100"]
    compare("v0.100", link.get("lower"), "v0", "lower", problems)
    compare("v0.100", link.get("vlan"), {"id": 100, "protocol": "802.1Q",
                                         "egress": {"3": 3, "5": 0}, "ingress": {"2": 1}},
            "vlan", problems)
    result("vlan", problems)


def compare_all(label):
    facts = snapshot()
    compare_statistics(facts, label)
    compare_links(facts, label)
    compare_addresses(facts, label)
    compare_routes(facts, label)
    return facts


def check_namespace():
    make_links()
    facts = compare_all("namespace")
    problems = []
    compare("v0", facts["links"]["v0"].get("ethtool", {}).get("speed_mbps"), 10000,
            "speed_mbps of veth", problems)
    compare("v0", facts["links"]["v0"]["alternative_names"], ["rail0", "odd~name"],
            "alternative_names", problems)
    if any(r["table"] not in ("main", "local") for r in facts["routes"]):
        problems.append("a route of another table")
    result("namespace: known values", problems)
    compare_vlan()


def main():
    if not shutil.which("ip"):
        skip("all", "no ip program")
    elif own_namespace():
        check_namespace()
    else:
        compare_all("machine")
        skip("namespace", "needs the right to make a network namespace")
    print(f"1..{len(results)}")
    for number, (ok, name, reason) in enumerate(results, 1):
        print(f"{'ok' if ok else 'not ok'} {number} - {name}" + (f" # SKIP {reason}" if reason else ""))
    return 0 if all(ok for ok, _, _ in results) else 1


sys.exit(main())
