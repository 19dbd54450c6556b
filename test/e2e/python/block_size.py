"""The memory of the blocks that the programs of programs/ keep."""
import subprocess


def bytes_of_block(python, size=20_000):
    """Returns the bytes that malloc gets for a bytearray of this size. It has one more byte. From 3.15 on, it is an object `bytes`."""
    code = f"import sys; print(sys.getsizeof(bytes({size})) if sys.version_info >= (3, 15) else {size + 1})"
    return int(subprocess.run([python, "-c", code], stdout=subprocess.PIPE, check=True).stdout)
