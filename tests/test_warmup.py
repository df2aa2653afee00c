"""What ``hpgraph warmup`` calls."""

import pytest

from hpgraph import warmup


def test_every_call(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """In one type of weights: the others differ in what is compiled, and not in what is called."""
    monkeypatch.setattr(warmup, "_WEIGHTS", ("float64",))
    monkeypatch.setattr(warmup, "_FLOATS", ("float64",))
    calls = warmup.built_in_calls.__wrapped__(device)
    names = {what for what, _ in calls}
    assert {"BFS", "SSSP, float64", "PageRank, float64", "triangle count, uneven", "A @ A, float64"} <= names
    assert len(names) == len(calls)
    for _, call in calls:
        call()
