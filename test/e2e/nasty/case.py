"""One nasty program: how it is built and run, and the facts that must hold of it.

A program is built twice by the same recipe, by clang alone and by msleaks-clang, and run in four ways. Their behaviour
as seen from outside must not differ.
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
    """`name` is the source, programs/NAME; with a recipe it may be any name.

    The default counts are those of a program that frees all its blocks. `leaks` are those of `report --json` in the physical heaps,
    as (bytes, blocks). "printed" = the program prints them itself, in a line `leaked BYTES BLOCKS`; None = not compared; a dict has
    it by mode.
    """

    name: str
    flags: str = "-O1"
    libraries: str = ""
    recipe: str = ""  # shell commands instead of the one call of the compiler; they make ./prog
    command: str = "./prog"  # a shell's words; WATCH stands where msleaks-run goes, if it is not at the beginning
    stdin: str = ""
    status: int = 0  # as subprocess has it: -9 = killed by SIGKILL
    leaks: tuple | str | dict | None = (0, 0)
    alive: tuple | None = (0, 0)  # of processes that were killed or replaced
    processes: int | None = 1  # that recorded something
    allocs: int = 1  # at least
    unmatched: int = 0  # frees of what was not seen to be allocated
    implicit: int = 0  # frees that were not seen
    dropped: bool = False  # events may be dropped; when they are, they are counted, and no other figure is exact
    unseen: str = ""  # complete must be false, and a note must hold this text
    hooks_blind: bool = False  # it has its own malloc: uninstrumented, no block is recorded, and a note says so
    sites: bool = True  # the instrumented ./prog has sites
    by_pass: bool = True  # each leak of the instrumented program has a line of its source
    root: bool = False  # needs it
    modes: tuple = tuple(MODES)
    # A known defect: its row in the list of defects, and the failures until it is mended, as {"MODE: WHAT"}. The test
    # fails if other checks fail, or none.
    known: str = ""
    fails: frozenset = frozenset()
    check: object = field(default=None, compare=False)  # check(observed): more that must hold, see nasty_test.py

    @property
    def label(self):
        return self.name.rsplit(".", 1)[0]
