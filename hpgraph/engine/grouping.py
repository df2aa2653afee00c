"""Many sources: where they and their properties begin, how many run together, and which.

Searches share the arcs that their frontiers share, so starts that soon reach the same hub are in one group: the GroupBy
of iBFS (H. Liu, H. H. Huang, Y. Hu, "iBFS: concurrent breadth-first search on GPUs", SIGMOD'16, section 4).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, whole
from hpgraph.core.config import config
from hpgraph.core.device import native, to_device
from hpgraph.core.progress import progress_bar
from hpgraph.engine.declarations import Declarations
from hpgraph.engine.state import Column, column, sources_of
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.search import Starts
from hpgraph.kernels.runtime.techniques import techniques

# iBFS's numbers: sources of fewer arcs than each of these in turn are grouped by a neighbour of more than MIN_HUB arcs.
# The first frontier of a source of low degree is little more than that hub.
MAX_ARCS, MIN_HUB = (4, 16, 64, 128), 128
_SEED = 0


def sources_at_most(group_size: int | str, k: int, most: int) -> int:
    """Number of sources in a group; sizes of groups differ by at most one, so that no group has a single source."""
    if isinstance(group_size, str):
        if group_size != "auto":
            raise ValueError(f'group_size must be "auto" or a whole number, not {group_size!r}')
        number = most
    else:
        number = whole(group_size, "group_size", 'a whole number or "auto"', least=1)
    groups = -(-k // number)
    return -(-k // groups) if groups else number


def groups(order: np.ndarray, size: int, what: str) -> Iterator[np.ndarray]:
    """Groups of sources, each ascending, with a progress bar if there are several."""
    cut = [np.sort(order[begin : begin + size]) for begin in range(0, len(order), size)]
    with source_bar(len(order) if len(cut) > 1 else 0, what) as done:
        for group in cut:
            yield group
            done(len(group))


@contextmanager
def source_bar(total: int, what: str) -> Iterator[Callable[[int], Any]]:
    """Callback that takes numbers of finished sources, and draws a progress bar if `hpgraph.config` enables it."""
    if not total or not config.show_progress():
        yield lambda _count: None
        return
    # `delay`, in seconds: a short run draws no bar.
    with progress_bar(total=total, desc=what, unit="source", delay=1.0) as bar:
        yield bar.update


def order_of(sources: Any, out: CSR, size: int) -> np.ndarray:
    """An order in which sources that share the most arcs are adjacent."""
    k = len(sources)
    if k <= size or not techniques.group_by or out.nnz == 0:
        return np.arange(k)
    hub, degree = _hubs(sources, out)
    waiting = np.ones(k, bool)
    order: list[np.ndarray] = []
    for few in MAX_ARCS:
        candidates = np.flatnonzero(waiting & (hub >= 0) & (degree < few))
        candidates = candidates[np.argsort(hub[candidates], kind="stable")]
        # Sources with a common hub fill groups; the others stay for the next bound on degrees.
        _, first, counts = np.unique(hub[candidates], return_index=True, return_counts=True)
        place = np.arange(len(candidates)) - np.repeat(first, counts)
        chosen = candidates[place < np.repeat(counts // size * size, counts)]
        order.append(chosen)
        waiting[chosen] = False
    # Then sources whose hubs fill no group, hub by hub, and the rest in random order.
    rest_of_hubs = np.flatnonzero(waiting & (hub >= 0))
    rest = np.random.default_rng(_SEED).permutation(np.flatnonzero(waiting & (hub < 0)))
    return np.concatenate([*order, rest_of_hubs[np.argsort(hub[rest_of_hubs], kind="stable")], rest])


def _hubs(sources: np.ndarray, out: CSR) -> tuple[np.ndarray, np.ndarray]:
    """The neighbour of largest degree of each source of low degree, -1 if it is no hub; and its degree."""
    device = out.device
    at = to_device(sources, device)
    first, degree = out.indptr[at], out.indptr[at + 1] - out.indptr[at]
    begin, length = to_device(first, "cpu").astype(np.int64), to_device(degree, "cpu").astype(np.int64)
    hub = np.full(len(sources), -1, np.int64)
    candidates = np.flatnonzero((length > 0) & (length < MAX_ARCS[-1]))
    if not len(candidates):
        return hub, length
    counts = length[candidates]
    ends = np.cumsum(counts)
    places = np.repeat(begin[candidates] - (ends - counts), counts) + np.arange(ends[-1])
    near = out.indices[to_device(places, device)]
    arcs = to_device(out.indptr[near + 1] - out.indptr[near], "cpu").astype(np.int64)
    near = to_device(near, "cpu").astype(np.int64)
    # Ties go to the largest id.
    max_arcs = np.maximum.reduceat(arcs, ends - counts)
    best = np.maximum.reduceat(np.where(arcs == np.repeat(max_arcs, counts), near, -1), ends - counts)
    hub[candidates] = np.where(max_arcs > MIN_HUB, best, -1)
    return hub, length


def columns(declared: Declarations, graph: Graph, initial: dict[str, Any], k: int) -> dict[str, Column]:
    """Initial values of each property. Removes those it uses from `initial`."""
    return {name: column(declared, name, prop, graph, initial, k) for name, prop in declared.properties.items()}


def starts_of(active: Any, graph: Graph) -> Starts:
    """The vertices active in the first superstep of each source."""
    k = len(active)
    ids = graph.id_dtype
    if getattr(active, "shape", None) == (k, 1) and active.dtype.kind in "iu":
        listed = to_device(native(graph.indices_of(active[:, 0], "active")), "cpu")
        return Starts(listed.astype(ids), np.arange(k, dtype=np.int32), k)
    each = [to_device(sources_of(source, graph), "cpu") for source in active]
    sources = np.repeat(np.arange(k, dtype=np.int32), [len(vertices) for vertices in each])
    return Starts(np.concatenate(each) if each else np.empty(0, ids), sources, k)


def first_of(starts: Starts) -> np.ndarray:
    """The first start vertex of each source, or 0 where there is none; int64 array of length k."""
    first = np.zeros(starts.k, np.int64)
    first[starts.source[::-1]] = starts.vertices[::-1]
    return first


def some_of(starts: Starts, group: np.ndarray, device: str) -> Starts:
    """The starts of the sources in `group`, which are numbered from 0."""
    begin, end = (np.searchsorted(starts.source, group, side) for side in ("left", "right"))
    counts = end - begin
    places = np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    sources = np.repeat(np.arange(len(group), dtype=np.int32), counts)
    return Starts(to_device(starts.vertices[places], device), to_device(sources, device), len(group))
