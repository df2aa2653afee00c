"""Where the arcs of a run lie: what the loops of the engine ask of a placement, whatever it is.

`arcs_of` makes the `Arcs` of one run from a graph. The general loop (`hpgraph.engine.superstep`) is the same for all:

    push, visited = arcs.direction(shares, policy, may_push)
    for share in shares:                                        # on their devices, concurrently (`each`)
        for part, frontier in arcs.parts(share, push):
            (share.steps.push if push else share.steps.pull)(part, frontier)
    arcs.exchange_messages(shares, push)                        # to the vertices' own shares
    ends = [share.steps.apply(...) for share in shares]
    arcs.exchange_values(shares, ends)                          # what senders are asked for; the next frontiers

A placement knows no program. What it cannot serve is in `hpgraph.core.placements`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpgraph.formats import Bitmask, Frontier


@dataclass(slots=True, eq=False)
class Share:
    """One device's share of a run.

    ``device``: a `Devices` of one, None for the current one; ``first, last``: its own vertices, which it updates;
    ``state``: its copy of all properties; ``steps``: the work space of its supersteps
    (`hpgraph.kernels.superstep.WorkSpace`); ``frontier``: all active vertices, those of other shares too; ``own``: its
    own vertices as bits, None where it has all; ``arcs``: what the placement has for it.
    """

    device: Any
    first: int
    last: int
    state: tuple[Any, ...]
    steps: Any
    frontier: Frontier
    own: Bitmask | None = None
    arcs: Any = None


class End(NamedTuple):
    """What a share's update came to.

    ``changed``: its vertices that are active next; ``updated``: ids of those whose values may differ, None for all;
    ``sums``: of `aggregate`.
    """

    changed: Frontier
    updated: Any
    sums: np.ndarray


class Arcs(Protocol):
    """The arcs of one run's messages.

    ``in_one_part``: one share, which has all arcs in memory as one part: the loops that are one kernel need that;
    ``in_shards``: several shares in memory, for which such loops exist too.
    ``joins``: whether messages of one superstep come from several parts, so that the work space joins them.
    """

    in_one_part: bool
    in_shards: bool
    joins: bool

    @property
    def sending(self) -> Any:
        """Arcs by sending vertex, or what is resident of them: `indptr`, `nnz`, `dtype`."""

    def shares(
        self, state: tuple[Any, ...], frontier: Frontier, settled: Bitmask | None, work_space: Callable[..., Any]
    ) -> list[Share]:
        """The shares of a run, at its beginning.

        ``work_space(state, settled)`` makes what does the supersteps on the current device.
        """

    def active(self, shares: Sequence[Share]) -> int:
        """Number of active vertices, wherever they are."""

    def direction(self, shares: Sequence[Share], policy: Any, may_push: bool) -> tuple[bool, int]:
        """Whether the next superstep pushes, and how many arcs it visits."""

    def each(self, shares: Sequence[Share], work: Callable[[Share], Any]) -> list[Any]:
        """What `work` returns for each share, called on its device."""

    def parts(self, share: Share, push: bool) -> Iterator[tuple[Any, Frontier]]:
        """The arcs that a superstep of a share reads, and the active vertices that send along them.

        Each is a `hpgraph.kernels.superstep.Part`, resident until the next one.
        """

    def exchange_messages(self, shares: Sequence[Share], push: bool) -> None:
        """Bring messages to the shares that own their targets."""

    def exchange_values(self, shares: Sequence[Share], ends: Sequence[End], everyone: bool) -> np.ndarray:
        """Bring changed values to the shares that read them, and set the next frontiers; the sums over all shares."""

    def finish(self, shares: Sequence[Share], run: Any) -> Any:
        """Bring the properties home to ``run.state``; the vertices still active by the graph's ids, or None."""

    def table(self) -> np.ndarray | None:
        """Of streamed arcs, for each superstep: pages, bytes wanted, bytes moved, nanoseconds predicted."""
