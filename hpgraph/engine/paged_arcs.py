"""Arcs that do not lie in memory: windows over the pages that a superstep needs, and what bringing them costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.errors import StreamingError
from hpgraph.engine.arcs import Arcs
from hpgraph.engine.heads import head_of
from hpgraph.kernels.runtime.direction import product_pushes
from hpgraph.kernels.windows import Traffic

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.declarations import Declarations
    from hpgraph.engine.direction import Direction
    from hpgraph.formats import Frontier
    from hpgraph.kernels.runtime.program import ProgramCode
    from hpgraph.kernels.windows import Resident, Store, Survey, WindowSupersteps

# Vertices a second that look at the neighbour kept for them: reads in order, and probes of a bitmask.
_LOOKS = {"cpu": 2e8, "cuda": 1e11}


def arcs_of(graph: Graph, declared: Declarations, code: ProgramCode) -> Arcs | PagedArcs:
    """The arcs of a graph for a program, wherever they lie.

    Parameters
    ----------
    graph : Graph
    declared : Declarations
    code : ProgramCode

    Returns
    -------
    Arcs or PagedArcs
    """
    if isinstance(graph, StreamedGraph):
        return PagedArcs(graph, declared.edges, declared.weighted)
    return Arcs(graph, declared.edges, declared.weighted, code.message.itemsize)


class PagedArcs:
    """`hpgraph.engine.arcs.Arcs` of a graph whose topology stays in host memory or in a file.

    Parameters
    ----------
    graph : StreamedGraph
    edges : {"in", "out", "all"}
        Along which arcs a vertex gathers.
    weighted : bool
        Whether the program reads weights.

    Raises
    ------
    StreamingError
        When the graph's pages lie the other way.
    """

    in_one_part, in_windows = False, True

    def __init__(self, graph: StreamedGraph, edges: str, weighted: bool) -> None:
        if edges == "all" and graph.directed:
            raise StreamingError(
                'edges = "all" on a directed graph in pages: write it with directed=False, or use G.in_memory()'
            )
        self._weighted = weighted and graph.weighted
        self._graph, backwards = graph, edges == "out"
        self._by_sender = graph.store(backwards, self._weighted)
        self._by_target = graph.store(not backwards, self._weighted)
        self.traffic: list[Traffic] = []
        self._next: tuple[Store, Survey] | None = None

    @property
    def sending(self) -> Resident:
        """What is resident of the arcs by the vertex that sends: offsets, types, how many there are."""
        return (self._by_sender or self._by_target).resident  # type: ignore[union-attr]

    def direction(
        self, frontier: Frontier, policy: Direction, may_push: bool, steps: WindowSupersteps
    ) -> tuple[bool, int]:
        """Whether a superstep pushes, and how many arcs it looks at: by what either way would have to bring.

        Where the first message is enough, those who wait hear it first from the neighbour that is kept for them, and
        what is left goes the way that brings less. Elsewhere a push is worth its atomic operations where few arcs leave
        the frontier, or where it brings less than half.
        """
        sender, target = self._by_sender, self._by_target
        sent = None
        if sender is not None and may_push and policy.mode != "pull":
            sent = sender.survey(frontier, spread=True)
            frontier.arcs = sent.arcs
        if target is None:
            if sent is None:
                raise StreamingError("this gathers along arcs, and the graph has pages by source alone")
            return self._chosen(True, sender, sent)
        if sent is not None and policy.mode == "push":
            return self._chosen(True, sender, sent)
        sparse = sent is not None and product_pushes(sent.arcs, target.resident.nnz, policy.alpha)
        waits = steps.takes_one
        if waits:
            seconds = len(steps.state[0]) / _LOOKS[self._graph.device]
            if sparse and sent is not None and sent.seconds < 4 * seconds:
                return self._chosen(True, sender, sent)
            head = None if self._weighted else head_of(target, self._graph)
            if head is not None:
                steps.pull(head, frontier)
            gathered = target.survey(steps.waiting(), None if head is None else head.more, spread=True)
            push = sent is not None and sent.seconds < gathered.seconds
        else:
            if sparse:
                return self._chosen(True, sender, sent)
            gathered = target.survey(None)
            push = sent is not None and sent.seconds < gathered.seconds / 2
        return self._chosen(True, sender, sent) if push else self._chosen(False, target, gathered)

    def _chosen(self, push: bool, store: Store | None, wanted: Survey | None) -> tuple[bool, int]:
        assert store is not None and wanted is not None
        self._next = store, wanted
        return push, wanted.arcs

    def parts(self, frontier: Frontier, push: bool, steps: WindowSupersteps) -> Iterator[Any]:
        """The windows, or chosen rows, that a superstep has to look at; what they cost is noted in `traffic`.

        Parameters
        ----------
        frontier : Frontier
            Who sends.
        push : bool
            Whether arcs are looked up by who sends.
        steps : WindowSupersteps

        Yields
        ------
        Window or Spread
        """
        assert self._next is not None
        store, wanted = self._next
        before = store.moved
        yield from store.visits(wanted) if push or steps.takes_one else store.windows(wanted)
        self.traffic.append(Traffic(len(wanted.pages), wanted.nbytes, store.moved - before, wanted.seconds))

    def table(self) -> np.ndarray:
        """What each superstep took: pages, bytes wanted, bytes moved, nanoseconds predicted."""
        rows = [(t.pages, t.wanted, t.moved, t.predicted * 1e9) for t in self.traffic]
        return np.array(rows, np.int64).reshape(-1, 4)
