"""Compares the calls of Python code in call paths with those that Python itself shows (sys._getframe)."""
import collections
import json
from pathlib import Path

from block_size import bytes_of_block
from msleaks_e2e import Msleaks, check, equal, need

PROGRAM = Path(__file__).parent / "programs/paths.py"


def python_calls(path):
    return tuple((frame["file"], frame["line"], frame["function"]) for frame in path["frames"] if frame["origin"] == "python")


def compare(build, scratch, python, blocks, library=None):
    """Runs programs/paths.py, and compares the path of each of its blocks. `library` interrupts the program. Then events of
    its handler may be dropped. Returns the report, and what the program has printed on stderr."""
    done, report = Msleaks(build).run(Path(scratch) / "run", [need(python), PROGRAM, "1", str(blocks), *([library] if library else [])])
    equal("exit status", done.returncode, 0)
    if not library:
        report.expect_account()
    true = {tuple(map(tuple, path)): count for path, count in json.loads(done.stdout)}
    check(sum(true.values()) >= blocks, "the program kept too few blocks")
    lines = {path[0] for path in true}
    block_bytes = bytes_of_block(python)

    recorded = collections.defaultdict(lambda: (0, 0))  # number and bytes of the blocks on each path
    # A handler may have interrupted the program at thousands of addresses. Then the report leaves out its smallest paths.
    if any(line["more_paths"] for line in report.alive()):
        smallest = min(path["bytes"] for line in report.alive() for path in line["paths"])
        check(smallest < block_bytes, f"paths of {smallest} bytes are left out")
    for line in report.alive():
        for path in line["paths"]:
            calls = python_calls(path)
            if calls and calls[0] in lines:
                recorded[calls] = (recorded[calls][0] + path["count"], recorded[calls][1] + path["bytes"])

    def has_blocks(path, count):
        """Whether the path has so many blocks. Python itself may allocate other blocks on the same path, too."""
        found, size = recorded[path]
        return found >= count and (size == count * block_bytes or (found > count and size > count * block_bytes))

    wrong = {path: count for path, count in true.items() if not has_blocks(path, count)}
    for path, count in list(wrong.items())[:3]:
        print(f"{count} blocks, {recorded[path][0]} were recorded:", *path, sep="\n  ")
    others = [path for path, (count, size) in recorded.items() if path not in true and count and size == count * block_bytes]
    for path in others[:3]:
        print("recorded, but Python shows no such path:", *path, sep="\n  ")
    check(not wrong and not others, f"{len(wrong)} of {len(true)} paths differ; {len(others)} are no paths of Python")
    print(f"{sum(true.values())} blocks on {len(true)} paths of {python}, each as Python shows it")
    return report, done.stderr
