"""Keeping the garbage collector from running."""

from __future__ import annotations

import contextlib
import gc

import pytest

from hpgraph.core.garbage import uncollected


@pytest.mark.parametrize("usual", [True, False])
def test_it_stays_off_until_the_last_who_wants_it_off_has_ended(usual: bool) -> None:
    """As where one thread compiles, another one launches kernels, and they overlap without nesting."""
    first, second = contextlib.ExitStack(), contextlib.ExitStack()
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
