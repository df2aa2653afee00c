"""Traversal: the first message wins (breadth-first search and similar programs).

Direction-optimizing breadth-first search (S. Beamer et al., SC'12) with top-down and bottom-up supersteps, as one
compiled loop on either backend. On the CPU the frontier is a sliding queue (GAP Benchmark Suite), distributed by work
stealing; on the GPU it is a double-buffered queue that one persistent kernel reads and fills (XBFS, A. Gaihre et al.,
HPDC'19; Enterprise, H. Liu, H. H. Huang, SC'15).

From many sources, an arc is read once for all of them (H. Liu, H. H. Huang, Y. Hu, "iBFS: concurrent breadth-first
search on GPUs", SIGMOD'16; M. Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB'14).
The state of a vertex is one bit per source, in words. The frontier is joint: it contains a vertex once, whatever the
number of sources. Properties are arrays of shape (n, k) in Fortran order, as users see them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.formats import CSR
    from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
    from hpgraph.kernels.runtime.program import Beginning, ProgramCode
    from hpgraph.kernels.runtime.search import Search


class Traversal(Protocol):
    """Interface of a backend."""

    def traverse(self, search: Search) -> Callable[[], np.ndarray]:
        """Run a program whose first message wins; a callable for the trace: direction, vertices, arcs, nanoseconds."""


class JointOutcome(NamedTuple):
    """How a joint traversal ended."""

    # Fetches the trace, int64 of shape (supersteps, 5): direction, vertices in the joint frontier, arcs, nanoseconds,
    # and settled pairs of a vertex and a source.
    rows: Callable[[], np.ndarray]
    unfinished: bool  # whether the limit to the supersteps was reached with active vertices left


class SourceTotals(NamedTuple):
    """Totals of breadth-first searches, one value per source; int64 and float64 NumPy arrays of length k."""

    reached: np.ndarray  # vertices reached, including the start
    total: np.ndarray  # sum of their levels
    inverse: np.ndarray  # sum of 1 / level, without the start; in the order of levels: reproducible bit for bit
    farthest: np.ndarray  # the largest level


class Totals(NamedTuple):
    """Searches that keep totals only, running or finished.

    Both wait for these searches, but not for work launched after them. The last column of ``rows``, otherwise as in
    `JointOutcome`, is the histogram of levels, from level 1.
    """

    of_sources: Callable[[], SourceTotals]
    rows: Callable[[], np.ndarray]


class JointTraversal(Protocol):
    """Multi-source traversal, best of `MAX_SOURCES` at once, or of `MAX_SURVEYED` that keep totals."""

    MAX_SOURCES: int
    MAX_SURVEYED: int
    # Supersteps up to which searches launch a kernel that compiles sooner; 0 if there is no such kernel.
    SHORT: int

    def work_space(self, n: int, sources: int, ids: np.dtype) -> int:
        """Bytes of work space for a number of sources in a graph of n vertices, without the properties."""

    def traverse_sources(self, search: Search) -> JointOutcome:
        """As `traverse`, from every source."""

    def survey_sources(self, search: Search) -> Totals:
        """Breadth-first search from every source that keeps totals only: the only n x k arrays are bitmaps."""

    @property
    def parents_of_levels(self) -> Callable[[CSR, Any, Any, bool], Any] | None:
        """First parents in rows by target, by levels (k, n) and k sources; None where searches keep parents as fast.

        The last argument: whether each arc has its reverse.
        """

    @property
    def begin_parents(self) -> Callable[[CSR, int, Any, bool], None] | None:
        """Begins to compile `parents_of_levels`: rows, number of searches, dtype of levels, and its last argument."""

    @property
    def kernel_of_searches(self) -> Callable[[ProgramCode, CSR, int, int], Any] | None:
        """Begins to compile searches, by arcs by sender, number and limit to supersteps; None where that is no wait."""


class SourcesTogether(Protocol):
    """The same on several devices, each with the whole graph."""

    def may_share(self, code: ProgramCode, beginnings: tuple[Beginning | None, ...], sources: int) -> bool:
        """Whether rows of such searches can be divided among devices: all messages of a superstep must be equal."""

    def traverse_sources_together(self, search: Search, parts: Parts) -> JointOutcome:
        """As `JointTraversal.traverse_sources`; each of `parts` has all rows, in place of the search's."""
