"""SPIR-V of LLVM 22 as PoCL 3.1 takes it: as the bitcode of LLVM 15 that llvm-spirv makes of it.

PoCL has no clCreateProgramWithIL of its own here (its IL version is empty), but clCreateProgramWithBinary takes bitcode
for SPIR, with the build options `-x spir -spir-std=1.2`. llvm-spirv 14 and 15 stop at an OpConstantNull of a scalar
type, which LLVM 22 writes for 0: it becomes the constant 0 that it means.
"""
import shutil
import struct
import subprocess

BUILD_OPTIONS = "-x spir -spir-std=1.2"

_TYPE_BOOL, _TYPE_INT, _TYPE_FLOAT = 20, 21, 22
_CONSTANT_FALSE, _CONSTANT, _CONSTANT_NULL = 42, 43, 46


def translator():
    """The program that translates SPIR-V to bitcode, or None."""
    return next(filter(None, map(shutil.which, ("llvm-spirv-15", "llvm-spirv-14"))), None)


def without_scalar_nulls(module):
    words = struct.unpack(f"<{len(module) // 4}I", module)
    widths, out, at = {}, list(words[:5]), 5
    while at < len(words):
        length, opcode = words[at] >> 16, words[at] & 0xffff
        instruction = words[at:at + length]
        if opcode == _TYPE_BOOL:
            widths[instruction[1]] = 1
        elif opcode in (_TYPE_INT, _TYPE_FLOAT):
            widths[instruction[1]] = instruction[2]
        elif opcode == _CONSTANT_NULL and instruction[1] in widths:
            width = widths[instruction[1]]
            values = [] if width == 1 else [0] * ((width + 31) // 32)
            opcode = _CONSTANT_FALSE if width == 1 else _CONSTANT
            instruction = ((3 + len(values)) << 16 | opcode, *instruction[1:3], *values)
        out += instruction
        at += length
    return struct.pack(f"<{len(out)}I", *out)


def to_bitcode(spv, bitcode):
    """Writes the bitcode; True when that was possible."""
    with open(spv, "rb") as file:
        module = without_scalar_nulls(file.read())
    rewritten = f"{bitcode}.spv"
    with open(rewritten, "wb") as file:
        file.write(module)
    return subprocess.run([translator(), "-r", rewritten, "-o", bitcode]).returncode == 0
