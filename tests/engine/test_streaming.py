"""Graphs in pages: the tests of graphs in memory, with so little memory that pages must come and go; and faults."""

import os

import numpy as np
import programs
import pytest
import scipy.sparse
import test_run
from arrays import host
from graphs_in_pages import in_file, streamed
from raising import raises
from reference_algorithms import SMALL, check_shortest_paths, check_tree, levels, pagerank, random_digraph

import hpgraph as hpg
from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.backend import windows
from hpgraph.kernels.out_of_core.page_replacement import PageCache
from hpgraph.kernels.out_of_core.requests import Directories
from hpgraph.kernels.pages import cut

BOTH = SMALL.maximum(SMALL.T).tocsr()
PLACES = ["array", "file", "gaps"]
EACH = [("array", "auto"), ("file", "push"), ("gaps", "pull"), ("gaps", "auto")]


@pytest.fixture(params=PLACES)
def place(request):
    return request.param


@pytest.fixture
def G(device, place, tmp_path):
    return streamed(SMALL, device, place, tmp_path, True)


@pytest.fixture
def undirected(device, place, tmp_path):
    return streamed(BOTH, device, place, tmp_path, False)


# Of the two programs the one of a monoid of its own: what has an update, and a monoid that is built in, comes below.
@pytest.mark.parametrize(("place", "direction"), EACH)
def test_widest_path(direction, G, device):
    test_run.test_widest_path(programs.WidestInPlace, direction, G, device)


def test_every_way_to_name_the_active(G):
    test_run.test_every_way_to_name_the_active(programs.WidestInPlace, G)


@pytest.mark.parametrize(("place", "direction"), EACH)
def test_breadth_first(direction, G):
    found = hpg.bfs(G, 3, direction=direction)
    assert (host(found.level) == levels(SMALL, 3)).all()
    check_tree(SMALL, 3, host(found.level), host(found.parent))
    assert found.trace.loop == "supersteps: the arcs come in several parts"
    assert "bytes predicted" in found.trace.explain()
    smallest = hpg.bfs(G, 3, deterministic=True).parent
    assert (host(smallest) == host(hpg.bfs(hpg.Graph(SMALL), 3, deterministic=True).parent)).all()


def test_ranks(G):
    found = [host(hpg.pagerank(G, tol=0, max_iteration=15).rank) for _ in range(2)]
    assert np.allclose(found[0], pagerank((SMALL != 0).toarray().astype(float), 15), rtol=1e-12)
    assert (found[0] == found[1]).all(), "it repeats bit for bit"


def test_shortest_paths(G):
    found = hpg.sssp(G, 3, parents=True)
    check_shortest_paths(SMALL, 3, host(found.distance), host(found.parent))
    near = host(hpg.sssp(G, 3, cutoff=20).distance)
    assert (near == np.where(host(found.distance) <= 20, host(found.distance), np.inf)).all()


def test_components_and_core(undirected):
    assert (host(hpg.connected_components(undirected).label) == hpg.connected_components(hpg.Graph(BOTH)).label).all()
    degree = np.diff(BOTH.indptr)
    start = {"left": degree, "gone": degree < 5, "when": np.where(degree < 5, 0, -1), "k": 5}
    expected = hpg.run(programs.Core, BOTH, **start).gone
    # Only removed vertices send: never are all vertices active, for which there is another kernel.
    for direction in ("push", "pull"):
        found = hpg.run(programs.Core, undirected, active=degree < 5, direction=direction, **start)
        assert (host(found.gone) == expected).all()


def test_conditions_on_arcs(G):
    found, expected = (hpg.run(programs.HeavySenders, graph).came for graph in (G, hpg.Graph(SMALL)))
    assert (host(found) == expected).all()


def test_searches_from_several(G):
    found = hpg.bfs(G, sources=[3, 7, 3])
    assert host(found.level).dtype == np.int8 and found.level.shape == (3, 200)
    for row, source in enumerate([3, 7, 3]):
        assert (host(found.level[row]) == levels(SMALL, source)).all()


def test_products(G):
    A, x = hpg.AdjacencyOperator(G), np.linspace(-1, 1, 200)
    assert np.allclose(host(A @ x), SMALL @ x) and np.allclose(host(A.rmatvec(x)), SMALL.T @ x)
    assert np.allclose(host(A @ np.stack([x, x**2], axis=1)), SMALL @ np.stack([x, x**2], axis=1))


def test_what_fits_the_budget_is_brought(device, tmp_path):
    roomy = streamed(SMALL, device, "file", tmp_path, True, memory=1 << 20)
    assert hpg.bfs(roomy, 3).trace.loop.startswith("traversal") and roomy.at_hand is roomy.at_hand
    assert hpg.triangle_count(streamed(BOTH, device, "file", tmp_path, False, memory=1 << 20)) == hpg.triangle_count(
        hpg.Graph(BOTH)
    )


def test_what_is_kept(device, tmp_path):
    roomy = streamed(BOTH, device, "file", tmp_path, False, memory=40_000)
    first, second = hpg.pagerank(roomy, max_iteration=3, tol=0).trace, hpg.pagerank(roomy, max_iteration=2, tol=0).trace
    assert first.traffic[0, 2] == 4 * BOTH.nnz and first.traffic[1:, 2].sum() == 0
    assert second.traffic[:, 1:3].sum() == 0


def test_pages_that_main_memory_has_no_room_for(device, place, tmp_path):
    host_memory = 1_000 if device == "cuda" else 30_000  # there that would have to do for all
    G = streamed(SMALL, device, place, tmp_path, True, host_memory=host_memory, memory=30_000)
    assert (host(hpg.bfs(G, 3).level) == levels(SMALL, 3)).all()
    rank = host(hpg.pagerank(G, tol=0, max_iteration=4).rank)
    assert np.allclose(rank, pagerank((SMALL != 0).toarray().astype(float), 4), rtol=1e-12)
    check_shortest_paths(SMALL, 3, *(host(found) for found in shortest(hpg.sssp(G, 3, parents=True))))


def shortest(found):
    return found.distance, found.parent


def test_unsupported_calls_raise(G, undirected, device):
    raises(hpg.StreamingError, r"triangles needs the whole topology.*in_memory", hpg.triangles, undirected)
    raises(hpg.StreamingError, "directed graph in pages", hpg.run, programs.Core, G, left=1)
    assert hpg.triangle_count(undirected.in_memory()) == hpg.triangle_count(hpg.Graph(BOTH))
    assert repr(undirected).endswith(f"undirected, float64 weights, {device}, {undirected._out.n_pages} pages")


def test_a_small_budget_is_reported_before_reading(device, place, tmp_path):
    if place == "array" and device == "cpu":
        return  # plain pages in memory take no more of it
    for matrix, directed in ((BOTH, False), (SMALL, True)):
        with pytest.raises(hpg.BudgetError, match=r"memory=2,000 .* give at least (\S+)") as said:
            streamed(matrix, device, place, tmp_path, directed, memory=2_000)
        least = int(str(said.value).rpartition(" ")[2].replace(",", ""))
        least_that_does = streamed(matrix, device, place, tmp_path, directed, memory=least)
        assert (host(hpg.bfs(least_that_does, 3).level) == levels(matrix, 3)).all()


def test_damage_names_the_page(device, tmp_path):
    G = streamed(BOTH, device, "file", tmp_path, False)
    with open(tmp_path / "out.stored", "r+b") as file:
        file.seek(8 + 64 * 4 * 5)
        file.write(b"\xff")
    raises(hpg.DamagedPageError, "page 5", hpg.pagerank, G)
    os.truncate(tmp_path / "out.stored", 100)
    raises(hpg.DamagedPageError, "the file ends", hpg.connected_components, streamed_again(G, tmp_path))


def streamed_again(G, folder):
    """The same file as it is now, through tables that know nothing of what became of it."""
    return hpg.StreamedGraph(G._out, directed=False, device=G.device, memory=20_000)


def test_few_rows_are_read_by_themselves(tmp_path):
    # Pages of 256 KiB, in which a search along a path wants one row at a time.
    n = 120_000
    matrix = scipy.sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    whole = cut(hpg.Graph(matrix, directed=False).out_csr.with_data(None), arcs_per_page=1 << 16)
    # No page is kept.
    G = hpg.StreamedGraph(in_file(whole, tmp_path, "out"), directed=False, memory=windows("cpu").least_memory(whole))
    level = hpg.bfs(G, 100, max_depth=40).level
    assert (level == np.where(abs(np.arange(n) - 100) <= 40, abs(np.arange(n) - 100), -1)).all()
    first = G.store(False, False).moved
    assert (hpg.bfs(G, 100, max_depth=40).level == level).all()
    blocks = 40 * 2 * 512
    assert G.store(False, False).moved - first <= 1.2 * blocks < first
    traffic = hpg.bfs(G, 100, max_depth=40).trace.traffic
    assert (traffic[:, 1] == traffic[:, 2]).all(), "what was predicted"
    with open(tmp_path / "out.stored", "r+b") as file:
        file.seek(8)
        file.write(b"\x01")
    raises(hpg.DamagedPageError, "has changed since its pages were checked", hpg.bfs, G, 100, max_depth=40)


@pytest.mark.parametrize("encoding", ["none", "gaps"])
def test_a_window_has_all_requested_rows(encoding, tmp_path):
    matrix = random_digraph(4000, 400_000, seed=11)
    whole = hpg.Graph(matrix).out_csr.with_data(None)
    pages = cut(whole, arcs_per_page=1 << 17, encoding=encoding)
    room = 8 * (Directories.nbytes(pages) + 4000) if encoding == "gaps" else 0
    memory = windows("cpu").least_memory(pages) + room
    G = hpg.StreamedGraph(in_file(pages, tmp_path, "out"), directed=False, memory=memory)
    store = G.store(False, False)
    read = sum(len(window.indices) for window in store.windows(store.survey(None)))
    assert read == whole.nnz
    for window in store.windows(store.survey(None)):
        window.indices[:] = -1  # what the buffers hold must not be what is right already
    rows = np.array([2700, 3400, 3401, 3900])
    bits, more = Bitmask.from_indices(rows, 4000), Bitmask.from_indices(rows[::2], 4000)
    wanted, seen = store.survey(bits, more, spread=True), set()
    assert wanted.copied.any() and wanted.nbytes < pages.nbytes / 8
    before = store.moved
    for window in store.visits(wanted):
        for row in rows:
            low, high = whole.indptr[row] - window.first, whole.indptr[row + 1] - window.first
            if low >= 0 and high <= len(window.indices):
                assert (window.indices[low:high] == whole.indices[whole.indptr[row] : whole.indptr[row + 1]]).all()
                seen.add(int(row))
    assert seen >= set(rows[::2].tolist())
    assert store.moved - before == wanted.nbytes
    with open(tmp_path / "out.stored", "r+b") as file:
        file.seek(8)
        file.write(b"\x01")
    with pytest.raises(hpg.DamagedPageError, match="has changed since its pages were checked"):
        list(store.visits(wanted))


def test_sweeps_find_the_pages_that_fit():
    """Under "least recently used" each page would be evicted just before its turn."""
    kept, hits = PageCache(np.full(10, 4), 20), 0
    for _ in range(5):
        kept.begin(np.arange(10))
        for page in range(10):
            hits += page in kept
            kept.admits(page)
    assert hits == 20


def test_rows_of_hubs_go_on_from_window_to_window(device, tmp_path):
    star = CSR((500, 500), np.concatenate(([0], np.full(500, 499))), np.arange(1, 500), np.linspace(0.1, 0.9, 499))
    G = streamed(star.to_scipy(), device, "file", tmp_path, True)
    assert (host(hpg.bfs(G, 0).level)[1:] == 1).all()
    back = hpg.StreamedGraph(G._in, G._out, directed=True, device=device)
    total = host(hpg.pagerank(back, max_iteration=1, tol=0, damping=1.0, start=np.ones(500)).rank)
    assert total[0] == pytest.approx(499 / 500 + 1 / 500**2)


def test_many_pages_by_few_threads(device, tmp_path):
    matrix = random_digraph(3000, 60_000, seed=5)
    G = streamed(matrix, device, "file", tmp_path, True, memory=200_000)
    assert (host(hpg.bfs(G, 7).level) == levels(matrix, 7)).all()
