#!/usr/bin/env python3
"""This machine's clang compiles a program for AArch64 with the plugin, and qemu-user runs it under msleaks-run for AArch64. The
program behaves as without msleaks. The report of the AArch64 program equals the report of the same source that was compiled for
this machine.

    plugin_test.py BUILD SCRATCH HOST_BUILD SYSROOT SOURCE OPTIMISATION
"""
import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, run  # noqa: E402


class CrossMsleaks(Msleaks):
    """Uses the tools of one build, and the compiler plugin of another build."""

    def __init__(self, prefix, host):
        self.bin = Path(prefix) / "bin"
        self.llvm = host.llvm
        self.plugin = host.plugin


def blocks_at_end(report):
    """Returns the allocation sites that the plugin stored for the program's own lines, with the number of blocks of each."""
    return Counter({(row["site"]["line"], row["site"]["callee"], row["site"]["variable"], row["site"]["type"], row["bytes"]): row["count"]
                    for row in report.alive() if row["site"]["origin"] == "pass"})


def main():
    build, scratch, host_build, sysroot, source, optimisation = arguments(
        "build", "scratch", "host build", "sysroot", "source", "optimisation")
    os.makedirs(scratch, exist_ok=True)
    host = Msleaks(host_build)
    cross = CrossMsleaks(build, host)
    seen = {}
    for name, msleaks, target in (
            ("host", host, []),
            ("aarch64", cross, ["--target=aarch64-linux-gnu", f"--sysroot={sysroot}", f"-fuse-ld=/usr/lib/llvm-{host.llvm}/bin/ld.lld"])):
        program = f"{scratch}/{Path(source).stem}.{name}"
        msleaks.compile(source, program, *target, "-pthread", flags=[f"-{optimisation}"])
        watched, report = msleaks.run(f"{scratch}/run.{name}", [program], ["--no-report"])
        expect_same(run([program]), watched)
        report.expect_account()
        seen[name] = blocks_at_end(report)
    check(seen["aarch64"], "nothing was alive at the end")
    check(seen["aarch64"] == seen["host"], f"only there: {seen['aarch64'] - seen['host']}; only here: {seen['host'] - seen['aarch64']}")
    print(f"{sum(seen['host'].values())} blocks alive at the end, the same on both")


if __name__ == "__main__":
    main()
