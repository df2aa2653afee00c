"""The transpose of a CSR matrix on the CPU: by SciPy, and by several threads."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from hpgraph.formats import CSR
from hpgraph.kernels.structure import cpu_transpose

# Up to how many entries SciPy serves.
WAYS = {"scipy": 1 << 30, "threads": 0}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [None, "float32"])
@pytest.mark.parametrize("shape", [(40, 70), (70, 40), (1, 300), (300, 1)])
def test_every_way(monkeypatch: pytest.MonkeyPatch, way: str, dtype: Any, shape: tuple[int, int]) -> None:
    monkeypatch.setattr(cpu_transpose, "PARALLEL_ENTRIES", WAYS[way])
    given = sparse.random_array(shape, density=0.3, rng=np.random.default_rng(3), dtype="float32").tocsr()
    given.sort_indices()
    csr = CSR(shape, given.indptr, given.indices, None if dtype is None else given.data)
    turned = cpu_transpose.transpose(csr)
    expected = given.T.tocsr()
    expected.sort_indices()
    assert turned.shape == shape[::-1] and turned.indices.dtype == csr.indices.dtype
    np.testing.assert_array_equal(turned.indptr, expected.indptr)
    np.testing.assert_array_equal(turned.indices, expected.indices)
    if dtype is None:
        assert turned.data is None
    else:
        assert turned.data.dtype == dtype
        np.testing.assert_array_equal(turned.data, expected.data)


@pytest.mark.parametrize("way", WAYS)
def test_duplicates_keep_their_order(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setattr(cpu_transpose, "PARALLEL_ENTRIES", WAYS[way])
    indptr, indices = np.array([0, 3, 4]), np.array([1, 1, 0, 1], np.int32)
    csr = CSR((2, 2), indptr, indices, np.array([5, 3, 4, 2], np.float32), validate=False)
    turned = cpu_transpose.transpose(csr)
    assert turned.indices.tolist() == [0, 0, 0, 1]
    assert turned.data.tolist() == [4, 5, 3, 2]
