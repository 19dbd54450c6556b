"""Watches the content of tensors and buffers (docs/watch.md)."""
from __future__ import annotations

from ._runtime import encoded, runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Tuple


def _address_of_buffer(block: Any) -> int:
    """Returns the address of an object with the buffer protocol, also of one that may not be written."""
    import ctypes

    class View(ctypes.Structure):  # Py_buffer
        _fields_ = [
            ("buf", ctypes.c_void_p),
            ("obj", ctypes.py_object),
            ("len", ctypes.c_ssize_t),
            ("itemsize", ctypes.c_ssize_t),
            ("readonly", ctypes.c_int),
            ("ndim", ctypes.c_int),
            ("format", ctypes.c_char_p),
            ("shape", ctypes.c_void_p),
            ("strides", ctypes.c_void_p),
            ("suboffsets", ctypes.c_void_p),
            ("internal", ctypes.c_void_p),
        ]

    view = View()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(block), ctypes.byref(view), 0)
    address = int(view.buf or 0)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    return address


def _extent(block: Any) -> Tuple[int, int]:
    """Returns the address and the bytes of a tensor, an array or a buffer. The address is 0 if it is not needed.

    The object must be contiguous. Wrong objects are refused with and without msleaks-run, in the same way."""
    contiguous = True
    if hasattr(block, "data_ptr") and hasattr(block, "element_size"):  # a tensor of PyTorch
        address, size = int(block.data_ptr()), int(block.numel()) * int(block.element_size())
        contiguous = bool(block.is_contiguous())
    elif hasattr(block, "__cuda_array_interface__"):  # an array on a device, of CuPy or Numba
        description = block.__cuda_array_interface__
        address, size = int(description["data"][0]), int(block.nbytes)
        contiguous = description.get("strides") is None
    else:
        with memoryview(block) as view:
            size, contiguous = view.nbytes, view.c_contiguous
        address = _address_of_buffer(block) if runtime.loaded and contiguous and size else 0
    if not contiguous:
        raise ValueError("the block is not contiguous: watch a contiguous part of it")
    if size == 0:
        raise ValueError("the block has no bytes to watch")
    return address, size


def _checked(length: Any) -> int:
    if not hasattr(length, "__index__"):
        raise TypeError(f"a length is a number of bytes, not {type(length).__name__}")
    number = int(length.__index__())
    if not 0 < number < 1 << 64:
        raise ValueError(f"the length {number} is no number of bytes to watch")
    return number


class Watcher:
    """Reports each operation that changes a watched block although the block is not its argument."""

    def watch(self, block: Any, name: str, *, length: Optional[int] = None) -> None:
        """Watches a tensor, an array, a buffer, or the address of `length` bytes. `name` names it in the report.

        Call `remove` before the memory of the block is freed or resized.
        """
        text = encoded(name)
        length = None if length is None else _checked(length)
        if isinstance(block, int):
            if length is None:
                raise TypeError("an address needs a length: watch(address, name, length=BYTES)")
            address, size = block, length
        else:
            address, size = _extent(block)
            size = size if length is None else min(size, length)
        runtime.watch(address, size, text)

    def remove(self, block: Any) -> None:
        """Watches this tensor, array, buffer or address no longer."""
        runtime.unwatch(block if isinstance(block, int) else _extent(block)[0])


watcher = Watcher()
