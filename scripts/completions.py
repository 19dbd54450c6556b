#!/usr/bin/env python3
"""Writes the completions of bash, zsh and fish for msleaks and msleaks-run, from the options that the programs declare.

    completions.py MSLEAKS.json MSLEAKS-RUN.json FOLDER
"""
import sys
from pathlib import Path

import command_line

BASH = """# Completion of msleaks and msleaks-run for bash. Generated from what the programs declare.

# The words that may follow a command: its own commands and its options.
_msleaks_words() {
  case $1 in
%(words)s
  esac
}

# The values of an option, `?` where only the user knows them; fails where the option takes none.
_msleaks_values() {
  case "$1 $2" in
%(values)s
    *) return 1 ;;
  esac
}

_msleaks() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[0]##*/} word values
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -- ]] && return
    [[ $word != -* && \\ $(_msleaks_words "$command")\\  == *" $word "* ]] && command+=" $word"
  done
  if values=$(_msleaks_values "$command" "$previous"); then
    [[ $values == '?' ]] || mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$(_msleaks_words "$command")" -- "$current")
  fi
}

# Where nothing of ours fits, it is a file.
complete -o default -F _msleaks msleaks msleaks-run
"""


def double_quoted(text):
    return '"' + "".join("\\" + letter if letter in '\\"$`' else letter for letter in text) + '"'


def single_quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def bash(programs):
    words, values = [], []
    for command in (command for program in programs for command in program.all()):
        follow = [below.path[-1] for below in command.commands]
        for option in command.options:
            follow += option["names"]
            for name in option["names"] if command_line.takes_value(option) else []:
                values.append(f"    '{command.name} {name}') echo '{' '.join(option['choices']) or '?'}' ;;")
        words.append(f"    '{command.name}') echo '{' '.join(follow)}' ;;")
    return BASH % {"words": "\n".join(words), "values": "\n".join(values)}


def zsh_doc(text):
    return "".join("\\" + letter if letter in "\\[]:" else letter for letter in command_line.first_line(text))


def zsh_option(option):
    takes = command_line.takes_value(option)
    values = f":value:({' '.join(option['choices'])})" if option["choices"] else ":value:_files"
    for name in option["names"]:
        repeated = "*" if option["many"] else ""
        yield single_quoted(f"{repeated}{name}[{zsh_doc(option['doc'])}]{values if takes else ''}")


def zsh_function(command):
    name = "_" + "_".join(command.path).replace("-", "_")
    specs = [spec for option in command.options for spec in zsh_option(option)]
    if not command.commands:
        rest = "'*::program:_normal'" if command.is_other_program or len(command.path) == 1 else "'*:file:_files'"
        return f"{name}() {{\n  _arguments -S \\\n    " + " \\\n    ".join([*specs, rest]) + "\n}\n"
    text = f"{name}() {{\n  local state line commands\n  commands=(\n"
    text += "".join(f"    {single_quoted(below.path[-1] + ':' + below.summary)}\n" for below in command.commands)
    text += "  )\n  _arguments -C -S \\\n    " + " \\\n    ".join([*specs, "'1: :->command'", "'*:: :->arguments'"]) + "\n"
    text += "  case $state in\n    command) _describe command commands ;;\n    arguments)\n      case $line[1] in\n"
    for below in command.commands:
        text += f"        {below.path[-1]}) _{'_'.join(below.path)} ;;\n"
    return text + "      esac ;;\n  esac\n}\n"


def zsh(programs):
    text = "#compdef msleaks msleaks-run\n# Generated from what the programs declare.\n\n"
    # The verb `run` gets no function: this function would have the same name as the function of msleaks-run.
    commands = [command for program in programs for command in program.all() if command.path != ["msleaks", "run"]]
    text += "\n".join(zsh_function(command) for command in commands)
    return text + '\nif [[ $service == msleaks-run ]]; then\n  _msleaks_run "$@"\nelse\n  _msleaks "$@"\nfi\n'


FISH = """# Completion of msleaks and msleaks-run for fish. Generated from what the programs declare.

# Whether these are the commands that were typed so far.
function __msleaks_typed
    set -l words (commandline -opc | string match -v -- '-*')
    test "$words[2..(math (count $argv) + 1)]" = "$argv"
end
"""


def fish_option(program, condition, option):
    text = f"complete -c {program}{condition}"
    for name in option["names"]:
        text += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
    if command_line.takes_value(option):
        text += " -r"
        if option["choices"]:
            text += f" -f -a {double_quoted(' '.join(option['choices']))}"
    return f"{text} -d {double_quoted(command_line.first_line(option['doc']))}\n"


def fish(programs):
    text = FISH
    for program in programs:
        for command in program.all():
            typed = " ".join(command.path[1:])
            condition = f" -n '__msleaks_typed {typed}'" if typed else ""
            text += f"\n# {command.name}\n"
            for below in command.commands:
                text += (f"complete -c {program.name} -n 'test (count (commandline -opc)) -eq {len(command.path)}"
                         f"{'; and __msleaks_typed ' + typed if typed else ''}' -f -a {below.path[-1]} -d {double_quoted(below.summary)}\n")
            text += "".join(fish_option(program.name, condition, option) for option in command.options)
    return text


def main():
    programs = command_line.read(*sys.argv[1:3])
    folder = Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("msleaks.bash", bash(programs)), ("_msleaks", zsh(programs)), ("msleaks.fish", fish(programs))):
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
