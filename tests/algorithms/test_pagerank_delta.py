"""PageRank by changes, beside NetworkX and beside power iteration, which shares no code with it."""

from typing import Any

import networkx as nx
import numpy as np
import pytest
from arrays import host
from graph_examples import every_kind, example
from raising import raises

import hpgraph as hpg


@every_kind
def test_against_networkx(directed: bool, weighted: bool, named: bool, device: str) -> None:
    """With dangling vertices, vertices that no arc reaches, and loops."""
    N = example(directed, weighted, named)
    G = hpg.from_networkx(N).to(device)
    weight = "weight" if weighted else None
    for given in (None, {v: 1.0 + i for i, v in enumerate(list(N)[3:6])}):
        expected = nx.pagerank(N, tol=1e-15, max_iter=1000, weight=weight, personalization=given)
        found = hpg.pagerank(G, method="delta", tol=1e-12, max_iteration=1000, weight=weighted, personalization=given)
        assert found.converged and found.residual <= 1e-12 and found.trace.loop.startswith("supersteps: sends")
        np.testing.assert_allclose(host(found.rank), list(expected.values()), atol=1e-11)


@pytest.mark.parametrize("normalization", ["standard", "hpgraph"])
@pytest.mark.parametrize("convergence", ["global", "vertex"])
def test_against_power_iteration(normalization: str, convergence: str, device: str) -> None:
    G = hpg.from_networkx(example(directed=True, weighted=False, named=False)).to(device)
    options: dict[str, Any] = {"normalization": normalization, "convergence": convergence, "max_iteration": 1000}
    expected = host(hpg.pagerank(G, tol=1e-14, **options).rank)
    for start in (None, expected, np.arange(1.0, 41), {3: 1.0}):
        found = hpg.pagerank(G, method="delta", tol=1e-10, start=start, **options)
        assert found.converged
        np.testing.assert_allclose(host(found.rank), expected, atol=1e-7)
    again = hpg.pagerank(G, method="delta", tol=1e-10, start=expected, **options)
    assert again.iterations <= 2, "nothing is left to send"


def test_the_same_every_time(device: str) -> None:
    G = hpg.datasets.kron(10).to(device)
    first, second = (hpg.pagerank(G, method="delta", dtype=np.float32).rank for _ in range(2))
    assert first.dtype == np.float32 and bool((first == second).all())


def test_an_early_end(device: str) -> None:
    G = hpg.datasets.kron(10).to(device)
    expected = hpg.pagerank(G, tol=1e-14, max_iteration=1000).rank
    with pytest.warns(hpg.ConvergenceWarning, match="stopped after 4 iterations"):
        found = hpg.pagerank(G, method="delta", max_iteration=4)
    # What was not sent yet is the error that is left, but for what it would bring again.
    assert not found.converged
    assert float(abs(found.rank - expected).sum()) <= found.residual * 0.85 / 0.15 + 1e-12


def test_unfit_input(device: str) -> None:
    G = hpg.Graph.from_edges([0, 1], [1, 0]).to(device)
    raises(ValueError, 'method must be "power" or "delta"', hpg.pagerank, G, method="push")
    raises(ValueError, "damping must be below 1", hpg.pagerank, G, method="delta", damping=1)
    assert host(hpg.pagerank(G, method="delta", damping=0).rank).tolist() == [0.5, 0.5]


class Relay(hpg.VertexProgram):
    """Counts what arrives, and hands on what comes in the first two supersteps."""

    reduce = "plus"
    arrived = hpg.Property("int64")
    last = hpg.Property("int64")

    def gather(source, weight, target):
        return 1

    def update(vertex, message, world):
        return vertex.arrived + message, world.superstep

    def sends(before, vertex):
        return vertex.last <= 2 and vertex.id != 9


@pytest.mark.parametrize("direction", ["push", "pull", "auto"])
def test_senders(direction: str, device: str) -> None:
    G = hpg.Graph.from_edges([0, 1, 2, 3, 0, 9], [1, 2, 3, 4, 9, 5]).to(device)
    found = hpg.run(Relay, G, active=[0], direction=direction)
    assert host(found.arrived).tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 0, 1], "9 and 3 have changed, and send nothing"
    assert found.supersteps == 3 and found.trace.loop == "supersteps: sends selects the active vertices"


def test_unfit_programs() -> None:
    class Everyone(Relay):
        activity = "all"

    with pytest.raises(ValueError, match='needs activity = "changed"'):
        hpg.run(Everyone, hpg.Graph.from_edges([0], [1]))
    with pytest.raises(TypeError, match=r"written sends\(before, vertex\)"):

        class Wrong(Relay):
            def sends(vertex):  # type: ignore[override]
                return True

    class NoNumber(Relay):
        def sends(before, vertex):
            return vertex.wrong

    with pytest.raises(hpg.CompileError, match=r"NoNumber\.sends"):
        hpg.run(NoNumber, hpg.Graph.from_edges([0], [1]))
