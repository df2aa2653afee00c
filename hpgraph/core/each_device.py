"""The same work on each of several devices, at the same time."""

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

from hpgraph.core.device import require_cupy
from hpgraph.core.devices import Devices
from hpgraph.core.platform import at_fork

# Threads that call GPUs at once.
_MAX_GPUS = 16


def on_each(devices: Sequence[Devices], work: Callable[[int], Any]) -> list[Any]:
    """Results of `work` on several devices in parallel, in their order; waits for the GPUs."""

    def there(number: int) -> Any:
        with devices[number].here:
            made = work(number)
            if devices[number].kind == "cuda":
                require_cupy().cuda.get_current_stream().synchronize()
            return made

    if len(devices) == 1 or devices[0].kind == "cpu":
        return [there(number) for number in range(len(devices))]
    cupy = require_cupy()
    for device in devices:
        with device.here:
            # What the work reads may still be under way on a stream of the caller's.
            cupy.cuda.get_current_stream().synchronize()
    threads = _threads()
    waiting = [threads.submit(contextvars.copy_context().run, there, number) for number in range(1, len(devices))]
    try:
        return [there(0), *(one.result() for one in waiting)]
    finally:
        # Nothing is under way any more when an error leaves here.
        wait(waiting)


def shares(count: int, devices: int) -> list[slice]:
    """Which of many independent searches each device has: as equal parts as can be, in order, none of them empty.

    Where searches go in groups, no other parts leave the busiest device with fewer of these, or with smaller ones.
    """
    parts = min(count, devices)
    return [slice(count * part // parts, count * (part + 1) // parts) for part in range(parts)]


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads that are kept: the first call to a GPU from a new one takes a millisecond."""
    return ThreadPoolExecutor(_MAX_GPUS, "hpgraph-gpu")


# A forked child has none of its parent's threads.
at_fork(after_in_child=_threads.cache_clear)
