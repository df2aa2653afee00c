"""Many sources on a graph in shards: each device has the whole graph, and a part of the rows or of the sources.

With peer access, GPUs share the rows of one joint search if all messages are alike; otherwise each has a part of the
sources. Half of the sources take more than half of the time, as an arc is read once for all, and results are copied to
the first device. The faster way depends on graph and number of sources, so both are timed: all devices, and one.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, require_cupy
from hpgraph.core.devices import Devices, copy_between, move_array, on_each
from hpgraph.core.devices import shares as equal_shares
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.engine.declarations import Declarations
from hpgraph.engine.forms import TRAVERSAL, form_of
from hpgraph.engine.multi_gpu import apart
from hpgraph.engine.result import MultiSourceResult
from hpgraph.kernels.backend import sources_together, teams
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
from hpgraph.kernels.runtime.program import Beginning, ProgramCode
from hpgraph.kernels.runtime.search import Starts
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.placement.of_graph import arcs_of

# Timed calls of each way, after one that compiles, copies the graph and grows memory pools: the minimum, enough if one
# way is clearly faster, and the maximum. Disturbances only add time, so the least time counts.
MIN, MAX, CLEARLY = 2, 4, 1.1


class Strategies:
    """Chooses between all devices (True) and one by their times; calls alternate until the faster is known."""

    def __init__(self) -> None:
        self._calls = {True: 0, False: 0}
        self._min_seconds = {True: np.inf, False: np.inf}

    @property
    def is_trying(self) -> bool:
        """Whether the next call is still a trial."""
        timed = min(self._calls.values()) - 1
        low, high = sorted(self._min_seconds.values())
        return timed < MIN or (timed < MAX and high < CLEARLY * low)

    def choose(self) -> bool:
        """The way of the next call."""
        if self.is_trying:
            return self._calls[True] <= self._calls[False]
        return self._min_seconds[True] <= self._min_seconds[False]

    def rule_out(self, on_all: bool) -> None:
        """Exclude a way from further calls."""
        self._calls[on_all] = MAX + 1

    def note(self, on_all: bool, seconds: float) -> None:
        """Record the time of a trial; the first call of a way compiles, and is not counted."""
        if self._calls[on_all]:
            self._min_seconds[on_all] = min(self._min_seconds[on_all], seconds)
        self._calls[on_all] += 1


def shared_by_rows(
    graph: DividedGraph, declared: Declarations, code: ProgramCode, beginnings: tuple[Beginning | None, ...], k: int
) -> Callable[[], Parts] | None:
    """A function that returns the devices as a team sharing searches by rows; None if they cannot."""
    sharing = sources_together(graph.device)
    if sharing is None or not techniques.multi_gpu or apart(graph) is not None:
        return None
    if form_of(declared, code).loop != TRAVERSAL or not sharing.may_share(code, beginnings, k):
        return None

    def build() -> Parts:
        team, rows = teams(graph.device), []
        for shard, replica in zip(graph.shards, graph.replicas, strict=True):
            with shard.device.here:
                arcs: Any = arcs_of(replica, declared.edges, declared.weighted, code)
                index = require_cupy().cuda.runtime.getDevice()
                rows.append(team.Rows(index, shard.first, shard.last, arcs.sending, arcs.by_target))
        return team.Parts(rows)

    return lambda: graph.once(f"team for sources, {declared.edges}, {declared.weighted}", build)


def sources_on_devices(
    graph: DividedGraph, starts: Starts, name: str, shares: Callable[[], Parts] | None,
    go: Callable[..., MultiSourceResult],
) -> MultiSourceResult:  # fmt: skip
    """Run sources on all devices or on the first one, as was faster in a trial."""
    # One entry for each power of two of the number of sources.
    strategies: Strategies = graph.once(f"ways of {starts.k.bit_length()} bits of sources of {name}", Strategies)
    on_all = strategies.choose()

    target = graph.shards[0].device

    def found() -> MultiSourceResult:
        if on_all and shares is None:
            return divided_sources(graph, starts, go)
        with target.here:
            if on_all and shares is not None:
                try:
                    return go(graph.whole, starts, shares())
                except DeviceMemoryError:
                    strategies.rule_out(True)
            return go(graph.whole, starts)

    if not strategies.is_trying:
        return found()
    _wait(target)
    began = time.perf_counter()
    result = found()
    _wait(target)
    strategies.note(on_all, time.perf_counter() - began)
    return result


def _wait(device: Devices) -> None:
    if device.kind == "cuda":
        with device.here:
            require_cupy().cuda.get_current_stream().synchronize()


def divided_sources(
    graph: DividedGraph, starts: Starts, go: Callable[[Graph, Starts], MultiSourceResult]
) -> MultiSourceResult:
    """Run sources on all devices at once."""
    replicas, devices, k = graph.replicas, [shard.device for shard in graph.shards], starts.k
    parts = equal_shares(k, len(devices))
    results = on_each(devices[: len(parts)], lambda number: go(replicas[number], _consecutive(starts, parts[number])))
    target = devices[0]
    with target.here:
        xp = array_module(target.kind)
        properties = {}
        for name, values in results[0].properties.items():
            properties[name] = xp.empty((k, graph.n_vertices), values.dtype)
            for share, result in zip(parts, results, strict=True):
                copy_between(result.properties[name], properties[name][share])
        found = MultiSourceResult(properties)
        for share, result in zip(parts, results, strict=True):
            found.active.extend(move_array(active, target) for active in result.active)
            found.groups.extend(group + share.start for group in result.groups)
            found.traces.extend(result.traces)
            found.unfinished |= result.unfinished
        for name in results[0].world:
            found.world[name] = [value for result in results for value in result.world[name]]
    return found


def _consecutive(starts: Starts, share: slice) -> Starts:
    """The starts of consecutive sources."""
    selected = (starts.source >= share.start) & (starts.source < share.stop)
    return Starts(starts.vertices[selected], starts.source[selected] - np.int32(share.start), share.stop - share.start)
