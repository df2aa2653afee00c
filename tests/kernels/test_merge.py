"""Matrices merged row by row, on each device, against sets of places and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels
from hpgraph.semiring import get_binary
from hpgraph.semiring.entry import entry_function


def made(rng: Any, shape: tuple[int, int], density: float, index: str = "int32") -> CSR:
    row, column = (rng.random(shape) < density).nonzero()
    csr = CSR.from_coo(row, column, None, shape)
    return CSR(shape, csr.indptr, csr.indices.astype(index))


def places(csr: CSR) -> set[tuple[int, int]]:
    return set(zip(csr.expand_rows().tolist(), csr.indices.tolist(), strict=True))


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (5, 7), (1, 3000), (900, 400)])
@pytest.mark.parametrize("densities", [(0.3, 0.3), (0.01, 0.9), (0.5, 0.0)])
def test_union(shape: tuple[int, int], densities: tuple[float, float], device: str) -> None:
    rng = np.random.default_rng(0)
    a, b = made(rng, shape, densities[0]), made(rng, shape, densities[1], "int64")
    keep = entry_function(get_binary("pair"), bool, bool)
    union = kernels(device).merge(a.to(device), b.to(device), keep, keep, keep, None).to("cpu")
    assert union.is_canonical() and places(union) == places(a) | places(b)


@pytest.mark.parametrize("threads", [1, 2])
def test_large_ones(threads: int, device: str) -> None:
    """So many entries that several tasks hand over theirs, a row that is a task of its own, and rows without any."""
    rng = np.random.default_rng(1)
    shape = (4000, 90_000)
    row = np.concatenate([rng.integers(0, 2000, 150_000) * 2, np.full(70_000, 1234)])
    column = np.concatenate([rng.integers(0, shape[1], 150_000), rng.permutation(shape[1])[:70_000]])
    S = scipy.sparse.csr_array((rng.integers(1, 4, len(row)), (row, column)), shape)
    R = scipy.sparse.csr_array((rng.integers(1, 4, len(row)), (row, np.where(row % 4, column, 7))), shape)
    with hpg.config(threads=threads):
        A, B = hpg.Matrix(S).to(device), hpg.Matrix(R).to(device)
        for found, expected in (
            (A - B, S - R),
            (A.multiply(B), S.multiply(R)),
            (A.select("valuegt", 3).maximum(B), (S * (S > 3)).maximum(R)),
        ):
            csr = found.to("cpu").csr
            assert csr.is_canonical()
            difference = csr.to_scipy(dtype=np.bool_) != expected
            assert difference.nnz == 0
        assert (A - B).nnz == (S - R).count_nonzero()
