"""Vertex programs that only a cluster needs, and what the blocks fill properties with by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.engine.definition import Property
from hpgraph.engine.program import VertexProgram


class Label(VertexProgram):
    """The smallest number that arrives, a vertex's own to begin with."""

    weighted = False
    reduce = "min"
    label = Property("int32", initial=0, start="id")

    def gather(source, weight, target):  # noqa: D102
        return source.label


class WideLabel(Label):
    """The same for ids that need 64 bits."""

    label = Property("int64", initial=0, start="id")


def ranks(n: int, degree: np.ndarray, share: Any) -> dict[str, np.ndarray]:
    """How PageRank begins: with the n-th part of all rank at each vertex.

    Parameters
    ----------
    n : int
        Vertices of the whole graph.
    degree : int64 array
        Arcs that leave each of some vertices.
    share : numpy.dtype
        Type of the ranks.

    Returns
    -------
    dict
        ``leaving``, -1 where nothing does, and ``share``, the rank for each arc.
    """
    leaving = np.where(degree == 0, -1, degree).astype(np.int32)
    return {"leaving": leaving, "share": (share.type(1 / n) / leaving).astype(share)}


# What a run can be told to begin with by name: functions of the number of vertices, own degrees, and the first type.
PREPARED: dict[str, Callable[..., dict[str, np.ndarray]]] = {"pagerank": ranks}
