#!/usr/bin/env python3
"""Tests the recorded contents of watched blocks (docs/watch.md). Each content has a digest and, with full-content, a file. Successive
files must differ in exactly the bytes that the report names.
   usage: content_test.py BUILD SCRATCH host|opencl
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))
from device_run import Msleaks, build_programs, check, equal, events_of, run  # noqa: E402
from msleaks_e2e import arguments, expect_same, skip  # noqa: E402

SOURCES = Path(__file__).resolve().parent / "programs"
NAME = "weights"


def read_file(path, name=NAME, form=None):
    """Reads a safetensors file. Returns the metadata of the header and the tensor's bytes. `form` is the expected type and shape, by
    default plain bytes."""
    content = Path(path).read_bytes()
    end = 8 + int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8:end]), content[end:]
    check(end % 8 == 0, f"{path}: the bytes begin at {end}")
    tensor = header[name]
    equal(f"{path}: tensor", (tensor["dtype"], tensor["shape"], tensor["data_offsets"]), (*(form or ("U8", [len(data)])), [0, len(data)]))
    return header["__metadata__"], data


def difference(before, after):
    """Returns the offset of the first differing byte, and the number of bytes from there to the last differing byte. Returns None if no
    byte differs."""
    differ = [at for at, (left, right) in enumerate(zip(before, after)) if left != right]
    return (differ[0], differ[-1] + 1 - differ[0]) if differ else None


def recorded(msleaks, scratch, program, watch, *options):
    folder = f"{scratch}/{Path(program).name}-{len(options)}{'-full' if 'full' in watch else ''}"
    done, report = msleaks.run(folder, [program], [f"--watch={watch}", *options])
    expect_same(run([program]), done)
    report.expect_account()
    return folder, report, [event for event in events_of(msleaks, folder, "content") if event["name"] == NAME]


def expect_files(msleaks, scratch, program):
    folder, report, contents = recorded(msleaks, scratch, program, f"{NAME},full-content")
    numbers = [event["file"] for event in contents]
    equal("files", sorted(f"{number}.safetensors" for number in numbers), sorted(os.listdir(f"{folder}/watch")))
    files = [read_file(f"{folder}/watch/{number}.safetensors") for number in numbers]
    for event, (said, _) in zip(contents, files):
        equal("digest", said["digest"], f"xxh3_64:{int(str(event['digest']), 0):x}")
    # Not every pair of successive files is a change, since msleaks also records the content when a watch begins.
    changes = [(event["offset"], event["size"]) for event in events_of(msleaks, folder, "changed")]
    pairs = [difference(before[1], after[1]) for before, after in zip(files, files[1:])]
    for change in changes:
        check(change in pairs, f"no two files differ in {change}: {pairs}")
    tramples = report.json["watch"]
    check(tramples, "nobody tramples")
    for line in tramples:
        said, _ = read_file(f"{folder}/{line['file']}")
        equal("what the file says", (said["operator"], said["step"], said["digest"], said["offset"]), (line["operator"], str(line["step"]), line["digest"], "0"))
    return contents


def main():
    build, scratch, topic = arguments("build", "scratch", "topic")
    os.makedirs(scratch, exist_ok=True)
    msleaks, source = Msleaks(build), SOURCES / f"{topic}.c"
    options = {"opencl": ["-lOpenCL"], "host": []}[topic]
    for name, program in build_programs(build, scratch, source, *options).items():
        if run([program]).returncode == 77:
            skip("no OpenCL device; pocl-opencl-icd brings one")
        contents = expect_files(msleaks, scratch, program)
        digests = [(event["operation"], event["digest"]) for event in contents]
        # Runs the program again with digests alone, and then with full-content but a limit of 0 bytes for files.
        folder, _, again = recorded(msleaks, scratch, program, NAME)
        equal(f"{name}: digests again", [(event["operation"], event["digest"]) for event in again], digests)
        equal(f"{name}: no folder", os.path.exists(f"{folder}/watch"), False)
        folder, report, refused = recorded(msleaks, scratch, program, f"{NAME},full-content", "--watch-max", "0")
        equal(f"{name}: files without room", os.listdir(f"{folder}/watch"), [])
        equal(f"{name}: refused", [event["file"] for event in refused], [2**64 - 1] * len(digests))
        check("--watch-max" in " ".join(report.json["notes"]), f"{name}: {report.json['notes']}")
        rows = {row[0]: row[-3:] for section in report.json["sections"] if section["name"] == "watched" for row in section["rows"]}
        equal(f"{name}: table", rows[NAME], [len(digests), 0, len(digests)])
        print(f"{name}: {len(digests)} contents")


if __name__ == "__main__":
    main()
