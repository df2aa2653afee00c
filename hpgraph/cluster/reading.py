"""Which properties a program reads of the other end of an arc, and which must therefore be sent to other blocks."""

from __future__ import annotations

from typing import NamedTuple

from hpgraph.kernels.runtime.program import ProgramCode, plain_function
from hpgraph.semiring.reads import reads


class Reading(NamedTuple):
    """Indices of the properties that are read of an arc's source, and of its target before the update."""

    of_source: tuple[int, ...]
    of_target: tuple[int, ...]


def reading_of(code: ProgramCode) -> Reading:
    """The properties that a program's functions read along arcs, from their bytecode."""
    names = [name for name, _ in code.properties]
    source, target = set[str](), set[str]()
    for function, arc in ((code.gather, True), (code.edge_cond, True), (code.cond, False)):
        if function is None:
            continue
        read = tuple(reads(plain_function(function)).values())
        if arc:
            source |= _names(read[0], names)
            target |= _names(read[2], names)
        else:
            target |= _names(read[0], names)
    return Reading(*(tuple(i for i, name in enumerate(names) if name in read) for read in (source, target)))


def _names(read: frozenset[str] | None, names: list[str]) -> set[str]:
    return set(names) if read is None else set(read) & set(names)
