"""Checks of the bytecode of functions before compilation, for operations that compiled functions must not contain.

A kernel calls a function once an entry, from many threads and in any order, on either device. A function that returns
a different value at each call (`random`, `time`) would make results irreproducible, and Numba compiles some of these.
"""

import array
import builtins
import dis
import inspect
import re
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from hpgraph.core.caller import warn_caller
from hpgraph.core.errors import CompileError
from hpgraph.semiring.compile_errors import KNOWN, at_line
from hpgraph.semiring.dtypes import DTYPES
from hpgraph.semiring.references import is_known_by_name, is_of_user

# Modules whose functions return another value at each call.
_UNREPEATABLE = ("random", "numpy.random", "numba.cuda.random", "secrets", "time", "uuid")
_OPCODES = {
    "IMPORT_NAME": "it imports {} when it is called: import it outside the function",
    "STORE_GLOBAL": "it assigns the global {}: return the value instead",
    "DELETE_GLOBAL": "it deletes the global {}",
    "STORE_ATTR": "it assigns the attribute {}: return the new value instead",
    "DELETE_ATTR": "it deletes the attribute {}",
}
_FLAGS = {
    inspect.CO_GENERATOR: "it is a generator, as it has a yield: return the value",
    inspect.CO_COROUTINE: "it is a coroutine: write def, not async def",
    inspect.CO_ASYNC_GENERATOR: "it is a generator: write def, not async def, and return the value",
}
# The accesses of an instruction to local variables, and the first words of those that nothing follows.
_FAST = re.compile("(LOAD|STORE|DELETE)_FAST(?!_AND_CLEAR)")
_ENDS = ("RETURN", "RAISE", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD")
_missing = object()


class Lookup(NamedTuple):
    """A global or free name that code reads, with the attributes read of it: np.random.rand is three."""

    names: tuple[str, ...]
    is_global: bool
    line: int


def check_function(python: FunctionType, name: str) -> None:
    """Refuse a function that cannot be compiled or is not reproducible, itself or by its references."""
    seen: set[int] = set()
    waiting = [python]
    while waiting:
        function = waiting.pop()
        if id(function) not in seen:
            seen.add(id(function))
            waiting.extend(_check(function, name))


def _check(function: FunctionType, name: str) -> Iterator[FunctionType]:
    """Check one function; those it may call are checked next."""
    for text, place in _faults(function.__code__):
        raise CompileError(name, f"{text} {place}")
    if is_of_user(function):
        for text, place in _unassigned(function.__code__):
            warn_caller(f"{name}(): {text} {place}", RuntimeWarning)
    for lookup in _lookups(function.__code__):
        value, read = _resolve(function, lookup)
        if value is _missing:
            if lookup.is_global and read == 0:
                place = at_line(function.__code__, lookup.line)
                raise CompileError(name, f"the name {lookup.names[0]!r} is not defined {place}")
            continue
        if _is_unrepeatable(_module_of(value)):
            called = ".".join(lookup.names)
            raise CompileError(
                name,
                f"{called} returns another value at each call, so that no result could be repeated: call it before the "
                "run (random numbers from a seeded generator), and pass the numbers as data (a property, a parameter, "
                f"an array) {at_line(function.__code__, lookup.line)}",
            )
        if (why := _unreadable(value)) is not None:
            raise CompileError(name, f"{'.'.join(lookup.names)} {why} {at_line(function.__code__, lookup.line)}")
        value = getattr(value, "py_func", getattr(value, "python", value))
        if isinstance(value, FunctionType) and not is_known_by_name(value):
            if value.__code__.co_kwonlyargcount:
                raise CompileError(
                    name,
                    f"{'.'.join(lookup.names)}() has parameters that are given by name alone, as in "
                    f"{inspect.signature(value)}: leave out the * {at_line(function.__code__, lookup.line)}",
                )
            yield value


def _unreadable(value: Any) -> str | None:
    """Why compiled code cannot read a value, if Numba would not say so clearly."""
    if isinstance(value, list | dict | set):
        return f"is a {type(value).__name__}: {KNOWN}"
    if isinstance(value, bytearray | memoryview | array.array):
        return f"is of type {type(value).__name__}: {KNOWN}"
    if isinstance(value, np.ma.MaskedArray):
        return "is a masked array, whose masked elements would count: fill them by .filled(value)"
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcO" and value.dtype not in DTYPES:
        return f"holds {value.dtype}, which compiled functions do not read: convert it with .astype(numpy.float64)"
    return None


def _is_unrepeatable(module: str) -> bool:
    return any(module == other or module.startswith(f"{other}.") for other in _UNREPEATABLE)


def _module_of(value: Any) -> str:
    """The module of a module, a function, a method or an object."""
    if isinstance(value, ModuleType):
        return value.__name__
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        return type(owner).__module__
    return getattr(value, "__module__", None) or type(value).__module__


def _resolve(function: FunctionType, lookup: Lookup) -> tuple[Any, int]:
    """The value of a lookup, resolved through modules, and the number of attributes used."""
    first, *attributes = lookup.names
    if lookup.is_global:
        value = function.__globals__.get(first, getattr(builtins, first, _missing))
    else:
        value = _missing
        free = function.__code__.co_freevars
        if first in free and function.__closure__:
            try:
                value = function.__closure__[free.index(first)].cell_contents
            except ValueError:  # not assigned yet in the enclosing function
                return _missing, 1
    for taken, attribute in enumerate(attributes):
        if not isinstance(value, ModuleType) or _is_unrepeatable(value.__name__):
            return value, taken
        value = getattr(value, attribute, _missing)
        if value is _missing:
            return _missing, taken + 1
    return value, len(attributes) if value is not _missing else 0


@lru_cache(maxsize=1024)
def _faults(code: CodeType) -> tuple[tuple[str, str], ...]:
    """Instructions of the code that cannot be compiled, and their lines."""
    found = [(text, at_line(code, None)) for flag, text in _FLAGS.items() if code.co_flags & flag]
    for instruction, line in _instructions(code):
        if instruction.opname in _OPCODES:
            found.append((_OPCODES[instruction.opname].format(instruction.argval), at_line(code, line)))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_flags & inspect.CO_GENERATOR:
                found.append(("it has a generator in it: write a loop", at_line(code, constant.co_firstlineno)))
            else:
                found.extend(_faults(constant))
    return tuple(found)


@lru_cache(maxsize=1024)
def _unassigned(code: CodeType) -> tuple[tuple[str, str], ...]:
    """Local variables that a path through the code reads before it assigns them, and the lines."""
    steps = list(dis.get_instructions(code))
    at = {step.offset: place for place, step in enumerate(steps)}
    # Variables without a value before each instruction, on any path; exception handlers are not followed.
    parameters = [name for group in inspect.getargs(code) for name in (group if isinstance(group, list) else [group])]
    missing: dict[int, frozenset[str]] = {0: frozenset(code.co_varnames).difference(parameters)}
    found: dict[str, int] = {}
    waiting = [0]
    while waiting:
        place = waiting.pop()
        step, lacks = steps[place], missing[place]
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        for kind, variable in zip(_FAST.findall(step.opname), names, strict=False):
            if kind == "STORE":
                lacks -= {variable}
            elif kind == "DELETE":
                lacks |= {variable}
            elif variable in lacks:
                found.setdefault(variable, (step.positions and step.positions.lineno) or code.co_firstlineno)
        following = [] if step.opname.startswith(_ENDS) else [place + 1]
        if step.opname == "GET_ITER" and _is_nonempty(steps[:place]):
            begin = next(k for k in range(place + 1, len(steps)) if steps[k].opname != "EXTENDED_ARG")
            if steps[begin].opname == "FOR_ITER":  # of a loop, not of a comprehension: the loop ends after its body
                following = [begin + 1]
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            following.append(at[step.argval])
        for other in following:
            before = missing.get(other)
            if before is None or not lacks <= before:
                missing[other] = lacks | (before or frozenset())
                waiting.append(other)
    text = "may be read before it has a value, and is 0 then, not an UnboundLocalError as in Python: assign it first"
    return tuple((f"{variable} {text}", at_line(code, line)) for variable, line in found.items())


def _is_nonempty(steps: list[dis.Instruction]) -> bool:
    """Whether these instructions end with a constant tuple that has elements, or a range of constants that has any."""
    if steps[-1].opname == "LOAD_CONST":
        return bool(steps[-1].argval)
    rest = [step.argval for step in steps if step.opname not in ("PRECALL", "PUSH_NULL")]
    if steps[-1].opname != "CALL" or not 0 < rest[-1] < 4:
        return False
    called, *bounds = rest[-2 - rest[-1] : -1]
    whole = called == "range" and all(type(each) is int for each in bounds) and 0 not in bounds[2:]
    return whole and bool(range(*bounds))


@lru_cache(maxsize=1024)
def _lookups(code: CodeType) -> tuple[Lookup, ...]:
    """All global and free names that code, or code nested in it, reads."""
    found: list[Lookup] = []
    chain = False
    for instruction, line in _instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_DEREF"):
            found.append(Lookup((instruction.argval,), instruction.opname == "LOAD_GLOBAL", line))
            chain = True
        elif chain and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            names, is_global, where = found[-1]
            found[-1] = Lookup((*names, instruction.argval), is_global, where)
        else:
            chain = False
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.extend(_lookups(constant))
    return tuple(dict.fromkeys(found))


def _instructions(code: CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    for instruction in dis.get_instructions(code):
        line = instruction.positions.lineno if instruction.positions else None
        yield instruction, line or code.co_firstlineno
