"""The arcs of a graph in pages on several devices: each device fetches the pages of its own vertices.

All devices push, or all pull: by what the slowest would take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.core.each_device import on_each
from hpgraph.core.placements import not_served
from hpgraph.engine.paged_arcs import PagedArcs
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.direction import product_pushes

if TYPE_CHECKING:
    from hpgraph.containers.divided_streamed_graph import DividedStreamedGraph, PageShard
    from hpgraph.engine.direction import Direction
    from hpgraph.kernels.out_of_core import Resident, Survey


class ShardPages(PagedArcs):
    """The pages of one shard's vertices."""

    def __init__(self, shard: PageShard, edges: str, weighted: bool, repeats: bool) -> None:
        super().__init__(shard.graph, edges, weighted, repeats)
        self.shard = shard
        own = array_module(shard.device.kind).zeros(shard.graph.n_vertices, np.bool_)
        own[shard.first : shard.last] = True
        self.own = Bitmask.from_bool(own)

    def sent(self, frontier: Frontier) -> list[Survey] | None:
        """The pages that a push of its own vertices loads; None without pages by source."""
        if not all(side.has_sender for side in self._sides):
            return None
        bits = self.own if frontier.everyone else frontier.bits & self.own
        mine = Frontier(frontier.n, bits=bits)
        return [side.sender.survey(mine, spread=True) for side in self._sides]

    def gathered(self, steps: Any) -> list[Survey] | None:
        """The pages that a pull of its own vertices loads; None without pages by target."""
        if not all(side.has_target for side in self._sides):
            return None
        if not steps.takes_one:
            return [side.target.survey(None) for side in self._sides]
        waiting = steps.waiting()
        return [side.target.survey(waiting & self.own, spread=True) for side in self._sides]

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return sum(side.arcs for side in self._sides)


class DividedPages:
    """`hpgraph.engine.divided_arcs.DividedArcs` of a graph in pages; the parameters are those of `PagedArcs`."""

    in_one_part, in_windows, in_shards = False, True, True

    def __init__(self, graph: DividedStreamedGraph, edges: str, weighted: bool, repeats: bool) -> None:
        self.graph, self._ranges = graph, []
        for shard in graph.shards:
            with shard.device.here:
                self._ranges.append(ShardPages(shard, edges, weighted, repeats))

    @property
    def sending(self) -> Resident:
        """What is resident of the first shard's arcs: offsets, types."""
        return self._ranges[0].sending

    def parts(self) -> list[ShardPages]:
        """The pages of each shard."""
        return self._ranges

    def direction(
        self, frontiers: list[Frontier], policy: Direction, may_push: bool, shards: list[Any]
    ) -> tuple[bool, int]:
        """Whether all push, and how many arcs are visited; see `PagedArcs.direction`."""
        sent: list[Any] = [None] * len(shards)
        if may_push and policy.mode != "pull":
            sent = self.each(lambda number: self._ranges[number].sent(frontiers[number]))
        can_push = sent[0] is not None
        takes_one = shards[0].steps.takes_one
        leaving, there = sum(one.arcs for of in sent if of for one in of), sum(part.arcs for part in self._ranges)
        push = can_push and (policy.mode == "push" or (not takes_one and product_pushes(leaving, there, policy.alpha)))
        if not push:
            found = self.each(lambda number: self._ranges[number].gathered(shards[number].steps))
            if found[0] is None:
                if not can_push:
                    raise not_served("in pages", "this gathers along arcs", where="has pages by source alone")
                push = True
            else:
                slowest = [max(sum(one.seconds for one in of) for of in way) for way in (found, *([sent] * can_push))]
                push = can_push and (
                    slowest[1] < slowest[0] / (1 if takes_one else 2)
                    or (takes_one and not slowest[0] and leaving < sum(one.arcs for of in found for one in of))
                )
        chosen = sent if push else found
        return push, sum(part._chosen(push, wanted)[1] for part, wanted in zip(self._ranges, chosen, strict=True))

    def each(self, work: Any) -> list[Any]:
        """What work gives for each shard, on its device, at the same time: all fetch pages at once."""
        return on_each([part.shard.device for part in self._ranges], work)

    def table(self) -> np.ndarray:
        """As that of `PagedArcs`: of all shards, but the longest of the predicted times."""
        tables = np.stack([part.table() for part in self._ranges])
        made: np.ndarray = tables.sum(axis=0)
        made[:, 3] = tables[:, :, 3].max(axis=0)
        return made
