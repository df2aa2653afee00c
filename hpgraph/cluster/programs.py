"""Degrees of a graph on a cluster: arrays that its blocks compute, and programs that gather them at the client."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.engine.program import Property, VertexProgram


class OfDegrees(np.lib.mixins.NDArrayOperatorsMixin):
    """An array by vertex, in arithmetic too, that blocks compute from their own vertices' out-degrees."""

    def __init__(self, graph: Any, make: Callable[[np.ndarray], np.ndarray]) -> None:
        self.graph, self.make = graph, make

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.make(np.asarray(self.graph.out_degree)), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or any(one is not self and np.ndim(one) for one in inputs):
            inputs = tuple(np.asarray(one) if isinstance(one, OfDegrees) else one for one in inputs)
            return getattr(ufunc, method)(*inputs, **options)
        make, numbers = self.make, tuple(None if one is self else one for one in inputs)
        return OfDegrees(self.graph, lambda degree: ufunc(*(make(degree) if x is None else x for x in numbers)))

    def astype(self, dtype: Any, copy: bool = True) -> "OfDegrees":
        """The same array in another type."""
        make = self.make
        return OfDegrees(self.graph, lambda degree: make(degree).astype(dtype, copy=copy))


class OutDegree(VertexProgram):
    """Out-degree of each vertex, without a superstep."""

    weighted = False
    reduce = "plus"
    activity = "all"
    max_iteration = 0
    degree = Property("int64")

    def gather(source, weight, target):  # noqa: D102
        return 1

    def update(vertex, message):  # noqa: D102
        return vertex.degree


class InDegree(OutDegree):
    """In-degree of each vertex."""

    edges = "out"


class Loops(OutDegree):
    """Number of loops of each vertex."""

    max_iteration = 1

    def gather(source, weight, target):  # noqa: D102
        return 1 if source.id == target.id else 0  # type: ignore[attr-defined]

    def update(vertex, message):  # noqa: D102
        return message
