"""A vertex program with shapes as C++: a struct of pointers to flat arrays, and the product that gathers its tuples."""

from functools import cached_property
from typing import Any

import numpy as np

from hpgraph.kernels.runtime.cuda.program import DeviceFunctions
from hpgraph.kernels.runtime.cuda.specialization import Specialization
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.c_types import c_literal, c_type
from hpgraph.semiring.function import Function
from hpgraph.semiring.tracing import byte_type

_ID = np.dtype(np.int64)
_BOOL = np.dtype(np.bool_)


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

    def struct(self, state: tuple[Any, ...], world: tuple[Any, ...] | None = None) -> np.ndarray:
        """The struct's value. Returns numpy array of shape ()."""
        values = world or (0,) * len(self._world)
        return struct(*state, *(dtype.type(value) for value, dtype in zip(values, self._world, strict=True)))

    def arguments(self, state: tuple[Any, ...]) -> np.ndarray:
        """What a product passes for its gather: the struct."""
        return self.struct(state)

    @cached_property
    def product(self) -> Specialization:
        """What the templates of spmv.cuh are compiled for."""
        title = f"messages of {self.code.name}"
        return Specialization(self.prologue, self.ltoir, self, title)  # type: ignore[arg-type]

    @cached_property
    def _functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
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
        # Where edge_cond lets nothing through, a product gathers what is neutral.
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
    static constexpr bool pattern = {"true" if self._pattern else "false"}, filtered = true, terminates = false;
    __device__ static Message identity() {{ return Program::neutral(); }}
    __device__ static bool terminal(const Message&) {{ return false; }}
    __device__ static Message reduce(Message a, const Message& b) {{
        for (int k = 0; k < Program::WIDTH; ++k) a.number[k] = Program::join(a.number[k], b.number[k]);
        return a;
    }}
    __device__ static Message accumulate(const Message& a, const Message& b) {{ return reduce(a, b); }}
}};
"""
