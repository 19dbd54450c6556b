#!/usr/bin/env python3
"""Writes the man pages of msleaks, msleaks-run and each verb, from the options that the programs declare.

    man_pages.py MSLEAKS.json MSLEAKS-RUN.json VERSION DOCS FOLDER     DOCS: folder of the pages, to which a man page refers
"""
import sys
from pathlib import Path

import command_line

STATUSES = [("0", "all is well"), ("1", "there are findings, or a check failed"), ("2", "the command line is wrong"),
            ("3", "what was to be read is missing or damaged"), ("4", "a fault of msleaks itself, or of this machine")]


def escaped(text):
    lines = text.replace("\\", "\\e").replace("-", "\\-").split("\n")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in lines)


def paragraphs(doc):
    """Formats the help of an option for a man page. Each value of the option gets a line of its own."""
    first, *values = doc.split("\n")
    return escaped(first) + "".join(f"\n.br\n{escaped(value.strip())}" for value in values)


def heading_of(option):
    names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in option["names"])
    value = f" \\fI{escaped(option['value'])}\\fR" if command_line.takes_value(option) else ""
    default = f" (default: {escaped(option['default'])})" if option["default"] else ""
    return names + value + default


def entry(heading, doc):
    return f".TP\n{heading}\n{paragraphs(doc)}\n"


def usage_of(command):
    if command.usage:
        return escaped(command.usage)
    words = [f"\\fI{escaped(word['word'])}\\fR" if word["required"] else f"[\\fI{escaped(word['word'])}\\fR]"
             for word in command.words]
    verb = ["\\fICOMMAND\\fR \\fR..." for _ in command.commands[:1]]
    return " ".join([f"\\fB{escaped(command.name)}\\fR", "[\\fIOPTIONS\\fR]", *words, *verb])


def options_of(command):
    text = "".join(entry(f"\\fI{escaped(word['word'])}\\fR", word["doc"]) for word in command.words)
    for group in dict.fromkeys(option["group"] for option in command.options):
        text += f".SS {escaped(group)}\n"
        text += "".join(entry(heading_of(option), option["doc"]) for option in command.options if option["group"] == group)
    return text


def page(command, version, pages, see_also):
    title = "-".join(command.path)
    text = f'.TH {escaped(title.upper())} 1 "" "msleaks {version}" "User Commands"\n'
    text += f".SH NAME\n{escaped(title)} \\- {escaped(command_line.first_line(command.summary))}\n"
    text += f".SH SYNOPSIS\n{usage_of(command)}\n"
    text += f".SH DESCRIPTION\n{escaped(command.summary.rstrip('.'))}.\n.SH OPTIONS\n{options_of(command)}"
    for below in command.commands:
        text += f".SH {escaped(' '.join(below.path[1:]).upper())}\n{escaped(below.summary)}.\n"
        if below.is_other_program or len(command.path) == 1:
            text += f"See {escaped('-'.join(below.path))}(1).\n"
        else:
            text += f".PP\n{usage_of(below)}\n{options_of(below)}"
    text += ".SH EXIT STATUS\n"
    if title == "msleaks-run":
        text += "That of the program, unless msleaks\\-run itself cannot start it.\n"
    text += "".join(entry(status, meaning) for status, meaning in STATUSES if title != "msleaks-run" or status > "1")
    name = {"msleaks-run": "running"}.get(title, command.path[-1])
    page_of_ours = name if (pages / f"{name}.md").exists() else "README"
    text += ".SH SEE ALSO\n" + escaped(", ".join(see_also)) + "\n"
    return text + f".PP\nThe page docs/{page_of_ours}.md in share/doc/msleaks tells more.\n"


def main():
    msleaks, run = command_line.read(*sys.argv[1:3])
    version, pages, folder = sys.argv[3], Path(sys.argv[4]), Path(sys.argv[5])
    folder.mkdir(parents=True, exist_ok=True)
    verbs = [f"{'-'.join(verb.path)}(1)" for verb in msleaks.commands if not verb.is_other_program]
    pages_of = [(msleaks, ["msleaks-run(1)", *verbs]), (run, ["msleaks(1)", "msleaks-report(1)"])]
    # `msleaks run` gets no page of its own, because it is the same as msleaks-run.
    pages_of += [(verb, ["msleaks(1)", "msleaks-run(1)"]) for verb in msleaks.commands if not verb.is_other_program]
    for command, see_also in pages_of:
        (folder / f"{'-'.join(command.path)}.1").write_text(page(command, version, pages, see_also))


if __name__ == "__main__":
    main()
