"""The state of a block between two supersteps, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.formats import Bitmask

# Columns of the table of supersteps.
COLUMNS = 7


@dataclass
class BlockResult:
    """The result of a run for the vertices that a block owns."""

    properties: dict[str, np.ndarray]
    # Vertices that are still active, counted from the first of the range: uint32.
    active: np.ndarray
    # Parameters and last sums; the same for all blocks.
    world: dict[str, Any]
    # Of shape (supersteps, COLUMNS), those before the checkpoint included: direction, active vertices, arcs visited,
    # nanoseconds; bytes, and messages to vertices, that this block sent; how often the bound was raised.
    rows: np.ndarray
    # Bytes sent before the first superstep.
    begun: int


@dataclass
class BlockState:
    """The state of a block between two supersteps: the content of a checkpoint."""

    step: int
    active: np.ndarray | None
    world: dict[str, Any]
    counts: np.ndarray
    # As of `BlockResult`.
    rows: np.ndarray
    # Own vertices that receive no more, if each receives once.
    settled: Bitmask | None = None
