"""Whole arrays reduced to one number: against NumPy, in stretches too."""

from __future__ import annotations

import numpy as np
import pytest

from hpgraph.core import reductions
from hpgraph.core.device import to_device


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 1000])
def test_masks(n: int, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "_STRETCH", 8)
    for seed in range(3):
        mask = np.random.default_rng(seed).random(n) < (0, 0.01, 0.5)[seed]
        there = to_device(mask, device)
        assert reductions.anywhere(there) is bool(mask.any())
        assert reductions.count(there) == int(mask.sum())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32", "float64"])
def test_sums_are_made_in_the_wider_type(dtype: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "_STRETCH", 8)
    for n in (0, 3, 8, 500):
        array = np.full(n, 100, dtype)
        assert reductions.total(to_device(array, device), np.int64 if dtype[0] in "iu" else np.float64) == 100 * n
    assert reductions.total(to_device(np.array([2**24, 1], np.float32), device), np.float64) == 2**24 + 1
