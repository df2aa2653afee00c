"""What a vertex program's author reads when one of its functions does not compile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hpgraph.errors import CompileError
from hpgraph.kernels.program import GENERATED

if TYPE_CHECKING:
    from hpgraph.kernels.program import ProgramCode

# How a complaint ends that is about a line of some file.
_LINE = re.compile(r"line (\d+)\)$")


@contextmanager
def naming_what_does_not_compile(code: ProgramCode) -> Iterator[None]:
    """Reword a `CompileError` so that it is about a function its reader wrote.

    Where the compiler complains of generated code, or can name no line, it is what the author's function returns that
    does not fit.

    Parameters
    ----------
    code : ProgramCode
        The program that runs inside.

    Raises
    ------
    CompileError
        Naming the function of the program, and what is wrong with it.
    """
    try:
        yield
    except CompileError as error:
        function = error.function.rpartition(".")[2]
        if function == "offer":
            function = _of_two(code, error.reason)
        wanted = _returns(code)
        if function not in wanted:
            raise
        reason = error.reason if _is_of_the_author(error.reason) else f"it must return {wanted[function]}"
        raise CompileError(f"{code.name}.{function}", reason) from error


def _is_of_the_author(reason: str) -> bool:
    return _LINE.search(reason) is not None and GENERATED not in reason


def _of_two(code: ProgramCode, reason: str) -> str:
    """Which function a complaint about `gather` and `edge_cond` together means: the one that its line lies in."""
    line = _LINE.search(reason)
    if code.edge_cond is None or line is None or GENERATED in reason:
        return "gather"
    begins = {"gather": code.gather.__code__.co_firstlineno, "edge_cond": code.edge_cond.__code__.co_firstlineno}
    return max(begins, key=lambda name: (begins[name] <= int(line[1]), begins[name]))


def _returns(code: ProgramCode) -> dict[str, str]:
    """What each function must return."""
    names = [name for name, _ in code.properties]
    several = f"a tuple of {len(names)} numbers, the new {', '.join(names)}"
    return {
        "gather": f"a number, the message, which becomes {code.message}",
        "update": f"a number, the new {names[0]}" if len(names) == 1 else several,
        "cond": "True or False",
        "edge_cond": "True or False",
        "aggregate": "a number" if code.aggregates == 1 else f"a tuple of {code.aggregates} numbers",
    }
