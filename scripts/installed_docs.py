#!/usr/bin/env python3
"""Copies the pages of the repository for an installation. If a link leads to a file that is not installed, such as a source,
only the text of the link remains.

    installed_docs.py REPOSITORY FOLDER
"""
import re
import shutil
import sys
from pathlib import Path

PAGES = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"]
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def is_of_the_web(target):
    return target.startswith(("http://", "https://", "mailto:", "#"))


def with_installed_links(text, page, folder):
    def replaced(link):
        target = link[2].partition("#")[0]
        return link[0] if is_of_the_web(link[2]) or (page.parent / target).resolve().is_relative_to(folder) and (
            page.parent / target).exists() else link[1]

    # A block of code contains no links, even if its text looks like one.
    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(replaced, part) for part in parts)


def main():
    repository, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in PAGES:
        shutil.copy(repository / name, folder / name)
    shutil.copytree(repository / "docs", folder / "docs")
    for page in folder.rglob("*.md"):
        page.write_text(with_installed_links(page.read_text(), page, folder))


if __name__ == "__main__":
    main()
