"""One superstep of the general loop: messages along arcs, then APPLY (HPGraph, 2018, Figure 4).

The seam is Ligra's (J. Shun, G. Blelloch, PPoPP'13): `push` and `pull` are its edgeMap over one part of the arcs,
`apply` is its vertexMap. A backend keeps the messages between the two, and the work space of a run, in its class
`Supersteps`.
"""

from typing import Any, Protocol

import numpy as np

from hpgraph.formats import CSR, Bitmask, Frontier, RowFormat
from hpgraph.kernels.runtime.program import ProgramCode


class Part(Protocol):
    """Arcs resident on the device that works on them."""

    @property
    def sending(self) -> CSR:
        """Arcs by the vertex that sends."""

    @property
    def gathering(self) -> RowFormat:
        """The same arcs by the vertex that gathers, in the format that whole products are quickest in."""


class WorkSpace(Protocol):
    """Interface of the backends' `Supersteps`; one object per run."""

    pushes_repeat: bool
    state: tuple[Any, ...]

    def turn(self, world: tuple[Any, ...], step: int) -> None:
        """Set the world that the next `push` or `pull` reads; for programs with cells (`ProgramCode`)."""

    def run_small(
        self, part: Part, frontier: Frontier, world: tuple[Any, ...], done: int, limit: int
    ) -> tuple[np.ndarray, int, Frontier] | None:
        """Supersteps in one kernel: trace, number of supersteps, active vertices; None if the frontier is not small."""

    def push(self, part: Any, frontier: Frontier) -> None:
        """Send messages along the arcs that leave the frontier (top-down)."""

    def pull(self, part: Any, frontier: Frontier) -> None:
        """Combine messages from the frontier at each vertex that may receive (bottom-up)."""

    def addressed(self) -> Bitmask:
        """The vertices that `apply` would update now."""

    def address(self, frontier: Frontier) -> None:
        """Have `apply` update a frontier, as if it had received: for steps without arcs."""

    @property
    def takes_one(self) -> bool:
        """Whether the first message suffices."""

    @property
    def messages(self) -> Any:
        """The joined messages of each vertex so far; where parts are joined, the identity if there are none."""

    def waiting(self) -> Bitmask | None:
        """The vertices that may still receive in this superstep; None, for all, unless the first message suffices."""

    def take(self, vertices: slice, words: slice) -> tuple[Any, Any]:
        """Take the messages of a range of vertices, in these words of a bitmap, out of the inbox.

        Their ids (uint32), relative to the range and ascending, and the messages. If each vertex receives only once,
        these are settled.
        """

    def join_listed(self, vertices: slice, ids: Any, messages: Any) -> None:
        """Join messages to those of the vertices `ids`, distinct and relative to a range; settled ones ignore them."""

    def keep(self, own: Bitmask) -> None:
        """Discard the messages of other vertices than these."""

    def apply(self, part: Part, world: tuple[Any, ...], step: int, all_active: bool) -> tuple[Frontier, np.ndarray]:
        """Update the vertices that received, or all; return those that changed, and the sums."""


class General(Protocol):
    """Interface of a backend."""

    def Supersteps(
        self, code: ProgramCode, state: tuple[Any, ...], settled: Bitmask | None, ids: np.dtype, *,
        joins: bool = False, all_active: bool = False,
    ) -> WorkSpace:  # fmt: skip
        """The work space of one run.

        ``joins``: whether messages of several parts are joined in a superstep; ``all_active``: whether every superstep
        updates all vertices.
        """

    def starting(self, code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> Bitmask:
        """The vertices that satisfy `starts`."""

    def aggregate(self, code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> np.ndarray:
        """The sums of `aggregate` over all vertices, without an update."""


def pushes_repeat(code: ProgramCode, steps: WorkSpace) -> bool:
    """Whether a push gives the same result in every run: sums of floats depend on the order of the messages."""
    return steps.pushes_repeat or code.reduce.idempotent or code.message.kind != "f"
