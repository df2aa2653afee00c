"""Pauses of the garbage collector that overlap without nesting."""

from __future__ import annotations

import contextlib
import gc
from typing import Any

import pytest

from hpgraph.core.garbage import uncollected


@pytest.fixture
def overlap() -> Any:
    """Two blocks that overlap, as in two threads: the first to begin is the first to end."""
    return contextlib.ExitStack(), contextlib.ExitStack()


@pytest.mark.parametrize("usual", [True, False])
def test_garbage_is_not_collected_until_the_last_who_wants_none_has_ended(overlap: Any, usual: bool) -> None:
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
