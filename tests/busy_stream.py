"""A stream of the GPU that is busy for a while, so that what should wait for it is seen not to."""

import functools

import numpy as np

_SPIN = 'extern "C" __global__ void spin(long long until) { for (long long t = clock64(); clock64() - t < until;); }'
# Some tenths of a second: far longer than what is launched behind it takes the host.
_CYCLES = 600_000_000


@functools.cache
def _kernel():
    import cupy

    kernel = cupy.RawKernel(_SPIN, "spin")
    kernel((1,), (1,), (np.int64(0),))
    cupy.cuda.Device().synchronize()
    return kernel


def made_ready():
    """Compile and load, which would wait for the device later."""
    _kernel()


def spin():
    """Keep the current stream busy."""
    _kernel()((1,), (1,), (np.int64(_CYCLES),))
