#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel for GPU memory, src/prove/cuda_words.ptx, run by an interpreter of the PTX that it uses.

A machine that has no GPU can so tell that the text does what it says. Semantics: NVIDIA's "Parallel
Thread Execution ISA". Accesses outside the memory, or not aligned, are errors.
"""

import os
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import Tap  # noqa: E402

PTX = Path(os.environ["RAILHEAD_SOURCE"]) / "src/prove/cuda_words.ptx"
M64 = (1 << 64) - 1
BASE = 0x7F0000000000
RESULT = 0x7E0000000000
STEP = 0x9E3779B97F4A7C15 << 24 & M64


class Memory:
    def __init__(self):
        self.parts = {}

    def add(self, base, data):
        self.parts[base] = bytearray(data)

    def place(self, address, size):
        if address % size:
            raise ValueError(f"{size} bytes at 0x{address:x} are not aligned")
        for base, part in self.parts.items():
            if base <= address and address + size <= base + len(part):
                return part, address - base
        raise ValueError(f"{size} bytes at 0x{address:x} are not mapped")

    def load(self, address, size):
        part, at = self.place(address, size)
        return bytes(part[at : at + size])

    def store(self, address, data):
        part, at = self.place(address, len(data))
        part[at : at + len(data)] = data


class Kernel:
    """One .entry: its parameters, its registers with their widths, and its instructions."""

    def __init__(self, text):
        text = re.sub(r"//[^\n]*", "", text)
        self.name = re.search(r"\.entry (\w+)\(", text).group(1)
        self.parameters = {n: int(b) for b, n in re.findall(r"\.param \.u(\d+) (\w+)", text)}
        self.width, self.labels, self.code = {}, {}, []
        body = text[text.index("{", text.index(".entry")) + 1 : text.rindex("}")]
        for statement in re.findall(r"\w+:|[^;:]+;", body):
            statement = " ".join(statement.strip().rstrip(";").split())
            if statement.endswith(":"):
                self.labels[statement[:-1]] = len(self.code)
            elif statement.startswith(".reg"):
                kind, names = re.match(r"\.reg \.(\w+) (.*)", statement).groups()
                for name in names.split(","):
                    self.width[name.strip()] = 1 if kind == "pred" else int(kind[1:])
            else:
                guard, name, rest = re.match(r"(?:@(\w+) )?([\w.]+)\s*(.*)", statement).groups()
                self.code.append((guard, name.split("."), re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+", rest)))


class Thread:
    def __init__(self, kernel, memory, arguments, special):
        self.kernel, self.memory, self.arguments, self.special = kernel, memory, arguments, special
        self.registers = {}

    def value(self, operand, bits=None):
        if operand in self.special:
            value = self.special[operand]
        elif operand in self.kernel.width:
            value = self.registers[operand]  # KeyError: read before it was written
        else:
            value = int(operand, 0)
        return value if bits is None else value & ((1 << bits) - 1)

    def put(self, register, value):
        self.registers[register] = value & ((1 << self.kernel.width[register]) - 1)

    def address(self, operand):
        name, _, offset = operand.strip("[]").partition("+")
        return self.value(name) + int(offset or "0")

    @staticmethod
    def names(operand):
        return [n.strip() for n in operand.strip("{}").split(",")]

    def run(self):
        at = 0
        while True:
            guard, op, args = self.kernel.code[at]
            at += 1
            if guard is not None and not self.registers[guard]:
                continue
            if op[0] == "bra":
                at = self.kernel.labels[args[0]]
            elif op[0] == "ret":
                return
            else:
                self.step(op, args)

    def step(self, op, args):
        name, kind = op[0], op[-1]
        bits = 1 if kind == "pred" else int(kind[1:])
        mask = (1 << bits) - 1
        if name in ("ld", "st") and op[1] != "param":
            self.move(op, args, bits)
        elif name == "ld":
            parameter = args[1].strip("[]")
            if self.kernel.parameters[parameter] != bits:
                raise ValueError(f"{parameter} has not {bits} bits")
            self.put(args[0], self.arguments[parameter])
        elif name == "red":
            self.reduce(op[2], self.address(args[0]), self.value(args[1]))
        elif name == "mov" and args[0].startswith("{"):
            low, high = self.names(args[0])
            self.put(low, self.value(args[1]) & 0xFFFFFFFF)
            self.put(high, self.value(args[1]) >> 32)
        elif name == "mov" and args[1].startswith("{"):
            low, high = self.names(args[1])
            self.put(args[0], self.value(high) << 32 | self.value(low))
        elif name == "setp":
            a, b = self.value(args[1], bits), self.value(args[2], bits)
            tests = {"ge": a >= b, "gt": a > b, "lt": a < b, "eq": a == b, "ne": a != b}
            self.put(args[0], tests[op[1]])
        elif name == "cvt":
            self.put(args[0], self.value(args[1], bits))
        elif name == "mul" and op[1] == "wide":
            self.put(args[0], self.value(args[1], bits) * self.value(args[2], bits))
        elif name == "mad" and op[1] == "lo":
            self.put(args[0], self.value(args[1]) * self.value(args[2]) + self.value(args[3]) & mask)
        else:
            a = self.value(args[1], bits)
            b = self.value(args[2]) if len(args) > 2 else 0
            done = {
                "mov": lambda: a,
                "add": lambda: a + b,
                "sub": lambda: a - b,
                "or": lambda: a | b,
                "and": lambda: a & b,
                "xor": lambda: a ^ b,
                "min": lambda: min(a, b),
                "shl": lambda: a << min(b, bits),
                "shr": lambda: a >> min(b, bits),
            }[name]()
            self.put(args[0], done & mask)

    def move(self, op, args, bits):
        size = bits // 8
        where, what = (args[1], args[0]) if op[0] == "ld" else (args[0], args[1])
        registers, address = self.names(what), self.address(where)
        if ("v2" in op) != (len(registers) == 2):
            raise ValueError("a vector of two has two registers")
        whole = size * len(registers)
        if op[0] == "ld":
            data = self.memory.load(address, whole)
            for i, register in enumerate(registers):
                self.put(register, int.from_bytes(data[i * size : (i + 1) * size], "little"))
        else:
            self.memory.store(address, b"".join(self.value(r, bits).to_bytes(size, "little") for r in registers))

    def reduce(self, what, address, value):
        old = int.from_bytes(self.memory.load(address, 8), "little")
        new = {"min": min(old, value), "add": old + value & M64}[what]
        self.memory.store(address, new.to_bytes(8, "little"))


KERNEL = Kernel(PTX.read_text())


def launch(memory, blocks=2, threads=3, **arguments):
    for block in range(blocks):
        for lane in range(threads):
            special = {"%ctaid.x": block, "%ntid.x": threads, "%tid.x": lane, "%nctaid.x": blocks}
            Thread(KERNEL, memory, arguments, special).run()


def word(state):
    high = state >> 32
    return high << 32 | (state + high) & 0xFFFFFFFF


def expected(state, step, shift, head, end):
    out = bytearray()
    for at in range(head, end):
        place = at + shift // 8
        out.append(word(state + place // 8 * step & M64) >> place % 8 * 8 & 255)
    return bytes(out)


def filled(head, end, state, step, shift, **grid):
    memory = Memory()
    memory.add(BASE, b"\xee" * ((end + 31) // 16 * 16))
    launch(memory, first=BASE, head=head, end=end, state=state, step=step, shift=shift, result=0, **grid)
    return memory


def check(memory, **arguments):
    memory.add(RESULT, b"\xff" * 8 + b"\0" * 8)
    launch(memory, first=BASE, result=RESULT, **arguments)
    answer = memory.load(RESULT, 8), memory.load(RESULT + 8, 8)
    return tuple(int.from_bytes(a, "little") for a in answer)


def fill(t):
    rng = random.Random(1)
    bad = []
    for head in range(16):
        for length in [*range(20), 31, 32, 33, 47, 48, 64, 100, 200]:
            state, shift = rng.getrandbits(64), 8 * rng.randrange(8)
            memory = filled(head, head + length, state, STEP, shift)
            seen = bytes(memory.parts[BASE])
            wanted = expected(state, STEP, shift, head, head + length)
            wanted = b"\xee" * head + wanted + b"\xee" * (len(seen) - head - length)
            if seen != wanted:
                bad.append(f"head {head}, length {length}, shift {shift}: {seen.hex()} not {wanted.hex()}")
    t.ok(not bad, "every byte from head to end is filled, and no other", "\n".join(bad))
    one = filled(3, 1000, 5, STEP, 16, blocks=1, threads=1).parts[BASE]
    many = filled(3, 1000, 5, STEP, 16, blocks=7, threads=32).parts[BASE]
    t.ok(one == many, "the grid may be of any size")
    poison = filled(0, 64, 0x1122334455667788, 0, 0).parts[BASE]
    t.ok(bytes(poison[:64]) == word(0x1122334455667788).to_bytes(8, "little") * 8, "a step of 0 repeats one word")


def compare(t):
    bad = []
    for head, length, shift in ((0, 64, 0), (5, 90, 24), (15, 1, 56), (8, 40, 32)):
        what = {"head": head, "end": head + length, "state": 0xFEDCBA9876543210, "step": STEP, "shift": shift}
        memory = filled(**what)
        if check(memory, **what) != (M64, 0):
            bad.append(f"{what}: right bytes are called wrong")
        part = memory.parts[BASE]
        for at in range(len(part)):
            part[at] ^= 1 << at % 8
            wanted = (at, 1) if head <= at < head + length else (M64, 0)
            seen = check(memory, **what)
            if seen != wanted:
                bad.append(f"{what}, byte {at} wrong: {seen}, not {wanted}")
            part[at] ^= 1 << at % 8
        part[:] = bytes(255 - b for b in part)
        if check(memory, **what) != (head, length):
            bad.append(f"{what}: all wrong, {check(memory, **what)}")
    t.ok(not bad, "every wrong byte from head to end is found and counted, and no other", "\n".join(bad))


def nothing(t):
    memory = Memory()
    memory.add(BASE, b"")
    launch(memory, first=BASE, head=0, end=0, state=1, step=STEP, shift=0, result=0)
    t.ok(True, "a length of 0 touches nothing")


def main():
    t = Tap()
    t.equal(KERNEL.name, "railhead_words", "name of the kernel")
    for case in (fill, compare, nothing):
        t.case(case)
    t.done()


main()
