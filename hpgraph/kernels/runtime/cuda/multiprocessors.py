"""The number of multiprocessors, for cooperative launches: all of their blocks must be resident at once."""

from functools import cache

from hpgraph.core.device import cupy


def multiprocessors() -> int:
    """Multiprocessors of CuPy's current device; read once."""
    return _of_device(cupy.cuda.runtime.getDevice())


@cache
def _of_device(device: int) -> int:
    return int(cupy.cuda.Device(device).attributes["MultiProcessorCount"])
