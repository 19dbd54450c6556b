#!/usr/bin/env python3
"""Compares `msleaks profile` with `perf script` on the same recording of perf. For each event, the sums of the samples' periods must
be equal. This is checked for the whole recording, and for three functions of the program and its library.
Exits with 77 if perf or objdump is not installed, or if perf has no permission to record.

    perf_test.py BUILD SCRATCH
"""
import collections
import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import arguments, check, equal, need, run, skip  # noqa: E402

HERE = Path(__file__).resolve().parent
MIX = "unsigned long mix<char, long>(unsigned long)"
SAMPLE = re.compile(r"^\s*(\d+)\s+(\S+?):\s+([0-9a-f]+)\s+(.*) \((.*)\)$")


class Recording:
    def __init__(self, msleaks, file):
        self.msleaks = msleaks
        self.file = file

    def profile(self, *words):
        done = run([self.msleaks, "profile", *words])
        check(done.returncode == 0, f"msleaks profile {words}: {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def truth(self):
        """Returns perf script's sums of periods: {event: {(image, symbol): sum}}."""
        done = run(["perf", "script", "-i", self.file, "-F", "event,ip,sym,dso,period"])
        check(done.returncode == 0, f"perf script: {done.stderr}")
        sums = collections.defaultdict(collections.Counter)
        for line in done.stdout.splitlines():
            found = SAMPLE.match(line)
            check(found, f"perf script prints '{line}'")
            period, event, _, symbol, image = found.groups()
            sums[event][image, symbol.split("+0x")[0]] += int(period)
        return sums


def record(folder, name, events, command, *options):
    file = folder / name
    done = run(["perf", "record", *options, "-e", events, "-F", "2000", "-o", file, "--", *command])
    if done.returncode != 0:
        skip(f"perf cannot record here: {done.stderr.strip().splitlines()[:1]}")
    return file


def expect_compressed(msleaks, folder, events, command, ours_of):
    """Tests a compressed recording (perf record -z)."""
    file = record(folder, "compressed.data", events, command, "-z")
    check(b"\x28\xb5\x2f\xfd" in file.read_bytes(), "perf has compressed nothing")
    expect_functions(Recording(msleaks, file), ours_of)


def expect_piped(msleaks, folder, events, command, ours_of):
    """Tests a recording that msleaks reads from a pipe (perf record -o - | msleaks profile … -)."""
    file = folder / "piped.data"
    words = " ".join(shlex.quote(str(word)) for word in ("perf", "record", "-q", "-e", events, "-F", "2000", "-o", "-", "--", *command))
    done = run(["sh", "-c", f"{words} 2>{folder}/stderr | tee {file} | {msleaks} profile counters -"])
    equal("status behind a pipe", (done.returncode, done.stderr), (0, ""))
    recording = Recording(msleaks, file)
    expect_functions(recording, ours_of)
    equal("counters behind a pipe", json.loads(done.stdout), recording.profile("counters", file))


def expect_functions(recording, ours_of):
    """Checks that each of these functions of the program and its library has the sum of periods that perf reports, for each event."""
    truth = recording.truth()
    counters = recording.profile("counters", recording.file)
    functions = recording.profile("functions", recording.file)
    equal("events", sorted(counters), sorted(truth))
    seen = 0
    for event, sums in truth.items():
        equal(f"all of {event}", counters[event], sum(sums.values()))
        for name, (image, symbol) in ours_of.items():
            wanted = sum(value for (path, sym), value in sums.items() if path.endswith(image) and sym == symbol)
            found = functions[name]["counters"][event] * counters[event] / 100 if name in functions else 0
            check(abs(found - wanted) <= 0.5 + wanted * 1e-9, f"{event} of {name}: {found}, perf says {wanted}")
            seen += wanted > 0
        total = sum(function["counters"][event] for function in functions.values())
        check(abs(total - 100) < 1e-6, f"{event}: functions have {total} percent together")
    check(seen >= len(ours_of), f"only {seen} functions of {list(ours_of)} were met")
    return functions


def expect_code(recording, functions, name, image):
    """Checks the lines of a function. The lines are the function's instructions as objdump prints them, with all its samples."""
    code = recording.profile("code", recording.file, name)
    equal(f"lines of {name}", len(code), functions[name]["length"])
    check(sorted(address for _, address, _ in code) == [address for _, address, _ in code], "addresses fall")
    shares = sum(counters["cpu-clock"] for counters, _, _ in code)
    check(abs(shares - 100) < 1e-6, f"the lines of {name} have {shares} percent")
    shown = run(["objdump", "-d", "--no-show-raw-insn", image]).stdout
    for _, address, text in code:
        check(f"{address:x}:{text}\n" in shown, f"{name} at {address:#x}: '{text}' is not what objdump shows")


def expect_round_trip(recording, folder):
    """Converts a recording to LNT's format and back. Only the precision of numbers may be lost."""
    stored = folder / "hot.lntprof"
    equal("upgrade", run([recording.msleaks, "profile", "upgrade", recording.file, stored]).returncode, 0)
    equal("counters", recording.profile("counters", stored), recording.profile("counters", recording.file))
    before, after = recording.profile("code", recording.file), recording.profile("code", stored)
    equal("functions", sorted(after), sorted(before))
    for name, lines in before.items():
        equal(f"code of {name}", [line[1:] for line in after[name]], [line[1:] for line in lines])
        for (old, *_), (new, *_) in zip(lines, after[name]):
            check(all(abs(new[key] - value) <= value * 1e-6 for key, value in old.items()), f"{name}: {old} became {new}")
    again = folder / "again.lntprof"
    run([recording.msleaks, "profile", "upgrade", stored, again])
    check(again.read_bytes() == stored.read_bytes(), "a file that is written again differs")
    report = recording.profile("report", recording.file)
    check(report["tests"][0]["execution_time"] > 0, f"no metric: {report}")


def expect_without(recording, program):
    """Tests a profile without objdump, without the program's file, and with another file at its path. A line on stderr must give the
    reason. Without objdump, the output must have offsets instead of instructions."""
    done = run([recording.msleaks, "profile", "code", recording.file], env={**os.environ, "PATH": "/nowhere"})
    equal("status", done.returncode, 0)
    check("no objdump" in done.stderr, f"nothing is said: {done.stderr}")
    code = json.loads(done.stdout)[MIX]
    check(code and all(text.startswith("<+0x") for _, _, text in code), f"lines have no offsets: {code}")
    program.rename(program.with_suffix(".gone"))
    done = run([recording.msleaks, "profile", "functions", recording.file])
    check(str(program) in done.stderr, f"nothing is said of the program that is gone: {done.stderr}")
    check(f"[{program.name}]" in json.loads(done.stdout), "its samples are gone")
    # Another program now has the path of the recorded program. msleaks must not show the other program's code.
    shutil.copy("/bin/true", program)
    done = run([recording.msleaks, "profile", "functions", recording.file])
    check("changed since" in done.stderr, f"a wrong program is believed: {done.stderr}")
    program.with_suffix(".gone").replace(program)


def build(folder, *flags):
    program, library = folder / "hot", folder / "library.so"
    for words in (["g++", "-std=c++20", "-O1", "-Wl,--build-id", *flags, HERE / "programs/hot.cpp", "-o", program],
                  ["gcc", "-O1", "-shared", "-fPIC", HERE / "programs/library.c", "-o", library]):
        done = run(words)
        check(done.returncode == 0, done.stderr)
    return program, library


def main():
    build_folder, scratch = arguments("build", "scratch")
    need("perf"), need("objdump")
    ours_of = {MIX: ("/hot", "mix<char, long>"), "sum(unsigned long)": ("/hot", "sum"),
               "in_library": ("/library.so", "in_library")}
    for name, flags in (("pie", ["-pie", "-fPIE"]), ("fixed", ["-no-pie", "-fno-pie"])):
        folder = Path(scratch) / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        program, library = build(folder, *flags)
        file = record(folder, "perf.data", "cpu-clock,page-faults", [program, "parent", library])
        recording = Recording(Path(build_folder) / "bin" / "msleaks", file)
        functions = expect_functions(recording, ours_of)
        expect_code(recording, functions, MIX, program)
        expect_code(recording, functions, "in_library", library)
        expect_round_trip(recording, folder)
        expect_without(recording, program)
        for expect in expect_compressed, expect_piped:
            expect(recording.msleaks, folder, "cpu-clock,page-faults", [program, "parent", library], ours_of)
        print(f"{name}: {len(functions)} functions")


if __name__ == "__main__":
    main()
