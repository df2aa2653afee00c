"""Products over windows on the GPU: whole windows are gathered by rows; few rows are read where their pages lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.runtime.cuda.persistent import load_program
from hpgraph.kernels.runtime.cuda.program import CUDAProgram, cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.structure.cuda_degree_order import c_type
from hpgraph.kernels.superstep import cuda
from hpgraph.kernels.windows import Head, Spread, Window
from hpgraph.kernels.windows.cuda_store import PageStore
from hpgraph.kernels.windows.cuda_visits import THREADS, functor_struct, visit

__all__ = ["PageStore", "WindowSupersteps"]

# As in window.cuh.
PIECE = 4096
REST = Layout("Rest<{Message}>", counts="*", pieces="*", rows="*", part="*", found="*")


class WindowSupersteps(cuda.Supersteps):
    """`hpgraph.kernels.superstep.cuda.Supersteps` over windows; the parameters are the same."""

    def __init__(self, code: ProgramCode, state: tuple[Any, ...], settled: Bitmask | None, ids: np.dtype) -> None:
        super().__init__(code, state, settled, ids)
        self._ids = ids
        self._message.fill(code.reduce.identity_for(code.message))
        self._rest: tuple[int, tuple[Any, ...]] | None = None

    def apply(
        self, part: Any, world: tuple[Any, ...], step: int, everyone: bool
    ) -> tuple[Frontier, np.ndarray]:
        """`hpgraph.kernels.superstep.cuda.Supersteps.apply`, after which nobody has received."""
        made = super().apply(part, world, step, everyone)
        self._received.words.fill(0)
        if not self.code.reduce.ends_on_anything:
            self._message.fill(self.code.reduce.identity_for(self.code.message))
        return made

    @property
    def takes_one(self) -> bool:
        """Whether the first message of all is enough."""
        return self.code.reduce.ends_on_anything

    @property
    def messages(self) -> Any:
        """What the messages of each vertex have been joined to so far; the identity where there was none."""
        return self._message

    def waiting(self) -> Bitmask | None:
        """Who may still receive in this superstep: None, unless the first message of all is enough."""
        if not self.code.reduce.ends_on_anything:
            return None
        closed = cuda._closed(self.code, self.state).get("mask")
        taken = self._received if closed is None else self._received | closed
        return ~(taken if self._settled is None else taken | self._settled)

    def push(self, part: Spread, frontier: Frontier) -> None:  # type: ignore[override]
        """The chosen rows send along their arcs.

        Parameters
        ----------
        part : Spread
            Rows of the frontier, and where their arcs lie.
        frontier : Frontier
        """
        once = self.code.reduce.ends_on_anything
        program = self._program(part.data)
        settled = None if self._settled is None else self._settled.words
        fields = self._held(program), settled, self._received.words, self._message
        visit(f"hpgraph::Send<Program, {str(once).lower()}>", fields, part, program)

    def pull(self, part: Window | Spread | Head, frontier: Frontier) -> None:  # type: ignore[override]
        """Messages from the frontier to rows of a window, or to chosen rows of which the first message is enough.

        Parameters
        ----------
        part : Window, Spread or Head
        frontier : Frontier
        """
        if isinstance(part, Window):
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

    def _gather(self, window: Window, frontier: Frontier) -> None:
        import cupy

        code, program = self.code, self._program(window.data)
        weight = "hpgraph::NoWeights" if window.data is None else program.weight_type
        which = f"Program, {c_type(self._ids)}, {weight}, {str(not frontier.everyone).lower()}"
        names = f"hpgraph::gather_rows<{which}>", f"hpgraph::gather_pieces<{which}>", "hpgraph::join_pieces<Program>"
        module = load_program(program, "window.cuh", *names)
        first, (begin, end), arcs = window.first, window.rows, len(window.indices)
        if self._rest is None or self._rest[0] < arcs:
            # A row is cut where it has more than PIECE arcs: of pieces there are no more than twice the least.
            most = 2 * (arcs // PIECE + 1)
            self._rest = arcs, (
                cupy.empty(2, np.uint64), cupy.empty(2 * most, np.int64), cupy.empty(3 * most, np.int64),
                cupy.empty(most, code.message), cupy.empty(most, np.uint8),
            )  # fmt: skip
        rest = REST.of(Message=code.message)(*self._rest[1])
        self._rest[1][0].fill(0)
        active = None if frontier.everyone else frontier.bits.words
        identity = np.asarray(code.reduce.identity_for(code.message), code.message)
        how = functor_struct((
            self._held(program), window.indptr, window.indices, window.data, begin, end, first, first + arcs, active,
            identity[()],
        ))  # fmt: skip
        words = -(-end // 32) - begin // 32
        module.function(names[0])(
            (-(-words // (THREADS // 32)),), (THREADS,), (how, self._received.words, self._message, rest)
        )
        module.function(names[1])((min(arcs // PIECE + 1, 2048),), (THREADS,), (how, rest))
        joined = rest, self._received.words, self._message
        module.function(names[2])((arcs // PIECE // THREADS + 1,), (THREADS,), joined)
