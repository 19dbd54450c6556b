#!/usr/bin/env python3
"""Counts the passed, failed and skipped tests in the result files of one or more ctest runs.

    count_tests.py [--times] FILE.xml...      JUnit files of `ctest --output-junit`; --times: the ten slowest tests

Prints a line for every test that failed or was skipped (with its reason). Prints the end of the output of the first five failed
tests. The last line is `N passed, N failed` (`, N skipped`). A ctest entry that runs lit counts as the tests that lit ran. Exit
status 1 when a test failed, or when no test ran at all.
"""
import os
import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter

# lit's summary, e.g. "  Passed           : 12 (80.00%)"
LIT_RESULTS = {
    "Passed": "passed",
    "Passed With Retry": "passed",
    "Expectedly Failed": "passed",
    "Failed": "failed",
    "Unexpectedly Passed": "failed",
    "Unresolved": "failed",
    "Timed Out": "failed",
    "Unsupported": "skipped",
    "Skipped": "skipped",
}
SHOWN_TESTS, SHOWN_LINES, SLOWEST = 5, 60, 10
LIT_LINE = re.compile(r"^\s+(%s)\s*:\s*(\d+)" % "|".join(LIT_RESULTS), re.MULTILINE)


def count(test):
    """Returns the counts of one ctest entry, and the reason if it was skipped."""
    output = test.findtext("system-out") or ""
    status = test.get("status")
    if "Total Discovered Tests:" in output or LIT_LINE.search(output) and "Testing Time:" in output:
        counts = Counter()
        for result, number in LIT_LINE.findall(output):
            counts[LIT_RESULTS[result]] += int(number)
        if status == "fail" and not counts["failed"]:
            counts["failed"] = 1
        return counts, ""
    if status == "run":
        return Counter(passed=1), ""
    if status == "fail":
        return Counter(failed=1), ""
    if status == "disabled":
        return Counter(skipped=1), "disabled"
    # A test with the status "notrun" has skipped itself (SKIP_RETURN_CODE, SKIP_REGULAR_EXPRESSION), or ctest could not
    # start it.
    skipped = test.find("skipped")
    if skipped is None or not skipped.get("message", "").startswith("SKIP_"):
        return Counter(failed=1), ""
    reason = re.search(r"(?i)^.*skipped:? *(.*)$", output, re.MULTILINE)
    return Counter(skipped=1), reason.group(1) if reason else "no reason given"


def show_output(suite, test):
    """Prints the end of a failed test's output. In a CI service, only the log remains."""
    lines = (test.findtext("system-out") or "").rstrip().splitlines()
    print(f"== {suite}: {test.get('name')} printed" + (f" (the last {SHOWN_LINES} of {len(lines)} lines)" if len(lines) > SHOWN_LINES else ""))
    print("\n".join(lines[-SHOWN_LINES:]))


def show_slowest(tests):
    """Prints the tests that took longest, in seconds of real time."""
    print(f"== the {min(SLOWEST, len(tests))} slowest tests")
    for seconds, suite, name in sorted(tests, reverse=True)[:SLOWEST]:
        print(f"{seconds:8.1f} s  {suite}: {name}")


def main(arguments):
    files = [argument for argument in arguments if argument != "--times"]
    total = Counter()
    failed, taken = [], []
    for file in files:
        suite = os.path.splitext(os.path.basename(file))[0]
        try:
            tests = xml.parse(file).getroot().iter("testcase")
        except (OSError, xml.ParseError) as error:
            print(f"FAILED   {suite}: no results ({error})")
            total["failed"] += 1
            continue
        for test in tests:
            counts, reason = count(test)
            total += counts
            taken.append((float(test.get("time", 0)), suite, test.get("name")))
            if counts["failed"]:
                print(f"FAILED   {suite}: {test.get('name')}")
                failed.append((suite, test))
            elif counts["skipped"]:
                print(f"skipped  {suite}: {test.get('name')}: {reason or counts['skipped']}")
    for suite, test in failed[:SHOWN_TESTS]:
        show_output(suite, test)
    if "--times" in arguments:
        show_slowest(taken)
    line = f"{total['passed']} passed, {total['failed']} failed"
    if total["skipped"]:
        line += f", {total['skipped']} skipped"
    print(line)
    return 0 if total["passed"] and not total["failed"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
