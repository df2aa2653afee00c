"""A vertex program's functions as kernels call them: over a tuple of arrays, one a property, and vertex ids.

The same wrappers serve both backends: Numba compiles them for the CPU with arrays in the tuple, for the GPU with
pointers.

Properties of a width, short tuples of numbers, are in C order of (vertices, numbers), flattened for kernels. If a
program has one (`ProgramCode.is_shaped`), its messages are always tuples, of one number if they have no width, and
tuples are combined number by number.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function


def unpack(names: list[str]) -> str:
    """Left side of an assignment of a function's tuple; adding () rejects a list, whose length is not static."""
    return f"{names[0]} =" if len(names) == 1 else f"{', '.join(names)} = () +"


def as_tuple(members: list[str]) -> str:
    """Text of a tuple."""
    return f"({', '.join(members)},)"


class ProgramFunctions:
    """The functions kernels call. ``state`` is the tuple of property arrays, ``world`` a tuple of parameters."""

    # Parameters of `gather` and first ones of `update`, and where the source has its values.
    _of_arc, _of_target, _place_of_source = "state, u, weight, v", "state, v", "u"

    def __init__(self, code: ProgramCode, own: str = "v") -> None:
        self.code = code
        self.own = own
        # Numbers of each property, 0 for one that is no tuple; and of a message in kernels.
        self._lengths = code.lengths or (0,) * len(code.properties)
        self.width = max(code.message_length, 1) if code.is_shaped else 0

    @cached_property
    def on_copies(self) -> "ProgramFunctions":
        """The same, with `update` and `aggregate` over copies of the vertex's properties."""
        return type(self)(self.code, own="0")

    def _vertex(self, id_: str) -> str:
        return self._vertex_of(id_, self._values(self.own if id_ == "v" else self._place_of_source))

    def _values(self, place: str) -> list[str]:
        """The properties of the vertex at index `place`."""
        return [
            as_tuple([f"state[{i}][{place} * {k} + {j}]" for j in range(k)]) if k else f"state[{i}][{place}]"
            for i, k in enumerate(self._lengths)
        ]

    def _writes(self) -> str:
        """Text that stores new0, new1, ..."""
        lines = ""
        for i, k in enumerate(self._lengths):
            lines += "".join(f"\nstate[{i}][{self.own} * {k} + {j}] = new{i}[{j}]" for j in range(k))
            lines += "" if k else f"\nstate[{i}][{self.own}] = new{i}"
        return lines

    def _rounds(self) -> str:
        """Text that rounds new0, new1, ... to the types of the properties: cast0, cast1, ..."""
        lines = ""
        for i, k in enumerate(self._lengths):
            lines += f"\n{_round_tuple(f'new{i}', k, f'cast{i}')}" if k else f"\nnew{i} = cast{i}(new{i})"
        return lines

    def _differs(self, old: list[str]) -> str:
        """Whether new0, new1, ... are changes. A NaN is not: it would count as a change each time."""
        pairs = []
        for i, k in enumerate(self._lengths):
            pairs += [(f"new{i}[{j}]", f"{old[i]}[{j}]") for j in range(k)] if k else [(f"new{i}", old[i])]
        return " | ".join(f"({new} != {was}) & ({new} == {new})" for new, was in pairs)

    def _vertex_of(self, id_: str, values: list[str]) -> str:
        return f"Vertex({', '.join([id_, *values])})"

    @property
    def _each(self) -> range:
        return range(len(self.code.properties))

    @property
    def _world(self) -> str:
        return "World(step" + "".join(f", world[{i}]" for i in range(len(self.code.parameters))) + ")"

    def _now(self, function: Callable[..., Any], count: int) -> str:
        """The world, read from its cells, as a further argument if the function takes one beside `count` others."""
        if not self.code.takes_world(function, count):
            return ""
        first = self.code.first_cell
        return f", World({', '.join(f'state[{first + i}][0]' for i in range(len(self.code.cells)))})"

    @cached_property
    def gather(self) -> Function:
        """``gather(state, u, weight, v) -> message``."""
        code, names = self.code, {"gather": self.code.gather}
        call = f"gather({self._vertex('u')}, weight, {self._vertex('v')}{self._now(code.gather, 3)})"
        names_of, message = self._message(names)
        body = f"{unpack(names_of)} {call}\nreturn {message}"
        return code.wrap("gather_at", self._of_arc, body, **names)

    def _message(self, names: dict[str, Any]) -> tuple[list[str], str]:
        """Names of the parts of a message, and text that builds one from them; adds to `names` what that refers to."""
        pair = self.code.pair
        if self.code.message_length:
            names["rounded"] = self._rounded.python
            return ["sent"], "rounded(sent)"
        if pair is None:
            names["cast"] = self.code.message.type
            parts, message = ["sent"], "cast(sent)"
        else:
            names.update(pack=pair.pack, key_type=pair.key.type, payload_type=pair.payload.type)
            parts, message = ["key", "payload"], "pack(key_type(key), payload_type(payload))"
        return parts, f"({message},)" if self.width else message

    @cached_property
    def _rounded(self) -> Function:
        """A tuple's numbers in the type of a message; the compiler rejects other lengths."""
        body = f"{_round_tuple('sent', self.width, 'cast')}\nreturn sent"
        return self.code.wrap("rounded_at", "sent", body, cast=self.code.message.type)

    @cached_property
    def offer(self) -> Function:
        """`gather`, or the monoid's identity if `edge_cond` is false."""
        if self.code.edge_cond is None:
            return self.gather
        return self.code.wrap(
            "offer_at",
            "state, u, weight, v",
            "return gather(state, u, weight, v) if edge_cond(state, u, weight, v) else cast(identity)",
            cast=self.code.message.type,
            gather=self.gather.python,
            edge_cond=self.edge_cond.python,
            identity=self.code.reduce.identity_for(self.code.message).item(),
        )

    @cached_property
    def edge_cond(self) -> Function:
        """``edge_cond(state, u, weight, v) -> bool``."""
        if self.code.edge_cond is None:
            return self.code.wrap("edge_cond_at", "state, u, weight, v", "return True")
        now = self._now(self.code.edge_cond, 3)
        body = f"return edge_cond({self._vertex('u')}, weight, {self._vertex('v')}{now})"
        return self.code.wrap("edge_cond_at", "state, u, weight, v", body, edge_cond=self.code.edge_cond)

    @cached_property
    def reduce(self) -> Function:
        """``reduce(a, b) -> message``; tuples number by number."""
        one = self.code.reduce.reduce_for(self.code.message)
        if not self.width:
            return one
        joined = as_tuple([f"cast(one(a[{j}], b[{j}]))" for j in range(self.width)])
        return self.code.wrap("join_at", "a, b", f"return {joined}", one=one.python, cast=self.code.message.type)

    @cached_property
    def cond(self) -> Function:
        """``cond(state, v) -> bool``."""
        if self.code.cond is None:
            return self.code.wrap("cond_at", "state, v", "return True")
        body = f"return cond({self._vertex('v')}{self._now(self.code.cond, 1)})"
        return self.code.wrap("cond_at", "state, v", body, cond=self.code.cond)

    @cached_property
    def update(self) -> Function:
        """``update(state, v, message, world, step) -> bool``: writes the properties; whether v then sends."""
        text, names = self._renewal(self._values(self.own))
        message = "message"
        if self.width and not self.code.message_length:
            # Under another name: Numba gives a variable one type.
            message, text = "messages", f"message = messages[0]\n{text}"
        parameters, body = f"{self._of_target}, {message}, world, step", f"{text}{self._writes()}\nreturn changed"
        return self.code.wrap("update_at", parameters, body, **names)

    @cached_property
    def renew(self) -> Function:
        """``renew(before, v, message, world, step) -> after, changed``: `update` from tuple to tuple."""
        text, names = self._renewal([f"before[{i}]" for i in self._each])
        after = "".join(f"new{i}, " for i in self._each)
        return self.code.wrap(
            "renew_at", "before, v, message, world, step", f"{text}\nreturn ({after}), changed", **names
        )

    def _renewal(self, old: list[str]) -> tuple[str, dict[str, Any]]:
        """Text that makes new0, new1, ... of `old` properties, and `changed` (or `sends`); and what it refers to."""
        code = self.code
        new = [f"new{i}" for i in self._each]
        names: dict[str, Any] = {}
        if code.update is None:
            # "any" may choose either of two messages: the new one, so that the vertex shows it has received.
            body = "new0 = message"
            if not code.reduce.ends_on_anything:
                body = f"new0 = reduce(message_type({old[0]}), message)"
                names = {"reduce": self.reduce.python, "message_type": code.message.type}
        else:
            message = "" if code.updates_alone else ", message" if code.pair is None else ", key, payload"
            world = f", {self._world}" if code.takes_world(code.update, 1 + message.count(",")) else ""
            body = f"{unpack(new)} update({self._vertex_of('v', old)}{message}{world})"
            names = {"update": code.update}
            if code.pair is not None:
                body = f"key, payload = unpack(message)\n{body}"
                names["unpack"] = code.pair.unpack
        # A result is rounded to the property's type before it is compared and stored.
        casts = {f"cast{i}": dtype.type for i, (_, dtype) in enumerate(code.properties)}
        rounds = self._rounds()
        if code.sends is not None:
            before, after = self._vertex_of("v", old), self._vertex_of("v", new)
            world = f", {self._world}" if code.takes_world(code.sends, 2) else ""
            names = {**names, **casts, "sends": code.sends}
            return f"{body}{rounds}\nchanged = bool(sends({before}, {after}{world}))", names
        return f"{body}{rounds}\nchanged = {self._differs(old)}", {**names, **casts}

    @cached_property
    def aggregate(self) -> Function:
        """``aggregate(state, before, v, world, step, sums)``: adds what v contributes; `before` has its old values."""
        text, parts, names = self._contribution(self._values(self.own))
        adds = "".join(f"\nsums[{i}] += {part}" for i, part in enumerate(parts))
        parameters = "state, before, v, world, step, sums"
        return self.code.wrap("aggregate_at", parameters, f"{text}{adds}\nreturn None", **names)

    @cached_property
    def tally(self) -> Function:
        """``tally(before, after, v, world, step, changed) -> parts``: changes, and floats that v adds to the sums."""
        text, parts, names = self._contribution([f"after[{i}]" for i in self._each])
        numbers = "".join(f"float(1 * {part}), " for part in ("changed", *parts))
        parameters = "before, after, v, world, step, changed"
        return self.code.wrap("tally_at", parameters, f"{text}\nreturn ({numbers})", **names)

    def _contribution(self, now: list[str]) -> tuple[str, list[str], dict[str, Any]]:
        """Text that computes a vertex's contribution to the sums, the names of its parts, and what it refers to."""
        code = self.code
        if code.aggregate is None:
            return "", [], {}
        before = self._vertex_of("v", [f"before[{i}]" for i in self._each])
        world = f", {self._world}" if code.takes_world(code.aggregate, 2) else ""
        parts = [f"part{i}" for i in range(code.aggregates)]
        text = f"{unpack(parts)} aggregate({before}, {self._vertex_of('v', now)}{world})"
        return text, parts, {"aggregate": code.aggregate}

    @property
    def replies(self) -> tuple[Function | None, Function | None]:
        """Reply of an arc to its source, and whether it replies: functions as `gather` and `edge_cond`."""
        return None, None

    @cached_property
    def reply_product(self) -> Function | None:
        """`gather` of a product by rows of out-arcs that collects replies; None if no edge replies."""
        return None

    @cached_property
    def load(self) -> Function:
        """``load(state, v) -> tuple`` of the properties of v."""
        reads = "".join(f"{value}, " for value in self._values("v"))
        return self.code.wrap("load_at", "state, v", f"return ({reads})")

    # Only for programs with a width.

    @cached_property
    def neutral(self) -> Function:
        """``neutral(identity) -> tuple``: the message that changes none. Numba passes no tuple into a parallel loop."""
        return self.code.wrap("neutral_at", "identity", f"return {as_tuple(['identity'] * self.width)}")

    @cached_property
    def take(self) -> Function:
        """``take(messages, v) -> tuple``: the message of v in an array of messages one after the other."""
        members = [f"messages[v * {self.width} + {j}]" for j in range(self.width)]
        return self.code.wrap("take_at", "messages, v", f"return {as_tuple(members)}")

    @cached_property
    def put(self) -> Function:
        """``put(messages, v, message)``: writes it there."""
        lines = "".join(f"messages[v * {self.width} + {j}] = message[{j}]\n" for j in range(self.width))
        return self.code.wrap("put_at", "messages, v, message", f"{lines}return None")

    @cached_property
    def gather_to(self) -> Function:
        """``gather_to(state, u, weight, v, place)``: `gather`, written through a pointer."""
        return self._to("gather_to_at", self.gather, "u, weight, v")

    def _to(self, name: str, message: Function, arc: str) -> Function:
        body = f"put(place, 0, message(state, {arc}))\nreturn None"
        names = {"message": message.python, "put": self.put.python}
        return self.code.wrap(name, "state, u, weight, v, place", body, **names)

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


def _round_tuple(name: str, length: int, cast: str) -> str:
    """Text that rounds a tuple's numbers; to take it apart by names refuses a tuple of another length."""
    parts = [f"{name}_{j}" for j in range(length)]
    return f"{', '.join(parts)}, = () + {name}\n{name} = {as_tuple([f'{cast}({part})' for part in parts])}"


@lru_cache(maxsize=256)
def functions_of(code: ProgramCode) -> ProgramFunctions:
    """The functions of a program; cached."""
    return (code.functions_type or ProgramFunctions)(code)


class SourceFunctions(ProgramFunctions):
    """`ProgramFunctions` whose vertices ``u`` and ``v`` have their values at the indices ``at_u`` and ``at_v``."""

    _of_arc, _of_target, _place_of_source = "state, u, at_u, weight, v, at_v", "state, v, at_v", "at_u"

    def __init__(self, code: ProgramCode) -> None:
        super().__init__(code, own="at_v")

    @cached_property
    def settle(self) -> Function:
        """``settle(state, v, at_v, message, world, step, received) -> bool``: `update` masked by `received`.

        Returns whether v received without changing. Branch-free if `update` is, so that a loop over 64 consecutive
        vertices is vectorized.
        """
        old = "".join(f"old{i} = state[{i}][at_v]\n" for i in self._each)
        text, names = self._renewal([f"old{i}" for i in self._each])
        writes = "".join(f"\nstate[{i}][at_v] = new{i} if received else old{i}" for i in self._each)
        parameters = "state, v, at_v, message, world, step, received"
        return self.code.wrap("update_at", parameters, f"{old}{text}{writes}\nreturn received and not changed", **names)

    @cached_property
    def row(self) -> Function:
        """``row(state, source) -> state``: one source's rows of arrays of shape (sources, vertices)."""
        rows = "".join(f"state[{i}][source], " for i in self._each)
        return self.code.wrap("row_at", "state, source", f"return ({rows})")


@lru_cache(maxsize=256)
def source_functions_of(code: ProgramCode) -> SourceFunctions:
    """The functions of a program; cached."""
    return SourceFunctions(code)
