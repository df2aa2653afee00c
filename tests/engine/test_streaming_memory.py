"""A graph of 28 MB runs in 8 MiB, under a limit that the operating system keeps."""

import sys
import tracemalloc

import numpy as np
import pytest
from graphs_in_pages import in_file
from new_process import completed, printed

import hpgraph as hpg
from hpgraph.core.device import cuda_available, to_device
from hpgraph.formats import CSR
from hpgraph.kernels.pages import cut

# What a run takes besides the budget: what belongs to vertices, and what libraries hold.
REST = 12 << 20
INSIDE = """
import resource, sys, threading, warnings
import hpgraph as hpg

def data():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmData"))

threading.stack_size(1 << 18)
warnings.simplefilter("ignore")
path, small, memory, rest = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])

def work(graph):
    hpg.pagerank(graph, max_iteration=3)
    return len(hpg.bfs(graph, 0).level), graph.n_edges

work(hpg.open(small, memory=memory // 2))
limit = data() + memory + rest
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
print(*work(hpg.open(path, memory=memory) if sys.argv[5] == "streamed" else hpg.read(path)))
"""


def circulant(n: int, half: int) -> hpg.Graph:
    """Every vertex beside the `half` before it and behind it."""
    offsets = np.concatenate((np.arange(-half, 0), np.arange(1, half + 1)))
    indices = np.sort((np.arange(n)[:, None] + offsets) % n, axis=1).astype(np.int32).ravel()
    return hpg.Graph(CSR((n, n), np.arange(n + 1, dtype=np.int64) * 2 * half, indices), directed=False)


@pytest.mark.skipif(sys.platform != "linux", reason="limits and accounts of memory are Linux's")
def test_a_budget_holds_under_a_limit(tmp_path):
    circulant(70_000, 50).save(tmp_path / "large.hpg", compression="none")
    circulant(7_000, 50).save(tmp_path / "small.hpg", compression="none")
    words = tmp_path / "large.hpg", tmp_path / "small.hpg", 8 << 20, REST
    assert printed(INSIDE, *words, "streamed").split() == ["70000", "7000000"]
    whole = completed(INSIDE, *words, "in memory")
    assert whole.returncode != 0 and "MemoryError" in whole.stderr, "the limit is one that the graph does not fit"


@pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")
def test_the_gpu_s_pool_stays_within_a_budget(tmp_path):
    import cupy

    path, memory = tmp_path / "large.hpg", 8 << 20
    circulant(100_000, 50).save(path, compression="none")
    for host_memory in (None, 1 << 20):  # pinned, and read each time
        pool = cupy.cuda.MemoryPool()
        pool.set_limit(size=memory + REST)
        with cupy.cuda.using_allocator(pool.malloc):
            graph = hpg.open(path, device="cuda", memory=memory, host_memory=host_memory)
            hpg.pagerank(graph, max_iteration=3, tol=0)
            assert int(hpg.bfs(graph, 0).level.max()) == 1000
            assert graph.moved > memory, "there was no room for all of it"
            topology = pool.used_bytes()
            with pytest.raises(MemoryError):
                graph.in_memory()
        assert topology <= memory + REST // 4, "what is left when runs are over is the graph's"


class Lightest(hpg.VertexProgram):
    least = hpg.Property("float32", initial=np.inf)
    edges, reduce, activity, max_iteration = "in", "min", "all", 1

    def gather(source, weight, target):
        return weight

    def update(vertex, message):
        return message


class Beside(hpg.VertexProgram):
    beside = hpg.Property("float32", initial=0.0)
    least = hpg.Property("float32")
    edges, weighted, reduce, activity, max_iteration = "in", False, "max", "all", 1

    def gather(source, weight, target):
        return source.least

    def update(vertex, message):
        return message, vertex.least


def test_phases_with_and_without_weights_share_a_budget(device, tmp_path):
    n, memory, held = 20_000, 3 << 20, []
    plain = circulant(n, 25).out_csr
    rows = np.repeat(np.arange(n), 50)
    weights = ((rows * plain.indices) % 997).astype(np.float32)
    pages = in_file(cut(CSR(plain.shape, plain.indptr, plain.indices, weights), arcs_per_page=4096), tmp_path, "out")

    def bytes_held():
        if device == "cpu":
            return tracemalloc.get_traced_memory()[0]
        import cupy

        return cupy.get_default_memory_pool().used_bytes()

    both = hpg.Phases([Lightest, Beside], until=lambda world: held.append(bytes_held()) or len(held) == 3)
    for traces in (False, True):  # first it compiles
        if traces:
            tracemalloc.start()
        held.clear()
        before = bytes_held()
        try:
            r = hpg.run(both, hpg.StreamedGraph(pages, directed=False, device=device, memory=memory))
        finally:
            tracemalloc.stop()
    assert max(held) - before > memory // 2, "pages are kept"
    assert max(held) - before <= memory + 8 * 4 * n, "and what belongs to vertices"
    least, beside = np.full(n, np.inf, np.float32), np.zeros(n, np.float32)
    np.minimum.at(least, rows, weights)
    np.maximum.at(beside, rows, least[plain.indices])
    assert np.array_equal(to_device(r.beside, "cpu"), beside)


def test_without_a_limit_pages_are_kept_for_programs_with_and_without_weights(tmp_path):
    plain = circulant(2_000, 25).out_csr
    matrix = CSR(plain.shape, plain.indptr, plain.indices, np.ones(plain.nnz, np.float32))
    graph = hpg.StreamedGraph(in_file(cut(matrix, arcs_per_page=4096), tmp_path, "out"), directed=False, device="cpu")
    moved = []
    hpg.run(hpg.Phases([Lightest, Beside], until=lambda world: moved.append(graph.moved) or len(moved) == 3), graph)
    ids, weights = 4 * plain.nnz, 4 * plain.nnz
    assert moved[0] == 2 * ids + weights
    assert moved[2] - moved[1] < weights + ids // 4, "weights are read each time, ids are kept, but for a page or two"
