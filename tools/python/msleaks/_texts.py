"""Steps and marks of the program."""
from __future__ import annotations

import itertools
import operator

from ._runtime import encoded, runtime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, SupportsIndex

_numbers = itertools.count()


def step(number: Optional[SupportsIndex] = None) -> None:
    """An iteration of a training or of inference begins. Without a number it gets the number after the last step's."""
    global _numbers
    if number is None:
        chosen = next(_numbers)
    else:
        chosen = operator.index(number)
        if not 0 <= chosen < 2**64 - 1:
            raise ValueError(f"the number of a step is 0 to 2**64 - 2, not {chosen}")
        _numbers = itertools.count(chosen + 1)
    runtime.step(chosen)


def mark(text: str) -> None:
    """The program has reached a point that it names, such as "model loaded"."""
    runtime.mark(encoded(text))
