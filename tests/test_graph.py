"""Graph: what it can be made of, what it then says of itself, and what it refuses."""

from typing import Any
from unittest import mock

import hypothesis
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from raising import raises

import hpgraph as hpg
from hpgraph.core.device import array_module, cuda_available, to_device
from hpgraph.core.errors import DeviceError, DeviceMemoryError, MissingExtraError
from hpgraph.formats import COO, CSR, ELL, HYB
from hpgraph.kernels.structure import cpu_symmetry

# 0 -> 1 (3), 0 -> 2 (0, stored), 2 -> 0 (5), 2 -> 2 (1); vertex 3 alone
ARCS = {(0, 1): 3.0, (0, 2): 0.0, (2, 0): 5.0, (2, 2): 1.0}
SOURCE, TARGET = (np.array(ends) for ends in zip(*ARCS, strict=True))
WEIGHT = np.array(list(ARCS.values()))


def arcs(csr: CSR) -> dict[tuple[int, int], float]:
    """Every stored arc, read one by one."""
    indptr, indices, data = (to_device(array, "cpu") for array in (csr.indptr, csr.indices, csr.data))
    found = {}
    for row in range(csr.shape[0]):
        for j in range(indptr[row], indptr[row + 1]):
            assert (row, int(indices[j])) not in found
            found[row, int(indices[j])] = 1.0 if data is None else float(data[j])
    return found


def turned(arcs_: dict[tuple[int, int], float]) -> dict[tuple[int, int], float]:
    return {(v, u): weight for (u, v), weight in arcs_.items()}


def coo() -> scipy.sparse.coo_array:
    return scipy.sparse.coo_array((WEIGHT, (SOURCE, TARGET)), shape=(4, 4))


def example(device: str, **options: object) -> hpg.Graph:
    return hpg.Graph(coo(), **options).to(device)  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_any_sparse_format_gives_the_same_arcs(layout: str) -> None:
    S = scipy.sparse.random_array((30, 30), density=0.1, rng=1)
    expected = {(int(i), int(j)): float(w) for i, j, w in zip(*S.coords, S.data, strict=True)}
    assert arcs(hpg.Graph(S.asformat(layout)).out_csr) == expected


def test_properties_of_graphs(device: str) -> None:
    G = example(device)
    assert (G.n_vertices, G.n_edges, G.directed, G.weighted, G.device) == (4, 4, True, True, device)
    assert G.dtype == np.float64
    assert arcs(G.out_csr) == ARCS, "a stored zero is an arc"
    assert arcs(G.in_csr) == turned(ARCS)
    assert to_device(G.out_degree, "cpu").tolist() == [2, 0, 2, 0]
    assert to_device(G.in_degree, "cpu").tolist() == [1, 1, 2, 0]
    assert to_device(G.weights, "cpu").tolist() == [3, 0, 5, 1]
    assert arcs(G.weighted_hyb.to_csr()) == turned(ARCS)
    assert G.hyb.dtype is None and set(arcs(G.hyb.to_csr())) == set(turned(ARCS))
    assert G.out_csr.indptr.dtype == np.int64 and G.out_csr.indices.dtype == np.int32


def test_layouts_are_built_once_and_shared(device: str) -> None:
    G = example(device)
    assert G.in_csr is G.in_csr and G.hyb is G.hyb and G.undirected is G.undirected
    assert G.weighted_hyb.ell.indices is G.hyb.ell.indices
    both = G.undirected
    assert both.in_csr is both.out_csr and both.undirected is both
    assert G.nbytes >= G.out_csr.nbytes + G.in_csr.nbytes


def test_undirected_takes_the_lighter_weight(device: str) -> None:
    expected = {(0, 1): 3.0, (1, 0): 3.0, (0, 2): 0.0, (2, 0): 0.0, (2, 2): 1.0}
    both = example(device).undirected
    assert arcs(both.out_csr) == expected and not both.directed
    assert arcs(example(device, directed=False).out_csr) == expected
    made = hpg.Graph.from_edges(SOURCE, TARGET, WEIGHT, 4, directed=False)
    assert arcs(made.out_csr) == expected and not made.directed
    assert arcs(hpg.Graph(example(device), directed=False).out_csr) == expected
    assert arcs(hpg.Graph(example(device).out_csr, directed=False).out_csr) == expected, "a CSR is not trusted either"


def test_direction_is_found_out(device: str) -> None:
    symmetric = coo() + coo().T
    assert not hpg.Graph(symmetric).to(device).directed
    uneven = symmetric.tocsr()
    uneven[0, 1] += 1
    assert hpg.Graph(uneven).to(device).directed, "a reverse of another weight is another arc"
    assert hpg.Graph(symmetric, directed=True).to(device).directed, "what is said is believed"
    assert not hpg.Graph(scipy.sparse.csr_array((3, 3))).directed


@settings(max_examples=200, deadline=None)
@given(
    n=st.integers(0, 5),
    pairs=st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(1, 2), max_size=12),
    mirrored=st.booleans(),
)
@hypothesis.example(n=3, pairs={(0, 1): 2, (2, 0): 1}, mirrored=False)
def test_direction_of_small_matrices_is_found_out_by_a_hash(n: int, pairs: dict[Any, int], mirrored: bool) -> None:
    dense = np.zeros((n, n), np.int64)
    for (u, v), weight in pairs.items():
        if u < n and v < n:
            dense[u, v] = weight
    dense = np.maximum(dense, dense.T) if mirrored else dense
    # The first matrices of a process are compared with their transposes; with this key ids and numbers hash alike.
    with mock.patch.multiple(cpu_symmetry, _checked=2**62, _KEY=np.uint64(2**20)):
        assert hpg.Graph(scipy.sparse.csr_array(dense)).directed == (dense != dense.T).any()


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 12),
    pairs=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(-3, 3)), max_size=40),
    directed=st.sampled_from([True, False, None]),
    weighted=st.booleans(),
)
def test_from_edges_against_a_dictionary(
    n: int, pairs: list[tuple[int, int, int]], directed: bool | None, weighted: bool
) -> None:
    expected: dict[tuple[int, int], int] = {}
    pairs = [(u % n, v % n, w if weighted else 1) for u, v, w in pairs]
    for u, v, w in pairs:
        for arc in [(u, v), (v, u)] if directed is False else [(u, v)]:
            expected[arc] = min(w, expected.get(arc, w))
    source, target, weight = ([pair[k] for pair in pairs] for k in range(3))
    G = hpg.Graph.from_edges(source, target, np.array(weight, np.int32) if weighted else None, n, directed)
    assert arcs(G.out_csr) == expected
    assert arcs(G.in_csr) == turned(expected)
    symmetric = expected == turned(expected)
    assert G.directed == (True if directed else not symmetric)
    assert G.out_csr.is_canonical() and G.in_csr.is_canonical()
    assert G.in_degree.tolist() == [sum(v == w for _, w in expected) for v in range(n)]


def test_from_edges_counts_vertices() -> None:
    assert hpg.Graph.from_edges([0, 7], [1, 2]).n_vertices == 8
    assert hpg.Graph.from_edges([], []).n_vertices == 0
    assert hpg.Graph.from_edges([], [], n_vertices=5).n_vertices == 5
    assert hpg.Graph.from_edges([0], [1], names=["a", "b", "c"]).n_vertices == 3


def test_stays_on_the_device_of_the_arrays(device: str) -> None:
    xp = array_module(device)
    G = hpg.Graph.from_edges(xp.asarray(SOURCE), xp.asarray(TARGET), xp.asarray(WEIGHT), 4)
    assert G.device == device and arcs(G.out_csr) == ARCS
    assert arcs(hpg.as_graph((xp.asarray(SOURCE), xp.asarray(TARGET))).out_csr).keys() == ARCS.keys()
    if device == "cuda":
        import cupyx.scipy.sparse

        assert arcs(hpg.Graph(cupyx.scipy.sparse.coo_matrix(coo())).out_csr) == ARCS


def test_ids_that_fit_32_bits_are_narrowed(device: str) -> None:
    """Whatever they came in: 64 bits would make a traversal read twice as much."""
    wide = CSR(coo().shape, [0, 2, 2, 4, 4], np.array([1, 2, 0, 2], dtype=np.int64), WEIGHT).to(device)
    assert wide.indices.dtype == np.int64
    triplets = COO(wide.shape, wide.expand_rows(), wide.indices, wide.data)
    sources = [wide, HYB.from_csr(wide), ELL.from_csr(wide), triplets]
    sparse = scipy.sparse.csr_array(coo())
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    if device == "cpu":
        sources.append(sparse)
    for source in sources:
        G, A = hpg.Graph(source), hpg.Matrix(source)
        assert G.device == device and arcs(G.out_csr) == arcs(A.csr) == ARCS
        for layout in (G.out_csr, G.in_csr, A.csr, A.T.csr):
            assert layout.indices.dtype == np.int32
        assert G.hyb.ell.indices.dtype == A.hyb.ell.indices.dtype == np.int32
    assert sparse.indices.dtype == np.int64, "the caller's own"


def test_our_own_containers(device: str) -> None:
    csr = example(device).out_csr
    for source in (csr, COO(csr.shape, csr.expand_rows(), csr.indices, csr.data), HYB.from_csr(csr), ELL.from_csr(csr)):
        assert arcs(hpg.Graph(source).out_csr) == ARCS
    assert hpg.Graph(csr).out_csr is csr, "a canonical CSR is taken as it is"
    twice = CSR((2, 2), [0, 3, 3], [1, 0, 1], [4.0, 2.0, 3.0]).to(device)
    assert arcs(hpg.Graph(twice).out_csr) == {(0, 0): 2.0, (0, 1): 3.0}


def test_scipy_arrays_are_shared_on_request() -> None:
    S = scipy.sparse.random_array((50, 50), density=0.1, format="csr", rng=2)
    G = hpg.Graph(S, copy=False)
    assert np.shares_memory(G.out_csr.indices, S.indices) and np.shares_memory(G.weights, S.data)


def test_unsorted_and_repeated_entries_keep_the_lightest() -> None:
    S = scipy.sparse.csr_array((np.array([2.0, 7.0, 1.0]), np.array([1, 0, 1]), np.array([0, 3, 3])), shape=(2, 2))
    before = S.indices.copy(), S.data.copy()
    assert arcs(hpg.Graph(S).out_csr) == {(0, 0): 7.0, (0, 1): 1.0}
    assert (S.indices == before[0]).all() and (S.data == before[1]).all(), "the input is left as it was"


def test_boolean_matrices_have_no_weights() -> None:
    G = hpg.Graph(coo().astype(bool))
    assert not G.weighted and G.weights is None and G.dtype is None
    assert set(arcs(G.out_csr)) == set(ARCS), "a stored False is an arc as well"


def test_matrix_makes_a_graph(device: str) -> None:
    assert arcs(hpg.Graph(hpg.hyb_array(coo()).to(device)).out_csr) == ARCS


@pytest.mark.parametrize("n", [0, 1, 70])
def test_graphs_without_arcs(n: int, device: str) -> None:
    G = hpg.Graph(scipy.sparse.csr_array((n, n))).to(device)
    assert (G.n_vertices, G.n_edges, G.directed) == (n, 0, False)
    assert to_device(G.out_degree, "cpu").tolist() == to_device(G.in_degree, "cpu").tolist() == [0] * n
    assert G.hyb.shape == (n, n) and G.undirected is G
    assert "0 arcs" in repr(G)


def test_there_and_back(device: str) -> None:
    G = hpg.Graph(coo(), names=list("abcd"))
    assert G.hyb is not None and G.weighted_hyb is not None and G.undirected is not None
    moved = G.to(device)
    assert moved.device == device and (moved is G) == (device == "cpu")
    assert moved._layouts.get("weighted_hyb") is not None, "what was built moves along"
    assert moved.hyb.ell.indices is moved.weighted_hyb.ell.indices, "and is still shared"
    back = moved.to("cpu")
    assert arcs(back.out_csr) == ARCS and arcs(back.hyb.to_csr()).keys() == turned(ARCS).keys()
    assert back.index_of("d") == 3
    both = G.undirected.to(device)
    assert both.in_csr is both.out_csr


class TestNames:
    def test_look_up(self) -> None:
        G = hpg.Graph.from_edges([0], [1], names=["libc6", "bash"])
        assert G.index_of("bash") == 1 and G.index_of(G.names[0]) == 0  # type: ignore[index]

    def test_near_matches(self) -> None:
        G = hpg.Graph.from_edges([0], [1], names=["libc6", "bash"])
        raises(ValueError, r"no vertex is named 'libc': did you mean 'libc6'", G.index_of, "libc")
        raises(ValueError, r"names are such as 'libc6'", G.index_of, ["libc6"])

    def test_numbers_and_other_values(self) -> None:
        big = np.array([10**15, 7])
        assert hpg.Graph.from_edges([0], [1], names=big).index_of(7) == 1
        mixed = hpg.Graph.from_edges([0], [1], names=[("a", 1), ("b", 2)])
        assert mixed.index_of(("b", 2)) == 1

    def test_none(self) -> None:
        raises(ValueError, r"have no names, only numbers 0\.\.1", hpg.Graph.from_edges([0], [1]).index_of, "a")

    def test_twice_the_same(self) -> None:
        for names in (["a", "b", "a"], [7, 1, 7]):
            with pytest.raises(ValueError, match=r"vertices 0 and 2 are both named ('a'|7)"):
                hpg.Graph.from_edges([0, 1], [1, 2], names=names)

    def test_not_as_many_as_vertices(self) -> None:
        with pytest.raises(ValueError, match=r"one name for each of the 4 vertices, not shape \(2,\)"):
            hpg.Graph(coo(), names=["a", "b"])
        with pytest.raises(TypeError, match=r"sequence with one name for each vertex"):
            hpg.Graph(coo(), names="abcd")


class TestRefused:
    @pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
    def test_not_square(self, shape: tuple[int, int]) -> None:
        with pytest.raises(ValueError, match=r"must be square.*not \d x \d.*block_array"):
            hpg.Graph(scipy.sparse.csr_array(shape))
        with pytest.raises(ValueError, match=r"must be square"):
            hpg.Graph(CSR(shape, [0] * (shape[0] + 1), []))

    def test_complex_weights(self) -> None:
        with pytest.raises(TypeError, match=r"adjacency matrix must be bool.*not complex128"):
            hpg.Graph(coo().astype(complex))
        raises(TypeError, r"weight must be bool.*not complex128", hpg.Graph.from_edges, [0], [1], [1j])

    @pytest.mark.parametrize("source", [np.eye(3), [[0, 1], [1, 0]], "web.mtx", 7, None, ([0], [1], [2], [3])])
    def test_no_graph(self, source: object) -> None:
        raises(TypeError, r"no graph can be made of", hpg.as_graph, source)

    def test_ids_that_are_no_integers(self) -> None:
        raises(TypeError, r"source must hold whole numbers below .*not float64", hpg.Graph.from_edges, [0.5], [1])
        with pytest.raises(TypeError, match=r"target must hold whole numbers.*number names with numpy.unique"):
            hpg.Graph.from_edges([0], ["b"])

    def test_ids_out_of_range(self) -> None:
        raises(IndexError, r"target holds -1; vertices are numbered from 0", hpg.Graph.from_edges, [0], [-1])
        raises(IndexError, r"source holds 9: with n_vertices=4", hpg.Graph.from_edges, [9], [0], n_vertices=4)
        with pytest.raises(ValueError, match=r"source holds 18446744073709551615, and ids must fit 64 bits"):
            hpg.Graph.from_edges(np.array([2**64 - 1], np.uint64), np.array([0], np.uint64))

    def test_ids_too_far_apart_for_the_memory(self) -> None:
        with pytest.raises(DeviceMemoryError, match=r"a graph of 4611686018427387905 vertices .*numpy\.unique.* needs"):
            hpg.Graph.from_edges([0], [2**62])

    def test_lengths(self) -> None:
        raises(ValueError, r"one id for each arc, not 1 and 2", hpg.Graph.from_edges, [0], [1, 2])
        with pytest.raises(ValueError, match=r"weight must have one value for each arc, .* not shape \(2,\)"):
            hpg.Graph.from_edges([0], [1], [1.0, 2.0])
        raises(ValueError, r"source must be one-dimensional", hpg.Graph.from_edges, [[0, 1]], [1, 2])

    @pytest.mark.parametrize("n", [-1, 2**63])
    def test_number_of_vertices(self, n: int) -> None:
        with pytest.raises(ValueError, match=r"n_vertices must be from 0 to"):
            hpg.Graph.from_edges([0], [0], n_vertices=n)

    @pytest.mark.parametrize("n", ["3", True])
    def test_number_of_vertices_of_another_type(self, n: Any) -> None:
        with pytest.raises(TypeError, match=r"n_vertices must be a whole number"):
            hpg.Graph.from_edges([0], [0], n_vertices=n)

    def test_direction(self) -> None:
        with pytest.raises(TypeError, match=r"directed must be True, False or None"):
            hpg.Graph(coo(), directed="yes")  # type: ignore[arg-type]

    def test_device(self) -> None:
        raises(ValueError, 'device must be "cpu" or "cuda"', hpg.Graph(coo()).to, "tpu")

    @pytest.mark.skipif(cuda_available(), reason="there is a GPU")
    def test_cuda_without_a_gpu(self) -> None:
        raises((DeviceError, MissingExtraError), r"GPU|CuPy", hpg.Graph(coo()).to, "cuda")

    def test_arrays_on_two_devices(self, device: str) -> None:
        if device == "cpu":
            pytest.skip("takes two devices")
        xp = array_module(device)
        with pytest.raises(TypeError, match=r"cannot be mixed"):
            hpg.Graph.from_edges(xp.asarray(SOURCE), TARGET)


class TestShown:
    def test_one_line(self, device: str) -> None:
        assert repr(example(device)) == f"Graph: 4 vertices, 4 arcs, directed, float64 weights, {device}"
        both_ways = hpg.Graph.from_edges([0], [1], directed=False)
        assert repr(both_ways) == "Graph: 2 vertices, 2 arcs, undirected, no weights, cpu"

    def test_table(self) -> None:
        shown = hpg.Graph(coo(), names=["<a>", "b", "c", "d"])._repr_html_()
        assert shown.startswith("<table>") and "<td>vertices</td><td>4</td>" in shown
        assert "&#x27;&lt;a&gt;&#x27;, &#x27;b&#x27;, &#x27;c&#x27;, ..." in shown, "names are escaped"


@pytest.mark.parametrize("dtype", [">i8", ">i4", ">u2", "u1"])
def test_ids_in_any_order_of_bytes(dtype: str) -> None:
    G, some = hpg.from_edges([0, 1, 2, 3], [1, 2, 3, 0], directed=False), np.array([1, 2, 3]).astype(dtype)
    assert hpg.bfs(G, sources=some).level.tolist() == hpg.bfs(G, sources=[1, 2, 3]).level.tolist()
    assert hpg.bfs(G, sources=hpg.id(some)).level.tolist() == hpg.bfs(G, sources=[1, 2, 3]).level.tolist()
    assert G.has_edge(some, some - 1).tolist() == [True] * 3
    assert G.update(delete=(some, some - 1)).n_edges == 2
    with pytest.raises(IndexError, match=r"sources must lie in 0\.\.3.* it has 2\.\.4"):
        hpg.bfs(G, sources=some + 1)
