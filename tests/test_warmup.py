"""What ``hpgraph warmup`` calls, and that its code is there for the next process."""

import sys
from collections.abc import Iterator

import pytest
from numba.extending import is_jitted

from hpgraph import warmup
from hpgraph.kernels.runtime.cpu.compilation import KernelCache


def not_kept() -> Iterator[str]:
    """Kernels that this process has compiled or read, and of which the disk has no code."""
    for module in [module for name, module in sys.modules.items() if name.startswith("hpgraph.kernels.")]:
        for name, kernel in vars(module).items():
            if is_jitted(kernel) and isinstance(kernel._cache, KernelCache) and kernel.__module__ == module.__name__:
                keys = (kernel._cache._index_key(types, kernel.targetctx.codegen()) for types in kernel.signatures)
                yield from (f"{module.__name__}.{name}" for key in keys if not kernel._cache._file(key).exists())


def test_every_call(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """In one type of weights: the others differ in what is compiled, and not in what is called."""
    monkeypatch.setitem(warmup._WEIGHTS, device, ("float64",))
    before = {*not_kept()}
    calls = warmup.built_in_calls.__wrapped__(device)
    names = {what for what, _ in calls}
    assert {"BFS", "SSSP, float64", "PageRank, float64", "triangle count, uneven", "A @ A, float64"} <= names
    assert len(names) == len(calls)
    for what, call in calls:
        if what.startswith("SSSP, "):
            # Paths that breadth-first search does not find.
            graph, weights = call.args[0], call.args[0].out_csr.data
            assert graph.directed if weights is None else weights.min() < weights.max(), what
        call()
    assert {*not_kept()} <= before
