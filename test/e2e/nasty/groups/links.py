"""Lists programs that are built in different ways: LTO, archives, static linking, sanitizers, all optimisation levels."""
from case import Case

COMPILE = "for unit in parts parts_main; do $CXX -std=c++20 -g -w -O2 $FLAGS -c $SRC/$unit.cpp -o $unit.o; done; "


def parts(name, flags, link, between="", objects="parts_main.o parts.o", **more):
    recipe = f"FLAGS='{flags}'; {COMPILE}{between}$CXX -O2 {flags} {link} {objects} -o prog"
    return Case(name, recipe=recipe, leaks="printed", **more)


def tasks(name, flags, link, **more):
    recipe = (f"for unit in tasks tasks_main; do $CXX -std=c++20 -g -O2 {flags} -c $SRC/$unit.cpp -o $unit.o; done; "
              f"$CXX -O2 {flags} {link} tasks.o tasks_main.o -o prog")
    return Case(name, recipe=recipe, leaks="printed", **more)


def work(name, flags, after="", **more):
    return Case(name, recipe=f"$CC -O1 -w {flags} $SRC/plain_work.c -o prog; {after}", **more)


def threads_work(name, flags, **more):
    return Case(name, recipe=f"$CXX -std=c++20 -w -pthread {flags} $SRC/threads_work.cpp -o prog", leaks="printed", **more)


CASES = [
    parts("lto_full", "-flto=full", "-fuse-ld=lld"),
    parts("lto_thin", "-flto=thin", "-fuse-ld=lld"),
    parts("lto_thin_parallel", "-flto=thin", "-fuse-ld=lld -Wl,--thinlto-jobs=2 -Wl,-O3"),
    parts("lto_fat", "-flto=full -ffat-lto-objects", "-fuse-ld=lld"),
    parts("lto_fat_not_used", "-flto=full -ffat-lto-objects", "-fno-lto -fuse-ld=bfd"),
    parts("lto_archive", "-flto=thin", "-fuse-ld=lld", "$AR rc libparts.a parts.o; ", "parts_main.o libparts.a"),
    parts("lto_of_one_unit", "-flto=full", "-fuse-ld=lld", "$CXX -std=c++20 -g -O2 -fno-lto -c $SRC/parts.cpp -o parts.o; "),
    parts("gc_sections_lld", "-ffunction-sections -fdata-sections", "-fuse-ld=lld -Wl,--gc-sections"),
    parts("gc_sections_bfd", "-ffunction-sections -fdata-sections", "-fuse-ld=bfd -Wl,--gc-sections"),
    parts("icf", "-ffunction-sections", "-fuse-ld=lld -Wl,--icf=all"),
    parts("partial_bfd", "", "", "ld.bfd -r parts.o parts_main.o -o both.o; ", "both.o"),
    parts("partial_lld", "", "-fuse-ld=lld", "ld.lld-22 -r parts.o parts_main.o -o both.o; ", "both.o"),
    parts("archive", "", "", "$AR rc libparts.a parts.o; ", "parts_main.o libparts.a"),
    parts("library", "-fPIC -fvisibility-inlines-hidden", "-L. -lparts -Wl,-rpath,'$ORIGIN'",
          "$CXX -shared -Wl,-Bsymbolic parts.o -o libparts.so; ", "parts_main.o"),
    parts("mixed", "", "", "$PLAIN_CXX -std=c++20 -O2 -c $SRC/parts.cpp -o parts.o; ", by_pass=False),
    tasks("tasks", "", ""),
    tasks("tasks_lto", "-flto=full", "-fuse-ld=lld"),
    tasks("tasks_thinlto", "-flto=thin -fuse-ld=lld", ""),
    Case("ifunc.c", leaks="printed"),
    work("static", "-static", unseen="static", allocs=0),
    work("static_pie", "-static-pie", unseen="static", allocs=0),
    work("stripped", "-g -s"),
    work("without_names", "-g0"),
    work("split_dwarf", "-gsplit-dwarf -gz"),
    work("asan", "-g -fsanitize=address -fno-omit-frame-pointer", hooks_blind=True),
    work("asan_shared", "-g -fsanitize=address -shared-libasan -Wl,-rpath,$(dirname $($PLAIN_CC -print-file-name=libclang_rt.asan-x86_64.so))", hooks_blind=True),
    work("ubsan", "-g -fsanitize=undefined -fno-sanitize-recover=all"),
    work("msan", "-g -fsanitize=memory", hooks_blind=True),
    work("lsan", "-g -fsanitize=leak", hooks_blind=True),
    work("cfi", "-g -flto=thin -fuse-ld=lld -fvisibility=hidden -fsanitize=cfi -fno-sanitize-trap=cfi"),
    work("safe_stack", "-g -fsanitize=safe-stack"),
    work("coverage", "-g --coverage -fprofile-instr-generate -fcoverage-mapping"),
    work("large_code", "-g -mcmodel=large -fno-pic -no-pie -fstack-protector-all -fcf-protection=full"),
    work("not_pie", "-g -fno-pic -no-pie -Wl,-z,now -Wl,--hash-style=sysv"),
    threads_work("tsan", "-g -fsanitize=thread", hooks_blind=True),
    threads_work("no_optimisation", "-O0 -g"),
    threads_work("most_optimisation", "-O3 -g"),
    threads_work("for_size", "-Os -g -fno-rtti"),
    threads_work("without_exceptions", "-O2 -g -fno-exceptions"),
]
