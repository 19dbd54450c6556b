"""One nasty program: how it is built and run, and the facts that must hold for it.

A program is built twice by the same recipe, by clang alone and by msleaks-clang, and run in four ways. Seen from outside,
all four must behave the same.
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
    """`name` is the source, programs/NAME. With a recipe it may be any name.

    By default the program frees all its blocks. `leaks` are the expected (bytes, blocks) of the leaks that `report --json` shows in the
    physical heaps. "printed": the program prints them itself, in a line `leaked BYTES BLOCKS`. None: not compared. A dict has one
    value for each mode.
    """

    name: str
    flags: str = "-O1"
    libraries: str = ""
    recipe: str = ""  # shell commands that replace the single call of the compiler; they make ./prog
    command: str = "./prog"  # shell words; msleaks-run is inserted at WATCH, or at the beginning if there is no WATCH
    stdin: str = ""
    status: int = 0  # in subprocess' notation: -9 means killed by SIGKILL
    leaks: tuple | str | dict | None = (0, 0)
    alive: tuple | None = (0, 0)  # blocks that are alive in processes that were killed or replaced
    processes: int | None = 1  # number of processes that recorded something
    allocs: int = 1  # least number of allocations
    unmatched: int = 0  # frees of blocks whose allocation was not recorded
    implicit: int = 0  # blocks whose free was not recorded
    dropped: bool = False  # events may be dropped; then they are counted, and no other figure is exact
    unseen: str = ""  # if set, `complete` must be false and a note must contain this text
    hooks_blind: bool = False  # it has its own malloc: if it is not instrumented, no block is recorded, and a note says so
    sites: bool = True  # the instrumented ./prog has sites
    by_pass: bool = True  # each leak of the instrumented program has a line of its source
    root: bool = False  # the program needs root
    modes: tuple = tuple(MODES)
    # A known defect: its row in the list of defects, and its expected failures as {"MODE: WHAT"}. The test fails if
    # other checks fail, or if none fails.
    known: str = ""
    fails: frozenset = frozenset()
    check: object = field(default=None, compare=False)  # check(observed): further conditions, see nasty_test.py

    @property
    def label(self):
        return self.name.rsplit(".", 1)[0]
