"""Traversals of many lanes: each lane answers what its own run does, whether lanes meet or part, on every device."""

import numpy as np
import pytest
import scipy.sparse
from arrays import graph
from programs import Guarded
from reference_algorithms import broom, check_tree, hubs, levels, random_digraph

import hpgraph as hpg
from hpgraph.algorithms.bfs import Tree
from hpgraph.core.device import to_device
from hpgraph.engine.multi_source_totals import Levels, survey


def arcs(source, target, n):
    return scipy.sparse.csr_array((np.ones(len(source)), (source, target)), shape=(n, n))


def grid(side):
    path = scipy.sparse.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    return scipy.sparse.csr_array(scipy.sparse.kronsum(path, path))


def star(n):
    return arcs(np.r_[np.zeros(n - 1, int), np.arange(1, n)], np.r_[np.arange(1, n), np.zeros(n - 1, int)], n)


def path(n):
    return arcs(np.r_[np.arange(n - 1), np.arange(1, n)], np.r_[np.arange(1, n), np.arange(n - 1)], n)


def with_loops():
    csr = random_digraph(400, 700, seed=8).tolil()
    csr.setdiag(1.0)
    return scipy.sparse.csr_array(csr)


GRAPHS = {
    "digraph": random_digraph(1500, 12_000, seed=1), "hubs": hubs(3000, 40_000, seed=5, exponent=3), "grid": grid(40),
    "star": star(700), "path": path(900), "broom": broom(500, 5000),
    "apart": scipy.sparse.block_diag([grid(8)] * 9, format="csr"), "loops": with_loops(),
    "few": random_digraph(70, 300, seed=2),
}  # fmt: skip


def starts(n, k, seed=3):
    """One or several vertices a lane, some the same; one lane in ten has none."""
    rng = np.random.default_rng(seed)
    listed = [rng.integers(0, n, rng.integers(1, 4)).tolist() for _ in range(k)]
    if k > 1:
        listed[-1] = listed[0]
    for lane in range(5, k, 10):
        listed[lane] = []
    return listed


def levels_of(csr, lane):
    """By SciPy, from several sources: the least of their levels."""
    found = np.full(csr.shape[0], -1)
    for source in lane:
        one = levels(csr, source)
        found = np.where((one >= 0) & ((found < 0) | (one < found)), one, found)
    return found


@pytest.mark.parametrize(
    ("name", "k", "options"),
    [
        *((name, k, {}) for name in GRAPHS for k in (1, 3, 64, 65, 130)),
        *((name, 20, {"direction": way}) for name in ("digraph", "grid") for way in ("push", "pull")),
        *(("grid", 20, {"max_iteration": limit}) for limit in (0, 1, 3)),
        ("digraph", 200, {"lanes": 200}),
    ],
)
def test_levels_of_every_lane(name, k, options, device):
    """More lanes than a kernel takes at once go together where asked."""
    csr = GRAPHS[name]
    active, limit = starts(csr.shape[0], k), options.get("max_iteration")
    found = hpg.run(Levels, graph(csr, device), active=active, **options)
    level = to_device(found.level, "cpu")
    assert level.shape == (k, csr.shape[0])
    for lane, listed in enumerate(active):
        expected = levels_of(csr, listed)
        assert (level[lane] == (expected if limit is None else np.where(expected > limit, -1, expected))).all()
    if "lanes" in options:
        assert len(found.traces) == 1 and found.trace.rows[:, -1].sum() == (level > 0).sum()
    if "direction" in options:
        assert set(found.trace.direction.tolist()) == {options["direction"]}
    if limit is not None:
        assert len(found.trace) == limit
    pairs = sum(int(trace.rows[:, -1].sum()) for trace in found.traces if trace.rows.shape[1] == 5)
    assert k == 1 or pairs >= (level > 0).sum() - max((level[-1] > 0).sum(), 0) * (k % 64 == 1)


class ShortTree(Tree):
    """As `hpgraph.bfs` runs it from many sources: what it compiles is there."""

    level = hpg.Property("int8", initial=-1, start=0)


@pytest.mark.parametrize("name", ["digraph", "hubs", "grid", "few"])
def test_messages_that_depend_on_the_sender(name, device):
    csr = GRAPHS[name]
    sources = np.random.default_rng(4).integers(0, csr.shape[0], 67)
    found = hpg.run(ShortTree, graph(csr, device), active=sources[:, None])
    for lane, source in enumerate(sources.tolist()):
        level, parent = to_device(found.level[lane], "cpu"), to_device(found.parent[lane], "cpu")
        assert (level == levels(csr, source)).all()
        check_tree(csr, source, level, parent)


@pytest.mark.parametrize("name", ["digraph", "grid"])
def test_conditions_and_weights(name, device):
    """Vertices closed or deaf in some lanes, arcs that let nothing through; against each lane's own run."""
    csr = GRAPHS[name]
    n = csr.shape[0]
    weight = np.random.default_rng(9).integers(1, 15, csr.nnz).astype(np.float64)
    csr = scipy.sparse.csr_array((weight, csr.indices, csr.indptr), csr.shape)
    closed, deaf = (np.random.default_rng(seed).random((20, n)) < 0.1 for seed in (6, 7))
    G, active = graph(csr, device), starts(n, 20)
    found = hpg.run(Guarded, G, active=active, closed=to_device(closed, device), deaf=to_device(deaf, device))
    for lane, listed in enumerate(active):
        given = {"closed": to_device(closed[lane], device), "deaf": to_device(deaf[lane], device)}
        own = hpg.run(Guarded, G, active=np.array(listed, int), **given)
        assert (to_device(found.level[lane], "cpu") == to_device(own.level, "cpu")).all()


@pytest.mark.parametrize("joint_frontier", [False, True])
@pytest.mark.parametrize("name", ["grid", "path", "apart", "broom", "digraph"])
def test_sources_that_part(name, joint_frontier):
    """Together, each by itself, or together until frontiers hardly overlap: levels, traces and totals are the same."""
    csr = GRAPHS[name]
    active = starts(csr.shape[0], 64)
    with hpg.techniques(joint_frontier=joint_frontier):
        found = hpg.run(Levels, graph(csr, "cpu"), active=active)
        totals = survey(graph(csr, "cpu"), np.arange(64))
    expected = np.array([levels_of(csr, listed) for listed in active])
    assert (found.level == expected).all()
    # Each vertex is settled once in each search, in the same supersteps.
    assert found.trace.rows[:, -1].sum() == (expected > 0).sum()
    assert len(found.trace) == expected.max() + 1
    singly = np.array([levels(csr, source) for source in range(64)])
    assert (totals.total == np.where(singly > 0, singly, 0).sum(axis=1)).all()
    assert (totals.farthest == singly.max(axis=1)).all() and (totals.reached == (singly >= 0).sum(axis=1)).all()
    assert (totals.histogram == np.bincount(singly[singly >= 0])).all()
