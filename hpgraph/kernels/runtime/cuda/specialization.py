"""Parameters of the templates of products: a gather, a monoid and types, as C++ text and code to link."""

import functools
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import RowFormat
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK
from hpgraph.kernels.runtime.cuda.structs import struct, traits
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.cuda import LinkedCode, binary_functor, gather_functor, monoid_functor

# Only messages that a push may send are combined atomically.
_ATOMIC = "static bool atomic_reduce(Message* where, Message a) { return Reduce::atomic_combine(where, a); }"


@dataclass(frozen=True)
class DeviceGather:
    """A gather as a C++ struct: ``struct Gather { const S0* s0; ...; M operator()(i64 u, W w, i64 v) const; }``.

    ``source`` (str): C++ text that defines it, and what it calls, in the global namespace; ``ltoir`` (tuple of
    LinkedCode): to be linked with the kernel; ``state_dtypes`` (tuple of numpy.dtype): of the arrays whose pointers are
    its members, in their order; ``weight_dtype, message_dtype`` (numpy.dtype): W and M.
    """

    source: str
    ltoir: tuple[LinkedCode, ...]
    state_dtypes: tuple[np.dtype[Any], ...]
    weight_dtype: np.dtype[Any]
    message_dtype: np.dtype[Any]

    @classmethod
    def from_function(cls, gather: Any, weight_dtype: Any, state_dtypes: Any, message_dtype: Any) -> Self:
        """From ``gather(state, source, weight, target)``, `state` being a tuple of arrays."""
        state = tuple(np.dtype(dtype) for dtype in state_dtypes)
        code = gather_functor(gather, weight_dtype, state, message_dtype, np.int64, "GatherFunction")
        members = "".join(f"    const {c_type(dtype)}* s{i};\n" for i, dtype in enumerate(state))
        arguments = "".join(f"s{i}, " for i in range(len(state)))
        source = f"""{code.source}struct Gather {{
{members or "    const void* nothing;" + chr(10)}\
    __device__ {c_type(message_dtype)} operator()(long long u, {c_type(weight_dtype)} w, long long v) const {{
        return GatherFunction::apply({arguments}u, w, v);
    }}
}};
"""
        return cls(source, code.ltoir, state, np.dtype(weight_dtype), np.dtype(message_dtype))

    def arguments(self, state: tuple[Any, ...]) -> Any:
        """The struct to be passed by value; of a single array the array, which is passed alike."""
        return state[0] if len(state) == 1 else struct(*state) if state else struct(None)


@dataclass(frozen=True)
class Specialization:
    """One instance of the templates: the prologue that defines its types, and the code to link with it."""

    prologue: str
    ltoir: tuple[LinkedCode, ...]
    gather: DeviceGather
    title: str
    loaded: dict[tuple[Any, ...], Module] = field(default_factory=dict, compare=False, repr=False)

    def load(self, source: str, *names: str) -> Module:
        """Kernels of a source file for this instance, on the current device."""
        key = cupy.cuda.runtime.getDevice(), source, names
        module = self.loaded.get(key)
        if module is None:
            expressions = tuple(f"hpgraph::{name}<Product>" for name in names)
            module = load(source, prologue=self.prologue, ltoir=self.ltoir, names=expressions, title=self.title)
            self.loaded[key] = module
        return module


def launch(module: Module, name: str, blocks: int, *arguments: Any) -> None:
    """Launch a kernel with blocks of the usual size; no blocks, no launch."""
    if blocks:
        module.function(f"hpgraph::{name}<Product>")((blocks,), (BLOCK,), arguments)


@functools.lru_cache(maxsize=512)
def specialize(
    gather: Any, reduce: Any, accum: Any, weight_dtype: np.dtype[Any] | None, index_dtype: np.dtype[Any],
    state_dtypes: tuple[np.dtype[Any], ...], message_dtype: np.dtype[Any], filtered: bool,
) -> Specialization:  # fmt: skip
    """Template parameters of a product; weights None are a pattern's, 1 in the type of the messages."""
    weight = message_dtype if weight_dtype is None else weight_dtype
    if not isinstance(gather, DeviceGather):
        gather = DeviceGather.from_function(gather, weight, state_dtypes, message_dtype)
    elif (gather.weight_dtype, gather.state_dtypes, gather.message_dtype) != (weight, state_dtypes, message_dtype):
        raise TypeError(
            f"gather was made for weights of {gather.weight_dtype}, a state of {gather.state_dtypes} and results of "
            f"{gather.message_dtype}, not for {weight}, {state_dtypes} and {message_dtype}"
        )
    monoid = monoid_functor(reduce, message_dtype, "Reduce")
    codes = [monoid]
    accumulate = "return b;"
    if accum is not None:
        codes.append(binary_functor(accum, message_dtype, message_dtype, "Accumulate", message_dtype))
        accumulate = "return Accumulate::apply(a, b);"
    members = f"""    static constexpr bool terminates = Reduce::has_terminal;
    __device__ static Message identity() {{ return Reduce::identity(); }}
    __device__ static bool terminal(Message a) {{ return Reduce::is_terminal(a); }}
    __device__ static Message reduce(Message a, Message b) {{ return Reduce::apply(a, b); }}
    {"" if message_dtype.kind == "c" else f"__device__ {_ATOMIC}"}
    __device__ static Message accumulate(Message a, Message b) {{ {accumulate} }}
"""
    types = {"Message": message_dtype, "Index": index_dtype, "Weight": weight, "Gather": "::Gather"}
    product = traits("Product", types, {"pattern": weight_dtype is None, "filtered": filtered}, members)
    prologue = f"{gather.source}{''.join(code.source for code in codes)}\n{product}"
    ltoir = tuple(dict.fromkeys((*gather.ltoir, *(linked for code in codes for linked in code.ltoir))))
    title = f"products over {reduce.name} in {message_dtype}"
    return Specialization(prologue, ltoir, gather, title)


def contiguous(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arrays of a state, in C order; of complex numbers at multiples of their size, as they are loaded whole."""
    whole = (cupy.ascontiguousarray(array) for array in state)
    return tuple(
        array.copy() if array.dtype.kind == "c" and array.data.ptr % array.itemsize else array for array in whole
    )


def specialize_for(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, accum: Any, filtered: bool
) -> Specialization:
    """`specialize` for the types of a matrix."""
    return specialize(gather, reduce, accum, rows.dtype, rows.index_dtype, state_dtypes, dtype, filtered)
