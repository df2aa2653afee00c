"""Where the properties of many sources begin: a row each, filled group by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import native, to_device
from hpgraph.engine.state import Column, column, sources_of
from hpgraph.kernels.runtime.search import Starts

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.declarations import Declarations


def columns(declared: Declarations, graph: Graph, initial: dict[str, Any], k: int) -> dict[str, Column]:
    """Initial values of each property. Removes those it uses from `initial`."""
    return {name: column(declared, name, prop, graph, initial, k) for name, prop in declared.properties.items()}


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
