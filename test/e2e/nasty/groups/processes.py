"""Lists programs that start many processes, exec, kill themselves, or lose permissions or descriptors."""
from case import Case


def without_rights(name, how, **more):
    recipe = "$CC -O1 -g $SRC/without_rights.c -o prog"
    return Case(f"without_{name}", recipe=recipe, command=f"./prog {how}", status=3, **more)


def killed(name, number):
    recipe = "$CC -O1 -g -w $SRC/killed.c -o prog"
    return Case(f"killed_by_{name}", recipe=recipe, command=f"./prog {number}", status=-number, alive=(1000, 10), allocs=1000)


TEXT = "".join(f"{number * 7919 % 1009} line\n" for number in range(2000))

CASES = [
    Case("fork_storm.c", processes=231, allocs=2300),
    Case("exec_storm.c", processes=401),
    Case("vfork_spawn.c", processes=41),
    Case("shells.c", processes=None, leaks=None, alive=None, by_pass=False),  # the shell itself has leaks
    Case("raw_clone.c", processes=21, allocs=2000),
    Case("equal_pids.c", root=True, leaks="printed", processes=41),
    without_rights("user", "u", root=True, processes=2, allocs=1000),
    without_rights("root_directory", "c", root=True, processes=None, unseen="process"),
    without_rights("descriptors", "n", processes=None, unseen="process"),
    without_rights("file_size", "f", processes=None, unseen="no room"),
    without_rights("address_space", "a", processes=2, allocs=1000),
    killed("kill", 9),
    killed("abort", 6),
    killed("segv", 11),
    killed("term", 15),
    Case("daemon.c", command="./prog done", processes=2, allocs=1000),
    Case("closed.c", allocs=100_000),
    Case("cleared.c", unseen="process", processes=None),
    Case("renamed.c", processes=2),
    Case("reads_all.c", stdin=TEXT),
    Case("closed_output", recipe="$CC -O1 -g $SRC/reads_all.c -o prog", command="./prog >&-", stdin=TEXT, status=4),
    Case("full_output", recipe="$CC -O1 -g $SRC/reads_all.c -o prog", command="./prog >/dev/full", stdin=TEXT, status=4),
]
