"""Lanes: multi-source traversal and relaxation; one loop runs a program from many sources.

An arc is read once for all sources (H. Liu, H. H. Huang, Y. Hu, "iBFS: concurrent breadth-first search on GPUs",
SIGMOD'16; M. Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB'14). In a traversal (the
first message wins) the state of a vertex is one bit per source, in words. The frontier is joint: it contains a vertex
once, whatever the number of sources. Properties are arrays of shape (n, k) in Fortran order, as users see them. In a
relaxation the values of a vertex are contiguous, in C order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
    from hpgraph.kernels.runtime.program import Beginning, ProgramCode
    from hpgraph.kernels.runtime.search import Search, Starts


class JointOutcome(NamedTuple):
    """How a joint traversal ended.

    Attributes
    ----------
    rows : callable
        Fetches the trace rows, int64 of shape (supersteps, 5): direction, vertices in the joint frontier, arcs,
        nanoseconds, and settled pairs of a vertex and a source.
    unfinished : bool
        Whether the limit to the supersteps was reached with active vertices left.
    """

    rows: Callable[[], np.ndarray]
    unfinished: bool


class LaneTotals(NamedTuple):
    """Totals of breadth-first searches, one value per source; NumPy arrays.

    Attributes
    ----------
    reached : int64 array of length k
        Vertices reached, including the start.
    total : int64 array of length k
        Sum of their levels.
    inverse : float64 array of length k
        Sum of 1 / level, without the start; summed by level in order, so that it is reproducible bit for bit.
    farthest : int64 array of length k
        The largest level.
    """

    reached: np.ndarray
    total: np.ndarray
    inverse: np.ndarray
    farthest: np.ndarray


class Totals(NamedTuple):
    """Searches that keep totals only, running or finished.

    Attributes
    ----------
    lanes : callable
        Gives the `LaneTotals`; waits for these searches, but not for work launched after them.
    rows : callable
        As in `JointOutcome`; waits in the same way. The last column is the histogram of levels, from level 1.
    """

    lanes: Callable[[], LaneTotals]
    rows: Callable[[], np.ndarray]


class JointTraversal(Protocol):
    """Multi-source traversal: programs whose first message wins.

    Attributes
    ----------
    MAX_LANES, MAX_SURVEYED : int
        Best number of sources for one call of `traverse_lanes`, and of `survey_lanes`.
    """

    MAX_LANES: int
    MAX_SURVEYED: int

    def work_space(self, n: int, lanes: int, ids: np.dtype) -> int:
        """Bytes of work space for so many sources in a graph of n vertices, without the properties."""

    def traverse_lanes(self, search: Search) -> JointOutcome:
        """As `traverse`, from every source."""

    def survey_lanes(self, search: Search) -> Totals:
        """Breadth-first search from every source that keeps totals only: the only n x k arrays are bitmaps."""


class LanesTogether(Protocol):
    """The same on several devices, each with the whole graph."""

    def may_share(self, code: ProgramCode, beginnings: tuple[Beginning | None, ...], lanes: int) -> bool:
        """Whether rows of such searches can be divided among devices: all messages of a superstep must be equal."""

    def traverse_lanes_together(self, search: Search, parts: Parts) -> JointOutcome:
        """As `JointTraversal.traverse_lanes`; each of `parts` has all rows, in place of the search's."""


class JointRelaxation(Protocol):
    """Multi-source relaxation: programs that improve one property by an idempotent monoid.

    Attributes
    ----------
    MAX_RELAXED : int
        Best number of sources for one call of `relax_lanes`.
    """

    MAX_RELAXED: int

    def work_space(self, n: int, lanes: int, ids: np.dtype, dtype: np.dtype) -> int:
        """Bytes of work space for so many sources, without the property, which is of type `dtype`."""

    def relax_lanes(self, search: Search) -> tuple[Callable[[], np.ndarray], Starts | None]:
        """As `relax`, from every source. Returns the trace, and the pairs still active at the limit, if any."""
