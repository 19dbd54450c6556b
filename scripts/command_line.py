"""Reads the descriptions of the command lines of msleaks and msleaks-run, which `PROGRAM --describe-options` prints as JSON."""
import json


class Command:
    """A program, or one of its commands. `path` contains the words that a user types: ["msleaks", "profile", "report"]."""

    def __init__(self, described, before=(), passed_to=None):
        self.path = [*before, described["name"]]
        self.summary = described["summary"]
        self.usage = described["usage"]
        self.is_other_program = described["passes_on"]
        # `msleaks run` has the options of msleaks-run.
        options = passed_to.options + passed_to.words if self.is_other_program else described["options"]
        self.options = [option for option in options if option["names"]]
        self.words = [option for option in options if not option["names"]]
        self.commands = [Command(command, self.path, passed_to) for command in described["commands"]]

    @property
    def name(self):
        return " ".join(self.path)

    def all(self):
        """Yields this command and all commands below it."""
        yield self
        for command in self.commands:
            yield from command.all()


def read(msleaks, msleaks_run):
    """Reads the files with the descriptions of both programs, and returns both as Command."""
    with open(msleaks_run) as file:
        run = Command(json.load(file))
    with open(msleaks) as file:
        return Command(json.load(file), passed_to=run), run


def takes_value(option):
    return option["value"] is not None


def first_line(text):
    return text.split("\n")[0]
