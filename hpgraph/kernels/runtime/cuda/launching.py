"""Launches with prepacked arguments, so that kernels on several devices start right after each other."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.compile import Kernel

# Of a parameter in the block of all of them; no struct that is passed asks for more.
_ALIGNMENT = 16


class Prepared:
    """A kernel on the current device, and the memory for its arguments, of which the last is a number.

    CuPy's launch packs arguments each time, some 20 µs for those of a search; a direct driver call takes 4.

    ``sizes``: bytes of each argument but the number.
    """

    def __init__(self, kernel: Callable[..., None], sizes: Sequence[int], cooperative: bool) -> None:
        import cupy

        assert isinstance(kernel, partial) and isinstance(kernel.func, Kernel)
        (grid,), (block,) = kernel.args
        self._faults = kernel.func.faults
        self._shape = kernel.func.raw.kernel.ptr, grid, 1, 1, block, 1, 1, 0
        driver = cupy.cuda.driver
        self._launch = driver.launchCooperativeKernel if cooperative else driver.launchKernel
        # The other way of launching has a place for arguments given otherwise.
        self._rest: tuple[int, ...] = () if cooperative else (0,)
        ends = np.cumsum([0, *(-(-size // _ALIGNMENT) * _ALIGNMENT for size in sizes)])
        block_of_all = np.zeros(int(ends[-1]) + 8, np.uint8)
        self._bytes = block_of_all.data
        self._slices = [slice(begin, begin + size) for begin, size in zip(ends.tolist(), sizes, strict=False)]
        self._number = block_of_all[ends[-1] :].view(np.uint64)
        self._pointers = ends.astype(np.uint64) + np.uint64(block_of_all.ctypes.data)
        self._address = int(self._pointers.ctypes.data)

    def fill(self, arguments: Sequence[Any]) -> None:
        """Put all arguments but the number, NumPy scalars and arrays of shape (), where the launch finds them."""
        for where, argument in zip(self._slices, arguments, strict=True):
            self._bytes[where] = argument.tobytes()

    def launch(self, stream: int, number: int) -> None:
        """Launch it on a stream of the kernel's device, which is the current one."""
        self._number[0] = number
        self._launch(*self._shape, stream, self._address, *self._rest)
        if self._faults is not None:
            self._faults.launched()
