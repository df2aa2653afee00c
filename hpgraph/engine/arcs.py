"""Arcs of a run: parts of a graph, each resident on a device when it is yielded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.spmv.origin import without_values
from hpgraph.semiring.reads import unread

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.direction import Direction
    from hpgraph.formats import Frontier
    from hpgraph.kernels.runtime.program import ProgramCode
    from hpgraph.kernels.superstep import Part


class Arcs:
    """The arcs of a program's messages, in memory on one device: one part.

    Layouts are built on first use, and chosen by `size`, the bytes of a message: an unused transpose is never made.
    """

    # Whether `parts` yields one part, whatever the frontier: loops that lie in one kernel need that.
    in_one_part = True
    # Whether parts are windows over pages, or lie on several devices, which loops of their own are for.
    in_windows = in_shards = False

    def __init__(
        self, graph: Graph, edges: str, weighted: bool, size: int = 8, code: ProgramCode | None = None
    ) -> None:
        self._graph = graph.undirected if edges == "all" else graph
        self._reversed = edges == "out"
        self._weighted = weighted
        self._size = size
        self._code = code
        self._gathering: CSR | HYB | None = None

    def _layout(self, csr: CSR) -> CSR:
        return csr if self._weighted or csr.data is None else without_values(csr)

    @property
    def sending(self) -> CSR:
        """Arcs by sending vertex."""
        return self._layout(self._graph.in_csr if self._reversed else self._graph.out_csr)

    @property
    def by_target(self) -> CSR:
        """Arcs by gathering vertex."""
        return self._layout(self._graph.out_csr if self._reversed else self._graph.in_csr)

    @property
    def gathering(self) -> CSR | HYB:
        """`by_target` in the format fastest for products over all arcs; chosen once a run."""
        # Not a cached_property: its lock would be held for ever in a child that is forked while another thread is here.
        if self._gathering is None:
            self._gathering = self._quickest()
        return self._gathering

    def _quickest(self) -> CSR | HYB:
        rows = self.by_target
        if self._graph.device == "cpu" or self._reversed:
            return rows
        from hpgraph.kernels.spmv.cuda_choice import reads_slab

        if not reads_slab(rows, self._size, self._size, blocks=rows.data is None and not self._is_aimed()):
            return rows
        return self._graph.weighted_hyb if self._weighted else self._graph.hyb

    def _is_aimed(self) -> bool:
        """Whether messages depend on the arc or its target: then a source has no one message for all targets."""
        code = self._code
        if code is None:
            return False
        return code.edge_cond is not None or not set(code.gather.__code__.co_varnames[1:3]) <= unread(code.gather)

    def direction(self, frontier: Frontier, policy: Direction, may_push: bool, steps: Any) -> tuple[bool, int]:
        """Whether a superstep of the general loop pushes, and how many arcs it visits."""
        return policy.of_superstep(frontier, self.sending) if may_push else (False, self.sending.nnz)

    def parts(self, frontier: Frontier, push: bool, steps: Any) -> Iterator[Part]:
        """The parts that a superstep reads, one after another."""
        yield self
