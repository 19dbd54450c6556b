#!/usr/bin/env python3
"""Imports files of memray, packed and not packed. The sums must be those that memray reads from the same files.

    memray_test.py BUILD SCRATCH
"""
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from msleaks_e2e import SKIPPED, Msleaks, Verb, arguments, check, empty_folder, equal, line_of, run, skip  # noqa: E402

PROGRAM = """import mmap
import threading

kept = []


def keep(blocks):
    for i in range(blocks):
        kept.append(bytearray(100_000 + i))  # stays


def churn(blocks):
    return sum(len(bytearray(50_000)) for _ in range(blocks))


keep(50)
churn(100)
thread = threading.Thread(target=churn, args=(20,))
thread.start()
thread.join()
kept.append(mmap.mmap(-1, 1 << 20))
"""
READER = """import json, sys
from memray import FileReader
reader = FileReader(sys.argv[1])
peak, leaked = (list(read(merge_threads=True)) for read in (reader.get_high_watermark_allocation_records, reader.get_leaked_allocation_records))
kept = [record.size for record in leaked if record.stack_trace(1) and record.stack_trace(1)[0][0] == "keep"]
print(json.dumps({"peak": sum(record.size for record in peak), "leaked": sum(record.size for record in leaked), "kept": sum(kept)}))
"""


class Reporting(Verb):
    name = "report"


def expect_sums(msleaks, python, scratch, *options):
    file = scratch / f"program{len(options)}.bin"
    done = run([python, "-m", "memray", "run", "-q", "-f", *options, "-o", file, scratch / "program.py"])
    equal(f"status of memray ({done.stderr})", done.returncode, 0)
    report = msleaks.report(file)
    run([python, "-m", "memray", "stats", "--json", "-f", "-o", scratch / "stats.json", file])
    stats = json.loads((scratch / "stats.json").read_text())
    read = json.loads(run([python, "-c", READER, file]).stdout)
    rows = report.rows("allocations")
    equal("allocations", sum(row[2] for row in rows), stats["total_num_allocations"])
    equal("bytes in all", sum(row[1] for row in rows), stats["total_bytes_allocated"])
    equal("peak", report.peak_bytes, stats["metadata"]["peak_memory"])
    equal("peak of the records", report.peak_bytes, read["peak"])
    equal("leaks", report.json["leaks"]["bytes"] + report.json["leaks"]["suppressed"]["bytes"], read["leaked"])
    line = line_of(scratch / "program.py", "# stays")
    kept = [row for row in report.sites("leaks") if row["site"]["function"] == "keep" and row["site"]["line"] == line]
    equal("bytes of the line", sum(row["bytes"] for row in kept), read["kept"])
    check(report.json["session"]["source"].startswith("memray "), "another source")
    return file


def main():
    build, scratch = arguments("build", "scratch")
    fetched = run([HERE / "fetch_memray.sh"])
    if fetched.returncode == SKIPPED:
        skip(f"memray cannot be had: {fetched.stderr}")
    equal(f"status of fetch_memray.sh ({fetched.stderr})", fetched.returncode, 0)
    python, scratch = fetched.stdout.strip(), empty_folder(scratch)
    (scratch / "program.py").write_text(PROGRAM)
    msleaks = Msleaks(build)
    plain = expect_sums(msleaks, python, scratch, "--no-compress")
    content = plain.read_bytes().rstrip(b"\0")
    (scratch / "cut.bin").write_bytes(content[: len(content) * 3 // 4] + bytes(100))
    cut = msleaks.report(scratch / "cut.bin")
    check(any("was cut" in note for note in cut.json["notes"]), cut.json["notes"])
    verb = Reporting(msleaks, scratch)
    done = run([python, "-m", "memray", "run", "-q", "-f", "-o", scratch / "packed.bin", scratch / "program.py"])
    equal("status of memray", done.returncode, 0)
    if "without liblz4" in verb.call(scratch / "packed.bin").stderr:
        print("msleaks was built without liblz4, so no packed file was read")
    else:
        expect_sums(msleaks, python, scratch)
    run([python, "-m", "memray", "run", "-q", "-f", "--aggregate", "-o", scratch / "sums.bin", scratch / "program.py"])
    verb.refuse(3, "--aggregate", scratch / "sums.bin")


if __name__ == "__main__":
    main()
