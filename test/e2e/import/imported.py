"""Compares the report of a run with the report of an imported file."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import equal, run  # noqa: E402

HERE = Path(__file__).resolve().parent
KEPT = HERE.parent / "export/programs/kept.cpp"


def findings_of(report):
    """Returns the parts of findings that an import keeps. It has no types and no pointers, so confidence and text may differ."""
    return [(found["kind"], found["heap"], found["bytes"], found["count"], found["site"]["file"], found["site"]["line"], found["site"]["function"])
            for found in report.json["findings"]]


def all_leaks(report):
    """Returns the bytes of leaks, also of those that are suppressed by their library: some formats have no libraries."""
    return report.json["leaks"]["bytes"] + report.json["leaks"]["suppressed"]["bytes"]


def export(msleaks, folder, name, file, *options):
    done = run([msleaks.bin / "msleaks", "export", folder, "--format", name, "-o", file, *options])
    equal(f"export as {name} ({done.stderr})", done.returncode, 0)
    return file


def record_kept(msleaks, scratch):
    """Records a program that keeps a block until its end and loses another one. Returns the run folder and its report. The program is not
    instrumented, because no format tells which functions hand out their blocks."""
    equal("status of the compiler", run(["g++", "-std=c++20", "-g", "-O1", KEPT, "-o", scratch / "kept"]).returncode, 0)
    _, report = msleaks.run(scratch / "kept-run", [scratch / "kept"], options=["--no-report"])
    return scratch / "kept-run", report
