"""Does typical work of Python and numpy: arrays, linear algebra, sorting, records, text, exceptions, generators and threads. Also makes
callbacks from C into Python."""
import collections
import json
import re
import threading

import numpy


def squares(count):
    for i in range(count):
        yield {"i": i, "square": i * i, "text": "x" * (i % 40)}


def descend(depth):
    if depth == 0:
        raise ValueError("deep enough", numpy.arange(30))
    try:
        descend(depth - 1)
    finally:
        numpy.ones(depth + 1)


def arrays(generator):
    matrix = generator.normal(size=(20, 20))
    solved = numpy.linalg.solve(matrix @ matrix.T + numpy.eye(20), matrix)
    table = numpy.array([(i, float(i), f"row {i}") for i in range(40)], dtype=[("i", int), ("x", float), ("s", "U12")])
    table.sort(order=["s", "i"])
    words = numpy.vectorize(lambda x: str(round(x, 3)))(solved[:3])
    parts = numpy.split(numpy.concatenate([solved, matrix]), 4)
    return sum(part.sum() for part in parts) + len(words) + numpy.einsum("ij,jk->", solved, matrix)


def text(round_):
    rows = list(squares(60))
    again = json.loads(json.dumps(rows, indent=1))
    counts = collections.Counter(re.findall(r"[a-z]+|\d+", " ".join(f"{row['i']}a{round_}" for row in again)))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]


def work(rounds, seed, results):
    generator = numpy.random.default_rng(seed)
    for round_ in range(rounds):
        results.append(arrays(generator))
        text(round_)
        try:
            descend(round_ % 20)
        except ValueError as error:
            results.append(len(error.args[1]))


results = []
work(150, 1, results)
thread = threading.Thread(target=work, args=(50, 2, results))
thread.start()
thread.join()
print(len(results))
