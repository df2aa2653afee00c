"""What the core does for all: no collection of garbage meanwhile, and arrays reduced to one number, against NumPy."""

import contextlib
import ctypes
import gc
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from hpgraph.core import locks
from hpgraph.core.device import anywhere, count, everywhere, first_true, to_device, total
from hpgraph.core.locks import Lock, uncollected
from hpgraph.core.number import one_of


@pytest.fixture
def overlap() -> Any:
    """Two blocks that overlap, as in two threads: the first to begin is the first to end."""
    return contextlib.ExitStack(), contextlib.ExitStack()


@pytest.mark.parametrize("usual", [True, False])
def test_garbage_collection_resumes_after_the_last_block(overlap: Any, usual: bool) -> None:
    """As where one thread compiles and another one launches kernels."""
    first, second = overlap
    was = gc.isenabled()
    (gc.enable if usual else gc.disable)()
    try:
        first.enter_context(uncollected())
        second.enter_context(uncollected())
        first.close()
        assert not gc.isenabled()
        second.close()
        assert gc.isenabled() == usual
    finally:
        (gc.enable if was else gc.disable)()


def test_an_interruption_at_any_step_of_a_pause_leaves_the_collector_on() -> None:
    """As Ctrl-C between two lines, or as a method returns."""
    for last in range(100):
        steps, calls = 0, 0

        def interrupt(frame: Any, event: str, _: Any, last: int = last) -> Any:
            nonlocal steps, calls
            calls += event == "call"
            # The third call is that of the freed object, whose exceptions Python ignores.
            if frame.f_code.co_filename != locks.__file__ or calls > 2:
                return None
            steps += 1
            if steps > last:
                sys.settrace(None)
                raise KeyboardInterrupt
            return interrupt

        with contextlib.suppress(KeyboardInterrupt):
            sys.settrace(interrupt)
            with uncollected():
                pass
        sys.settrace(None)
        assert gc.isenabled()
        if steps <= last:
            break
    assert 10 < steps == last


def test_an_interrupted_thread_leaves_no_lock_taken() -> None:
    """An exception from another thread comes as the waiting thread takes the lock."""
    lock, taken = Lock(), []

    def wait() -> None:
        with contextlib.suppress(KeyboardInterrupt), lock:
            pass

    waiting, other = (
        threading.Thread(target=wait),
        threading.Thread(target=lambda: taken.append(lock.acquire(timeout=20))),
    )
    with lock:
        waiting.start()
        while sys._current_frames()[waiting.ident].f_code is not wait.__code__:
            time.sleep(0.001)
        time.sleep(0.02)
        assert ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(waiting.ident), ctypes.py_object(KeyboardInterrupt)
        )
    waiting.join()
    other.start()
    other.join()
    assert taken == [True]


@pytest.mark.parametrize("n", [0, 1, 1000, 1 << 24, (1 << 24) + 9])
def test_masks(n: int, device: str) -> None:
    for places in ([], [-1], range(0, n, 1000)):
        mask = np.zeros(n, bool)
        mask[list(places) if n else []] = True
        there = to_device(mask, device)
        assert anywhere(there) is bool(mask.any())
        assert everywhere(there) is bool(mask.all()) and everywhere(~there) is bool((~mask).all())
        assert count(there) == int(mask.sum())
        assert n == 0 or first_true(there) == int(mask.argmax())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float32", "float64"])
def test_sums_are_made_in_the_wider_type(dtype: str, device: str) -> None:
    for n in (0, 3, (1 << 24) + 3 if dtype == "uint8" else 500):
        array = np.full(n, 100, dtype)
        assert total(to_device(array, device), np.int64 if dtype[0] in "iu" else np.float64) == 100 * n
    assert total(to_device(np.array([2**24, 1], np.float32), device), np.float64) == 2**24 + 1


@pytest.mark.parametrize("given", [np.array(["weak", "strong"]), ["weak"], 1, None])
def test_what_is_no_word_among_choices_is_refused_by_name(given: Any) -> None:
    with pytest.raises(ValueError, match='connection must be "weak" or "strong"'):
        one_of(given, "connection", ("weak", "strong"))
