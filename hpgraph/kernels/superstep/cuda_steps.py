"""Attributes of `cuda.Supersteps` that functions on parts of one kind read."""

from typing import Any, Protocol

import numpy as np

from hpgraph.formats import Bitmask
from hpgraph.kernels.runtime.program import ProgramCode


class Steps(Protocol):
    """The work space of a run on the GPU.

    ``messages``: the joined messages of each vertex; ``arrived``: the vertices that received; ``carry``: memory that
    windows keep.
    """

    code: ProgramCode
    n: int
    ids: np.dtype
    state: tuple[Any, ...]
    messages: Any
    arrived: Bitmask
    settled: Bitmask | None
    all_active: bool
    carry: tuple[int, tuple[Any, ...]] | None

    def waiting(self) -> Bitmask | None:
        """Bitmap of the vertices that may still receive in this superstep: None, unless the first message suffices."""
