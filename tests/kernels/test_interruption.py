"""The handler that SIGINT reaches when Ctrl-C is pressed just as it changes."""

import ctypes
import signal
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.kernels.runtime.cpu import threads
from hpgraph.kernels.runtime.cpu.threads import in_python, interruptible
from hpgraph.kernels.spgemm import cpu as cpu_product
from hpgraph.kernels.structure import cpu_predecessors, cpu_spanning_forest
from hpgraph.kernels.temporal import cpu as cpu_temporal
from hpgraph.kernels.temporal import cpu_betweenness
from hpgraph.semiring import stop

pytestmark = pytest.mark.skipif(threads._main is None, reason="without compiled kernels Python answers")


def handler_in_c() -> int | None:
    asked = ctypes.pythonapi.PyOS_getsig
    asked.restype = ctypes.c_void_p
    return asked(signal.SIGINT)


@pytest.mark.parametrize("call", range(4))
def test_pressed_while_the_handler_is_set(call: int, monkeypatch: pytest.MonkeyPatch, ctrl_c: None) -> None:
    """Python answers what came before the call as soon as the call is over, and before its value is assigned."""
    python, set_handler, calls = handler_in_c(), threads._set_handler, []

    def pressed(number: int, handler: int | None) -> int | None:
        before = set_handler(number, handler)
        calls.append(handler)
        if len(calls) == call + 1:
            raise KeyboardInterrupt
        return before

    monkeypatch.setattr(threads, "_set_handler", pressed)
    with pytest.raises(KeyboardInterrupt), interruptible(), in_python():
        assert handler_in_c() == python
    assert (handler_in_c(), threads._python, stop.word.value) == (python, None, 0)


def test_pressed_inside_and_once_more_at_the_end(monkeypatch: pytest.MonkeyPatch, ctrl_c: None) -> None:
    set_handler = threads._set_handler

    def pressed(number: int, handler: int | None) -> int | None:
        set_handler(number, handler)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr(threads, "_set_handler", pressed)
    monkeypatch.undo()
    with interruptible():
        pass  # and not once more


def walked() -> object:
    before = np.tile(np.arange(-1, 149, dtype=np.int32), (150, 1))
    before[:, 0] = -9999
    return hpg.csgraph.construct_dist_matrix(scipy.sparse.diags_array(np.ones(149), offsets=1).tocsr(), before)


def spanned() -> object:
    ends = np.random.default_rng(0).integers(0, 200, (2, 1000))
    return hpg.csgraph.minimum_spanning_tree(scipy.sparse.coo_array((np.ones(1000), ends), shape=(200, 200)).tocsr())


def multiplied() -> object:
    rows, columns = np.random.default_rng(0).integers(0, 500, (2, 20_000))
    A = hpg.Matrix.from_coo(rows, columns, np.ones(20_000), shape=(500, 500))
    return A @ A


def contacts() -> hpg.TemporalGraph:
    source, target = np.random.default_rng(0).integers(0, 50, (2, 1000))
    return hpg.TemporalGraph({"source": source, "target": target, "time": np.arange(1000)})


@pytest.mark.parametrize(
    ("call", "module", "name", "output"),
    [
        (walked, cpu_predecessors, "_walk", lambda given: given[-1]),
        (spanned, cpu_spanning_forest, "_choose", lambda given: given[-1]),
        (multiplied, cpu_product, "_fill", lambda given: given[-1].indptr),
        (lambda: hpg.temporal_closeness(contacts()), cpu_temporal, "_search", lambda given: given[5]),
        (lambda: hpg.temporal_betweenness(contacts()), cpu_betweenness, "_betweenness", lambda given: given[2]),
    ],
    ids=["predecessors", "spanning forest", "product", "temporal closeness", "temporal betweenness"],
)
def test_one_long_kernel_stops_within(
    call: Callable[[], object],
    module: ModuleType,
    name: str,
    output: Callable[[Any], Any],
    monkeypatch: pytest.MonkeyPatch,
    ctrl_c: None,
) -> None:
    """Stopped from its beginning, a kernel writes nothing."""
    kernel, written = getattr(module, name), []

    def watched(*given: Any) -> None:
        output(given)[:] = 0
        if written:
            signal.raise_signal(signal.SIGINT)
        kernel(*given)
        written.append(np.count_nonzero(output(given)))

    monkeypatch.setattr(module, name, watched)
    call()
    with pytest.raises(KeyboardInterrupt):
        call()
    whole, stopped = written
    assert stopped == 0 < whole
