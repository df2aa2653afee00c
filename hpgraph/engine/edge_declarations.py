"""What an edge-vertex program says at the moment of a run: see `hpgraph.engine.declarations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hpgraph.engine.declarations import Declarations, declarations_of
from hpgraph.engine.definition import (
    LEFT,
    declared,
    function_of,
    message_type,
    pair_types,
    reduces_pairs,
)
from hpgraph.engine.edge_definition import EdgeDefinition, EdgeProperty
from hpgraph.engine.program_checks import check_aggregators, check_properties, check_update
from hpgraph.kernels.edges.program import EdgeProgramCode
from hpgraph.kernels.runtime.packed_pair import WORD, PackedPair
from hpgraph.semiring.monoid import without_terminal
from hpgraph.semiring.reads import reads

if TYPE_CHECKING:
    from hpgraph.engine.definition import Definition


class EdgeDeclarations(Declarations):
    """What the class of an edge-vertex program declares, read and checked at one moment; see `Declarations`.

    Attributes
    ----------
    edge_properties : dict
        The `EdgeProperty` declarations by name.
    reads_weight, reads_reverse : bool
        Whether a function may read an edge's weight, or its reverse.
    """

    def __init__(self, program: type[Definition]) -> None:
        super().__init__(program)
        self.edge_properties: dict[str, EdgeProperty] = declared(program, EdgeProperty)
        if self.reduce.ends_on_anything:
            raise ValueError(
                f'{self.name}.combiner must not be "any": which message comes first would show; take "min" or "max"'
            )
        # Every arc's function is called, also of those that would not matter to the message.
        self._combiner = without_terminal(self.reduce)
        read: set[str] = set()
        for name in ("edge_compute", "edge_cond", "reply", "reply_cond"):
            function = self.functions[name]
            if function is not None:
                found = list(reads(function).values())[1]
                read |= {"weight", "reverse"} if found is None else found
        self.reads_weight = self.weighted and not read.isdisjoint(("weight", "reverse"))
        self.reads_reverse = "reverse" in read
        self._edge_codes: dict[tuple[object, ...], EdgeProgramCode] = {}

    def edge_code(
        self, dtypes: tuple[np.dtype, ...], edge_dtypes: tuple[np.dtype, ...], weight: np.dtype | None, places: np.dtype
    ) -> EdgeProgramCode:
        """The code of the program for given types; made once."""
        key = dtypes, edge_dtypes, weight, places
        found = self._edge_codes.get(key)
        if found is None:
            parameters = [(name, np.dtype(p.dtype)) for name, p in self.parameters.items()]
            parameters += [(name, np.dtype("float64")) for name in self.aggregators]
            lengths = tuple(prop.length for prop in self.properties.values())
            pair, message, message_length = None, dtypes[0], lengths[0]
            if reduces_pairs(self._program):
                pair = PackedPair(self._program.combiner, *pair_types(self._program, dtypes[0]))  # type: ignore[attr-defined]
                message, message_length = WORD, 0
            elif self.message is not None:
                message, message_length = message_type(self._program)
            found = self._edge_codes[key] = EdgeProgramCode(
                name=self.name,
                properties=tuple(zip(self.properties, dtypes, strict=True)),
                parameters=tuple(parameters),
                message=message,
                message_length=message_length,
                lengths=lengths if any(lengths) else (),
                pair=pair,
                reduce=self._combiner,
                gather=self.functions["edge_compute"],
                update=self.functions["vertex_compute"],
                edge_cond=self.functions["edge_cond"],
                aggregate=self.functions["aggregate"],
                aggregates=len(self.aggregators),
                edge_properties=tuple(zip(self.edge_properties, edge_dtypes, strict=True)),
                constant=tuple(bool(prop.constant) for prop in self.edge_properties.values()),
                weight=weight if self.reads_weight else None,
                places=places,
                reads_reverse=self.reads_reverse,
                halts=self.functions["vote_to_halt"],
                starts=None if self.functions["starts"] == LEFT else self.functions["starts"],
                reply=self.functions["reply"],
                reply_cond=self.functions["reply_cond"],
                everyone=self.activity == "all",
            )
        return found

    def _check(self, program: type[Definition]) -> None:
        name = program.__name__
        for attribute in ("edges", "reduce"):
            if getattr(program, attribute) is not getattr(EdgeDefinition, attribute):
                instead = "combiner" if attribute == "reduce" else "G.reverse()"
                raise ValueError(f"{name}.{attribute} is an attribute of a VertexProgram; here it is {instead}")
        check_properties(program)
        if function_of(program, "edge_compute") is None:
            raise TypeError(f"{name} has no edge_compute(source, edge, target)")
        if program.combiner is None:  # type: ignore[attr-defined]
            raise TypeError(f'{name} has no combiner; set it to a monoid\'s name such as "min", or to a function')
        for prop, one in declared(program, EdgeProperty).items():
            if not isinstance(one.constant, bool | np.bool_):
                raise TypeError(f"{name}.{prop}: constant must be True or False, not {one.constant!r}")
        check_aggregators(program)
        if function_of(program, "reply_cond") is not None and function_of(program, "reply") is None:
            raise TypeError(f"{name} has reply_cond, but no reply(source, edge, target) that it would be for")
        if function_of(program, "vote_to_halt") is not None and program.activity == "all":
            raise ValueError(f'{name}.vote_to_halt says who is active: that needs activity = "changed", not "all"')
        check_update(program, "vertex_compute")


def edge_declarations_of(program: EdgeDefinition | type[EdgeDefinition]) -> EdgeDeclarations:
    """What a program declares now; see `declarations_of`."""
    found = declarations_of(program, EdgeDeclarations)
    assert isinstance(found, EdgeDeclarations)
    return found
