"""Vector: values, presence, NumPy's operators, reductions, and other libraries looking in."""

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from arrays import host
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module, cuda_available, to_device
from hpgraph.formats import Bitmask


def listed(v: hpg.Vector) -> dict[int, Any]:
    indices, values = map(host, v.to_indices())
    return dict(zip(indices.tolist(), values.tolist(), strict=True))


def test_full_vectors(device: str) -> None:
    values = to_device(np.array([1.5, 2.5]), device)
    v = hpg.Vector(values)
    assert (v.size, v.shape, v.ndim, v.dtype, v.nvals, v.device) == (2, (2,), 1, np.float64, 2, device)
    assert v.values is values and v.present is None and v.structure.count() == 2 and len(v) == 2
    assert listed(v) == {0: 1.5, 1: 2.5}
    assert listed(hpg.Vector.full(3, 7, device=device)) == {0: 7, 1: 7, 2: 7}
    assert hpg.Vector.full(3, 7, "float32", device).dtype == np.float32
    with pytest.raises(ValueError, match="size must not be negative"):
        hpg.Vector.full(-1, 7, device=device)
    with pytest.raises(MemoryError, match="a dense vector needs"):
        hpg.Vector.full(2**45, 7, device=device)


def test_some_present(device: str) -> None:
    xp = array_module(device)
    indices = xp.asarray([4, 0])
    v = hpg.Vector.from_indices(indices, xp.asarray([2.0, 0.0]), 6)
    assert (v.nvals, v.size, v.device) == (2, 6, device)
    assert listed(v) == {0: 0.0, 4: 2.0}, "a stored zero is present"
    assert host(v.values).tolist() == [0, 0, 0, 0, 2, 0]
    filled = hpg.Vector.from_indices(indices, xp.asarray([2.0, 0.0]), 6, fill=np.inf)
    assert host(filled.values).tolist() == [0, np.inf, np.inf, np.inf, 2, np.inf]
    assert listed(hpg.Vector.from_indices(indices, 3, 6)) == {0: 3, 4: 3}
    assert listed(hpg.Vector.from_indices([], [], 6)) == {}


def test_presence_as_flags(device: str) -> None:
    xp = array_module(device)
    flags = xp.asarray([True, False, True])
    for present in (flags, Bitmask.from_bool(flags)):
        v = hpg.Vector(xp.arange(3), present)
        assert listed(v) == {0: 0, 2: 2} and v.structure.count() == 2
        assert hpg.Vector(v).present is v.present


def test_there_and_back(device: str) -> None:
    v = hpg.Vector.from_indices([1, 3], [5, 6], 5)
    moved = v.to(device)
    assert moved.device == device and (moved is v) == (device == "cpu")
    assert listed(moved.to("cpu")) == listed(v) == {1: 5, 3: 6}
    again = pickle.loads(pickle.dumps(moved))
    assert again.device == device and listed(again) == listed(v)
    copied = moved.copy()
    copied.values[1] = 9
    assert listed(moved) == {1: 5, 3: 6} and listed(copied) == {1: 9, 3: 6}
    assert moved.astype("float32").dtype == np.float32 and moved.astype("float32").nvals == 2


class TestOperators:
    def test_entry_by_entry_where_both_are_present(self, device: str) -> None:
        v = hpg.Vector.from_indices([0, 1], [1.0, 2.0], 3).to(device)
        w = hpg.Vector.from_indices([1, 2], [10.0, 20.0], 3).to(device)
        assert listed(v + w) == {1: 12.0} and listed(w - v) == {1: 8.0}
        assert listed(2 * v) == {0: 2.0, 1: 4.0} and listed(-v) == {0: -1.0, 1: -2.0}
        assert listed(v / 2) == {0: 0.5, 1: 1.0} and listed(v**2) == {0: 1.0, 1: 4.0} and listed(abs(-v)) == listed(v)
        assert listed(v > 1) == {0: False, 1: True} and (v > 1).dtype == np.bool_
        assert listed(np.sqrt(w)) == {1: np.sqrt(10), 2: np.sqrt(20)}
        assert listed(np.maximum(v, w)) == {1: 10.0}

    def test_with_arrays_and_numbers(self, device: str) -> None:
        xp = array_module(device)
        v = hpg.Vector.from_indices([0, 1], [1.0, 2.0], 3).to(device)
        for total in (v + xp.ones(3), xp.ones(3) + v, 1 + v, v + np.float64(1)):
            assert isinstance(total, hpg.Vector) and total.device == device and listed(total) == {0: 2.0, 1: 3.0}

    def test_in_place(self, device: str) -> None:
        v = hpg.Vector.from_indices([0, 1], [1.0, 2.0], 3).to(device)
        values = v.values
        v += 1
        assert v.values is values and listed(v) == {0: 2.0, 1: 3.0}
        np.multiply(v, 2, out=v)
        assert v.values is values and listed(v) == {0: 4.0, 1: 6.0}

    def test_types_as_in_numpy(self) -> None:
        v = hpg.Vector(np.array([1, 2], np.int8))
        assert (v + 1).dtype == np.int8 and (v / 2).dtype == np.float64 and (v + np.float32(1)).dtype == np.float32
        quotient, rest = divmod(v, 2)
        assert listed(quotient) == {0: 0, 1: 1} and listed(rest) == {0: 1, 1: 0}

    def test_left_operands_and_comparisons(self, device: str) -> None:
        xp = array_module(device)
        v = hpg.Vector.from_indices([0, 1], [1.0, 2.0], 3).to(device)
        a = xp.asarray([5.0, 6.0, 7.0])
        assert listed(a - v) == {0: 4.0, 1: 4.0}
        assert listed(6 / v) == {0: 6.0, 1: 3.0} and listed(2**v) == {0: 2.0, 1: 4.0}
        assert listed(a > v) == {0: True, 1: True} and listed(v == 2) == {0: False, 1: True}
        assert listed((v > 1) | (v < 0)) == {0: False, 1: True} and listed(~(v > 1)) == {0: True, 1: False}

    def test_lengths(self, device: str) -> None:
        with pytest.raises(ValueError, match=r"broadcast"):
            hpg.Vector.full(3, 1.0, device=device) + hpg.Vector.full(4, 1.0, device=device)

    @pytest.mark.skipif(not cuda_available(), reason="takes two devices")
    def test_devices_that_differ(self) -> None:
        with pytest.raises(TypeError, match=r"cannot be mixed"):
            hpg.Vector.full(3, 1.0) + hpg.Vector.full(3, 1.0, device="cuda")


class TestReduce:
    @settings(max_examples=30, deadline=None)
    @given(entries=st.dictionaries(st.integers(0, 99), st.integers(-9, 9)), name=st.sampled_from(["plus", "min"]))
    def test_against_python(self, entries: dict[int, int], name: str) -> None:
        expected = {"plus": sum(entries.values()), "min": min(entries.values(), default=np.iinfo(np.int64).max)}[name]
        v = hpg.Vector.from_indices(list(entries), np.array(list(entries.values()), np.int64), 100)
        for device in ["cpu", "cuda"] if cuda_available() else ["cpu"]:
            found = v.to(device).reduce(name)
            assert found == expected and isinstance(found, np.int64)

    def test_more_monoids(self, device: str) -> None:
        v = hpg.Vector(np.array([1.0, 3.0, 2.0])).to(device)
        assert v.reduce() == 6 and v.reduce("max") == 3 and v.reduce("times") == 6
        assert (v > 2).reduce("lor") and not (v > 2).reduce("land")
        assert hpg.Vector([]).to(device).reduce("plus") == 0

    def test_long_vectors(self, device: str) -> None:
        values = np.random.default_rng(9).integers(-100, 100, 300_000)
        assert hpg.Vector(values).to(device).reduce("plus") == values.sum()

    def test_of_the_user(self, device: str) -> None:
        nearer = lambda a, b: a if abs(a) < abs(b) else b  # noqa: E731
        nearest = hpg.semiring.Monoid(nearer, identity=np.inf, samples=[0.5, 2, np.inf])
        assert hpg.Vector([-3.0, 2.0, -1.0]).to(device).reduce(nearest) == -1

    def test_unknown(self) -> None:
        raises(ValueError, r"no monoid is called 'pluss'; similar: plus", hpg.Vector([1.0]).reduce, "pluss")


class TestSeenByOthers:
    def test_numpy(self) -> None:
        v = hpg.Vector.from_indices([1], [5.0], 3)
        assert np.asarray(v).tolist() == [0, 5, 0] and np.shares_memory(np.asarray(v), v.values)
        assert np.asarray(v, dtype="float32").dtype == np.float32
        assert np.from_dlpack(v).tolist() == [0, 5, 0]
        assert not hasattr(v, "__cuda_array_interface__")

    @pytest.mark.skipif(not cuda_available(), reason="takes a GPU")
    def test_cupy(self) -> None:
        import cupy

        v = hpg.Vector([0.0, 5.0, 0.0]).to("cuda")
        for seen in (cupy.asarray(v), cupy.from_dlpack(v)):
            assert seen.tolist() == [0, 5, 0] and seen.data.ptr == v.values.data.ptr
        some = hpg.Vector.from_indices([1], [5.0], 3).to("cuda")
        assert not hasattr(some, "__cuda_array_interface__"), "CuPy would forget what is absent"
        with pytest.raises(TypeError):
            cupy.add(cupy.ones(3), some)
        assert listed(cupy.ones(3) + some) == {1: 6.0} and listed(cupy.ones(3) > some) == {1: False}
        raises(TypeError, r"use v\.to\('cpu'\)", np.asarray, v)


class TestRefused:
    def test_values(self) -> None:
        raises(ValueError, r"values must have one dimension, not shape \(2, 2\)", hpg.Vector, np.ones((2, 2)))
        raises(TypeError, r"values must be bool, .* not float16", hpg.Vector, np.ones(2, np.float16))
        raises(TypeError, r"not <U1", hpg.Vector, ["a"])

    def test_presence(self) -> None:
        raises(ValueError, r"one flag for each of the 2 values, not 3", hpg.Vector, [1, 2], [True, False, True])
        raises(TypeError, r"for a list of indices use Vector\.from_indices", hpg.Vector, [1, 2], [0, 1])

    def test_indices(self) -> None:
        raises(IndexError, r"indices holds 6", hpg.Vector.from_indices, [6], [1], 6)
        raises(IndexError, r"indices holds -1", hpg.Vector.from_indices, [-1], [1], 6)
        raises(ValueError, r"more than once", hpg.Vector.from_indices, [1, 1], [1, 2], 6)
        raises(ValueError, r"values must be a scalar or have shape \(1,\)", hpg.Vector.from_indices, [1], [1, 2], 6)
        v = hpg.Vector.from_indices([1], [5.0], 3)
        for key in ((1, 2), (None, 1), (None, slice(None), None)):
            raises(IndexError, r"too many indices|neither a vector nor a matrix", v.__getitem__, key)
        raises(ValueError, r"same length, not 3 and 2", v.__add__, hpg.Vector.from_indices([1], [5.0], 2))
        raises(ValueError, r"size", v.resize, -1)


def test_ellipsis_and_none(device: str) -> None:
    D = np.array([0.0, 5, 0, 7])
    v = hpg.Vector.from_indices([1, 3], [5.0, 7.0], 4).to(device)
    for key in ((), (..., 1), (slice(1, None), ...), None, (None, slice(None, None, -1)), ([3, 1], None), (..., None)):
        found = v[key]
        if isinstance(found, hpg.Vector):
            assert found.nvals == np.count_nonzero(D[key])
        np.testing.assert_array_equal(to_device(getattr(found, "toarray", lambda found=found: found)(), "cpu"), D[key])
    v.resize((2,))
    assert v.size == 2 and listed(v) == {1: 5.0}


def test_shown(device: str) -> None:
    v = hpg.Vector.from_indices([1, 3], [5.0, 6.0], 5).to(device)
    assert repr(v) == f"<Vector of 5, 2 present, float64, {device}>"
    assert repr(hpg.Vector([1, 2])) == "<Vector of 2, all present, int64, cpu>"
    assert "<tr><td>1</td><td>5</td></tr><tr><td>3</td><td>6</td></tr></tbody>" in v._repr_html_()
    long = hpg.Vector(np.arange(5000) / 4)._repr_html_()
    assert long.endswith("<tr><td>9</td><td>2.25</td></tr><tr><td>…</td><td></td></tr></tbody></table>")


class TestBesideSciPy:
    """Arrays of one dimension, SciPy's and dense ones, beside vectors of which some entries are absent."""

    @settings(max_examples=60, deadline=None)
    @given(seed=st.integers(0, 10**6), kinds=st.sampled_from([("f8", "f8"), ("i8", "i8"), ("c16", "c16")]))
    def test_methods(self, seed: int, kinds: tuple[str, str]) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 40))
        arrays = []
        for kind in kinds:
            places = np.flatnonzero(rng.random(n) < rng.choice([0.02, 0.5, 1.0]))
            values = rng.integers(0, 5, len(places)) - 2 * (kind[0] not in "bu")
            arrays.append(sp.coo_array((values.astype(kind), (places,)), shape=(n,)))
        S, T = arrays
        v, w = map(hpg.Vector, arrays)
        assert v.dtype == S.dtype and v.nvals == S.nnz
        for name in ("multiply", "maximum", "minimum"):
            expected = getattr(np, name)(S.toarray(), T.toarray())
            for other in (w, T, T.toarray()):
                made = getattr(v, name)(other)
                np.testing.assert_array_equal(made if isinstance(made, np.ndarray) else made.toarray(), expected)
                assert made.dtype == expected.dtype, (name, type(other))
        with pytest.raises(ValueError, match=rf"inconsistent shapes \({n},\) and \({n + 1},\)"):
            v.maximum(hpg.Vector(np.ones(n + 1)))
        product = (S.toarray() * T.toarray()).sum()
        for other in (w, T, T.toarray()):
            assert v.dot(other) == v @ other == product
        assert T.toarray() @ v == product
        for name in ("sum", "mean", "min", "max", "argmin", "argmax"):
            if kinds[0] != "c16" or not name.startswith("arg"):
                np.testing.assert_allclose(getattr(v, name)(), getattr(S.toarray(), name)())
        assert v.nonzero()[0].tolist() == np.flatnonzero(S.toarray()).tolist()
        assert (v.tocsr() != S.tocsr()).nnz == 0 and v.tocsr().format == "csr" and v.tocsr().shape == (n,)
        shape = (n, 1) if seed % 2 else (1, n)
        np.testing.assert_array_equal(v.reshape(shape).toarray(), S.reshape(shape).toarray())

    def test_products_with_matrices(self, device: str) -> None:
        x = np.arange(6.0).reshape(2, 3)
        v, w = (hpg.Vector.from_indices([1], [2.0], n, fill=7).to(device) for n in (3, 2))
        X = to_device(x, device)
        for made, expected in ((X @ v, x[:, 1] * 2), (v @ X.T, x[:, 1] * 2), (w @ X, x[1] * 2), (X.T @ w, x[1] * 2)):
            assert host(made).tolist() == expected.tolist()
        assert listed(hpg.Matrix(x).to(device) @ v) == {0: 2.0, 1: 8.0}
        if device == "cpu":
            S = v.tocoo()
            assert listed(hpg.Matrix(x) @ S) == {0: 2.0, 1: 8.0} and listed(v + S) == {1: 4.0}

    def test_nan(self, device: str) -> None:
        v = hpg.Vector(np.array([np.nan, 1.0, -1.0])).to(device)
        w = hpg.Vector.from_indices([1], [2.0], 3).to(device)
        for a, b in ((v, w), (w, v)):
            np.testing.assert_array_equal(host(a.maximum(b).toarray()), [np.nan, 2, 0])
            np.testing.assert_array_equal(host(a.minimum(b).toarray()), [np.nan, 1, -1])
        assert host(v.imag.toarray()).tolist() == [0, 0, 0]

    def test_one_value_beside_many(self) -> None:
        v = hpg.Vector.from_indices([0, 2], [1.0, 3.0], 4)
        assert listed(v * hpg.Vector([2.0])) == {0: 2.0, 2: 6.0}
        assert listed(v * hpg.Vector.from_indices([0], [2.0], 1)) == {0: 2.0, 2: 6.0}
        assert (
            listed(hpg.Vector.from_indices([], [], 1) + v) == {} and (hpg.Vector.from_indices([], [], 1) + v).size == 4
        )
