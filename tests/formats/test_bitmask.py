"""Bitmask against sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_formats import host

from hpgraph.formats import Bitmask

SIZES = [0, 1, 31, 32, 63, 64, 65, 128, 1000, 40_000]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.6, 1.0])
def test_round_trips(put, n, share):
    flags = np.random.default_rng(n).random(n) < share
    members = np.flatnonzero(flags)
    shuffled = np.random.default_rng(1).permutation(np.concatenate((members, members[:5])))
    for mask in (Bitmask.from_bool(put(flags)), Bitmask.from_indices(put(shuffled), n)):
        assert host(mask.to_bool()).tolist() == flags.tolist()
        assert mask.to_bool().dtype == np.bool_
        assert host(mask.to_indices()).tolist() == members.tolist()
        assert mask.to_indices().dtype == np.int32
        assert mask.count() == mask.nnz == len(members)
        assert mask.any() == bool(len(members))
        assert mask.words.shape == ((n + 63) // 64,)
        assert Bitmask(n, mask.words).n == n


def test_bits_are_ordered_as_documented(put):
    words = host(Bitmask.from_indices(put([0, 33, 64]), 70).words)
    assert words.tolist() == [1 | 1 << 33, 1]
    assert words.view(np.uint32).tolist() == [1, 2, 1, 0]


@pytest.mark.parametrize("n", SIZES)
def test_bits_past_n_stay_clear(device, n):
    assert Bitmask.full(n, device).count() == n
    assert (~Bitmask.full(n, device)).count() == 0
    assert not Bitmask.zeros(n, device).any()
    assert Bitmask.full(n, device).device == device


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.data())
def test_it_is_a_set(n, data):
    members = st.sets(st.integers(0, n - 1))
    a, b = data.draw(members), data.draw(members)
    left, right = (Bitmask.from_indices(np.array(sorted(s), dtype=np.int64), n) for s in (a, b))
    for mask, expected in (
        (left & right, a & b),
        (left | right, a | b),
        (left ^ right, a ^ b),
        (left.and_not(right), a - b),
        (~left, set(range(n)) - a),
    ):
        assert set(mask.to_indices().tolist()) == expected
        assert mask.count() == len(expected)


def test_operators_on_the_device(put):
    a, b = Bitmask.from_indices(put([1, 5, 64]), 70), Bitmask.from_indices(put([5, 69]), 70)
    assert host((a & b).to_indices()).tolist() == [5]
    assert host((a | b).to_indices()).tolist() == [1, 5, 64, 69]
    assert host((a ^ b).to_indices()).tolist() == [1, 64, 69]
    assert host(a.and_not(b).to_indices()).tolist() == [1, 64]
    assert (~a).count() == 67


def test_copies_are_apart(put, device):
    mask = Bitmask.from_indices(put([1]), 10)
    copy = mask.copy()
    copy.words[0] = 0
    assert mask.count() == 1
    assert copy.count() == 0
    assert repr(mask) == f"<Bitmask of 10 vertices, {device}, 8 bytes>"
    assert mask.shape == (10,)
    assert host(mask.to("cpu").to_indices()).tolist() == [1]


@pytest.mark.parametrize("rows", [0, 1, 31, 64, 65, 1000])
def test_rows_without_entries(rows, put):
    lengths = np.random.default_rng(rows).integers(0, 3, rows)
    indptr = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    mask = Bitmask.of_empty_rows(put(indptr))
    assert mask.n == rows
    assert mask.to_indices().tolist() == np.flatnonzero(lengths == 0).tolist()
    # Bits past the last row are clear.
    assert mask.count() == (lengths == 0).sum()
