"""A vertex program's functions if properties, or messages, are short tuples of numbers.

Properties are in C order of (vertices, numbers), flattened for kernels. In kernels a message is always a tuple, of one
number if the program's has no shape; tuples are combined number by number.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

from hpgraph.kernels.runtime.functions import ProgramFunctions
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function


def _tuple(members: list[str]) -> str:
    return f"({', '.join(members)},)"


class ShapedFunctions(ProgramFunctions):
    """`ProgramFunctions` of a program with shapes."""

    def __init__(self, code: ProgramCode) -> None:
        super().__init__(code)
        self.width = max(code.message_length, 1)
        self._lengths = code.lengths or (0,) * len(code.properties)

    def _values(self, place: str) -> list[str]:
        return [
            _tuple([f"state[{i}][{place} * {k} + {j}]" for j in range(k)]) if k else f"state[{i}][{place}]"
            for i, k in enumerate(self._lengths)
        ]

    def _writes(self) -> str:
        lines = ""
        for i, k in enumerate(self._lengths):
            if k:
                lines += "".join(f"\nstate[{i}][v * {k} + {j}] = new{i}[{j}]" for j in range(k))
            else:
                lines += f"\nstate[{i}][v] = new{i}"
        return lines

    def _rounds(self) -> str:
        lines = ""
        for i, k in enumerate(self._lengths):
            if k:
                # To take it apart by names refuses a tuple of another length; to add the empty one, what is none.
                parts = [f"new{i}_{j}" for j in range(k)]
                lines += f"\n{', '.join(parts)}, = () + new{i}"
                lines += f"\nnew{i} = {_tuple([f'cast{i}({part})' for part in parts])}"
            else:
                lines += f"\nnew{i} = cast{i}(new{i})"
        return lines

    def _differs(self, old: list[str]) -> str:
        pairs = []
        for i, k in enumerate(self._lengths):
            pairs += [(f"new{i}[{j}]", f"{old[i]}[{j}]") for j in range(k)] if k else [(f"new{i}", old[i])]
        return " | ".join(f"({new} != {was}) & ({new} == {new})" for new, was in pairs)

    @cached_property
    def gather(self) -> Function:
        """``gather(state, u, weight, v) -> tuple``."""
        code = self.code
        if not code.message_length:
            one = super().gather.python
            return code.wrap("gather_at", "state, u, weight, v", "return (one(state, u, weight, v),)", one=one)
        parts = [f"part{j}" for j in range(self.width)]
        sent = f"gather({self._vertex('u')}, weight, {self._vertex('v')}{self._now(code.gather, 3)})"
        body = f"{', '.join(parts)}, = () + {sent}\nreturn {_tuple([f'cast({part})' for part in parts])}"
        return code.wrap("gather_at", "state, u, weight, v", body, gather=code.gather, cast=code.message.type)

    @cached_property
    def join(self) -> Function:
        """``join(a, b) -> tuple``, number by number."""
        one = self.code.reduce.reduce_for(self.code.message).python
        joined = _tuple([f"cast(one(a[{j}], b[{j}]))" for j in range(self.width)])
        return self.code.wrap("join_at", "a, b", f"return {joined}", one=one, cast=self.code.message.type)

    @cached_property
    def neutral(self) -> Function:
        """``neutral(identity) -> tuple``: the message that changes none. Numba hands no tuple into a parallel loop."""
        return self.code.wrap("neutral_at", "identity", f"return {_tuple(['identity'] * self.width)}")

    @cached_property
    def update(self) -> Function:
        """``update(state, v, messages, world, step) -> bool``: writes the properties; whether v then sends."""
        text, names = self._renewal(self._values("v"))
        whole = "messages" if self.code.message_length else "messages[0]"
        body = f"message = {whole}\n{text}{self._writes()}\nreturn changed"
        return self.code.wrap("update_at", "state, v, messages, world, step", body, **names)

    @cached_property
    def take(self) -> Function:
        """``take(messages, v) -> tuple``: the message of v in an array of messages one after the other."""
        members = [f"messages[v * {self.width} + {j}]" for j in range(self.width)]
        return self.code.wrap("take_at", "messages, v", f"return {_tuple(members)}")

    @cached_property
    def put(self) -> Function:
        """``put(messages, v, message)``: writes it there."""
        lines = "".join(f"messages[v * {self.width} + {j}] = message[{j}]\n" for j in range(self.width))
        return self.code.wrap("put_at", "messages, v, message", f"{lines}return None")

    @cached_property
    def gather_to(self) -> Function:
        """``gather_to(state, u, weight, v, place)``: `gather`, to where a pointer says."""
        body = "put(place, 0, gather(state, u, weight, v))\nreturn None"
        names = {"gather": self.gather.python, "put": self.put.python}
        return self.code.wrap("gather_to_at", "state, u, weight, v, place", body, **names)

    @cached_property
    def apply(self) -> Function:
        """``apply(state, v, messages, world, step, sums) -> bool``: `update` at v, and what it adds to the sums."""
        body = (
            "before = load(state, v)\nchanged = update(state, v, take(messages, v), world, step)\n"
            "aggregate(state, before, v, world, step, sums)\nreturn changed"
        )
        names = {name: getattr(self, name).python for name in ("load", "update", "take", "aggregate")}
        return self.code.wrap("apply_at", "state, v, messages, world, step, sums", body, **names)

    @cached_property
    def contribute(self) -> Function:
        """``contribute(state, v, world, step, sums)``: what v adds to the sums where nothing has changed."""
        body = "aggregate(state, load(state, v), v, world, step, sums)\nreturn None"
        names = {"aggregate": self.aggregate.python, "load": self.load.python}
        return self.code.wrap("contribute_at", "state, v, world, step, sums", body, **names)


@lru_cache(maxsize=256)
def shaped_functions_of(code: ProgramCode) -> ShapedFunctions:
    """The functions of a program; cached."""
    return (code.shaped_functions_type or ShapedFunctions)(code)
