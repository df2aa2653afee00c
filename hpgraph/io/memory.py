"""Memory budget of a read: given by the caller or measured, and checked before anything is allocated.

A file states its size, and a small one may claim to be very large: a megabyte of gzip becomes a gigabyte.
"""

import operator
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from hpgraph.core.device import free_memory
from hpgraph.core.errors import DeviceMemoryError

_UNITS = {"": 1, "b": 1, **{f"{prefix}ib": 1 << 10 * power for power, prefix in enumerate("kmgt", start=1)}}
_UNITS |= {f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", start=1)}
# A reader that adds up its memory checks again after this many bytes, or an eighth of the budget.
_STEP = 1 << 20
_AMOUNT = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Budget:
    """The maximum number of bytes of a read."""

    nbytes: int

    @classmethod
    def of(cls, memory: int | str | None, name: str = "memory", least: int = 1) -> Self:
        """`memory` in bytes or with a unit, as ``"4GiB"``; by default three quarters of the free memory."""
        if memory is None:
            return cls(free_memory("cpu") * 3 // 4)
        if isinstance(memory, str):
            amount = _AMOUNT.fullmatch(memory)
            if amount is None or amount[2].lower() not in _UNITS:
                raise ValueError(f'{name} must be bytes or an amount such as "4GiB" or "500MB", not {memory!r}')
            nbytes = int(float(amount[1]) * _UNITS[amount[2].lower()])
        else:
            try:
                nbytes = operator.index(memory)
            except TypeError:
                raise TypeError(
                    f'{name} must be a whole number of bytes, an amount such as "4GiB" or None, not {memory!r}'
                ) from None
        if nbytes < least:
            raise ValueError(f"{name} must be {'more than no bytes' if least else '0 bytes or more'}, not {memory!r}")
        return cls(nbytes)

    def check(self, nbytes: int, what: str) -> None:
        """Raise if a peak of `nbytes` does not fit."""
        if nbytes > self.nbytes:
            raise DeviceMemoryError(what, nbytes, self.nbytes, "cpu", allowed="may be taken (memory=... allows more)")


class Taken:
    """Counts the bytes that a reader takes; raises once they exceed the budget."""

    def __init__(self, budget: Budget, path: Path) -> None:
        self._budget, self._path = budget, path
        self._nbytes = self._due = 0

    def add(self, nbytes: int) -> None:
        """Count some more bytes."""
        self._nbytes += nbytes
        if self._nbytes > self._due:
            self._budget.check(self._nbytes, f"what was read of {self._path}, and more is to come,")
            self._due = self._nbytes + min(_STEP, self._budget.nbytes // 8)


NO_LIMIT = Budget(1 << 62)
"""For reads whose memory is checked elsewhere."""
