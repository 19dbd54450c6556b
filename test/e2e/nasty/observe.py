"""Checks the report and the trace of a program that ran under msleaks-run against the program's description (case.py)."""
import json
import subprocess

from case import MODES


class Failures:
    """Collects the failed checks by name. A test compares the names with those of a known defect."""

    def __init__(self):
        self.texts = {}

    def __bool__(self):
        return bool(self.texts)

    def __str__(self):
        return "\n".join(f"  {name}: {text}" for name, text in self.texts.items())

    def expect(self, condition, name, text):
        if not condition:
            self.texts[name] = text
        return condition


def watched_command(command, prefix):
    """Returns the shell command with msleaks-run at WATCH, or at the beginning. `exec` replaces the shell, so the status of the command
    shows the signal that killed the program."""
    if "WATCH" in command:
        return command.replace("WATCH", prefix)
    return f"exec {prefix} {command}"


def said_by_program(stdout):
    """Returns the numbers of the program's line `leaked BYTES BLOCKS`."""
    for line in stdout.splitlines():
        words = line.split()
        if words[:1] == ["leaked"]:
            return int(words[1]), int(words[2])
    return None


def json_of(command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        return json.loads(done.stdout), done.stderr
    except json.JSONDecodeError:
        return None, f"exit status {done.returncode}: {done.stdout}{done.stderr}"


def shown(part):
    rows = [*part["by_site"]]
    return "".join(f"\n    {row['bytes']} bytes, {row['count']} blocks: {row['site']['function']} {row['site']['file']}:{row['site']['line']}"
                   f" {row['site'].get('library')} {row['site']['callee']}" for row in rows[:8])


def expect_accounts(binaries, mode, folder, report, case, failures):
    events = report["events"]
    failures.expect(events["produced"] == events["stored"] + events["dropped"], f"{mode}: account", str(events))
    failures.expect(case.dropped or events["dropped"] == 0, f"{mode}: dropped", str(events))
    summary, error = json_of([binaries / "trace_summary", folder / "trace.mslt"])
    if failures.expect(summary is not None, f"{mode}: trace", error):
        bad = [stream for stream in summary["streams"] if stream["produced"] != stream["stored"] + stream["dropped"]]
        failures.expect(not bad, f"{mode}: account", f"threads do not add up: {bad[:3]}")
        failures.expect(not summary["damage"], f"{mode}: damage", str(summary["damage"][:3]))


def expect_complete(mode, report, case, failures):
    complete, notes = report["session"]["complete"], report["notes"]
    if not case.unseen:
        failures.expect(complete, f"{mode}: complete", f"notes {notes}, processes {report['processes'][:5]}")
        return
    failures.expect(not complete, f"{mode}: complete", f"it says so, although it cannot see all; notes {notes}")
    failures.expect(any(case.unseen in note for note in notes), f"{mode}: notes", f"none holds '{case.unseen}': {notes}")


def expect_blocks(mode, report, case, plain, failures):
    blocks = report["blocks"]
    wanted = {"unmatched_frees": case.unmatched, "implicit_frees": case.implicit, "unmatched_retargets": 0, "unknown_heaps": 0}
    for name, number in wanted.items():
        failures.expect(blocks[name] == number, f"{mode}: {name}", f"{blocks[name]}, not {number}; {blocks}")
    failures.expect(blocks["allocs"] >= case.allocs, f"{mode}: allocs", f"{blocks['allocs']}, not {case.allocs}")
    leaks, alive = report["leaks"], report["alive_at_end"]
    expected = case.leaks[mode] if isinstance(case.leaks, dict) else case.leaks
    if expected == "printed":
        expected = said_by_program(plain.stdout)
    failures.expect(expected in (None, (leaks["bytes"], leaks["count"])), f"{mode}: leaks",
                    f"{leaks['bytes']} bytes in {leaks['count']}, not {expected}{shown(leaks)}")
    failures.expect(case.alive in (None, (alive["bytes"], alive["count"])), f"{mode}: alive",
                    f"{alive['bytes']} bytes in {alive['count']}, not {case.alive}{shown(alive)}")
    if mode == "armed" and case.by_pass:
        by_hook = [row for row in leaks["by_site"] if any(path["frames"][0]["origin"] != "pass" for path in row["paths"])]
        failures.expect(not by_hook, f"{mode}: origin", f"not marked by the plugin: {by_hook[:3]}")


def observe_report(binaries, case, mode, folder, plain, failures):
    report, error = json_of([binaries / "msleaks", "report", folder, "--json"])
    if not failures.expect(report is not None, f"{mode}: report", error):
        return
    expect_accounts(binaries, mode, folder, report, case, failures)
    if case.dropped and report["events"]["dropped"] > 0:
        failures.expect(not report["session"]["complete"], f"{mode}: complete", f"although events were dropped: {report['events']}")
    else:
        expect_complete(mode, report, case, failures)
        if case.hooks_blind and mode == "hooks":
            failures.expect(any("not hooked" in note for note in report["notes"]), f"{mode}: notes", f"what it cannot see: {report['notes']}")
            return
        expect_blocks(mode, report, case, plain, failures)
    failures.expect(case.processes in (None, len(report["processes"])), f"{mode}: processes",
                    f"{len(report['processes'])}, not {case.processes}: {[p['command'] for p in report['processes'][:5]]}")
    if mode == "armed" and case.sites:
        sites, error = json_of([binaries / "msleaks", "sites", folder.parent / MODES[mode][0] / "prog", "--json"])
        failures.expect(bool(sites), "marked: sites", error)
    if case.check:
        case.check(mode, report, failures)
