"""Supersteps of edge-vertex programs on the GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.edges.functions import EdgeFunctions
from hpgraph.kernels.edges.program import EdgeProgramCode
from hpgraph.kernels.runtime.cuda.persistent import weight_dtype
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, address, words
from hpgraph.kernels.runtime.cuda.specialization import launch
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv.cuda import directly, pull
from hpgraph.kernels.spmv.cuda_spmspv import push
from hpgraph.kernels.superstep import Part, cuda, cuda_shaped


class EdgeSupersteps(cuda.Supersteps):
    """Work space of one run; see `hpgraph.kernels.superstep.cuda.Supersteps`."""

    code: EdgeProgramCode

    def push(self, part: Part, frontier: Frontier) -> None:
        """The active vertices send along the arcs that leave them (top-down)."""
        code = self.code
        self._message.fill(code.reduce.identity_for(code.message))
        state, arrived = self._noting()
        accum = self._hear(part, frontier, state)
        touched = push(
            part.sending, functions_of(code).offer, code.reduce, state, frontier.ids, self._message, accum=accum
        )
        self._received = Bitmask.from_indices(touched, self.n) if arrived is None else Bitmask.from_bool(arrived != 0)

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Every vertex combines the messages of its active in-neighbours (bottom-up)."""
        code = self.code
        state, arrived = self._noting()
        accum = self._hear(part, frontier, state)
        active = None if frontier.everyone else frontier.bits
        # Given a set to write, a product takes every arc once. Whole products are tried out against each other.
        self._received = Bitmask.zeros(self.n, "cuda")
        pull(
            part.gathering, functions_of(code).offer, code.reduce, state, self._message, active=active,
            received=self._received, accum=accum,
        )  # fmt: skip
        if arrived is not None:
            self._received = Bitmask.from_bool(arrived != 0)

    def _hear(self, part: Part, frontier: Frontier, state: tuple[Any, ...]) -> Any:
        """What active vertices hear from the arcs that leave them, of arcs as they were before the superstep.

        Returns the operator that joins to it what is sent to them; None where no arc replies.
        """
        code, made = self.code, functions_of(self.code)
        if code.reply is None:
            return None
        assert isinstance(made, EdgeFunctions)
        # The product leaves alone who does not send; what is sent to these is joined to what stands there, too.
        self._message.fill(code.reduce.identity_for(code.message))
        # By rows of out-arcs: whoever sends is here the one that receives.
        pull(
            part.sending, made.heard, code.reduce, state, self._message, received=Bitmask.zeros(self.n, "cuda"),
            mask=None if frontier.everyone else frontier.bits,
        )  # fmt: skip
        return code.reduce.op

    def _noting(self) -> tuple[tuple[Any, ...], Any]:
        """The state as `offer` wants it, and where it notes to whom `edge_cond` let a message through; None without.

        To ask afterwards, as for a vertex program, would be too late: by then arcs have changed.
        """
        import cupy

        if not self.code.notes_arrivals:
            return self.state, None
        arrived = cupy.zeros(self.n, "uint8")
        return (*self.state, arrived), arrived


class ShapedEdgeSupersteps(cuda_shaped.ShapedSupersteps):
    """The same of a program whose properties or messages are tuples; see `cuda_shaped.ShapedSupersteps`."""

    code: EdgeProgramCode

    def push(self, part: Part, frontier: Frontier) -> None:
        """The active vertices hear from the arcs that leave them, and send along them."""
        self._forget()
        self._hear(part, frontier)
        super().push(part, frontier)
        self._note()

    def pull(self, part: Part, frontier: Frontier) -> None:
        """Active vertices hear from the arcs that leave them; then every one combines what its in-neighbours send."""
        import cupy

        self._forget()
        self._hear(part, frontier)
        rows, received = part.gathering, Bitmask.zeros(self.n, "cuda")
        program = cuda_shaped.shaped_program(self.code, weight_dtype(rows), rows.indices.dtype)  # type: ignore[union-attr]
        # Rows that nobody sends to are written as well: where they may have heard something, beside it.
        replies = self.code.reply is not None
        sent = cupy.empty_like(self._messages) if replies else self._messages
        sets = words(address(frontier.bits.words), 0, address(received.words), 0)
        directly(rows, program.product, sets)(self.state, sent)
        if replies:
            module = program.product.load("spmv.cuh", "accumulate")
            launch(module, "accumulate", -(-self.n // BLOCK), sent, received.words, np.int64(self.n), self._messages)
        self._received = received
        self._note()

    def _hear(self, part: Part, frontier: Frontier) -> None:
        """By rows of out-arcs: whoever is active is the one that receives. The others' messages stay neutral."""
        if self.code.reply is None:
            return
        rows = part.sending
        program = cuda_shaped.shaped_program(self.code, weight_dtype(rows), rows.indices.dtype, True)
        everyone, heard = Bitmask.full(self.n, device="cuda"), Bitmask.zeros(self.n, "cuda")
        sets = words(*(address(one.words) for one in (everyone, frontier.bits, heard)), 0)
        directly(rows, program.product, sets)(self.state, self._messages)

    def _forget(self) -> None:
        if self.code.notes:
            self.state[-1].fill(0)

    def _note(self) -> None:
        """Those to whom `edge_cond` let a message through: to ask it afterwards, arcs having changed, is too late."""
        if self.code.notes:
            self._received = Bitmask.from_bool(self.state[-1] != 0)
