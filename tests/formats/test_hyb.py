"""ELL, HYB and COO: round trips, widths, memory."""

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_formats import entries_of

from hpgraph.formats import COO, CSR, ELL, HYB, hyb_width, lengths_of


def random_csr(put, rows=60, columns=50, density=0.1, dtype="float32", seed=0):
    matrix = sp.random_array((rows, columns), density=density, rng=np.random.default_rng(seed), format="csr")
    values = None if dtype is None else put((matrix.data * 9).astype(dtype))
    return CSR(matrix.shape, put(matrix.indptr), put(matrix.indices), values)


def with_degrees(degrees, put=np.asarray, columns=None):
    """A pattern whose row i has the columns 0..degrees[i]-1."""
    degrees = np.asarray(degrees)
    indices = np.concatenate([np.arange(d) for d in degrees]) if len(degrees) else np.empty(0, dtype=np.int64)
    indptr = np.concatenate(([0], degrees.cumsum()))
    shape = (len(degrees), columns or max(int(degrees.max(initial=0)), 1))
    return CSR(shape, put(indptr), put(indices.astype(np.int32)))


@pytest.mark.parametrize("dtype", [None, "bool", "int16", "float32", "float64"])
@pytest.mark.parametrize("width", [None, 0, 1, 3, 20])
def test_hyb_round_trip(put, dtype, width):
    csr = random_csr(put, dtype=dtype)
    hyb = HYB.from_csr(csr, width)
    assert entries_of(hyb.to_csr()) == entries_of(csr)
    assert (hyb.nnz, hyb.shape, hyb.dtype, hyb.device) == (csr.nnz, csr.shape, csr.dtype, csr.device)
    assert width is None or hyb.width == width
    assert hyb.padding_ratio == (hyb.width * 60 + len(hyb.tail_indices)) / csr.nnz
    assert hyb.nbytes == sum(array.nbytes for array in hyb.arrays)
    # What it says of itself passes the checks that a user's own would have to.
    HYB(hyb.shape, ELL(hyb.shape, hyb.ell.indices, hyb.ell.data), *hyb.arrays[1 if dtype is None else 2 :])


def test_hyb_lies_as_documented(put):
    hyb = HYB.from_csr(with_degrees([2, 0, 3, 1], put), 1)
    assert host(hyb.ell.indices).tolist() == [[0, -1, 0, 0]]
    assert host(hyb.tail_rows).tolist() == [0, 2]
    assert host(hyb.tail_indptr).tolist() == [0, 1, 3]
    assert host(hyb.tail_indices).tolist() == [1, 1, 2]
    assert host(hyb.tail_row).tolist() == [0, 2, 2]
    assert hyb.tail_indptr.dtype == np.int64
    assert hyb.ell.indices.flags.c_contiguous


def test_hyb_of_a_hub_longer_than_a_tile(put):
    degrees = np.zeros(300, dtype=np.int64)
    degrees[[3, 200]] = 9000, 5000
    degrees[10:40] = 2
    csr = with_degrees(degrees, put)
    hyb = HYB.from_csr(csr, 1)
    assert host(hyb.tail_rows).tolist() == [3, *range(10, 40), 200]
    assert entries_of(hyb.to_csr()) == entries_of(csr)


def test_to_csr_of_a_slab_with_room_before_the_tail(put):
    ell = ELL((2, 5), put([[0, 1], [3, -1]]))
    csr = HYB((2, 5), ell, put([1]), put([0, 2]), put([2, 4])).to_csr()
    assert entries_of(csr) == [(0, 0, None), (0, 3, None), (1, 1, None), (1, 2, None), (1, 4, None)]


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (70, 3)])
def test_empty_matrices(put, shape):
    csr = CSR(shape, put(np.zeros(shape[0] + 1, dtype=np.int64)), put([]), put(np.empty(0, dtype=np.float32)))
    for back in (
        HYB.from_csr(csr).to_csr(),
        HYB.from_csr(csr, 2).to_csr(),
        ELL.from_csr(csr).to_csr(),
        COO.from_csr(csr).to_csr(),
        csr.transpose().transpose(),
        csr.without_diagonal(),
        csr.sorted(),
    ):
        assert (back.shape, back.nnz, back.dtype) == (shape, 0, np.float32)
        assert host(back.indptr).tolist() == [0] * (shape[0] + 1)
    assert HYB.from_csr(csr).padding_ratio == 1.0
    assert csr.is_symmetric() == (shape[0] == shape[1])
    if shape[0] == shape[1]:
        assert csr.permute(put(np.arange(shape[0])[::-1])).nnz == 0


@pytest.mark.parametrize("dtype", [None, "uint8", "float64"])
def test_ell_and_coo_round_trip(put, dtype):
    csr = random_csr(put, dtype=dtype)
    ell = ELL.from_csr(csr)
    assert entries_of(ell.to_csr()) == entries_of(csr)
    assert ell.nnz == ELL(ell.shape, ell.indices, ell.data).nnz == csr.nnz
    assert ell.width == host(csr.degrees).max()
    coo = COO.from_csr(csr)
    assert entries_of(coo.to_csr()) == entries_of(csr)
    assert entries_of(coo.transpose().to_csr()) == entries_of(csr.transpose())
    assert (coo.to("cpu").to_scipy() != csr.to("cpu").to_scipy()).nnz == 0


def test_ell_refuses_to_multiply_memory(put):
    with pytest.raises(ValueError, match=r"rows of up to 50 entries would pad 59 entries to 500 slots.*use HYB"):
        ELL.from_csr(with_degrees([50] + [1] * 9, put))
    assert ELL.from_csr(with_degrees([50] + [1] * 9, put), limit=10).padding_ratio == 500 / 59


def test_coo_keeps_duplicates_until_csr(put):
    coo = COO((2, 2), put([1, 1]), put([0, 0]), put([2.0, 3.0]))
    assert coo.nnz == 2
    assert entries_of(coo.to_csr()) == [(1, 0, 5.0)]
    assert entries_of(coo.to_csr(duplicates="min")) == [(1, 0, 2.0)]
    assert COO.from_scipy(coo.to("cpu").to_scipy()).nnz == 2


def test_containers_move_to_a_device_whole(device):
    csr = random_csr(np.asarray)
    hyb = HYB.from_csr(csr).to(device)
    assert hyb.device == device
    assert all(isinstance(array, type(hyb.tail_rows)) for array in hyb.arrays)
    assert entries_of(hyb.to_csr().to("cpu")) == entries_of(csr)


def test_hyb_astype(put):
    pattern = HYB.from_csr(random_csr(put, dtype=None), 2)
    ones = pattern.astype("float32")
    assert {value for *_, value in entries_of(ones.to_csr())} == {1.0}
    assert ones.astype("int8").dtype == np.int8
    assert ones.astype("float32") is ones


def lengths_with(degrees, put):
    return lengths_of(put(np.concatenate(([0], np.cumsum(degrees, dtype=np.int64)))))


@pytest.mark.parametrize("rows", [0, 1, 33, 5000])
def test_rows_are_counted_by_length(rows, put):
    rng = np.random.default_rng(rows)
    # Lengths that nearly all rows have, some that are counted apart, and some beyond what is counted.
    degrees = np.where(rng.random(rows) < 0.9, rng.integers(0, 3, rows), rng.integers(0, 9000, rows))
    found = lengths_with(degrees, put)
    length, many = np.unique(degrees, return_counts=True)
    assert found.length.tolist() == length.tolist() and found.rows.tolist() == many.tolist()


def test_width_is_the_one_third_rule(put):
    # Of 9 rows, 3 hold 6 or more; long rows elsewhere make CSR large enough for the padding.
    assert hyb_width(lengths_with([1, 2, 3, 4, 5, 5, 6, 60, 70], put)) == 6
    assert hyb_width(lengths_with([3, 3, 3], put)) == 3
    assert hyb_width(lengths_with([0, 0, 0], put)) == 0
    assert hyb_width(lengths_with([], put)) == 0


@settings(max_examples=80, deadline=None)
@given(
    degrees=st.lists(st.one_of(st.integers(0, 3), st.integers(0, 32)), min_size=1, max_size=60),
    limit=st.sampled_from([1.2, 1.5, 2.0, 5.0]),
    entry=st.sampled_from([4, 8, 12]),
)
def test_width_keeps_its_limit_wherever_it_can(degrees, limit, entry):
    degrees = np.array(degrees)
    csr = degrees.sum() * entry + 8 * (len(degrees) + 1)

    def cost(width):
        over = np.maximum(degrees - width, 0)
        return width * len(degrees) * entry + over.sum() * entry + (over > 0).sum() * 12

    width = hyb_width(lengths_with(degrees, np.asarray), entry, limit=limit)
    third = max(k for k in range(degrees.max() + 1) if 3 * (degrees >= k).sum() >= len(degrees))
    assert cost(width) <= limit * csr or width == 0
    if width > third:
        assert width == degrees.max()
    elif width < third:
        assert cost(width + 1) > limit * csr


@pytest.mark.parametrize(
    ("rows", "entries", "width"), [(5000, 32, 32), (5000, 33, 0), ((1 << 17) - 1, 33, 0), (1 << 17, 33, 33)]
)
def test_few_long_rows_have_no_slab(rows, entries, width, put):
    """A thread for each would leave most of a GPU idle."""
    assert hyb_width(lengths_with(np.full(rows, entries), put)) == width
    uneven = np.full(rows, entries)
    uneven[: rows // 4] *= 4
    assert hyb_width(lengths_with(uneven, put)) == width
