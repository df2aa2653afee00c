"""Results fetched from the GPU concurrently with later launches."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from hpgraph.core.device import cupy

Fetched = TypeVar("Fetched")


def after(event: Any, fetch: Callable[[], Fetched]) -> Fetched:
    """Call `fetch` on a separate stream, which waits for an event only."""
    with _stream(cupy.cuda.runtime.getDevice()) as stream:
        stream.wait_event(event)
        return fetch()


@cache
def _stream(device: int) -> Any:
    return cupy.cuda.Stream(non_blocking=True)
