"""How often each vertex, row or column is named."""

from __future__ import annotations

from typing import Any

from hpgraph.formats.storage import backend


def occurrences(ids: Any, n: int) -> Any:
    """How often each of 0, ..., n - 1 occurs among `ids`.

    Parameters
    ----------
    ids : integer array
        All of them from 0 to n - 1; not checked.
    n : int

    Returns
    -------
    int64 array of shape (n,)
        On the device of `ids`.

    Notes
    -----
    ``cupy.bincount`` looks for negative numbers first, by a template that NVRTC takes 4 s to compile.

    Examples
    --------
    >>> import numpy as np
    >>> occurrences(np.array([2, 0, 2]), 4).tolist()
    [1, 0, 2, 0]
    """
    return backend("convert", ids).occurrences(ids, n)
