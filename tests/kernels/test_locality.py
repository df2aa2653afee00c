"""Products by blocks of columns, and runs of supersteps on the GPU: against SciPy and other kernels, and compiled."""

import numpy as np
import pytest
import scipy.sparse
from cuda_build import GENERATIONS, compiles

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.engine.declarations import declarations_of
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.specialization import specialize
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv import cuda_column_blocks_layout as blocked_layout
from hpgraph.kernels.spmv.cuda_choice import predict
from hpgraph.kernels.spmv.cuda_column_blocks import blocked_prologue
from hpgraph.kernels.spmv.cuda_column_blocks_layout import pays
from hpgraph.kernels.sweep.cuda import BY_BLOCKS, SLAB
from hpgraph.kernels.sweep.cuda import KERNELS as SWEEPS
from hpgraph.kernels.sweep.cuda_program import SweepProgram, ignored, read_by_gather


class Spread(hpg.VertexProgram):
    """Sends half of each value to the out-neighbours; stops when little is left."""

    weighted = False
    reduce = "plus"
    activity = "all"
    held = hpg.Property("float64", initial=1.0)
    share = hpg.Parameter("float64", 0.5)
    aggregators = ("left",)

    def gather(source, weight, target):
        return source.held

    def update(vertex, message, world):
        return world.share * message

    def aggregate(before, vertex):
        return vertex.held

    def converged(world):
        return world.left < 1e-3


class Uncompilable(Spread):
    """The same, with an end that only Python can tell."""

    def converged(world):
        return bool({"left": world.left}["left"] < float("1e-3"))


@pytest.fixture
def forced(by_blocks, monkeypatch):
    """Takes products by blocks however small the matrix is, and says how many layouts were made."""
    made, place = [], blocked_layout._place
    monkeypatch.setattr(blocked_layout, "_place", lambda *given: made.append(given[1].order) or place(*given))
    return made


def skewed(rows, columns, entries, dtype, seed, hot=True):
    """A random matrix with a long row, rows without entries, hot columns where asked, and weights of few digits."""
    rng = np.random.default_rng(seed)
    row, col = rng.integers(0, rows, entries), rng.integers(0, columns, entries)
    if hot:
        half = entries // 2
        col[:half] = rng.permutation(columns)[rng.integers(0, 100, half)]
    row[: entries // 4] = 7
    row[row % 5 == 3] = 1
    row %= rows
    data = rng.integers(1, 9, entries).astype(dtype)
    found = scipy.sparse.csr_array((data, (row, col)), shape=(rows, columns))
    found.sum_duplicates()
    return found


@pytest.mark.parametrize("shape", [(3000, 100_000), (70_000, 40_000), (1, 90_000)])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), ("float64", 1e-13), ("int64", 0)])
@pytest.mark.parametrize("hot", [True, False])
def test_product_equals_scipy(gpu, forced, shape, dtype, tolerance, hot):
    S = skewed(*shape, 200_000, dtype, 3, hot)
    x = np.random.default_rng(5).integers(-50, 50, shape[1]).astype(dtype)
    A, moved = hpg.Matrix(S).to(gpu), to_device(x, gpu)
    first, again = A @ moved, A @ moved
    assert (first == again).all()
    expected = S.astype("float64") @ x.astype("float64")
    got = to_device(first, "cpu").astype("float64")
    assert np.linalg.norm(got - expected) <= tolerance * np.linalg.norm(expected)
    # The layout is made once.
    assert len(forced) == 1


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
def test_min_plus_equals_the_other_kernels(gpu, forced, monkeypatch, dtype):
    S = skewed(5000, 80_000, 150_000, dtype, 8)
    x = to_device(np.random.default_rng(2).integers(0, 1000, 80_000).astype(dtype), gpu)
    by_blocks = hpg.Matrix(S).to(gpu).mxv(x, "min_plus")
    assert forced
    monkeypatch.setattr(blocked_layout, "MIN", 1 << 40)
    assert (by_blocks == hpg.Matrix(S).to(gpu).mxv(x, "min_plus")).all()


def test_stretches_without_an_end(gpu, forced):
    # One row takes all of a block: what one stretch leaves open passes through many others.
    n = 70_000
    S = scipy.sparse.csr_array(np.ones((1, n)))
    x = to_device(np.arange(n, dtype=np.float64), gpu)
    assert float((hpg.Matrix(S).to(gpu) @ x)[0]) == n * (n - 1) / 2


@pytest.mark.parametrize("weight", [None, True])
def test_pagerank_by_blocks(gpu, forced, weight):
    S = skewed(70_000, 70_000, 300_000, "float32", 4)
    on_device, on_cpu = hpg.Graph(S).to(gpu), hpg.Graph(S)
    found, expected = (hpg.pagerank(G, tol=1e-10, weight=weight) for G in (on_device, on_cpu))
    assert found.iterations == expected.iterations
    assert np.abs(to_device(found.rank, "cpu") - expected.rank).sum() < 1e-9
    assert forced


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 1000])
def test_supersteps_end_where_they_should(gpu, limit):
    S = scipy.sparse.csr_array((np.ones(3000), (np.arange(3000), np.roll(np.arange(3000), 1))))
    G = hpg.Graph(S).to(gpu)
    compiled, python = (hpg.run(kind, G, max_iteration=limit) for kind in (Spread, Uncompilable))
    # 3000 / 2^k falls below 1e-3 at k = 22.
    assert compiled.supersteps == python.supersteps == min(limit, 22)
    assert (compiled.held == 0.5 ** min(limit, 22)).all()
    assert (compiled.held == python.held).all()
    assert len(compiled.active) == (3000 if limit < 22 else 0)
    assert compiled.world["left"] == python.world["left"] == 3000 * 0.5 ** min(limit, 22)


def test_nothing_is_left_behind_by_a_replay(gpu):
    # Two runs of the same kernels on other data: temporary memory of the first must not show in the second.
    for n in (2000, 3000, 2000):
        G = hpg.Graph(scipy.sparse.csr_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))))).to(gpu)
        assert (hpg.run(Spread, G, max_iteration=9).held == 0.5**9).all()


def test_sweeps_compile():
    pytest.importorskip("cuda.core")
    pytest.importorskip("numba.cuda")
    f64 = np.dtype(np.float64)
    code = declarations_of(Spread).code((f64,))
    program = SweepProgram(code, declarations_of(Spread).functions["converged"])
    compiles("sweep.cuh", program.prologue, program.ltoir, SWEEPS, GENERATIONS[0])
    special = specialize(functions_of(code).offer, code.reduce, None, None, np.dtype(np.int32), (f64,), f64, False)
    ltoir = (*special.ltoir, *program.ltoir)
    for source, before, names in (
        ("sweep_blocks.cuh", blocked_prologue(special, f64), BY_BLOCKS),
        ("sweep_slab.cuh", special.prologue, (SLAB,)),
    ):
        compiles(source, before + program.prologue, ltoir, names, GENERATIONS[1])


def test_messages_of_the_source_alone_are_recognized():
    assert ignored(declarations_of(Spread).code((np.dtype(np.float64),))) == {"weight", "target"}

    class Weighted(Spread):
        def gather(source, weight, target):
            return source.held * weight

    assert ignored(declarations_of(Weighted).code((np.dtype(np.float64),))) == {"target"}


def test_cost_rule():
    assert pays(1e-3, 2e-3) and not pays(0.97e-3, 1e-3)


def test_small_matrices_go_directly(gpu):
    S = skewed(3000, 100_000, 50_000, "float32", 1)
    A = CSR.from_scipy(S).to(gpu)
    assert "blocks" not in predict(A, 4, 4)


def test_rows_of_hubs_beside_each_other(gpu, forced):
    # A group of rows with many partial results in each block of columns is added up by a whole thread block.
    dense = scipy.sparse.random_array((900, 300_000), density=0.002, rng=2)
    thin = scipy.sparse.random_array((20_000, 300_000), density=5e-6, rng=3)
    S = scipy.sparse.vstack([thin, dense, thin]).tocsr()
    x = np.random.default_rng(1).random(300_000)
    A = hpg.Matrix(S).to(gpu)
    np.testing.assert_allclose(to_device(A @ to_device(x, gpu), "cpu"), S @ x, rtol=1e-12)
    layout = blocked_layout.known_survey(A.csr, 8, 8).layout
    groups, at_once = len(layout.group_order), 8
    assert layout.adders > -(-groups // at_once)


class Several(hpg.VertexProgram):
    """Three properties, of which messages depend on two."""

    weighted = False
    reduce = "plus"
    activity = "all"
    first, second, third = hpg.Property("float64"), hpg.Property("int32"), hpg.Property("float64")

    def gather(source, weight, target):
        return source.first * target.third

    def update(vertex, message):
        return message, vertex.second, vertex.third


def test_which_properties_messages_depend_on():
    types = tuple(map(np.dtype, ("float64", "int32", "float64")))
    assert read_by_gather(declarations_of(Several).code(types)) == {0, 2}

    class Passed(Several):
        def gather(source, weight, target):
            return float(max(source))

    assert read_by_gather(declarations_of(Passed).code(types)) == {0, 1, 2}

    class Guarded(Several):
        def edge_cond(source, weight, target):
            return source.second > 0

    assert read_by_gather(declarations_of(Guarded).code(types)) == {0, 1, 2}


class Averaging(hpg.VertexProgram):
    """Half of what a vertex has, and an eighth of what its neighbours have; counts its supersteps."""

    weighted = True
    reduce = "plus"
    activity = "all"
    held = hpg.Property("float64")
    rounds = hpg.Property("int32")
    aggregators = ("total", "oldest")

    def gather(source, weight, target):
        return source.held * weight

    def update(vertex, message, world):
        return vertex.held / 2 + message / 8 + world.total * 1e-9, vertex.rounds + 1

    def aggregate(before, vertex):
        return vertex.held, vertex.rounds


@pytest.mark.parametrize("limit", [1, 6, 7])
@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("side", [3, 70])
def test_supersteps_over_a_slab(gpu, limit, fused, side):
    # A grid has rows of at most four entries: no tail. Seven supersteps end in the second copy of what is held.
    n = side * side
    G = hpg.datasets.grid(side, weighted=True)
    A, start = G.out_csr.to_scipy(), np.random.default_rng(1).random(n)
    held, total = start, start.sum()
    for _ in range(limit):
        held = held / 2 + A @ held / 8 + total * 1e-9
        total = held.sum()
    with hpg.techniques(fused_supersteps=fused):
        found = hpg.run(Averaging, G.to(gpu), held=to_device(start, gpu), max_iteration=limit)
    np.testing.assert_allclose(to_device(found.held, "cpu"), held, rtol=1e-12)
    assert (found.rounds == limit).all()
    np.testing.assert_allclose(found.world["total"], total, rtol=1e-12)
    assert found.world["oldest"] == n * limit
