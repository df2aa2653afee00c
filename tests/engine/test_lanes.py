"""Lanes: each answers what its own run would have answered."""

import numpy as np
import pytest
from programs import Widest
from reference_algorithms import random_digraph

import hpgraph as hpg


def test_lanes_of_a_program_are_its_own_runs():
    G = hpg.Graph(random_digraph(49, 150, seed=2), directed=True)
    width = np.zeros((3, G.n_vertices))
    starts = [[3], [0, 48], [11]]
    for lane, start in enumerate(starts):
        width[lane, start] = np.inf
    found = hpg.run(Widest, G, active=starts, width=width)
    for lane, start in enumerate(starts):
        assert np.array_equal(found.width[lane], hpg.run(Widest, G, active=start, width=width[lane]).width)
    assert sorted(np.concatenate(found.groups).tolist()) == [0, 1, 2]


def test_properties_of_lanes_have_a_row_each():
    G = hpg.datasets.grid(4)
    with pytest.raises(ValueError, match=r"width must be a scalar or have shape \(16,\) or \(2, 16\)"):
        hpg.run(Widest, G, active=[[0], [1]], width=np.zeros((3, 16)))


def test_tuples_are_lanes_only_where_they_are_no_names():
    plain = hpg.Graph.from_edges([0, 1], [1, 2], [2.0, 3.0])
    named = hpg.Graph.from_edges([0, 1], [1, 2], [2.0, 3.0], names=[(0, 0), (0, 1), (0, 2)])
    assert hpg.run(Widest, plain, active=[(0, 1), (2,)]).width.shape == (2, 3)
    assert hpg.run(Widest, named, active=[(0, 1), (0, 2)]).width.shape == (3,)
    assert hpg.run(Widest, named, active=[[(0, 1)], [(0, 2)]]).width.shape == (2, 3)
