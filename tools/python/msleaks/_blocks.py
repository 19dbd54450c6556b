"""Finds the memory of tensors, arrays and buffers."""
from __future__ import annotations

from ._runtime import runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Tuple


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
    full_ro = 0x11C  # PyBUF_FULL_RO: any layout
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(block), ctypes.byref(view), full_ro)
    address = int(view.buf or 0)
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
    return address


def extent_of(block: Any) -> Tuple[int, int, bool]:
    """Returns the address and the bytes of a tensor, an array or a buffer, and whether it is contiguous.

    The address is 0 if it is not needed. Wrong objects are refused with and without msleaks-run, in the same way."""
    if hasattr(block, "data_ptr") and hasattr(block, "element_size"):  # a tensor of PyTorch
        return int(block.data_ptr()), int(block.numel()) * int(block.element_size()), bool(block.is_contiguous())
    if hasattr(block, "__cuda_array_interface__"):  # an array on a device, of CuPy or Numba
        description = block.__cuda_array_interface__
        return int(description["data"][0]), int(block.nbytes), description.get("strides") is None
    with memoryview(block) as view:
        size, contiguous = view.nbytes, view.c_contiguous
    return _address_of_buffer(block) if runtime.loaded and size else 0, size, contiguous
