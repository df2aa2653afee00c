"""What a new format defines, shown by one of the test's own: products, sweeps and traversals then run in it."""

from dataclasses import InitVar, dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from reference_formats import host

import hpgraph as hpg
from hpgraph.core.device import array_module
from hpgraph.formats import CSR, ROW_FORMATS, Division, RowFormat, Tail


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class DCSR(RowFormat):
    """Doubly compressed rows (A. Buluç, J. Gilbert, IPDPS'08): only rows with entries have a pointer."""

    shape: tuple[int, int]
    rows: Any
    indptr: Any
    indices: Any
    data: Any = None
    validate: InitVar[bool] = True

    name: ClassVar[str] = "dcsr"
    made: ClassVar[list[str]] = []

    def __post_init__(self, validate: bool) -> None:
        self.made.append(self.device)

    @property
    def nnz(self) -> int:
        return len(self.indices)

    @property
    def tail(self) -> Tail:
        return Tail(self.rows, self.indptr, self.indices, self.data)

    @classmethod
    def from_csr(cls, csr):
        xp = array_module(csr.indices)
        filled = xp.flatnonzero(csr.degrees)
        indptr = xp.append(csr.indptr[:-1][filled], csr.indptr[-1:])
        return cls(csr.shape, filled.astype(csr.indices.dtype), indptr, csr.indices, csr.data)

    def to_csr(self):
        xp = array_module(self.indices)
        lengths = xp.zeros(self.shape[0] + 1, np.int64)
        lengths[self.rows + 1] = self.indptr[1:] - self.indptr[:-1]
        return CSR(self.shape, xp.cumsum(lengths), self.indices, self.data)

    @classmethod
    def division(cls, csr):
        """As if products cost nothing, so that all that choose a format choose this one."""
        return Division(0, 0, 0)


@pytest.fixture(autouse=True)
def dcsr(monkeypatch):
    monkeypatch.setitem(ROW_FORMATS, "dcsr", DCSR)
    DCSR.made.clear()


@pytest.fixture
def graph(device):
    G = hpg.datasets.kron(9, 4, weighted=True)
    assert (G.in_degree == 0).any()
    return hpg.Graph(DCSR.from_csr(G.out_csr)).to(device), G


def test_it_multiplies(device, graph):
    _, G = graph
    for A, B in ((hpg.Matrix(G, format="dcsr"), hpg.Matrix(G)), (hpg.Matrix(DCSR.from_csr(G.out_csr)), hpg.Matrix(G))):
        A, B = A.to(device), B.to(device)
        xp = array_module(device)
        x, X = xp.arange(A.shape[1], dtype=np.float32), xp.ones((A.shape[1], 3), np.float32)
        mask = x % 3 == 0
        for one, other in ((A @ x, B @ x), (A.T @ x, B.T @ x), (A @ X, B @ X)):
            np.testing.assert_allclose(host(one), host(other), rtol=1e-5)
        assert (host(A.mxv(x, "min_plus", mask=mask)) == host(B.mxv(x, "min_plus", mask=mask))).all()
        assert A.layout_if_built("dcsr") is not None
    assert A.layout == {"cpu": "csr", "cuda": "csr"}[device], "too small a matrix to choose for"
    A = hpg.Matrix(G, format="dcsr")
    assert A.layout == "dcsr" and isinstance(A.T.rows, DCSR) and "dcsr, as format" in A.explain()


def test_it_sweeps_and_traverses(device, graph):
    H, G = graph
    DCSR.made.clear()
    np.testing.assert_allclose(host(hpg.pagerank(H).rank), hpg.pagerank(G).rank, rtol=1e-6)
    assert (device == "cuda") == bool(DCSR.made), "on the CPU sweeps read CSR"
    for name in ("push", "pull"):
        assert (host(hpg.bfs(H, 3, direction=name).level) == hpg.bfs(G, 3).level).all()
    assert np.array_equal(host(hpg.sssp(H, 3).distance), hpg.sssp(G, 3).distance)
