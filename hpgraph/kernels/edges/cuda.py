"""Supersteps of edge-vertex programs on the GPU."""

from __future__ import annotations

from typing import Any

from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.edges.functions import EdgeFunctions
from hpgraph.kernels.edges.program import EdgeProgramCode
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv.cuda import pull
from hpgraph.kernels.spmv.cuda_spmspv import push
from hpgraph.kernels.superstep import Part, cuda


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
