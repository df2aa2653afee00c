"""Values of vertices as users give them: one for all, by index, by vertex, or as vertices that share alike."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, id
from hpgraph.containers.graph import vertex_names as vertex_names
from hpgraph.containers.name_arrays import python_values
from hpgraph.core.device import array_module, everywhere, is_cuda, native, to_device, unmasked


def vertex_values(graph: Graph, given: Any, argument: str, dtype: np.dtype[Any]) -> Any:
    """One number for each vertex in a new array, from a number, an array, or a dict by vertex with 0 for others."""
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
    array = xp.empty(n, dtype)
    array[...] = to_device(values, graph.device)
    if not everywhere(xp.isfinite(array)):
        raise ValueError(f"{argument} must be finite, in {dtype}")
    return array


def as_array(given: Any, argument: str) -> Any:
    """An argument as an array, on its device."""
    values = native(unmasked(given, argument))
    if isinstance(values, np.ndarray | np.generic) or is_cuda(values):
        return values
    try:
        return np.asarray(values)
    except ValueError:
        raise ValueError(f"{argument} must have rows of one length") from None


def named_path(graph: Graph, path: list[int]) -> list[Any]:
    """The vertices of a path in Python's types, by name if the graph has names."""
    return path if graph.names is None else python_values(graph.names[path])


def distribution(values: Any, name: str, graph: Graph, dtype: np.dtype, scale: bool = True) -> Any:
    """One value for each vertex, on the graph's device, from `values` as `hpgraph.pagerank` takes a personalization."""
    xp = array_module(graph.device)
    array = to_device(as_array(_by_index(unmasked(values, name), name, graph), name), graph.device)
    if array.shape != (graph.n_vertices,):
        n = graph.n_vertices
        raise ValueError(
            f"{name} must have one value for each of the {n} vertices, not shape {array.shape}; a dict gives values by "
            "vertex, a set or hpgraph.id gives its vertices equal shares"
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold numbers, not {array.dtype}")
    with np.errstate(over="ignore"):
        array = array.astype(np.float64 if scale else dtype)
    largest = float(array.max())
    if not (everywhere(xp.isfinite(array)) and everywhere(array >= 0) and largest > 0):
        raise ValueError(f"{name} must be finite and not negative, with a positive sum")
    if scale and not 1e-200 < largest < 1e200:
        # Scaled first, since the sum may overflow or be subnormal.
        array = array / largest
    return (array / float(array.sum()) if scale else array).astype(dtype, copy=False)


def _by_index(values: Any, name: str, graph: Graph) -> Any:
    """One value for each vertex, from values by vertex or from vertices with equal shares; arrays unchanged."""
    shares: Any = 1.0
    if isinstance(values, Mapping):
        shares = list(values.values())
        if not _all_numbers(shares):
            raise TypeError(f"{name} must hold numbers, not {next(s for s in shares if not _all_numbers([s]))!r}")
    elif isinstance(values, list | tuple):
        if graph.names is None or _all_numbers(values):
            return values
    elif not isinstance(values, id | set | frozenset):
        return values
    try:
        vertices = to_device(graph.indices_of(list(values) if isinstance(values, Mapping) else values, name), "cpu")
    except ValueError as error:
        either = f"{name} must have one value for each of the {graph.n_vertices} vertices, or be of vertices"
        raise ValueError(f"{either}: {error}") from None
    if np.unique(vertices).size < vertices.size:
        raise ValueError(f"{name} must not give a vertex twice")
    spread = np.zeros(graph.n_vertices)
    try:
        spread[vertices] = shares
    except OverflowError:
        raise ValueError(f"{name} must be finite and not negative, with a positive sum") from None
    return spread


def _all_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, Real | np.bool_) for value in values)
