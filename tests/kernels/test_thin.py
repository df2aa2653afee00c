"""Traversals with thin frontiers, which one worker runs without the board: against levels found one arc at a time."""

import numpy as np
import pytest

import hpgraph as hpg

LONG = 700


def path(n=LONG, at=0):
    return [(at + i, at + i + 1) for i in range(n - 1)]


def cycle():
    return [*path(), (LONG - 1, 0)]


def star():
    return [(0, leaf) for leaf in range(1, LONG)]


def hub_on_a_path():
    """A frontier that is thin, then is not, then is again."""
    return path() + [(LONG // 2, LONG + leaf) for leaf in range(400)]


def chain_of_hubs():
    """Twenty hubs one after another, their leaves now above what is thin, now below."""
    sizes = np.where(np.arange(20) % 3 == 0, 300, 20)
    first = 20 + np.concatenate([[0], np.cumsum(sizes)])
    return path(20) + [(hub, first[hub] + leaf) for hub in range(20) for leaf in range(sizes[hub])]


def caterpillar():
    return path() + [(i, LONG + 3 * i + leaf) for i in range(LONG) for leaf in range(i % 4)]


def two_paths():
    """One of them out of reach, but for a run from both."""
    return path() + path(LONG // 2, at=LONG)


def loops_and_repetitions():
    return [(i, j) for i, j in path(50) for _ in range(3)] + [(i, i) for i in range(50)]


def chain_of_cliques():
    """Long rows, most of whose ends are settled."""
    size = 70
    within = [(i, j) for i in range(size) for j in range(i)]
    return path(4 * size) + [(size * k + i, size * k + j) for k in range(4) for i, j in within]


SHAPES = [
    path, cycle, star, hub_on_a_path, chain_of_hubs, caterpillar, two_paths, loops_and_repetitions, chain_of_cliques,
]  # fmt: skip


class Guarded(hpg.VertexProgram):
    """Levels of open vertices along light arcs; silent vertices send nothing."""

    reduce = "any"
    level = hpg.Property("int32", initial=-1, start=0)
    open = hpg.Property("bool", initial=True)
    silent = hpg.Property("bool", initial=False)

    def cond(vertex):
        return vertex.open

    def edge_cond(source, weight, target):
        return weight < 3

    def gather(source, weight, target):
        return source.level + 1

    def update(vertex, message, world):
        return (vertex.level if vertex.silent else message), vertex.open, vertex.silent


def search(out, sources, depth, opened=None, silent=None, passable=lambda u, v: True):
    """Level of each vertex; how many were active in each superstep, and the arcs that left them."""
    n = len(out)
    level, settled = [-1] * n, [opened is not None and not opened[v] for v in range(n)]
    for source in sources:
        level[source], settled[source] = 0, True
    frontier, rows = list(sources), []
    while frontier and len(rows) < depth:
        rows.append([0, len(frontier), sum(len(out[u]) for u in frontier)])
        following = []
        for u in frontier:
            for v in out[u]:
                if settled[v] or not passable(u, v):
                    continue
                settled[v] = True
                if silent is None or not silent[v]:
                    level[v] = level[u] + 1
                    following.append(v)
        frontier = following
    return level, rows


def arcs_of(edges, directed):
    """The graph, and its arcs as lists that make no use of it."""
    n = 1 + max(max(edge) for edge in edges)
    out = [set() for _ in range(n)]
    for u, v in edges:
        out[u].add(v)
        if not directed:
            out[v].add(u)
    return hpg.Graph.from_edges(*np.array(edges).T, n_vertices=n, directed=directed), [sorted(near) for near in out]


@pytest.fixture(params=[1, 2], autouse=True)
def threads(request):
    with hpg.config(threads=request.param):
        yield request.param


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("make", SHAPES)
def test_levels_parents_and_trace(make, directed):
    G, out = arcs_of(make(), directed)
    for source in (0, 1, len(out) // 3, len(out) - 1):
        for depth in (None, 0, 1, 2, 60):
            level, rows = search(out, [source], len(out) if depth is None else depth)
            for direction in ("auto", "push"):
                found = hpg.bfs(G, source, max_depth=depth, direction=direction)
                assert found.level.tolist() == level
                reached = [v for v in range(len(out)) if level[v] > 0]
                assert all(v in out[found.parent[v]] for v in reached)
                assert all(level[found.parent[v]] == level[v] - 1 for v in reached)
                assert found.trace.active.tolist() == [active for _, active, _ in rows]
                pushes = found.trace.rows[:, 0] == 0
                assert found.trace.rows[pushes, :3].tolist() == np.array(rows).reshape(-1, 3)[pushes].tolist()
                assert direction == "auto" or pushes.all()
                assert (found.trace.rows[:, 3] >= 0).all()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("make", SHAPES)
def test_masked_receivers_failed_conditions_and_unchanged_vertices(make, directed):
    edges = make()
    rng = np.random.default_rng(3)
    # Of two arcs there and back, both or neither carry.
    weight = {tuple(sorted(edge)): 1 + (rng.random() < 0.02) * 5 for edge in edges}
    unique = sorted({tuple(sorted(edge)) for edge in edges}) if not directed else sorted(set(edges))
    n = 1 + max(max(edge) for edge in edges)
    weights = np.array([weight[tuple(sorted(edge))] for edge in unique], np.float64)
    G = hpg.Graph.from_edges(*np.array(unique).T, weights, n_vertices=n, directed=directed)
    _, out = arcs_of(unique, directed)
    opened, silent = rng.random(n) > 0.02, rng.random(n) < 0.02

    def passable(u, v):
        return weight[min(u, v), max(u, v)] < 3

    for sources in ([0], [n // 3], [0, n // 2, n - 1]):
        level, rows = search(out, sources, n, opened, silent, passable)
        for direction in ("push", "auto"):
            found = hpg.run(Guarded, G, active=sources, direction=direction, open=opened, silent=silent)
            assert found.level.tolist() == level
            assert found.trace.active.tolist() == [active for _, active, _ in rows]
            if direction == "push":
                assert found.trace.rows[:, :3].tolist() == rows


def test_more_thin_supersteps_than_there_is_room_for_at_once():
    """A table of thin supersteps is filled, made longer and filled again."""
    n = 100_000
    G = hpg.Graph.from_edges(np.arange(n - 1), np.arange(1, n), n_vertices=n, directed=False)
    found = hpg.bfs(G, 1)
    assert (found.level == np.abs(np.arange(n) - 1)).all()
    assert len(found.trace) == n - 1 == found.trace.supersteps
    assert found.trace.active.tolist() == [1, 2] + [1] * (n - 3)
    assert found.trace.edges.tolist() == [2, 3] + [2] * (n - 4) + [1]
    assert found.trace.seconds.sum() > 0
    cut = hpg.bfs(G, 1, max_depth=70_000)
    assert cut.level.max() == len(cut.trace) == 70_000


@pytest.mark.parametrize("leaves", [20_000, 40_000])
def test_supersteps_about_as_large_as_one_thread_has_rows_for(leaves):
    """Two hubs, side by side at the end of a path, then their leaves, then one vertex behind the leaves' last."""
    hubs, first, last = (10, 11), 12, 12 + 2 * leaves
    edges = [*path(10), (9, 10), (9, 11), (last - 1, last)]
    edges += [(hub, first + k * leaves + leaf) for k, hub in enumerate(hubs) for leaf in range(leaves)]
    G, out = arcs_of(edges, False)
    level, rows = search(out, [0], len(out))
    found = hpg.bfs(G, 0, direction="push")
    assert found.level.tolist() == level
    assert found.trace.rows[:, :3].tolist() == rows
    reached = range(1, len(out))
    assert all(level[found.parent[v]] == level[v] - 1 for v in reached)
    assert {(found.parent[v], v) for v in reached} <= {*edges, *((v, u) for u, v in edges)}
