"""Attributes of its arguments that a Python function reads, from its bytecode."""

import dis
import itertools
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType, MappingProxyType
from typing import Any

# Through these a function reads variables that its bytecode does not name.
_BY_NAME = {"locals", "vars", "eval", "exec"}


@lru_cache(maxsize=512)
def reads(function: Callable[..., Any]) -> Mapping[str, frozenset[str] | None]:
    """Attributes that a function reads of each parameter; None (all) for one passed on, captured or assigned."""
    code = function.__code__
    parameters = code.co_varnames[: code.co_argcount]
    if _BY_NAME & set(code.co_names):
        return MappingProxyType(dict.fromkeys(parameters))
    found: dict[str, frozenset[str] | None] = dict.fromkeys(parameters, frozenset())
    found.update((name, None) for name in parameters if name in code.co_cellvars)
    for instruction, following in itertools.pairwise(dis.get_instructions(code)):
        if "_FAST" not in instruction.opname or instruction.argval is None:
            continue
        # In newer Python versions one instruction may load two variables; the next instruction uses the second.
        named = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        for place, name in enumerate(named):
            known = found.get(name)
            if known is None:
                continue
            taken = (
                instruction.opname.startswith("LOAD") and place == len(named) - 1 and following.opname == "LOAD_ATTR"
            )
            found[name] = known | {following.argval} if taken else None
    return MappingProxyType(found)


def given_attribute(function: FunctionType, parameter: str) -> FunctionType:
    """A function that reads one attribute of a parameter, as one whose parameter is the attribute."""
    code, instructions = bytearray(function.__code__.co_code), list(dis.get_instructions(function.__code__))
    ends = [one.offset for one in instructions[2:]] + [len(code)]
    for (instruction, following), end in zip(itertools.pairwise(instructions), ends, strict=True):
        named = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        if "_FAST" in instruction.opname and named[-1] == parameter and following.opname == "LOAD_ATTR":
            code[following.offset : end] = bytes((dis.opmap["NOP"], 0)) * ((end - following.offset) // 2)
    made = FunctionType(
        function.__code__.replace(co_code=bytes(code)), function.__globals__, function.__name__, function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    return made


def reads_properties(function: Callable[..., Any]) -> tuple[bool, ...]:
    """Whether a function reads more of each parameter than its id."""
    return tuple(attributes is None or bool(attributes - {"id"}) for attributes in reads(function).values())


@lru_cache(maxsize=512)
def unread(function: Callable[..., Any]) -> frozenset[str]:
    """Parameters that a function never reads."""
    return frozenset(name for name, attributes in reads(function).items() if attributes == frozenset())


# Opcodes that neither jump, nor call, nor stop at a value, in any Python from 3.11 on.
_STRAIGHT = {
    "BINARY_OP", "BUILD_TUPLE", "CACHE", "COMPARE_OP", "COPY", "LOAD_ATTR", "LOAD_CONST", "LOAD_FAST",
    "LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW", "LOAD_FAST_LOAD_FAST", "LOAD_SMALL_INT", "NOP", "RESUME",
    "RETURN_CONST", "RETURN_VALUE", "STORE_FAST", "SWAP", "UNARY_NEGATIVE",
}  # fmt: skip
_OPERATORS = {"+", "-", "*", "&", "|", "^"}


@lru_cache(maxsize=512)
def is_straight(function: Callable[..., Any]) -> bool:
    """Whether a function only adds, multiplies, compares and returns: it terminates for all arguments."""
    return all(
        one.opname in _STRAIGHT and (one.opname != "BINARY_OP" or one.argrepr.rstrip("=") in _OPERATORS)
        for one in dis.get_instructions(function)
    )
