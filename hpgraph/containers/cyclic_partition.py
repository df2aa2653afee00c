"""Cyclic partition: vertices by falling degree, round-robin, so that parts have as many vertices and similar hubs."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.formats import CSR

# Bounds of parts are multiples of this: no word of a bitmask belongs to two parts.
GRAIN = 64


def dealt(degrees: Any, parts: int, ids: np.dtype) -> tuple[Any, Any, np.ndarray]:
    """Vertices in order of falling degree, assigned to parts round-robin; the hubs of a part come first.

    Returns ``order, place`` (arrays of shape (n,)), the vertex at each place and the place of each vertex; ``bounds``
    (int64 NumPy array of shape (parts + 1,)), where parts begin: multiples of 64, so the last part may be smaller.
    """
    xp, n = array_module(degrees), len(degrees)
    falling = xp.argsort(-degrees, kind="stable")
    size = min(-(-n // (GRAIN * parts)) * GRAIN, n)
    bounds = np.minimum(np.arange(parts + 1) * size, n)
    sizes = np.diff(bounds)
    # Round-robin into parts that are not full: all parts up to the smallest size, then the larger ones.
    dealt_to: list[list[Any]] = [[] for _ in range(parts)]
    begin = given = 0
    for least in np.unique(sizes[sizes > 0]).tolist():
        players = [part for part in range(parts) if sizes[part] >= least]
        end = begin + (least - given) * len(players)
        for seat, part in enumerate(players):
            dealt_to[part].append(falling[begin + seat : end : len(players)])
        begin, given = end, least
    order = xp.concatenate([cards for of_part in dealt_to for cards in of_part] or [falling]).astype(ids)
    place = xp.empty_like(order)
    place[order] = xp.arange(n, dtype=ids)
    return order, place, bounds


def renumbered(csr: CSR, number: Any) -> CSR:
    """A square matrix in which row and column i have become ``number[i]``."""
    rows, columns = number[csr.expand_rows()], number[csr.indices]
    return CSR.from_coo(rows, columns, csr.data, csr.shape, copy=False)
