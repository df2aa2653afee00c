"""Code of an edge-vertex program: a vertex program's code, and the arrays of the arcs."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hpgraph.kernels.edges.functions import EdgeFunctions
from hpgraph.kernels.runtime.program import ProgramCode

# A stamp holds a superstep modulo 2**31, and one bit: which of the two values was written last. An arc would have to
# stay unchanged for exactly 2**31 supersteps to be mistaken for one just written.
STAMP = np.dtype(np.uint32)
PLACES = np.dtype(np.int32)
_CALLED = {"gather": "edge_compute", "update": "vertex_compute", "reduce": "combiner", "halts": "vote_to_halt"}


@dataclass(frozen=True, eq=False)
class EdgeProgramCode(ProgramCode):
    """Functions and types of an edge-vertex program.

    `gather` is its `edge_compute`, `update` its `vertex_compute`, `reduce` its `combiner`.

    ``edge_properties``: names and types of the edge properties, in order; ``weight``: type of the weights; None if
    there are none, or none are read.
    """

    functions_type: ClassVar[type] = EdgeFunctions
    has_edges: ClassVar[bool] = True

    edge_properties: tuple[tuple[str, np.dtype], ...] = ()
    constant: tuple[bool, ...] = ()
    weight: np.dtype | None = None
    places: np.dtype = PLACES
    reads_reverse: bool = False
    halts: Callable[..., Any] | None = None
    reply: Callable[..., Any] | None = None
    reply_cond: Callable[..., Any] | None = None
    everyone: bool = False

    @property
    def changes(self) -> tuple[int, ...]:
        """Indices of the edge properties that `edge_compute` returns."""
        return tuple(i for i, constant in enumerate(self.constant) if not constant)

    @property
    def keeps_two(self) -> bool:
        """Whether an arc may be read, from its reverse, in the superstep that changes it.

        Then it keeps two values of what changes, as the value before the superstep is still read.
        """
        return self.reads_reverse and bool(self.changes)

    @property
    def keeps_stamps(self) -> bool:
        """Whether arcs keep the time of their last change: not if all change in every superstep, and so alternate."""
        return self.keeps_two and not (self.everyone and self.edge_cond is None)

    @cached_property
    def beside(self) -> tuple[tuple[str, np.dtype], ...]:
        """Names and types of the arrays that follow the vertices' properties in the state."""
        found = list(self.edge_properties)
        if self.weight is not None:
            found.append(("weight", self.weight))
        if self.reads_reverse:
            found.append(("reverse", self.places))
        if self.keeps_stamps:
            found.append(("stamp", STAMP))
        return tuple(found)

    @property
    def notes_arrivals(self) -> bool:
        """Whether products must note the receivers: a message may be sent along some arcs and not along others."""
        return self.edge_cond is not None or self.reply is not None

    @property
    def weightless(self) -> np.dtype:
        """See `ProgramCode.weightless`: the arc's number replaces the weight."""
        return self.places

    @property
    def notes(self) -> tuple[np.dtype, ...]:
        """See `ProgramCode.notes`: the receivers, if messages are tuples."""
        return (np.dtype(np.uint8),) if self.is_shaped and self.notes_arrivals else ()

    @property
    def reads_receivers(self) -> bool:
        """See `ProgramCode.reads_receivers`; arcs have properties, too, which both ends may read."""
        return True

    @cached_property
    def choosing(self) -> ProgramCode:
        """See `ProgramCode.choosing`: only vertices decide."""
        return replace(self, cond=self.starts, edge_cond=None, reply=None, reply_cond=None)

    @cached_property
    def cells(self) -> tuple[np.dtype, ...]:
        """See `ProgramCode.cells`; stamps are compared with the superstep, too."""
        found = super().cells
        asked = self.keeps_two or any(f is not None and self.takes_world(f, 3) for f in (self.reply, self.reply_cond))
        if asked and not found:
            found = np.dtype(np.int64), *(dtype for _, dtype in self.parameters)
        return found

    def place(self, name: str) -> int:
        """Index in the state of an array of the arcs."""
        return len(self.properties) + [known for known, _ in self.beside].index(name)

    def called(self, name: str) -> str:
        """See `ProgramCode.called`."""
        return _CALLED.get(name, name)

    @cached_property
    def edge(self) -> type:
        """Named tuple of an arc: its number, its weight, its properties, and its reverse."""
        names = [name for name, _ in self.edge_properties]
        return namedtuple("Edge", ("id", "weight", *names, "reverse"))  # type: ignore[misc]

    @cached_property
    def reverse(self) -> type:
        """Named tuple of an arc's reverse."""
        names = [name for name, _ in self.edge_properties]
        return namedtuple("Reverse", ("exists", "weight", *names))  # type: ignore[misc]
