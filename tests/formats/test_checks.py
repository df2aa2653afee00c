"""What containers refuse, and that they say why."""

import numpy as np
import pytest
from raising import raises

from hpgraph.core.device import cuda_available
from hpgraph.formats import COO, CSR, ELL, HYB, Bitmask, index_dtype


@pytest.mark.parametrize(
    ("shape", "indptr", "indices", "data", "error", "message"),
    [
        ((2, 3), [0, 1], [0], None, ValueError, "indptr must have one offset more than the 2 rows"),
        ((2, 3), [1, 1, 1], [0], None, ValueError, "indptr must run from 0 to the number of entries, 1, not from 1"),
        ((2, 3), [0, 1, 3], [0], None, ValueError, "indptr must run from 0 to the number of entries, 1"),
        ((3, 3), [0, 2, 1, 2], [0, 1], None, ValueError, "indptr must not decrease; it does at row 1"),
        ((2, 3), [0.0, 1.0, 1.0], [0], None, TypeError, "indptr must hold integers, not float64"),
        ((2, 3), [0, 1, 1], [3], None, IndexError, r"indices holds 3, and there are 3 columns: ids are 0\.\.2"),
        ((2, 1), [0, 1, 1], [1], None, IndexError, "indices holds 1, and there is 1 column"),
        ((2, 0), [0, 1, 1], [0], None, IndexError, "indices holds 0, and there are 0 columns: so it can hold no id"),
        ((2, 3), [0, 1, 1], [-1], None, IndexError, "indices holds -1"),
        ((2, 3), [0, 1, 1], [1.0], None, TypeError, "indices must hold integers, not float64"),
        ((2, 3), [0, 1, 1], [True], None, TypeError, "indices must hold integers, not bool"),
        ((2, 3), [0, 1, 1], [[0]], None, ValueError, "indices must have 1 dimension, not shape"),
        ((2, 3), [0, 1, 1], [0], [1, 2], ValueError, "data must have one value for each index"),
        ((2, 3), [0, 1, 1], [0], np.ones(1, "clongdouble"), TypeError, "data must be bool, int8..int64.*complex128"),
        ((2, 3), [0, 1, 1], [0], np.ones(1, np.float16), TypeError, "not float16: convert it with"),
        ((2, 3), [0, 1, 1], [0], ["a"], TypeError, "data must be bool"),
        ((2, -3), [0, 1, 1], [0], None, ValueError, "shape must not be negative"),
        ((2,), [0, 1, 1], [0], None, TypeError, "shape must be two whole numbers"),
        ((2, 2.5), [0, 1, 1], [0], None, TypeError, "shape must be two whole numbers"),
        (3, [0, 1, 1], [0], None, TypeError, "shape must be two whole numbers"),
    ],
)
def test_csr_refuses(put, device, shape, indptr, indices, data, error, message):
    if device == "cuda" and getattr(data, "dtype", None) == np.clongdouble:
        pytest.skip("CuPy has no such type")
    data = data if data == ["a"] else put(data)
    raises(error, message, CSR, shape, put(indptr), put(indices), data)


def test_unchecked_construction_does_not_read():
    nonsense = np.array([5, 1])
    assert CSR((1, 1), nonsense, nonsense, validate=False).indptr is nonsense


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16", "uint32", "uint64", ">i4"])
def test_other_integers_become_ids(dtype):
    csr = CSR((2, 200), np.array([0, 1, 2], dtype=dtype), np.array([5, 100], dtype=dtype))
    assert csr.indices.dtype == np.int32
    assert csr.indptr.dtype == np.int64
    assert csr.indices.tolist() == [5, 100]


def test_ids_too_large_for_64_bits_do_not_wrap():
    with pytest.raises(IndexError, match="indices holds 18446744073709551615"):
        CSR((1, 5), [0, 1], np.array([2**64 - 1], dtype=np.uint64))


@pytest.mark.parametrize("dtype", [">i4", ">i8", ">u4"])
def test_ids_of_the_other_byte_order_are_read_as_they_are(dtype):
    # Read in this machine's order it would be 1.
    wrong = int(np.array([1]).astype(dtype).view(np.dtype(dtype).newbyteorder()).item())
    raises(IndexError, f"indices holds {wrong}", CSR, (1, 5), [0, 1], np.array([wrong], dtype))


def test_strided_and_foreign_endian_arrays_are_made_plain():
    csr = CSR((1, 9), [0, 3], np.arange(6, dtype=np.int32)[::2], np.arange(3, dtype=">f4"))
    assert csr.indices.flags.c_contiguous
    assert csr.data.dtype.isnative
    assert csr.data.tolist() == [0, 1, 2]


def test_coo_refuses(put):
    raises(ValueError, "row and col must have the same length, not 1 and 2", COO, (3, 3), put([0]), put([0, 1]))
    raises(IndexError, "row holds 3, and there are 3 rows", COO, (3, 3), put([3]), put([0]))
    raises(IndexError, "col holds -2", CSR.from_coo, put([0]), put([-2]), None, (3, 3))
    raises(ValueError, "row and col must have the same length", CSR.from_coo, put([0]), put([0, 1]), None, (3, 3))
    choices = '"sum", "min", "max", "first", "keep" or "error"'
    raises(ValueError, f"duplicates must be {choices}, not 'most'", CSR.from_coo, put([0]), put([0]), duplicates="most")
    raises(ValueError, "data must have one value", CSR.from_coo, put([0]), put([0]), put([1.0, 2.0]))


def test_ell_refuses(put):
    raises(ValueError, r"padding .* before an entry", ELL, (2, 3), put([[0, -1], [0, 1]]))
    raises(ValueError, r"indices must have shape \(slots, rows=2\)", ELL, (2, 3), put([[0, 1, 2]]))
    raises(IndexError, "indices holds -2", ELL, (2, 3), put([[0, -2]]))
    raises(IndexError, "indices holds 3", ELL, (2, 3), put([[0, 3]]))
    raises(ValueError, "2 dimensions", ELL, (2, 3), put([0, 1]))
    with pytest.raises(ValueError, match="nnz must be the number of slots that are not padding, 1, not 2"):
        ELL((2, 3), put([[0, -1]]), nnz=2)


def test_hyb_refuses(put):
    ell = ELL((3, 3), put([[0, 1, -1]]))
    raises(ValueError, "tail_rows must ascend", HYB, (3, 3), ell, put([1, 1]), put([0, 1, 2]), put([0, 0]))
    raises(ValueError, "shape must be the slab's", HYB, (3, 4), ell, put([]), put([0]), put([]))
    raises(IndexError, "tail_rows holds 3", HYB, (3, 3), ell, put([3]), put([0, 1]), put([0]))
    raises(ValueError, "tail_indptr must have one offset more", HYB, (3, 3), ell, put([1]), put([0]), put([0]))
    with pytest.raises(ValueError, match="tail_data must have values of the slab's type"):
        HYB((3, 3), ell, put([1]), put([0, 1]), put([0]), put([1.0]))
    with pytest.raises(ValueError, match="width must not be negative"):
        HYB.from_csr(CSR((1, 1), put([0, 0]), put([])), width=-1)


def test_bitmask_refuses(put):
    raises(IndexError, "indices holds 70, and there are 70 vertices", Bitmask.from_indices, put([70]), 70)
    raises(IndexError, "indices holds -1", Bitmask.from_indices, put([-1]), 70)
    raises(TypeError, "flags must be bool, not int64", Bitmask.from_bool, put([1, 0]))
    raises(ValueError, "flags must have one dimension", Bitmask.from_bool, put([[True]]))
    raises(TypeError, "words must be uint64", Bitmask, 64, put(np.zeros(1, dtype=np.int64)))
    raises(ValueError, r"words must have shape \(2,\) for 65 bits", Bitmask, 65, put(np.zeros(1, dtype=np.uint64)))
    raises(ValueError, "words has bits past n=3 set", Bitmask, 3, put(np.array([8], dtype=np.uint64)))
    raises(ValueError, "n must lie in", Bitmask.zeros, -1)
    with pytest.raises(ValueError, match="same number of vertices, not 3 and 4"):
        Bitmask.from_indices(put([0]), 3) & Bitmask.from_indices(put([0]), 4)
    raises(TypeError, "a Bitmask combines with a Bitmask, not int", Bitmask.from_indices(put([0]), 3).and_not, 3)


def test_devices_do_not_mix():
    if not cuda_available():
        pytest.skip("no CUDA GPU here")
    import cupy

    with pytest.raises(TypeError, match="cannot be mixed"):
        CSR((1, 1), np.array([0, 1]), cupy.array([0]))
    with pytest.raises(TypeError, match="cannot be mixed"):
        CSR.from_coo(np.array([0]), cupy.array([0]), None, (1, 1))
    with pytest.raises(TypeError, match="cannot be mixed"):
        Bitmask.zeros(3) | Bitmask.zeros(3, "cuda")


def test_index_dtype_never_overflows():
    assert index_dtype(0) == np.int32
    assert index_dtype(2**31 - 1) == np.int32
    assert index_dtype(2**31) == np.int64
    assert index_dtype(2**63 - 1) == np.int64
    for n in (-1, 2**63):
        raises(ValueError, "n must lie in", index_dtype, n)
