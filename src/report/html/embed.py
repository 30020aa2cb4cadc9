#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make page.h of page.css and page.js: embed.py OUTPUT FILE…

Each file becomes a string, NAME_SUFFIX, and the CSP source of its hash, NAME_SUFFIX_HASH: the page
allows exactly these two texts and nothing else (CSP level 3, section "hash-source").
"""
import base64
import hashlib
import pathlib
import sys


def literal(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main():
    out = ["/* Made by src/report/html/embed.py. */", "#pragma once"]
    for path in map(pathlib.Path, sys.argv[2:]):
        text = path.read_text(encoding="ascii")
        if "</" in text or not text.endswith("\n") or "\r" in text:
            sys.exit(f"{path}: cannot stand inside an HTML element")
        name = path.name.replace(".", "_").upper()
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        out.append(f'#define {name}_HASH "sha256-{digest}"')
        out.append(f"static const char {name}[] =")
        out.append("\n".join("\t" + literal(line) for line in text.splitlines()) + ";")
    pathlib.Path(sys.argv[1]).write_text("\n".join(out) + "\n", encoding="ascii")


main()
