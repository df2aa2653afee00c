"""Properties and messages that are short tuples of numbers, against NumPy."""

import re

import numpy as np
import pytest
import scipy.sparse
from arrays import host
from reference_algorithms import SMALL

import hpgraph as hpg
from hpgraph import Parameter, Property
from hpgraph.core.device import device_of, to_device

DIRECTIONS = ["auto", "push", "pull"]


class Box(hpg.VertexProgram):
    """The bounding box of the vertices that reach a vertex, as minima of (x, y, -x, -y); counts its updates."""

    box = Property("float32", shape=4)
    grown = Property("int64")
    reduce = "min"
    weighted = False

    def gather(source, weight, target):
        return source.box

    def cond(vertex):
        return vertex.id % 10 != 3

    def edge_cond(source, weight, target):
        return (source.id + target.id) % 5 != 0

    def update(vertex, message):
        a, b = vertex.box, message
        box = (min(a[0], b[0]), min(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))
        return box, vertex.grown + 1


def boxes(places):
    """The same in plain Python."""
    coo = SMALL.tocoo()
    keeps = ((coo.row + coo.col) % 5 != 0) & (coo.col % 10 != 3)
    arcs = list(zip(coo.row[keeps].tolist(), coo.col[keeps].tolist(), strict=True))
    box, grown = np.concatenate([places, -places], axis=1), np.zeros(200, int)
    active = np.ones(200, bool)
    while active.any():
        arrived = {}
        for u, v in arcs:
            if active[u]:
                arrived[v] = np.minimum(arrived.get(v, np.inf), box[u])
        # `grown` changes with every message: supersteps until no vertex receives one.
        for v in arrived:
            grown[v] += 1
        after = box.copy()
        for v, message in arrived.items():
            after[v] = np.minimum(box[v], message)
        yield after, grown.copy()
        active[:] = False
        active[list(arrived)] = True
        box = after


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_elementwise_minima(direction, G, device):
    places = np.random.default_rng(5).random((200, 2)).astype(np.float32)
    begin = np.concatenate([places, -places], axis=1)
    given = to_device(begin, device)
    found = hpg.run(Box, G, box=given, direction=direction, max_iteration=4)
    *_, (box, grown) = (step for step, _ in zip(boxes(places), range(4), strict=False))
    assert device_of(found.box) == device and found.box.shape == (200, 4) and found.box.dtype == np.float32
    assert (host(found.box) == box).all() and (host(found.grown) == grown).all()
    assert (host(given) == begin).all(), "what was given is not written to"
    assert "tuples of several numbers" in found.trace.loop


class Smooth(hpg.VertexProgram):
    """Weighted mean over the neighbours, in three columns; sums of floats, a count, and a total."""

    at = Property("float64", shape=3, initial=(1, 2, 0.5), start=(0, 0, 0))
    edges = "all"
    activity = "all"
    reduce = "plus"
    message = "float64", 4
    aggregators = ("moved",)
    share = Parameter("float64", 0.5)

    def gather(source, weight, target):
        return source.at[0] * weight, source.at[1] * weight, source.at[2] * weight, weight

    def update(vertex, message, world):
        if message[3] == 0:
            return vertex.at
        a, b = vertex.at, world.share / message[3]
        keep = 1 - world.share
        return keep * a[0] + b * message[0], keep * a[1] + b * message[1], keep * a[2] + b * message[2]

    def aggregate(before, vertex):
        return abs(before.at[0] - vertex.at[0])

    def converged(world):
        return world.moved < 1e-3


def test_elementwise_sums(G):
    found = hpg.run(Smooth, G, active=[3, 4], share=0.25)
    both = scipy.sparse.csr_array(SMALL.astype(np.float64))
    # Of an arc and its reverse the lighter weight.
    dense = both.toarray()
    other = dense.T
    lighter = np.where((dense > 0) & (other > 0), np.minimum(dense, other), dense + other)
    at = np.tile([1, 2, 0.5], (200, 1))
    at[[3, 4]] = 0
    total = lighter.sum(axis=1, keepdims=True)
    for step in range(found.supersteps):
        mean = np.divide(lighter @ at, total, out=at.copy(), where=total > 0)
        after = np.where(total > 0, 0.75 * at + 0.25 * mean, at)
        moved, at = np.abs(after[:, 0] - at[:, 0]).sum(), after
        assert (moved < 1e-3) == (step == found.supersteps - 1) or np.isclose(moved, 1e-3)
    assert np.allclose(host(found.at), at, rtol=1e-12) and np.isclose(found.world["moved"], moved, rtol=1e-9)
    again = hpg.run(Smooth, G, active=[3, 4], share=0.25)
    assert (host(again.at) == host(found.at)).all(), "sums of floats repeat"


class Halved(Smooth):
    """A step of vertices alone, which begins where something is left."""

    at = Property("float64", shape=3, initial=(1, 2, 0.5))
    activity = "changed"
    gather = None
    reduce = None
    message = None
    converged = None

    def starts(vertex):
        return vertex.at[2] > 0.1

    def update(vertex):
        return vertex.at[0], vertex.at[1], vertex.at[2] / 2

    def aggregate(before, vertex):
        return vertex.at[2]


def test_phases_share_tuples(G):
    found = hpg.run(hpg.Phases([Halved]), G)
    assert found.rounds == 4 and host(found.at).tolist() == [[1, 2, 0.0625]] * 200


def make(**members):
    return type("Made", (Box,), members)


@pytest.mark.parametrize(
    ("members", "arguments", "error", "says"),
    [
        ({"box": Property("float32", shape="4")}, {}, TypeError, "the shape of Made.box must be a whole number, as in"),
        ({"box": Property("float32", shape=33)}, {}, ValueError, "the shape of Made.box must be from 1 to 32"),
        ({"message": ("float32", 0)}, {}, ValueError, "the shape of Made.message must be from 1 to 32"),
        ({"update": None}, {}, TypeError, "Made has tuples at vertices or as messages, so it needs update"),
        ({"reduce": "any"}, {}, ValueError, 'Made.reduce is "any", which combines no tuples'),
        ({}, {"box": np.zeros(200)}, ValueError, "box must be a scalar or have shape (200, 4)"),
        ({}, {"active": [[1], [2]]}, ValueError, "Made.box has a shape: run it once for each source"),
        ({"box": Property("float32", (1, 2), shape=4)}, {}, ValueError, "box must be a number or a tuple of 4"),
    ],
)
def test_what_does_not_fit(members, arguments, error, says):
    with pytest.raises(error, match=re.escape(says)):
        hpg.run(make(**members), SMALL, **arguments)


@pytest.mark.parametrize(
    ("members", "says"),
    [
        ({"gather": lambda source, weight, target: 1.0}, "must return a tuple of 4 float32, the message, not float64"),
        ({"gather": lambda source, weight, target: (1, 2)}, "must return a tuple of 4 float32, the message, not a tup"),
        (
            {"update": lambda vertex, message: (message[0], 1)},
            "it must return a tuple of the new box, a tuple of 4 numbers, grown, a number, not a tuple of 2",
        ),
    ],
)
def test_functions_that_return_something_else(members, says):
    with pytest.raises(hpg.CompileError, match=re.escape(says)):
        hpg.run(make(**members), SMALL)
