"""Where the properties of many sources begin: a row each, filled group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpgraph.core.device import array_module, native, to_device
from hpgraph.engine.declarations import beginning
from hpgraph.engine.state import sources_of
from hpgraph.engine.values import array, as_given, type_of
from hpgraph.kernels.runtime.search import Starts

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.declarations import Declarations
    from hpgraph.kernels.runtime.program import Beginning


class Column(NamedTuple):
    """How a property begins in all sources: by a kernel, or with values of shape (n,) or (k, n)."""

    dtype: np.dtype
    beginning: Beginning | None
    values: Any

    def rows(self, device: str, k: int, n: int) -> Any:
        """The array of shape (k, n) for the results of all sources: `values`, a copy already, if it has that shape."""
        values = self.values
        if values is not None and values.ndim == 2 and values.flags.c_contiguous:
            return values
        return array_module(device).empty((k, n), self.dtype)

    def fill(self, rows: Any, sources: np.ndarray) -> None:
        """Write the initial values of some sources into `rows`, shape (len(sources), n), unless a kernel will."""
        if self.values is not None and not array_module(rows).shares_memory(rows, self.values):
            rows[...] = self.values if self.values.ndim == 1 else self.values[sources]


def columns(declared: Declarations, graph: Graph, initial: dict[str, Any], k: int) -> dict[str, Column]:
    """Initial values of each property. Removes those it uses from `initial`."""
    n = graph.n_vertices
    found: dict[str, Column] = {}
    for name, prop in declared.properties.items():
        given = name in initial
        if not given and name in declared.beginnings:
            found[name] = Column(*declared.beginnings[name], None)
            continue
        value = as_given(initial.pop(name) if given else prop.initial, graph, name)
        dtype = type_of(prop.dtype, value, name)
        if np.ndim(value) == 0:
            found[name] = Column(dtype, beginning(value, None if given else prop.start, dtype, name), None)
            continue
        if value.shape not in ((n,), (k, n)):
            raise ValueError(f"{name} must be a scalar or have shape ({n},) or ({k}, {n}), not {value.shape}")
        found[name] = Column(dtype, None, array(to_device(value, graph.device), value, dtype, name))
    return found


def starts_of(active: Any, graph: Graph) -> Starts:
    """The vertices active in the first superstep of each source."""
    k = len(active)
    ids = graph.out_csr.indices.dtype
    if getattr(active, "shape", None) == (k, 1) and active.dtype.kind in "iu":
        listed = to_device(native(graph.indices_of(active[:, 0], "active")), "cpu")
        return Starts(listed.astype(ids), np.arange(k, dtype=np.int32), k)
    each = [to_device(sources_of(one, graph), "cpu") for one in active]
    sources = np.repeat(np.arange(k, dtype=np.int32), [len(vertices) for vertices in each])
    return Starts(np.concatenate(each) if each else np.empty(0, ids), sources, k)


def first_of(starts: Starts) -> np.ndarray:
    """The first start vertex of each source, or 0 where there is none; int64 array of length k."""
    first = np.zeros(starts.k, np.int64)
    first[starts.source[::-1]] = starts.vertices[::-1]
    return first


def some_of(starts: Starts, group: np.ndarray, device: str) -> Starts:
    """The starts of the sources in `group`, which are numbered from 0."""
    begin, end = (np.searchsorted(starts.source, group, side) for side in ("left", "right"))
    counts = end - begin
    places = np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    sources = np.repeat(np.arange(len(group), dtype=np.int32), counts)
    return Starts(to_device(starts.vertices[places], device), to_device(sources, device), len(group))
