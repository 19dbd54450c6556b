"""Lists programs with unusual control flow: signal handlers, longjmp, exceptions, coroutines."""
from case import Case

CASES = [
    Case("handlers.c", leaks="printed"),
    Case("timers.c", flags="-O2", dropped=True),
    Case("jumps.c", leaks="printed"),
    Case("throwing_new.cpp", leaks="printed"),
    Case("errno_kept.c"),
    Case("coroutines.cpp", flags="-O2", leaks="printed"),
    Case("unwinding.cpp", status=17, leaks=None, by_pass=False),
]
