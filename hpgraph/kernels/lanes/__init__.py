"""Lanes: many starts of one program on one graph, in one loop.

An arc is read once for all lanes that want it (H. Liu, H. H. Huang, Y. Hu, "iBFS: concurrent breadth-first search on
GPUs", SIGMOD'16; M. Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB'14). Where the
first message wins, the state of a vertex is one bit a lane, side by side in words. The frontier is joint: a vertex
stands in it once, whatever the number of lanes that want it. Its properties lie lane after lane, as users see them:
arrays of shape (n, k) in Fortran order. Elsewhere the values of a vertex lie side by side, in C order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np

    from hpgraph.formats import CSR
    from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
    from hpgraph.kernels.runtime.program import Beginning, ProgramCode


class Starts(NamedTuple):
    """Who is active at first, as pairs of a vertex and a lane, each once.

    Attributes
    ----------
    vertices : array of vertex ids
        On the device of the properties.
    lanes : int32 array, ascending
        The lane of each.
    k : int
        Number of lanes, those without a start included.
    """

    vertices: Any
    lanes: Any
    k: int


class JointOutcome(NamedTuple):
    """How a joint traversal ended.

    Attributes
    ----------
    rows : callable
        Fetches the trace rows, int64 of shape (supersteps, 5): direction, vertices in the joint frontier, arcs,
        nanoseconds, and pairs of a vertex and a lane that were settled.
    unfinished : bool
        Whether the limit to the supersteps ended it while somebody was active.
    """

    rows: Callable[[], np.ndarray]
    unfinished: bool


class LaneTotals(NamedTuple):
    """What breadth-first searches of several lanes come to, one value a lane; NumPy arrays.

    Attributes
    ----------
    reached : int64 array of length k
        Vertices reached, those where it starts included.
    total : int64 array of length k
        Sum of their levels.
    inverse : float64 array of length k
        Sum of 1 / level, the starts left out; added up level by level in order, so that its bits repeat.
    farthest : int64 array of length k
        The largest level.
    """

    reached: np.ndarray
    total: np.ndarray
    inverse: np.ndarray
    farthest: np.ndarray


class Totals(NamedTuple):
    """Searches of which totals are kept, under way or over.

    Attributes
    ----------
    lanes : callable
        Gives the `LaneTotals`; waits for these searches, but not for what was begun after them.
    rows : callable
        As in `JointOutcome`, and waits likewise: the last column is the histogram of levels of all lanes, from level 1.
    """

    lanes: Callable[[], LaneTotals]
    rows: Callable[[], np.ndarray]


class JointTraversal(Protocol):
    """Programs whose first message wins, in lanes.

    Attributes
    ----------
    MAX_LANES, MAX_SURVEYED : int
        Lanes that `traverse_lanes`, and `survey_lanes`, take at a time at the best.
    """

    MAX_LANES: int
    MAX_SURVEYED: int

    def work_space(self, n: int, lanes: int, ids: np.dtype) -> int:
        """Bytes that searches of so many lanes of n vertices take beside their properties, graphs of such ids."""

    def traverse_lanes(
        self,
        code: ProgramCode,
        out: CSR,
        in_: CSR,
        state: tuple[Any, ...],
        beginnings: tuple[Beginning | None, ...],
        world: tuple[Any, ...],
        starts: Starts,
        *,
        alpha: float,
        beta: float,
        forced: int,
        limit: int,
    ) -> JointOutcome:
        """What `traverse` does, for every lane; properties are arrays of shape (n, k) in Fortran order."""

    def survey_lanes(
        self, out: CSR, in_: CSR, starts: Starts, *, alpha: float, beta: float, forced: int, limit: int
    ) -> Totals:
        """Breadth-first search in every lane, of which only totals are kept: nothing of size n x k but bits."""


class LanesTogether(Protocol):
    """The same on several devices, each of which has the whole graph."""

    def may_share(self, code: ProgramCode, beginnings: tuple[Beginning | None, ...], lanes: int) -> bool:
        """Whether so many searches of a program can be shared by rows, as all messages of a superstep are alike."""

    def traverse_lanes_together(
        self,
        code: ProgramCode,
        parts: Parts,
        state: tuple[Any, ...],
        beginnings: tuple[Beginning | None, ...],
        world: tuple[Any, ...],
        starts: Starts,
        *,
        alpha: float,
        beta: float,
        forced: int,
        limit: int,
    ) -> JointOutcome:
        """What `JointTraversal.traverse_lanes` does; each of `parts` has all rows."""


class JointRelaxation(Protocol):
    """Programs that improve one property by an idempotent monoid, in lanes.

    Attributes
    ----------
    MAX_RELAXED : int
        Lanes that `relax_lanes` takes at a time at the best.
    """

    MAX_RELAXED: int

    def work_space(self, n: int, lanes: int, ids: np.dtype, dtype: np.dtype) -> int:
        """Bytes that so many lanes of n vertices take beside their property, which is of type `dtype`."""

    def relax_lanes(
        self,
        code: ProgramCode,
        out: CSR,
        state: tuple[Any, ...],
        beginnings: tuple[Beginning | None, ...],
        world: tuple[Any, ...],
        starts: Starts,
        *,
        delta: float | None,
        ceiling: float | None,
        limit: int,
    ) -> tuple[Callable[[], np.ndarray], Starts | None]:
        """What `relax` does, for every lane; who would have gone on, where a limit ended it.

        The property is an array of shape (n, k) in Fortran order.
        """
