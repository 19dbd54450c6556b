"""Contains the common code of the tests of `msleaks doctor`. It compiles programs, runs `msleaks doctor` on them, and reads the output."""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, equal, need, plain_compiler, run  # noqa: E402,F401

PROGRAMS = Path(__file__).resolve().parent / "programs"


class Patient:
    def __init__(self):
        build, self.scratch, llvm = arguments("build", "scratch", "llvm")
        Path(self.scratch).mkdir(parents=True, exist_ok=True)
        self.msleaks = Msleaks(build, llvm)

    def build(self, name, source, *options):
        """Compiles and links without the plugin. If the name contains `.so`, the result is a shared library."""
        output = f"{self.scratch}/{name}"
        shared = ["-shared", "-fPIC"] if ".so" in name else []
        command = [plain_compiler(source), "-O1", "-fno-builtin", *shared, PROGRAMS / source, "-o", output, *options]
        done = run(command)
        check(done.returncode == 0, f"{name}: {done.stderr}")
        return output

    def instrument(self, name, source, *options):
        output = f"{self.scratch}/{name}"
        self.msleaks.compile(PROGRAMS / source, output, *options, flags=("-O1", "-fno-builtin"))
        return output

    def examine(self, *command, status, options=()):
        """Runs `msleaks doctor` on the command. Returns {file name of a program or library: its entry in doctor's JSON output}."""
        done = run([self.msleaks.bin / "msleaks", "doctor", "--json", *options, "--", *command])
        what = " ".join(map(str, command))
        equal(f"{what}: exit status; {done.stderr} {done.stdout}", done.returncode, status)
        answer = json.loads(done.stdout)
        for library in answer:
            for key in "library", "instrumented", "llvm", "hooked", "unseen":
                check(key in library, f"{what}: no {key}: {library}")
            for function in library["unseen"]:
                check(all(function[key] for key in ("symbol", "reason", "remedy")), f"{what}: {function}")
        named = {Path(library["library"]).name: library for library in answer}
        equal(f"{what}: something is unseen", any(library["unseen"] for library in answer), status == 1)
        for name, library in named.items():
            system = name.startswith(("libc.so", "ld-linux", "libmsleaks"))
            check(not system or not library["unseen"], f"{what}: of the system: {library}")
        return named


def unseen(library):
    return {function["symbol"]: function for function in library["unseen"]}


def expect_unseen(what, library, symbols, kind, *words):
    """Checks that doctor's entry for the library lists exactly these functions. Each must have this kind, and a reason with these words."""
    found = unseen(library)
    equal(f"{what}: unseen", sorted(found), sorted(symbols))
    for symbol, function in found.items():
        equal(f"{what}: kind of {symbol}", function["kind"], kind)
        for word in words:
            check(word in function["reason"], f"{what}: no '{word}' in '{function['reason']}'")
        check(symbol not in library["hooked"], f"{what}: {symbol} is said to be hooked, too")
