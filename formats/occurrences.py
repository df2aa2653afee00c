"""How often each vertex, row or column is named."""

from __future__ import annotations

from typing import Any

from hpgraph.formats.storage import backend


def occurrences(ids: Any, n: int) -> Any:
    """How often each of 0, ..., n - 1 occurs among `ids`.

    ``cupy.bincount`` checks for negative numbers first, by a template that NVRTC takes 4 s to compile.
    """
    return backend("convert", ids).occurrences(ids, n)
