"""Which searches go together: every one once, those of one hub side by side; whatever the order, the same answers."""

import numpy as np
import pytest
import scipy.sparse
from reference_algorithms import broom, levels, random_digraph

import hpgraph as hpg
from hpgraph.core.device import to_device
from hpgraph.engine.multi_source_totals import Levels, survey


@pytest.mark.parametrize(("lanes", "error"), [(0, ValueError), ("many", ValueError), (1.5, TypeError)])
def test_what_is_no_number_of_lanes(lanes, error):
    with pytest.raises(error, match="group_size"):
        hpg.run(Levels, hpg.datasets.grid(3), active=[[0], [1]], group_size=lanes)


def test_answers_do_not_depend_on_the_groups(device):
    csr = random_digraph(300, 3000, seed=6)
    G = hpg.Graph(csr, directed=True).to(device)
    sources = np.random.default_rng(2).integers(0, 300, 150)
    expected = np.array([levels(csr, source) for source in sources.tolist()])
    for lanes, progress in (("auto", False), (7, True)):
        with hpg.config(progress=progress):
            found = hpg.run(Levels, G, active=sources[:, None], group_size=lanes)
        assert (to_device(found.level, "cpu") == expected).all()
        assert sorted(np.concatenate(found.groups).tolist()) == list(range(150))
        assert len(found.traces) == len(found.groups)


def lattice(side):
    path = scipy.sparse.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    return scipy.sparse.csr_array(scipy.sparse.kronsum(path, path))


@pytest.mark.parametrize(
    "csr",
    [random_digraph(400, 1100, seed=4), broom(400, 3000), lattice(20), scipy.sparse.triu(lattice(20), format="csr")],
    ids=["digraph", "broom", "lattice", "one way"],
)
@pytest.mark.parametrize("incoming", [False, True])
@pytest.mark.parametrize("depth", [None, 2, 150])
def test_a_survey_totals_levels(csr, incoming, depth, device):
    G = hpg.Graph(csr, directed=True).to(device)
    sources = np.random.default_rng(3).integers(0, 400, 90)
    found = survey(G, sources, incoming=incoming, max_depth=depth)
    rows = np.array([levels(csr.T.tocsr() if incoming else csr, source) for source in sources.tolist()])
    if depth is not None:
        rows[rows > depth] = -1
    reached = np.where(rows > 0, rows, 0)
    assert (found.reached == (rows >= 0).sum(axis=1)).all() and (found.total == reached.sum(axis=1)).all()
    assert (found.farthest == reached.max(axis=1)).all()
    counts = [np.bincount(row[row >= 0]) for row in rows]
    # Added up level by level: to the bit.
    for lane, count in enumerate(counts):
        total = 0.0
        for level, number in enumerate(count.tolist()):
            total += number / level if level else 0.0
        assert found.inverse[lane] == total
    assert found.histogram.tolist() == np.bincount(rows[rows >= 0]).tolist()


def test_a_survey_without_sources(device):
    found = survey(hpg.datasets.grid(3).to(device), [])
    assert found.reached.tolist() == [] and found.histogram.tolist() == [0] and found.traces == []


def test_a_survey_of_all_vertices_of_a_grid(device):
    """Frontiers that hardly meet: the lanes go on one by one."""
    csr = lattice(24)
    found = survey(hpg.Graph(csr).to(device), None)
    rows = np.array([levels(csr, source) for source in range(0, 576, 50)])
    assert (found.total[::50] == rows.sum(axis=1)).all() and (found.farthest[::50] == rows.max(axis=1)).all()
    assert found.histogram.sum() == found.reached.sum() == 576 * 576


@pytest.mark.parametrize("name", ["joint_frontier", "early_termination"])
def test_answers_do_not_depend_on_a_technique(name, device):
    csr = random_digraph(1500, 12_000, seed=1)
    G = hpg.Graph(csr, directed=True).to(device)
    sources = np.random.default_rng(2).integers(0, 1500, 30)
    expected = np.array([levels(csr, source) for source in sources.tolist()])
    with hpg.techniques(**{name: False}):
        found = hpg.run(Levels, G, active=sources[:, None])
        totals = survey(G, sources)
    assert (to_device(found.level, "cpu") == expected).all()
    assert (totals.total == np.where(expected > 0, expected, 0).sum(axis=1)).all()
    if name == "joint_frontier":
        # A vertex is in the frontiers of several lanes, and counts in each.
        assert found.trace.active.sum() == (expected >= 0).sum()
