"""Lists programs with many threads, short threads, cancelled threads, unusual stacks, fibers, or code that runs when a thread ends."""
from case import Case

CASES = [
    Case("cancelled.c"),
    Case("exit_of_main.c"),
    Case("fibers.c", leaks="printed"),
    Case("many_threads.c", allocs=52_500),
    Case("smallest_stacks.c"),
    Case("hand_over.c", flags="-O2", allocs=400_000),
    Case("last_words.cpp", leaks="printed"),
    Case("leaving_at_once", recipe="$CC -O1 -g -pthread $SRC/leaving.c -o prog", command="./prog _", status=5, leaks="printed"),
    Case("leaving_quickly", recipe="$CC -O1 -g -pthread $SRC/leaving.c -o prog", command="./prog q", status=6, leaks="printed"),
]
