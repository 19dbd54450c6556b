"""Checks that a Python program that does nothing has no finding. Memory that the interpreter keeps until its end is not a leak, even if
the interpreter is installed in a home directory. Also checks that imports of modules have few call paths."""
import json
import os
import shutil
import sys

from run_e2e import Tools, check, expect_status, run_topics

tools = Tools()
python = os.path.realpath(sys.executable)


def expect_no_finding(interpreter, name, **environment):
    done, folder = tools.run([interpreter, "-c", "pass"], name=name, env={**os.environ, **environment})
    expect_status(done, 0)
    report = json.loads(tools.verb("report", folder, "--json").stdout)
    check(report["leaks"]["bytes"] > 100_000, f"Python gave all its memory back: {report['leaks']}")
    check(report["findings"] == [], f"{interpreter}: {report['findings']}")


def of_this_interpreter():
    expect_no_finding(python, "this")


def of_one_in_a_home_directory():
    copy = tools.folder("home") / f"python{sys.version_info.major}.{sys.version_info.minor}"
    copy.parent.mkdir()
    shutil.copy(python, copy)
    expect_no_finding(copy, "copied", PYTHONHOME=sys.base_prefix)


def paths_of_imports(option):
    modules = "import asyncio, decimal, unittest, xml.etree.ElementTree"
    done, folder = tools.run([python, "-c", modules], "--no-report", "--import-paths", option, name=option)
    expect_status(done, 0)
    allocations = tools.verb("dump", folder, "--json", "--kind", "alloc").stdout.splitlines()
    return len({json.loads(line)["site_number"] for line in allocations})


def imports_have_few_paths():
    short, whole = paths_of_imports("short"), paths_of_imports("whole")
    check(short * 4 < whole, f"{short} paths of imports, {whole} with each call apart")


run_topics(of_this_interpreter, of_one_in_a_home_directory, imports_have_few_paths)
