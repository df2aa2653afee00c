"""Supersteps on the GPU whose messages are worked out in several goes, or partly elsewhere, and joined."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import Bitmask
from hpgraph.kernels.runtime.cuda.persistent import load_program
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.superstep.cuda import APPLY_THREADS, Supersteps

JOIN = ("hpgraph::join_messages<Program>",)


class JoinedSupersteps(Supersteps):
    """`hpgraph.kernels.superstep.cuda.Supersteps` whose messages can be taken, and joined to others."""

    def take(self) -> tuple[Any, Bitmask]:
        """As `hpgraph.kernels.superstep.cpu_joined.JoinedSupersteps.take`."""
        import cupy

        taken = self._message, self._received
        self._message, self._received = cupy.empty_like(self._message), Bitmask.zeros(self.n, "cuda")
        return taken

    def join(self, messages: Any, received: Bitmask, first: int = 0) -> None:
        """As `hpgraph.kernels.superstep.cpu_joined.JoinedSupersteps.join`."""
        join_messages(self, messages, received, first)


def join_messages(steps: Any, messages: Any, received: Bitmask, first: int) -> None:
    """Join messages to those of a work space.

    Parameters
    ----------
    steps : Supersteps
    messages, received, first
        As for `JoinedSupersteps.join`.
    """
    count = len(messages)
    if not count:
        return
    kernel = load_program(cuda_program(steps.code, None), "joined.cuh", *JOIN).function(JOIN[0])
    kernel(
        (-(-count // APPLY_THREADS),), (APPLY_THREADS,),
        (np.int64(count), messages, received.words, steps._message[first:], steps._received.words[first // 64 :]),
    )  # fmt: skip
