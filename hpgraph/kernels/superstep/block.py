"""A vertex program over a block of a larger graph, whose vertices have numbers of their own.

Arrays go by the block's numbers; what the program is told as a vertex's ``id`` is the vertex itself. It stands in one
more array of the state, beside the properties.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from hpgraph.kernels.runtime.functions import ProgramFunctions
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function

VERTEX = np.dtype(np.int64)


class BlockFunctions(ProgramFunctions):
    """See `ProgramFunctions`; the array behind the properties holds the vertex of each number."""

    @cached_property
    def renew(self) -> Function:
        """``renew(before, id, message, world, step) -> after, changed``: what is the vertex, not its number."""
        return ProgramFunctions(self.code).renew

    @cached_property
    def tally(self) -> Function:
        """``tally(before, after, id, world, step, changed) -> parts``: likewise."""
        return ProgramFunctions(self.code).tally

    def _vertex_of(self, id_: str, values: list[str]) -> str:
        # Who is given copies is given the vertex, too.
        if self.own == "0" and id_ == "v":
            return super()._vertex_of(id_, values)
        return f"Vertex({', '.join([f'state[{len(self.code.properties)}][{id_}]', *values])})"


@dataclass(frozen=True, eq=False)
class BlockCode(ProgramCode):
    """Functions and types of a program that runs over blocks."""

    functions_type: ClassVar[type] = BlockFunctions
    names_vertices: ClassVar[bool] = True

    @property
    def beside(self) -> tuple[tuple[str, np.dtype], ...]:
        """Names and types of the arrays that follow the properties in the state."""
        return (("vertex", VERTEX),)


@lru_cache(maxsize=256)
def block_code(code: ProgramCode) -> BlockCode:
    """The same program over blocks; made once."""
    return BlockCode(**{field.name: getattr(code, field.name) for field in fields(code)})
