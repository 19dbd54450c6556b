"""Tests the commands of msleaks on runs that are complete, cut off, missing, or written by a newer version. Checks the exit status, and
that one line gives the reason of a failure."""
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
import time

from run_e2e import Tools, check, expect_account, expect_status, in_namespace, manifest, run_topics, session_gone, wait_until

tools = Tools()
churn, leak, parent = (tools.compile(name) for name in ("churn.c", "leak.c", "parent.c"))
_, RUN = tools.run([churn, tools.scratch / "counts", "2", "50000"], "--no-report", name="whole")
VERBS = {"report": [RUN], "whatif": [RUN, "--drop", "main"], "dump": [RUN], "export": [RUN, "--format", "jsonl"], "recover": [RUN], "sites": [churn], "plugin": []}


def expect_refused(done, status, *words):
    expect_status(done, status, *words)
    check(done.stderr.count("\n") == 1 and done.stderr.startswith("msleaks: "), f"not one line: {done.stderr}")


def copy_of_the_run(name):
    return shutil.copytree(RUN, tools.folder(name))


def refuses_bad_usage():
    expect_refused(tools.verb(), 2, "no verb")
    expect_refused(tools.verb("nonsense"), 2, "nonsense")
    listed = tools.verb("--help").stdout
    for verb, words in VERBS.items():
        check(f"\n  {verb} " in listed, f"--help does not list {verb}")
        expect_refused(tools.verb(verb, *words, "--nosuch"), 2, "--nosuch")
        expect_refused(tools.verb(verb, *words, "surplus"), 2, "surplus")
        if words:
            expect_refused(tools.verb(verb), 2, "required")
    expect_refused(tools.verb("whatif", RUN), 2, "no change")
    expect_refused(tools.verb("whatif", RUN, "--drop", "nosuch.c:1"), 2, "nosuch.c:1")
    expect_refused(tools.verb("whatif", RUN, "--share", "one"), 2, "--share")
    expect_refused(tools.verb("whatif", RUN, "--free-at-last-use", "main"), 2, "did not see all uses")
    expect_refused(tools.verb("dump", RUN, "--kind", "nonsense"), 2, "nonsense")
    expect_refused(tools.verb("dump", RUN, "--kind", ""), 2, "--kind")
    if tools.verb("plugin").returncode == 0:
        expect_refused(tools.verb("plugin", "--llvm", "7"), 2, "LLVM 7")
    else:  # a build without the plugin, such as a sanitized build
        expect_refused(tools.verb("plugin"), 4, "no compiler plugin")


def refuses_what_is_no_run():
    for verb in ("report", "dump", "recover"):
        expect_refused(tools.verb(verb, "missing"), 3, "missing")
        expect_refused(tools.verb(verb, tools.bin), 3, "not a run folder")
    expect_refused(tools.verb("sites", "missing"), 3, "missing")
    expect_refused(tools.verb("sites", RUN / "manifest.json"), 3, "manifest.json")


def says_when_the_output_cannot_be_written():
    for words in (["report", RUN], ["report", RUN, "--json"], ["dump", RUN], ["dump", RUN, "--json"],
                  *(["export", RUN, "--format", name] for name in ("dhat", "folded", "json", "jsonl", "pprof", "series", "speedscope", "text"))):
        with open("/dev/full", "w") as full:
            expect_refused(tools.verb(*words, stdout=full), 4, "could not be written")


def leaves_no_half_file_on_a_full_disk():
    place = tools.folder("small")
    place.mkdir()
    for name in ("json", "jsonl"):
        done = in_namespace(f"""
mount -t tmpfs -o size=4k,mode=0755 none {place}
set +e
{tools.bin}/msleaks export {RUN} --format {name} -o {place}/out
echo "status $?"
ls -A {place}
""")
        check(done.stdout == "status 4\n" and done.stderr.count("\n") == 1, f"{done.stdout} {done.stderr}")
        check("No space left" in done.stderr and "out'" in done.stderr, f"what went wrong is not said: {done.stderr}")


def reports_what_a_cut_trace_still_has():
    folder = copy_of_the_run("cut")
    trace = folder / "trace.mslt"
    trace.write_bytes(trace.read_bytes()[: trace.stat().st_size * 2 // 3])
    done = tools.verb("report", folder, "--all")
    check(done.returncode in (0, 1), f"exit status {done.returncode}: {done.stderr}")
    check("damage  " in done.stdout and ", complete" not in done.stdout, f"no damage in\n{done.stdout}")
    events = json.loads(tools.verb("report", folder, "--json").stdout)["events"]
    check(0 < events["stored"] < 200_000, f"{events}")


def writes_names_in_full_where_nobodys_window_ends():
    # Uses relative paths, which are shorter than a line. A longer path would not be broken and would make the line too wide.
    _, folder = tools.run([f"./{parent.name}", f"./{leak.name}"], "--no-report", name="children", cwd=leak.parent)
    whole = "in a_function_whose_name_is_so_long_that_no_terminal_of_eighty_columns_can_show_all_of_it"
    without = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    report = tools.verb("report", folder, "--all", env=without).stdout
    check(f"{whole}\n" in report, f"cut in a pipe:\n{report}")
    for columns in (60, 100):
        report = tools.verb("report", folder, "--all", env={**without, "COLUMNS": str(columns)}).stdout
        check(max(map(len, report.splitlines())) <= columns, f"wider than COLUMNS={columns}:\n{report}")
    check(tools.verb("report", folder, "--all", env={**without, "COLUMNS": "many"}).stdout.count(whole) > 0, "a COLUMNS that is none")


def shows_the_program_before_its_children():
    _, folder = tools.run([parent, leak], "--no-report", name="children")
    rows = json.loads(tools.verb("report", folder, "--json").stdout)["leaks"]["by_site"]
    check([(row["bytes"], row["child"]) for row in rows] == [(5, None), (10, "leak")], f"{rows}")
    check("child process leak: " in tools.verb("report", folder, "--all").stdout, "the child is not named")


def refuses_what_a_newer_msleaks_wrote():
    folder = copy_of_the_run("newer-trace")
    trace = bytearray((folder / "trace.mslt").read_bytes())
    trace[8] += 1  # increments the version; bytes 24..31 are the checksum of the bytes before them (docs/trace-format.md)
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxh3.restype = ctypes.c_uint64
    trace[24:32] = struct.pack("<Q", xxh3(bytes(trace[:24]), ctypes.c_size_t(24)))
    (folder / "trace.mslt").write_bytes(trace)
    for verb in ("report", "dump"):
        expect_refused(tools.verb(verb, folder), 3, "newer")
    folder = copy_of_the_run("newer-manifest")
    text = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**text, "version": 2}))
    for verb in ("report", "dump", "recover"):
        expect_refused(tools.verb(verb, folder), 3, "manifest.json", "newer", "version 2")
    # If manifest.json is damaged, msleaks must still read the trace.
    (folder / "manifest.json").write_text("{")
    check("note  " in tools.verb("report", folder, "--all").stdout, "a damaged manifest is not said")


def recovers_a_session_without_its_manifest():
    folder = tools.folder("lost")
    counts = tools.scratch / "lost-counts"
    counts.unlink(missing_ok=True)
    collector = subprocess.Popen(tools.command(folder, [churn, counts, "2", "5000000"], "--no-report", "--block-timeout-ms", "100"),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    wait_until(lambda: counts.exists() and counts.stat().st_size > 0, "the program starts")
    time.sleep(0.05)  # the program needs at least a second, so the kill comes while it allocates
    collector.send_signal(signal.SIGKILL)
    check(collector.stdout.read() == "done\n", "the program was harmed")
    collector.wait()
    session = manifest(folder)["session_dir"]
    (folder / "manifest.json").unlink()
    expect_refused(tools.recover(folder), 3, "manifest.json")
    expect_refused(tools.recover(folder, "--session", "/no/such"), 3, "/no/such")
    expect_status(tools.recover(folder, "--session", session), 0)
    expect_account(tools.summary(folder))
    check(manifest(folder)["state"] == "recovered" and any("manifest was lost" in note for note in manifest(folder)["notes"]),
          f"{manifest(folder)}")
    session_gone(folder)
    # If the given session cannot be read, the status must be that of invalid input, not of an internal error.
    folder = copy_of_the_run("unreadable")
    expect_refused(tools.recover(folder, "--session", "/proc/1/fdinfo/" + "x" * 300), 3)


def keeps_the_memory_over_time():
    """The folder of a run with a report contains series.json. The export prints this file. Without the file, it prints the same text."""
    _, folder = tools.run([leak], name="kept")
    kept = (folder / "series.json").read_text()
    series = json.loads(kept)
    total = next(curve for curve in series["curves"] if curve["by"] == "total")
    check(len(total["bytes"]) == len(series["moments"]) > 0, kept)
    check(total["peak_bytes"] == json.loads(tools.verb("report", folder, "--json").stdout)["peak"]["bytes"], kept)
    check(tools.verb("export", folder, "--format", "series").stdout == kept, "the export is not the file")
    (folder / "series.json").unlink()
    check(tools.verb("export", folder, "--format", "series").stdout == kept, "without the file, the export differs")


run_topics(refuses_bad_usage, refuses_what_is_no_run, says_when_the_output_cannot_be_written,
           leaves_no_half_file_on_a_full_disk, reports_what_a_cut_trace_still_has,
           writes_names_in_full_where_nobodys_window_ends, shows_the_program_before_its_children,
           refuses_what_a_newer_msleaks_wrote, recovers_a_session_without_its_manifest, keeps_the_memory_over_time)
