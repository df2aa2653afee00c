"""How often ids occur, against NumPy, on each device."""

import numpy as np
import pytest

from hpgraph.core.device import to_device
from hpgraph.formats import occurrences


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int32, np.int64])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("n", [1, 40, 120])
def test_counts(device, dtype, step, n):
    # Runs of equal ones, which a warp counts together, and ids that do not occur.
    ids = np.repeat(np.random.default_rng(n).integers(0, -(-n // 2), 700), 7).astype(dtype)[::step]
    found = to_device(occurrences(to_device(ids, device), n), "cpu")
    assert found.dtype == np.int64 and found.tolist() == np.bincount(ids, minlength=n).tolist()
    weights = np.arange(len(ids), dtype=np.float32 if step == 1 else np.int64)
    found = to_device(occurrences(to_device(ids, device), n, to_device(weights, device)), "cpu")
    assert found.dtype == np.float64 and found.tolist() == np.bincount(ids, weights, n).tolist()


def test_no_vertex(device):
    for n in (0, 3):
        assert to_device(occurrences(to_device(np.zeros(0, np.int32), device), n), "cpu").tolist() == [0] * n
