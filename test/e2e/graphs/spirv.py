"""Converts SPIR-V of LLVM 22 by `msleaks-cl translate` to bitcode of LLVM 15, which PoCL 3.1 accepts.

Debian's PoCL does not support clCreateProgramWithIL. But its clCreateProgramWithBinary accepts bitcode for SPIR, with the build options
`-x spir -spir-std=1.2`.
"""
import shutil
import subprocess

BUILD_OPTIONS = "-x spir -spir-std=1.2"


def translator():
    """Returns the path of the program that translates SPIR-V to bitcode, or None."""
    return next(filter(None, map(shutil.which, ("llvm-spirv-15", "llvm-spirv-14"))), None)


def to_bitcode(bin_folder, spv, bitcode):
    """Writes the bitcode. Returns whether the translation succeeded."""
    return subprocess.run([bin_folder / "msleaks-cl", "translate", spv, bitcode]).returncode == 0
