"""The number of multiprocessors, for cooperative launches: all of their blocks must be resident at once."""

from functools import cache


def multiprocessors() -> int:
    """Multiprocessors of CuPy's current device; read once."""
    import cupy

    return _of_device(cupy.cuda.runtime.getDevice())


@cache
def _of_device(device: int) -> int:
    import cupy

    return int(cupy.cuda.Device(device).attributes["MultiProcessorCount"])
