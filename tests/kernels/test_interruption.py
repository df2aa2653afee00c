"""The handler that SIGINT reaches when Ctrl-C is pressed just as it changes."""

import ctypes
import signal

import pytest

from hpgraph.kernels.runtime.cpu import interruption
from hpgraph.kernels.runtime.cpu.interruption import in_python, interruptible
from hpgraph.semiring import stop

pytestmark = pytest.mark.skipif(interruption._main is None, reason="without compiled kernels Python answers")


def handler_in_c() -> int | None:
    asked = ctypes.pythonapi.PyOS_getsig
    asked.restype = ctypes.c_void_p
    return asked(signal.SIGINT)


@pytest.mark.parametrize("call", range(4))
def test_pressed_while_the_handler_is_set(call: int, monkeypatch: pytest.MonkeyPatch, ctrl_c: None) -> None:
    """Python answers what came before the call as soon as the call is over, and before its value is assigned."""
    python, set_handler, calls = handler_in_c(), interruption._set_handler, []

    def pressed(number: int, handler: int | None) -> int | None:
        before = set_handler(number, handler)
        calls.append(handler)
        if len(calls) == call + 1:
            raise KeyboardInterrupt
        return before

    monkeypatch.setattr(interruption, "_set_handler", pressed)
    with pytest.raises(KeyboardInterrupt), interruptible(), in_python():
        assert handler_in_c() == python
    assert (handler_in_c(), interruption._python, stop.word.value) == (python, None, 0)


def test_pressed_inside_and_once_more_at_the_end(monkeypatch: pytest.MonkeyPatch, ctrl_c: None) -> None:
    set_handler = interruption._set_handler

    def pressed(number: int, handler: int | None) -> int | None:
        set_handler(number, handler)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)
        monkeypatch.setattr(interruption, "_set_handler", pressed)
    monkeypatch.undo()
    with interruptible():
        pass  # and not once more
