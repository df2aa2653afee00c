"""Arcs in memory on one device."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.formats import CSR, Frontier, RowFormat, index_dtype
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cuda_choice import layout_of_sweeps
from hpgraph.kernels.superstep import Part
from hpgraph.kernels.sweep.cuda_program import left_out
from hpgraph.placement import Arcs, Share


class InMemory(Arcs):
    """All arcs in memory on one device: one part, in layouts built on first use, chosen by the bytes of a message."""

    in_one_part = True
    traffic = None

    def __init__(self, graph: Graph, edges: str, weighted: bool, code: ProgramCode | None = None) -> None:
        self._graph = graph.undirected if edges == "all" else graph
        self._reversed = edges == "out"
        self._weighted = weighted
        self._code = code
        self._gathering: RowFormat | None = None

    @property
    def sending(self) -> CSR:
        """Arcs by sending vertex."""
        csr = self._graph.in_csr if self._reversed else self._graph.out_csr
        return csr if self._weighted else csr.pattern

    @property
    def by_target(self) -> CSR:
        """Arcs by gathering vertex."""
        csr = self._graph.out_csr if self._reversed else self._graph.in_csr
        return csr if self._weighted else csr.pattern

    @property
    def gathering(self) -> RowFormat:
        """`by_target` in the format fastest for products over all arcs; chosen once a run."""
        # Not a cached_property: a child forked while another thread is here would inherit its lock held.
        if self._gathering is None:
            self._gathering = self._quickest()
        return self._gathering

    def _quickest(self) -> RowFormat:
        rows = self.by_target
        if self._graph.device == "cpu" or self._reversed:
            return rows
        size = 8 if self._code is None else self._code.message.itemsize
        name = layout_of_sweeps(rows, size, size, blocks=self._may_go_by_blocks())
        return rows if name == "csr" else self._graph.pulled(name, self._weighted)

    def _may_go_by_blocks(self) -> bool:
        """Whether messages depend on the source alone, or on the weight and the source's first property."""
        weighted = self.by_target.data is not None
        if self._code is None:
            return not weighted
        roles = left_out(self._code)
        return "target" in roles and not (weighted and ("weight" in roles or "others" not in roles))

    def parts(self, share: Share, push: bool) -> Iterator[tuple[Part, Frontier]]:
        """The one part."""
        yield self, share.frontier


class NumberedInMemory(InMemory):
    """The arcs of a graph, in one part, each with its number in the order of `Graph.out_csr` where weights stand."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, "in", weighted=True)
        self.graph = graph

    @property
    def places(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return index_dtype(self._graph.n_edges)

    @property
    def sending(self) -> CSR:
        """Arcs by the vertex that sends: their numbers ascend."""
        return self._graph.numbered_out_csr

    @property
    def by_target(self) -> CSR:
        """Arcs by the vertex that gathers: their numbers are a permutation."""
        return self._graph.numbered_in_csr

    @property
    def gathering(self) -> CSR:
        """`by_target`: these arcs have no other layout."""
        return self.by_target

    @property
    def reverses(self) -> Any:
        """Number of each arc's reverse; -1 where there is none."""
        return self._graph.reverse_arcs
