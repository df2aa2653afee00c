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
from hpgraph.kernels.structure import cpu_predecessors, cpu_spanning_forest
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


@pytest.mark.parametrize(
    ("call", "module", "name"), [(walked, cpu_predecessors, "_walk"), (spanned, cpu_spanning_forest, "_choose")]
)
def test_one_long_kernel_stops_within(
    call: Callable[[], object], module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch, ctrl_c: None
) -> None:
    """Stopped from its beginning, a kernel writes nothing."""
    kernel, written = getattr(module, name), []

    def watched(*given: Any) -> None:
        given[-1][:] = 0
        kernel(*given)
        written.append(np.count_nonzero(given[-1]))

    monkeypatch.setattr(module, name, watched)
    call()
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)
        call()
    whole, stopped = written
    assert stopped == 0 < whole
