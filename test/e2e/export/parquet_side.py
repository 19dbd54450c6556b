"""Asks DuckDB and Apache Arrow about the files of the format parquet, and prints their answers as JSON. parquet_test.py runs this script.

    parquet_side.py FOLDER PEAK_NS
"""
import json
import sys

import duckdb
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet

FOLDER, PEAK_NS = sys.argv[1], int(sys.argv[2])


def ask(query, *parameters):
    return duckdb.execute(query.replace("EVENTS", f"'{FOLDER}/events.parquet'").replace("BLOCKS", f"'{FOLDER}/blocks.parquet'"), parameters).fetchall()


def total(table):
    """Reads all row groups in parallel."""
    return pyarrow.compute.sum(table.to_table(columns=["bytes"])["bytes"]).as_py()


blocks = pyarrow.parquet.ParquetFile(f"{FOLDER}/blocks.parquet")
events = pyarrow.parquet.ParquetFile(f"{FOLDER}/events.parquet")
json.dump({
    "events": ask("SELECT time_ns, event, pid, tid, heap, device, address, size FROM EVENTS"),
    "labels": [label for (label,) in ask("SELECT label FROM EVENTS WHERE event = 'Mark'")],
    "launches": ask("SELECT name, kernel, stream, grid_x, block_x, shared_bytes FROM EVENTS WHERE event = 'Launch'"),
    "peak": ask("SELECT sum(bytes) FROM BLOCKS WHERE physical = 1 AND begin_ns <= ? AND end_ns > ?", PEAK_NS, PEAK_NS)[0][0],
    "leaks": ask("""SELECT sum(bytes), count(*) FROM BLOCKS WHERE physical = 1 AND "end" = 'process exited'""")[0],
    "allocated": ask("""SELECT place, sum(bytes), count(*), heap FROM BLOCKS WHERE reserved = 0 AND "begin" IN ('allocated', 'reallocated') GROUP BY place, heap"""),
    "numbers": ask("SELECT count(*), count(DISTINCT block), min(block), max(block) FROM BLOCKS")[0],
    "used": ask("SELECT count(*) FROM BLOCKS WHERE first_use_ns BETWEEN begin_ns AND last_use_ns AND last_use_ns <= end_ns")[0][0],
    "ends": pyarrow.parquet.read_table(f"{FOLDER}/blocks.parquet", columns=["end_ns"])["end_ns"].to_pylist(),
    "bytes": [ask("SELECT sum(bytes) FROM BLOCKS")[0][0], total(pyarrow.dataset.dataset(f"{FOLDER}/blocks.parquet"))],
    "row_groups": [events.num_row_groups, blocks.num_row_groups],
    "facts": {key.decode(): value.decode() for key, value in blocks.metadata.metadata.items() if key.startswith(b"msleaks.")},
}, sys.stdout, default=int)
