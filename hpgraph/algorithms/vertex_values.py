"""Numbers that a user gives to vertices: one for all, one for each, or by vertex; made one array by index."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, native, to_device, unmasked


def vertex_values(graph: Graph, given: Any, argument: str, dtype: np.dtype[Any]) -> Any:
    """One number for each vertex, in a new array on the graph's device.

    ``given``: a number, an array of length n, or a dict of values by vertex, 0 for the others.
    """
    xp, n = array_module(graph.device), graph.n_vertices
    if isinstance(given, Mapping):
        for value in given.values():
            if not isinstance(value, Real | np.bool_):
                raise TypeError(f"{argument} must hold numbers, not {value!r}")
        values = np.zeros(n)
        values[to_device(graph.indices_of(list(given), argument), "cpu")] = list(given.values())
    else:
        values = as_array(given, argument)
        if values.dtype.kind not in "biuf":
            raise TypeError(f"{argument} must be a number, or one for each vertex, or a dict, not {given!r}")
        if values.shape not in ((), (n,)):
            raise ValueError(f"{argument} must have one value for each of the {n} vertices, not shape {values.shape}")
    if values.ndim == 0 and isinstance(values, np.ndarray | np.generic):
        with np.errstate(over="ignore"):
            value = values.astype(dtype)
        if not np.isfinite(value):
            raise ValueError(f"{argument} must be finite, in {dtype}")
        return xp.full(n, value, dtype)
    made = xp.empty(n, dtype)
    made[...] = to_device(values, graph.device)
    if not bool(xp.isfinite(made).all()):
        raise ValueError(f"{argument} must be finite, in {dtype}")
    return made


def as_array(given: Any, argument: str) -> Any:
    """What a user gives as an array, where it lies."""
    values = native(unmasked(given, argument))
    if hasattr(values, "dtype"):
        return values
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{argument} must have rows of one length") from None
