"""Converts SPIR-V of LLVM 22 to a form that PoCL 3.1 accepts: the bitcode of LLVM 15 that `msleaks-cl translate` makes.

PoCL has no clCreateProgramWithIL of its own here (its IL version is empty), but clCreateProgramWithBinary takes bitcode
for SPIR, with the build options `-x spir -spir-std=1.2`.
"""
import shutil
import subprocess

BUILD_OPTIONS = "-x spir -spir-std=1.2"


def translator():
    """The program that translates SPIR-V to bitcode, or None."""
    return next(filter(None, map(shutil.which, ("llvm-spirv-15", "llvm-spirv-14"))), None)


def to_bitcode(msleaks, spv, bitcode):
    """Writes the bitcode. Returns True if that was possible."""
    return subprocess.run([msleaks.bin / "msleaks-cl", "translate", spv, bitcode]).returncode == 0
