"""Placements of the arcs of a run: the interface that the engine's loops use, which knows no program."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.device import device_of
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.program import ProgramCode, plain_function
from hpgraph.semiring.reads import reads


@dataclass(slots=True, eq=False)
class Share:
    """One device's share of a run.

    ``device``: a `Devices` of one, None for the current one; ``first, last``: its own vertices, which it updates;
    ``state``: its copy of all properties; ``steps``: the work space of its supersteps
    (`hpgraph.kernels.superstep.WorkSpace`); ``frontier``: all active vertices, those of other shares too; ``own``: its
    own vertices as bits, None for all; ``arcs``: the placement's data.
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
    """The result of a share's update: active vertices, ids of those whose values may differ (None: all), sums."""

    changed: Frontier
    updated: Any
    sums: np.ndarray


class Arcs:
    """The arcs of one run's messages; the base class is a placement of one share on one device, without exchange.

    ``in_one_part``: one share, with all arcs in memory as one part, as loops in one kernel need; ``in_shards``: several
    shares in memory, for which such loops exist too; ``joins``: whether messages of one superstep come from several
    parts, so that the work space joins them; ``sending``: arcs by sending vertex, or what is resident of them:
    `indptr`, `nnz`, `dtype`.
    """

    in_one_part = in_shards = joins = False
    sending: Any

    def shares(
        self, state: tuple[Any, ...], frontier: Frontier, settled: Bitmask | None, work_space: Callable[..., Any]
    ) -> list[Share]:
        """The shares of a run, at its beginning; ``work_space(state, settled)`` makes the `steps` of one."""
        return [Share(None, 0, frontier.n, state, work_space(state, settled), frontier)]

    def active(self, shares: Sequence[Share]) -> int:
        """Number of active vertices of all shares."""
        return shares[0].frontier.size

    def direction(self, shares: Sequence[Share], policy: Any, may_push: bool) -> tuple[bool, int]:
        """Whether the next superstep pushes, and how many arcs it visits."""
        return policy.of_superstep(shares[0].frontier, self.sending) if may_push else (False, self.sending.nnz)

    def each(self, shares: Sequence[Share], work: Callable[[Share], Any]) -> list[Any]:
        """The results of `work` for each share, called on its device."""
        return [work(share) for share in shares]

    def parts(self, share: Share, push: bool) -> Iterator[tuple[Any, Frontier]]:
        """The arcs that a superstep of a share reads, each resident until the next, and the frontier that sends."""
        raise NotImplementedError

    def exchange_messages(self, shares: Sequence[Share], push: bool) -> None:
        """Transfer messages to the shares that own their targets."""

    def exchange_values(self, shares: Sequence[Share], ends: Sequence[End], all_active: bool) -> np.ndarray:
        """Transfer changed values to the shares that read them, and set the next frontiers; sums over all shares."""
        (share,), (end,) = shares, ends
        share.frontier = end.changed
        if all_active and end.changed.size:
            share.frontier = Frontier(end.changed.n, device=device_of(*share.state))
        return end.sums

    @property
    def traffic(self) -> np.ndarray | None:
        """For streamed arcs, in each superstep: pages, bytes wanted, bytes moved, nanoseconds predicted."""
        return None

    def finish(self, shares: Sequence[Share], run: Any) -> Any:
        """Gather the properties in ``run.state``; the vertices still active by the graph's ids, or None."""
        frontier = shares[0].frontier
        return frontier.ids.copy() if frontier.size else None


class Reading(NamedTuple):
    """Numbers of the properties that are read of an arc's source, and of its target before the update."""

    of_source: tuple[int, ...]
    of_target: tuple[int, ...]


def reading_of(code: ProgramCode) -> Reading:
    """The properties that a program's functions read along arcs, from their bytecode: those that shares exchange."""
    names, result = [name for name, _ in code.properties], (set[str](), set[str]())
    for function, ends in ((code.gather, (0, 2)), (code.edge_cond, (0, 2)), (code.cond, (None, 0))):
        if function is not None:
            read = tuple(reads(plain_function(function)).values())
            for end, place in zip(result, ends, strict=True):
                if place is not None:
                    end.update(read[place] or (names if read[place] is None else ()))
    return Reading(*(tuple(i for i, name in enumerate(names) if name in read) for read in result))
