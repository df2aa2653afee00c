"""Where a block is between two supersteps, and where it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Of a table of supersteps.
COLUMNS = 7


@dataclass
class BlockResult:
    """Where a block's own vertices ended.

    Attributes
    ----------
    properties : dict
        Their values.
    active : uint32 array
        Who of them was still active, counted from the beginning of the range.
    world : dict
        Parameters and last sums; the same for all blocks.
    supersteps : int
        How many there were, those before a checkpoint that was gone on from among them.
    rows : int64 array of shape (supersteps, COLUMNS)
        Direction, active vertices, arcs looked at, nanoseconds; bytes, and messages to vertices, that this block sent;
        how often a bound was raised.
    begun : int
        Bytes that it sent before the first superstep.
    """

    properties: dict[str, np.ndarray]
    active: np.ndarray
    world: dict[str, Any]
    supersteps: int
    rows: np.ndarray
    begun: int


@dataclass
class BlockState:
    """The state of a block between two supersteps: what a checkpoint keeps."""

    step: int
    active: np.ndarray | None
    world: dict[str, Any]
    counts: np.ndarray
    rows: list[tuple[int, ...]] = field(default_factory=list)
