#!/usr/bin/env python3
"""Finds sentences in pages and comments that are hard to read.

    check-words.py [PATH...]      files, or folders with all files below them; without a PATH: those in COVERED

The first rule holds for pages (*.md), the other two also for comments of C, C++, Python, CMake and shell:
  - A line of a page has at most 140 characters, so that it fits a screen. A row of a table has at most 280, since its cells wrap.
    In a row, targets of links do not count.
  - A sentence has at most 25 words. An inline code span is one word.
  - A sentence that begins with "Of", "What" or "Who" has a main verb. Headings, heads of tables and questions need no verb. A
    label needs no verb, either: a few words in lower case in a cell, or after code in a line (`int size; // of the block`).

Prints `file:line: problem, remedy` for each finding. Exit status 1: there is a finding. Exit status 2: a PATH does not exist.
"""
import bisect
import io
import os
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The test style.words checks these files and folders.
COVERED = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "analysis",
    "bench",
    "cmake",
    "docs",
    "driver",
    "examples",
    "hooks",
    "passes",
    "runtime",
    "scripts",
    "test",
    "tools",
)
# Folders that are not checked, because they contain generated files, or files of other projects.
SKIPPED = {".git", ".ci", "build", "corpus", "golden", "__pycache__", "third_party"}

LINE_LIMIT, ROW_LIMIT, WORD_LIMIT, LABEL_LIMIT = 140, 280, 25, 8
C_LIKE = {".c", ".cc", ".cpp", ".cu", ".cl", ".def", ".h", ".hpp", ".inc", ".hip"}
HASHED = {".cmake", ".sh", ".bash"}


# ---- Blocks of text, with the line of each character ----

class Block:
    """Text of one paragraph, list item, table cell or comment, with the line of each character.

    Its kind is `text`, `head` (a heading, or a cell of a table's head) or `label` (any other cell, or a comment after code)."""

    def __init__(self, kind="text"):
        self.kind, self.text, self.starts, self.lines = kind, "", [], []

    def add(self, line, text):
        self.text += " " if self.text else ""
        self.starts.append(len(self.text))
        self.lines.append(line)
        self.text += text.strip()

    def line_at(self, offset):
        return self.lines[bisect.bisect_right(self.starts, offset) - 1]


# ---- Pages ----

FENCE = re.compile(r"^\s*(?:>\s*)?(```+|~~~+)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
ROW_RULE = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*$")
TARGET = re.compile(r"\]\([^)]*\)")


def cells_of(line):
    masked = re.sub(r"`[^`]*`", lambda code: code.group().replace("|", "\0"), line.strip().strip("|")).replace("\\|", "\0")
    return [cell.replace("\0", "|").strip() for cell in masked.split("|")]


def page_blocks(text):
    """Returns the blocks of a page, and (line, width, limit) for each line that is too long."""
    lines = text.splitlines()
    blocks, long_lines, current, fence, in_list = [], [], None, None, False
    for number, line in enumerate(lines, 1):
        row = not fence and line.lstrip().startswith("|")
        width, limit = (len(TARGET.sub("]", line)), ROW_LIMIT) if row else (len(line), LINE_LIMIT)
        if width > limit and len(line.split()) > 1:
            long_lines.append((number, width, limit))
        mark = FENCE.match(line)
        if fence or mark:
            if mark and not fence:
                fence = mark.group(1)[:3]
            elif mark and mark.group(1).startswith(fence):
                fence = None
            current = None
            continue
        if line.strip() and not line.startswith(" "):
            in_list = ITEM.match(line) or in_list and current is not None
        code = line.startswith("    ") and current is None and not in_list
        if not line.strip() or code or line.startswith(("<!--", "![")):
            current = None
            continue
        if row:
            current = None
            if ROW_RULE.match(line):
                continue
            head = number < len(lines) and ROW_RULE.match(lines[number])
            for cell in cells_of(line):
                block = Block("head" if head else "label")
                block.add(number, cell)
                blocks.append(block)
            continue
        heading = line.startswith("#")
        if heading or ITEM.match(line) or current is None:
            current = Block("head" if heading else "text")
            blocks.append(current)
        current.add(number, ITEM.sub("", line.lstrip("#> ") if heading else line.lstrip("> ")))
        if heading:
            current = None
    return blocks, long_lines


# ---- Comments ----

C_TOKEN = re.compile(r'R"([^\s()\\]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
NOT_WORDS = re.compile(r"^\s*(?:[A-Z][A-Z0-9_]*-?[A-Z0-9-]*:|RUN\b|clang-format (?:on|off)|NOLINT|shellcheck |Part of the LLVM|SPDX-|[-=~*/#]{3,})")
DECORATION = re.compile(r"^(?://[/!]?<?|/\*\*?<?|\*/|\*(?!\w)|#+)")


def c_comments(text):
    """Yields (line, column, text, whole) for each line of each comment. `whole`: the line contains only the comment."""
    for token in C_TOKEN.finditer(text):
        comment = token.group()
        if not comment.startswith(("//", "/*")):
            continue
        line = text.count("\n", 0, token.start()) + 1
        column = token.start() - text.rfind("\n", 0, token.start()) - 1
        whole = not text[token.start() - column:token.start()].strip()
        for step, part in enumerate(comment.removesuffix("*/").split("\n")):
            bare = part.lstrip() if step else part
            yield line + step, column, DECORATION.sub("", bare), whole or step > 0


def python_comments(text):
    previous = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = token.start
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield line, column, token.string.lstrip("#"), not token.line[:column].strip()
        elif token.type == tokenize.STRING and previous in (None, tokenize.NEWLINE, tokenize.INDENT):
            for step, part in enumerate(token.string.strip("rRbBuU").strip("\"'").split("\n")):
                yield line + step, column, part[column if step else 0:], True
        if token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.DEDENT, tokenize.ENCODING):
            previous = token.type


def hash_comments(text):
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"^((?:[^#\"'\\]|(?<=\S)#|\\.|\"(?:\\.|[^\"\\])*\"|'[^']*')*?)(?:^|(?<=\s))#(?!!)(.*)$", line)
        if found:
            yield number, found.start(2) - 1, found.group(2), not found.group(1).strip()


def comment_blocks(comments):
    """Joins the lines of each comment to a block. Leaves out indented lines, which are examples or tables, not sentences."""
    blocks, current, last_line, last_column = [], None, -2, -1
    for line, column, text, whole in comments:
        follows = line == last_line + 1 and column == last_column and whole
        last_line, last_column = line, column
        if not text.strip() or NOT_WORDS.match(text) or text.startswith("   "):
            current = None
            continue
        if current is None or not follows or ITEM.match(text):
            current = Block("text" if whole else "label")
            blocks.append(current)
        current.add(line, ITEM.sub("", text))
    return blocks


# ---- Sentences ----

CODE = re.compile(r"``[^`]+``|`[^`]*`")
SENTENCE_END = re.compile(r"(?<![.…])[.!?][\"')\]*_]*\s+(?!\.)")
ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|cf|vs|approx|resp|fig)\.$", re.IGNORECASE)
WORD = re.compile(r"[\w§][\w§'’./:+%@&=<>~_-]*")
FILE_NAME = re.compile(r"^[\w./*{},-]+\.[\w*{},]+(?: \([^)]*\))?: ")


def sentences(block):
    """Yields (line, sentence). Replaces each code span by one word of the same length, and each target of a link by blanks."""
    text = CODE.sub(lambda code: "§" * len(code.group()), block.text)
    text = TARGET.sub(lambda target: "]" + " " * (len(target.group()) - 1), text)
    begin, parts = 0, []
    for end in SENTENCE_END.finditer(text):
        if not ABBREVIATIONS.search(text[:end.start() + 1]):
            parts.append((begin, end.end()))
            begin = end.end()
    parts.append((begin, len(text)))
    for first, last in parts:
        sentence = text[first:last].strip()
        if sentence:
            yield block.line_at(first), sentence


# ---- Verbs, for the rule about sentences that begin with Of, What or Who ----

AUXILIARY = set("""is are was were am be been has have had does do did can cannot could may might must shall should will would isn't
aren't wasn't weren't hasn't haven't doesn't don't didn't can't won't""".split())
PAST = set("began came gave went took knew saw ran wrote grew chose fell held left said made got kept found met led lost meant".split())
BASE = """accept add agree allocate allow apply arrive ask assume avoid become begin belong break bring build call cause change check
choose close come compare compile concern contain copy cost count cover create decide define delete depend describe detect do draw drop
end exit expect explain fail fall fill find fire fit follow forget free gather get give go group grow guess hand happen help hide hold
hook ignore include insert intercept interpret join keep know last launch lead leave let lie limit list live load look lose make map mark
match mean measure miss move name need open overwrite own pass permit point prevent print produce prove publish put read reach receive
record refer refuse remain remember remove repeat replace report require return rewrite run save say see send set share show skip solve
split stand start stay stop store survive take tell tend throw touch trust try turn undo unmap use wait want watch work write""".split()
NOUN_SIGNS = set("""the a an of its their his our your my this these those all no any some each every other few many more most both to
with by for in on at from and or per into behind between beside without as than such one two three whose""".split())
ADVERBS = set("not never always also only still already then now yet just often nearly ever so".split())
# Each of these words begins a subordinate clause, which has a verb of its own.
CLAUSES = set("what who whom whose whoever which where when why how whether".split())


def third_person(verb):
    if verb.endswith(("s", "sh", "ch", "x", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeiou" else verb + "s"


FINITE = PAST | set(BASE) | {third_person(verb) for verb in BASE}


def finite_verbs(words):
    """Counts the finite verbs. `may have been` counts as one. A word that may be a verb or a noun counts as a verb."""
    count, previous, chain = 0, "", False
    for word in words:
        if word in AUXILIARY:
            count += not chain and previous != "to"
            chain = True
        elif word in ADVERBS:
            continue
        else:
            count += word in FINITE and not chain and previous not in NOUN_SIGNS and not previous.isdigit()
            chain = False
        previous = word
    return count


def lacks_main_verb(sentence):
    """Returns the opener of a sentence that begins with Of, What or Who and has no main verb. Otherwise returns None."""
    sentence = FILE_NAME.sub("", sentence).lstrip("*_\"'([§: ") if FILE_NAME.match(sentence) else sentence.lstrip("*_\"'([ ")
    opener = re.match(r"(of|what|who)\b(?![-'’.(=])", sentence, re.IGNORECASE)
    if not opener or sentence.rstrip("\"')]*_ ").endswith("?"):
        return None
    words = [word.lower().strip(".:'’") for word in WORD.findall(sentence)]
    if words[0] == "of":
        lacks = re.match(r"of\b[^,.;]*:(?:\s|$)", sentence, re.IGNORECASE) or not finite_verbs(words)
    else:
        lacks = finite_verbs(words) <= sum(word in CLAUSES for word in words)
    return opener.group() if lacks else None


# ---- Findings ----

def is_label(block):
    return block.text[:1].islower() and len(block.text.split()) <= LABEL_LIMIT and not re.search(r"[:;.]\s", block.text + " ")


def findings_of_blocks(blocks):
    for block in blocks:
        needs_verbs = block.kind == "text" or block.kind == "label" and not is_label(block)
        for line, sentence in sentences(block):
            words = len(WORD.findall(sentence))
            if words > WORD_LIMIT:
                yield line, f"a sentence of {words} words, split it (at most {WORD_LIMIT})"
            opener = lacks_main_verb(sentence) if needs_verbs else None
            if opener:
                yield line, f"a sentence begins with \"{opener}\" and has no main verb, write subject, verb, object"


def findings(name, text):
    """Yields (line, problem) for the text of a file. Yields nothing for a file of a kind that is not checked."""
    path = Path(name)
    if path.suffix == ".md":
        blocks, long_lines = page_blocks(text)
        yield from ((line, f"a line of {width} characters, wrap it (at most {limit})") for line, width, limit in long_lines)
        yield from findings_of_blocks(blocks)
    elif path.suffix in C_LIKE:
        yield from findings_of_blocks(comment_blocks(c_comments(text)))
    elif path.suffix == ".py":
        yield from findings_of_blocks(comment_blocks(python_comments(text)))
    elif path.suffix in HASHED or path.name == "CMakeLists.txt":
        yield from findings_of_blocks(comment_blocks(hash_comments(text)))


def files_of(path):
    if path.is_file():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            yield Path(folder) / name


def main(arguments):
    if any(argument in ("-h", "--help") for argument in arguments):
        print(__doc__.strip())
        return 0
    paths = [Path(argument) for argument in arguments] or [ROOT / path for path in COVERED]
    missing = [path for path in paths if not path.exists()]
    if missing:
        print(f"check-words.py: there is no {missing[0]}: name a file or a folder", file=sys.stderr)
        return 2
    found = 0
    for path in paths:
        for file in files_of(path):
            shown = os.path.relpath(file)
            for line, what in sorted(findings(file.name, file.read_text(encoding="utf-8", errors="replace"))):
                print(f"{shown}:{line}: {what}")
                found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
