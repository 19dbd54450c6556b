"""Lists programs that load and unload libraries while they run."""
from case import Case

LOADER = "$CC -O1 -g -w -pthread $SRC/loader.c -o prog -ldl; "
LOADED = "$CC -O1 -g -fPIC -shared $SRC/loaded.c -o libloaded.so; "


def loader(name, times, mode, library="./libloaded.so", more="", **others):
    return Case(name, recipe=LOADER + LOADED + more, command=f"./prog {times} {mode} {library}", leaks="printed", **others)


CASES = [
    loader("load_a_thousand_times", 1000, "l", allocs=3000),
    loader("load_globally", 20, "g"),
    loader("load_deep_bound", 20, "d"),
    loader("load_in_threads", 50, "t"),
    loader("load_many", 3, "l", " ".join(f"./lib{number}.so" for number in range(40)),
           "for i in $(seq 0 39); do cp libloaded.so lib$i.so; done"),
    loader("load_without_libc", 50, "l", "./libno.so",
           "$CC -O1 -g -fPIC -ffreestanding -nostdlib -shared $SRC/no_libc.c -o libno.so"),
    loader("load_thread_storage", 20, "l", "./libtls.so", "$CC -O1 -g -fPIC -ftls-model=global-dynamic -shared $SRC/loaded_tls.c -o libtls.so"),
]
