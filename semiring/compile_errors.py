"""Compilers' messages about a user's function, in terms of its source."""

import itertools
import re
from types import CodeType

_NOISE = ("Failed in", "- Resolution failure", "There are", "During:", "Enable logging", "Overload", "- Of which")
KNOWN = "a compiled function reads numbers, tuples and NumPy arrays"
_NO_MEMORY = "for which a kernel on the GPU has no memory: use numbers and tuples"
# Phrases of Numba, and their replacements.
_WORDS = [
    (
        r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'builtin_function_or_method'>",
        r"\1() is nothing that a kernel can call",
    ),
    (
        r"(?:Untyped global name|.*freevar) '(\w+)':? Cannot determine Numba type of <class '(?:[\w<>]+\.)*(\w+)'>.*",
        rf"\1 is of type \2: {KNOWN}",
    ),
    (r".*found for signature: >>> exception_match\(.*", "except may name no exception but Exception"),
    (
        r"No implementation of function .*?found for signature: >>> getitem\(((?:float|u?int|complex|bool)\w*), .*",
        r"it takes an element [...] of what is one number, of type \1",
    ),
    (r"No implementation of function .*?found for signature: >>> (.*?\)) .*", r"there is no \1"),
    (r"Can't unify return type from the following types: (.*?) Return of.*", r"it returns one of several types: \1"),
    (r".*Exception matching is limited to <class 'Exception'>.*", "except may name no exception but Exception"),
    (r"cannot type infer runaway recursion.*", "it calls itself without end: write a loop"),
    (
        r"Type of variable '\$\S+' cannot be determined, operation: .*",
        "a value has no type that can be found: what := assigns within an expression takes a line of its own",
    ),
    (r"Illegal IR, del found at: (del \w+).*", r"it says \1: leave that out"),
    (r"NRT required but not enabled", f"it makes a list, an array or a string, {_NO_MEMORY}"),
    (r"'CUDATargetContext' object has no attribute 'build_(\w+)'", rf"it makes a \1, {_NO_MEMORY}"),
    (r"No definition for lowering .*?\.(\w+) = .*", r"it assigns the attribute \1: return the new value instead"),
]  # fmt: skip
_TOKEN = re.compile(r"Literal\[(\w+)\]\([^()]*\)")


def at_line(code: CodeType, line: int | None) -> str:
    """A source location in Numba's format; `line` None is the function's first."""
    return f'(File "{code.co_filename}", line {code.co_firstlineno if line is None else line})'


def reason(error: BaseException) -> str:
    """The part of a compiler's error that concerns the user's source, and the line."""
    # Numba colours its messages if colorama is installed.
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", str(error)).splitlines()]
    place = next((line.rstrip(":") for line in lines if line.startswith("File ")), "")
    message_lines = itertools.takewhile(lambda line: not line.startswith("File "), lines)
    text = " ".join(line for line in message_lines if line and not line.startswith(_NOISE)) or type(error).__name__
    raised = re.search(r" Raised from (.*) \((\d+)\)$", text)
    if raised:
        text, place = text[: raised.start()], f'File "{raised[1]}", line {raised[2]}'
    for theirs, ours in _WORDS:
        if re.fullmatch(theirs, text):
            text = re.sub(theirs, ours, text)
            break
    text = _TOKEN.sub(r"\1", text)[:400]
    return f"{text} ({place})" if place else text
