"""The declarations of a vertex program at the start of a run: attributes checked, functions copied.

A class may change between two runs, as in a notebook: each run compares, in one flat loop, all that the last one read,
and reads it again only after a change.
"""

import functools
import inspect
from types import FunctionType
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.engine.column_program import along_columns, reason_against
from hpgraph.engine.definition import (
    LEFT,
    Definition,
    EdgeDefinition,
    EdgeProperty,
    Parameter,
    Property,
    check_definition,
    declared,
    function_of,
    message_type,
    pair_types,
    reduces_pairs,
    updates_alone,
)
from hpgraph.engine.program_checks import check_aggregators, check_attributes, check_properties, check_update
from hpgraph.engine.values import scalar, type_of
from hpgraph.kernels.edges.program import EdgeProgramCode
from hpgraph.kernels.runtime.packed_pair import PAIRS, WORD, PackedPair
from hpgraph.kernels.runtime.program import Beginning, ProgramCode
from hpgraph.semiring import get_monoid
from hpgraph.semiring.monoid import BUILTIN, Monoid, without_terminal
from hpgraph.semiring.reads import given_attribute, reads
from hpgraph.semiring.snapshot import Snapshot, copy_functions

_ATTRIBUTES = (
    "edges", "activity", "weighted", "max_iteration", "reduce", "identity", "idempotent", "message", "aggregators",
)  # fmt: skip
# Instances with attributes of their own that are remembered with their class.
_INSTANCES = 32


class Declarations:
    """The declarations of a program's class, read and checked once; attributes are as in `VertexProgram`.

    ``functions``: copies by name, with all they refer to; `converged`, which Python calls, is not copied;
    ``beginnings``: type and initial value of the properties that begin with a number; ``runs_alone``: whether nothing
    needs to return to Python between supersteps.
    """

    def __init__(self, program: type[Definition]) -> None:
        namespaces = [vars(base) for base in program.__mro__ if base is not object]
        self._classes = [(namespace, dict(namespace)) for namespace in namespaces]
        self._instances: dict[tuple[Any, ...], Declarations] = {}
        self._codes: dict[tuple[np.dtype, ...], ProgramCode] = {}
        # Results of `hpgraph.engine.forms`.
        self.forms: dict[ProgramCode, Any] = {}
        self._snapshot = Snapshot()
        self.program = program
        self._identity = program.identity
        self._checks_bounds = config.check_bounds
        check_definition(program)
        self._check(program)
        self.name = program.__name__
        self.edges: str = program.edges
        self.activity: str = program.activity
        self.weighted = bool(program.weighted)
        self.max_iteration = program.max_iteration
        self.message = program.message
        self.aggregators = program.aggregators
        self.properties: dict[str, Property] = declared(program, Property)
        self.parameters: dict[str, Parameter] = declared(program, Parameter)
        self.functions = self._copies({name: function_of(program, name) for name in program._functions})
        self.functions["converged"] = function_of(program, "converged")
        # Columns of edges that are read beside the weight; of several a program along numbered arcs is made.
        self.columns: tuple[str, ...] = ()
        self.column = self._column()
        self.updates_alone = updates_alone(program)
        self._read_reduce(program)
        self.beginnings = self._beginnings()
        # For programs with edge properties.
        self.edge_properties: dict[str, EdgeProperty] = declared(program, EdgeProperty)
        self.runs_alone = (
            self.activity == "changed" and self.functions["aggregate"] is None and self.functions["converged"] is None
        )

    def hold(self) -> bool:
        """Whether the class and all that its functions refer to are still as they were read."""
        try:
            for namespace, copy in self._classes:
                # Dicts compare values that are one object without asking these, so it takes no microsecond.
                if namespace != copy:
                    return False
        except (TypeError, ValueError):  # arrays have no single truth value, for one
            return False
        if self._checks_bounds is not config.check_bounds:
            return False
        if self._identity is not self.program.identity:  # 0.0 and -0.0 are equal
            return False
        if self._registered is not None and get_monoid(self._registered) is not self.reduce:
            return False
        return self._snapshot.holds()

    def code(self, dtypes: tuple[np.dtype, ...]) -> ProgramCode:
        """The code of the program for given property types; made once."""
        program_code = self._codes.get(dtypes)
        if program_code is None:
            program_code = self._codes[dtypes] = self._code(dtypes)
        return program_code

    def of_instance(self, program: Definition) -> "Declarations":
        """The declarations with attributes of the instance, as if a subclass defined them."""
        own = getattr(program, "__dict__", None)
        if not own:
            return self
        # The subclass keeps the values alive, so that their ids stay unique.
        key = tuple((name, id(value)) for name, value in own.items())
        declared = self._instances.get(key)
        if declared is None or not declared.hold():
            if len(self._instances) >= _INSTANCES:
                self._instances.clear()
            declared = self._instances[key] = _read(self._subclass(type(program), own))
        return declared

    def _subclass(self, kind: type[Definition], own: dict[str, Any]) -> type[Definition]:
        for name, value in own.items():
            for what, names in (("property", self.properties), ("parameter", self.parameters)):
                if name in names and not isinstance(value, (Property, Parameter)):
                    raise TypeError(
                        f"{self.name}.{name} is a {what}, and was assigned {value!r}: give the run its value, "
                        f"run(program, graph, {name}=...)"
                    )
        allowed = {*_ATTRIBUTES, kind._combines, *kind._functions}
        # Other attributes of the instance are not part of the program, but are kept alive with it.
        body = {name: value for name, value in own.items() if name in allowed or isinstance(value, kind._kinds)}
        namespace = {**body, "__module__": kind.__module__, "_own": list(own.values())}
        return type.__call__(type(kind), kind.__name__, (kind,), namespace)

    def _copies(self, functions: dict[str, Any]) -> dict[str, Any]:
        """Copies of the plain functions; other callables are refused when they are compiled."""
        plain = {name: function for name, function in functions.items() if isinstance(function, FunctionType)}
        copies = copy_functions(plain.values(), snapshot=self._snapshot)
        return {**functions, **dict(zip(plain, copies, strict=True))}

    def _column(self) -> str | None:
        """The column of edges that functions read as ``edge.title``; it then takes the place of the weight."""
        functions = {name: self.functions.get(name) for name in ("gather", "edge_cond")}
        seconds = {name: list(reads(function).items())[1] for name, function in functions.items()
                   if isinstance(function, FunctionType)}  # fmt: skip
        columns = frozenset[str]().union(*(read for called, read in seconds.values() if called == "edge" and read))
        if not columns:
            return None
        others = [name for name, (called, read) in seconds.items() if read is None or not read <= columns or (
            called != "edge" and read)]  # fmt: skip
        against = reason_against(self.program, columns)
        if others or (against and len(columns) > 1):
            both = " and ".join(f"edge.{title}" for title in sorted(columns))
            raise TypeError(
                f"{self.name} reads {both}{f', and {others[0]} a weight' if others else f', and has {against}'}: a "
                "VertexProgram is given one number along an arc; an EdgeVertexProgram reads several columns, each "
                "declared by its title as hpgraph.EdgeProperty(constant=True)"
            )
        if len(columns) > 1:
            self.columns = tuple(sorted(columns - {"weight"}))
            return None
        for name, (called, read) in seconds.items():
            if read:
                self.functions[name] = given_attribute(self.functions[name], called)
        (title,) = columns
        if title == "weight":
            return None
        self.weighted = True
        return title

    def on(self, graph: Any) -> Any:
        """The graph to run on: with the column that the program reads for its weights."""
        for title in self.columns:
            graph._column(title, graph._columns_held.edges, "edge")
        return graph if self.column is None else graph._weighted_by(self.column)

    def _check(self, program: type[Definition]) -> None:
        """Refuse invalid attributes, and invalid combinations."""
        check_attributes(program)

    def _read_reduce(self, program: type[Definition]) -> None:
        called = f"{self.name}.{program._combines}"
        reduce: Any = "any" if self.updates_alone else inspect.getattr_static(program, program._combines)
        if isinstance(reduce, staticmethod):
            reduce = reduce.__func__
        # A user may register another monoid under the same name.
        self._registered = reduce if isinstance(reduce, str) and reduce not in BUILTIN else None
        if isinstance(reduce, str) and reduce in PAIRS:
            self._registered = None
            self.reduce = get_monoid(PAIRS[reduce])
            return
        if not isinstance(reduce, FunctionType):
            self.reduce = get_monoid(reduce)
            return
        if program.identity is None:
            raise TypeError(f"{called} is a function, so {self.name}.identity must be set as well")
        copies = self._copies({"reduce": reduce, "identity": program.identity})
        combiner, identity = copies["reduce"], copies["identity"]
        self.reduce = Monoid(combiner, identity, idempotent=program.idempotent, name=called)

    def _beginnings(self) -> dict[str, tuple[np.dtype, Beginning]]:
        beginnings = {}
        for name, prop in self.properties.items():
            if np.isscalar(prop.initial) or (prop.length and isinstance(prop.initial, tuple | list)):
                dtype = type_of(prop.dtype, prop.initial, name)
                beginnings[name] = dtype, beginning(prop.initial, prop.start, dtype, name, prop.length)
        return beginnings

    def _code(self, dtypes: tuple[np.dtype, ...]) -> ProgramCode:
        functions = {name: function for name, function in self.functions.items() if name not in ("converged", "starts")}
        if self.updates_alone:
            functions["gather"] = _no_gather
        return ProgramCode(**self._common(dtypes), updates_alone=self.updates_alone, reduce=self.reduce, **functions)

    def _common(self, dtypes: tuple[np.dtype, ...]) -> dict[str, Any]:
        """Arguments common to the code of both kinds of programs."""
        parameters = [(name, np.dtype(p.dtype)) for name, p in self.parameters.items()]
        parameters += [(name, np.dtype("float64")) for name in self.aggregators]
        lengths = tuple(prop.length for prop in self.properties.values())
        pair, message, message_length = None, dtypes[0], lengths[0]
        if reduces_pairs(self.program):
            pair = PackedPair(getattr(self.program, self.program._combines), *pair_types(self.program, dtypes[0]))
        if pair is not None or self.updates_alone:
            message, message_length = WORD, 0
        elif self.message is not None:
            message, message_length = message_type(self.program)
        starts = self.functions["starts"]
        return {
            "name": self.name, "properties": tuple(zip(self.properties, dtypes, strict=True)),
            "parameters": tuple(parameters), "message": message, "message_length": message_length,
            "lengths": lengths if any(lengths) else (), "pair": pair, "aggregates": len(self.aggregators),
            "starts": None if isinstance(starts, str) and starts == LEFT else starts,
        }  # fmt: skip


class EdgeDeclarations(Declarations):
    """The same of an edge-vertex program; whether a function may read an edge's weight, or its reverse."""

    def _column(self) -> None:
        return None

    def __init__(self, program: type[Definition]) -> None:
        super().__init__(program)
        if self.reduce.ends_on_anything:
            raise ValueError(
                f'{self.name}.combiner must not be "any": results would depend on the order of messages; take "min"'
            )
        # A terminal value would end a row early, but every arc's function must be called.
        self._combiner = without_terminal(self.reduce)
        read: set[str] = set()
        for name in ("edge_compute", "edge_cond", "reply", "reply_cond"):
            function = self.functions[name]
            if function is not None:
                result = list(reads(function).values())[1]
                read |= {"weight", "reverse"} if result is None else result
        self.reads_weight = self.weighted and not read.isdisjoint(("weight", "reverse"))
        self.reads_reverse = "reverse" in read
        self._edge_codes: dict[tuple[object, ...], EdgeProgramCode] = {}

    def edge_code(
        self, dtypes: tuple[np.dtype, ...], edge_dtypes: tuple[np.dtype, ...], weight: np.dtype | None, places: np.dtype
    ) -> EdgeProgramCode:
        """The code of the program for given types; made once."""
        key = dtypes, edge_dtypes, weight, places
        code = self._edge_codes.get(key)
        if code is None:
            named = {"gather": "edge_compute", "update": "vertex_compute", "halts": "vote_to_halt"}
            named |= {name: name for name in ("edge_cond", "aggregate", "reply", "reply_cond")}
            code = self._edge_codes[key] = EdgeProgramCode(
                **self._common(dtypes),
                **{name: self.functions[own] for name, own in named.items()},
                reduce=self._combiner,
                edge_properties=tuple(zip(self.edge_properties, edge_dtypes, strict=True)),
                constant=tuple(bool(prop.constant) for prop in self.edge_properties.values()),
                weight=weight if self.reads_weight else None,
                places=places,
                reads_reverse=self.reads_reverse,
                all_active=self.activity == "all",
            )
        return code

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
            raise TypeError(f"{name} has reply_cond, but no reply(source, edge, target)")
        if function_of(program, "vote_to_halt") is not None and program.activity == "all":
            raise ValueError(f'{name}.vote_to_halt selects active vertices: that needs activity = "changed", not "all"')
        check_update(program, "vertex_compute")


def declarations_of(program: Definition | type[Definition]) -> Any:
    """The current declarations of a program: those read for the last run, if nothing has changed."""
    kind = program if isinstance(program, type) else type(program)
    if not issubclass(kind, Definition):
        raise TypeError(f"program must be a VertexProgram, not {kind.__name__}")
    # Stored in the class itself, so that both are collected together.
    cell: list[Declarations] | None = kind.__dict__.get("_held")
    if cell is None:  # its own __init_subclass__ did not call ours
        kind._held = cell = []
    declared = cell[0] if cell else None
    if declared is None or not declared.hold():
        declared = _read(kind)
        cell[:] = [declared]
    return declared if isinstance(program, type) else declared.of_instance(program)


def _read(kind: type[Definition]) -> Declarations:
    """Read a program's declarations; one that reads several columns is replaced by its edge-vertex program."""
    if issubclass(kind, EdgeDefinition):
        return EdgeDeclarations(kind)
    declared = Declarations(kind)
    if not declared.columns:
        return declared
    edge_program = EdgeDeclarations(along_columns(kind, declared.columns))
    edge_program.columns = declared.columns
    edge_program._classes += declared._classes
    return edge_program


# `declarations_of` for the library's own programs, which do not change: read once.
declarations_of_own: Any = functools.cache(declarations_of)


def beginning(value: Any, start: Any, dtype: np.dtype, name: str, length: int = 0) -> Beginning:
    """The initial value of a property, in its type."""
    if length:
        fill = _tuple(value, dtype, name, length)
        return Beginning(fill, None if start is None else _tuple(start, dtype, f"{name}'s start", length))
    if start is not None and not (isinstance(start, str) and start == "id"):
        start = scalar(start, dtype, f"{name}'s start")
    return Beginning(scalar(value, dtype, name), start)


def _tuple(value: Any, dtype: np.dtype, name: str, length: int) -> tuple[Any, ...]:
    """A sequence of `count` numbers, or one number repeated."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be a number or a tuple of {length}, not {value!r}")
    numbers = tuple(value) if np.ndim(value) else (value,) * length
    if len(numbers) != length:
        raise ValueError(f"{name} must be a number or a tuple of {length}, one for each of its numbers, not {value!r}")
    return tuple(scalar(number, dtype, name) for number in numbers)


def _no_gather(source: Any, weight: Any, target: Any) -> int:
    """`gather` of a step without arcs; never called."""
    return 0
