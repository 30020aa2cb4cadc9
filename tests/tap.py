# SPDX-License-Identifier: Apache-2.0
"""A few lines of TAP for script tests: each check is one result, a failed one says what it saw."""

import contextlib
import os
import shutil
import sys
import tempfile
import traceback


class Tap:
    def __init__(self):
        self.results = 0
        self.failures = 0

    def ok(self, condition, name, seen=None):
        self.results += 1
        name = " ".join(str(name).split()).replace("#", "\\#")
        print(f"{'ok' if condition else 'not ok'} {self.results} - {name}")
        if not condition:
            self.failures += 1
            if seen is not None:
                for line in str(seen).splitlines()[:40]:
                    print(f"# {line}")
        sys.stdout.flush()
        return bool(condition)

    def equal(self, seen, expected, name):
        return self.ok(seen == expected, name, f"expected {expected!r}\nseen     {seen!r}")

    def skip(self, name, reason):
        """For what a machine truly cannot do; the reason is counted and printed by tests/run."""
        self.results += 1
        print(f"ok {self.results} - {name} # SKIP {reason}")

    def case(self, function):
        """Run a function; an exception is one failed result of its own."""
        try:
            function(self)
        except Exception:  # noqa: BLE001: a test that breaks is a failure, whatever broke
            self.ok(False, f"{function.__name__} ran", traceback.format_exc())

    def done(self):
        print(f"1..{self.results}")
        sys.exit(1 if self.failures else 0)


@contextlib.contextmanager
def public_program(path):
    """A copy of a program that every user can run, wherever the build folder lies."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = os.path.join(folder, os.path.basename(path))
        shutil.copy(path, copy)
        os.chmod(copy, 0o755)
        yield copy
