#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead prove where there is no RDMA: usage, tokens, time limits, signals, peers that are none.

What it proves is tested on a double of a provider (tests/prove) and on real RDMA (tests/lab/test_prove.py).
"""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), os.path.dirname(os.path.abspath(__file__))]
from tap import Tap  # noqa: E402
from prove_listener import LIMIT, listening, run  # noqa: E402


@contextlib.contextmanager
def server(say):
    """Something on a TCP port that says `say` to each that comes, and keeps the connection."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        kept = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    peer, _ = s.accept()
                    kept.append(peer)
                    peer.sendall(say)

        threading.Thread(target=serve, daemon=True).start()
        yield s.getsockname()[1]
        for peer in kept:
            peer.close()


def usage(t):
    token = "A" * 26
    for args, text in (
        ((), "HOST is missing"),
        (("host",), "--token is missing"),
        (("--listen", "host"), "takes no HOST"),
        (("--listen", "--size", "1"), "--size is for the end that connects"),
        (("--listen", "--ecn"), "--ecn is for the end that connects"),
        (("h", "--token", token, "--bind", "::1"), "--bind goes with --listen"),
        (("h", "--token", token, "--once"), "--once goes with --listen"),
        (("h", "--token", token, "--senders", "2"), "--senders goes with --listen"),
        (("--listen", "--senders", "1"), "--senders takes a number from 2 to 16"),
        (("--listen", "--senders", "17"), "--senders takes a number from 2 to 16"),
        (("--listen", "--senders", "two"), "--senders takes a number from 2 to 16"),
        (("--listen", "--senders", "2", "--token", token), "a token is made for each"),
        (("--listen", "--senders", "2", "--port", "65535"), "no ports for 2 senders"),
        (("h", "--token", token, "--compare", "iperf"), "--compare takes perftest, not 'iperf'"),
        (("h", "--token", token, "--compare", "perftest", "--duration", "0"), "--duration 0 has none"),
        (("h", "--token", token, "--operation", "write,copy"), "'copy' is no operation"),
        (("h", "--token", token, "--operation", ""), "'' is no operation"),
        (("h", "--token", token, "--size", "0"), "--size takes bytes"),
        (("h", "--token", token, "--size", "65M"), "--size takes bytes"),
        (("h", "--token", token, "--size", "1G"), "--size takes bytes"),
        (("h", "--token", token, "--sizes", "5"), "--sizes takes two sizes"),
        (("h", "--token", token, "--sizes", "8..4"), "they rise"),
        (("h", "--token", token, "--sizes", "1..2..3"), "--sizes takes bytes"),
        (("h", "--token", token, "--size", "1", "--sizes", "1..2"), "exclude each other"),
        (("h", "--token", token, "--qps", "65"), "--qps takes a number from 1 to 64"),
        (("h", "--token", token, "--depth", "1"), "--depth takes a number from 2"),
        (("h", "--token", token, "--duration", "-1"), "--duration takes seconds"),
        (("h", "--token", token, "--duration", "nan"), "--duration takes seconds"),
        (("h", "--token", token, "--dscp", "64"), "--dscp takes a number from 0 to 63"),
        (("h", "--token", token, "--ecn"), "--ecn goes with --dscp"),
        (("h", "--token", token, "--tclass", "256"), "--tclass takes a number from 0 to 255"),
        (("h", "--token", token, "--tclass", "97"), "its ECN bits say ECT(1)"),
        (("h", "--token", token, "--tclass", "96", "--dscp", "24"), "it excludes both"),
        (("h", "--token", token, "--suite", "rdma"), "--suite takes baseline, pfc, ecn or gdr"),
        (("h", "--token", token, "--suite", "baseline", "--dscp", "24"), "suite baseline is of packets without marks"),
        (("h", "--token", token, "--suite", "pfc"), "a DSCP is missing"),
        (("h", "--token", token, "--suite", "gdr", "--memory", "host"), "suite gdr is of cuda memory"),
        (("h", "--token", token, "--memory", "ram"), "'ram' is no kind of memory"),
        (("h", "--token", token, "--memory", "host,"), "'' is no kind of memory"),
        (("h", "--token", token, "--port", "0"), "--port takes a number from 1 to 65535"),
        (("h", "--token", token, "--timeout", "0"), "--timeout takes a number from 1"),
        (("h", "--token", token, "--gid-index", "x"), "--gid-index takes a number"),
        (("h", "--token", token, "--store", "x", "--no-store"), "exclude each other"),
        (("h", "--token", token, "--node", "n"), "--site names"),
        (("h", "--token", token, "--format", "pdf"), "unknown format"),
        (("h", "--token", "short"), "token"),
        (("a", "b"), "unexpected operand"),
    ):
        r = run(*args)
        t.ok(r.returncode == 2 and text in r.stderr and not r.stdout, f"usage: {' '.join(args) or 'nothing'}", (r.returncode, r.stderr))


def wrong_token(t):
    with listening("--once") as listener:
        host, token, port = listener.line()
        t.equal(host, "127.0.0.1", "the command line names the address that it listens on")
        wrong = ("B" if token[0] != "B" else "C") + token[1:]
        r = run(host, "--port", port, "--token", wrong, "--no-store")
        t.ok(r.returncode == 1 and "token" in r.stderr, "a wrong token is refused, and that is said", (r.returncode, r.stderr))
        t.ok(listener.process.poll() is None, "the listener waits on")
        r = run(host, "--port", port, "--token", token, "--no-store")
        t.ok(r.returncode == 1 and "token" not in r.stderr, "the right one is let in, and the proof fails because it is one host", (r.returncode, r.stderr))
        t.ok("two hosts" in r.stderr, "which is said where it was asked for", r.stderr)
        status, out, err = listener.end()
        t.ok(status == 1 and not out and "the other end: " in err and "two hosts" in err, "and by the listener, which ends", (status, err))
        r = run(host, "--port", port, "--token", token, "--no-store")
        t.ok(r.returncode == 1, "the token was good for one proof", r.stderr)


def one_after_another(t):
    with listening() as listener:
        first = listener.line()
        run(first[0], "--port", first[2], "--token", first[1], "--no-store")
        second = listener.line()
        t.ok(second and second[1] != first[1], "after a peer there is another token for the next", listener.text)
        r = run(second[0], "--port", second[2], "--token", first[1], "--no-store")
        t.ok(r.returncode == 1 and "token" in r.stderr, "the old one opens nothing", r.stderr)
        listener.process.send_signal(signal.SIGINT)
        status, out, err = listener.end()
        t.ok(status == -signal.SIGINT and not out, "Ctrl-C ends a listener", (status, err))


def children_of(process):
    return [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pids):
    """Whoever is killed may take a moment; none that stays passes."""
    deadline = time.monotonic() + LIMIT
    while any(map(runs, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(runs, pids))


def several_senders(t):
    with listening("--senders", "3") as listener:
        seats = [listener.line() for _ in range(3)]
        if t.ok(all(seats), "a command line for each of three senders", listener.text):
            t.ok(len({token for _, token, _ in seats}) == 3 and len({port for _, _, port in seats}) == 3, "each with its own token and port", listener.text)
        servers = children_of(listener.process)
        t.equal(len(servers), 3, "a process for each")
        r = run(seats[0][0], "--port", seats[0][2], "--token", seats[1][1], "--no-store")
        t.ok(r.returncode == 1 and "token" in r.stderr, "the token of one opens nothing for another", r.stderr)
        listener.process.send_signal(signal.SIGINT)
        status, out, err = listener.end()
        t.ok(status == -signal.SIGINT and not out and gone(servers), "Ctrl-C ends all of them", (status, err))
    with listening("--senders", "2") as listener:
        listener.line(), listener.line()
        servers = children_of(listener.process)
        listener.process.kill()
        t.ok(len(servers) == 2 and gone(servers), "none outlives the listener")
    with listening("--senders", "2", "--timeout", "2") as listener:
        listener.line(), listener.line()
        os.kill(children_of(listener.process)[0], signal.SIGKILL)
        status, out, err = listener.end()
        t.ok(status == 1 and not out and "sender 1: the process that served it was ended by SIGKILL" in err and "sender 2: sender 1 of 2 is gone" in err,
             "what became of each sender is told", (status, out, err))


def port_taken(t):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        r = run("--listen", "--bind", "127.0.0.1", "--senders", "2", "--port", port - 1 if port > 1 else port)
        t.ok(r.returncode == 1 and str(port) in r.stderr and "--token" not in r.stderr, "a port of the second sender that is taken", (r.returncode, r.stderr))


def time_limits(t):
    with listening("--timeout", "1") as listener:
        status, out, err = listener.end()
        t.ok(status == 1 and not out and ("1 s" in err or "1000 ms" in err or "time" in err), "a listener to whom nobody comes ends", (status, err))
    with server(b"") as port:
        r = run("127.0.0.1", "--port", port, "--token", "A" * 26, "--timeout", "1", "--no-store")
        t.ok(r.returncode == 1 and r.stderr, "a server that says nothing is given up", (r.returncode, r.stderr))
    with server(b"SSH-2.0-OpenSSH_9.2p1\r\n" * 20) as port:
        r = run("127.0.0.1", "--port", port, "--token", "A" * 26, "--no-store")
        t.ok(r.returncode == 1 and "railhead" in r.stderr, "a server of something else is no railhead", (r.returncode, r.stderr))


def nobody_there(t):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    r = run("127.0.0.1", "--port", port, "--token", "A" * 26, "--no-store")
    t.ok(r.returncode == 1 and "refused" in r.stderr, "nobody listens", (r.returncode, r.stderr))
    r = run("no-such-host.invalid", "--token", "A" * 26, "--no-store")
    t.ok(r.returncode == 1 and "no-such-host.invalid" in r.stderr, "no such host", (r.returncode, r.stderr))
    with listening() as listener:
        host, _, port = listener.line()
        again = run("--listen", "--bind", host, "--port", port)
        t.ok(again.returncode == 1 and port in again.stderr, "a port that is taken", (again.returncode, again.stderr))


def main():
    t = Tap()
    for case in (usage, wrong_token, one_after_another, several_senders, port_taken, time_limits, nobody_there):
        t.case(case)
    t.done()


main()
