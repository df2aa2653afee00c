"""Products over windows on the GPU: whole windows are gathered by rows; sparse rows are read in place."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.out_of_core import Head, Spread, Tiles
from hpgraph.kernels.out_of_core.cuda_components import components
from hpgraph.kernels.out_of_core.cuda_ring import MAX_PAGES, least_memory
from hpgraph.kernels.out_of_core.cuda_store import PageStore
from hpgraph.kernels.out_of_core.cuda_visits import THREADS, functor_struct, visit
from hpgraph.kernels.pages.cpu_gaps import word_bits
from hpgraph.kernels.runtime.cuda.persistent import load_program
from hpgraph.kernels.runtime.cuda.program import CUDAProgram, cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout, struct
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.superstep import cuda
from hpgraph.kernels.superstep.cuda import join_messages
from hpgraph.kernels.sweep.cuda_program import ignored
from hpgraph.semiring.c_types import c_type

__all__ = ["PageStore", "WindowSupersteps", "components", "least_memory"]

CARRY = Layout("Carry<{Message}>", start="*", last_row="*", first="*", last="*", found="*")


class WindowSupersteps(cuda.Supersteps):
    """`hpgraph.kernels.superstep.cuda.Supersteps` over windows; the parameters are the same."""

    def __init__(
        self, code: ProgramCode, state: tuple[Any, ...], settled: Bitmask | None, ids: np.dtype,
        everyone: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(code, state, settled, ids)
        self._ids = ids
        self._message.fill(code.reduce.identity_for(code.message))
        self._carry: tuple[int, tuple[Any, ...]] | None = None
        # If all vertices are updated, received bits are not needed.
        self._all = everyone

    def apply(
        self, part: Any, world: tuple[Any, ...], step: int, everyone: bool
    ) -> tuple[Frontier, np.ndarray]:
        """`hpgraph.kernels.superstep.cuda.Supersteps.apply`; then received bits and messages are reset."""
        made = super().apply(part, world, step, everyone)
        self._received.words.fill(0)
        if not self.code.reduce.ends_on_anything:
            self._message.fill(self.code.reduce.identity_for(self.code.message))
        return made

    @property
    def takes_one(self) -> bool:
        """Whether the first message suffices."""
        return self.code.reduce.ends_on_anything

    @property
    def messages(self) -> Any:
        """The reduced messages of each vertex so far; the identity if there are none."""
        return self._message

    def heard(self, first: int, last: int) -> tuple[Any, Bitmask]:
        """As `hpgraph.kernels.out_of_core.cpu.WindowSupersteps.heard`."""
        words = self._received.words[first // 64 : -(-last // 64)]
        return self._message[first:last], Bitmask(last - first, words, validate=False)

    def join(self, messages: Any, received: Bitmask, first: int) -> None:
        """As `hpgraph.kernels.out_of_core.cpu.WindowSupersteps.join`; settled vertices are skipped later."""
        join_messages(self, messages, received, first)

    def keep(self, own: Bitmask) -> None:
        """Discard the messages of other vertices than these."""
        words = self._received.words
        words &= own.words

    def waiting(self) -> Bitmask | None:
        """Bitmap of the vertices that may still receive in this superstep: None, unless the first message suffices."""
        if not self.code.reduce.ends_on_anything:
            return None
        closed = self._closed()
        return ~(self._received if closed is None else self._received | closed)

    def push(self, part: Spread, frontier: Frontier) -> None:  # type: ignore[override]
        """Push messages along the arcs of chosen rows."""
        once, numbered = self.code.reduce.ends_on_anything, self.code.has_edges
        program = cuda_program(self.code, cast(Any, self.code).places) if numbered else self._program(part.data)
        settled = None if self._settled is None else self._settled.words
        fields = self._held(program), settled, self._received.words, self._message
        visit(f"hpgraph::Send<Program, {str(once).lower()}>", fields, part, program, numbered=numbered)

    def pull(self, part: Tiles | Spread | Head, frontier: Frontier) -> None:  # type: ignore[override]
        """Gather messages from the frontier to a window's rows, or to chosen rows if the first message suffices."""
        if isinstance(part, Tiles):
            self._gather(part, frontier)
        elif isinstance(part, Head):
            self._from_heads(part, frontier)
        else:
            program = self._program(part.data)
            fields = self._held(program), frontier.bits.words, self._received.words, self._message
            visit("hpgraph::Receive<Program>", fields, part, program)

    def _program(self, data: Any) -> CUDAProgram:
        return cuda_program(self.code, None if data is None else np.dtype(data.dtype))

    def _held(self, program: CUDAProgram) -> np.ndarray:
        world = tuple(dtype.type(0) for _, dtype in self.code.parameters)  # no message reads it
        return program.struct(self.state, world)

    def _from_heads(self, part: Head, frontier: Frontier) -> None:
        program, index = self._program(None), c_type(self._ids)
        name = f"hpgraph::receive_from_head<Program, {index}>"
        waiting = self.waiting()
        assert waiting is not None
        kernel = load_program(program, "spread.cuh", name).function(name)
        kernel(
            (-(-self.n // THREADS),), (THREADS,),
            (self._held(program), np.int64(self.n), part.neighbour, frontier.bits.words, waiting.words,
             self._received.words, self._message),
        )  # fmt: skip

    def _gather(self, tiles: Tiles, frontier: Frontier) -> None:
        import cupy

        code, pages = self.code, tiles.pages
        data, (begin, end) = tiles.data, tiles.run
        program = self._program(data)
        weight = "hpgraph::NoWeights" if data is None else program.weight_type
        gaps, some = pages.encoding == "gaps", not frontier.everyone
        aimed = code.edge_cond is not None or "target" not in ignored(code)
        flags = ", ".join(str(flag).lower() for flag in (gaps, some, aimed))
        which = f"Program, {c_type(pages.id_dtype)}, {weight}, {flags}"
        names = f"hpgraph::gather_tiles<{which}>", "hpgraph::join_tiles<Program>"
        module = load_program(program, "window.cuh", *names)
        count = tiles.tiles
        if self._carry is None or self._carry[0] < count:
            self._carry = count, (
                cupy.empty(count, np.int64), cupy.empty(count, np.int64), cupy.empty(count, code.message),
                cupy.empty(count, code.message), cupy.empty(-(-count // 8) * 8, np.uint8),
            )  # fmt: skip
        fields = self._carry[1]
        fields[1][:count].fill(-1)
        fields[4].fill(0)
        carry = CARRY.of(Message=code.message)(*fields)
        active = frontier.bits.words if some else None
        received = None if self._all else self._received.words
        identity = np.asarray(code.reduce.identity_for(code.message), code.message)[()]
        how = functor_struct((self._held(program), active, received, self._message, identity))
        mask = np.uint32((1 << word_bits(pages.shape[1])) - 1)
        tables = struct(*tiles.tables, data, pages.shape[1], mask)
        places = np.zeros(MAX_PAGES, np.uint64)
        places[: end - begin] = tiles.places
        where = np.ndarray((), np.dtype((np.void, places.nbytes)), bytearray(places.tobytes()))
        module.function(names[0])(
            (count,), (THREADS,),
            (how, tables, where, np.int64(begin), np.int64(end - begin), carry, tiles.damaged),
        )  # fmt: skip
        joined = how, tiles.tables[0], np.int64(tiles.row_before), np.int64(count), carry
        module.function(names[1])((count // (THREADS // 32) + 1,), (THREADS,), joined)
