"""A vertex program that sweeps, supersteps over all vertices, as C++: the struct ``Sweeping`` of sweep.cuh."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.core.errors import CompileError
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.program import CUDAProgram
from hpgraph.kernels.runtime.cuda.structs import struct
from hpgraph.kernels.runtime.functions import ProgramFunctions
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.cuda import LinkedCode
from hpgraph.semiring.function import Function
from hpgraph.semiring.reads import reads, unread
from hpgraph.semiring.tracing import byte_type

# A bitwise comparison, so that the stored value is the computed one: a zero may change its sign.
DIFFER = """
template <class T> __device__ bool hpg_differ(T a, T b) {
    if constexpr (sizeof(T) == 8) return *(unsigned long long*)&a != *(unsigned long long*)&b;
    else if constexpr (sizeof(T) == 4) return *(unsigned*)&a != *(unsigned*)&b;
    else return a != b;
}
"""


def ignored(code: ProgramCode) -> frozenset[str]:
    """Names of the arc's weight and target, if a program's messages do not depend on them."""
    if code.edge_cond is not None or code.gather.__code__.co_argcount != 3:
        return frozenset()
    _, weight, target = code.gather.__code__.co_varnames[:3]
    left = unread(code.gather)
    return frozenset(role for role, name in (("weight", weight), ("target", target)) if name in left)


def left_out(code: ProgramCode) -> frozenset[str]:
    """`ignored`; and "others" if messages depend on no more of their source than its first property."""
    source = next(iter(reads(code.gather).values()))
    alone = source == {code.properties[0][0]} and not any(code.lengths)
    return ignored(code) | {"others"} if alone else ignored(code)


# Maximum number of other GPUs that one writes to: those of a machine.
MAX_OTHERS = 15


class SweepProgram(CUDAProgram):
    """C++ text and code of a program that can sweep: the struct ``Sweeping`` of sweep.cuh."""

    def __init__(self, code: ProgramCode, stop: Callable[..., Any] | None) -> None:
        super().__init__(code, None)
        self.stop = stop

    def _list_functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
        # A vertex's properties are updated in registers: a load of a stored value would wait for the store.
        made, found = ProgramFunctions(self.code, own="0"), super()._list_functions()
        found["hpg_advance"] = (made.update, *found["hpg_update"][1:])
        if self.code.aggregate is not None:
            found["hpg_tally"] = (made.aggregate, *found["hpg_aggregate"][1:])
        if self.stop is not None:
            found["hpg_converged"] = self._converged()
        return found

    def _converged(self) -> tuple[Function, tuple[Any, ...], Any]:
        world = "".join(f", world[{i}]" for i in range(len(self._world)))
        body = f"return True if converged(World(step{world})) else False"
        function = self.code.wrap("converged_at", "world, step", body, converged=self.stop)
        return function, (self._world, np.dtype(np.int64)), np.dtype(np.bool_)

    def answers_converged(self) -> bool:
        """Whether the program's `converged`, if it has one, compiles for the GPU; compiles it."""
        if self.stop is None:
            return True
        try:
            function, arguments, returned = self._converged()
            function.cuda(arguments, returned, "hpg_converged")
        except CompileError:
            return False
        return True

    def _write_prologue(self) -> str:
        """C++ text: the program's, and the struct ``Sweeping``."""
        fixed = len(self._world) - self.code.aggregates
        takes = "".join(f" w{fixed + i} = sums[{i}];" for i in range(self.code.aggregates))
        world = "".join(f"w{i}, " for i in range(len(self._world)))
        types = [byte_type(dtype) for dtype in self._properties]
        fresh = ", ".join(f"&n{i}" for i in range(len(types)))
        before = ", ".join(f"b{i}" for i in range(len(types)))
        loads = ", ".join(f"p{i}[v]" for i in range(len(types)))
        sent = sorted(read_by_gather(self.code))
        tally = f"        hpg_tally({fresh}, {before}, v, {world}step, sums);\n" if self.code.aggregate else ""
        return "".join(
            [
                super()._write_prologue(),
                DIFFER,
                "struct Sweeping : Program {\n",
                "    struct Vertex {\n",
                *(f"        {name} b{i};\n" for i, name in enumerate(types)),
                "    };\n",
                f"    __device__ Vertex vertex(long long v) const {{ return {{{loads}}}; }}\n",
                "    // Properties that messages depend on, in the memory of other GPUs.\n",
                "    struct Others {\n        long long count;\n",
                *(f"        {types[i]}* p{i}[{MAX_OTHERS}];\n" for i in sent),
                "    };\n",
                "    // Updates a vertex whose properties were `held`; writes to `to` and to `others`.\n",
                "    __device__ bool apply(long long v, const Vertex& held, Message message, long long step,\n",
                "                          double* sums, const Sweeping& to, const Others* others) const {\n",
                *(
                    f"        const {name} b{i} = held.b{i};\n        {name} n{i} = b{i};\n"
                    for i, name in enumerate(types)
                ),
                f"        const bool changed = hpg_advance({fresh}, v, message, {world}step);\n",
                tally,
                *(
                    f"        if (to.p{i} != p{i} || hpg_differ(n{i}, b{i})) to.p{i}[v] = n{i};\n"
                    for i in range(len(types))
                ),
                "        for (int k = 0; others && k < others->count; ++k) {\n",
                *(f"            if (hpg_differ(n{i}, b{i})) others->p{i}[k][v] = n{i};\n" for i in sent),
                "        }\n        return changed;\n    }\n",
                f"    __device__ void take(const double* sums) {{{takes} }}\n",
                "    __device__ bool converged(long long step) const {",
                f" return {f'hpg_converged({world}step)' if self.stop else 'false'}; }}\n}};\n",
            ]
        )

    def others(self, states: Sequence[tuple[Any, ...]]) -> bytes:
        """A struct ``Others``: the properties on other GPUs that messages depend on."""
        padding = [None] * (MAX_OTHERS - len(states))
        fields = (field for i in sorted(read_by_gather(self.code)) for field in (*(s[i] for s in states), *padding))
        return struct(np.int64(len(states)), *fields)

    def load(
        self, source: str, names: tuple[str, ...], prologue: str = "", ltoir: tuple[LinkedCode, ...] = (),
        cooperative: bool = False,
    ) -> Module:  # fmt: skip
        """Kernels of a source file for the program, on the current device."""
        linked = tuple(dict.fromkeys((*ltoir, *self.ltoir)))
        return load(
            source, prologue=prologue + self.prologue, ltoir=linked, names=names, cooperative=cooperative,
            title=self.code.name,
        )  # fmt: skip


@lru_cache(maxsize=256)
def sweep_program(code: ProgramCode, stop: Callable[..., Any] | None) -> SweepProgram:
    """The C++ form of a program and its `converged`; cached."""
    return SweepProgram(code, stop)


@lru_cache(maxsize=256)
def read_by_gather(code: ProgramCode) -> frozenset[int]:
    """Indices of the properties that messages may depend on: those `gather` reads of either end of an arc."""
    read = reads(code.gather)
    source, _, target = read.values() if len(read) == 3 else (None, None, None)
    if source is None or target is None or code.edge_cond is not None:
        return frozenset(range(len(code.properties)))
    return frozenset(i for i, (name, _) in enumerate(code.properties) if name in source | target)
