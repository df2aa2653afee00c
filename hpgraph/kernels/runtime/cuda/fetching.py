"""Results fetched from the GPU while it goes on with what was launched after them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

Fetched = TypeVar("Fetched")


def after(event: Any, fetch: Callable[[], Fetched]) -> Fetched:
    """Call `fetch` on a stream of its own, which waits for an event and for nothing else."""
    import cupy

    with _stream(cupy.cuda.runtime.getDevice()) as stream:
        stream.wait_event(event)
        return fetch()


@cache
def _stream(device: int) -> Any:
    import cupy

    return cupy.cuda.Stream(non_blocking=True)
