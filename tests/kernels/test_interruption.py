"""The handler that SIGINT reaches when Ctrl-C is pressed just as it changes."""

import contextlib
import ctypes
import signal
import time
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse

import hpgraph as hpg
from hpgraph.kernels.runtime.cpu import threads
from hpgraph.kernels.runtime.cpu.threads import in_python, interruptible
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


def walked() -> Callable[[], object]:
    before = np.tile(np.arange(-1, 1499, dtype=np.int32), (1500, 1))
    before[:, 0] = -9999
    path = scipy.sparse.diags_array(np.ones(1499), offsets=1).tocsr()
    return lambda: hpg.csgraph.construct_dist_matrix(path, before)


def spanned() -> Callable[[], object]:
    ends = np.random.default_rng(0).integers(0, 200_000, (2, 1_000_000))
    alike = scipy.sparse.coo_array((np.ones(1_000_000), ends), shape=(200_000, 200_000)).tocsr()
    return lambda: hpg.csgraph.minimum_spanning_tree(alike)


@pytest.mark.parametrize("make", [walked, spanned])
def test_one_long_kernel_stops_within(make: Callable[[], Callable[[], object]], ctrl_c: None) -> None:
    """Stopped from its beginning, a call takes what is around its kernel."""
    call = make()
    call()

    def seconds(stopped: bool) -> float:
        began = time.perf_counter()
        with pytest.raises(KeyboardInterrupt) if stopped else contextlib.nullcontext(), interruptible():
            if stopped:
                signal.raise_signal(signal.SIGINT)
            call()
        return time.perf_counter() - began

    assert min(seconds(True) for _ in range(5)) < min(seconds(False) for _ in range(5)) / 2
