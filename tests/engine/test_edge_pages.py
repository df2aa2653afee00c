"""Edge-vertex programs over graphs in pages: against their definition, and what pages do not tell."""

import operator
import re

import numpy as np
import pytest
from arrays import listed
from busy_stream import made_ready, spin
from edge_programs import Drift, Ledger, Relay, Rest, Tired
from graphs_in_pages import streamed
from raising import raises
from reference_algorithms import random_digraph
from reference_edge_programs import run_slowly
from test_edge_programs import compare, lists

import hpgraph as hpg
from hpgraph.core.device import cuda_available, to_device
from hpgraph.kernels.runtime.cuda.compile import Module

N = 300


@pytest.fixture(scope="module")
def matrix():
    made = random_digraph(N, 2400, seed=4)
    made.data = np.ones(made.nnz, np.int64)
    return made


@pytest.mark.parametrize("place", ["memory", "file", "gaps"])
def test_arcs_that_change(place, matrix, device, tmp_path):
    G = streamed(matrix, device, place, tmp_path, True)
    whole = hpg.Graph(matrix, directed=True)
    arcs, _ = lists(whole)
    m, active = len(arcs), [v for v in range(N) if v % 3]
    rate = np.arange(m, dtype=np.int32) % 4
    expected = run_slowly(
        Tired, arcs, {"wealth": [1] * N}, {"passed": [0] * m, "rate": rate.tolist()}, operator.add, active, limit=6
    )
    found = hpg.run(Tired, G, active=active, rate=rate, max_iteration=6)
    compare(found, *expected)
    assert (found.trace.direction == "push").all() and (found.trace.edges > 0).all()


def test_phases(matrix, device, tmp_path):
    G, whole = streamed(matrix, device, "memory", tmp_path, True), hpg.Graph(matrix, directed=True)
    several = hpg.Phases([type("Briefly", (Tired,), {"max_iteration": 2}), Rest], max_iteration=2)
    found, expected = hpg.run(several, G), hpg.run(several, whole)
    assert listed(found.wealth) == listed(expected.wealth) and listed(found.passed) == listed(expected.passed)


@pytest.mark.skipif(not cuda_available(), reason="no CUDA GPU here")
@pytest.mark.parametrize("behind", ["list", "visit"])
def test_kept_pages_are_visited_while_buffers_are_made(behind, matrix, tmp_path, monkeypatch):
    """Buffers made while pages that are kept are being visited take memory that this still works in."""
    G, whole = streamed(matrix, "cuda", "memory", tmp_path, True), hpg.Graph(matrix, directed=True)
    briefly = type("Briefly", (Tired,), {"max_iteration": 2})
    expected = hpg.run(briefly, whole)
    hpg.run(briefly, G)
    # As when another program of several has its weights read.
    G.store(False, False).close()
    made_ready()
    function, waiting = Module.function, [behind]

    def slowly(module, name):
        kernel = function(module, name)
        if waiting and name.startswith(f"hpgraph::{behind}_groups"):
            waiting.clear()
            spin()
        return kernel

    monkeypatch.setattr(Module, "function", slowly)
    found = hpg.run(briefly, G)
    assert not waiting
    assert listed(found.wealth) == listed(expected.wealth) and listed(found.passed) == listed(expected.passed)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (Ledger, "Ledger looks at edge.reverse, and this graph stays in pages: load it with G.in_memory()"),
        (type("Heavy", (Tired,), {"weighted": True, "edge_cond": lambda source, edge, target: edge.weight > 1}),
         "Heavy reads edge.weight (a constant EdgeProperty may stand for it)"),
        (type("Replies", (Tired,), {"reply": lambda source, edge, target: 1}), "Replies has replies"),
        (type("Tuples", (Drift,), {"reply": None, "reply_cond": None, "edge_compute": lambda s, e, t: ((1, 2, 3), 4)}),
         "Tuples has tuples at vertices or as messages"),
    ],
)  # fmt: skip
def test_facts_missing_in_pages(program, says, matrix, tmp_path):
    G = streamed(matrix, "cpu", "memory", tmp_path, True)
    raises(hpg.StreamingError, re.escape(says), hpg.run, program, G)


def test_sums_of_floats(matrix, device, tmp_path):
    """They repeat on the CPU, where targets take messages in the order of arcs; on the GPU they would not."""
    G = streamed(matrix, device, "memory", tmp_path, True)
    passing = {"edge_compute": lambda source, edge, target: (source.value * 0.1, source.value + edge.kept)}
    floats = type("Floats", (Relay,), passing)
    if device == "cuda":
        raises(hpg.StreamingError, "Floats sums floats, which come in any order", hpg.run, floats, G)
        return
    found, expected = hpg.run(floats, G), hpg.run(floats, hpg.Graph(matrix, directed=True))
    assert np.allclose(to_device(found.value, "cpu"), expected.value, rtol=1e-12)
    assert listed(hpg.run(floats, G).value) == listed(found.value)
