"""Supersteps over all vertices of a divided graph: what a sweep is on one device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hpgraph.kernels.backend import divided_sweeps
from hpgraph.placement.on_devices import bring_home, copies

if TYPE_CHECKING:
    from hpgraph.engine.state import Run
    from hpgraph.kernels.sweep import Swept


def divided_sweep(run: Run) -> Swept | str:
    """Run a sweep on a graph in shards, or return why it must run superstep by superstep.

    The properties of `run` are initialized, and are on the first device before and after.
    """
    arcs: Any = run.arcs
    sweeps = divided_sweeps(run.device)
    if sweeps is None:
        return "the arcs lie in several parts"
    graph = arcs.graph
    state = tuple(graph.in_order_of_shards(values) for values in run.state)
    states = [copies(state, shard.device, number) for number, shard in enumerate(graph.shards)]
    shards = [(shard.device, shard.first, arcs.gathering(shard)) for shard in graph.shards]
    stop = run.declared.functions["converged"]
    swept = sweeps(run.code, shards, states, tuple(run.world.values()), stop, run.limit)
    if not isinstance(swept, str):
        bring_home(run, graph, states)
    return swept
