"""Watches the content of tensors and buffers (docs/watch.md)."""
from __future__ import annotations

from ._blocks import extent_of
from ._runtime import encoded, runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Tuple


def _extent(block: Any) -> Tuple[int, int]:
    """Returns the address and the bytes of a tensor, an array or a buffer that can be watched."""
    address, size, contiguous = extent_of(block)
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
