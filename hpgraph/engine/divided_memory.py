"""Whether a run on several devices fits them: each holds its own arcs, and the properties of all vertices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hpgraph.core.device import fits
from hpgraph.core.errors import BudgetError, readable
from hpgraph.engine.values import type_of

if TYPE_CHECKING:
    from hpgraph.containers.divided_graph import DividedGraph
    from hpgraph.engine.declarations import Declarations


def check_fit(graph: DividedGraph, declared: Declarations, initial: dict[str, Any]) -> None:
    """Raise BudgetError, before anything is allocated, where a device has too little memory for its share of a run."""
    each, everyone = bytes_of_vertex(declared, initial), declared.activity == "all"
    # A run that fitted once is assumed to fit again: a query of the driver takes longer than a search's kernels.
    fitted: set[tuple[int, bool]] = graph.once("runs that fit", set)
    if (each, everyone) in fitted:
        return
    n = graph.n_vertices
    arcs = max(shard.in_csr.nnz for shard in graph.shards)
    of_arc = graph.id_dtype.itemsize + (graph.dtype.itemsize if graph.weighted and graph.dtype is not None else 0)
    # Offsets of all rows; if a superstep may push, also the arcs by source.
    extra = 8 * (n + 1) + (0 if everyone else arcs * of_arc + 8 * (n + 1)) + n * each
    least = max(shard.nbytes for shard in graph.shards) + extra
    for shard in graph.shards:
        with shard.device.here:
            if least > graph.memory if graph.memory is not None else not fits(extra, shard.device.kind):
                given = "the free memory of" if graph.memory is None else f"the {readable(graph.memory)} of"
                raise BudgetError(
                    f"{declared.name} takes {readable(least)} a device, more than {given} {shard.device}: divide the "
                    f"graph between more devices, give memory={least}, or open it in pages: "
                    'hpgraph.open("graph.hpg", device=..., memory=...)'
                )
    fitted.add((each, everyone))


def bytes_of_vertex(declared: Declarations, initial: dict[str, Any]) -> int:
    """Bytes that a vertex takes in the general loop: properties, a message, and the lists and bits of work spaces."""
    properties, largest = 0, 0
    for name, prop in declared.properties.items():
        nbytes = type_of(prop.dtype, initial.get(name, prop.initial), name).itemsize * (prop.length or 1)
        properties, largest = properties + nbytes, max(largest, nbytes)
    # A message, and the values that it is computed beside; three lists of ids; sets as bits and bytes.
    return properties + 2 * largest + 3 * 8 + 2
