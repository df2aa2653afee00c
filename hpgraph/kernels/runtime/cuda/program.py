"""A vertex program as C++: a struct of pointers to its property arrays, whose methods call the compiled functions.

Each function has a name in C++, and the struct that the prologue declares holds the pointers. The calls are inlined,
by the compiler or where Numba's code is linked, and loads of properties that a function does not read disappear.
"""

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.specialization import Specialization
from hpgraph.kernels.runtime.cuda.structs import struct, word
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import Beginning, ProgramCode
from hpgraph.semiring import get_monoid
from hpgraph.semiring.c_types import c_literal, c_type
from hpgraph.semiring.cuda import LinkedCode, device_function
from hpgraph.semiring.function import Function
from hpgraph.semiring.tracing import byte_type

_ID = np.dtype(np.int64)
_BOOL = np.dtype(np.bool_)


class DeviceFunctions:
    """A struct of C++ whose methods call compiled functions."""

    @cached_property
    def _functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
        return self._list_functions()

    def _list_functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
        """Each function by its C name, with the types of its arguments and of its result."""
        raise NotImplementedError

    @cached_property
    def _code(self) -> tuple[str, tuple[LinkedCode, ...]]:
        made = [device_function(*function, name) for name, function in self._functions.items()]
        return "".join(text for text, _ in made), tuple(code for _, linked in made for code in linked)

    @property
    def ltoir(self) -> tuple[LinkedCode, ...]:
        """The code of functions that C++ only declares, compiled only if no finished kernel is cached."""
        return self._code[1]


class CUDAProgram(DeviceFunctions):
    """The C++ struct ``Program`` of a vertex program, and its code; weights None are a pattern's, int32 ones."""

    def __init__(self, code: ProgramCode, weight: np.dtype | None) -> None:
        self.code = code
        self.weight = np.dtype(np.int32 if weight is None else weight)
        self._properties = tuple(dtype for _, dtype in code.properties)
        self._world = tuple(dtype for _, dtype in code.parameters)
        self._pointers = tuple(f"{dtype.name}*" for dtype in self._properties)
        # Name of a vertex at v, and the arrays indexed by it.
        self._vertex, self._named = "v", self._properties
        if code.names_vertices:
            self._vertex = f"p{len(self._properties)}[v]"
            self._named = (*self._properties, *(dtype for _, dtype in code.beside))
        # Functions whose only argument is the state read the world from the cells after the properties.
        self._state = (*self._properties, *(dtype for _, dtype in code.beside), *code.cells)

    def struct(
        self, state: tuple[Any, ...], world: tuple[Any, ...], beginnings: tuple[Beginning | None, ...] = ()
    ) -> bytes:
        """The struct's value for given arrays and parameters."""
        fills = self._properties, beginnings or (None,) * len(self._properties)
        if not world:
            return struct(*state, _packed_fills(*fills))
        parameters = [dtype.type(value) for value, dtype in zip(world, self._world, strict=True)]
        return struct(*state, *parameters, *_fills(*fills))

    @property
    def weight_type(self) -> str:
        """C++ type of the weights in memory."""
        return c_type(self.weight)

    def _list_functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
        made, on_copies, code = functions_of(self.code), functions_of(self.code).on_copies, self.code
        pointers = tuple(f"{dtype.name}*" for dtype in self._state)
        arc = (pointers, _ID, self.weight, _ID)
        found: dict[str, tuple[Function, tuple[Any, ...], Any]] = {
            "hpg_gather": (made.gather, arc, code.message),
            "hpg_reduce": (made.reduce, (code.message, code.message), code.message),
            "hpg_update": (on_copies.update, (self._pointers, _ID, code.message, self._world, _ID), _BOOL),
        }
        if code.edge_cond is not None:
            found["hpg_edge_cond"] = (made.edge_cond, arc, _BOOL)
        reply, reply_cond = made.replies
        if reply is not None and reply_cond is not None:
            found["hpg_reply"] = (reply, arc, code.message)
            found["hpg_reply_cond"] = (reply_cond, arc, _BOOL)
        if code.cond is not None:
            found["hpg_cond"] = (made.cond, (pointers, _ID), _BOOL)
        if code.aggregate is not None:
            pointers = tuple(f"{dtype.name}*" for dtype in self._named)
            arguments = (pointers, self._properties, _ID, self._world, _ID, "float64*")
            found["hpg_aggregate"] = (made.aggregate, arguments, None)
        return found

    @cached_property
    def prologue(self) -> str:
        """C++ text: the functions, and the struct ``Program``."""
        return self._write_prologue()

    def _write_prologue(self) -> str:
        # Derived programs override this: `super()` of a cached property would keep the base's value in the object,
        # where another thread could read it.
        m, n_properties = byte_type(self.code.message), range(len(self._properties))
        arc = f"long long u, {byte_type(self.weight)} weight, long long v"
        before = [f"        const {byte_type(dtype)} b{i} = p{i}[v];" for i, dtype in enumerate(self._properties)]
        adds = []
        if self.code.aggregate is not None:
            values = f"{self._list('p', self._named)}, {self._list('b', self._properties)}"
            adds = [f"        hpg_aggregate({values}, v{self._w}, step, sums);"]
        return "\n".join(
            [
                self._code[0] + self._joins[0] + "struct Program {",
                *(f"    {field}" for field in self._fields()),
                *self._constants(m),
                self._method(m, "gather", arc, "u, weight, v"),
                self._method("bool", "edge_cond", arc, "u, weight, v"),
                f"    static constexpr bool REPLIES = {word('hpg_reply' in self._functions)};",
                self._method(m, "reply", arc, "u, weight, v"),
                self._method("bool", "reply_cond", arc, "u, weight, v"),
                self._method("bool", "cond", "long long v", "v"),
                f"    __device__ {m} reduce({m} a, {m} b) const {{ return hpg_reduce(a, b); }}",
                f"    __device__ static {m} join({m} a, {m} b) {{ return hpg_reduce(a, b); }}",
                *self._updates("update", [f"p{i}[v]" for i in n_properties]),
                "    // The same for a vertex that still has what it began with: nothing is loaded that is known.",
                *self._updates("receive", [f"begins{i} ? fill{i} : p{i}[v]" for i in n_properties]),
                f"    __device__ bool apply(long long v, {m} message, long long step, double* sums) const {{",
                *before,
                "        const bool changed = update(v, message, step);",
                *adds,
                "        return changed;",
                "    }",
                *self._initial_values(),
                "    __device__ void contribute(long long v, long long step, double* sums) const {",
                *before,
                *adds,
                "    }",
                *self._turn(),
                "    // The same program on properties that lie so many elements further.",
                "    __device__ Program of_source(long long shift) const {",
                "        Program own = *this;",
                *(f"        own.p{i} += shift;" for i in n_properties),
                "        return own;",
                "    }",
                "};",
                "",
            ]
        )

    def _fields(self) -> list[str]:
        """Fields: pointers, parameters, and how each property begins.

        0 as it is, 1 filled, 2 with another value at the sources, 3 with their ids there.
        """
        fields = [f"{byte_type(dtype)}* p{i};" for i, dtype in enumerate(self._state)]
        fields += [f"{byte_type(dtype)} w{i};" for i, dtype in enumerate(self._world)]
        for i, dtype in enumerate(self._properties):
            fields += [f"{byte_type(dtype)} fill{i}, start{i};", f"unsigned char begins{i};"]
        return fields

    def _constants(self, message: str) -> list[str]:
        """Types and constants that the templates read."""
        code = self.code
        return [
            f"    typedef {message} Message, Number;",
            "    static constexpr int WIDTH = 0;",
            f"    static constexpr int SUMS = {code.aggregates};",
            f"    static constexpr bool CHOOSES_ARCS = {word(code.edge_cond is not None)};",
            f"    static constexpr bool CHOOSES_VERTICES = {word(code.cond is not None)};",
            f"    static constexpr bool READS_WORLD = {word(bool(code.cells))};",
            f"    static constexpr bool READS_RECEIVERS = {word(code.reads_receivers)};",
            self._joins[1],
            f"    static constexpr bool MIN = {word(code.reduce == get_monoid('min'))};",
        ]

    def _initial_values(self) -> list[str]:
        """Methods that initialize a vertex before a traversal, and its sources."""
        types = [byte_type(dtype) for dtype in self._properties]
        return [
            "    // What a traversal's vertices have before it, and its sources.",
            "    __device__ void fill(long long v) const {",
            *(f"        if (begins{i}) p{i}[v] = fill{i};" for i in range(len(types))),
            "    }",
            "    __device__ void start(long long v) const {",
            *(f"        if (begins{i} > 1) p{i}[v] = begins{i} == 3 ? ({kind})v : start{i};"
              for i, kind in enumerate(types)),
            "    }",
        ]  # fmt: skip

    @cached_property
    def _joins(self) -> tuple[str, str]:
        """C++ text before the struct, and in it, for a monoid that operators.cuh has atomics for."""
        # A bool is a byte here, which operators.cuh would add and multiply as a number.
        operator = None if self.code.message == _BOOL else self.code.reduce.cpp
        flag = f"    static constexpr bool JOINS_BUILT_IN = {word(operator is not None)};"
        if operator is None:
            return "", flag
        declared = f"namespace hpgraph {{ namespace op {{ struct {operator}; }} }}\n"
        return declared, f"{flag}\n    typedef hpgraph::op::{operator} Joins;"

    def _turn(self) -> list[str]:
        """A method that writes the number of a superstep to where the functions read it."""
        if not self.code.cells:
            return []
        first = self.code.first_cell
        return [f"    __device__ void turn(long long step) const {{ *(volatile long long*)p{first} = step; }}"]

    def _updates(self, name: str, values: list[str]) -> list[str]:
        """A method that updates copies of a vertex's properties, so that they stay in registers, and stores them."""
        types = [byte_type(dtype) for dtype in self._properties]
        copies = [f"        {kind} c{i} = {value};" for i, (kind, value) in enumerate(zip(types, values, strict=True))]
        addresses, message = ", ".join(f"&c{i}" for i in range(len(types))), byte_type(self.code.message)
        return [
            f"    __device__ bool {name}(long long v, {message} message, long long step) const {{",
            *copies,
            f"        const bool changed = hpg_update({addresses}, {self._vertex}, message{self._w}, step);",
            *(f"        p{i}[v] = c{i};" for i in range(len(types))),
            "        return changed;",
            "    }",
        ]

    @staticmethod
    def _list(letter: str, members: tuple[Any, ...]) -> str:
        return ", ".join(f"{letter}{i}" for i in range(len(members)))

    @property
    def _w(self) -> str:
        return "".join(f", w{i}" for i in range(len(self._world)))

    def _method(self, result: str, name: str, parameters: str, arguments: str) -> str:
        called = f"hpg_{name}({self._list('p', self._state)}, {arguments})"
        body = called if f"hpg_{name}" in self._functions else "true"
        return f"    __device__ {result} {name}({parameters}) const {{ return {body}; }}"


@lru_cache(maxsize=256)
def _fills(dtypes: tuple[np.dtype, ...], beginnings: tuple[Beginning | None, ...]) -> list[Any]:
    """Initial value of each property, its value at the sources, and how; see the prologue."""
    fills = []
    for dtype, beginning in zip(dtypes, beginnings, strict=True):
        fill, start = (0, None) if beginning is None else (beginning.fill, beginning.start)
        begins = (beginning is not None) + (start is not None) + (start == "id")
        fills += [dtype.type(fill), dtype.type(0 if start in (None, "id") else start), np.uint8(begins)]
    return fills


@lru_cache(maxsize=256)
def _packed_fills(dtypes: tuple[np.dtype, ...], beginnings: tuple[Beginning | None, ...]) -> bytes:
    """`_fills` as fields that follow addresses."""
    return struct(*_fills(dtypes, beginnings))


@lru_cache(maxsize=256)
def cuda_program(code: ProgramCode, weight: np.dtype | None) -> CUDAProgram:
    """The C++ form of a program; cached."""
    return CUDAProgram(code, weight)


class ShapedProgram(DeviceFunctions):
    """The C++ structs ``Program`` and ``Product`` of a program with shapes; weights None are ones of its messages."""

    def __init__(self, code: ProgramCode, weight: np.dtype | None, ids: np.dtype, replies: bool = False) -> None:
        self.code, self._ids, self._replies = code, ids, replies
        self._pattern = weight is None
        self._weight = code.weightless if weight is None else np.dtype(weight)
        self._properties = tuple(dtype for _, dtype in code.properties)
        self._state = (*self._properties, *(dtype for _, dtype in code.beside), *code.cells, *code.notes)
        self._world = tuple(dtype for _, dtype in code.parameters)
        self._made = functions_of(code)

    def struct(self, state: tuple[Any, ...], world: tuple[Any, ...] | None = None) -> bytes:
        """The struct's value."""
        values = world or (0,) * len(self._world)
        return struct(*state, *(dtype.type(value) for value, dtype in zip(values, self._world, strict=True)))

    def arguments(self, state: tuple[Any, ...]) -> bytes:
        """Arguments of a product for its gather: the struct."""
        return self.struct(state)

    @cached_property
    def product(self) -> Specialization:
        """Parameters of the templates of spmv.cuh."""
        title = f"messages of {self.code.name}"
        return Specialization(self.prologue, self.ltoir, self, title)  # type: ignore[arg-type]

    def _list_functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
        made, code, number = self._made, self.code, self.code.message
        gather, edge_cond = made.gather_to, None if code.edge_cond is None else made.edge_cond
        if self._replies:
            gather, edge_cond = made.reply_to, made.replies_along  # type: ignore[attr-defined]
        state, own = (tuple(f"{dtype.name}*" for dtype in types) for types in (self._state, self._properties))
        arc, place = (state, _ID, self._weight, _ID), f"{number.name}*"
        found: dict[str, tuple[Function, tuple[Any, ...], Any]] = {
            "hpg_gather": (gather, (*arc, place), None),
            "hpg_reduce": (code.reduce.reduce_for(number), (number, number), number),
            "hpg_apply": (made.apply, (own, _ID, place, self._world, _ID, "float64*"), _BOOL),
        }
        if edge_cond is not None:
            found["hpg_edge_cond"] = (edge_cond, arc, _BOOL)
        if code.cond is not None:
            found["hpg_cond"] = (made.cond, (state, _ID), _BOOL)
        if code.aggregate is not None:
            found["hpg_contribute"] = (made.contribute, (own, _ID, self._world, _ID, "float64*"), None)
        return found

    @cached_property
    def prologue(self) -> str:
        """C++ text: the functions, and the structs."""
        number, weight = byte_type(self.code.message), c_type(self._weight)
        everything = ", ".join(f"p{i}" for i in range(len(self._state)))
        own = ", ".join(f"p{i}" for i in range(len(self._properties)))
        world = "".join(f", w{i}" for i in range(len(self._world)))
        fields = [f"    {byte_type(dtype)}* p{i};" for i, dtype in enumerate(self._state)]
        fields += [f"    {byte_type(dtype)} w{i};" for i, dtype in enumerate(self._world)]
        chooses = "hpg_edge_cond" in self._functions
        edge_cond = f"hpg_edge_cond({everything}, u, weight, v)" if chooses else "true"
        cond = f"hpg_cond({everything}, v)" if self.code.cond is not None else "true"
        adds = f"hpg_contribute({own}, v{world}, step, sums);" if self.code.aggregate is not None else ""
        # If edge_cond is false, a product gathers the neutral message.
        return f"""#include "several.cuh"
{self._code[0]}struct Program {{
{chr(10).join(fields)}
    typedef {number} Number;
    typedef {weight} Weight;
    static constexpr int WIDTH = {self._made.width};
    static constexpr int SUMS = {self.code.aggregates};
    typedef hpgraph::Several<Number, WIDTH> Message;
    __device__ static Number identity() {{ return {c_literal(self.code.reduce.identity_for(self.code.message))}; }}
    __device__ static Number join(Number a, Number b) {{ return hpg_reduce(a, b); }}
    __device__ static Message neutral() {{
        Message all;
        for (int k = 0; k < WIDTH; ++k) all.number[k] = identity();
        return all;
    }}
    __device__ bool cond(long long v) const {{ return {cond}; }}
    __device__ bool edge_cond(long long u, Weight weight, long long v) const {{ return {edge_cond}; }}
    __device__ Message operator()(long long u, Weight weight, long long v) const {{
        if (!edge_cond(u, weight, v)) return neutral();
        Message sent;
        hpg_gather({everything}, u, weight, v, sent.number);
        return sent;
    }}
    __device__ bool apply(long long v, Number* messages, long long step, double* sums) const {{
        return hpg_apply({own}, v, messages{world}, step, sums);
    }}
    __device__ void contribute(long long v, long long step, double* sums) const {{ {adds} }}
}};
struct Product {{
    typedef Program::Message Message;
    typedef {c_type(self._ids)} Index;
    typedef Program::Weight Weight;
    typedef ::Program Gather;
    static constexpr bool pattern = {word(self._pattern)}, filtered = true, terminates = false;
    __device__ static Message identity() {{ return Program::neutral(); }}
    __device__ static bool terminal(const Message&) {{ return false; }}
    __device__ static Message reduce(Message a, const Message& b) {{
        for (int k = 0; k < Program::WIDTH; ++k) a.number[k] = Program::join(a.number[k], b.number[k]);
        return a;
    }}
    __device__ static Message accumulate(const Message& a, const Message& b) {{ return reduce(a, b); }}
}};
"""
