"""Python's garbage collector, kept from running for a while."""

from __future__ import annotations

import gc

from hpgraph.core.process_wide import ProcessWide


def uncollected() -> ProcessWide:
    """Context manager and decorator: no garbage is collected meanwhile, in any thread.

    Examples
    --------
    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    return _uncollected


def _disable() -> bool:
    was_enabled = gc.isenabled()
    gc.disable()
    return was_enabled


def _restore(was_enabled: bool) -> None:
    if was_enabled:
        gc.enable()


_uncollected = ProcessWide(_disable, _restore)
