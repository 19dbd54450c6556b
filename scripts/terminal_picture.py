#!/usr/bin/env python3
"""Reads text from stdin, and writes an SVG picture of a terminal that shows the text.

    some command | terminal_picture.py TITLE > picture.svg

docs/pictures/report.svg shows the output of `msleaks report RUN --width 92` for examples/cache.
"""
import html
import re
import sys

NO_BREAK = "\u00a0"  # browsers show several normal spaces as one
SIZE, CELL, LINE, MARGIN, HEAD = 14, 8.43, 20, 18, 34


def picture(title, lines):
    width = int(max(map(len, lines)) * CELL + 2 * MARGIN)
    height = len(lines) * LINE + HEAD + MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    yield f"<title>{html.escape(title)}</title>"
    yield '<rect width="100%" height="100%" rx="8" fill="#16191d"/>'
    for index, color in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        yield f'<circle cx="{MARGIN + 4 + 18 * index}" cy="17" r="5.5" fill="{color}"/>'
    yield f'<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}" fill="#d7dce2">'
    for number, line in enumerate(lines):
        bold = ' font-weight="bold" fill="#ffffff"' if re.match(r"\d+\. |[A-Z]", line) else ""
        yield f'<text x="{MARGIN}" y="{HEAD + LINE * number + SIZE}"{bold}>{html.escape(line).replace(" ", NO_BREAK)}</text>'
    yield "</g></svg>"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: terminal_picture.py TITLE < TEXT > PICTURE")
    print("\n".join(picture(sys.argv[1], sys.stdin.read().rstrip("\n").split("\n"))))
