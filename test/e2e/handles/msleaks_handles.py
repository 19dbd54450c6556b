"""Contains the common code of the tests of handles. It compares the handles in a report with the program's source. Comments in the
source name the handles that stay open."""
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from msleaks_e2e import Msleaks, check, equal, expect_same, need, run  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"


def forgotten_in(source):
    """Returns {(line, kind): count} for the lines with a comment `forgets KIND N`."""
    found = {}
    for number, line in enumerate(Path(source).read_text().splitlines(), 1):
        for kind, count in re.findall(r"forgets (\w+) (\d+)", line):
            found[number, kind] = int(count)
    return found


def expect_handles(report, source, expected):
    """Checks the handles that were created at lines of this source and stay open. Each must have a complete call path. Handles that the
    driver creates for itself are left out."""
    def is_own(frame):
        return (frame["file"] or "").endswith(Path(source).name)

    def is_called_here(path):
        return is_own(next(frame for frame in path["frames"] if "/libasan.so" not in (frame["library"] or "")))
    rows = [row for row in report.json["handles"] if is_own(row["site"]) and all(map(is_called_here, row["paths"]))]
    found = {(row["site"]["line"], row["kind"]): row["count"] for row in rows}
    equal("rows", len(rows), len(found))
    lines = Path(source).read_text().splitlines()
    for key in sorted(found.keys() | expected.keys()):
        check(found.get(key) == expected.get(key),
              f"line {key[0]}, {key[1]}: {found.get(key)}, not {expected.get(key)}: {lines[key[0] - 1].strip()}")
    for row in rows:
        equal("handles of the paths", sum(path["count"] for path in row["paths"]), row["count"])
        for path in row["paths"]:
            check(path["complete"], f"a path that ends somewhere: {path}")


def compiled(build, scratch, source, *options):
    """Builds the program without and with the plugin. Returns {way: program}."""
    programs = {"hooks": f"{scratch}/{source.stem}", "plugin": f"{scratch}/{source.stem}-instrumented"}
    options = [*options, f"-Wl,-rpath,{scratch}", "-pthread", "-w"]
    done = run([need("gcc"), "-g", "-O1", source, "-o", programs["hooks"], *options])
    check(done.returncode == 0, done.stderr)
    Msleaks(build).compile(source, programs["plugin"], *options)
    return programs


def expect_forgotten(msleaks, folder, source, program):
    """Runs the program normally and with the argument `mended`, and checks that it behaves as without msleaks. The first report has the
    open handles. The second report has none. Returns both reports."""
    reports = []
    for way, expected in ([], forgotten_in(source)), (["mended"], {}):
        plain = run([program, *way])
        equal("the program's status", plain.returncode, 0)
        done, report = msleaks.run(folder + "".join(way), [program, *way])
        expect_same(plain, done)
        report.expect_account()
        expect_handles(report, source, expected)
        reports.append(report)
    return reports
