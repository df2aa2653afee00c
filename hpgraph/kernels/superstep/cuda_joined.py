"""Messages that were computed elsewhere, joined to those of a work space on the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.kernels.runtime.cuda.persistent import load_program
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.superstep.cuda import APPLY_THREADS

if TYPE_CHECKING:
    from hpgraph.formats import Bitmask
    from hpgraph.kernels.superstep.cuda import Supersteps

JOIN = ("hpgraph::join_messages<Program>",)


def join_messages(steps: Supersteps, messages: Any, received: Bitmask, first: int) -> None:
    """Join messages to those of the vertices of a work space from `first`, a multiple of 64, on."""
    count = len(messages)
    if not count:
        return
    kernel = load_program(cuda_program(steps.code, None), "joined.cuh", *JOIN).function(JOIN[0])
    kernel(
        (-(-count // APPLY_THREADS),), (APPLY_THREADS,),
        (np.int64(count), messages, received.words, steps._message[first:], steps._received.words[first // 64 :]),
    )  # fmt: skip
