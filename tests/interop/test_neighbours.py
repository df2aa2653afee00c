"""Other libraries take our matrices and vectors as they lie in memory: pyamg, scikit-learn, PyTorch, JAX."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.core.device import array_module, to_device


def poisson(n: int = 20) -> scipy.sparse.csr_array:
    """The five-point Laplacian of a square grid."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = scipy.sparse.eye_array(n)
    return scipy.sparse.csr_array(scipy.sparse.kron(line, eye) + scipy.sparse.kron(eye, line))


def shared(A: hpg.Matrix, S: Any) -> bool:
    return np.shares_memory(S.data, A.csr.data) and np.shares_memory(S.indices, A.csr.indices)


def test_pyamg() -> None:
    pyamg = pytest.importorskip("pyamg")
    S = poisson()
    A = hpg.Matrix(S)
    given = A.csr.to_scipy()
    assert shared(A, given)
    b = np.random.default_rng(0).random(S.shape[0])
    x = pyamg.ruge_stuben_solver(scipy.sparse.csr_matrix(given)).solve(b, tol=1e-10)
    assert np.linalg.norm(A @ x - b) <= 1e-8 * np.linalg.norm(b)


def test_scikit_learn() -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    cluster = pytest.importorskip("sklearn.cluster")
    decomposition = pytest.importorskip("sklearn.decomposition")
    rng = np.random.default_rng(0)
    S = scipy.sparse.random_array((200, 30), density=0.2, rng=rng, format="csr")
    A = hpg.Matrix(S)
    assert shared(A, A.csr.to_scipy())
    y = S @ rng.random(30)
    for X in (A.csr.to_scipy(), A.tocsr(), A):
        model = linear.Ridge(alpha=1e-9, solver="sparse_cg", tol=1e-12).fit(X, y)
        np.testing.assert_allclose(model.predict(X), y, atol=1e-5)
        expected = cluster.KMeans(3, n_init=1, random_state=0).fit(S).labels_
        assert (cluster.KMeans(3, n_init=1, random_state=0).fit(X).labels_ == expected).all()
        found = decomposition.TruncatedSVD(4, random_state=0).fit(X).singular_values_
        np.testing.assert_allclose(found, decomposition.TruncatedSVD(4, random_state=0).fit(S).singular_values_)


def vectors(device: str) -> list[hpg.Vector]:
    """Full ones, whose values lie in memory as they are seen."""
    return [hpg.Vector(np.arange(5, dtype=dtype)).to(device) for dtype in ("float32", "float64", "int64")]


def test_torch(device: str) -> None:
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    for v in vectors(device):
        seen = torch.from_dlpack(v)
        assert seen.tolist() == list(range(5)) and seen.device.type == device
        seen[0] = 9
        assert v[0] == 9, "the same memory"
        back = hpg.Vector(array_module(device).from_dlpack(seen))
        assert back[0] == 9


def test_tensors_are_operands(device: str) -> None:
    torch = pytest.importorskip("torch")
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    tensor = torch.arange(4.0, device=device)
    A = hpg.Matrix(2 * np.eye(4, dtype=np.float32)).to(device)
    for found in (A @ tensor, tensor @ A, A.mxv(tensor), A.vxm(tensor), (A @ tensor[:, None])[:, 0]):
        assert to_device(found, "cpu").tolist() == [0, 2, 4, 6]
    assert to_device(A.mxv(tensor, mask=tensor > 2), "cpu").tolist() == [0, 0, 0, 6]
    v = hpg.Vector(tensor)
    assert to_device((v + tensor).values, "cpu").tolist() == [0, 2, 4, 6]
    tensor[1] = 5
    assert v[1] == 5, "the same memory"
    assert torch.as_tensor(v, device=device).tolist() == [0, 5, 2, 3]


def test_jax(device: str, jax_backend: str) -> None:
    import jax

    if device == "cuda" and jax_backend != "gpu":
        pytest.skip("this JAX has no CUDA")
    for v in vectors(device)[:1]:
        assert jax.dlpack.from_dlpack(v).tolist() == list(range(5))


def test_arrays_of_others(device: str) -> None:
    """What NumPy and CuPy see through their protocols is the vector's own memory."""
    xp = array_module(device)
    for v in vectors(device):
        for seen in (xp.from_dlpack(v), xp.asarray(v)):
            # Of another library's array NumPy before 2.2 makes one to read alone.
            if device == "cuda" or seen.flags.writeable:
                seen[1] = 7
                assert v[1] == 7
            assert to_device(seen, "cpu").tolist() == to_device(v.values, "cpu").tolist()
        if device == "cpu":
            assert v.__array_interface__["data"] == v.values.__array_interface__["data"]
        else:
            assert v.__cuda_array_interface__["data"] == v.values.__cuda_array_interface__["data"]


def test_absent_entries_are_not_made_up(device: str) -> None:
    v = hpg.Vector.from_indices([1], [5.0], 300).to(device)
    assert v.format == "list"
    assert not hasattr(v, "__cuda_array_interface__") and not hasattr(v, "__array_interface__")
    assert to_device(v.toarray(), "cpu").sum() == 5
