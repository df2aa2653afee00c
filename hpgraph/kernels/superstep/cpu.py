"""The general loop's supersteps on the CPU: `edge_map` along arcs, then `vertex_map` where messages arrived."""

from functools import lru_cache
from typing import Any, cast

import numpy as np

from hpgraph.formats import CSR, Bitmask, Frontier
from hpgraph.kernels.out_of_core import HubCache, Window
from hpgraph.kernels.runtime.cpu.progress import ACTIVE, STEP, Clock
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.spmv.cpu import plain, product_of, pull
from hpgraph.kernels.spmv.cpu_spmspv import is_sorted, ranges, sample_of, target_ranges
from hpgraph.kernels.superstep import Part, cpu_apply, cpu_frontier, cpu_pull
from hpgraph.kernels.superstep.cpu_frontier import ARCS, BLOCK, SWAPPED, Functions, Inbox, Queues, Stretch

# Largest number of frontier arcs for which one thread runs consecutive supersteps: waking the others costs some 10 µs,
# in which one thread follows some 10,000 arcs.
ONE_THREAD_ARCS = 32768
# Rows of a trace: the kernel returns after this many supersteps to have its trace collected.
ROWS = 4096


class Supersteps:
    """Work space of one run of the general loop.

    ``state`` (tuple of arrays of length n, or of shape (n, width)): the properties; changed in place; ``settled``: the
    vertices that have received, if each receives only once; changed in place; ``joins``: whether several parts make a
    superstep, whose messages are joined; ``all_active``: whether all vertices are updated in every superstep.
    """

    # Targets join messages in the order of the frontier for any number of threads: sums of floats are reproducible.
    pushes_repeat = True

    def __init__(
        self, code: ProgramCode, state: tuple[np.ndarray, ...], settled: Bitmask | None, ids: np.dtype, *,
        joins: bool = False, all_active: bool = False,
    ) -> None:  # fmt: skip
        # The world, for functions whose only argument is the state.
        self._cells = tuple(np.zeros(1, dtype) for dtype in code.cells)
        self.code, self.state = code, (*flat(state), *self._cells)
        self.n = n = len(state[0])
        self._functions = _functions(code)
        received = np.zeros((n + 63) // 64, np.uint64)
        identity = code.reduce.identity_for(code.message)
        message = np.empty(n * max(functions_of(code).width, 1), code.message)
        self._inbox = Inbox(message, received, None if settled is None else settled.words, identity)
        self._joins, self._resets = joins, joins and all_active
        if joins:
            message.fill(identity)
        self._queues = np.empty(n, ids), np.empty(n, ids)
        self._listed = np.empty(n, ids)

    def turn(self, world: tuple[Any, ...], step: int) -> None:
        """Set the world that the next `push` or `pull` reads."""
        for cell, value in zip(self._cells, (step, *world), strict=True):
            cell[0] = value

    def run_small(
        self, part: Part, frontier: Frontier, world: tuple[Any, ...], done: int, limit: int
    ) -> tuple[np.ndarray, int, Frontier] | None:
        """Run supersteps of a program without `aggregate` while frontiers are small enough for one thread."""
        if frontier.out_arcs(part.sending.indptr) > ONE_THREAD_ARCS:
            return None
        queue, following = self._queues
        if frontier.ids.base is not queue and frontier.ids is not queue:
            queue[: frontier.size] = frontier.ids
        progress = np.array([done, frontier.size, frontier.arcs, 0], np.int64)
        clock, tables = Clock(), []
        cell = None
        if self._cells:
            self.turn(world, done + 1)
            cell = self._cells[0]
        while True:
            before, trace = progress[STEP], np.empty((min(ROWS, limit - progress[STEP]), 4), np.int64)
            cpu_frontier.run_small(
                self._functions, self.state, world, self._arcs(part.sending), self._inbox,
                Queues(queue, following, self._listed), progress, trace, ONE_THREAD_ARCS, cell,
            )  # fmt: skip
            tables.append(trace[: progress[STEP] - before])
            if len(tables[-1]) < len(trace) or progress[ACTIVE] == 0 or progress[STEP] == limit:
                break
        if progress[SWAPPED]:
            self._queues = following, queue
        size = int(progress[ACTIVE])
        rows = clock.convert(tables[0] if len(tables) == 1 else np.concatenate(tables))
        return rows, len(rows), Frontier(self.n, ids=self._queues[0][:size], arcs=int(progress[ARCS]))

    def push(self, part: Part | Window, frontier: Frontier) -> None:
        """Send messages along the arcs that leave the frontier (top-down)."""
        ids = plain(frontier.ids)
        if isinstance(part, Window):
            low, high = np.searchsorted(ids, part.rows)
            arcs, ids, by_id = self._stretch(part), ids[low:high], True
        else:
            self._gather_replies(part, frontier)
            arcs, by_id = self._arcs(part.sending), is_sorted(part.sending)
        if not len(ids) or not len(arcs.indices):
            return
        with team() as workers:
            if isinstance(part, Window):
                bounds = ranges(sample_of(part.indices), self.n, workers)
            else:
                bounds = target_ranges(part.sending, workers)
            cpu_frontier.push_many(self._functions, self.state, arcs, by_id, self._inbox, ids, bounds)

    def pull(self, part: Part | Window | HubCache, frontier: Frontier) -> None:
        """Combine messages from the frontier at each vertex that may receive (bottom-up)."""
        code, inbox = self.code, self._inbox
        # A product computes messages four at a time, those of arcs that send none too, and would change these arcs.
        is_general = code.has_edges or code.is_shaped or code.edge_cond is not None
        if self._joins or isinstance(part, Window | HubCache):
            self._pull_window(part, frontier, is_general)
            return
        if frontier.all_active and (is_general or code.cond is not None):
            # All vertices are updated, including those to which no message passes.
            inbox.message.fill(inbox.identity)
        self._gather_replies(part, frontier)
        rows = part.gathering
        if is_general:
            self._pull_some(self._arcs(rows), frontier, (0, rows.shape[0]), self._functions.reply)
            return
        active = None if frontier.all_active else frontier.bits
        pull(
            rows, functions_of(code).offer, code.reduce, self.state, inbox.message, active=active,
            received=Bitmask(self.n, inbox.received), **self._closed(),
        )  # fmt: skip

    def _pull_window(self, part: Any, frontier: Frontier, is_general: bool) -> None:
        """Join the messages of active neighbours in the rows of a part that may receive."""
        if isinstance(part, HubCache):
            waiting = self.waiting()
            assert waiting is not None
            with team():
                cpu_pull.pull_hub_cache(
                    self._functions, self.state, self._inbox, part.neighbour, waiting.words, frontier.bits.words,
                    self.code.message.type(1),
                )  # fmt: skip
            return
        if not isinstance(part, Window):
            rows = part.gathering
            part = Window(rows.indptr, rows.indices, rows.data, (0, self.n), 0)
        if is_general:
            self._pull_some(self._stretch(part), frontier, part.rows, True)
            return
        # With a byte for each vertex entries need no branch.
        active = None if frontier.all_active else self._active(frontier)
        terminal = _terminal(self.code)
        with team() as workers:
            cpu_pull.pull_window(
                self._functions, terminal, self.state, self._stretch(part), self._inbox, active, part.rows, workers
            )

    def _pull_some(self, arcs: Stretch, frontier: Frontier, rows: tuple[int, int], joins: Any) -> None:
        """Bottom-up step that tests `edge_cond` of each arc; a row ends at a terminal value, if there is one."""
        code = self.code
        # A tuple has none; and each arc with properties takes part.
        terminal = None if code.is_shaped or code.has_edges else _terminal(code)
        what = (
            self._functions, terminal, None if joins is None else True, self.state, arcs, self._inbox,
            frontier.bits.words, rows,
        )  # fmt: skip
        if rows[1] - rows[0] <= cpu_frontier.ROWS:
            cpu_pull.pull_some.alone(*what, 1)
            return
        with team() as workers:
            cpu_pull.pull_some(*what, workers)

    def _active(self, frontier: Frontier) -> Any:
        if getattr(self, "_flags_of", None) is not frontier:
            self._flags_of, self._flags = frontier, frontier.bits.to_bool().view(np.uint8)
        return self._flags

    def _stretch(self, window: Window) -> Stretch:
        data = window.data
        if self.code.has_edges and data is None:
            last = window.first + len(window.indices)
            data = np.arange(window.first, last, dtype=cast(Any, self.code).places)
        return self._arcs(window._replace(data=data))._replace(first=window.first)

    def _arcs(self, csr: Any) -> Stretch:
        return Stretch(plain(csr.indptr), plain(csr.indices), plain(csr.data), self.code.message.type(1))

    @property
    def takes_one(self) -> bool:
        """Whether the first message suffices."""
        return self.code.reduce.ends_on_anything

    @property
    def messages(self) -> np.ndarray:
        """The joined messages of each vertex so far; the identity if there are none."""
        return self._inbox.message

    def waiting(self) -> Bitmask | None:
        """Bitmap of the vertices that may still receive in this superstep: None, unless the first message suffices."""
        if not self.takes_one:
            return None
        words = ~self._inbox.received
        if self._inbox.settled is not None:
            words &= ~self._inbox.settled
        words &= ~settled_words(self.code, self.state, self.n)
        return Bitmask(self.n, words)

    def keep(self, own: Bitmask) -> None:
        """Discard the messages of other vertices than these."""
        received = self._inbox.received
        received &= own.words

    def _gather_replies(self, part: Part, frontier: Frontier) -> None:
        """Gather replies of edges at their sources, before messages change the edges."""
        if self._functions.reply is None:
            return
        ids = np.arange(self.n, dtype=part.sending.indices.dtype) if frontier.all_active else plain(frontier.ids)
        with team() as workers:
            cpu_frontier.gather_replies(
                self._functions, self.state, self._arcs(part.sending), self._inbox, ids, workers
            )

    def addressed(self) -> Bitmask:
        """The vertices that `apply` would update now."""
        return Bitmask(self.n, self._inbox.received.copy())

    def address(self, frontier: Frontier) -> None:
        """Have `apply` update a frontier, as if it had received: for steps without arcs."""
        self._inbox.received[:] = frontier.bits.words

    def apply(self, part: Part, world: tuple[Any, ...], step: int, all_active: bool) -> tuple[Frontier, np.ndarray]:
        """APPLY (Ligra's vertexMap): update the vertices that received; return the changed ones, and the sums."""
        if all_active:
            self._inbox.received[:] = Bitmask.full(self.n).words
        blocks = -(-self.n // BLOCK)
        counts, sums = np.zeros((blocks, 2), np.int64), np.zeros((blocks, self.code.aggregates))
        queue, following = self._queues
        what = self._functions, self.state, self._inbox, world, step, plain(part.sending.indptr)
        if blocks == 1:
            cpu_frontier.apply_many.alone(*what, following, counts, sums)
        else:
            with team():
                cpu_frontier.apply_many(*what, self._listed, counts, sums)
                cpu_frontier.close_up(self._listed, counts, following)
        changed, arcs = counts.sum(axis=0).tolist()
        self._queues = following, queue
        if self._resets:
            # Vertices without arcs are updated too, with the identity.
            self._inbox.message.fill(self._inbox.identity)
        return Frontier(self.n, ids=following[:changed], arcs=arcs), sums.sum(axis=0)

    # Messages leave for the devices, or for the blocks of a larger graph, that own their targets.

    def take(self, vertices: slice, words: slice) -> tuple[np.ndarray, np.ndarray]:
        """See `hpgraph.kernels.superstep.WorkSpace`."""
        inbox = self._inbox
        received = inbox.received[words]
        ids = Bitmask(vertices.stop - vertices.start, received, validate=False).to_indices()
        if inbox.settled is not None:
            inbox.settled[words] |= received
        received[:] = 0
        return ids.astype(np.uint32, copy=False), inbox.message[vertices][ids]

    def messages_of(self, vertices: slice) -> np.ndarray:
        """Messages of a range of vertices, the identity where none arrived; after a pull from all vertices."""
        return self._inbox.message[vertices]

    def join_listed(self, vertices: slice, ids: np.ndarray, messages: np.ndarray) -> None:
        """See `hpgraph.kernels.superstep.WorkSpace`."""
        inbox, reduce = self._inbox, self._functions.reduce
        cpu_apply.join_listed(reduce, inbox.message, inbox.received, inbox.identity, vertices.start, ids, messages)

    def join_all(self, vertices: slice, messages: np.ndarray) -> None:
        """Join one message to each vertex of the range, without marking it as received."""
        cpu_apply.join_all(self._functions.reduce, self._inbox.message[vertices], messages)

    def pull_all(self, rows: CSR) -> None:
        """Combine messages of all vertices at the first ones, without marking these as received."""
        offer = functions_of(self.code).offer
        pull(rows, offer, self.code.reduce, self.state, self._inbox.message[: rows.shape[0]])

    def update_all(self, vertices: slice, world: tuple[Any, ...], step: int) -> tuple[int, np.ndarray]:
        """Update every vertex of a range, whether it received or not; return how many changed, and the sums."""
        functions, count = functions_of(self.code), len(self.code.properties)
        own = tuple(values[vertices] for values in self.state[: count + 1])
        sums = np.zeros((max(-(-len(own[0]) // BLOCK), 1), 1 + self.code.aggregates))
        with team():
            cpu_apply.update_each(
                functions.renew, functions.tally, (0.0,) * sums.shape[1], own[:count], (None,) * count, own[count],
                self._inbox.message[vertices], world, step, sums,
            )  # fmt: skip
        changed, *added = sums.sum(axis=0)
        return int(changed), np.array(added)

    def received(self, words: slice) -> np.ndarray:
        """A copy of the bitmap of vertices of a range that have received."""
        return self._inbox.received[words].copy()

    def _closed(self) -> dict[str, Any]:
        """The mask of a product: vertices that are settled, or masked by `cond`, do not receive."""
        words = self._inbox.settled
        if self.code.cond is not None:
            with team():
                closed = settled_words(self.code, self.state, self.n)
            if self.n % 64:
                closed[-1] &= ~past(self.n)
            words = closed if words is None else closed | words
        return {} if words is None else {"mask": Bitmask(self.n, words, validate=False), "complement": True}


def _terminal(code: ProgramCode) -> Any:
    """The value at which a row's reduction may stop, or None."""
    return product_of(functions_of(code).offer, code.reduce, None, code.message).terminal


@lru_cache(maxsize=256)
def _functions(code: ProgramCode) -> Functions:
    """A program's functions as kernels take them."""
    program = functions_of(code)
    shaped = (program.take, program.put, program.neutral) if code.is_shaped else ()
    return Functions(
        program.gather, program.reduce, program.edge_cond, program.cond, program.update, program.load,
        program.aggregate, *program.replies, *shaped,
    )  # fmt: skip


def aggregate(code: ProgramCode, state: tuple[np.ndarray, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices, without an update."""
    program = functions_of(code)
    n = len(state[0])
    sums = np.zeros((-(-n // BLOCK), code.aggregates))
    what = program.aggregate, program.load, flat(state), world, n, sums
    if len(sums) == 1:
        cpu_apply.apply_aggregate.alone(*what)
    else:
        with team():
            cpu_apply.apply_aggregate(*what)
    return sums.sum(axis=0)


def starting(code: ProgramCode, state: tuple[np.ndarray, ...], world: tuple[Any, ...]) -> Bitmask:
    """The vertices that satisfy `starts`."""
    n, chosen = len(state[0]), code.choosing
    cells = tuple(np.full(1, value, dtype) for value, dtype in zip((0, *world), chosen.cells, strict=False))
    with team():
        words = settled_words(chosen, (*flat(state), *cells), n)
    return Bitmask(n, ~words)


def flat(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """Properties as kernels take them: flattened, vertex by vertex."""
    return tuple(plain(values.reshape(-1) if values.ndim > 1 else values) for values in state)


def past(n: int) -> np.uint64:
    """The bits of the last word that lie past the last of n vertices."""
    return ~np.uint64(0) << np.uint64(n % 64) if n % 64 else np.uint64(0)


def settled_words(code: ProgramCode, state: tuple[np.ndarray, ...], n: int) -> np.ndarray:
    """Bitmask of the vertices masked by `cond`; bits past the last vertex are set."""
    words = np.zeros((n + 63) // 64, np.uint64)
    if code.cond is not None:
        cpu_apply.settle(functions_of(code).cond, state, n, words)
    elif n:
        words[-1] = past(n)
    return words
