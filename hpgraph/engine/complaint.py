"""What a vertex program's author reads when one of its functions does not compile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hpgraph.errors import CompileError
from hpgraph.kernels.program import GENERATED

if TYPE_CHECKING:
    from hpgraph.kernels.program import ProgramCode


@contextmanager
def naming_what_does_not_compile(code: ProgramCode) -> Iterator[None]:
    """Reword a `CompileError` about generated code: there, it is what the author's function returns that does not fit.

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
        if GENERATED not in error.reason or function not in (wanted := _returns(code)):
            raise
        raise CompileError(error.function, f"it must return {wanted[function]}") from error


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
