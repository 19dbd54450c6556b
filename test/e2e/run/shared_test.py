"""Tests processes that share memory by a descriptor. The report must count this memory once."""
import json

from run_e2e import Tools, check, expect_account, expect_quiet, run_topics

MIB = 1 << 20
tools = Tools()
program = tools.compile("shared_memory.c")


def reported(way, who):
    plain = tools.run([program, way, who], "--no-report")[0]
    done, folder = tools.run([program, way, who], "--no-report")
    check(done.returncode == 0 and done.stdout == plain.stdout, f"{way}, {who}: {done}")
    expect_account(tools.summary(folder), 0)
    expect_quiet(folder)
    report = json.loads(tools.verb("report", folder, "--json").stdout)
    check(report["session"]["complete"], f"{report['notes']}")
    blocks = report["blocks"]
    check(blocks["unmatched_frees"] == 0 and blocks["implicit_frees"] == 0, f"{way}, {who}: {blocks}")
    return report


def mapped(report):
    return next(heap["bytes"] for heap in report["peak"]["by_heap"] if heap["heap"] == "mapping")


def counts_what_two_processes_share_once():
    for way in "memfd", "shm":
        report = reported(way, "child")
        check(len(report["processes"]) == 2, f"{report['processes']}")
        check(mapped(report) == 64 * MIB, f"{way}: {mapped(report)} bytes of mappings")
        check(64 * MIB <= report["peak"]["bytes"] < 66 * MIB, f"{way}: a peak of {report['peak']['bytes']}")
        check(report["leaks"]["bytes"] == 0, f"{way}: {report['leaks']}")
        place = report["peak"]["by_site"][0]["site"]
        check(place["function"] == "show", f"{way}: {place}")


def counts_what_one_process_shows_twice_once():
    check(mapped(reported("memfd", "twice")) == 64 * MIB, "two mappings of one memfd")


def finds_what_is_never_unmapped():
    report = reported("shm", "forgotten")
    check(report["leaks"]["bytes"] == 64 * MIB and report["leaks"]["count"] == 1, f"{report['leaks']}")


def leaves_private_mappings_of_files_out():
    report = reported("memfd", "private")
    check(report["peak"]["bytes"] < 2 * MIB, f"{report['peak']['bytes']}")


run_topics(counts_what_two_processes_share_once, counts_what_one_process_shows_twice_once, finds_what_is_never_unmapped,
           leaves_private_mappings_of_files_out)
