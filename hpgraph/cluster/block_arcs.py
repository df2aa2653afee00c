"""A block as a placement of the engine's loop (`hpgraph.placement`): its messages and values travel to other blocks.

In a superstep kernels send messages along the block's arcs; *fold* takes them to the blocks that own their targets,
which update; *spread* takes changed values to the blocks that have these vertices as sources. All blocks choose the
same direction and stop in the same superstep, because they decide by the same sums.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hpgraph.cluster.blocks import Block
from hpgraph.cluster.compiling import compiling_once
from hpgraph.cluster.exchange import NO_VERTEX, Content, Exchange, some_of
from hpgraph.cluster.job import BlockState, Job
from hpgraph.cluster.memory import Memory
from hpgraph.engine.declarations import Declarations
from hpgraph.engine.direction import Direction
from hpgraph.engine.state import Run
from hpgraph.formats import CSR, Bitmask, Frontier
from hpgraph.kernels.runtime.direction import product_pushes
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement import End, Share, reading_of
from hpgraph.placement.in_memory import InMemory

# Counts over all blocks: active vertices, their out-arcs, whether to save, arcs relaxed within blocks.
ACTIVE, LEAVING, SAVE, INNER = 0, 1, 2, 3
COUNTS = 4


class BlockArcs(InMemory):
    """The arcs of one block: one share, with local vertex numbers."""

    in_one_part = False
    #: The run, which starts once it has its arcs.
    run: Run

    def __init__(
        self, job: Job, block: Block, declared: Declarations, code: ProgramCode, exchange: Exchange, memory: Memory,
        degree: np.ndarray,
    ) -> None:  # fmt: skip
        # For messages against the arcs, the block is transposed.
        edges = "out" if job.backwards else "in"
        super().__init__(block.resident, edges, declared.weighted, code)
        self.job, self.block, self.exchange, self.memory = job, block, exchange, memory
        self.numbering = number = block.numbering
        self.own, self.n_own = number.own, number.own.stop - number.own.start
        self.own_words = number.words(number.block)
        self.reading = reading_of(code)
        # `sends` may keep a changed vertex inactive, and a change to NaN counts as none.
        floats = any(job.dtypes[i].kind == "f" for i in self.reading.of_target)
        self.changes_in_silence = bool(self.reading.of_target) and (floats or code.sends is not None)
        #: Out-degree of each own vertex in the whole graph.
        self.degree, self.arcs_leaving = degree, int(degree.sum())
        #: Whether the next superstep ends with a checkpoint: one block decides for all.
        self.is_due: Callable[[], bool] = bool
        self.settled: Bitmask | None = None
        self.step, self.counts = 0, np.zeros(COUNTS, np.int64)
        #: Active own vertices, counted from the first of the range; None for all.
        self.active_ids: np.ndarray | None = None
        #: For each superstep: bytes sent, messages to vertices sent, the number of times the bound was raised, and arcs
        #: relaxed within blocks.
        self.notes: list[tuple[int, ...]] = []
        self.messages, self.raises, self._sent = 0, 0, 0

    def begin(self, state: BlockState) -> Frontier:
        """Send the active vertices, and the values of own vertices that other blocks read; returns the frontier."""
        self.step, self.active_ids, self.counts = state.step, state.active, state.counts
        for publish, read in ((self.exchange.spread, self.reading.of_source),
                              (self.exchange.control, self.reading.of_target)):  # fmt: skip
            read = tuple(i for i in read if state.step > 0 or self._differs(i))
            if read:
                self._publish(publish, self._content(None, read), read)
        if self.run.all_active:
            return self._frontier(None, {})
        content = self._content(state.active, ())
        return self._frontier(content.vertices, self.exchange.spread(self.step, content))

    def _differs(self, i: int) -> bool:
        """Whether a property's initial values may differ from its fill value in other blocks."""
        beginning = self.job.beginnings[i]
        made = self.run.code.properties[i][0] in self.job.of_degrees
        return made or beginning is None or beginning[1] is not None

    def shares(
        self, state: tuple[Any, ...], frontier: Frontier, settled: Bitmask | None, work_space: Callable[..., Any]
    ) -> list[Share]:
        """One share. Initially only own vertices are settled; others are once a message was sent to them."""
        if settled is not None:
            self.settled = Bitmask.zeros(self.numbering.size, self.memory.device)
            self.settled.words[self.own_words] = self.memory.put(settled.words)
        steps = BlockSteps(self, work_space(state, self.settled))
        return [Share(None, self.own.start, self.own.stop, state, steps, frontier)]

    def active(self, shares: Sequence[Share]) -> int:
        """Number of active vertices of all blocks."""
        return int(self.counts[ACTIVE])

    def direction(self, shares: Sequence[Share], policy: Direction, may_push: bool) -> tuple[bool, int]:
        """Whether the next superstep pushes, and the number of arcs that all blocks visit."""
        self.step += 1
        self._sent = self.exchange.mesh.sent
        leaving, arcs = int(self.counts[LEAVING]), self.job.arcs
        sparse = policy.mode == "auto" and product_pushes(leaving, arcs, policy.alpha)
        push = may_push and (policy.mode == "push" or sparse)
        return push, leaving if push else arcs

    def exchange_messages(self, shares: Sequence[Share], push: bool) -> None:
        """Exchange messages with the owners of their targets."""
        self.fold(self.step, shares[0].steps.steps)

    def fold(self, step: int, steps: Any) -> None:
        """`exchange_messages` of a superstep."""
        number, own, put, get = self.numbering, self.own, self.memory.put, self.memory.get
        all_active, self.messages = self.run.all_active, 0
        outgoing = {}
        for peer in self.exchange.beside_targets:
            if all_active:
                outgoing[peer] = Content(None, [get(steps.messages_of(number.range(peer)))])
            else:
                ids, messages = map(get, steps.take(number.range(peer), number.words(peer)))
                size = number.grid.size(peer)
                outgoing[peer] = Content(None if len(ids) == size else some_of(ids, size), [messages])
            self.messages += len(outgoing[peer].values[0])
        for content in self.exchange.fold(step, outgoing, self.run.code.message).values():
            with compiling_once(self.job.key, f"bring{all_active}"):
                if all_active:
                    steps.join_all(own, put(content.values[0]))
                else:
                    ids = np.arange(self.n_own, dtype=np.uint32) if content.ids is None else content.ids
                    steps.join_listed(own, put(ids), put(content.values[0]))

    def exchange_values(self, shares: Sequence[Share], ends: Sequence[End], all_active: bool) -> np.ndarray:
        """Send active vertices and changed values to other blocks; sums over all blocks."""
        (share,), (end,) = shares, ends
        active = None if all_active else (self.memory.get(end.changed.ids) - self.own.start).astype(np.uint32)
        counts = self.counted(active)
        if all_active and not end.changed.size:
            counts[ACTIVE] = 0
        share.frontier, sums = self.publish(active, share.steps.updated, counts, end.sums)
        self.note()
        return sums

    def note(self) -> None:
        """Record the cost of the superstep."""
        sent = self.exchange.mesh.sent - self._sent
        self.notes.append((sent, self.messages, self.raises, int(self.counts[INNER])))

    def rows(self, tables: list[np.ndarray]) -> np.ndarray:
        """The table of supersteps: the loop's rows with the notes; see `BlockResult`."""
        notes = np.array(self.notes, np.int64).reshape(-1, 4)
        rows = np.hstack([np.concatenate(tables), notes[:, :3]])
        rows[:, 2] += notes[:, 3]
        return rows

    def counted(self, active: np.ndarray | None) -> np.ndarray:
        """The counts of one block."""
        size = self.n_own if active is None else len(active)
        leaving = self.arcs_leaving if active is None else self.degree[active].sum()
        return np.array([size, leaving, self.is_due(), 0], np.int64)

    def publish(
        self, active: np.ndarray | None, updated: np.ndarray | None, counts: np.ndarray, sums: np.ndarray
    ) -> tuple[Frontier, np.ndarray]:
        """Send active vertices and changed properties; returns this block's frontier of sources and the global sums."""
        source, target, exchange = self.reading.of_source, self.reading.of_target, self.exchange
        content = self._content(active, source, [counts, sums])
        received = self._publish(exchange.spread, content, source)
        totals = exchange.added((counts, sums), received)
        beside = Content(some_of(NO_VERTEX, self.n_own), [], totals)
        if target:
            beside = self._content(active if updated is None else updated, target, totals)
        self.counts, sums = exchange.added(totals, self._publish(exchange.control, beside, target))
        self.active_ids = active
        return self._frontier(content.vertices, received), sums

    def _content(self, ids: np.ndarray | None, read: tuple[int, ...], beside: Sequence[np.ndarray] = ()) -> Content:
        if ids is not None and len(ids) == self.n_own:
            ids = None
        values = [self.memory.own(i, ids) for i in read]
        return Content(None if ids is None else some_of(ids, self.n_own), values, beside)

    def _publish(self, publish: Callable[..., dict[int, Content]], content: Content, read: tuple[int, ...]) -> Any:
        """Exchange values of properties with other blocks."""
        received = publish(self.step, content, [self.memory.place(i) for i in read])
        self.memory.written(received, read)
        return received

    def _frontier(self, own: Frontier | None, received: dict[int, Content]) -> Frontier:
        """The active vertices among this block's sources, in local numbers."""
        number = self.numbering
        if self.run.all_active:
            return Frontier(number.size, device=self.memory.device)
        parts = {number.block: own, **{peer: content.vertices for peer, content in received.items()}}
        frontiers = {member: part or Frontier(number.grid.size(member)) for member, part in parts.items()}
        size = sum(part.size for part in frontiers.values())
        if self.run.policy.mode != "push" and 32 * size > number.size:
            # A large frontier is used by pulls, as bits; each range has its own words.
            bits = Bitmask.zeros(number.size)
            for member, part in frontiers.items():
                bits.words[number.words(member)] = part.bits.words
            return self.memory.frontier(Frontier(number.size, bits=bits, size=size))
        lists = [
            (frontiers[member].ids + first).astype(number.dtype, copy=False)
            for member, first in number.first.items() if member in frontiers
        ]  # fmt: skip
        return self.memory.frontier(Frontier(number.size, ids=np.concatenate(lists)))

    def finish(self, shares: Sequence[Share], run: Run) -> np.ndarray | None:
        """Own vertices still active; None if no block has any."""
        if not self.counts[ACTIVE]:
            return None
        return np.arange(self.n_own, dtype=np.uint32) if self.active_ids is None else self.active_ids

    def targets(self) -> CSR:
        """Arcs by target, for the vertices that can have in-arcs in this block; cached."""
        return self.block.once(("targets", self.job.backwards, self.run.declared.weighted), self._targets)

    def _targets(self) -> CSR:
        rows, number = self.by_target, self.numbering
        if self.job.backwards:
            return rows
        # The column's vertices have the first numbers.
        last = max(number.range(peer).stop for peer in number.grid.column_of(number.block))
        return CSR((last, rows.shape[1]), rows.indptr[: last + 1], rows.indices, rows.data, validate=False)


class BlockSteps:
    """The work space of a block's supersteps; one process of a machine compiles each kernel."""

    def __init__(self, arcs: BlockArcs, steps: Any) -> None:
        self._arcs, self.steps, self._key = arcs, steps, arcs.job.key
        self.pushes_repeat, self.turn = steps.pushes_repeat, steps.turn
        #: Own vertices that were updated, if properties may have changed without activating their vertex.
        self.updated: np.ndarray | None = None

    def push(self, part: BlockArcs, frontier: Frontier) -> None:
        """Send messages along the arcs that leave the frontier."""
        with compiling_once(self._key, "push"):
            self.steps.push(part, frontier)

    def pull(self, part: BlockArcs, frontier: Frontier) -> None:
        """Combine messages from the frontier at each vertex that may receive."""
        with compiling_once(self._key, f"pull{frontier.all_active}"):
            if frontier.all_active and part.run.code.cond is None:
                self.steps.pull_all(part.targets())
            else:
                self.steps.pull(part, frontier)

    def apply(self, part: BlockArcs, world: tuple[Any, ...], step: int, all_active: bool) -> tuple[Any, np.ndarray]:
        """Update own vertices that received, or all."""
        if not all_active and part.changes_in_silence:
            received = part.memory.get(self.steps.received(part.own_words))
            self.updated = Bitmask(part.n_own, received).to_indices().astype(np.uint32)
        with compiling_once(self._key, "apply"):
            if all_active:
                is_active, sums = self.steps.update_all(part.own, world, step)
                return Frontier(part.n_own, size=part.n_own if is_active else 0), sums
            return self.steps.apply(part, world, step, False)
