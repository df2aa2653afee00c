"""A vertex program over a block of a larger graph, whose vertices are numbered within the block.

Arrays are indexed by these local numbers; the ``id`` that the program reads is the vertex of the whole graph. One more
array of the state, beside the properties, holds it.
"""

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from hpgraph.kernels.runtime.functions import ProgramFunctions
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring.function import Function

VERTEX = np.dtype(np.int64)


class BlockFunctions(ProgramFunctions):
    """See `ProgramFunctions`; the array after the properties holds the global vertex of each local number."""

    @cached_property
    def renew(self) -> Function:
        """``renew(before, id, message, world, step) -> after, changed``; ``id`` is the global vertex."""
        return ProgramFunctions(self.code).renew

    @cached_property
    def tally(self) -> Function:
        """``tally(before, after, id, world, step, changed) -> parts``; ``id`` is the global vertex."""
        return ProgramFunctions(self.code).tally

    def _vertex_of(self, id_: str, values: list[str]) -> str:
        # Functions of copied properties get the global vertex as `v`.
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
    """The same program over blocks; cached."""
    return BlockCode(**{field.name: getattr(code, field.name) for field in fields(code)})
