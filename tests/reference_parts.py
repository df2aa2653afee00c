"""Matrices, indices and results as NumPy arrays, which the tests of extraction and assignment share."""

from typing import Any

import numpy as np

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.formats import CSR


def dense(dtype: str = "float64", shape: tuple[int, int] = (7, 9), seed: int = 3) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 100, shape).astype(dtype)
    values[rng.random(shape) < 0.5] = 0
    values[2] = values[:, 4] = 0
    return values


def shown(found: Any) -> np.ndarray[Any, Any]:
    """A result of any kind as a NumPy array."""
    if isinstance(found, hpg.Matrix):
        assert found.csr.is_canonical()
        CSR(found.shape, *(to_device(array, "cpu") for array in (found.csr.indptr, found.csr.indices)))
        return to_device(found.toarray(), "cpu")
    return to_device(found.toarray(), "cpu") if isinstance(found, hpg.Vector) else np.asarray(found)


AXIS = [
    0, -1, 3, slice(None), slice(1, 5), slice(None, None, 2), slice(None, None, -1), slice(5, 1, -2), slice(3, 3),
    slice(-100, 100), [2], [4, 1, 1, -1], np.array([0, 2, 3], np.int8), np.array([], np.int64), [], range(1, 6, 2),
    range(5, -1, -1), np.int64(-2), np.array(2),
]  # fmt: skip
