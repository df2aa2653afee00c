"""Error messages for functions of a vertex program that do not compile."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from hpgraph.core.errors import CompileError, HpgraphError, OutOfBoundsError
from hpgraph.kernels.edges.program import EdgeProgramCode
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.compile_errors import at_line, reason
from hpgraph.semiring.function import Function
from hpgraph.semiring.inference import described, dtype_of, last_return, returned_type
from hpgraph.semiring.references import GENERATED

# The type of an edge contains that of its reverse.
_ATTRIBUTE = re.compile(r"Unknown attribute '\w+' of type (Vertex|World|Edge|Reverse)\((?:[^()]|\([^()]*\))*\)")
# The functions of a program by the names of the wrappers that kernels call them through.
_WRITTEN = {"offer": "gather", "renew": "update", "tally": "aggregate"}


@contextmanager
def reworded(code: ProgramCode, arcs: Any) -> Iterator[None]:
    """A compiler's error that names the function of the program, found by compiling each function by itself."""
    try:
        yield
    except Exception as error:
        reword(error, code, arcs)
        raise


def reword(error: Exception, code: ProgramCode, arcs: Any) -> None:
    """Raise the reworded form of a compiler's error; return for other errors."""
    if isinstance(error, OutOfBoundsError):
        name = _role(error.function)
        called = f"{code.name}.{code.called(name)}" if hasattr(code, name) else error.function
        raise OutOfBoundsError(called) from None
    if not isinstance(error, CompileError):
        if isinstance(error, HpgraphError | MemoryError) or not _is_of_a_compiler(error.__traceback__):
            return
        error = CompileError(code.name, reason(error)).with_traceback(error.__traceback__)
    raise (_failing_function(code, arcs.sending.dtype) or _with_program_name(code, error)) from error


def _is_of_a_compiler(traceback: TracebackType | None) -> bool:
    """Whether an exception came out of Numba or LLVM, rather than out of a kernel that runs or out of this package."""
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__", "").partition(".")[0] in ("numba", "llvmlite"):
            return True
        traceback = traceback.tb_next
    return False


def _failing_function(code: ProgramCode, weight: np.dtype | None) -> CompileError | None:
    """The error of the first function that fails by itself; None if all compile on the CPU."""
    from numba import from_dtype, types

    lengths = code.lengths or (0,) * len(code.properties)
    types_of_properties = (
        _tuple_type(from_dtype(dtype), k) for (_, dtype), k in zip(code.properties, lengths, strict=True)
    )
    vertex = types.NamedTuple([types.int64, *types_of_properties], code.vertex)
    world = types.NamedTuple([types.int64, *(from_dtype(dtype) for _, dtype in code.parameters)], code.world)
    message = from_dtype(code.message)
    received: tuple[Any, ...] = () if code.updates_alone else (_tuple_type(message, code.message_length),)
    if code.pair is not None:
        received = from_dtype(code.pair.key), from_dtype(code.pair.payload)
    arc = vertex, _arc_type(code, message if weight is None else from_dtype(weight)), vertex
    takes: dict[str, tuple[Any, ...]] = {
        "gather": arc, "edge_cond": arc, "reply": arc, "reply_cond": arc, "cond": (vertex,), "starts": (vertex,),
        "update": (vertex, *received), "aggregate": (vertex, vertex), "sends": (vertex, vertex),
        "halts": (vertex, vertex),
    }  # fmt: skip
    for name, arguments in takes.items():
        python = getattr(code, name, None)
        if python is None:
            continue
        called = f"{code.name}.{code.called(name)}"
        try:
            function = Function(python, called)
            returned = returned_type(function, (*arguments, world)[: max(function.n_arguments, len(arguments))])
        except CompileError as error:
            return CompileError(called, _with_attributes(code, error.reason))
        expected, lengths = _must_return(code, name)
        if not _matches(returned, lengths):
            return CompileError(called, f"it must return {expected}, not {described(returned)} {last_return(python)}")
    return None


def _arc_type(code: ProgramCode, weight: Any) -> Any:
    """Numba's type of the arc argument of a program's functions: its weight, or an edge."""
    from numba import from_dtype, types

    if not isinstance(code, EdgeProgramCode):
        return weight
    heavy = types.int64 if code.weight is None else from_dtype(code.weight)
    properties = [from_dtype(dtype) for _, dtype in code.edge_properties]
    reverse = types.NamedTuple([types.boolean, heavy, *properties], code.reverse)
    return types.NamedTuple([from_dtype(code.places), heavy, *properties, reverse], code.edge)


def _tuple_type(kind: Any, length: int) -> Any:
    from numba import types

    return types.UniTuple(kind, length) if length else kind


def _matches(returned: Any, lengths: tuple[int, ...]) -> bool:
    """Whether a type is a number, or a tuple of members of these lengths, where 0 is a number."""
    from numba import types

    if isinstance(returned, types.BaseTuple):
        members = zip(returned, lengths, strict=False)
        return returned.count == len(lengths) and all(_matches(member, (0,) * length) for member, length in members)
    return not lengths and dtype_of(returned) is not None and not isinstance(returned, types.Complex)


def _must_return(code: ProgramCode, name: str) -> tuple[str, tuple[int, ...]]:
    """The required return value of a function, in words, and for `_matches`."""
    if isinstance(code, EdgeProgramCode) and name == "gather" and code.changes:
        new = [code.edge_properties[i][0] for i in code.changes]
        count = len(new) + (1 if code.pair is None else 2)
        if code.message_length:
            return (
                f"a tuple: the message, a tuple of {code.in_words}, then the new {', '.join(new)}",
                (code.message_length, *(0,) * len(new)),
            )
        sent = "the message, which becomes" if code.pair is None else "key and payload, which become"
        return f"a tuple of {count} numbers: {sent} {code.in_words}, the new {', '.join(new)}", (0,) * count
    if name in ("gather", "reply"):
        if code.pair is not None:
            return f"a tuple of 2 numbers, key and payload, which become {code.pair}", (0, 0)
        if code.message_length:
            return f"a tuple of {code.in_words}, the message", (0,) * code.message_length
        return f"a number, the message, which becomes {code.message}", ()
    if name == "update":
        names, lengths = [name for name, _ in code.properties], code.lengths or (0,) * len(code.properties)
        if len(names) == 1:
            return f"{_numbers(lengths[0])}, the new {names[0]}", (0,) * lengths[0]
        if not code.lengths:
            return f"a tuple of {len(names)} numbers, the new {', '.join(names)}", lengths
        each = ", ".join(f"{name}, {_numbers(length)}" for name, length in zip(names, lengths, strict=True))
        return f"a tuple of the new {each}", lengths
    if name == "aggregate":
        return _numbers(0 if code.aggregates == 1 else code.aggregates), (0,) * (code.aggregates > 1) * code.aggregates
    return "True or False", ()


def _numbers(length: int) -> str:
    return f"a tuple of {length} numbers" if length else "a number"


def _with_attributes(code: ProgramCode, reason: str) -> str:
    """The message about an unknown attribute, with a list of the attributes that exist."""

    def listed(found: re.Match[str]) -> str:
        return f"{found[0]}: it has {', '.join(getattr(code, found[1].lower())._fields)}"

    return _ATTRIBUTE.sub(listed, reason)


def _with_program_name(code: ProgramCode, error: CompileError) -> CompileError:
    """The error with the name that the function has in the program."""
    name = _role(error.function)
    python = getattr(code, name, None)
    if not isinstance(python, FunctionType):
        return error
    place = "" if '(File "' in error.reason and GENERATED not in error.reason else f" {at_line(python.__code__, None)}"
    text = error.reason.partition(' (File "')[0] if place else error.reason
    return CompileError(f"{code.name}.{code.called(name)}", f"{text}{place}")


def _role(function: str) -> str:
    inner = function.rpartition(".")[2]
    return _WRITTEN.get(inner, inner)
