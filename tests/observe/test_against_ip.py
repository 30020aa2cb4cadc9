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
        "egress-qos-map", "3:3", "5:6", "ingress-qos-map", "2:1")


def make_links():
    for line in LINKS.strip().splitlines():
        command("ip", *line.split())


def compare(where, have, want, key, problems):
    if have != want:
        problems.append(f"{where}: {key} is {have!r}, ip says {want!r}")


# words of "flags" that ip prints as a member of their own
ADDRESS_FLAGS = ("secondary", "temporary", "deprecated", "tentative", "dadfailed", "nodad",
                 "noprefixroute", "mngtmpaddr", "home", "optimistic", "autojoin")


def expected_link(entry):
    """What ip says of a link, by the names of docs/snapshot.md."""
    want = {
        "index": entry["ifindex"],
        "mtu": entry["mtu"],
        "kind": entry.get("linkinfo", {}).get("info_kind", ""),
        "up": "UP" in entry["flags"],
        "operstate": entry["operstate"].lower(),
        "alternative_names": entry.get("altnames", []),
    }
    for ours, theirs in (("min_mtu", "min_mtu"), ("max_mtu", "max_mtu"), ("master", "master"),
                         ("lower", "link"), ("parent_bus", "parentbus"),
                         ("parent_device", "parentdev")):
        want[ours] = entry.get(theirs)
    if "UP" in entry["flags"]:  # ip tells the carrier of such links only
        want["carrier"] = "NO-CARRIER" not in entry["flags"]
    if "permaddr" in entry:  # printed only where it differs from the address
        want["permanent_mac"] = entry["permaddr"]
    if entry.get("link_type") in ("ether", "loopback"):
        want["mac"] = entry["address"]
    return want


def expected_address(entry):
    return (FAMILIES[entry["family"]], entry["local"], entry["prefixlen"], entry["scope"],
            not entry.get("dynamic"), tuple(f for f in ADDRESS_FLAGS if entry.get(f)))


def expected_route(route, family, table):
    destination = route["dst"]
    if destination != "default" and "/" not in destination:
        destination += "/32" if family == "ipv4" else "/128"
    gateway = route.get("gateway") or route.get("via", {}).get("host")
    hops = tuple((h.get("gateway"), h.get("dev"), h["weight"]) for h in route.get("nexthops", []))
    return (family, table, route.get("type", "unicast"), destination, gateway or "",
            route.get("dev") or "", route.get("prefsrc") or "", route.get("metric") or 0, hops)


def expected():
    """All that ip says, but for counters and lifetimes."""
    return {
        "links": {e["ifname"]: expected_link(e) for e in ip("-d", "link")},
        "addresses": {e["ifname"]: sorted(expected_address(a) for a in e["addr_info"])
                      for e in ip("addr")},
        "routes": sorted(expected_route(r, family, table)
                         for option, family in (("-4", "ipv4"), ("-6", "ipv6"))
                         for table in ("main", "local")
                         for r in ip("-d", option, "route", "show", "table", table)),
    }


def settled_look():
    """A snapshot, and what ip said both before and after it: addresses and routes come and go by
    themselves (duplicate address detection), which is no difference between the two programs."""
    before = expected()
    for _ in range(20):
        facts = snapshot()
        after = expected()
        if before == after:
            break
        before = after
        time.sleep(0.3)
    return facts, after


def compare_links(facts, want, label):
    problems = []
    links = facts["links"]
    compare("links", sorted(links), sorted(want["links"]), "names", problems)
    for name, members in want["links"].items():
        for key, value in members.items():
            compare(name, links.get(name, {}).get(key), value, key, problems)
    result(f"{label}: links", problems)


def compare_statistics(facts, label):
    problems = []
    for entry in ip("-s", "link"):
        have = facts["links"].get(entry["ifname"], {}).get("statistics")
        if have is None:
            problems.append(f"{entry['ifname']}: no statistics")
            continue
        for side in ("rx", "tx"):
            for counter in ("bytes", "packets", "errors", "dropped"):
                then, now = have[f"{side}_{counter}"], entry["stats64"][side][counter]
                # packets may have passed between the two looks; many more would be a mix-up
                if not then <= now <= then * 1.1 + 20000:
                    problems.append(f"{entry['ifname']}: {side}_{counter} was {then}, is {now}")
    result(f"{label}: statistics", problems)


def compare_addresses(facts, want, label):
    problems = []
    for name, addresses in want["addresses"].items():
        have = sorted((a["family"], a["address"], a["prefix"], a["scope"],
                       "permanent" in a["flags"],
                       tuple(f for f in ADDRESS_FLAGS if f in a["flags"]))
                      for a in facts["links"].get(name, {}).get("addresses", []))
        compare(name, have, addresses, "addresses", problems)
    result(f"{label}: addresses", problems)


def compare_routes(facts, want, label):
    have = [(r["family"], r["table"], r["type"], r["destination"], r.get("gateway") or "",
             r.get("link") or "", r.get("source") or "", r.get("metric") or 0,
             tuple((h.get("gateway"), h.get("link"), h["weight"]) for h in r.get("nexthops", [])))
            for r in facts["routes"]]
    problems = [f"ip does not have {r}" for r in sorted(set(have) - set(want["routes"]))]
    problems += [f"absent: {r}" for r in sorted(set(want["routes"]) - set(have))]
    compare("routes", len(have), len(want["routes"]), "number", problems)
    result(f"{label}: routes", problems)


def compare_vlan():
    if subprocess.run(("ip",) + VLAN, capture_output=True).returncode:
        skip("vlan", "this kernel has no VLAN links (8021q)")
        return
    problems = []
    link = snapshot()["links"]["v0.100"]
    compare("v0.100", link.get("lower"), "v0", "lower", problems)
    compare("v0.100", link.get("vlan"), {"id": 100, "protocol": "802.1Q",
                                         "egress": {"3": 3, "5": 6}, "ingress": {"2": 1}},
            "vlan", problems)
    result("vlan", problems)


def compare_all(label):
    facts, want = settled_look()
    compare_statistics(facts, label)
    compare_links(facts, want, label)
    compare_addresses(facts, want, label)
    compare_routes(facts, want, label)
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
        directive = f" # SKIP {reason}" if reason else ""
        print(f"{'ok' if ok else 'not ok'} {number} - {name}{directive}")
    return 0 if all(ok for ok, _, _ in results) else 1


sys.exit(main())
