#!/usr/bin/env python3
"""Tests the page of `msleaks cfg --html` in a headless Chromium. The page must show the same graphs as --json, for one run and for a
comparison of two runs, even with strange names. The page must be usable by mouse and by keyboard.
   usage: page_test.py BUILD SCRATCH LLVM
"""
import json
import os
import re
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chromium import Chromium, find
from msleaks_e2e import Msleaks, arguments, check, equal, line_of, run, skip

HOSTILE = "</script><img src=x onerror=hacked()>&amp;\"'\n,{{graphs}}"
SECONDS_TO_OPEN = 6  # limit for opening a function of 500 basic blocks, which takes 1 s on an idle machine


class Runs:
    """Builds programs, records runs, and writes pages."""

    def __init__(self, build, scratch, llvm):
        self.msleaks = Msleaks(build, llvm)
        self.scratch = Path(scratch)
        shutil.rmtree(scratch, ignore_errors=True)
        # The page shows the folder's name, so the page must escape these characters.
        self.folder = self.scratch / "a <b>&amp; \"folder'"
        self.folder.mkdir(parents=True)
        self.source = self.folder / "mill.cpp"
        shutil.copy(Path(__file__).with_name("mill.cpp"), self.source)
        os.environ["MSLEAKS_PASS"] = "cfg"

    def record(self, name, rounds, *options, source=None):
        program, folder = self.scratch / name, self.scratch / f"run-{name}-{rounds}"
        self.msleaks.compile(source or self.source, program, *options)
        done = run([self.msleaks.bin / "msleaks-run", "--no-report", "-o", folder, program, str(rounds)])
        check(done.returncode == 0, f"{name}: exit status {done.returncode}\n{done.stderr}")
        return folder

    def cfg(self, *options):
        return run([self.msleaks.bin / "msleaks", "cfg", *options])

    def page(self, name, *options):
        file = self.scratch / f"{name}.html"
        done = self.cfg(*options, "--html", file)
        if "npm" in done.stderr:
            skip(done.stderr.strip())
        check(done.returncode == 0 and not done.stdout and not done.stderr, f"cfg --html: {done}")
        return file

    def json(self, folder):
        return {function["symbol"]: function for function in json.loads(self.cfg(folder, "--json").stdout)}


def text(browser, selector):
    return browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def parsed(script):
    """An expression for the data in a script of the page."""
    return f"JSON.parse(document.getElementById('{script}').textContent)"


def texts(browser, selector):
    return browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


def choose(browser, word):
    """Uses the page's search box to open the function whose name contains this text."""
    browser.key("/")
    browser.evaluate("document.querySelector('#search').value = ''")
    for letter in word:
        browser.key(letter)
    browser.key("Enter")
    check(word in text(browser, "#name"), f"search for {word} leads to {text(browser, '#name')}")


def selected(browser):
    return browser.evaluate("[...document.querySelectorAll('.block.selected')].map(e => Number(e.dataset.block))")


def expect_quiet(browser, page):
    equal("errors of the page", browser.errors(), [])
    equal("what it asks for", browser.requests(), [page.resolve().as_uri()])


def shows_what_json_says(browser, runs, folder, page):
    browser.open(page)
    graphs = runs.json(folder)
    ran = lambda graph: sum(block["instructions"] * (block["count"] or 0) for block in graph["blocks"])
    equal("functions in the list", len(texts(browser, "#functions li")), len(graphs))
    hottest = max(graphs.values(), key=ran)
    equal("the first one", text(browser, "#name"), hottest["function"])
    for symbol in ("_Z5turnsi", "main"):
        graph = graphs[symbol]
        choose(browser, graph["function"])
        equal("blocks", browser.evaluate("[...document.querySelectorAll('.block .amount')].map(e => Number(e.textContent.replace(/,/g, '')))"),
              [block["count"] for block in graph["blocks"]])
        equal("edges", sorted(browser.evaluate("[...document.querySelectorAll('[data-edge]')].map(e => e.dataset.edge)")),
              sorted(edge["name"] for edge in graph["edges"]))
        widths = browser.evaluate("Object.fromEntries([...document.querySelectorAll('[data-edge]')].map(e => [e.dataset.edge, Number(e.querySelector('path').getAttribute('stroke-width'))]))")
        by_count = sorted(graph["edges"], key=lambda edge: edge["count"])
        equal("widths in the order of counts", [widths[edge["name"]] for edge in by_count], sorted(widths.values()))
        hot = max(graph["blocks"], key=lambda block: block["instructions"] * block["count"])["id"]
        equal("the hottest is chosen", selected(browser), [hot])
        equal("its heat", browser.evaluate(f"document.querySelector('[data-block=\"{hot}\"]').style.getPropertyValue('--heat')"), "1.000")
        equal("ways back", browser.evaluate("document.querySelectorAll('[data-edge].back').length"),
              sum(edge["to"] <= edge["from"] for edge in graph["edges"]))
        overlaps = browser.evaluate("""(() => { const boxes = [...document.querySelectorAll('.block rect')].map(e => e.getBoundingClientRect());
            return boxes.filter((a, i) => boxes.some((b, j) => i < j && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length; })()""")
        equal("blocks that lie on each other", overlaps, 0)
    expect_quiet(browser, page)


def source_and_graph_lead_to_each_other(browser, runs, folder, page):
    browser.open(page)
    choose(browser, "turns")
    graph = runs.json(folder)["_Z5turnsi"]
    lines = {block["id"]: block["line"] for block in graph["blocks"]}
    number = line_of(runs.source, "a quarter")
    of_line = [block for block, line in lines.items() if line == number]
    check(of_line, f"no block begins in line {number}: {lines}")
    browser.click(f"[data-block='{of_line[0]}']")
    equal("the block's line", text(browser, ".line.selected .number"), str(number))
    check("a quarter" in text(browser, ".line.selected code"), "the source is not that of the line")
    is_seen = browser.evaluate("""(() => { const a = document.querySelector('.line.selected').getBoundingClientRect(), b = document.querySelector('#source').getBoundingClientRect();
        return a.top >= b.top && a.bottom <= b.bottom; })()""")
    check(is_seen, "the line is not scrolled to")
    never = line_of(runs.source, "std::abort")
    browser.evaluate(f"[...document.querySelectorAll('.line[data-blocks]')].find(e => e.querySelector('.number').textContent == '{never}').id = 'wanted'")
    browser.click("#wanted")
    chosen = selected(browser)
    equal("the line's block", [lines[block] for block in chosen], [never])
    block = graph["blocks"][chosen[0] - 1]
    detail = text(browser, "#detail")
    for name, count in block["classes"].items():
        check(count == 0 or f"{count} {name}" in detail, f"{count} {name}: not in {detail}")
    check(f"depth{block['depth']}" in detail and f"{block['stored_bytes']} B" in detail, f"depth and bytes: {detail}")


def keys_are_enough(browser, page):
    browser.open(page)
    choose(browser, "turns")
    equal("focus behind a search", browser.evaluate("document.activeElement.id"), "functions")
    browser.key("g")
    browser.key("Home")
    equal("Home", selected(browser), [1])
    focus = "Number(document.activeElement.dataset.block)"
    equal("focus", browser.evaluate(focus), 1)
    seen = {1}
    for _ in range(3):
        browser.key("ArrowDown")
        seen.add(browser.evaluate(focus))
    check(len(seen) > 2, f"ArrowDown leads only to {seen}")
    browser.key("ArrowUp")
    browser.key("End")
    equal("End", selected(browser), [browser.evaluate("document.querySelectorAll('.block').length")])
    browser.key("s")
    check(browser.evaluate("document.activeElement.matches('.line[data-blocks]')"), "s does not lead to the source")
    browser.key("ArrowUp")
    line = browser.evaluate("document.activeElement.querySelector('.number').textContent")
    equal("the line that was moved to", text(browser, ".line.selected .number"), line)
    size = "Number(document.querySelector('.scroller svg').getAttribute('width'))"
    before = browser.evaluate(size)
    browser.key("+")
    check(browser.evaluate(size) > before, "+ does not enlarge")
    browser.evaluate("document.querySelector('#search').value = ''; document.querySelector('#search').dispatchEvent(new Event('input'))")
    browser.key("f")
    first = text(browser, "#name")
    browser.key("End")
    check(text(browser, "#name") != first, "End in the list of functions leads nowhere")
    browser.key("?")
    check(browser.evaluate("document.querySelector('dialog').open"), "? does not show the keys")
    unnamed = browser.evaluate("""[...document.querySelectorAll('button, input, [role=button], [tabindex="0"]')].filter(e =>
        !(e.getAttribute('aria-label') || e.textContent.trim() || e.title)).map(e => e.outerHTML)""")
    equal("what has no name for a reader of screens", unnamed, [])


def hostile_names_are_text(browser, runs, folder, page):
    browser.open(page)
    equal("functions", len(texts(browser, "#functions li")), len(runs.json(folder)))
    # The list shows the demangled name in one line, while the graph has the symbol itself.
    index = browser.evaluate(f"{parsed('contents')}.functions.findIndex(row => row.name.includes('onerror'))")
    check(index >= 0, "the hostile function is not in the list")
    browser.evaluate(f"document.getElementById('function{index}').click()")
    graph = browser.evaluate(f"{parsed('contents')}.functions[{index}].graphs[0]")
    equal("its symbol", browser.evaluate(f"{parsed(f'graph{graph}')}.symbol"), HOSTILE)
    check("<img src=x onerror=hacked()>&amp;\"'" in text(browser, "#name"), text(browser, "#name"))
    equal("elements out of names", browser.evaluate("document.querySelectorAll('img, b b, summary > b > *').length"), 0)
    equal("the source's file", browser.evaluate("document.querySelector('summary').title"), str(runs.source))
    expect_quiet(browser, page)


def both_schemes_are_readable(browser, page):
    contrast = """(() => {
        const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        const light = colour => { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
          const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        const between = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
        const style = (selector, name) => getComputedStyle(document.querySelector(selector))[name];
        return { paper: light(getComputedStyle(document.body).backgroundColor), text: between(style('#name', 'color'), style('main > header', 'backgroundColor')),
          hot: between(style('.block.selected .amount', 'fill'), style('.block.selected rect', 'fill')), muted: between(style('#found', 'color'), style('nav', 'backgroundColor')),
          keyword: between(style('.word', 'color'), style('aside', 'backgroundColor')) }; })()"""
    for dark in (False, True):
        browser.open(page, dark=dark)
        found = browser.evaluate(contrast)
        check((found.pop("paper") < 0.2) == dark, f"the scheme is not followed, dark: {dark}")
        check(all(value >= 4.5 for value in found.values()), f"contrasts, dark: {dark}: {found}")


def two_runs_side_by_side(browser, runs, first, second):
    page = runs.page("two-runs", first, "--against", second)
    browser.open(page)
    choose(browser, "turns")
    equal("graphs", browser.evaluate("document.querySelectorAll('.pane svg').length"), 2)
    before, after = (runs.json(folder)["_Z5turnsi"] for folder in (first, second))
    equal("hashes", before["hash"], after["hash"])
    equal("ratios", texts(browser, ".pane:nth-child(2) .block .share"), [
        "=" if a["count"] == b["count"] else f"×{b['count'] / a['count']:.3g}" for a, b in zip(before["blocks"], after["blocks"])])
    browser.click(".pane:nth-child(2) [data-block='1']")
    equal("one block of both", selected(browser), [1, 1])
    check(browser.evaluate("document.querySelector('#note').hidden"), "a note where the graphs are equal")
    expect_quiet(browser, page)


def two_builds_side_by_side(browser, runs, first, other):
    page = runs.page("two-builds", first, "--against", other)
    browser.open(page)
    choose(browser, "main")
    check("graphs differ" in text(browser, "#note"), "nothing says that the graphs differ")
    equal("graphs", browser.evaluate("document.querySelectorAll('.pane svg').length"), 2)
    check(not any("×" in share for share in texts(browser, ".block .share, .count")), "blocks of other graphs are compared")
    equal("chosen of both", len(selected(browser)), 1)
    choose(browser, "turns")
    check(browser.evaluate("document.querySelector('#note').hidden"), "the graph of turns is the same in both")
    choose(browser, "added")
    check("second run only" in text(browser, "#note"), "nothing says that the first has no such function")
    expect_quiet(browser, page)


def changed_page(page, name, change):
    """Writes a copy of the page with a changed first graph, and returns the copy's path."""
    html = page.read_text()
    begin = html.index('id="graph0">') + len('id="graph0">')
    end = html.index("</script>", begin)
    graph = json.loads(html[begin:end])
    change(graph)
    file = page.with_name(name)
    file.write_text(html[:begin] + json.dumps(graph).replace("<", "\\u003c") + html[end:])
    return file


def what_is_not_known_is_said(browser, page):
    def change(graph):
        graph["edges"][0].update(count=None, state="unseen")
        graph["edges"][1].update(state="estimated", error=1200)
        graph["edges"][2].update(count=2**63)  # JavaScript's numbers cannot represent this count exactly
        graph["blocks"][0].update(count=None)
    browser.open(changed_page(page, "unknown.html", change))
    names = browser.evaluate(f"{parsed('graph0')}.edges.map(edge => edge.name)")
    style = lambda edge, name: browser.evaluate(f"getComputedStyle(document.querySelector('[data-edge=\"{names[edge]}\"] path')).{name}")
    red = browser.evaluate("(() => { const e = document.body.appendChild(document.createElement('i')); e.style.color = 'var(--alarm)'; return getComputedStyle(e).color; })()")
    equal("an edge that is not known", [style(0, "stroke"), style(0, "strokeDasharray")], [red, "1.5px, 4px"])
    equal("an estimated one", style(1, "strokeDasharray"), "7px, 4px")
    equal("a measured one", style(2, "strokeDasharray"), "none")
    counts = texts(browser, ".count")
    equal("the first label", counts[0], "?")
    check(counts[1].startswith("~"), f"an estimated count: {counts[1]}")
    check(counts[2].startswith("≈9.223e+18"), f"a rounded count: {counts[2]}")
    equal("a block", text(browser, "[data-block='1'] .amount"), "?")
    label = text(browser, f"[data-edge='{names[1]}'] title")
    check("estimated, standard error 1,200" in label, f"an estimate: {label}")


def arguments_of_a_kernel_are_shown(browser, page):
    def change(graph):
        graph["arguments"] = [{"number": 0, "reads": True, "writes": False, "begin": 0, "end": 64}, {"number": 2, "reads": True, "writes": True, "begin": None, "end": None},
                              {"number": 3, "reads": False, "writes": False, "begin": None, "end": None}]
    browser.open(page)
    check("arguments" not in text(browser, "#facts"), "a function of the host has arguments")
    browser.open(changed_page(page, "arguments.html", change))
    check("arguments0 read, bytes 0 to 64 · 2 read and written · 3 not used" in text(browser, "#facts"), text(browser, "#facts"))


def ir_is_shown_where_it_was_asked_for(browser, runs, plain):
    browser.open(plain)
    equal("IR that nobody asked for", browser.evaluate("document.querySelectorAll('.ir').length"), 0)
    os.environ["MSLEAKS_PASS"] = "cfg;ir"
    folder = runs.record("with-ir", 1000, "-O2", "-g")
    os.environ["MSLEAKS_PASS"] = "cfg"
    browser.open(runs.page("with-ir", folder))
    choose(browser, "turns")
    for block in runs.json(folder)["_Z5turnsi"]["blocks"]:
        lines = block["ir"].splitlines()
        check(lines[0].endswith(":") and "!dbg" not in block["ir"], f"block {block['id']}: {lines}")
        phis = sum(" phi " in line for line in lines)
        equal(f"instructions of block {block['id']}", len(lines) - 1 - phis, block["instructions"])
        browser.click(f"[data-block='{block['id']}']")
        equal("its IR", text(browser, "#detail .ir"), block["ir"])


def any_graph_has_a_layout(browser, build):
    """Checks that the page can draw any edges, even edges that no compiler makes. A file of counts may contain any edges."""
    pages = Path(build) / "analysis/report_page"
    done = run([pages / "node_modules/.bin/esbuild", pages / "src/graphs/layout.ts", "--bundle", "--global-name=layoutModule"])
    check(done.returncode == 0, f"esbuild: {done.stderr}")
    browser.load("about:blank")
    wrong = browser.evaluate(done.stdout + """(() => {
        let seed = 7;
        const random = most => (seed = seed * 48271 % 2147483647) % most;
        for (let round = 0; round < 300; ++round) {
          const size = 1 + random(30), edges = Array.from({ length: random(60) }, () => ({ from: 1 + random(size), to: 1 + random(size), count: random(1000) }));
          const graph = { blocks: Array.from({ length: size }, () => ({})), edges };
          const layout = layoutModule.layoutOf(graph, 120, 46, edges.map(() => 50));
          if (/NaN|undefined|Infinity/.test(JSON.stringify(layout)) || !(layout.width > 0) || layout.edges.some(edge => !edge.path || edge.arrow.includes(null)))
            return JSON.stringify(edges);
          const { blocks } = layout;
          if (blocks.some((a, i) => blocks.some((b, j) => i < j && a.layer === b.layer && Math.abs(a.x - b.x) < 120)))
            return "blocks on each other: " + JSON.stringify(edges);
        }
        return ""; })()""")
    equal("a graph without layout", wrong, "")


def source_that_is_gone_is_said(browser, runs, folder):
    hidden = runs.source.with_suffix(".away")
    runs.source.rename(hidden)
    page = runs.page("no-source", folder)
    hidden.rename(runs.source)
    browser.open(page)
    choose(browser, "turns")
    check("not on this machine" in text(browser, "#source"), text(browser, "#source"))
    check(browser.evaluate("document.querySelectorAll('.line[data-blocks]').length") > 0, "lines without source have no heat")


def many_blocks_open_soon(browser, runs):
    source = runs.scratch / "many.c"
    cases = "".join(f"case {i}: if (x & {1 << i % 20}) sum += rand(); x ^= {i * 7919}; break;\n" for i in range(250))
    source.write_text("#include <stdlib.h>\n__attribute__((noinline)) int many(int n) { int sum = 0;\nfor (int i = 0; i < n; ++i) { int x = rand();\n"
                      f"switch (x % 300) {{\n{cases}}}\nsum += x; }} return sum; }}\nint main(int c, char **v) {{ return many(atoi(v[1])) == 1; }}\n")
    page = runs.page("many", runs.record("many", 100000, source=source), "--function", "^many$")
    begin = time.monotonic()
    browser.open(page)
    blocks = browser.evaluate("document.querySelectorAll('.block').length")
    seconds = time.monotonic() - begin
    check(blocks >= 500, f"only {blocks} blocks")
    print(f"{blocks} blocks: {seconds:.2f} s to open")
    check(seconds < SECONDS_TO_OPEN, f"{seconds:.2f} s for {blocks} blocks")


def refusals_are_one_line(runs, folder):
    page = runs.scratch / "kept.html"
    page.write_text("kept")
    for status, options in ((2, [folder, "--html", page, "--json"]), (2, [folder, "--against", folder]), (2, [folder, "--html", page, "--function", "nosuch"]),
                            (2, [folder, "--html", ""]), (3, [runs.scratch / "missing", "--html", page]),
                            (3, [folder, "--html", page, "--against", runs.scratch]), (4, [folder, "--html", runs.scratch / "no/such.html"])):
        done = runs.cfg(*options)
        equal(f"status of {options}", done.returncode, status)
        check(status == 2 or done.stderr.count("\n") == 1, f"{options}: {done.stderr}")
    equal("a page that was not written", page.read_text(), "kept")
    equal("files left behind", [file.name for file in runs.scratch.iterdir() if re.match(r"\..*html", file.name)], [])


def main():
    build, scratch, llvm = arguments("build", "scratch", "llvm")
    find()
    runs = Runs(build, scratch, llvm)
    first, second = runs.record("mill", 1000), runs.record("mill", 3000)
    other = runs.record("other", 1000, "-DOTHER_BUILD")
    page = runs.page("one", first)
    refusals_are_one_line(runs, first)
    with Chromium() as browser:
        shows_what_json_says(browser, runs, first, page)
        source_and_graph_lead_to_each_other(browser, runs, first, page)
        keys_are_enough(browser, page)
        hostile_names_are_text(browser, runs, first, page)
        both_schemes_are_readable(browser, page)
        two_runs_side_by_side(browser, runs, first, second)
        two_builds_side_by_side(browser, runs, first, other)
        what_is_not_known_is_said(browser, page)
        arguments_of_a_kernel_are_shown(browser, page)
        ir_is_shown_where_it_was_asked_for(browser, runs, page)
        any_graph_has_a_layout(browser, build)
        source_that_is_gone_is_said(browser, runs, first)
        many_blocks_open_soon(browser, runs)


if __name__ == "__main__":
    main()
