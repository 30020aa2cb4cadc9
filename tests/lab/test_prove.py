#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""railhead prove over real RoCEv2 (rxe) between two guests. Names of cases as arguments: only those."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import prove_faults  # noqa: E402
import prove_healthy  # noqa: E402
from prove_ends import booted, timed  # noqa: E402
from tap import Tap  # noqa: E402


def main():
    t = Tap()
    only = sys.argv[1:]
    cases = {**prove_healthy.CASES, **prove_faults.CASES}
    unknown = [name for name in only if name not in cases]
    if unknown:
        sys.exit(f"no case {', '.join(unknown)}; there are {', '.join(cases)}")
    with booted(t) as up:
        for name, case in cases.items():
            if up and (not only or name in only):
                t.case(timed(case, name))
    t.done()


main()
