# Writes Parquet files by Apache Arrow. msleaks runs this program for `export --format parquet`, and sends the columns over
# its input (row_group.h, arrow_process.h). It answers with lines: "ready", and then "done" or what has failed.
import json
import struct
import sys

sys.path = [folder for folder in sys.path if folder]  # never imports from the folder where msleaks was started
import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402

NOTHING, FULL, SPARSE = range(3)
INPUT = sys.stdin.buffer


def answer(line):
    sys.stdout.write(" ".join(line.split()) + "\n")
    sys.stdout.flush()


def take(count):
    data = INPUT.read(count)
    if len(data) != count:
        raise EOFError("msleaks ended early")
    return pyarrow.py_buffer(data)


def number(layout):
    return struct.unpack(layout, take(struct.calcsize(layout)))


def texts():
    (count,) = number("<I")
    offsets = take((count + 1) * 4)
    (length,) = struct.unpack_from("<I", offsets, count * 4)
    return pyarrow.StringArray.from_buffers(count, offsets, take(length))


def column(kind_of, rows):
    (kind,) = number("<B")
    if kind == NOTHING:
        return pyarrow.nulls(rows, kind_of)
    present = take((rows + 7) // 8) if kind == SPARSE else None
    is_text = pyarrow.types.is_dictionary(kind_of)
    stored = kind_of.index_type if is_text else kind_of
    values = pyarrow.Array.from_buffers(stored, rows, [present, take(rows * stored.bit_width // 8)])
    return pyarrow.DictionaryArray.from_arrays(values, texts()) if is_text else values


def schema_of(columns, facts):
    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    fields = [pyarrow.field(name, text if kind == "text" else getattr(pyarrow, kind)()) for name, kind in columns]
    return pyarrow.schema(fields, metadata=facts)


# Numbers differ in nearly every row, so a dictionary of them would only cost time. Differences of times and addresses are small.
def writer_of(path, schema):
    texts = [field.name for field in schema if pyarrow.types.is_dictionary(field.type)]
    longs = {field.name: "DELTA_BINARY_PACKED" for field in schema if field.type == pyarrow.uint64()}
    return pyarrow.parquet.ParquetWriter(path, schema, compression="zstd", compression_level=1, use_dictionary=texts, column_encoding=longs)


def write_all():
    head = json.loads(INPUT.readline())
    schemas = [schema_of(file["columns"], head["facts"]) for file in head["files"]]
    writers = [writer_of(file["path"], schema) for file, schema in zip(head["files"], schemas)]
    while head := INPUT.read(16):
        file, rows = struct.unpack("<QQ", head)
        schema = schemas[file]
        batch = pyarrow.record_batch([column(field.type, rows) for field in schema], schema=schema)
        writers[file].write_batch(batch, row_group_size=rows)
    for writer in writers:
        writer.close()


answer("ready")
try:
    write_all()
    answer("done")
except Exception as error:  # msleaks prints it
    answer(f"{type(error).__name__}: {error}")
