"""Searches over weights by min or max, best values first: the same answers as by whole passes over the arcs."""

import numpy as np
import pytest
import scipy.sparse
from reference_algorithms import random_digraph

import hpgraph as hpg
from hpgraph.core.device import to_device

BIG = 2**62


class Widest(hpg.VertexProgram):
    """Wide paths, by an update that is the reduce."""

    value = hpg.Property("float32", initial=0.0, start=np.inf)
    reduce = "max"

    def gather(source, weight, target):
        return min(source.value, weight)

    def update(vertex, message):
        return max(vertex.value, message)


class WidestInteger(hpg.VertexProgram):
    """The same in whole numbers."""

    value = hpg.Property("int64", initial=-BIG, start=BIG)
    reduce = "max"

    def gather(source, weight, target):
        return min(source.value, np.int64(weight * 100))


class Reliable(hpg.VertexProgram):
    """Products of chances, which decay."""

    value = hpg.Property("float64", initial=0.0, start=1.0)
    reduce = "max"

    def gather(source, weight, target):
        return source.value * weight


class Bottleneck(hpg.VertexProgram):
    """The least longest arc."""

    value = hpg.Property("float64", initial=np.inf, start=0.0)
    reduce = "min"

    def gather(source, weight, target):
        return max(source.value, weight)


class Longest(hpg.VertexProgram):
    """Longest paths of an acyclic graph: a message is better than what its sender has."""

    value = hpg.Property("float64", initial=-np.inf, start=0.0)
    reduce = "max"

    def gather(source, weight, target):
        return source.value + weight


def lattice(side):
    path = scipy.sparse.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[-1, 1])
    csr = scipy.sparse.csr_array(scipy.sparse.kronsum(path, path))
    csr.data = np.random.default_rng(4).uniform(0.6, 1, csr.nnz).astype(np.float32)
    return csr


GRAPHS = {"lattice": lattice(100), "digraph": random_digraph(3000, 9000, seed=3)}
GRAPHS["digraph"].data = np.random.default_rng(5).uniform(0.6, 1, GRAPHS["digraph"].nnz).astype(np.float32)
ONE_WAY = scipy.sparse.triu(GRAPHS["lattice"], format="csr")
MESSAGES = {
    Widest: (np.maximum, np.minimum, 0, np.inf),
    WidestInteger: (np.maximum, lambda value, weight: np.minimum(value, (weight * 100).astype(np.int64)), -BIG, BIG),
    Reliable: (np.maximum, np.multiply, 0, 1),
    Bottleneck: (np.minimum, np.maximum, np.inf, 0),
    Longest: (np.maximum, np.add, -np.inf, 0),
}


def passes(csr, program, source):
    """Messages along all arcs at once until nothing changes."""
    join, message, initial, start = MESSAGES[program]
    value = np.full(csr.shape[0], initial, program.value.dtype)
    value[source], arcs = start, csr.tocoo()
    while True:
        following = value.copy()
        join.at(following, arcs.col, message(value[arcs.row], arcs.data).astype(value.dtype))
        if (following == value).all():
            return value
        value = following


@pytest.mark.parametrize("program", [program for program in MESSAGES if program is not Longest])
@pytest.mark.parametrize("name", GRAPHS)
def test_best_values_first(name, program, device):
    csr = GRAPHS[name]
    expected = passes(csr, program, 17)
    G = hpg.Graph(csr, directed=True).to(device)
    for technique in (True, False):
        with hpg.techniques(adaptive_buckets=technique):
            found = hpg.run(program, G, active=17)
        assert found.trace.loop.startswith("relaxation")
        assert (to_device(found.value, "cpu") == expected).all()


def test_messages_that_are_better_than_their_sender(device):
    found = hpg.run(Longest, hpg.Graph(ONE_WAY, directed=True).to(device), active=0)
    assert (to_device(found.value, "cpu") == passes(ONE_WAY, Longest, 0)).all()


@pytest.mark.parametrize("program", [Widest, Reliable, Bottleneck])
def test_a_search_that_repeats_arcs_is_ordered(program):
    csr = lattice(200)
    G, sent = hpg.Graph(csr, directed=True), {}
    for technique in (True, False):
        with hpg.techniques(adaptive_buckets=technique), hpg.config(threads=1):
            sent[technique] = hpg.run(program, G, active=17).trace.rows[:, 2].sum()
    # Four times all arcs in one bucket, and the rest about once.
    assert sent[True] < 6.5 * csr.nnz and sent[True] < 0.7 * sent[False]
