"""Compiling everything built in ahead of time: small calls, each in one of several processes, that fill the cache."""

import functools
import gc
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from typing import Any

import hpgraph as hpg
from hpgraph.core.device import array_module, normalize_device
from hpgraph.core.progress import progress_bar, ticking
from hpgraph.warmup_examples import example_calls

Calls = Callable[[str], Sequence[tuple[str, Callable[[], Any]]]]
# The usual types of weights, and the semirings, of README, guide and notebooks; others compile on first use, on the CPU
# in a second or two each.
_WEIGHTS = {"cpu": ("int64", "float64"), "cuda": ("int64", "float32", "float64")}
_SEMIRINGS = ("min_plus", "any_pair", "plus_pair")
# Large enough for the kernels that share work out among threads.
_SCALE = 13
# With more arcs than a GPU has under way at once, which it relaxes by another kernel.
_LARGE_SCALE = 16
# Searches that go together: a word of bits.
_SOURCES = 64


def warm_up(device: str, jobs: int | None = None) -> Iterator[tuple[str, float]]:
    """Compile every built-in kernel for a device."""
    return compile_ahead(built_in_calls, [what for what, _ in built_in_calls(device)], device, jobs)


def compile_ahead(
    calls: Calls, names: Sequence[str], device: str, jobs: int | None = None
) -> Iterator[tuple[str, float]]:
    """Make named calls in several processes at once; yields the name of each that returned, and its seconds."""
    settings = {"HPGRAPH_CACHE_DIR": os.fspath(hpg.config.cache_dir), "HPGRAPH_VERBOSE": "0", "HPGRAPH_PROGRESS": "0"}
    # A fork would take along threads and a GPU context that do not survive it.
    processes = multiprocessing.get_context("spawn")
    bar = progress_bar(total=len(names), desc="compiling", unit="call", disable=not hpg.config.show_progress())
    jobs = min(jobs or hpg.config.threads, len(names))
    # Neighbours in the list share kernels, which two processes at once would both compile: each process begins with a
    # stretch of its own, and takes from the end of the longest other when that is done.
    stretches = [deque(range(k * len(names) // jobs, (k + 1) * len(names) // jobs)) for k in range(jobs)]
    with ticking(bar), ExitStack() as stack:
        pools = [stack.enter_context(ProcessPoolExecutor(1, processes, _begin, (settings,))) for _ in stretches]
        running: dict[Future[float], tuple[int, int]] = {}
        free = list(range(jobs))
        while free or running:
            for own in free:
                at = _taken(stretches, own)
                if at is not None:
                    running[pools[own].submit(_timed, calls, device, at)] = own, at
            free = []
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                own, at = running.pop(done)
                free.append(own)
                bar.set_postfix_str(names[at], refresh=False)
                bar.update()
                yield names[at], done.result()


def _taken(stretches: Sequence[deque[int]], own: int) -> int | None:
    """The next call of a process, which is taken off its stretch or the end of the longest; None if none is left."""
    longest = max(stretches, key=len)
    return stretches[own].popleft() if stretches[own] else longest.pop() if longest else None


def _begin(settings: dict[str, str]) -> None:
    os.environ.update(settings)
    # Numba leaves little garbage in cycles; a collection after each kernel takes a twentieth of the time.
    gc.disable()


def _timed(calls: Calls, device: str, at: int) -> float:
    _, call = calls(device)[at]
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@functools.cache
def built_in_calls(device: str) -> list[tuple[str, Callable[[], Any]]]:
    """A call for every kernel that a first use would otherwise compile."""
    device = normalize_device(device)
    floats = [kind for kind in _WEIGHTS[device] if kind.startswith("float")]
    plain = hpg.datasets.kron(_SCALE, device=device)
    weighted = _weighted(_SCALE, device)
    source = int(plain.out_degree.argmax())
    calls: list[tuple[str, Callable[[], Any]]] = [
        ("BFS", partial(hpg.bfs, plain, source)),
        ("BFS, smallest parents", partial(hpg.bfs, plain, source, deterministic=True)),
    ]
    calls += [(f"SSSP, {kind}", partial(hpg.sssp, graph, source, parents=True)) for kind, graph in weighted.items()]
    if device == "cuda":
        graphs = _weighted(_LARGE_SCALE, device)
        calls += [(f"SSSP of many arcs, {what}", partial(hpg.sssp, graph, source)) for what, graph in graphs.items()]
    calls += [(f"PageRank, {kind}", partial(hpg.pagerank, plain, dtype=kind)) for kind in floats]
    # Triangles are counted in another order where degrees are uneven.
    for graph, degrees in ((hpg.datasets.grid(64, device=device), "even"), (plain, "uneven")):
        calls.append((f"triangle count, {degrees}", partial(hpg.triangle_count, graph)))
        calls.append((f"triangles by vertex, {degrees}", partial(hpg.triangles, graph)))
    many, near = range(_SOURCES), int(plain.out_csr.indices[plain.out_csr.indptr[source]])
    calls += [
        ("closeness", partial(hpg.closeness_centrality, plain, many)),
        ("reach", partial(hpg.reach, plain, many)),
        ("diameter", partial(hpg.diameter, plain, largest_component=True)),
        ("BFS, many sources", partial(hpg.bfs, plain, sources=many, parents=False)),
        ("BFS, many sources, parents", partial(hpg.bfs, plain, sources=many)),
        ("betweenness", partial(hpg.betweenness_centrality, plain, sources=many)),
        ("shortest path", partial(hpg.shortest_path, plain, source, near)),
    ]
    calls += [
        ("similarity", partial(hpg.jaccard, plain, ([source], [near]))),
        ("random walks", partial(hpg.random_walk, plain)),
        ("samples of neighbours", partial(hpg.sample_neighbors, plain, [source], [2, 2])),
        ("layout by forces", partial(hpg.layout.force_atlas2, plain, max_iter=1)),
    ]
    calls += [
        ("connected components", partial(hpg.connected_components, plain)),
        ("core numbers", partial(hpg.core_number, plain)),
        ("triangles by vertex, clustering", partial(hpg.clustering, plain)),
        ("louvain", partial(hpg.louvain, plain)),
    ]
    for kind in floats:
        calls.append((f"SSSP, many sources, {kind}", partial(hpg.sssp, weighted[kind], sources=many)))
        route = partial(hpg.shortest_path, weighted[kind], source, near, weight=True)
        calls.append((f"shortest path, {kind}", route))
    for kind in floats:
        x = array_module(device).ones(plain.n_vertices, dtype=kind)
        matrix = hpg.Matrix(weighted[kind])
        calls.append((f"A @ x, {kind}", partial(matrix.__matmul__, x)))
        calls.append((f"A @ A, {kind}", partial(matrix.__matmul__, matrix)))
        if kind == floats[0]:
            calls += [(f"A.mxv, {name}, {kind}", partial(matrix.mxv, x, name)) for name in _SEMIRINGS]
            calls.append((f"A.mxm, plus_pair, {kind}", partial(matrix.mxm, matrix, "plus_pair")))
    if device == "cpu":
        calls += example_calls()
    # Those of one analytic are neighbours.
    kinds = [name.partition(",")[0] for name, _ in calls]
    return sorted(calls, key=lambda call: kinds.index(call[0].partition(",")[0]))


def _weighted(scale: int, device: str) -> dict[str, hpg.Graph]:
    """Graphs with each type of weights, and one without: directed, as its paths are else found breadth-first."""
    csr = hpg.datasets.kron(scale, weighted=True, device=device).out_csr
    graphs = {kind: hpg.Graph._from_csr(csr.with_data(csr.data.astype(kind)), False, None) for kind in _WEIGHTS[device]}
    return {"no weights": hpg.Graph._from_csr(csr.with_data(None), True, None), **graphs}
