"""Makes small objects in ways that the sample must estimate or survive: small_objects.py HOW [BYTES]. Each line makes objects of BYTES
bytes. Prints the bytes of the kept objects as Python counts them, by the comment of the line that makes them."""
import json
import os
import sys
import threading

try:
    import msleaks
except ImportError:
    msleaks = None

BYTES = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000


def mark(name):
    if msleaks:
        msleaks.mark(name)


def many(make):
    """Calls `make` until its results have enough bytes. Returns the results, and these bytes."""
    first = make()
    size = sys.getsizeof(first)
    return [first, *(make() for _ in range(BYTES // size))], size * (BYTES // size + 1)


def text():
    return "%*d" % (WIDTH, 7)  # texts


def record():
    return {"a": WIDTH, "b": WIDTH, "c": WIDTH}  # records


def numbers():
    items = []  # lists
    for _ in range(10):
        items.append(None)  # grown
    return items


WIDTH = 60


def keep():
    """Keeps the objects of three lines, then frees those of two."""
    sizes = {}
    texts, sizes["texts"] = many(text)
    records, sizes["records"] = many(record)
    lists, both = many(numbers)
    sizes["lists"] = len(lists) * sys.getsizeof([])
    sizes["grown"] = both - sizes["lists"]
    mark("kept")
    del texts, lists
    mark("freed")
    print(json.dumps(sizes))
    return len(records)


def run_together(function, count):
    threads = [threading.Thread(target=function) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_threads():
    """Four threads keep the objects of one line each."""
    kept, sizes = [], []

    def run():
        texts, size = many(text)
        kept.append(texts)
        sizes.append(size)

    run_together(run, 4)
    mark("kept")
    print(json.dumps({"texts": sum(sizes)}))


def fork():
    """A child keeps objects of its own, and frees some of its parent's."""
    texts, size = many(text)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        del texts
        records, size = many(record)
        mark("child")
        os._exit(len(records) == 0)
    status = os.waitpid(child, 0)[1]
    mark("kept")
    print(json.dumps({"texts": size}), status)


def change_sizes():
    """Grows and shrinks blocks across all limits of the sample, and checks their content."""
    wrong = 0
    for number in range(60_000):
        block = bytearray(b"%06d" % number * 4)
        for size in (300, 900, 100, 20, 700, 500):
            content = bytes(block[:20])
            if size > len(block):
                block.extend(bytes(size - len(block)))
            else:
                del block[size:]
            wrong += bytes(block[:20]) != content
    print(json.dumps({}), wrong)


def in_subinterpreters():
    """Sub-interpreters make and free objects, also in threads of their own if this Python can."""
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    code = "kept = [str(number) for number in range(200_000)]\ndel kept[::2]\n"

    def run():
        number = interpreters.create()
        interpreters.run_string(number, code)
        interpreters.destroy(number)

    run_together(run, 3)
    run()
    print(json.dumps({}))


if __name__ == "__main__":
    {"keep": keep, "threads": in_threads, "fork": fork, "sizes": change_sizes, "interpreters": in_subinterpreters}[sys.argv[1]]()
