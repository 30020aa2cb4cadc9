# SPDX-License-Identifier: Apache-2.0
"""`railhead prove` as a child: a listener in the background, and the end that connects."""

import contextlib
import os
import re
import subprocess

RAILHEAD = os.environ["RAILHEAD"]
# Nothing here takes longer; whatever waits for a peer that never comes would.
LIMIT = 120
TOKEN = re.compile(r"railhead prove (\S+) --token ([A-Z2-7a-z]{26})(?: --port (\d+))?")


def run(*args):
    return subprocess.run([RAILHEAD, "prove", *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT)


class Listener:
    """A listener in the background, and the command lines that it has printed."""

    def __init__(self, *args):
        self.process = subprocess.Popen([RAILHEAD, "prove", "--listen", "--bind", "127.0.0.1", "--port", "0", "--no-store", *args],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.text = ""

    def line(self):
        """Host, token and port of the next command line; None when it ended without one."""
        for line in self.process.stderr:
            self.text += line
            if found := TOKEN.search(line):
                return found.groups()
        return None

    def end(self):
        out, err = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, out, self.text + err

    def kill(self):
        self.process.kill()
        self.process.communicate()


@contextlib.contextmanager
def listening(*args):
    listener = Listener(*args)
    try:
        yield listener
    finally:
        listener.kill()
