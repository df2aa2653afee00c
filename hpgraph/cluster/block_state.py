"""The state of a block between two supersteps, and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Columns of the table of supersteps.
COLUMNS = 7


@dataclass
class BlockResult:
    """The result of a run for the vertices that a block owns.

    Attributes
    ----------
    properties : dict
        Their values.
    active : uint32 array
        Vertices that are still active, counted from the first of the range.
    world : dict
        Parameters and last sums; the same for all blocks.
    supersteps : int
        Number of supersteps, including those before the checkpoint that was resumed.
    rows : int64 array of shape (supersteps, COLUMNS)
        Direction, active vertices, arcs looked at, nanoseconds; bytes, and messages to vertices, that this block sent;
        how often the bound was raised.
    begun : int
        Bytes sent before the first superstep.
    """

    properties: dict[str, np.ndarray]
    active: np.ndarray
    world: dict[str, Any]
    supersteps: int
    rows: np.ndarray
    begun: int


@dataclass
class BlockState:
    """The state of a block between two supersteps: the content of a checkpoint."""

    step: int
    active: np.ndarray | None
    world: dict[str, Any]
    counts: np.ndarray
    rows: list[tuple[int, ...]] = field(default_factory=list)
