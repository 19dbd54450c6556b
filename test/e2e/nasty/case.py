"""Describes a program of nasty_test.py: how the test builds and runs it, and the expected numbers of its report.

The test builds a program twice by the same recipe: by clang alone ("plain") and by msleaks-clang ("marked"). It runs each build
with and without msleaks-run. All four runs must have the same output and exit status.
"""
from dataclasses import dataclass, field

MODES = {
    "plain": ("plain", False),
    "unarmed": ("marked", False),
    "armed": ("marked", True),
    "hooks": ("plain", True),
}

@dataclass(frozen=True)
class Case:
    """`name` is the source, programs/NAME. With a recipe, it may be any name.

    `leaks` has the bytes and the number of blocks of the expected leaks in `msleaks report --json`, by default none. "printed" means
    that the program prints these numbers in a line `leaked BYTES BLOCKS`. None means that the test does not compare them. A dict has
    one value for each mode.
    """

    name: str
    flags: str = "-O1"
    libraries: str = ""
    recipe: str = ""  # shell commands that build ./prog, if one call of the compiler is not enough
    command: str = "./prog"  # shell command; the test inserts msleaks-run at WATCH, or at the beginning without WATCH
    stdin: str = ""
    status: int = 0  # exit status as Python's subprocess returns it; -9 means that SIGKILL ended the program
    leaks: tuple | str | dict | None = (0, 0)
    alive: tuple | None = (0, 0)  # blocks that are alive in processes that were killed or replaced
    processes: int | None = 1  # number of processes that recorded an event
    allocs: int = 1  # smallest allowed number of allocations
    unmatched: int = 0  # frees of blocks whose allocation was not recorded
    implicit: int = 0  # blocks whose free was not recorded
    dropped: bool = False  # events may be dropped; if they are, the test does not check the blocks
    unseen: str = ""  # if set, the report must not be `complete`, and one of its notes must contain this text
    hooks_blind: bool = False  # the program has its own malloc, so hooks record no block, and a note says so
    sites: bool = True  # the instrumented ./prog contains allocation sites
    by_pass: bool = True  # the plugin recorded each leak of the instrumented program, so each has a source line
    root: bool = False  # the program must run as root
    modes: tuple = tuple(MODES)
    # Describes a known defect of msleaks: its row in the list of defects, and the checks that fail, as {"MODE: WHAT"}. The test
    # fails unless exactly these checks fail.
    known: str = ""
    fails: frozenset = frozenset()
    check: object = field(default=None, compare=False)  # check(mode, report, failures) checks further conditions (groups/names.py)

    @property
    def label(self):
        return self.name.rsplit(".", 1)[0]
