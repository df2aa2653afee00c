"""Vertex programs that only a cluster needs, and how blocks begin PageRank."""

from typing import Any

import numpy as np

from hpgraph.cluster.blocks import Block
from hpgraph.engine.definition import Parameter, Property
from hpgraph.engine.program import VertexProgram


class Label(VertexProgram):
    """The smallest label that reaches a vertex, its own included."""

    weighted = False
    reduce = "min"
    label = Property("int32", initial=0, start="id")

    def gather(source, weight, target):  # noqa: D102
        return source.label


class WideLabel(Label):
    """The same for ids that need 64 bits."""

    label = Property("int64", initial=0, start="id")


class Neighbours(VertexProgram):
    """In-degree of each vertex, without self-loops."""

    weighted = False
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    count = Property("int64")

    def gather(source, weight, target):  # noqa: D102
        return 1 if source.id != target.id else 0  # type: ignore[attr-defined]

    def update(vertex, message):  # noqa: D102
        return message


class Product(VertexProgram):
    """A row of the adjacency matrix times a vector."""

    edges = "out"
    reduce = "plus"
    activity = "all"
    message = "float64"
    max_iteration = 1
    x = Property("float64")
    y = Property("float64", initial=0.0)

    def gather(source, weight, target):  # noqa: D102
        return source.x * weight

    def update(vertex, message):  # noqa: D102
        return vertex.x, message


class Dependencies(VertexProgram):
    """Dependencies of each vertex, from the last level to the first (U. Brandes, 2001: backward pass)."""

    weighted = False
    edges = "out"
    reduce = "plus"
    activity = "all"
    message = "float64"
    level = Property("int32")
    paths = Property("float64")
    depends = Property("float64", initial=0.0)
    depth = Parameter("int32")

    def cond(vertex, world):  # noqa: D102
        return vertex.level == world.depth - world.superstep

    def gather(source, weight, target):  # noqa: D102
        return (1 + source.depends) / source.paths if source.level == target.level + 1 else 0.0  # type: ignore[operator]

    def update(vertex, message, world):  # noqa: D102
        reached = vertex.level >= 0 and vertex.level == world.depth - world.superstep  # type: ignore[operator]
        return vertex.level, vertex.paths, (vertex.paths * message if reached else vertex.depends)


def ranks(block: Block, degree: np.ndarray, share: Any) -> dict[str, np.ndarray]:
    """Initial state of PageRank, rank 1/n: ``leaving``, the out-degree or -1, and ``share``, the rank for each arc."""
    leaving = np.where(degree == 0, -1, degree).astype(np.int32)
    return {"leaving": leaving, "share": (share.type(1 / block.numbering.grid.n) / leaving).astype(share)}
