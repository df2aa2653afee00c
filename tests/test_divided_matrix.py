"""Matrices whose rows are divided between devices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.scipy_api.divided_matrix import divide_matrix

SPARSE = scipy.sparse.random_array((500, 300), density=0.05, rng=np.random.default_rng(1), format="csr")


def test_products(places: list[str]) -> None:
    D, rng = divide_matrix(hpg.Matrix(SPARSE), places), np.random.default_rng(2)
    assert D.shape == SPARSE.shape and D.nnz == SPARSE.nnz and 0 < D.blocks[1].first < 500
    kind = places[0].partition(":")[0]
    for shape in ((300,), (300, 3)):
        x = rng.random(shape)
        found = D @ to_device(x, kind)
        np.testing.assert_allclose(to_device(found, "cpu"), SPARSE @ x, rtol=1e-12)
        D._writes_there = not D._writes_there  # as where GPUs have no access to each other's memory
        np.testing.assert_array_equal(to_device(D @ to_device(x, kind), "cpu"), to_device(found, "cpu"))
    y = rng.random(500)
    np.testing.assert_allclose(to_device(D.rmatvec(to_device(y, kind)), "cpu"), SPARSE.T @ y, rtol=1e-12)
    x = rng.random(300)
    dense = np.where(SPARSE.toarray() != 0, SPARSE.toarray() + x, np.inf)
    np.testing.assert_array_equal(to_device(D.mxv(to_device(x, kind), "min_plus"), "cpu"), dense.min(axis=1))


def test_a_solver() -> None:
    lattice = scipy.sparse.csgraph.laplacian(hpg.datasets.grid(12).out_csr.to_scipy()) + scipy.sparse.eye_array(144)
    D = divide_matrix(hpg.Matrix(lattice), ["cpu", "cpu"])
    x, info = scipy.sparse.linalg.cg(D, np.arange(144.0), rtol=1e-10)
    assert info == 0
    np.testing.assert_allclose(lattice @ x, np.arange(144.0), atol=1e-6)


def test_bad_operands() -> None:
    D = divide_matrix(hpg.Matrix(SPARSE), ["cpu", "cpu"])
    with pytest.raises(ValueError, match="x must have length 300"):
        _ = D @ np.zeros(500)
    with pytest.raises(ValueError, match=r"x must have shape \(500,\)"):
        D.rmatvec(np.zeros(300))
    with pytest.raises(ValueError, match="column by column"):
        D.mxv(np.zeros((300, 2)), "min_plus")
