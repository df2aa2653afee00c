"""Supersteps on the GPU of programs whose properties or messages are short tuples of numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.persistent import weight_dtype
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, address, words
from hpgraph.kernels.runtime.cuda.shaped_program import ShapedProgram
from hpgraph.kernels.runtime.cuda.specialization import launch
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.shaped_functions import shaped_functions_of
from hpgraph.kernels.spmv.cuda import directly, pull
from hpgraph.kernels.superstep import Part
from hpgraph.semiring import get_monoid

# As in apply.cuh.
SPAN, THREADS = 2048, 256
APPLY = tuple(f"hpgraph::{name}<Program>" for name in ("apply_several", "contribute", "total", "settle"))
# Largest grid of `send`, whose warps loop over vertices.
_BLOCKS = 4096


@lru_cache(maxsize=256)
def shaped_program(
    code: ProgramCode, weight: np.dtype | None, ids: np.dtype, replies: bool = False
) -> ShapedProgram:
    """The C++ form of a program, cached. ``weight``: type of the weights; None for a pattern."""
    return ShapedProgram(code, weight, ids, replies)


class ShapedSupersteps:
    """`hpgraph.kernels.superstep.cuda.Supersteps` of a program with shapes; the parameters are the same."""

    # Messages to one vertex are joined by atomic operations, in any order.
    pushes_repeat = False

    def __init__(self, code: ProgramCode, state: tuple[Any, ...], settled: Bitmask | None, ids: np.dtype) -> None:
        import cupy

        self.code, self.n, self._ids = code, len(state[0]), ids
        self._world = cupy.zeros(len(code.cells), np.uint64)
        self.state = flat(code, state, self._world, self.n)
        made = shaped_functions_of(code)
        identity = code.reduce.identity_for(code.message)
        self._messages = cupy.full((self.n, made.width), identity, code.message)
        self._received = Bitmask.zeros(self.n, "cuda")

    def turn(self, world: tuple[Any, ...], step: int) -> None:
        """Set the world that the next `push` or `pull` reads."""
        self._world.set(held(self.code, (step, *world)))

    def run_small(
        self, part: Part, frontier: Frontier, world: tuple[Any, ...], done: int, limit: int
    ) -> tuple[np.ndarray, int, Frontier] | None:
        """None: each superstep is launched from Python."""
        return None

    def push(self, part: Part, frontier: Frontier) -> None:
        """Send messages along the arcs that leave the frontier (top-down)."""
        out, count = part.sending, frontier.size
        self._clear_arrivals()
        self._gather_replies(part, frontier)
        self._received = Bitmask.zeros(self.n, "cuda")
        program = shaped_program(self.code, weight_dtype(out), out.indices.dtype)
        index = "int" if out.indices.dtype == np.int32 else "long long"
        name = f"hpgraph::send<Program, {index}>"
        blocks = min(-(-count // (THREADS // 32)), _BLOCKS)
        if blocks:
            _module(program, name).function(name)(
                (blocks,), (THREADS,),
                (
                    program.struct(self.state), np.int64(count), frontier.ids.astype(out.indices.dtype, copy=False),
                    out.indptr, out.indices, np.uint64(address(out.data)), self._received.words, self._messages,
                ),
            )  # fmt: skip
        self._receive_arrivals()

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Combine messages from the frontier at each vertex that may receive (bottom-up)."""
        import cupy

        code, rows = self.code, part.gathering
        self._clear_arrivals()
        self._gather_replies(part, frontier)
        weight = weight_dtype(rows)
        ids = (rows.indices if hasattr(rows, "indices") else rows.tail_indices).dtype
        closed = None if code.cond is None else _settled(code, self.state, self.n)
        active, self._received = frontier.bits, Bitmask.zeros(self.n, "cuda")
        # Rows without a message are written too, with the neutral one: so not over replies.
        product, replies = shaped_program(code, weight, ids).product, shaped_functions_of(code).replies[0] is not None
        sent = cupy.empty_like(self._messages) if replies else self._messages
        sets = words(address(active.words), address(closed), address(self._received.words), 0 if code.has_edges else 1)
        directly(rows, product, sets)(self.state, sent)
        if replies:
            module = product.load("spmv.cuh", "accumulate")
            blocks = -(-self.n // BLOCK)
            launch(module, "accumulate", blocks, sent, self._received.words, np.int64(self.n), self._messages)
        self._receive_arrivals()
        if code.edge_cond is not None and not code.notes_arrivals:
            passes = cupy.zeros(self.n, np.uint8)
            pull(
                rows, shaped_functions_of(code).edge_cond, get_monoid("lor"), self.state, passes, active=active,
                mask=self._received,
            )  # fmt: skip
            self._received = Bitmask.from_bool(passes != 0)

    def _gather_replies(self, part: Part, frontier: Frontier) -> None:
        """Gather replies at active vertices, by rows of out-arcs. Other messages stay neutral."""
        if shaped_functions_of(self.code).replies[0] is None:
            return
        rows = part.sending
        program = shaped_program(self.code, weight_dtype(rows), rows.indices.dtype, True)
        full, received = Bitmask.full(self.n, device="cuda"), Bitmask.zeros(self.n, "cuda")
        sets = words(*(address(one.words) for one in (full, frontier.bits, received)), 0)
        directly(rows, program.product, sets)(self.state, self._messages)

    def _clear_arrivals(self) -> None:
        if self.code.notes:
            self.state[-1].fill(0)

    def _receive_arrivals(self) -> None:
        """Receivers from the marks that messages left on passing `edge_cond`: edges have changed since."""
        if self.code.notes:
            self._received = Bitmask.from_bool(self.state[-1] != 0)

    def addressed(self) -> Bitmask:
        """The vertices that `apply` would update now; may include settled ones."""
        return self._received

    def address(self, frontier: Frontier) -> None:
        """Have `apply` update a frontier, as if it had received."""
        self._received = frontier.bits

    def apply(
        self, part: Part, world: tuple[Any, ...], step: int, everyone: bool
    ) -> tuple[Frontier, np.ndarray]:
        """Update the vertices that received, or all; return those that changed, and the sums. Waits for the device."""
        import cupy

        code, active = self.code, Bitmask.zeros(self.n, "cuda")
        received = Bitmask.full(self.n, device="cuda") if everyone else self._received
        program = shaped_program(code, None, self._ids)
        rows = cupy.empty((-(-self.n // SPAN), code.aggregates + 2), np.float64)
        module = _module(program, *APPLY)
        module.function("hpgraph::apply_several<Program>")(
            (len(rows),), (THREADS,),
            (
                program.struct(self.state, world), np.int64(self.n), self._messages, received.words, np.int64(step),
                active.words, rows,
            ),
        )  # fmt: skip
        total = _total(module, rows)
        return Frontier(self.n, bits=active, size=int(total[-2])), total[: code.aggregates]


def held(code: ProgramCode, values: tuple[Any, ...]) -> np.ndarray:
    """Content of the array of cells: superstep and parameters, eight bytes each."""
    made = np.zeros(len(code.cells), np.uint64)
    for i, (value, dtype) in enumerate(zip(values, code.cells, strict=True)):
        made[i : i + 1].view(dtype)[0] = value
    return made


def cells(code: ProgramCode, world: Any) -> tuple[Any, ...]:
    """A view of one element for each cell, into the array of all cells."""
    return tuple(world[i : i + 1].view(dtype)[:1] for i, dtype in enumerate(code.cells))


def flat(code: ProgramCode, state: tuple[Any, ...], world: Any, n: int) -> tuple[Any, ...]:
    """The state as kernels take it: flattened properties, cells, and arrays that functions mark."""
    import cupy

    notes = (cupy.zeros(n, dtype) for dtype in code.notes)
    return (*(values.reshape(-1) for values in state), *cells(code, world), *notes)


def aggregate(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> np.ndarray:
    """The sums of `aggregate` over all vertices as they are. Waits for the device."""
    import cupy

    n = len(state[0])
    program = shaped_program(code, None, np.dtype(np.int32))
    rows = cupy.empty((-(-n // SPAN), code.aggregates + 2), np.float64)
    module = _module(program, *APPLY)
    own = flat(code, state, cupy.zeros(len(code.cells), np.uint64), n)
    module.function("hpgraph::contribute<Program>")(
        (len(rows),), (THREADS,), (program.struct(own, world), np.int64(n), rows)
    )
    return _total(module, rows)[: code.aggregates]


def starting(code: ProgramCode, state: tuple[Any, ...], world: tuple[Any, ...]) -> Bitmask:
    """The vertices of which `starts` holds."""
    import cupy

    chosen, n = code.choosing, len(state[0])
    shown = cupy.zeros(len(chosen.cells), np.uint64)
    if chosen.cells:
        shown.set(held(chosen, (0, *world)))
    closed = _settled(chosen, flat(chosen, state, shown, n), n)
    return Bitmask.full(n, device="cuda").and_not(Bitmask(n, closed, validate=False))


def _settled(code: ProgramCode, state: tuple[Any, ...], n: int) -> Any:
    """Words of the bitmask of vertices masked by `cond`."""
    import cupy

    found = cupy.empty((n + 63) // 64, np.uint64)
    program = shaped_program(code, None, np.dtype(np.int32))
    _module(program, *APPLY).function("hpgraph::settle<Program>")(
        (-(-(found.size * 64) // THREADS),), (THREADS,), (program.struct(state), np.int64(n), found)
    )
    return found


def _module(program: ShapedProgram, *names: str) -> Module:
    return load("shaped.cuh", prologue=program.prologue, ltoir=program.ltoir, names=names, title=program.code.name)


def _total(module: Module, rows: Any) -> np.ndarray:
    import cupy

    sums = cupy.empty(rows.shape[1], np.float64)
    module.function("hpgraph::total<Program>")((1,), (THREADS,), (rows, np.int64(len(rows)), sums))
    found: np.ndarray = sums.get()
    return found
