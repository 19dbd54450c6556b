"""Prints the tables in section msl_sites of a file, one site per line: print_table.py OBJCOPY FILE

A site is `foreign` if no line of it is the user's own. Also checks magic, sizes and checksum. runtime/include/msleaks/abi/site_table.h defines the layout.
"""
import os
import struct
import subprocess
import sys
import tempfile

HEADER = struct.Struct("<IHHIIHHIIIII")
ROW = struct.Struct("<QIIIIIIIIHBBBB10x")
FRAME = struct.Struct("<IIII")
MAGIC = 0x314C534D


def section(objcopy, path):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "section")
        subprocess.run([objcopy, f"--dump-section=msl_sites={out}", path, os.path.join(folder, "copy")], check=True)
        with open(out, "rb") as file:
            return file.read()


def fnv1a32(data):
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def print_unit(data, begin):
    magic, abi, header_bytes, total, rows, row_bytes, frame_bytes, frames, strings_bytes, source, producer, checksum = (
        HEADER.unpack_from(data, begin)
    )
    assert total % 8 == 0 and (row_bytes, frame_bytes) == (ROW.size, FRAME.size), "sizes"
    body = data[begin + header_bytes : begin + total]
    assert fnv1a32(body) == checksum, "checksum"
    first_frame = rows * row_bytes
    first_string = first_frame + frames * frame_bytes
    assert first_string + strings_bytes <= len(body), "strings"

    def text(offset):
        at = first_string + offset
        return body[at : body.index(b"\0", at)].decode()

    print(f"unit {os.path.basename(text(source))} abi={abi} rows={rows} by {text(producer)}")
    for number in range(rows):
        (ident, file, line, column, function, callee, kind, variable, chain, chain_length, verb, family, heap, flags) = (
            ROW.unpack_from(body, number * row_bytes)
        )
        print(
            f"site {ident:016x} {os.path.basename(text(file))}:{line}:{column} {text(function)} {text(callee)}"
            f" type='{text(kind)}' variable='{text(variable)}' verb={verb} family={family} heap={heap}",
            end="",
        )
        for i in range(chain, chain + chain_length):
            caller, file, line, column = FRAME.unpack_from(body, first_frame + i * frame_bytes)
            print(f" < {text(caller)} {os.path.basename(text(file))}:{line}:{column}", end="")
        print(" foreign" if flags & 1 else "")
    return begin + total


def main(objcopy, path):
    data = section(objcopy, path)
    at = 0
    while at + HEADER.size <= len(data):
        if struct.unpack_from("<I", data, at)[0] == MAGIC:
            at = print_unit(data, at)
        else:
            assert data[at : at + 8] == bytes(8), "only zeros stand between tables"
            at += 8


main(*sys.argv[1:])
