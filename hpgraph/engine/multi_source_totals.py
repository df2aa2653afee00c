"""Breadth-first searches of which only totals are kept, for centralities that are sums of distances."""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import Graph, id
from hpgraph.core.device import sources_within, to_device
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.definition import Property
from hpgraph.engine.direction import Direction
from hpgraph.engine.forms import form_of
from hpgraph.engine.grouping import groups, order_of, some_of, sources_at_most
from hpgraph.engine.program import VertexProgram
from hpgraph.engine.result import Trace
from hpgraph.engine.run import run
from hpgraph.engine.state import ENDLESS
from hpgraph.formats import occurrences
from hpgraph.kernels.backend import joint_traversal, kernels
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.traversal import Totals
from hpgraph.placement.in_memory import InMemory


class Levels(VertexProgram):
    """The superstep in which a search reaches a vertex."""

    weighted = False
    reduce = "any"
    level = Property("int32", initial=-1, start=0)

    def gather(source, weight, target):  # noqa: D102
        return 0

    def update(vertex, message, world):  # noqa: D102
        return world.superstep


class LevelsBack(Levels):
    """`Levels` against the arcs: distances to the start of the search."""

    edges = "out"


class Survey(NamedTuple):
    """Totals of a search a source: reached, sums of levels and inverses, largest level, histogram, group traces."""

    reached: np.ndarray
    total: np.ndarray
    inverse: np.ndarray
    farthest: np.ndarray
    histogram: np.ndarray
    traces: list[Trace]


def survey(
    graph: Graph, sources: Any, *, incoming: bool = False, max_depth: int | None = None, group_size: int | str = "auto"
) -> Survey:
    """Search breadth-first from each source, given as indices in NumPy or None for all, and keep totals."""
    listed = np.arange(graph.n_vertices) if sources is None else np.asarray(sources, np.int64)
    if graph.in_pages:
        return _one_by_one(graph, listed, incoming, max_depth)
    policy = Direction.of("auto")
    joint, k, device = joint_traversal(graph.device), len(listed), graph.device
    arcs = InMemory(graph, "out" if incoming else "in", weighted=False)
    starts = Starts(listed.astype(graph.out_csr.indices.dtype), np.arange(k, dtype=np.int32), k)
    result = _empty_survey(k)
    declared = declarations_of(Levels)
    form = form_of(declared, declared.code((np.dtype(np.int32),)))
    histogram = result.histogram

    def collect(group: np.ndarray, totals: Totals) -> np.ndarray:
        for name, values in totals.of_sources()._asdict().items():
            getattr(result, name)[group] = values
        # Fetched at once: the function would keep a launch's work space alive.
        trace = Trace(totals.rows(), form)
        result.traces.append(trace)
        return _extended(histogram, trace.rows[:, 4])

    with kernels(device).interruptible():
        at_once = sources_at_most(group_size, k, joint.MAX_SURVEYED)
        # The host collects of one group while the next one runs.
        at_once = sources_within(
            at_once, lambda group: 2 * joint.work_space(graph.n_vertices, group, starts.vertices.dtype), device
        )
        running: tuple[np.ndarray, Totals] | None = None
        # Sources that share a frontier are in one group; a call may run several groups.
        order = order_of(listed, arcs.sending, min(at_once, joint.MAX_SOURCES))
        for part in groups(np.arange(k), at_once, "searches"):
            group = order[part]
            totals = joint.survey_sources(Search(
                None, arcs.sending, (), (), (), some_of(starts, group, device),
                ENDLESS if max_depth is None else max_depth, arcs.by_target, policy.alpha, policy.beta, policy.forced,
            ))  # fmt: skip
            # A GPU goes on with this group while the host collects the last.
            if running is not None:
                histogram = collect(*running)
            running = group, totals
        if running is not None:
            histogram = collect(*running)
    return result._replace(histogram=histogram)


def _one_by_one(graph: Graph, listed: np.ndarray, incoming: bool, max_depth: int | None) -> Survey:
    """One search at a time, each loading the pages that it reads."""
    k = len(listed)
    totals = _empty_survey(k)
    histogram = totals.histogram
    for at, source in enumerate(listed.tolist()):
        search = run(LevelsBack if incoming else Levels, graph, active=id(source), max_iteration=max_depth)
        counts = to_device(occurrences(search.level + 1, int(search.level.max()) + 2), "cpu")[1:]
        level = np.arange(len(counts))
        totals.reached[at], totals.total[at] = counts.sum(), (counts * level).sum()
        totals.inverse[at], totals.farthest[at] = (counts[1:] / level[1:]).sum(), level[-1]
        totals.traces.append(search.trace)
        histogram = _extended(histogram, counts[1:])
    return totals._replace(histogram=histogram)


def _empty_survey(k: int) -> Survey:
    reached, total, farthest = (np.zeros(k, np.int64) for _ in range(3))
    return Survey(reached, total, np.zeros(k), farthest, np.array([k], np.int64), [])


def _extended(histogram: np.ndarray, settled: np.ndarray) -> np.ndarray:
    """A histogram plus the counts of another group, from level 1."""
    settled = np.trim_zeros(settled, "b")
    wide = np.zeros(max(len(histogram), 1 + len(settled)), np.int64)
    wide[: len(histogram)] = histogram
    wide[1 : 1 + len(settled)] += settled
    return wide
