"""Edge-vertex programs: their arrays, and their functions as kernels call them, with an arc's number for its weight.

Both arcs of an edge may be processed in one superstep, on different threads. If a program reads reverse arcs, an arc
therefore keeps two values of each property that changes, side by side, and a stamp: the superstep in which it was last
written, and which of the two that was. Writes go to the other one; reads get the value before the superstep, whether it
has been written yet or not. So results do not depend on the schedule, and nothing is copied between supersteps. If all
arcs change in every superstep, the two alternate, and there is no stamp.
"""

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hpgraph.kernels.runtime.functions import ProgramFunctions, unpack
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function

# A stamp holds a superstep modulo 2**31, and one bit: which of the two values was written last. An arc would have to
# stay unchanged for exactly 2**31 supersteps to be mistaken for one just written.
STAMP = np.dtype(np.uint32)
PLACES = np.dtype(np.int32)
_CALLED = {"gather": "edge_compute", "update": "vertex_compute", "reduce": "combiner", "halts": "vote_to_halt"}


class EdgeFunctions(ProgramFunctions):
    """See `ProgramFunctions`; ``weight`` is the arc's number, and the state also holds the arrays of the arcs."""

    code: "EdgeProgramCode"

    @cached_property
    def gather(self) -> Function:
        """``gather(state, u, arc, v) -> message``: also writes the arc's properties."""
        code = self.code
        text, names = self._arc()
        call = f"gather({self._vertex('u')}, edge, {self._vertex('v')}{self._now(code.gather, 3)})"
        names["gather"] = code.gather
        sent, message = self._message(names)
        lines = [text, f"{unpack([*sent, *(f'new{i}' for i in code.changes)])} {call}"]
        slot = "2 * weight + (1 - side)" if code.keeps_two else "weight"
        for i in code.changes:
            name, dtype = code.edge_properties[i]
            names[f"cast{i}"] = dtype.type
            lines.append(f"state[{code.place(name)}][{slot}] = cast{i}(new{i})")
        if code.keeps_stamps:
            lines.append(f"state[{code.place('stamp')}][weight] = turn << 1 | (1 - side)")
        return code.wrap("gather_at", "state, u, weight, v", "\n".join([*lines, f"return {message}"]), **names)

    @cached_property
    def edge_cond(self) -> Function:
        """``edge_cond(state, u, arc, v) -> bool``."""
        return self._condition("edge_cond", self.code.edge_cond)

    @cached_property
    def replies(self) -> tuple[Function | None, Function | None]:
        """The arc's reply to its source, and whether there is one."""
        code = self.code
        if code.reply is None:
            return None, None
        text, names = self._arc()
        call = f"reply({self._vertex('u')}, edge, {self._vertex('v')}{self._now(code.reply, 3)})"
        names["reply"] = code.reply
        given, message = self._message(names)
        body = f"{text}\n{unpack(given)} {call}\nreturn {message}"
        reply = code.wrap("reply_at", "state, u, weight, v", body, **names)
        return reply, self._condition("reply_cond", code.reply_cond)

    @cached_property
    def reply_product(self) -> Function | None:
        """`reply` for a product by rows of out-arcs, ``u`` being the column; see `offer`."""
        reply, condition = self.replies
        if reply is None or condition is None:
            return None
        return self._noting("reply_product_at", reply, condition, "v, weight, u")

    def _condition(self, name: str, asked: Callable[..., Any] | None) -> Function:
        if asked is None:
            return self.code.wrap(f"{name}_at", "state, u, weight, v", "return True")
        text, names = self._arc()
        body = f"{text}\nreturn asked({self._vertex('u')}, edge, {self._vertex('v')}{self._now(asked, 3)})"
        return self.code.wrap(f"{name}_at", "state, u, weight, v", body, **names, asked=asked)

    @cached_property
    def offer(self) -> Function:
        """`gather`, or the monoid's identity if `edge_cond` is false.

        If it is true, that is noted in one more array of the state, a byte for each vertex.
        """
        if not self.code.notes_arrivals:
            return self.gather
        return self._noting("offer_at", self.gather, self.edge_cond, "u, weight, v")

    def _noting(self, name: str, message: Function, condition: Function, arc: str) -> Function:
        code = self.code
        return code.wrap(
            name, "state, u, weight, v",
            f"if condition(state, {arc}):\n    state[{code.first_cell + len(code.cells)}][v] = 1\n"
            f"    return message(state, {arc})\nreturn cast(identity)",
            message=message.python, condition=condition.python,
            identity=code.reduce.identity_for(code.message).item(), cast=code.message.type,
        )  # fmt: skip

    @cached_property
    def reply_to(self) -> Function:
        """The same for an arc's reply to its source, for a product by rows of out-arcs: u is the column."""
        reply, _ = self.replies
        assert reply is not None
        return self._to("reply_to_at", reply, "v, weight, u")

    @cached_property
    def replies_along(self) -> Function:
        """Whether there is a reply along an arc, in the same order."""
        _, condition = self.replies
        assert condition is not None
        names = {"condition": condition.python}
        body = "return condition(state, v, weight, u)"
        return self.code.wrap("replies_along_at", "state, u, weight, v", body, **names)

    def _to(self, name: str, message: Function, arc: str) -> Function:
        code = self.code
        noted = f"state[{code.first_cell + len(code.cells)}][v] = 1\n" if code.notes else ""
        body = f"{noted}put(place, 0, message(state, {arc}))\nreturn None"
        return code.wrap(name, "state, u, weight, v, place", body, message=message.python, put=self.put.python)

    def _renewal(self, old: list[str]) -> tuple[str, dict[str, Any]]:
        """A vertex stays active unless it votes to halt."""
        text, names = super()._renewal(old)
        if self.code.halts is None:
            return text, names
        before, after = self._vertex_of("v", old), self._vertex_of("v", [f"new{i}" for i in self._each])
        world = f", {self._world}" if self.code.takes_world(self.code.halts, 2) else ""
        return f"{text}\nchanged = not bool(halts({before}, {after}{world}))", {**names, "halts": self.code.halts}

    def _arc(self) -> tuple[str, dict[str, Any]]:
        """Text that builds an ``edge`` from an arc's number, and the names it refers to."""
        code = self.code
        names: dict[str, Any] = {"Edge": code.edge}
        lines = []
        if code.keeps_stamps:
            lines += [
                f"turn = state[{code.first_cell}][0] & {0x7FFFFFFF}",
                f"side = int(state[{code.place('stamp')}][weight]) & 1",
            ]
        elif code.keeps_two:
            lines.append(f"side = other = (state[{code.first_cell}][0] + 1) & 1")
        values = [self._value(i, "weight", "side") for i in range(len(code.edge_properties))]
        weight = "1" if code.weight is None else f"state[{code.place('weight')}][weight]"
        reverse = "0"
        if code.reads_reverse:
            names["Reverse"] = code.reverse
            lines += [
                f"back = int(state[{code.place('reverse')}][weight])",
                "exists = back >= 0",
                # A missing reverse reads as zero; the arc itself is loaded in its place.
                "back = back if exists else int(weight)",
            ]
            if code.keeps_stamps:
                lines += [
                    f"stamp = int(state[{code.place('stamp')}][back])",
                    # Written in this superstep: the other one is the value before.
                    "other = (stamp & 1) ^ (1 if stamp >> 1 == turn else 0)",
                ]
            fields = []
            for i, (_, dtype) in enumerate(code.edge_properties):
                names[f"zero{i}"] = dtype.type(0)
                fields.append(f"{self._value(i, 'back', 'other')} if exists else zero{i}")
            heavy = "1 if exists else 0"
            if code.weight is not None:
                names["weightless"] = code.weight.type(0)
                heavy = f"state[{code.place('weight')}][back] if exists else weightless"
            reverse = f"Reverse({', '.join(['exists', heavy, *fields])})"
        edge = f"edge = Edge({', '.join(['weight', weight, *values, reverse])})"
        return "\n".join([*lines, edge]), names

    def _value(self, i: int, arc: str, side: str) -> str:
        """Text that reads an edge property as of before the superstep."""
        code = self.code
        two = code.keeps_two and not code.constant[i]
        return f"state[{code.place(code.edge_properties[i][0])}][{f'2 * {arc} + {side}' if two else arc}]"


@dataclass(frozen=True, eq=False)
class EdgeProgramCode(ProgramCode):
    """Functions and types of an edge-vertex program.

    Its `gather` is `edge_compute`, `update` `vertex_compute`, `reduce` `combiner`; ``weight``: None if none are read.
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
    all_active: bool = False

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
        return self.keeps_two and not (self.all_active and self.edge_cond is None)

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

    def _find_cells(self) -> tuple[np.dtype, ...]:
        """See `ProgramCode.cells`; stamps are compared with the superstep, too."""
        found = super()._find_cells()
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


def current(values: Any, stamps: Any, supersteps: int, arrays: Any) -> Any:
    """The last written value of each arc, of a property that keeps two: no stamps if all change in every superstep."""
    both = values.reshape(-1, 2)
    if stamps is None:
        return both[:, supersteps & 1].copy()
    return arrays.where((stamps & np.uint32(1)).astype(bool), both[:, 1], both[:, 0])
