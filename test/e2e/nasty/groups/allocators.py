"""Lists programs that define allocators, use special cases of libc's allocator, or map memory."""
from case import Case

CASES = [
    Case("realloc_corners.c", leaks="printed"),
    Case("refused.c"),
    Case("memalign_fails.c"),
    Case("new_delete.cpp", flags="-O2", leaks="printed"),
    # In the instrumented program, mmap is called inside operator new, which the plugin records. So the mapping is not a leak of its own.
    Case("arena_new.cpp", flags="-O0", leaks={"armed": (0, 0), "hooks": (1 << 20, 1)}),
    Case("library_new", recipe="$PLAIN_CXX -O1 -fPIC -shared $SRC/library_new.cpp -o libnew.so; "
         "$CXX -O1 $SRC/library_new_user.cpp -o prog -L. -lnew -Wl,-rpath,'$ORIGIN'", known="D6, for calls that the compiler bound inside the library",
         fails=frozenset(f"{mode}: {what}" for mode in ("armed", "hooks") for what in ("unmatched_frees", "leaks"))),
    # The program defines malloc, and libc's strdup calls this malloc. Neither hooks nor the plugin see these 100 allocations. The
    # program passes the blocks to realloc, so 100 frees have no recorded allocation.
    Case("own_malloc.c", flags="-O1 -fno-builtin", unmatched=100, hooks_blind=True),
    Case("annotated.c"),
    Case("annotated_asan", recipe="$CC -O1 -g -fsanitize=address -shared-libasan $SRC/annotated.c -o prog "
         "-Wl,-rpath,$(dirname $($PLAIN_CC -print-file-name=libclang_rt.asan-x86_64.so))", hooks_blind=True),
    Case("preloaded", recipe="$PLAIN_CC -O1 -fno-builtin -fPIC -shared $SRC/preloaded.c -o libpreloaded.so; $CC -O1 $SRC/preloaded_user.c -o prog",
         command="env LD_PRELOAD=./libpreloaded.so WATCH ./prog"),
    Case("pools.cpp", flags="-O2"),
    Case("mappings.c", leaks="printed"),
    Case("reserved.c"),
    Case("from_libc.c", leaks="printed", by_pass=False),
    Case("libc_keeps.c", sites=False, by_pass=False),
    Case("break_heap.c"),
]
