#!/usr/bin/env python3
"""Compares the report of a program with the results of two other tools, which measure the same in other ways.

    truth_test.py BUILD SCRATCH SOURCE OPTIMISATION

* Blocks alive at exit: without its search for roots, LeakSanitizer reports every block that was not freed. Bytes, number of
  blocks and place must be equal, in every process. One object file, compiled with the plugin, is linked twice: once unchanged
  and once with LeakSanitizer's runtime, where the instrumentation records nothing.
* Lost blocks among these: LeakSanitizer with its defaults. Compares bytes and number of blocks for each of the user's lines.
* The peak: equal to heaptrack's, within 0.1 %.

Some differences are by design. The code below removes each of them by name, and does not raise the tolerance.
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
    "exitcode": 0,  # the parent checks the program's own exit status
    "max_leaks": 0,
    "fast_unwind_on_malloc": 0,  # the fast unwinder needs frame pointers
    "malloc_context_size": 250,
    "allocator_may_return_null": 1,  # the program itself handles an invalid alignment
    "stack_trace_format": "@%n|%m|%s|%l|%f",
}
# libstdc++ allocates this block when it is loaded, for exceptions when memory is short.
EMERGENCY_POOL = 72704
# A forked child inherits blocks. LeakSanitizer reports those that the child does not free again, for the child. msleaks
# reports a block only where it was allocated, since the child's copy has no memory of its own until it is written.
# Otherwise each worker of a data loader would "leak" all blocks of its parent. This table lists, for each program, the
# lines whose blocks are also alive in a child. msleaks reports these blocks once less.
INHERITED = {"forked.c": ["kept[1] = malloc(2000)"]}


# A place is (file, line) of the first call in the user's own code: in the program, and not in a header of the system.
# If no call of the path is in the user's code, the place is (library,) of the allocator's caller.
def is_own(program, module, file):
    """The same object files, linked with LeakSanitizer's runtime, are called PROGRAM.lsan."""
    return (os.path.basename(module or "").removesuffix(".lsan") == os.path.basename(program).removesuffix(".lsan")
            and file not in (None, "", "<null>") and not file.startswith("/usr/"))


def place_of(program, frames):
    """`frames` are (module, file, line, function), the allocator's caller first. Returns the place, and the lines of the user's own
    code. Code that the compiler generated, and LeakSanitizer's own code, have no line."""
    own = [(os.path.basename(file), line) for module, file, line, _ in frames if is_own(program, module, file) and line]
    return (own[0] if own else (os.path.basename(frames[0][0] or "unknown") if frames else "unknown",)), tuple(own)


def lsan_places(program, output):
    """Reads LeakSanitizer's text. Returns blocks and bytes by place, and the paths."""
    alive, paths = defaultdict(Counter), set()
    for leak in re.split(r"\n(?=(?:Direct|Indirect) leak of )", output)[1:]:
        size, count = map(int, re.match(r"\w+ leak of (\d+) byte\(s\) in (\d+) object\(s\)", leak).groups())
        frames = [line[1:].split("|") for line in map(str.strip, leak.splitlines()) if line.startswith("@")]
        # The first frame is LeakSanitizer's own malloc.
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
            # LeakSanitizer ignores what pthread_create allocates: the dynamic linker's table of thread-local storage
            # for each thread. glibc keeps this table for the next thread.
            if frames and os.path.basename(frames[0][0] or "").startswith("ld-linux"):
                continue
            place, own = place_of(program, frames)
            # In LeakSanitizer malloc(0) has a size of one byte. msleaks reports the requested size.
            alive[place].update(bytes=path["bytes"] or path["count"], count=path["count"])
            if path["complete"]:
                paths[own] = row
            if own and "reason" not in row:
                site = row["site"]
                # The site is the first of these lines. If functions only allocate for their callers, it is the line of
                # their caller.
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
    # A word that a finished function has left on the stack looks like a pointer until it is overwritten. So msleaks may
    # report a block as held by a stack while LeakSanitizer reports it as lost.
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
    """heaptrack_print rounds to three digits, so this adds up the events of heaptrack's file as it does.

    A difference of 16 bytes per thread remains. heaptrack loads a library with thread-local storage, so the dynamic
    linker's table has one more entry.
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
                # heaptrack loads libstdc++, with its emergency pool, into each program.
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

    if len(report.json["processes"]) == 1:  # LeakSanitizer reports inherited blocks again
        print("lost: {} blocks, for LeakSanitizer {}".format(*compare_lost([lsan_program], report)))
    if len(report.json["processes"]) > 1:
        print("peak: not compared, heaptrack follows only the first process")
        return
    peak = heaptrack_peak([program], scratch)
    # heaptrack does not record memalign.
    ours = report.heap_peak_bytes("host") - sum(row["bytes"] for row in report.sites("peak") if row["site"]["callee"] == "memalign")
    print(f"peak: {ours} bytes, heaptrack {peak}")
    check(abs(ours - peak) <= peak / 1000, "the peaks differ by more than 0.1 %")


if __name__ == "__main__":
    main()
