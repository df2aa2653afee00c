"""Parts of a graph by number, from the smallest vertex of each."""

from __future__ import annotations

from typing import Any

from hpgraph.core.device import array_module


def numbered(smallest: Any) -> tuple[int, Any]:
    """Number parts in the order of their smallest vertices; on CUDA this waits for the stream.

    ``smallest`` (integer array, shape (n,)): the smallest vertex in each vertex's part. Returns integer array, shape
    (n,): the number of each vertex's part, in the same type.
    """
    xp = array_module(smallest)
    is_smallest = smallest == xp.arange(len(smallest), dtype=smallest.dtype)
    number = xp.cumsum(is_smallest, dtype=smallest.dtype) - 1
    return (int(number[-1]) + 1 if len(number) else 0), number[smallest]
