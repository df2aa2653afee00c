"""Arcs that do not lie in memory: windows over the pages that a superstep needs, and what bringing them costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.errors import StreamingError
from hpgraph.engine.arcs import Arcs
from hpgraph.kernels.windows import Traffic, Window

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.declarations import Declarations
    from hpgraph.engine.direction import Direction
    from hpgraph.formats import Frontier
    from hpgraph.kernels.runtime.program import ProgramCode
    from hpgraph.kernels.windows import Resident, Store, WindowSupersteps


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

    in_one_part = False

    def __init__(self, graph: StreamedGraph, edges: str, weighted: bool) -> None:
        if edges == "all" and graph.directed:
            raise StreamingError(
                'edges = "all" on a directed graph in pages: write it with directed=False, or use G.in_memory()'
            )
        weighted = weighted and graph.weighted
        backwards = edges == "out"
        self._by_sender = graph.store(backwards, weighted)
        self._by_target = graph.store(not backwards, weighted)
        if self._by_sender is None and self._by_target is None:
            raise StreamingError("the graph has no pages")
        self.traffic: list[Traffic] = []

    @property
    def sending(self) -> Resident:
        """What is resident of the arcs by the vertex that sends: offsets, types, how many there are."""
        return (self._by_sender or self._by_target).resident  # type: ignore[union-attr]

    def direction(self, frontier: Frontier, policy: Direction, may_push: bool) -> tuple[bool, int]:
        """Whether a superstep pushes, and how many arcs it looks at.

        As in memory, unless one way is to be had without bringing so many pages: those of who sends are never more
        than all.
        """
        nnz = self.sending.nnz
        if self._by_sender is None:
            return False, nnz
        must = policy.mode == "push" or self._by_target is None
        if must and not may_push and self._by_target is None:
            raise StreamingError(
                "sums of floats are gathered, and the graph has pages by source alone: open it with those by target"
            )
        if must and may_push:
            return True, frontier.out_arcs(self._by_sender.resident.indptr)
        if not may_push or policy.mode == "pull":
            return False, nnz
        push, looked = policy.of_superstep(frontier, self.sending)
        if push:
            return push, looked
        sent = self._by_sender.price(self._by_sender.wanted(frontier))[1]
        gathered = self._by_target.price(self._by_target.everything)[1]  # type: ignore[union-attr]
        return (True, frontier.out_arcs(self._by_sender.resident.indptr)) if sent < gathered / 2 else (False, nnz)

    def parts(self, frontier: Frontier, push: bool, steps: WindowSupersteps) -> Iterator[Window]:
        """The windows that a superstep has to look at; what they cost is noted in `traffic`.

        Parameters
        ----------
        frontier : Frontier
            Who sends.
        push : bool
            Whether arcs are looked up by who sends.
        steps : WindowSupersteps
            Asked who may still receive.

        Yields
        ------
        Window
        """
        store: Store = self._by_sender if push else self._by_target  # type: ignore[assignment]
        pages = store.wanted(frontier if push else steps.waiting())
        nbytes, seconds = store.price(pages)
        before = store.moved
        yield from store.windows(pages)
        self.traffic.append(Traffic(len(pages), nbytes, store.moved - before, seconds))

    def table(self) -> np.ndarray:
        """What each superstep took: pages, bytes wanted, bytes moved, nanoseconds predicted."""
        rows = [(t.pages, t.wanted, t.moved, t.predicted * 1e9) for t in self.traffic]
        return np.array(rows, np.int64).reshape(-1, 4)
