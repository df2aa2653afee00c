"""How a Vector keeps its entries: a list while they are few, a bitmap, all of them; nothing else depends on it."""

import pickle

import numpy as np
import pytest
from reference_parts import shown

import hpgraph as hpg
from hpgraph.containers.vector import BITMAP_ABOVE, LIST_BELOW
from hpgraph.core.device import to_device


def vector(entries: int, size: int = 1000, device: str = "cpu") -> hpg.Vector:
    return hpg.Vector.from_indices(
        np.arange(entries) * (size // max(entries, 1)), np.arange(1.0, entries + 1), size
    ).to(device)


def test_density_decides(device: str) -> None:
    border = round(BITMAP_ABOVE * 1000)
    assert vector(0, device=device).format == vector(border, device=device).format == "list"
    assert vector(border + 1, device=device).format == vector(999, device=device).format == "bitmap"
    assert vector(1000, device=device).format == hpg.Vector.full(5, 1.0, device=device).format == "full"


def test_there_and_back_without_fluttering(device: str) -> None:
    v = vector(30, device=device)
    v[np.arange(500, 530)] = 1.0
    assert v.format == "bitmap", "60 of 1,000 are more than 4%"
    v.resize(2500)
    assert v.format == "bitmap" and v.nvals / v.size < BITMAP_ABOVE, "between the borders it stays what it is"
    v.resize(4000)
    assert v.format == "list" and v.nvals / v.size < LIST_BELOW
    expected = shown(vector(30))
    expected[500:530] = 1
    np.testing.assert_array_equal(shown(v)[:1000], expected)


@pytest.mark.parametrize("entries", [3, 300, 1000])
def test_answers_do_not_depend_on_it(entries: int, device: str) -> None:
    v = vector(entries, device=device)
    D = shown(v)
    other = hpg.Vector.from_indices(np.arange(0, 1000, 7), np.full(143, 2.0), 1000).to(device)
    dense = shown(other)
    before = v.format
    assert v.nvals == v.nnz == entries and v.reduce("plus") == D.sum() and v.structure.count() == entries
    np.testing.assert_array_equal(shown(v.astype("float32")), D.astype("float32"))
    for again in (pickle.loads(pickle.dumps(v)), v.copy(), hpg.Vector(v), v.to("cpu").to(device)):
        assert again.format == before and shown(again).tolist() == D.tolist()
    np.testing.assert_array_equal(shown(v.ewise_add(other)), D + dense)
    np.testing.assert_array_equal(shown(v * other), D * dense)
    A = hpg.eye(1000, device=device)
    np.testing.assert_array_equal(shown(A @ v), D)
    assert v.values is v.values and to_device(v.values, "cpu").tolist() == D.tolist()


def test_a_list_costs_its_entries_alone(device: str) -> None:
    """Longer than any memory."""
    size = 1 << 50
    v = hpg.Vector.from_indices([5, size - 1], [1.0, 2.0], size).to(device)
    assert v.format == "list" and v.nvals == 2 and v[size - 1] == 2 and v[6] == 0 and v.reduce("max") == 2
    assert shown(v[:10]).tolist() == [0] * 5 + [1] + [0] * 4
    v.resize(size // 2)
    assert v.nvals == 1 and v.copy().astype("int8")[5] == 1
    with pytest.raises(MemoryError, match=r"a vector of 562949953421312 values needs"):
        _ = v.values
