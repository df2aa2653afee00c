"""Many starts of one edge-vertex program: source after source, as each changes edges of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module, check_memory, native
from hpgraph.engine.result import MultiSourceResult, RunResult
from hpgraph.engine.state import ENDLESS

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.declarations import EdgeDeclarations


def run_edges_from_sources(
    declared: EdgeDeclarations, graph: Graph, active: Any, limit: int, initial: dict[str, Any],
    alone: Callable[[Any, dict[str, Any]], RunResult],
) -> MultiSourceResult:  # fmt: skip
    """Run an edge-vertex program in sources, each by `alone` from its start vertices with its initial values.

    Vertex properties of the result have shape (k, n), edge properties (k, m).
    """
    k = len(active)
    if k == 0:
        raise ValueError("active must hold at least one list of vertices to start from")
    given = _by_sources(declared, initial, k)
    found: MultiSourceResult | None = None
    for source in range(k):
        own = {name: values[source] if name in given else values for name, values in {**initial, **given}.items()}
        one = alone(active[source], own)
        if found is None:
            found = _room(declared, one, graph, k)
        for name, values in one.properties.items():
            found.properties[name][source] = values
        for name, value in one.world.items():
            found.world.setdefault(name, []).append(value)
        found.active.append(one.active)
        found.unfinished |= len(one.active) > 0 or (limit < ENDLESS and one.supersteps == limit)
        found.traces.append(one.trace)
        found.groups.append(np.array([source]))
    assert found is not None  # there is a source at least
    return found


def _by_sources(declared: EdgeDeclarations, initial: dict[str, Any], k: int) -> dict[str, Any]:
    """What was given a row a source of, by name."""
    lengths = {name: 1 + bool(prop.length) for name, prop in declared.properties.items()}
    lengths |= dict.fromkeys(declared.edge_properties, 1)
    found = {}
    for name in lengths.keys() & initial.keys():
        values = native(initial[name])
        values = values if hasattr(values, "dtype") else np.array(values)
        if values.ndim <= lengths[name]:
            continue
        if values.ndim > lengths[name] + 1 or len(values) != k:
            raise ValueError(
                f"{name} must be what one run takes, or a row of that for each of the {k} sources, not shape "
                f"{values.shape}"
            )
        found[name] = values
    return found


def _room(declared: EdgeDeclarations, one: RunResult, graph: Graph, k: int) -> MultiSourceResult:
    """Room for the results of all sources, which are as large as those of one."""
    size = k * sum(values.nbytes for values in one.properties.values())
    check_memory(size, f"{declared.name} from {k} sources", graph.device)
    xp = array_module(graph.device)
    return MultiSourceResult({name: xp.empty((k, *a.shape), a.dtype) for name, a in one.properties.items()})
