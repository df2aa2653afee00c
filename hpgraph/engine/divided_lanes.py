"""Many starts on a graph in shards: each device has the whole graph, and a part of the starts.

An arc is read once for all lanes, so half of the lanes take more than half of the time. But they have nothing to tell
each other, and what each lane brings is half as much to write on every device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.core.devices import bring, copy_between
from hpgraph.core.each_device import on_each, shares
from hpgraph.engine.result import LanesResult
from hpgraph.kernels.lanes import Starts

if TYPE_CHECKING:
    from hpgraph.containers.divided_graph import DividedGraph
    from hpgraph.containers.graph import Graph


def divided_lanes(graph: DividedGraph, starts: Starts, go: Callable[[Graph, Starts], LanesResult]) -> LanesResult:
    """Run lanes on all devices at once.

    Parameters
    ----------
    graph : DividedGraph
    starts : Starts
        In NumPy.
    go : callable
        Runs some lanes on a graph that lies on one device.

    Returns
    -------
    LanesResult
        On the first device.

    Raises
    ------
    DeviceMemoryError
        When the whole graph will not fit each device.
    """
    replicas, devices, k = graph.replicas, [shard.device for shard in graph.shards], starts.k
    parts = shares(k, len(devices))
    results = on_each(devices[: len(parts)], lambda number: go(replicas[number], _some(starts, parts[number])))
    home = devices[0]
    with home.here:
        xp = array_module(home.kind)
        properties = {}
        for name, values in results[0].properties.items():
            properties[name] = xp.empty((k, graph.n_vertices), values.dtype)
            for share, result in zip(parts, results, strict=True):
                copy_between(result.properties[name], properties[name][share])
        found = LanesResult(properties)
        for share, result in zip(parts, results, strict=True):
            found.active.extend(bring(active, home) for active in result.active)
            found.groups.extend(group + share.start for group in result.groups)
            found.traces.extend(result.traces)
            found.unfinished |= result.unfinished
        for name in results[0].world:
            found.world[name] = [value for result in results for value in result.world[name]]
    return found


def _some(starts: Starts, share: slice) -> Starts:
    """The starts of some lanes in a row."""
    mine = (starts.lanes >= share.start) & (starts.lanes < share.stop)
    return Starts(starts.vertices[mine], starts.lanes[mine] - np.int32(share.start), share.stop - share.start)
