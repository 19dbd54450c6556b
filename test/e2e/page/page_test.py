#!/usr/bin/env python3
"""Tests the pages of `msleaks report --html` and `msleaks compare --html` in a headless Chromium. A page must show the same numbers as
--json, also of a run with hostile names. It must run no script but its own, and must be usable by keyboard and on a narrow
screen.

    page_test.py BUILD SCRATCH
"""
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chromium import Chromium, find  # noqa: E402
from msleaks_e2e import REPOSITORY, Msleaks, arguments, check, empty_folder, equal, line_of, run, skip  # noqa: E402

PROGRAM = Path(__file__).with_name("kept.py")
HOSTILE = "</script><img src=x onerror=hacked()>&amp;\"',{{data}}"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY / "tools/python"), "PYTHONDONTWRITEBYTECODE": "1"}
VIEWS = ("summary", "memory", "owners", "flame", "blocks", "steps", "tables")
MOST_BYTES = 5 << 20


class Page:
    """A page in a browser, and what --json says about the same run."""

    def __init__(self, browser, file, report):
        self.browser, self.file, self.report = browser, file, report

    def open(self, fragment="", **how):
        self.browser.open(self.file, fragment=fragment, **how)

    def wait(self, expression):
        return self.browser.wait(expression)

    def value(self, selector):
        """The number that an element shows, before it was rounded for people."""
        return int(self.browser.evaluate(f"document.querySelector({json.dumps(selector)}).dataset.value"))

    def column(self, number, where="main"):
        """The numbers, or else the texts, of a column of the last table there."""
        return self.browser.evaluate(f"[...[...document.querySelectorAll({json.dumps(where + ' table')})].at(-1).tBodies[0].rows]"
                                     f".map(row => Number(row.cells[{number}].dataset.value ?? NaN) || row.cells[{number}].textContent)")

    def expect_harmless(self, what):
        equal(f"{what}: errors", self.browser.errors(), [])
        equal(f"{what}: images", self.browser.evaluate("document.images.length"), 0)
        others = [url for url in self.browser.requests() if not url.startswith(("file://", "about:"))]
        equal(f"{what}: requests", others, [])


def expect_summary(page):
    page.open()
    report = page.report
    equal("peak", page.value('[data-fact="Peak"] dd'), report["peak"]["bytes"])
    equal("leaks", page.value('[data-fact="Leaks"] dd'), report["leaks"]["found"]["bytes"])
    shown = page.browser.evaluate("[...document.querySelectorAll('.finding')].map(f => [f.dataset.kind, Number(f.dataset.saves), f.id])")
    equal("findings", shown, [[found["kind"], found["saves_bytes"], f"finding-{found['id']}"] for found in report["findings"]])
    equal("kind of the first finding", shown[0][0], "growth")
    source = page.browser.evaluate("document.querySelector('.finding pre .here').textContent")
    line = line_of(PROGRAM, "kept here")
    check(source.split()[:2] == [">", str(line)] and "kept.append" in source, f"line of the first finding: {source!r}")


def expect_memory(page):
    series = json.loads(page.browser_series)
    page.open("#memory&by=owner")
    curves = [curve for curve in series["curves"] if curve["by"] == "owner"]
    equal("curves by owner", page.column(0, ".curves"), ["others" if curve["others"] else curve["name"] or "no owner known" for curve in curves])
    equal("most of each owner", page.column(4, ".curves"), [max(curve["bytes"]) or "0 B" for curve in curves])
    check(HOSTILE in page.column(0, ".curves"), f"the owner of the kept blocks: {page.column(0, '.curves')}")
    page.open("#memory&by=place")
    line = f"{PROGRAM.name}:{line_of(PROGRAM, 'kept here')} in answer"
    check(line in page.column(0, ".curves"), f"the place of the kept blocks: {page.column(0, '.curves')}")


def window_rows(page, where="[data-from]"):
    """The rows of the window's table of places, with whole numbers."""
    return page.browser.evaluate(f"""[...document.querySelector({json.dumps(where + ' table')}).tBodies[0].rows].map(row =>
        [...row.cells].map(cell => cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value)))""")


def expect_window(page, ask):
    """The facts of a window are those of a report of this window, and of the moments at its ends."""
    steps = json.loads(page.browser_series)["steps"]
    page.open(f"#memory&from={steps[7]['begin_ns']}&to={steps[20]['begin_ns']}")
    begin, end = (page.browser.evaluate(f"document.querySelector('[data-from]').dataset.{name}") for name in ("from", "to"))
    check(int(begin) <= steps[7]["begin_ns"] < steps[20]["begin_ns"] <= int(end), f"window from {begin} to {end}")
    rows = window_rows(page)
    check(len(rows) > 3 and all(row[0] != "all other places" for row in rows[:-1]), f"rows of the window: {rows}")
    sums = [sum(row[column] for row in rows) for column in range(1, 9)]
    window = ask("--from", f"{begin}ns", "--to", f"{end}ns")
    at_begin, at_end = (ask("--at", f"{moment}ns")["peak"] for moment in (begin, end))
    equal("bytes at the window's begin", sums[0], at_begin["bytes"])
    equal("bytes at its end", sums[6], at_end["bytes"])
    equal("blocks at its end", sums[7], sum(line["count"] for line in at_end["by_site"]))
    born = next(section["rows"] for section in window["sections"] if section["name"] == "allocations")
    equal("bytes and blocks that were born", sums[1:3], [sum(row[1] for row in born), sum(row[2] for row in born)])
    kept = next(row for row in rows if f"{PROGRAM.name}:{line_of(PROGRAM, 'kept here')} " in row[0])
    of_place = [row[1:3] for row in born if row[0] and row[0]["line"] == line_of(PROGRAM, "kept here") and (row[0]["file"] or "").endswith(PROGRAM.name)]
    equal("what the kept place allocated", kept[2:4], [sum(row[0] for row in of_place), sum(row[1] for row in of_place)])
    check(kept[3] >= 13, f"the kept place allocated {kept[3]} blocks in 13 steps")
    inside = [step for step in steps if step["begin_ns"] < int(end) and step["end_ns"] > int(begin)]
    equal("steps of the window", page.column(0, "[data-from]"), [str(step["first"]) for step in inside])


def expect_zoom(page):
    """The address names the shown window, so a link leads to it. The whole run has none."""
    page.open("#memory")
    whole = page.browser.evaluate("document.querySelector('[data-from]').dataset.from")
    page.browser.evaluate("[...document.querySelectorAll('button')].find(b => b.textContent === 'Nearer').click()")
    page.wait("location.hash.includes('from=')")
    check(page.browser.evaluate("Number(document.querySelector('[data-from]').dataset.from)") > int(whole), "the window is the whole run")
    link = page.browser.evaluate("location.hash")
    shown = page.browser.evaluate("document.querySelector('[data-from] p').textContent")
    page.open(link)
    equal("the window of a link", page.browser.evaluate("document.querySelector('[data-from] p').textContent"), shown)
    page.browser.evaluate("[...document.querySelectorAll('button')].find(b => b.textContent === 'Whole run').click()")
    page.wait("!location.hash.includes('from=')")


def expect_what_if(page):
    """A checked finding shows the peak without its blocks."""
    series = json.loads(page.browser_series)
    first = page.report["findings"][0]
    total, removed = (next(curve["bytes"] for curve in series["curves"] if (curve["by"], curve["name"]) == key)
                      for key in (("total", None), ("finding", first["id"])))
    page.open("#memory")
    page.browser.evaluate("document.querySelector('fieldset input').click()")
    shown = page.wait("document.querySelector('[data-mended]')?.dataset.mended")
    equal("peak without the first finding", int(shown), max(all_bytes - bytes for all_bytes, bytes in zip(total, removed)))
    saved = page.report["peak"]["bytes"] - int(shown)
    said = first["evidence"]["saves_total_bytes"]
    check(abs(saved - said) <= said / 100, f"the page says that {saved} bytes are saved, the finding {said}")


def expect_blocks(page):
    page.open("#blocks")
    equal("bars", page.browser.evaluate("document.querySelectorAll('svg rect').length"), len(page.column(0)))
    equal("the largest blocks", page.column(2)[:3], [(4 << 20) + 1] * 3)  # CPython allocates a byte more
    kept = [freed for bytes_, freed in zip(page.column(2), page.column(5)) if bytes_ == (1 << 20) + 1]
    check(len(kept) == 30, f"{len(kept)} blocks of 1 MiB")


def expect_jump(page):
    """A finding leads to the curve of its owner, and to its place in the flame graph. The browser's back button leads back."""
    page.open()
    page.browser.evaluate("[...document.querySelectorAll('.finding button')].find(b => b.textContent.includes('over time')).click()")
    check(page.wait("document.querySelector('.chosen')?.innerText").startswith("</script>"), "the chosen curve is another one")
    page.browser.evaluate("history.back()")
    page.wait("document.querySelector('main').dataset.view === 'summary'")
    page.browser.evaluate("[...document.querySelectorAll('.finding button')].find(b => b.textContent.includes('flame')).click()")
    found = page.wait("document.querySelector('[data-found]')?.textContent")
    check(found.strip().startswith("30.0 MiB of "), f"bytes that are found in the flame graph: {found!r}")


def expect_totals(page):
    peak = page.report["peak"]
    for view, total in (("owners", peak["bytes"]), ("flame&of=peak", peak["bytes"]), ("flame&of=leaks", page.report["leaks"]["bytes"]),
                        ("flame&of=peak&from=callee", peak["bytes"]), ("flame&of=peak&weight=blocks&from=callee", peak["bytes"]),
                        ("flame&of=allocated", page.allocated)):
        page.open(f"#{view}")
        equal(f"total of {view}", page.value("[data-total]"), total)
    page.open("#flame&weight=blocks")
    blocks = sum(site["count"] for site in peak["by_site"])
    check(f" {blocks:,} blocks (100.0 %)" in page.browser.evaluate("document.querySelector('[aria-live=polite]').textContent"), "blocks at the peak")
    page.open("#owners")
    equal("owners", sorted(page.column(1), reverse=True), [owner["bytes"] for owner in peak["by_owner"]])
    page.open("#tables&table=sizes")
    rows = next(section["rows"] for section in page.report["sections"] if section["name"] == "sizes")
    equal("rows of a table", page.column(1), [row[1] for row in rows])


def expect_steps(page):
    page.open("#steps")
    steps = json.loads(page.browser_series)["steps"]
    said = page.browser.evaluate("document.querySelector('[data-departs]').textContent")
    check(said.startswith("At least half of the steps leave 1.00 MiB"), said)
    equal("peaks of the steps", page.column(3), [step["peak_bytes"] for step in steps])
    equal("bytes at their ends", page.column(4), [step["end_bytes"] for step in steps])


def expect_usable(page):
    """Each view fits a narrow screen, in the dark, too, and its controls have names. The keyboard reaches another view."""
    for view in VIEWS:
        for width, dark in ((1280, False), (400, True)):
            page.open(f"#{view}", width=width, dark=dark)
            page.expect_harmless(f"{view} at {width} pixels")
            equal(f"width of {view}", page.browser.evaluate("document.documentElement.scrollWidth"), width)
        nameless = page.browser.evaluate("[...document.querySelectorAll('button, select, input, a, [role=img]')]"
                                         ".filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim())).length")
        equal(f"controls of {view} without a name", nameless, 0)
    page.open()
    page.browser.evaluate("document.querySelector('nav a:nth-child(3)').focus()")
    page.browser.key("Enter")
    page.wait("document.querySelector('main').dataset.view === 'owners'")
    equal("current tab", page.browser.evaluate("[...document.querySelectorAll('[aria-current=page]')].map(tab => tab.textContent)"), ["Owners"])
    page.browser.evaluate("document.querySelector('th:nth-child(2) button').click()")
    equal("sorted column", page.browser.evaluate("document.querySelector('th:nth-child(2)').getAttribute('aria-sort')"), "descending")


def expect_aligned(page, compared, order):
    """The launches and ranges that differ are those of --json, with the runs in this order."""
    names = {"new": "gone", "gone": "new"} if order == "BA" else {}
    first, second = ("before", "after") if order == "AB" else ("after", "before")

    def figures(launch):
        return [launch[key] for key in ("before_bytes", "after_bytes", "peak_bytes")] if launch else ["-"]

    wanted = [[f"range {launch['name']}" if launch["kind"] == "range" else launch["name"], names.get(launch["state"], launch["state"]),
               *figures(launch[first]), *figures(launch[second])] for launch in compared["launches"]]
    check(any(row[:2] == ["range answer", "changed"] for row in wanted), f"launches that differ: {wanted}")
    rows = page.browser.evaluate("""[...document.querySelectorAll('.aligned tr[data-state]:not([data-state=same])')].map(row =>
        [...row.cells].map(cell => cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value)))""")
    equal(f"differing launches {order}", rows, wanted)
    shown = page.browser.evaluate("document.querySelectorAll('.aligned tr[data-state=same]').length")
    left_out = page.browser.evaluate("[...document.querySelectorAll('.aligned .left-out')].map(row => parseInt(row.textContent.slice(2)))")
    check(shown + sum(left_out) <= compared["launch_counts"]["same"], f"{shown} equal launches and {left_out} more")


def expect_comparison(page, compared):
    """The page of two runs has the difference in both directions, and the views of both runs."""
    changes = [place["change_bytes"] for place in compared["sites"] if place["state"] != "same"]
    check(changes[0] < -(29 << 20), f"change of the kept place: {changes[0]}")
    for order, sign in (("AB", 1), ("BA", -1)):
        page.open(f"#compare&order={order}")
        page.expect_harmless(f"comparison {order}")
        equal(f"change {order}", page.value('[data-fact="Change"] dd'), sign * compared["at"]["change_bytes"])
        equal(f"changes of places {order}", page.column(2, ".differences")[0], sign * changes[0])
        expect_aligned(page, compared, order)
    for run, side in (("A", "before"), ("B", "after")):
        page.open(f"#summary&run={run}")
        equal(f"peak of {run}", page.value('[data-fact="Peak"] dd'), compared["peak"][side])
        page.browser.evaluate("document.querySelector('nav a:nth-child(3)').click()")
        page.wait("document.querySelector('main').dataset.view === 'memory'")
        equal(f"run of the next view ({run})", page.browser.evaluate("document.querySelector('header select').value"), run)


def record(msleaks, folder, *options):
    done = run([msleaks.bin / "msleaks-run", "--no-report", "-o", folder, "--", shutil.which("python3"), "-B", PROGRAM, HOSTILE, *options],
               env=ENVIRONMENT)
    check(done.stdout == "end\n", f"the program printed {done.stdout!r}, {done.stderr!r}")


def expect_files(msleaks, folder, scratch, file):
    check(file.stat().st_size < MOST_BYTES, f"the page has {file.stat().st_size} bytes")
    refused = run([msleaks.bin / "msleaks", "report", folder, "--html", scratch / "none/page.html"])
    check(refused.returncode == 4 and refused.stderr.count("\n") == 1, f"a folder that does not exist: {refused}")
    full = run([msleaks.bin / "msleaks", "report", folder, "--html", "/dev/full"])
    check(full.returncode != 0 and full.stderr.count("\n") == 1, f"a full device: {full}")
    result = scratch / "result.json"
    result.write_text(run([msleaks.bin / "msleaks", "report", folder, "--json"]).stdout)
    other = scratch / "result.html"
    equal("status for a result file", run([msleaks.bin / "msleaks", "report", result, "--html", other]).returncode, 0)
    return other


def allocated_bytes(msleaks, folder):
    """The bytes of all blocks that were allocated."""
    lines = run([msleaks.bin / "msleaks", "export", folder, "--format", "folded", "--of", "allocated"]).stdout.splitlines()
    return sum(int(line.rsplit(" ", 1)[1]) for line in lines)


def main():
    build, scratch = arguments()[:2]
    find()
    scratch = empty_folder(scratch)
    msleaks = Msleaks(build)
    folder, file = scratch / "run", scratch / "page.html"
    record(msleaks, folder)
    made = run([msleaks.bin / "msleaks", "report", folder, "--html", file])
    if "npm" in made.stderr:
        skip(made.stderr.strip())
    equal("status and output", (made.returncode, made.stdout, made.stderr), (0, "", ""))
    report = json.loads(run([msleaks.bin / "msleaks", "report", folder, "--json"]).stdout)
    other = expect_files(msleaks, folder, scratch, file)
    record(msleaks, scratch / "fixed", "--fixed")
    both = scratch / "both.html"
    done = run([msleaks.bin / "msleaks", "compare", folder, scratch / "fixed", "--html", both])
    equal("status and output of the comparison", (done.returncode, done.stdout, done.stderr), (1, "", ""))
    compared = json.loads(run([msleaks.bin / "msleaks", "compare", folder, scratch / "fixed", "--json"]).stdout)
    with Chromium() as browser:
        page = Page(browser, file, report)
        page.allocated = allocated_bytes(msleaks, folder)
        page.browser_series = run([msleaks.bin / "msleaks", "export", folder, "--format", "series"]).stdout
        for expect in (expect_summary, expect_memory, expect_zoom, expect_what_if, expect_blocks, expect_jump, expect_totals, expect_steps,
                       expect_usable):
            expect(page)
        expect_window(page, lambda *options: json.loads(run([msleaks.bin / "msleaks", "report", folder, "--json", *options]).stdout))
        expect_comparison(Page(browser, both, report), compared)
        without_series = Page(browser, other, report)
        without_series.open("#memory")
        without_series.expect_harmless("a page of a result file")


if __name__ == "__main__":
    main()
