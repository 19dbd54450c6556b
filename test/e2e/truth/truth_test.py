#!/usr/bin/env python3
"""Compares the report of a program with the results of LeakSanitizer and heaptrack.

    truth_test.py BUILD SCRATCH SOURCE OPTIMISATION

* The blocks that are alive at exit must have the same bytes, number and source line, in every process. For this comparison
  LeakSanitizer does not search for pointers to blocks, so it reports every block that was not freed. One object file, compiled with
  the plugin, is linked with and without LeakSanitizer. In the program with LeakSanitizer, the instrumentation records nothing.
* The lost blocks among these must have the same bytes and number for each line of the program. For this comparison
  LeakSanitizer uses its defaults.
* The peak must equal heaptrack's peak, within 0.1 %.

The last two comparisons are made only for a program without child processes.

Some differences between the tools are by design. The code below removes each of them explicitly, and the tolerance stays small.
"""
import os
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, arguments, check, expect_same, line_of, need, run  # noqa: E402

LSAN_OPTIONS = {
    "use_globals": 0,
    "use_stacks": 0,
    "use_registers": 0,
    "use_tls": 0,
    "use_ld_allocations": 0,
    "exitcode": 0,  # keeps the program's own exit status, which a parent process checks
    "max_leaks": 0,
    "fast_unwind_on_malloc": 0,  # the fast unwinder needs frame pointers, which the programs do not have
    "malloc_context_size": 250,
    "allocator_may_return_null": 1,  # lets a request with an invalid alignment fail, instead of ending the program
    "stack_trace_format": "@%n|%m|%s|%l|%f",
}
# Size of a block that libstdc++ allocates when it is loaded. libstdc++ uses this block for exceptions when there is no memory.
EMERGENCY_POOL = 72704
# {program: lines whose blocks are also alive in a forked child}. LeakSanitizer reports such a block for the parent and for the child.
# msleaks reports the block only for the process that allocated it. Otherwise each worker of a data loader would "leak" all blocks of
# its parent.
INHERITED = {"forked.c": ["kept[1] = malloc(2000)"]}


def is_own(program, module, file):
    """Returns whether a call is in the program's own code: in PROGRAM or PROGRAM.lsan, and not in a header of the system."""
    return (os.path.basename(module or "").removesuffix(".lsan") == os.path.basename(program).removesuffix(".lsan")
            and file not in (None, "", "<null>") and not file.startswith("/usr/"))


def place_of(program, frames):
    """Returns the place of a call path, and the path's lines in the program's own code. `frames` has (module, file, line, function) of
    each call, the allocator's caller first. The place is (file, line) of the first call in the program's own code. Without such a
    call, it is (library,) of the allocator's caller. Generated code and LeakSanitizer's own code have no line."""
    own = [(os.path.basename(file), line) for module, file, line, _ in frames if is_own(program, module, file) and line]
    return (own[0] if own else (os.path.basename(frames[0][0] or "unknown") if frames else "unknown",)), tuple(own)


def lsan_places(program, output):
    """Reads LeakSanitizer's text. Returns the blocks and bytes of each place, and the call paths."""
    alive, paths = defaultdict(Counter), set()
    for leak in re.split(r"\n(?=(?:Direct|Indirect) leak of )", output)[1:]:
        size, count = map(int, re.match(r"\w+ leak of (\d+) byte\(s\) in (\d+) object\(s\)", leak).groups())
        frames = [line[1:].split("|") for line in map(str.strip, leak.splitlines()) if line.startswith("@")]
        # Leaves out the first frame, which is LeakSanitizer's own malloc.
        place, own = place_of(program, [(module, file, int(line), function) for number, module, file, line, function in frames
                                        if number != "0"])
        paths.add(own)
        alive[place].update(bytes=size, count=count)
    return alive, paths


def msleaks_places(program, report):
    alive, paths = defaultdict(Counter), {}
    for row in report.alive():
        for path in row["paths"]:
            frames = [(frame["library"], frame["file"], frame["line"], frame["function"]) for frame in path["frames"]]
            # Leaves out the dynamic linker's table of thread-local storage, which pthread_create allocates and glibc keeps for the
            # next thread. LeakSanitizer does not report these tables.
            if frames and os.path.basename(frames[0][0] or "").startswith("ld-linux"):
                continue
            place, own = place_of(program, frames)
            # msleaks reports 0 bytes for malloc(0), and LeakSanitizer reports one byte.
            alive[place].update(bytes=path["bytes"] or path["count"], count=path["count"])
            if path["complete"]:
                paths[own] = row
            if own and "reason" not in row:
                site = row["site"]
                # The site is the first line of the path in the program's own code. If that line is in a wrapper, the site is the line
                # of the wrapper's caller.
                check((os.path.basename(site["file"] or ""), site["line"]) in own, f"the place of {own} is said to be {site}")
    return alive, paths


def compare_alive(lsan_command, report, inherited=(), **kwargs):
    options = ":".join(f"{name}={value}" for name, value in LSAN_OPTIONS.items())
    environment = {**os.environ, "LSAN_OPTIONS": options, "LSAN_SYMBOLIZER_PATH": need("llvm-symbolizer-22")}
    done = run(lsan_command, env=environment, **kwargs)
    check("ERROR: LeakSanitizer: detected memory leaks" in done.stderr, f"LeakSanitizer did not work:\n{done.stderr}")
    expected, seen_paths = lsan_places(lsan_command[0], done.stderr)
    actual, paths = msleaks_places(lsan_command[0], report)
    for place, size in inherited:
        expected[place].subtract(bytes=size, count=1)
    for place in sorted(expected.keys() | actual.keys(), key=str):
        check(+expected[place] == +actual[place],
              f"alive at {place}: LeakSanitizer {dict(expected[place])}, msleaks {dict(actual[place])}")
    for path in paths:
        check(path in seen_paths, f"LeakSanitizer knows no block by way of {path}, only {seen_paths}")
    return sum(place["bytes"] for place in expected.values()), len(expected)


def lsan_lost(lsan_command, **roots):
    options = {name: value for name, value in LSAN_OPTIONS.items() if not name.startswith("use_")} | roots
    environment = {**os.environ, "LSAN_OPTIONS": ":".join(f"{name}={value}" for name, value in options.items()),
                   "LSAN_SYMBOLIZER_PATH": need("llvm-symbolizer-22")}
    lost, _ = lsan_places(lsan_command[0], run(lsan_command, env=environment).stderr)
    return {place: size for place, size in lost.items() if len(place) == 2}


def compare_lost(lsan_command, report):
    # An old word on the stack can look like a pointer to a block. msleaks may then report the block as held by a stack, while
    # LeakSanitizer reports it as lost. The comparison allows this difference.
    theirs, most_theirs = lsan_lost(lsan_command), lsan_lost(lsan_command, use_stacks=0, use_registers=0)
    lost, perhaps = defaultdict(Counter), defaultdict(Counter)
    for finding in report.json["findings"]:
        if finding["kind"] != "leak" or finding["closed_library"]:
            continue
        place = (os.path.basename(finding["site"]["file"] or ""), finding["site"]["line"])
        size = {"bytes": finding["bytes"], "count": finding["count"]}
        if finding["evidence"]["reach"] in ("lost", "indirect"):
            lost[place].update(size)
        elif finding["evidence"].get("holders", [""])[0].startswith(("stack of thread", "register of thread")):
            perhaps[place].update(size)
    for place in sorted(most_theirs.keys() | lost.keys()):
        most = lost[place] + perhaps[place]
        for what in ("bytes", "count"):
            check(lost[place][what] <= most_theirs.get(place, Counter())[what] and theirs.get(place, Counter())[what] <= most[what],
                  f"lost at {place}: LeakSanitizer {theirs.get(place)} to {most_theirs.get(place)}, msleaks {lost[place]} to {most}")
    return sum(place["count"] for place in lost.values()), sum(place["count"] for place in theirs.values())


def heaptrack_peak(command, scratch, **kwargs):
    """Returns the peak according to heaptrack. heaptrack_print rounds to three digits, so this function adds up the events of
    heaptrack's file itself.

    A difference of 16 bytes per thread remains. heaptrack loads a library with thread-local storage, so the dynamic linker's table
    of each thread has one more entry.
    """
    file = Path(scratch) / "heaptrack"
    for old in file.parent.glob("heaptrack*.zst"):
        old.unlink()
    done = run([need("heaptrack"), "-o", file, *command], **kwargs)
    written = sorted(file.parent.glob("heaptrack*.zst"))
    check(written, f"heaptrack wrote nothing:\n{done.stdout}{done.stderr}")
    sizes, live, peak, own_pool = [], 0, 0, None
    linked = run(["ldd", command[0]], **kwargs).stdout
    for event in map(str.split, run(["zstdcat", written[0]]).stdout.splitlines()):
        match event:
            case ["a", size, *_]:
                sizes.append(int(size, 16))
            case ["+", index, *_]:
                # heaptrack loads libstdc++ into each program, so it counts libstdc++'s emergency pool. Leaves out this block.
                if own_pool is None and sizes[int(index, 16)] == EMERGENCY_POOL and "libstdc++" not in linked:
                    own_pool = index
                    continue
                live += sizes[int(index, 16)]
                peak = max(peak, live)
            case ["-", index, *_] if index != own_pool:
                live -= sizes[int(index, 16)]
    return peak


def main():
    build, scratch, source, optimisation = arguments("build", "scratch", "source", "optimisation")
    os.makedirs(scratch, exist_ok=True)
    msleaks = Msleaks(build)
    program, lsan_program = f"{scratch}/{Path(source).stem}", f"{scratch}/{Path(source).stem}.lsan"
    object_file = f"{program}.o"
    msleaks.compile(source, object_file, "-c", flags=[f"-{optimisation}"])
    link = [msleaks.compiler("c" if source.endswith(".c") else "c++"), object_file, "-pthread"]
    check(run([*link, "-o", program]).returncode == 0, "does not link")
    check(run([*link, "-fsanitize=leak", "-o", lsan_program]).returncode == 0, "does not link with LeakSanitizer")

    watched, report = msleaks.run(f"{scratch}/run", [program], ["--no-report"])
    expect_same(run([program]), watched, stderr=True)
    report.expect_account()
    report.expect_sums()

    inherited = [((Path(source).name, line_of(source, text)), int(re.search(r"\((\d+)\)", text)[1]))
                 for text in INHERITED.get(Path(source).name, [])]
    alive, places = compare_alive([lsan_program], report, inherited)
    print(f"alive at exit: {alive} bytes from {places} places, as LeakSanitizer says")

    if len(report.json["processes"]) == 1:  # with a child, LeakSanitizer would report inherited blocks twice
        print("lost: {} blocks, for LeakSanitizer {}".format(*compare_lost([lsan_program], report)))
    if len(report.json["processes"]) > 1:
        print("peak: not compared, heaptrack follows only the first process")
        return
    peak = heaptrack_peak([program], scratch)
    # heaptrack does not record memalign, so the comparison leaves out the blocks of memalign.
    ours = report.heap_peak_bytes("host") - sum(row["bytes"] for row in report.sites("peak") if row["site"]["callee"] == "memalign")
    print(f"peak: {ours} bytes, heaptrack {peak}")
    check(abs(ours - peak) <= peak / 1000, "the peaks differ by more than 0.1 %")


if __name__ == "__main__":
    main()
