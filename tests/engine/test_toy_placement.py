"""A placement is what `hpgraph.placement.Arcs` says: random thirds of the arcs serve every algorithm."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from test_placements import GRAPHS, MATRICES, _call, _values

import hpgraph as hpg
from hpgraph.core.placements import PLACEMENTS
from hpgraph.formats import CSR
from hpgraph.placement import Arcs
from hpgraph.placement.in_memory import InMemory
from hpgraph.placement.of_graph import arcs_of


class Scattered(hpg.Graph):
    """A graph of which the arcs of a run come in three parts, in any order."""


class ScatteredArcs(Arcs):
    """Each arc in one of three parts."""

    joins = True

    def __init__(self, graph: Scattered, edges: str, weighted: bool) -> None:
        self.sending = InMemory(graph, edges, weighted).sending
        arcs = self.sending.to("cpu")
        n, data = arcs.shape[0], np.ones(arcs.nnz) if arcs.data is None else arcs.data
        source = np.repeat(np.arange(n), np.diff(arcs.indptr))
        number = np.random.default_rng(7).integers(0, 3, arcs.nnz)
        self._parts = []
        for part in range(3):
            mine = number == part
            csr = sp.csr_array((data[mine], (source[mine], arcs.indices[mine])), shape=(n, n))
            self._parts.append(SimpleNamespace(sending=self._there(csr), gathering=self._there(csr.T.tocsr())))

    def _there(self, csr: sp.csr_array) -> CSR:
        csr.sort_indices()
        data = None if self.sending.data is None else csr.data.astype(self.sending.data.dtype)
        ids = csr.indices.astype(self.sending.indices.dtype)
        return CSR(csr.shape, csr.indptr.astype(np.int64), ids, data).to(self.sending.device)

    def parts(self, share, push):
        """The three, one after the other."""
        for part in self._parts:
            yield part, share.frontier


@arcs_of.register
def _(graph: Scattered, edges: str, weighted: bool, code: object) -> ScatteredArcs:
    return ScatteredArcs(graph, edges, weighted)


SERVED = sorted(set().union(*(placement.serves.split() for placement in PLACEMENTS.values())))


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("directed", [True, False])
def test_the_same_as_in_memory(name, directed, device) -> None:
    graph = Scattered(MATRICES[directed], directed=directed).to(device)
    assert isinstance(graph, Scattered)
    if directed and name == "triangle_count":
        pytest.skip("of undirected graphs")
    found, expected = _values(_call(name, graph)), _values(_call(name, GRAPHS[directed]))
    # Sums of floats are of the parts' sums.
    rounded = found.dtype.kind == "f"
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-11) if rounded else np.array_equal(found, expected)
