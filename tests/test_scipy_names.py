"""SciPy's names of functions on sparse arrays, methods of one-dimensional arrays, and operators in place."""

import errno
import importlib.util
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.sparse as sp
from arrays import host
from raising import raises

import hpgraph as hpg

DENSE = np.array([[0.0, 2, 0], [-3, 0, 4], [0, 0, 0]])
ROW = np.array([0.0, 3, 0, -2, 0])


def shown(value: Any) -> Any:
    value = value.toarray() if hasattr(value, "toarray") else value
    return host(value) if hasattr(value, "dtype") else value


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("eye_array", (3, 4), {"k": 1}),
        ("identity", (3,), {}),
        ("diags_array", ([[1, 2], [3]],), {"offsets": [0, -1], "shape": (2, 2)}),
        ("spdiags", ([[1, 2, 3], [4, 5, 6]], [0, -1], 3, 3), {}),
        ("spdiags", ([[1, 2, 3]], [1]), {}),
        ("kronsum", (sp.csr_array(DENSE), sp.csr_array(DENSE[:2, :2])), {}),
        ("kron", (sp.csr_array(DENSE), DENSE[:2]), {}),
        ("kron", (DENSE[:2], sp.csr_array(DENSE)), {}),
        ("swapaxes", (sp.csr_array(DENSE), 0, -1), {}),
        ("permute_dims", (sp.csr_array(DENSE),), {}),
        ("permute_dims", (sp.csr_array(DENSE),), {"axes": (0, 1)}),
        ("expand_dims", (sp.coo_array(ROW),), {"axis": 1}),
        ("expand_dims", (sp.coo_array(ROW),), {"axis": 0}),
        ("eye", (3, 4), {"k": 1, "format": "csr"}),
        ("eye_array", (3,), {"format": "csc"}),
        ("identity", (3,), {"format": "dia"}),
        ("diags", ([1, 2, 3],), {"format": "lil"}),
        ("diags_array", ([[1, 2], [3]],), {"offsets": [0, -1], "shape": (2, 2), "format": "csr"}),
        ("spdiags", ([[1, 2, 3]], [1], 3, 3, "csr"), {}),
        ("kronsum", (sp.csr_array(DENSE), sp.csr_array(DENSE), "coo"), {}),
        ("kron", (sp.csr_array(DENSE), sp.csr_array(DENSE)), {"format": "csr"}),
        ("block_array", ([[sp.csr_array(DENSE), None], [None, sp.csr_array(DENSE)]],), {"format": "csc"}),
        ("bmat", ([[sp.csr_array(DENSE)]],), {"format": "bsr"}),
        ("hstack", ([sp.csr_array(DENSE)] * 2,), {"format": "csr"}),
        ("vstack", ([sp.csr_array(DENSE)] * 2,), {"format": "csc"}),
        ("block_diag", ([sp.csr_array(DENSE)] * 2,), {"format": "dok"}),
    ],
)
def test_functions_by_scipys_names(name: str, given: Any, options: dict[str, Any]) -> None:
    if not hasattr(sp, name):
        pytest.skip(f"SciPy {scipy.__version__} has no {name}")
    # A Vector is made of the values of SciPy's array of one dimension.
    ours = [hpg.Vector(one.toarray()) if getattr(one, "ndim", 0) == 1 and sp.issparse(one) else one for one in given]
    made, theirs = getattr(hpg, name)(*ours, **options), getattr(sp, name)(*given, **options)
    np.testing.assert_array_equal(shown(made), shown(theirs))
    if "format" in options:
        assert sp.issparse(made) and made.format == options["format"]


@pytest.mark.parametrize(
    ("name", "given", "options"),
    [
        ("kronsum", (DENSE[:2], DENSE), {}), ("permute_dims", (DENSE,), {"axes": (0, 0)}),
        ("swapaxes", (DENSE, 0, 2), {}), ("matrix_transpose", (ROW,), {}), ("expand_dims", (DENSE,), {}),
        ("expand_dims", (hpg.Vector(ROW),), {"axis": 2}), ("random_array", ((2, 3, 4),), {}),
    ],
)  # fmt: skip
def test_what_they_refuse(name: str, given: Any, options: dict[str, Any]) -> None:
    raises(ValueError, r"square|axes|axis|dimension", getattr(hpg, name), *given, **options)


def test_matrix_transpose(device: str) -> None:
    """SciPy has it from 1.18."""
    for given in (hpg.Matrix(DENSE).to(device), DENSE):
        np.testing.assert_array_equal(host(hpg.matrix_transpose(given).toarray()), DENSE.T)


def test_entries_and_files(device: str) -> None:
    A = hpg.Matrix(DENSE).to(device)
    for mine, expected in zip(hpg.find(A), sp.find(sp.csr_array(DENSE)), strict=True):
        np.testing.assert_array_equal(host(mine), expected)
    assert hpg.issparse(A) and hpg.issparse(A.tocsr()) and not hpg.issparse(DENSE)
    file = io.BytesIO()
    hpg.save_npz(file, A)
    for load in (hpg.load_npz, sp.load_npz):
        file.seek(0)
        np.testing.assert_array_equal(shown(load(file)), DENSE)
    made = hpg.random_array((30, 40), density=0.1, rng=1, device=device)
    assert (made.shape, made.nnz, made.device) == ((30, 40), 120, device)
    older = hpg.random(30, 40, 0.1, random_state=1, device=device)
    np.testing.assert_array_equal(shown(made), shown(older))
    assert hpg.random(4, 5, 0.5, data_rvs=np.ones, format="coo").sum() == 10
    raises(TypeError, "another name of rng", hpg.random_array, (3, 3), rng=1, random_state=1)


@pytest.mark.parametrize("operation", ["__iadd__", "__isub__", "__imul__", "__itruediv__"])
def test_operators_in_place(operation: str, device: str) -> None:
    A = hpg.Matrix(DENSE).to(device)
    before, same = A.T, A
    other = 2.0 if operation in ("__imul__", "__itruediv__") else hpg.Matrix(np.eye(3)).to(device)
    expected = getattr(DENSE.copy(), operation)(shown(other))
    assert getattr(A, operation)(other) is same is A
    np.testing.assert_array_equal(shown(A), expected)
    np.testing.assert_array_equal(shown(A @ A), expected @ expected)
    np.testing.assert_array_equal(shown(before), DENSE.T, "what was taken before stays as it was")


def test_subscripted_types() -> None:
    assert hpg.Matrix[np.float64].__origin__ is hpg.Matrix and hpg.Vector[int].__origin__ is hpg.Vector


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("name", ["sum", "mean", "min", "max", "argmin", "argmax", "count_nonzero"])
def test_reductions_of_vectors(name: str, dtype: type, device: str) -> None:
    theirs = sp.coo_array(ROW.astype(dtype))
    v = hpg.Vector.from_indices([1, 3], ROW[[1, 3]].astype(dtype), 5).to(device)
    for axis in (None, 0, -1):
        # SciPy counts those of one dimension without an axis.
        expected = getattr(theirs, name)(**({} if name == "count_nonzero" else {"axis": axis}))
        assert float(getattr(v, name)(axis=axis)) == pytest.approx(float(expected))
    raises(ValueError, "axis", getattr(v, name), axis=1)


def test_methods_of_vectors(device: str) -> None:
    theirs, other = sp.csr_array(ROW), np.array([1.0, -1, 0, 2, 5])
    v, w = hpg.Vector.from_indices([1, 3], ROW[[1, 3]], 5).to(device), hpg.Vector(other).to(device)
    assert float(v.dot(w)) == float(v @ w) == theirs @ other
    assert float(v.dot(w.values)) == theirs @ other
    assert host(v.nonzero()[0]).tolist() == [1, 3]
    for mine, expected in (
        (v.dot(3), theirs.toarray() * 3),
        (v.multiply(w), theirs.multiply(other)),
        (v.multiply(2), theirs.multiply(2)),
        (v.power(2), theirs.power(2)),
        (v.maximum(w), theirs.maximum(sp.csr_array(other))),
        (v.minimum(w), theirs.minimum(sp.csr_array(other))),
        (v.maximum(-1), theirs.maximum(-1)),
        (v.reshape(5, 1), theirs.reshape(5, 1)),
        (v.reshape(-1), theirs),
        (np.abs(v), abs(theirs)),
    ):
        np.testing.assert_array_equal(shown(mine), shown(expected))
    raises(ValueError, "length", v.dot, [1.0])
    with pytest.raises(NotImplementedError):
        v.power(0)
    made = v.tocoo()
    np.testing.assert_array_equal(np.ravel(shown(made)), ROW)
    assert made.nnz == 2 and (device == "cuda" or made.shape == (5,))


@pytest.mark.parametrize("values", [ROW, ROW.astype(np.int64), ROW * (1 + 2j)], ids=["float", "int", "complex"])
@pytest.mark.parametrize("name", ["arctan", "ceil", "floor", "rint", "sign", "sqrt", "trunc", "conj", "real", "imag"])
def test_functions_of_vectors(name: str, values: Any, device: str) -> None:
    if values.dtype.kind == "c" and name in ("ceil", "floor", "trunc"):
        pytest.skip("no order")
    theirs = getattr(sp.coo_array(values), name)
    v = hpg.Vector.from_indices([1, 3], values[[1, 3]], 5).to(device)
    mine = getattr(v, name)
    mine, theirs = (mine, theirs) if name in ("real", "imag") else (mine(), theirs())
    assert mine.nvals == v.nvals
    np.testing.assert_allclose(shown(mine), shown(theirs))


def test_classes_of_vectors() -> None:
    v = hpg.Vector.from_indices([0, 1, 3], [0.0, 3.24, np.nan], 5)
    for format in ("csr", "coo", "dok"):
        made = v.asformat(format)
        assert (made.format, made.shape) == (format, (5,)) and made.toarray()[:3].tolist() == [0, 3.24, 0]
    assert v.asformat(None) is v.transpose() is v and v.asformat("array").shape == (5,)
    assert (v.nanmax(), v.nanmin(), round(v, 1)[1]) == (3.24, 0, 3.2)
    np.testing.assert_array_equal(hpg.eye(5) @ v, v.toarray())
    v.eliminate_zeros()
    assert v.to_indices()[0].tolist() == [1, 3]
    assert bool(hpg.Vector([2])) and not hpg.Vector([0])
    raises(ValueError, "ambiguous", bool, v)
    raises(ValueError, "axes", v.transpose, (1,))


class OnlyDLPack:
    """An array of a library that has nothing but DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack_shares_memory(device: str) -> None:
    held = hpg.Vector(ROW.copy()).to(device)
    v = hpg.from_dlpack(OnlyDLPack(held.values))
    held.values[0] = 7
    assert v.device == device and host(v.values).tolist() == [7, 3, 0, -2, 0]


@pytest.mark.parametrize("library", ["torch", "only DLPack"])
def test_arrays_of_other_libraries_are_shared(library: str, device: str) -> None:
    given = [np.array([2.0, 3.0, 4.0]), np.array([1, 0, 2], np.int32), np.array([0, 1, 3])]
    given = [hpg.Vector(array).to(device).values for array in given]
    if library == "only DLPack":
        data, indices, indptr = (OnlyDLPack(array) for array in given)
    else:
        module = pytest.importorskip(library)
        if library == "torch" and device == "cuda" and not module.cuda.is_available():
            pytest.skip("PyTorch without CUDA")
        data, indices, indptr = (module.from_dlpack(array) for array in given)
    A = hpg.Matrix((data, indices, indptr), (2, 3), copy=False)
    assert A.device == device and host(A.toarray()).tolist() == [[0, 2, 0], [3, 0, 4]]
    for mine, theirs in zip((A.csr.data, A.csr.indices), given, strict=False):
        place = (lambda array: array.ctypes.data) if device == "cpu" else (lambda array: array.data.ptr)
        assert place(mine) == place(theirs), "nothing is copied"
    assert hpg.Vector(data).device == device and host(hpg.Vector(data).values).tolist() == [2, 3, 4]
    assert host(A @ data).tolist() == [6, 22]
    assert host(hpg.from_edges(indices, indices, data).out_csr.data).tolist() == [3, 2, 4]


@pytest.mark.parametrize("layout", ["to_sparse_csr", "to_sparse_csc", "to_sparse_coo"])
def test_sparse_tensors(layout: str) -> None:
    torch = pytest.importorskip("torch")
    tensor = getattr(torch.tensor(DENSE, requires_grad=True), layout)()
    np.testing.assert_array_equal(hpg.Matrix(tensor).toarray(), DENSE)


def test_the_documented_table_is_current() -> None:
    """As for the SciPy that it was made with; others may have other names."""
    place = Path(__file__).parents[1] / "docs" / "scipy_table.py"
    if not place.exists():
        pytest.skip("the documentation is not there")
    spec = importlib.util.spec_from_file_location("scipy_table", place)
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    assert "not there yet" not in maker.table()
    if scipy.__version__.startswith("1.17"):
        text = maker.PAGE.read_text(encoding="utf-8")
        assert maker.page(text) == text, "run python docs/scipy_table.py"


def test_save_npz_replaces_a_file_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hpg.save_npz(tmp_path / "m", hpg.eye(3))
    assert sp.load_npz(tmp_path / "m.npz").nnz == 3

    def full(file: Any, *given: Any) -> None:
        file.write(b"some")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sp, "save_npz", full)
    raises(OSError, "No space left", hpg.save_npz, tmp_path / "m.npz", hpg.eye(4))
    assert [file.name for file in tmp_path.iterdir()] == ["m.npz"] and hpg.load_npz(tmp_path / "m.npz").nnz == 3


@pytest.mark.parametrize("values", [np.array([True, False]), np.array([4, 9], np.int8), np.array([4, 9], np.uint8)])
def test_functions_of_small_integers(values: Any, device: str) -> None:
    vector = hpg.Vector(values).to(device)
    for function in (np.sqrt, np.sin, np.expm1):
        found = function(vector)
        assert found.dtype == np.float32
        np.testing.assert_allclose(shown(found), function(values.astype(np.float32)), rtol=1e-3)
