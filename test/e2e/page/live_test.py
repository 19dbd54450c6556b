#!/usr/bin/env python3
"""Tests the page of `msleaks top --web` in a headless Chromium: it shows what a session has allocated until now, and its end. Nobody gets an
answer who does not know the secret of the address.

    live_test.py BUILD SCRATCH
"""
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chromium import Chromium, find  # noqa: E402
from msleaks_e2e import Msleaks, arguments, check, empty_folder, equal, line_of, skip  # noqa: E402

PROGRAM = Path(__file__).with_name("grows.py")
FIRST, SECOND = 64 << 20, 160 << 20
PEAK = "Number(document.querySelector('[data-fact=\"Peak\"] dd')?.dataset.value)"


def status_of(url, data=None):
    try:
        return urllib.request.urlopen(url, data).status
    except urllib.error.HTTPError as error:
        return error.code


def skip_without_page(url):
    try:
        urllib.request.urlopen(url)
    except urllib.error.HTTPError as error:
        reason = error.read().decode().strip()
        check("npm" in reason, reason)
        skip(reason)


def expect_secret(url):
    root = url.rsplit("/", 2)[0]
    equal("the page", status_of(url), 200)
    equal("another page", status_of(url + "other"), 404)
    equal("without the secret", [status_of(root + path) for path in ("/", "/data", "/" + "0" * 32 + "/data")], [404] * 3)
    equal("a POST", status_of(url, b"x"), 405)


def expect_growth(browser, url, files, session):
    browser.load(url)
    browser.wait("document.querySelector('[data-live=running]')")
    check(browser.evaluate(PEAK) < FIRST, "the page is ahead of the program")
    files[0].touch()
    browser.wait(f"{PEAK} >= {FIRST}")
    browser.evaluate("location.hash = '#tables'")
    browser.wait("document.querySelector('main[data-view=tables]')")
    files[1].touch()
    browser.evaluate("location.hash = '#summary'")
    browser.wait(f"{PEAK} >= {SECOND}")
    equal("view", browser.evaluate("document.querySelector('main').dataset.view"), "summary")
    files[2].touch()
    session.wait(60)
    browser.wait("document.querySelector('[data-live=ended]')")
    equal("errors", browser.errors(), [])
    others = [asked for asked in browser.requests() if not asked.startswith((url, "about:"))]
    equal("requests", others, [])
    return browser.evaluate(PEAK)


def main():
    build, scratch = arguments("build", "scratch")
    find()
    scratch = empty_folder(scratch)
    msleaks, folder = Msleaks(build), scratch / "run"
    files = [scratch / name for name in ("first", "second", "third")]
    session = subprocess.Popen([msleaks.bin / "msleaks-run", "-o", folder, "--no-report", sys.executable, "-B", PROGRAM, *files])
    while not (folder / "trace.mslt").exists():
        equal("msleaks-run", session.poll(), None)
    top = subprocess.Popen([msleaks.bin / "msleaks", "top", folder, "--web", "--interval", "0.1"], stdout=subprocess.PIPE, text=True)
    try:
        url = top.stdout.readline().strip()
        check(url.startswith("http://127.0.0.1:"), url)
        skip_without_page(url)
        expect_secret(url)
        silent = socket.create_connection(("127.0.0.1", urlsplit(url).port))  # browsers open such connections, too
        with silent, Chromium() as browser:
            peak = expect_growth(browser, url, files, session)
    finally:
        session.kill()
        top.kill()
    report = msleaks.report(folder).json
    equal("peak", peak, report["peak"]["bytes"])
    check(line_of(PROGRAM, "# growing") in [site["site"]["line"] for site in report["peak"]["by_site"]], "the line of the blocks")
    print(f"peak of the page: {peak} B")


if __name__ == "__main__":
    main()
