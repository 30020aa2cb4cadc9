#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the tables of the support matrix (data/NAME.yaml) as one C array: embed.py OUTPUT INPUT..."""

import sys
from pathlib import Path


def literal(line):
    """One line of a file as a C string: all but plain ASCII as octal, which ends after three digits."""
    out = []
    for byte in line:
        char = chr(byte)
        out.append(char if 0x20 <= byte < 0x7F and char not in '"\\?' else f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def main():
    output, *inputs = sys.argv[1:]
    out = ["/* Written by tools/embed.py. */"]
    tables = sorted(Path(p) for p in inputs)
    for number, path in enumerate(tables):
        out.append(f"static const char text_{number}[] =")
        out += ["\t" + literal(line) for line in path.read_bytes().splitlines(keepends=True)] or ['\t""']
        out[-1] += ";"
    out.append("static const struct { const char *name; const char *text; size_t len; } built_in[] = {")
    for number, path in enumerate(tables):
        out.append(f'\t{{ "{path.stem}", text_{number}, sizeof(text_{number}) - 1 }},')
    out.append("};")
    Path(output).write_text("\n".join(out) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
