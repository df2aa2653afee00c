"""Whether a program's `update` is its `reduce`: both are compiled for the same types, and their LLVM code compared.

No values are tested: either LLVM emits the same instructions for both, or they count as different. The instructions
respect NaN and the sign of zero as the source does, so equal code gives equal bits.
"""

import re
import warnings
from dataclasses import replace

import numba
from numba.core.compiler_lock import global_compiler_lock

from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.functions import ProgramFunctions
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function
from hpgraph.semiring.jit import call

# Names of values and blocks; quoted ones may contain any character.
_LOCAL = re.compile(r'%(?:"[^"]*"|[\w.$-]+)')
_LABEL = re.compile(r'^("[^"]*"|[\w.$-]+):.*$')
# Hints and numbers of attribute groups, which do not affect the result.
_ASIDE = re.compile(r", ![\w.]+ !\d+| #\d+")


# Cached on disk like any kernel.
@njit(cache=True, nogil=True, error_model="numpy")
def _renewed(renew, before, v, message, step):
    return call(renew, before, v, message, (), step)


def update_is_reduce(code: ProgramCode) -> bool:
    """Whether the new property is the old one joined with the message, for all values of both.

    Never true if the two differ for some value. For integers, the arguments of `reduce` may be in either order; for
    floats the property must come first, since the other order could change a NaN or the sign of a zero. False if
    nothing is compiled (NUMBA_DISABLE_JIT).
    """
    if not hasattr(_renewed, "overloads"):
        return False
    updated = _instructions(ProgramFunctions(code).renew, code)
    if updated is None:
        return False
    if updated == _instructions(ProgramFunctions(replace(code, update=None)).renew, code):
        return True
    if code.message.kind == "f":
        return False
    swapped = code.wrap(
        "swapped", "vertex, message", f"return reduce(message, cast(vertex.{code.properties[0][0]}))",
        reduce=code.reduce.reduce_for(code.message).python, cast=code.message.type,
    )  # fmt: skip
    return updated == _instructions(ProgramFunctions(replace(code, update=swapped.python)).renew, code)


def _instructions(renew: Function, code: ProgramCode) -> list[str] | None:
    """LLVM instructions of a function, its values and blocks numbered in order of appearance; None if not found."""
    value = numba.from_dtype(code.message)
    types = numba.typeof(renew), numba.types.UniTuple(value, 1), numba.int64, value, numba.int64
    # No other thread may compile while the module is finalized.
    with global_compiler_lock:
        _renewed.compile(types)
        compiled = _renewed.overloads[types]
        # The module that is saved, and the only one that is read back. New code that could not be saved has none yet.
        text, own = str(compiled.library._get_module_for_linking()), compiled.fndesc.llvm_func_name
    place = text.find(f"@{own}(")
    if place < 0:
        warnings.warn(f"{own} is not in its LLVM code: such programs run superstep by superstep", stacklevel=2)
        return None
    lines = text[text.index("\n", place) :].split("\n}\n", 1)[0].splitlines()
    numbers: dict[str, str] = {}

    def number(name: str) -> str:
        return numbers.setdefault(name.strip('"'), f"%{len(numbers)}")

    made = []
    for name in ("arg.before.0", "arg.v", "arg.message", "arg.step"):
        number(name)
    for line in lines:
        label = _LABEL.match(line)
        if label:
            made.append(f"{number(label[1])}:")
        elif line.strip():
            made.append(_LOCAL.sub(lambda found: number(found[0][1:]), _ASIDE.sub("", line)).strip())
    return made
