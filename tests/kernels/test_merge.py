"""Where entries of one matrix stand in another, on each device, against dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hpgraph.device import kernels, to_device
from hpgraph.formats import CSR


def made(rng: Any, shape: tuple[int, int], density: float, index: str = "int32") -> CSR:
    row, column = (rng.random(shape) < density).nonzero()
    csr = CSR.from_coo(row, column, None, shape)
    return CSR(shape, csr.indptr, csr.indices.astype(index))


def places(csr: CSR) -> dict[tuple[int, int], int]:
    pairs = zip(csr.expand_rows().tolist(), csr.indices.tolist(), strict=True)
    return {place: position for position, place in enumerate(pairs)}


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (5, 7), (1, 3000), (900, 400)])
@pytest.mark.parametrize("densities", [(0.3, 0.3), (0.01, 0.9), (0.5, 0.0)])
def test_locate_and_union(shape: tuple[int, int], densities: tuple[float, float], device: str) -> None:
    rng = np.random.default_rng(0)
    a, b = made(rng, shape, densities[0]), made(rng, shape, densities[1], "int64")
    in_a, in_b = places(a), places(b)
    x, y = a.to(device), b.to(device)
    backend = kernels(device)
    found = to_device(backend.locate(x, y), "cpu")
    assert found.tolist() == [in_b.get(place, -1) for place in in_a]
    indptr, indices, from_a, from_b = (to_device(array, "cpu") for array in backend.union(x, y))
    union = CSR(shape, indptr, indices)
    assert union.is_canonical() and set(places(union)) == set(in_a) | set(in_b)
    assert from_a.tolist() == [in_a.get(place, -1) for place in places(union)]
    assert from_b.tolist() == [in_b.get(place, -1) for place in places(union)]
