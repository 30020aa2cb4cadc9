#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Strangers before `railhead prove --listen`: whatever they say, and however many they are, it neither ends, grows nor keeps out the right peer.

What the door does with each byte is tested in tests/prove/test_wire_hostile.c; here it is the program.
"""

import contextlib
import os
import resource
import socket
import struct
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), os.path.dirname(os.path.abspath(__file__))]
from tap import Tap  # noqa: E402
from prove_listener import LIMIT, listening, run  # noqa: E402

CROWD = 1000
# Handshakes that a listener hears at a time (src/prove/wire_listen.c), and some for itself.
GUESTS = 128
# A crowd costs a listener its fixed slots, whatever it sends; the sanitizers keep what was freed.
GROWN_KB = 32 << 10
HELLO = struct.pack(">I", 45) + b"\1RHPROVEC" + struct.pack(">HH", 1, 1) + b"n" * 32


def connect(port):
    return socket.create_connection(("127.0.0.1", int(port)), timeout=LIMIT)


def memory_kb(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return None


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def settles(look, wanted):
    """The value once it is `wanted`, or the last one."""
    for _ in range(LIMIT * 10):
        if (value := look()) == wanted:
            break
        time.sleep(0.1)
    return value


def thrown_out(s):
    """Everything that the listener says until it closes."""
    heard = b""
    with contextlib.suppress(ConnectionError):
        while piece := s.recv(4096):
            heard += piece
    s.close()
    return heard


def right_peer(t, listener, host, token, port, name):
    """It is let in and heard: two ends on one host have nothing to prove, which is said at both."""
    r = run(host, "--port", port, "--token", token, "--no-store")
    status, _, err = listener.end()
    t.ok(r.returncode == 1 and "two hosts" in r.stderr and status == 1 and "two hosts" in err, f"{name}: then the right peer is served", (r.stderr, err))
    return err


def garbage(t):
    with listening("--once") as listener:
        host, token, port = listener.line()
        pid = listener.process.pid
        before = descriptors(pid)
        for name, said in (
            ("a web browser", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
            ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 64),
            ("a length of 4 GiB", b"\xff\xff\xff\xff" + b"x" * 256),
            ("a length of 16 MiB", struct.pack(">I", 16 << 20) + b"x" * 256),
            ("a frame of nothing", b"\0\0\0\0"),
            ("random bytes", os.urandom(4096)),
        ):
            s = connect(port)
            with contextlib.suppress(ConnectionError):
                s.sendall(said)
            t.equal(thrown_out(s), b"", f"garbage: {name} is shown the door, and told nothing")
        t.ok(listener.process.poll() is None, "garbage: the listener waits on")
        t.equal(settles(lambda: descriptors(pid), before), before, "garbage: no descriptor is left")
        err = right_peer(t, listener, host, token, port, "garbage")
        t.ok("6 connections were refused" in err, "garbage: how many were refused is said", err)


def guesses(t):
    with listening("--once") as listener:
        host, token, port = listener.line()
        for i in range(20):
            wrong = ("b" if token[i] != "b" else "c").join((token[:i], token[i + 1:]))
            r = run(host, "--port", port, "--token", wrong, "--no-store")
            if r.returncode != 1 or "token" not in r.stderr:
                t.ok(False, "guesses: a wrong token is refused", (wrong, r.stderr))
        err = right_peer(t, listener, host, token, port, "guesses")
        t.ok("20 connections were refused" in err and "does not know the token" in err, "guesses: they are counted, and the last one named", err)


@contextlib.contextmanager
def tap_on(port):
    """A port that hands everything on to `port`, and what the connecting end said."""
    said = []

    def hand_on(source, to, keep):
        with contextlib.suppress(OSError):
            while piece := source.recv(4096):
                if keep:
                    said.append(piece)
                to.sendall(piece)
            to.shutdown(socket.SHUT_WR)

    def serve(server):
        with contextlib.suppress(OSError):
            peer, _ = server.accept()
            with peer, connect(port) as to:
                back = threading.Thread(target=hand_on, args=(to, peer, False))
                back.start()
                hand_on(peer, to, True)
                back.join()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server,))
        thread.start()
        yield server.getsockname()[1], said
        thread.join(LIMIT)


def replay(t):
    token = "abcdefghijklmnopqrstuvwxyz"
    with listening("--token", token) as listener:
        host, _, port = listener.line()
        with tap_on(port) as (tapped, said):
            r = run(host, "--port", tapped, "--token", token, "--no-store")
        t.ok("two hosts" in r.stderr, "replay: a session through somebody who listens in", r.stderr)
        listener.end()
    heard = b"".join(said)
    t.ok(len(heard) > 200, "replay: all of it was heard", len(heard))
    # even one that has the same token again
    with listening("--token", token) as listener:
        host, _, port = listener.line()
        s = connect(port)
        with contextlib.suppress(ConnectionError):
            s.sendall(heard)
        answer = thrown_out(s)
        # its hello, and the refusal; no proof, and no message
        t.ok(len(answer) <= 49 + 6 and b"end" not in answer, "replay: it opens nothing", answer)
        right_peer(t, listener, host, token, port, "replay")


def half_open(t):
    with listening("--once") as listener:
        host, token, port = listener.line()
        pid = listener.process.pid
        before = descriptors(pid)
        kept = []
        for i in range(60):
            s = connect(port)
            s.sendall(HELLO[: i % len(HELLO)])
            if i % 3 == 0:
                kept.append(s)
            elif i % 3 == 1:
                s.shutdown(socket.SHUT_WR)
                kept.append(s)
            else:
                # a peer that crashed: RST
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.close()
        t.ok(listener.process.poll() is None, "half-open: the listener waits on")
        t.equal(settles(lambda: descriptors(pid), before), before, "half-open: each has a time limit, and no descriptor is left")
        right_peer(t, listener, host, token, port, "half-open")
        for s in kept:
            s.close()


def crowd(t):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < CROWD + 100:
        t.skip("crowd", f"no more than {hard} descriptors are allowed here")
        return
    with listening("--once") as listener:
        host, token, port = listener.line()
        pid = listener.process.pid
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, CROWD + 100), hard))
        before = descriptors(pid)
        most, sockets = 0, []
        for i in range(CROWD):
            s = connect(port)
            with contextlib.suppress(ConnectionError):
                s.sendall(HELLO[: (i % 3) * 24 + 1])
            sockets.append(s)
            if i % 50 == 49:
                most = max(most, descriptors(pid))
        # a new one is taken before the oldest is pushed out for it
        t.ok(most <= before + GUESTS + 1, f"crowd: {CROWD} connections hold {GUESTS} descriptors at most, and one that is coming", (before, most))
        # they still stand there
        right_peer(t, listener, host, token, port, "crowd")
        for s in sockets:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with listening("--once") as listener:
        host, token, port = listener.line()
        pid = listener.process.pid
        before = descriptors(pid)
        for rounds in range(3):
            for _ in range(CROWD):
                with contextlib.suppress(ConnectionError), connect(port) as s:
                    s.sendall(HELLO)
            if rounds == 0:
                before_kb = memory_kb(pid)
        grown = memory_kb(pid) - before_kb
        t.ok(grown < GROWN_KB, f"crowd: {2 * CROWD} more, one after the other, leave no memory behind", f"{grown} KiB")
        t.equal(settles(lambda: descriptors(pid), before), before, "crowd: and no descriptor")
        right_peer(t, listener, host, token, port, "crowd")


def slow(t):
    """A byte now and then, from many: none keeps its place, none keeps the right one out."""
    with listening("--once") as listener:
        host, token, port = listener.line()
        over = threading.Event()

        def crawl():
            with contextlib.suppress(OSError), connect(port) as s:
                for i in range(len(HELLO)):
                    s.sendall(HELLO[i:i + 1])
                    if over.wait(0.25):
                        return

        threads = [threading.Thread(target=crawl) for _ in range(40)]
        for thread in threads:
            thread.start()
        right_peer(t, listener, host, token, port, "slow")
        over.set()
        for thread in threads:
            thread.join(LIMIT)


def gives_up(t):
    """Strangers do not keep a listener past its time."""
    with listening("--timeout", "3") as listener:
        _, _, port = listener.line()
        over = threading.Event()

        def knock():
            while not over.is_set():
                with contextlib.suppress(OSError), connect(port) as s:
                    s.sendall(HELLO)
                    over.wait(0.05)

        thread = threading.Thread(target=knock)
        thread.start()
        status, out, err = listener.end()
        over.set()
        thread.join(LIMIT)
        t.ok(status == 1 and not out and "nobody who knows the token came" in err and "refused" in err, "a listener before strangers ends with its time, and says how many", (status, err))


def main():
    t = Tap()
    for case in (garbage, guesses, replay, half_open, crowd, slow, gives_up):
        t.case(case)
    t.done()


main()
