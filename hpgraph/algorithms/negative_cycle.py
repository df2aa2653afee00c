"""Negative cycle detection during a Bellman–Ford run.

Every vertex points to the in-neighbour that offers it the least. If those pointers close a cycle of negative length,
no shortest path exists (B. Cherkassky, A. Goldberg, "Negative-cycle detection algorithms", 1999, Section 3). Pointers
are followed for all vertices at once by doubling, so that the search takes a few array operations on either device.
"""

from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, to_device
from hpgraph.core.errors import NegativeCycleError
from hpgraph.engine.program import Property, VertexProgram, run


class Offer(VertexProgram):
    """The minimum offer of a vertex's in-neighbours: distance plus weight."""

    reduce = "min"
    activity = "all"
    max_iteration = 1
    distance = Property()
    offer = Property()

    def gather(source, weight, target):  # noqa: D102
        return source.distance + weight

    def update(vertex, message):  # noqa: D102
        return vertex.distance, message


class Offerer(VertexProgram):
    """The in-neighbour of smallest id with the minimum offer, if that does not exceed the distance; else -1."""

    reduce = "min"
    activity = "all"
    max_iteration = 1
    message = "int64"
    pointer = Property("int64", initial=-1)
    distance = Property()
    offer = Property()

    def gather(source, weight, target):  # noqa: D102
        holds = source.distance + weight == target.offer and target.offer <= target.distance
        return source.id if holds and target.offer != np.inf else 9223372036854775807  # type: ignore[attr-defined]

    def update(vertex, message):  # noqa: D102
        return (message if message != 9223372036854775807 else -1), vertex.distance, vertex.offer


def check_no_negative_cycle(graph: Graph, start: int, distance: Any, supersteps: int) -> None:
    """Raise if the distances of an unfinished Bellman-Ford run show that the source reaches a negative cycle."""
    offer = run(Offer, graph, distance=distance, offer=distance).offer
    pointer = run(Offerer, graph, distance=distance, offer=offer).pointer
    cycle = _cycle(pointer, offer < distance)
    if cycle.size and _length(graph, cycle) < 0:
        raise _found(graph, start, cycle)
    if supersteps > graph.n_vertices:
        raise _found(graph, start, _certain_cycle(graph, distance))


def _found(graph: Graph, start: int, cycle: np.ndarray) -> NegativeCycleError:
    path = ""
    source = start if graph.names is None else graph.names[start]
    if cycle.size:
        names = cycle if graph.names is None else graph.names[cycle]
        path = ", " + " -> ".join(map(str, names[:8])) + (" -> ..." if cycle.size > 8 else f" -> {names[0]}")
    return NegativeCycleError(f"source {source} reaches a cycle of negative length{path}: no shortest paths exist")


def _certain_cycle(graph: Graph, distance: Any) -> np.ndarray:
    """A negative cycle if one is certain: pointers to the neighbours that last improved close no other."""
    xp = array_module(graph.device)
    pointer, look = xp.full(graph.n_vertices, -1, np.int64), 1
    for supersteps in range(graph.n_vertices + 1):
        offer = run(Offer, graph, distance=distance, offer=distance).offer
        better = offer < distance
        pointer = xp.where(better, run(Offerer, graph, distance=distance, offer=offer).pointer, pointer)
        distance = xp.where(better, offer, distance)
        if supersteps < look:
            continue
        look *= 2
        cycle = _cycle(pointer, pointer >= 0)
        if cycle.size and _length(graph, cycle) < 0:
            return cycle
    return np.empty(0, np.int64)


def _cycle(pointer: Any, improves: Any) -> np.ndarray:
    """Vertices of a cycle of pointers on which some vertex improves, in the order of the arcs; empty if none."""
    xp = array_module(pointer)
    n = pointer.size
    # A sentinel vertex n, its own pointer, replaces -1; `pointer` itself is kept for the walk below.
    ahead = xp.append(xp.where(pointer < 0, n, pointer), n)
    steps = 1
    while steps < n:
        ahead = ahead[ahead]
        steps *= 2
    # After that many steps every walk is on a cycle, and walks from a cycle's vertices cover it.
    cycles = xp.zeros(n + 1, bool)
    cycles[ahead] = True
    caught = (cycles[:n] & improves).nonzero()[0]
    if caught.size == 0:
        return np.empty(0, np.int64)
    first = int(caught[0])
    # One cycle is short: walk it on the host.
    host = to_device(pointer, "cpu")
    cycle = [first]
    while (vertex := int(host[cycle[-1]])) != first:
        cycle.append(vertex)
    return np.array(cycle[::-1])


def _length(graph: Graph, cycle: np.ndarray) -> float:
    """Length of the cycle of arcs, with the lightest of parallel ones."""
    arcs = graph.out_csr
    total = 0.0
    for source, target in zip(cycle, np.roll(cycle, -1), strict=True):
        begin, end = int(arcs.indptr[source]), int(arcs.indptr[source + 1])
        to_target = to_device(arcs.indices[begin:end], "cpu") == target
        total += float(to_device(arcs.data[begin:end], "cpu")[to_target].min())
    return total
