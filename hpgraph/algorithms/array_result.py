"""Results that are one array first of all, and hold beside it how it was come by."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from hpgraph.containers.result_table import ResultTable
from hpgraph.core.device import to_device


class ArrayResult(ResultTable):
    """A result that ``numpy.asarray`` takes for one of its arrays, and that is as long as that array.

    Parameters
    ----------
    array : str
        To be given where the class is derived from this one: the attribute that holds the array. Those that derive from
        such a class have the same. It is the table's only column beside the vertex, unless `columns` are given.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy
    >>> @dataclass(frozen=True)
    ... class Ranks(ArrayResult, array="rank"):
    ...     rank: numpy.ndarray
    ...     iterations: int
    >>> ranks = Ranks(numpy.array([0.25, 0.75]), iterations=3)
    >>> len(ranks), float(numpy.max(ranks))
    (2, 0.75)
    """

    _array: ClassVar[str]

    def __init_subclass__(cls, array: str | None = None, **others: Any) -> None:
        if array is not None:
            cls._array = array
            others = {"columns": (array,), **others}
        super().__init_subclass__(**others)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        # From the GPU it is copied.
        made = to_device(getattr(self, self._array), "cpu")
        if dtype is not None and made.dtype != dtype:
            return np.asarray(made.astype(dtype))
        return np.array(made) if copy else np.asarray(made)

    def __len__(self) -> int:
        return len(getattr(self, self._array))
