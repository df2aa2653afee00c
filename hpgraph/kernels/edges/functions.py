"""An edge-vertex program's functions as kernels call them, with an arc's number instead of its weight.

Both arcs of an edge may be processed in one superstep, on different threads. If a program reads reverse arcs, an arc
therefore keeps two values of each property that changes, side by side, and a stamp: the superstep in which it was last
written, and which of the two that was. Writes go to the other one; reads get the value before the superstep, whether it
has been written yet or not. So results do not depend on the schedule, and nothing is copied between supersteps. If all
arcs change in every superstep, the two alternate, and there is no stamp.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.kernels.runtime.functions import ProgramFunctions, unpack
from hpgraph.semiring.function import Function

if TYPE_CHECKING:
    from hpgraph.kernels.edges.program import EdgeProgramCode


class EdgeFunctions(ProgramFunctions):
    """See `ProgramFunctions`; ``weight`` is the arc's number, and the state also holds the arrays of the arcs."""

    code: EdgeProgramCode

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
            f"    return message(state, {arc})\nreturn cast(nothing)",
            message=message.python, condition=condition.python,
            nothing=code.reduce.identity_for(code.message).item(), cast=code.message.type,
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
            there = []
            for i, (_, dtype) in enumerate(code.edge_properties):
                names[f"zero{i}"] = dtype.type(0)
                there.append(f"{self._value(i, 'back', 'other')} if exists else zero{i}")
            heavy = "1 if exists else 0"
            if code.weight is not None:
                names["weightless"] = code.weight.type(0)
                heavy = f"state[{code.place('weight')}][back] if exists else weightless"
            reverse = f"Reverse({', '.join(['exists', heavy, *there])})"
        edge = f"edge = Edge({', '.join(['weight', weight, *values, reverse])})"
        return "\n".join([*lines, edge]), names

    def _value(self, i: int, arc: str, side: str) -> str:
        """Text that reads an edge property as of before the superstep."""
        code = self.code
        two = code.keeps_two and not code.constant[i]
        return f"state[{code.place(code.edge_properties[i][0])}][{f'2 * {arc} + {side}' if two else arc}]"


def current(values: Any, stamps: Any, supersteps: int, arrays: Any) -> Any:
    """The last written value of each arc, of a property that keeps two.

    ``values`` (array of length 2 m); ``stamps`` (array of length m, or None): None if all arcs changed in every
    superstep. Returns array of length m.
    """
    both = values.reshape(-1, 2)
    if stamps is None:
        return both[:, supersteps & 1].copy()
    return arrays.where((stamps & np.uint32(1)).astype(bool), both[:, 1], both[:, 0])
