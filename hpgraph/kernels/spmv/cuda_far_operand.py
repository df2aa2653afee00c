"""Whole products by blocks of columns with a vector on another GPU, hottest columns first.

Copying the whole vector takes as long as a good part of the product. But blocks of columns in order of heat begin with
those that most entries read: few values, which are gathered one by one. While a product processes them, the whole
vector is copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpgraph.core.devices import begin_copy, device_index, follow, place_of
from hpgraph.formats import occurrences
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.spmv.cuda_column_blocks_layout import STRETCH, Blocked, shares
from hpgraph.kernels.spmv.layout_cost import RATES, entries_seconds

# As in far_operand.cuh.
SOURCE, THREADS, MAX_RANGES = "far_operand.cuh", 256, 16
# Integer types of the size of a vector's elements, which are only moved.
WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}


class Stage(NamedTuple):
    """Some of the blocks of columns, and the thread blocks that multiply them.

    Attributes
    ----------
    arguments : numpy void
        ``struct Blocks`` of column_blocks.cuh.
    takers : int
        Thread blocks.
    share : CuPy array
        The first stretch of each, kept alive for `arguments`.
    """

    arguments: Any
    takers: int
    share: Any


class Stages(NamedTuple):
    """A product in two stages.

    Attributes
    ----------
    hot : uint32 CuPy array
        Columns of the first stage, in the order of the blocks.
    first, rest : Stage or None
        The first reads a vector of the hot columns alone, the second the whole one.
    """

    hot: Any
    first: Stage | None
    rest: Stage | None


def stages_of(layout: Blocked, size: int) -> Stages:
    """The two stages of a product, divided so that the delay is least.

    Waits for the device.

    ``layout``: with columns in an order of their own; ``size``: bytes of an element of the vector.
    """
    per_block, columns = layout.per_block, len(layout.order)
    n_blocks = -(-columns // per_block)
    stretches = np.concatenate(([0], np.cumsum(occurrences(layout.block, n_blocks).get())))
    hot_blocks = fewest_delays(stretches, per_block, columns * size, layout.weights)
    hot, middle, end = layout.order[: hot_blocks * per_block], int(stretches[hot_blocks]), int(stretches[-1])
    return Stages(hot, _stage(layout, 0, middle, None, len(hot)), _stage(layout, middle, end, layout.order, columns))


def fewest_delays(stretches: np.ndarray, per_block: int, size: int, weights: Any) -> int:
    """Number of the hottest blocks in the first stage.

    ``stretches`` (integer array of shape (blocks + 1,)): exclusive sum of the blocks' stretches; ``size``: bytes of the
    vector.
    """
    rates = RATES["cuda"]
    weight = 0 if weights is None else weights.dtype.itemsize
    # Gathering shares the link with the copy.
    fetching = np.arange(len(stretches)) * per_block * rates.far
    works = entries_seconds(stretches * STRETCH, weight, rates)
    return int(np.argmin(fetching + np.maximum(0.0, size / rates.link - works)))


def _stage(layout: Blocked, begin: int, end: int, order: Any, columns: int) -> Stage | None:
    if begin == end:
        return None
    share = shares(layout.first[begin : end + 1], layout.block[begin:end], multiprocessors()) + np.uint32(begin)
    arguments = struct(
        layout.arcs, layout.first, layout.block, order, share, np.int64(len(layout.block)), np.int64(columns),
        np.int64(layout.per_block),
    )  # fmt: skip
    return Stage(arguments, len(share) - 1, share)


def is_far(vector: Any, layout: Blocked) -> bool:
    """Whether a vector lies on another GPU than the matrix, and would be read there in random order."""
    return layout.order is not None and device_index(vector) != device_index(layout.arcs)


class Coming(Protocol):
    """The properties that a product reads, being copied from another GPU, those of hot columns first."""

    stages: Stages

    def hot(self) -> tuple[Any, ...]:
        """Properties of the first stage, available in stream order; called before `whole`, for each product."""

    def whole(self) -> tuple[Any, ...]:
        """Properties of the second stage; the current stream waits for them."""


class ComingVector:
    """A vector being copied from another GPU: a `Coming` for one product."""

    def __init__(self, vector: Any, stages: Stages) -> None:
        import cupy

        self.stages, self._vector = stages, vector
        self._whole = cupy.empty(vector.shape, vector.dtype)

    def hot(self) -> tuple[Any, ...]:
        """See `Coming`."""
        import cupy

        hot = cupy.empty(len(self.stages.hot), self._vector.dtype)
        follow(place_of(hot), place_of(self._vector))
        take([self._vector], [len(self._vector)], self.stages.hot, hot)
        # After the gather: the copy would saturate the link.
        self._come = begin_copy(self._vector, self._whole)
        return (hot,)

    def whole(self) -> tuple[Any, ...]:
        """See `Coming`."""
        import cupy

        cupy.cuda.get_current_stream().wait_event(self._come)
        return (self._whole,)


def take(vectors: Sequence[Any], ends: Sequence[int], which: Any, taken: Any) -> None:
    """Gather elements of a vector that is distributed over several GPUs by ranges.

    ``vectors``: each of the length of the whole, with its own range filled in; at most 16.
    """
    if len(which):
        name = f"hpgraph::take_far<{WORDS[taken.dtype.itemsize]}>"
        kernel = load(SOURCE, names=(name,), title="vectors on other GPUs").function(name)
        lacking = MAX_RANGES - len(vectors)
        ranges = struct(*vectors, *[None] * lacking, *ends, *[ends[-1]] * lacking)
        kernel((-(-len(which) // THREADS),), (THREADS,), (ranges, which, np.int64(len(which)), taken))
