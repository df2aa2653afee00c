"""The general loop's supersteps on the GPU: messages along arcs, then APPLY."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, Bitmask, Frontier
from hpgraph.kernels.out_of_core import HubCache, Spread, Tiles
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda import pull
from hpgraph.kernels.spmv.cuda_spmspv import push
from hpgraph.kernels.superstep import Part, cuda_apply
from hpgraph.kernels.superstep.cuda_tuples import pull_tuples, push_tuples
from hpgraph.kernels.superstep.cuda_windows import pull_window, push_spread
from hpgraph.semiring import get_monoid

JOIN_KERNELS = "hpgraph::join_listed<Program>", "hpgraph::join_all<Program>"
INBOX = Layout("Inbox<{Message}>", message="*", received_bits="*")
SPACE = Layout(
    "GeneralSpace<{Index}, {Message}>", header="*", inbox=INBOX, following_inbox=INBOX, list="*", following_list="*",
    pieces="*", trace=persistent.TRACE,
)  # fmt: skip
# Largest number of frontier arcs for which supersteps run in one launch. A superstep that the host launches costs some
# 50 µs of latency, in which atomic operations serve millions of arcs. Beyond, a pull may be faster.
ONE_LAUNCH_ARCS = 1 << 22


def _most_at_once(arcs: CSR) -> int:
    """Number of vertices that have at most ONE_LAUNCH_ARCS arcs, for any choice; waits for the device, once a graph."""
    longest, pieces, _ = persistent.row_lengths(arcs)
    longest = max(longest, 1)
    # All heavy vertices, and light ones in the rest.
    light = max(ONE_LAUNCH_ARCS - pieces * persistent.PIECE, 0) // min(longest, persistent.PIECE)
    return max(light, ONE_LAUNCH_ARCS // longest)


class Supersteps:
    """Work space of one run of the general loop; see `hpgraph.kernels.superstep.cpu.Supersteps`.

    ``messages``: the joined messages of each vertex; ``arrived``: the vertices that received.
    """

    # Messages to one vertex are joined by atomic operations, in any order.
    pushes_repeat = False

    def __init__(
        self, code: ProgramCode, state: tuple[Any, ...], settled: Bitmask | None, ids: np.dtype, *,
        joins: bool = False, all_active: bool = False,
    ) -> None:  # fmt: skip
        self._world = cupy.zeros(len(code.cells), np.uint64)
        self.code, self.n, self.ids = code, len(state[0]), ids
        self.state = cuda_apply.flat(code, state, self._world)
        width = functions_of(code).width
        self.messages = cupy.empty((self.n, width) if width else self.n, code.message)
        self.arrived, self.settled = Bitmask.zeros(self.n, "cuda"), settled
        self._joins, self.all_active = joins, all_active
        # Work space of windows.
        self.carry: tuple[int, tuple[Any, ...]] | None = None
        if joins or width:
            self._clear()

    def _clear(self) -> None:
        """Let all messages be the identity."""
        self.messages.fill(self.code.reduce.identity_for(self.code.message))

    @cached_property
    def _inboxes(self) -> tuple[Any, ...]:
        """Two inboxes (a double buffer): messages, all the identity, and the bitmap of receivers, clear.

        Small supersteps leave them so. If all vertices are updated before any sends, both are the same.
        """
        identity = self.code.reduce.identity_for(self.code.message)

        def made() -> tuple[Any, Any]:
            return cupy.full(self.n, identity, self.code.message), cupy.zeros((self.n + 63) // 64, np.uint64)

        one = made()
        return (*one, *(one if self.code.reads_receivers or self.code.cells else made()))

    def turn(self, world: tuple[Any, ...], step: int) -> None:
        """Set the world that the next `push` or `pull` reads."""
        self._world.set(cuda_apply.held(self.code, (step, *world)))

    def run_small(
        self, part: Part, frontier: Frontier, world: tuple[Any, ...], done: int, limit: int
    ) -> tuple[np.ndarray, int, Frontier] | None:
        """Run supersteps in one launch while frontiers are small. Waits for the device."""
        code, out = self.code, part.sending
        # "Any" has no identity to initialize messages with.
        if code.is_shaped or code.reduce.ends_on_anything or frontier.out_arcs(out.indptr) > ONE_LAUNCH_ARCS:
            return None
        if code.cells:
            self.turn(world, done + 1)
        program, ids = cuda_program(code, persistent.weight_dtype(out)), out.indices.dtype
        sources = cupy.ascontiguousarray(frontier.ids, dtype=ids)
        identity = np.asarray(code.reduce.identity_for(code.message), code.message)
        space, record = persistent.Space(persistent.heavy_pieces(out) * 2 * ids.itemsize), persistent.Record(self.n)
        active = cupy.empty(self.n, ids)
        layout = SPACE.of(Index=ids, Message=code.message)
        launch = persistent.kernel(
            program, "frontier.cuh", "run_small", persistent.techniques_type(), ids, out.data is None,
            cupy.cuda.runtime.getDevice(), layouts=(layout,),
        )  # fmt: skip
        launch(
            (
                program.struct(self.state, world), np.int64(self.n), persistent.arcs_struct(out),
                persistent.sources_struct(sources), identity, np.int64(done), np.int64(limit),
                np.int64(ONE_LAUNCH_ARCS), np.int64(_most_at_once(out)),
                np.int64(persistent.LOCAL_ARCS if techniques.local_block else -1),
                layout(space.header, *self._inboxes, active, cupy.empty(self.n, ids), *space.addresses, *record.fields),
            ),
        )  # fmt: skip
        rows, steps, (count, arcs) = record(), record.supersteps(), record.passed()
        return rows, steps, Frontier(self.n, ids=active[:count], arcs=arcs)

    def push(self, part: Part | Spread, frontier: Frontier) -> None:
        """Send messages along the arcs that leave the frontier (top-down)."""
        code = self.code
        if isinstance(part, Spread):
            push_spread(self, part)
            return
        if code.is_shaped:
            self._receive(push_tuples(self, part, frontier))
            return
        if not self._joins:
            self._clear()
        offer, (state, arrived) = functions_of(code).offer, self._with_arrivals()
        accum = self._gather_replies(part, frontier, state) or self._joined
        touched = push(
            part.sending, offer, code.reduce, state, frontier.ids, self.messages, accum=accum, **self._left_out()
        )
        came = Bitmask.from_indices(touched, self.n) if arrived is None else Bitmask.from_bool(arrived != 0)
        if code.edge_cond is not None and arrived is None:
            came = self._passed(
                lambda passable, lor, passes: push(
                    part.sending, passable, lor, self.state, frontier.ids, passes, mask=came
                )
            )
        self._receive(came)

    def pull(self, part: Part | Tiles | Spread | HubCache, frontier: Frontier) -> None:
        """Combine messages from the frontier at each vertex that may receive (bottom-up)."""
        code = self.code
        if isinstance(part, Tiles | Spread | HubCache):
            pull_window(self, part, frontier)
            return
        if code.is_shaped:
            self._receive(pull_tuples(self, part, frontier))
            return
        if frontier.all_active and code.cond is not None and not self._joins:
            self._clear()
        state, arrived = self._with_arrivals()
        accum = self._gather_replies(part, frontier, state) or self._joined
        active = None if frontier.all_active else frontier.bits
        # A product that writes `received` visits every arc once; one that does not may be run repeatedly to tune it.
        came = Bitmask.zeros(self.n, "cuda")
        pull(
            part.gathering, functions_of(code).offer, code.reduce, state, self.messages, active=active,
            received=came, accum=accum, **self._left_out(),
        )  # fmt: skip
        if arrived is not None:
            came = Bitmask.from_bool(arrived != 0)
        elif code.edge_cond is not None:
            came = self._passed(
                lambda passable, lor, passes: pull(
                    part.gathering, passable, lor, self.state, passes, active=active, mask=came
                )
            )
        self._receive(came)

    def _receive(self, came: Bitmask) -> None:
        """Note the vertices that received from a part."""
        self.arrived = self.arrived | came if self._joins else came

    @property
    def _joined(self) -> Any:
        """The operator that joins messages to those of the parts before; None if there are none."""
        return self.code.reduce.op if self._joins and not self.takes_one else None

    def _gather_replies(self, part: Part, frontier: Frontier, state: tuple[Any, ...]) -> Any:
        """Gather replies of edges before messages change them; the operator that joins messages to one, or None."""
        code, reply = self.code, functions_of(self.code).reply_product
        if reply is None:
            return None
        # The product skips inactive vertices, but messages are joined to their values, too.
        self._clear()
        # By rows of out-arcs: the source of an arc receives its reply.
        pull(
            part.sending, reply, code.reduce, state, self.messages, received=Bitmask.zeros(self.n, "cuda"),
            mask=None if frontier.all_active else frontier.bits,
        )  # fmt: skip
        return code.reduce.op

    def _with_arrivals(self) -> tuple[tuple[Any, ...], Any]:
        """The state for `offer`, and the array in which it marks vertices to which a message passed `edge_cond`.

        `edge_cond` cannot be tested afterwards, as for a vertex program: by then edges have changed.
        """
        if not self.code.notes_arrivals:
            return self.state, None
        arrived = cupy.zeros(self.n, "uint8")
        return (*self.state, arrived), arrived

    def _passed(self, product: Callable[[Any, Any, Any], Any]) -> Bitmask:
        """The receivers to which a message passed `edge_cond`; others received the neutral value only."""
        passes = cupy.zeros(self.n, np.uint8)
        product(functions_of(self.code).edge_cond, get_monoid("lor"), passes)
        return Bitmask.from_bool(passes != 0)

    def _closed(self) -> Bitmask | None:
        """Vertices that are settled, masked by `cond`, or have the one message that suffices from another part."""
        closed = [cuda_apply.masked(self.code, self.state, self.n), self.settled]
        if self._joins and self.takes_one:
            closed.append(self.arrived)
        found = None
        for one in closed:
            if one is not None:
                found = one if found is None else found | one
        return found

    def _left_out(self) -> dict[str, Any]:
        """The mask of a product."""
        closed = self._closed()
        return {} if closed is None else {"mask": closed, "complement": True}

    def addressed(self) -> Bitmask:
        """The vertices that `apply` would update now; may include settled ones."""
        return self.arrived

    def address(self, frontier: Frontier) -> None:
        """Have `apply` update a frontier, as if it had received: for steps without arcs."""
        self.arrived = frontier.bits

    def apply(self, part: Part, world: tuple[Any, ...], step: int, all_active: bool) -> tuple[Frontier, np.ndarray]:
        """Update the vertices that received, or all; return those that changed, and the sums. Waits for the device."""
        received = self.arrived
        if all_active:
            received = Bitmask.full(self.n, device="cuda")
        elif self.settled is not None:
            received = received.and_not(self.settled)
            self.settled = self.settled | received
        active, total = cuda_apply.update(self.code, self.state, self.messages, received, world, step)
        if self._joins:
            self.arrived.words.fill(0)
            if not self.takes_one:
                self._clear()
        return Frontier(self.n, bits=active, size=int(total[-2])), total[: self.code.aggregates]

    @property
    def takes_one(self) -> bool:
        """Whether the first message suffices."""
        return self.code.reduce.ends_on_anything

    def waiting(self) -> Bitmask | None:
        """Bitmap of the vertices that may still receive in this superstep: None, unless the first message suffices."""
        if not self.takes_one:
            return None
        closed = self._closed()
        return ~(self.arrived if closed is None else self.arrived | closed)

    def keep(self, own: Bitmask) -> None:
        """Discard the messages of other vertices than these."""
        words = self.arrived.words
        words &= own.words

    # Messages leave for the devices, or for the blocks of a larger graph, that own their targets.

    def take(self, vertices: slice, words: slice) -> tuple[Any, Any]:
        """See `hpgraph.kernels.superstep.WorkSpace`; waits for the device."""
        received = self.arrived.words[words]
        if self.settled is not None:
            settled = self.settled.words[words]
            received &= ~settled
            settled |= received
        ids = Bitmask(vertices.stop - vertices.start, received, validate=False).to_indices()
        received[...] = 0
        return ids.astype(np.uint32), self.messages[vertices][ids]

    def messages_of(self, vertices: slice) -> Any:
        """Messages of a range of vertices, the identity where none arrived; after `pull_all`."""
        return self.messages[vertices]

    def join_listed(self, vertices: slice, ids: Any, messages: Any) -> None:
        """See `hpgraph.kernels.superstep.WorkSpace`."""
        if len(ids):
            code = self.code
            identity = np.asarray(code.reduce.identity_for(code.message), code.message)
            self._launch(
                0, len(ids), self.messages, self.arrived.words, np.int64(vertices.start), ids, messages,
                np.int64(len(ids)), identity, np.bool_(code.reduce.ends_on_anything),
            )  # fmt: skip

    def join_all(self, vertices: slice, messages: Any) -> None:
        """Join one message to each vertex of the range, without marking it as received."""
        if len(messages):
            self._launch(1, len(messages), self.messages[vertices], messages, np.int64(len(messages)))

    def _launch(self, number: int, count: int, *arguments: Any) -> None:
        module = persistent.load_program(cuda_program(self.code, None), "joined.cuh", *JOIN_KERNELS)
        threads = cuda_apply.APPLY_THREADS
        module.function(JOIN_KERNELS[number])((-(-count // threads),), (threads,), arguments)

    def pull_all(self, rows: CSR) -> None:
        """Combine messages of all vertices at the first ones, without marking these as received."""
        pull(rows, functions_of(self.code).offer, self.code.reduce, self.state, self.messages[: rows.shape[0]])

    def update_all(self, vertices: slice, world: tuple[Any, ...], step: int) -> tuple[int, np.ndarray]:
        """Update every vertex of a range, received or not; return the number that changed, and the sums."""
        first = vertices.start // 64
        full = Bitmask.full(vertices.stop - vertices.start, device="cuda").words
        self.arrived = Bitmask.zeros(self.n, "cuda")
        self.arrived.words[first : first + len(full)] = full
        changed, sums = self.apply(None, world, step, False)  # type: ignore[arg-type]
        return changed.size, sums

    def received(self, words: slice) -> Any:
        """A copy of the bitmap of vertices of a range that have received."""
        return self.arrived.words[words].copy()
