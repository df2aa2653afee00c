"""An edge-vertex program's functions if vertex properties, or messages, are short tuples of numbers."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from hpgraph.kernels.edges.functions import EdgeFunctions
from hpgraph.kernels.runtime.shaped_functions import ShapedFunctions
from hpgraph.semiring.function import Function


class ShapedEdgeFunctions(ShapedFunctions, EdgeFunctions):
    """Combines `ShapedFunctions` for vertices and messages with `EdgeFunctions` for arcs; every message is a tuple."""

    # The arc's version; `_message` makes its message a tuple.
    gather = EdgeFunctions.gather

    @cached_property
    def gather_to(self) -> Function:
        """``gather_to(state, u, arc, v, place)``: `gather` into memory at a pointer; notes that v received."""
        return self._to("gather_to_at", self.gather, "u, weight, v")

    @cached_property
    def heard_to(self) -> Function:
        """The same for an arc's reply to its source, for a product by rows of out-arcs: u is the column."""
        reply, _ = self.replies
        assert reply is not None
        return self._to("heard_to_at", reply, "v, weight, u")

    @cached_property
    def hears(self) -> Function:
        """Whether there is a reply along an arc, in the same order."""
        _, condition = self.replies
        assert condition is not None
        names = {"condition": condition.python}
        return self.code.wrap("hears_at", "state, u, weight, v", "return condition(state, v, weight, u)", **names)

    def _to(self, name: str, message: Function, arc: str) -> Function:
        code = self.code
        noted = f"state[{code.first_cell + len(code.cells)}][v] = 1\n" if code.notes else ""
        body = f"{noted}put(place, 0, message(state, {arc}))\nreturn None"
        return code.wrap(
            name, "state, u, weight, v, place", body, message=message.python, put=self.put.python
        )

    def _message(self, names: dict[str, Any]) -> tuple[list[str], str]:
        if not self.code.message_length:
            sent, message = super()._message(names)
            return sent, f"({message},)"
        names["rounded"] = self._rounded.python
        return ["sent"], "rounded(sent)"

    @cached_property
    def _rounded(self) -> Function:
        """A tuple's numbers in the type of a message; the compiler rejects other lengths."""
        parts = [f"part{j}" for j in range(self.width)]
        body = f"{', '.join(parts)}, = () + sent\nreturn ({', '.join(f'cast({part})' for part in parts)},)"
        return self.code.wrap("rounded_at", "sent", body, cast=self.code.message.type)
