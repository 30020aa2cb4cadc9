#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands for ib_write_bw and its kin, by the name that it is called with: the handshake of server and client, and the table.

PERFTEST_DOUBLE is "ROLE FAILING", where ROLE is server, client or ask, and FAILING what goes wrong in that role.
The figures are made up. PERFTEST_DOUBLE_LOG is a file that gets each command line.
"""

import os
import signal
import socket
import sys
import time

NAME = os.path.basename(sys.argv[0])
LATENCY = NAME.endswith("_lat")
OPTIONS = "ib-dev ib-port gid-index mtu tclass port bind_source_ip ipv6-addr size iters qp tx-depth duration margin report_gbits CPU-freq use_hugepages use_cuda_bus_id use_cuda_dmabuf".split()
ROLE, _, FAILING = os.environ.get("PERFTEST_DOUBLE", "").partition(" ")


def fail(role):
    """What goes wrong in this role, if anything does."""
    if role != ROLE:
        return
    if FAILING == "hangs":
        time.sleep(600)
    if FAILING == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    if FAILING == "floods":
        while True:
            print("x" * 65536)
    if FAILING == "refuses":
        sys.exit(" Unable to init the socket connection\n Failed to modify QP to RTR")
    if FAILING == "prints-garbage":
        print(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 65536 1000 nan inf -1")
        sys.exit(0)


def given(option, fallback=None):
    found = [a.split("=", 1)[1] for a in sys.argv if a.startswith(f"--{option}=")]
    return found[0] if found else fallback


def serve():
    fail("server")
    listener = socket.create_server((given("bind_source_ip", ""), int(given("port"))), reuse_port=False)
    connection, _ = listener.accept()
    connection.recv(1)


def measure():
    fail("client")
    try:
        connection = socket.create_connection((sys.argv[-1], int(given("port"))))
    except OSError:
        sys.exit(f"Couldn't connect to {sys.argv[-1]}:{given('port')}")
    connection.send(b"x")
    print("-" * 87)
    if LATENCY:
        print(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ")
        print(f" {given('size')}       {given('iters')}          2.00           9.50         2.25     \t       2.30        \t0.10   \t\t3.50    \t\t8.00   ")
    else:
        print(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]")
        print(f" {given('size')}      4000             0.00               50.00  \t\t     0.095367")
    print("-" * 87)


def main():
    if log := os.environ.get("PERFTEST_DOUBLE_LOG"):
        with open(log, "a") as f:
            print(NAME, *sys.argv[1:], file=f)
    if sys.argv[1] in ("--version", "--help"):
        fail("ask")
        print("Version: 26.01" if sys.argv[1] == "--version" else "\n".join(f"      --{o}=<value>  Text" for o in OPTIONS))
        sys.exit(1)
    if sys.argv[-1].startswith("--"):
        serve()
    else:
        measure()


main()
