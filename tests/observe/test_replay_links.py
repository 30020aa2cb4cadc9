# SPDX-License-Identifier: Apache-2.0
"""The observers of network interfaces on a machine made by hand, given to them as a recording.

Two ports of one adapter, one of them in a bond, a virtual function, a representor. Some requests
fail: what failed must be a gap with its reason, and must not take anything else with it. A question
that the recording does not hold would be a gap of its own, so the test also tells what is not
asked: driver statistics and DCB of the function and of the representor.
"""
import base64
import json
import os
import struct
import subprocess
import sys
import tempfile

RAILHEAD = os.environ["RAILHEAD"]

ENOENT, EIO, EACCES, ENODEV, EOPNOTSUPP, ETIMEDOUT = 2, 5, 13, 19, 95, 110
REQUEST, ACK, DUMP = 1, 4, 0x300
ETHTOOL, DEVLINK = 40, 41  # ids of the families

doors = {}


def put(door, question, answer):
    doors.setdefault(door, {})[question] = [answer]


def failure(errno):
    return {"errno": errno, "message": os.strerror(errno)}


def attr(kind, payload):
    data = struct.pack("=HH", len(payload) + 4, kind) + payload
    return data + bytes(-len(data) % 4)


def text(kind, value):
    return attr(kind, value.encode() + b"\0")


def u8(kind, value):
    return attr(kind, struct.pack("=B", value))


def u32(kind, value):
    return attr(kind, struct.pack("=I", value))


def nest(kind, *parts):
    return attr(kind | 0x8000, b"".join(parts))  # NLA_F_NESTED


def message(kind, flags, *parts):
    body = b"".join(parts)
    return struct.pack("=IHHII", len(body) + 16, kind, flags, 0, 0) + body


def encode(data):
    return base64.b64encode(data).decode()


def netlink(protocol, request, answer):
    """`answer` is a list of messages, or the errno of a failure."""
    put("netlink", f"{protocol}:{encode(request)}",
        failure(answer) if isinstance(answer, int) else {"messages": encode(b"".join(answer))})


def genl(family, flags, command, *parts):
    return message(family, flags, struct.pack("=BBH", command, 1, 0), *parts)


def link(index, name, *parts):
    return message(16, 2, struct.pack("=BxHiII", 0, 1, index, 1, 0), text(3, name), *parts)


def pci(device, *parts):
    return (text(56, device), text(57, "pci")) + parts


def rtnetlink():
    bond = nest(18, text(1, "bond"), nest(2, u8(1, 4)))  # mode 802.3ad
    port = nest(18, text(4, "bond"), nest(5, u8(1, 0)))
    links = [
        link(1, "lo"),
        link(2, "ens1f0", *pci("0000:01:00.0", u32(10, 6), port)),
        link(3, "ens1f1", *pci("0000:01:00.1")),
        link(4, "ens1f0v0", *pci("0000:01:01.0")),
        link(5, "ens1f0r0", *pci("0000:01:00.0", text(38, "pf0vf0"))),
        link(6, "bond1", bond),
    ]
    netlink("route", message(18, REQUEST | DUMP, bytes(16), u32(29, 8)), links)
    netlink("route", message(22, REQUEST | DUMP, bytes(8)), EIO)
    netlink("route", message(26, REQUEST | DUMP, bytes([2]) + bytes(11)), [])
    netlink("route", message(26, REQUEST | DUMP, bytes([10]) + bytes(11)), EIO)


def sysfs():
    for device in ("0000:01:00.0", "0000:01:00.1"):
        put("readlink", f"/sys/bus/pci/devices/{device}/physfn", failure(ENOENT))
    put("readlink", "/sys/bus/pci/devices/0000:01:01.0/physfn", {"target": "../0000:01:00.0"})
    put("read", "/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs", {"data": "1\n"})
    put("read", "/sys/bus/pci/devices/0000:01:00.1/sriov_numvfs", failure(ENOENT))
    for name in ("lo", "bond1"):
        put("readlink", f"/sys/class/net/{name}/device", failure(ENOENT))
        put("readlink", f"/sys/class/net/{name}/device/subsystem", failure(ENOENT))
    put("read", "/proc/net/bonding/bond1", failure(EACCES))


def family(name, number):
    request = message(16, REQUEST, struct.pack("=BBH", 3, 1, 0), text(2, name))
    netlink("generic", request, [genl(16, 0, 1, attr(1, struct.pack("=H", number)))])


def ethtool_dump(command, flags, answer):
    header = nest(1, u32(3, flags)) if flags else nest(1)
    netlink("generic", genl(ETHTOOL, REQUEST | DUMP, command, header), answer)


def ethtool_ask(command, flags, index, answer):
    header = nest(1, u32(1, index), *((u32(3, flags),) if flags else ()))
    netlink("generic", genl(ETHTOOL, REQUEST | ACK, command, header), answer)


def ethtool_reply(command, index, *parts):
    return genl(ETHTOOL, 0, command, nest(1, u32(1, index)), *parts)


def ethtool():
    family("ethtool", ETHTOOL)
    # link modes: one broken device ends the dump for all
    ethtool_dump(4, 1, ENODEV)
    ethtool_ask(4, 1, 2, [ethtool_reply(4, 2, u32(5, 100000), u8(6, 1), u8(2, 1))])
    ethtool_ask(4, 1, 3, ENODEV)
    # link state: of a link that came after the dump of links nothing is known
    ethtool_dump(6, 0, [ethtool_reply(6, i, u8(2, 1)) for i in (1, 2, 3, 4, 5, 6, 77)])
    # FEC: nobody has it
    ethtool_dump(29, 1, [])
    # pause: a kernel without statistics refuses the flag
    ethtool_dump(21, 4, EOPNOTSUPP)
    ethtool_dump(21, 0, [ethtool_reply(22, 2, u8(2, 0), u8(3, 1), u8(4, 0))])
    ethtool_dump(13, 0, [])
    for name in ("ens1f0", "ens1f1", "ens1f0v0", "ens1f0r0"):
        put("ethtool-drvinfo", name, {"driver": "ice", "version": "6.12", "firmware": "",
                                      "bus_info": "x"})
    put("ethtool-stats", "ens1f0", {"stats": {"rx_dropped.nic": 7}})
    put("ethtool-stats", "ens1f1", failure(EOPNOTSUPP))


def dcb():
    def request(command, name):
        return message(78, REQUEST | ACK, bytes([0, command, 0, 0]), text(1, name))

    def reply(*parts):
        return message(78, 0, bytes(4), *parts)

    app = attr(1, struct.pack("=BBH", 5, 3, 24))
    netlink("route", request(21, "ens1f0"), [reply(nest(13, nest(3, app)))])
    netlink("route", request(22, "ens1f0"), [reply(u8(14, 9))])
    netlink("route", request(21, "ens1f1"), EOPNOTSUPP)


def devlink():
    def handle(device):
        return text(1, "pci") + text(2, device)

    first, second = handle("0000:01:00.0"), handle("0000:01:00.1")
    version = nest(101, text(103, "fw.mgmt"), text(104, "7.5.4"))
    enable = nest(80, text(81, "enable_roce"), attr(82, b""), u8(83, 6),
                  nest(84, nest(85, attr(86, b""), u8(87, 0))))
    family("devlink", DEVLINK)
    netlink("generic", genl(DEVLINK, REQUEST | DUMP, 1),
            [genl(DEVLINK, 0, 3, first), genl(DEVLINK, 0, 3, second)])
    netlink("generic", genl(DEVLINK, REQUEST | DUMP, 51), EIO)
    netlink("generic", genl(DEVLINK, REQUEST | ACK, 51, first),
            [genl(DEVLINK, 0, 51, first, text(98, "ice"), version)])
    netlink("generic", genl(DEVLINK, REQUEST | ACK, 51, second), ETIMEDOUT)
    netlink("generic", genl(DEVLINK, REQUEST | DUMP, 38), [genl(DEVLINK, 0, 38, first, enable)])


def snapshot():
    with tempfile.NamedTemporaryFile("w", suffix=".rec") as file:
        json.dump({"schema": "railhead.recording/1", "doors": doors}, file)
        file.flush()
        out = subprocess.run([RAILHEAD, "snapshot", "--replay", file.name], check=True,
                             capture_output=True, text=True).stdout
    return json.loads(out)


def expected_gaps():
    gaps = {"/links/" + name + "/addresses": (EIO, None)
            for name in ("lo", "ens1f0", "ens1f1", "ens1f0v0", "ens1f0r0", "bond1")}
    gaps["/routes"] = (EIO, None)
    for member in ("speed_mbps", "duplex", "autoneg"):
        gaps[f"/links/ens1f1/ethtool/{member}"] = (ENODEV, "gone")
        gaps[f"/links/ens1f0v0/ethtool/{member}"] = (ENODEV, None)
        gaps[f"/links/ens1f0r0/ethtool/{member}"] = (ENODEV, None)
    for name, members in {"ens1f0": ("fec", "private_flags"),
                          "ens1f1": ("fec", "private_flags", "pause")}.items():
        for member in members:
            gaps[f"/links/{name}/ethtool/{member}"] = (EOPNOTSUPP, "does not answer")
    gaps["/links/ens1f1/ethtool/statistics"] = (EOPNOTSUPP, "no statistics")
    gaps["/links/ens1f1/dcb"] = (EOPNOTSUPP, "the driver has no dcbnl operations")
    gaps["/links/ens1f0/dcb/ets"] = gaps["/links/ens1f0/dcb/pfc"] = (EOPNOTSUPP, "does not answer")
    for member in ("speed_mbps", "duplex", "actor_churn", "partner_churn", "actor_churned_count",
                   "partner_churned_count", "actor_key", "partner_key", "partner_mac"):
        gaps[f"/links/ens1f0/bond_port/{member}"] = (EACCES, None)
    gaps["/devlink/pci/0000:01:00.1/versions"] = (ETIMEDOUT, None)
    gaps["/devlink/pci/0000:01:00.1/parameters"] = (EOPNOTSUPP, "does not answer")
    return gaps


def check_gaps(facts):
    problems = []
    want = expected_gaps()
    for gap in facts["gaps"]:
        pointer = gap["pointer"]
        if not pointer.startswith(("/links", "/routes", "/devlink")):
            continue
        errno, reason = want.pop(pointer, (None, None))
        if errno is None:
            problems.append(f"not expected: {gap}")
        elif gap.get("errno") != errno or (reason and reason not in gap["reason"]):
            problems.append(f"expected errno {errno}, {reason!r}: {gap}")
    return problems + [f"no gap {pointer}" for pointer in want]


DCBX = {"host": True, "lld_managed": False, "cee": False, "ieee": True, "static": False}
FACTS = {
    "links/ens1f0/virtual_function": False,
    "links/ens1f0/vfs": 1,
    "links/ens1f1/vfs": None,
    "links/ens1f0v0/virtual_function": True,
    "links/ens1f0r0/port_name": "pf0vf0",
    "links/ens1f0/master": "bond1",
    "links/ens1f0/ethtool/speed_mbps": 100000,
    "links/ens1f0/ethtool/pause": {"autoneg": False, "rx": True, "tx": False},
    "links/ens1f0/ethtool/driver": "ice",
    "links/ens1f0/ethtool/firmware": None,
    "links/ens1f0/ethtool/statistics": {"rx_dropped.nic": 7},
    "links/ens1f0v0/ethtool": {"link": True, "driver": "ice", "driver_version": "6.12",
                               "bus_info": "x"},
    "links/bond1/bond/aggregator": {},
    "links/ens1f0/dcb": {"app": [{"selector": 5, "protocol": 24, "priority": 3}],
                         "dscp": {"24": 3}, "dcbx": DCBX},
    "links/ens1f1/dcb": None,
    "links/ens1f0/addresses": None,
    "devlink/pci/0000:01:00.0/driver": "ice",
    "devlink/pci/0000:01:00.0/versions/running": {"fw.mgmt": "7.5.4"},
    "devlink/pci/0000:01:00.0/parameters/enable_roce": {"generic": True,
                                                        "values": {"runtime": True}},
    "devlink/pci/0000:01:00.1": {},
    "routes": [],
}


def check_facts(facts):
    problems = []
    for path, want in FACTS.items():
        have = facts
        for step in path.split("/"):
            have = (have or {}).get(step)
        if have != want:
            problems.append(f"{path} is {have!r}, expected {want!r}")
    return problems


def main():
    for part in (rtnetlink, sysfs, ethtool, dcb, devlink):
        part()
    facts = snapshot()
    failed = 0
    checks = (("facts", check_facts), ("gaps", check_gaps))
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        problems = check(facts)
        failed += bool(problems)
        for problem in problems:
            print(f"# {problem}")
        print(f"{'not ok' if problems else 'ok'} {number} - {name}")
    return 1 if failed else 0


sys.exit(main())
