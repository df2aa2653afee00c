"""The compiled form of a vertex program: its plain functions, and the types of its data.

`ProgramCode` is the code of a vertex program. Its functions still take vertices with named properties; each backend
wraps them to read and write arrays. The wrappers are generated, because the number and names of the properties vary;
they are plain Python functions again, so that both backends compile them alike.
"""

import math
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hpgraph.kernels.runtime.packed_pair import PackedPair
from hpgraph.semiring.function import Function
from hpgraph.semiring.monoid import Monoid
from hpgraph.semiring.reads import reads_properties
from hpgraph.semiring.references import GENERATED, inner_function


@dataclass(frozen=True, eq=False)
class Beginning:
    """Initial value of a property without an array; `start`: that of the sources, "id" for the vertex's number."""

    fill: Any
    start: Any


def begin(state: tuple[Any, ...], beginnings: tuple[Beginning | None, ...], sources: Any) -> None:
    """Fill the properties that have a `Beginning`."""
    for values, beginning in zip(state, beginnings, strict=True):
        if beginning is None:
            continue
        if isinstance(beginning.fill, tuple):
            for column, (fill, start) in enumerate(zip(beginning.fill, beginning.start or beginning.fill, strict=True)):
                values[:, column] = fill
                values[sources, column] = start
            continue
        values.fill(beginning.fill)
        if beginning.start is not None:
            where = int(sources[0]) if len(sources) == 1 else sources
            values[where] = where if beginning.start == "id" else beginning.start


def begin_sources(
    state: tuple[Any, ...], beginnings: tuple[Beginning | None, ...], vertices: Any, sources: Any
) -> None:
    """Fill the properties of many sources, arrays of shape (n, k), that have a `Beginning`."""
    for values, beginning in zip(state, beginnings, strict=True):
        if beginning is not None:
            values.fill(beginning.fill)
            if beginning.start is not None:
                values[vertices, sources] = vertices if beginning.start == "id" else beginning.start


def bucket_bounds(dtype: np.dtype, delta: float | None, ceiling: float | None, least: Any) -> tuple[Any, Any, Any]:
    """Width of a bucket, end of the first bucket, and the last value that is sent on, in the type of the values."""
    kind = dtype.type
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            last = kind(np.inf if ceiling is None else ceiling)
            if delta is None:
                return kind(0), kind(np.inf), last
            return kind(delta), kind(float(least) + delta), last
    smallest, largest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def held(value: Any) -> Any:
        # Integers have no value between a bound and the next integer below it.
        return kind(math.floor(min(max(value, smallest), largest)))

    last = held(largest if ceiling is None else ceiling)
    if delta is None:
        return kind(0), held(largest), last
    # A bucket holds at least one integer.
    width = max(delta, 1)
    return held(width), held(np.asarray(least).item() + width), last


def plain_function(function: Callable[..., Any]) -> Any:
    """The Python function of one that may be compiled."""
    return inner_function(function) or function


@dataclass(frozen=True, eq=False)
class ProgramCode:
    """Functions and types of a vertex program; `lengths`: numbers of each property at a vertex, 0 for one unshaped."""

    # Class of the wrapped functions, if it is not that of `hpgraph.kernels.runtime.functions`.
    functions_type: ClassVar[type | None] = None

    name: str
    properties: tuple[tuple[str, np.dtype], ...]
    parameters: tuple[tuple[str, np.dtype], ...]
    message: np.dtype
    reduce: Monoid
    gather: Callable[..., Any]
    update: Callable[..., Any] | None = None
    cond: Callable[..., Any] | None = None
    edge_cond: Callable[..., Any] | None = None
    aggregate: Callable[..., Any] | None = None
    aggregates: int = 0
    sends: Callable[..., Any] | None = None
    starts: Callable[..., Any] | None = None
    pair: PackedPair | None = None
    updates_alone: bool = False
    lengths: tuple[int, ...] = ()
    message_length: int = 0

    # Whether an array after the properties holds the id of each vertex; else its index is its id.
    names_vertices: ClassVar[bool] = False
    # Whether the functions receive an arc's number, and may change its edge properties.
    has_edges: ClassVar[bool] = False

    @property
    def beside(self) -> tuple[tuple[str, np.dtype], ...]:
        """Names and types of the arrays that follow the vertices' properties in the state."""
        return ()

    @property
    def weightless(self) -> np.dtype:
        """Type of the weight that functions receive for an arc without one."""
        return np.dtype(self.message)

    @property
    def notes(self) -> tuple[np.dtype, ...]:
        """Types of the arrays after the cells, of one number a vertex, in which functions record marks."""
        return ()

    @property
    def first_cell(self) -> int:
        """Index in the state of the first cell."""
        return len(self.properties) + len(self.beside)

    @cached_property
    def vertex(self) -> type:
        """Named tuple of a vertex: its id and its properties."""
        return namedtuple("Vertex", ("id", *(name for name, _ in self.properties)))  # type: ignore[misc]

    @cached_property
    def world(self) -> type:
        """Named tuple of the superstep's number and the parameters."""
        return namedtuple("World", ("superstep", *(name for name, _ in self.parameters)))  # type: ignore[misc]

    def called(self, name: str) -> str:
        """The name of one of the functions above in the program's class."""
        return name

    def takes_world(self, function: Callable[..., Any], without: int) -> bool:
        """Whether a function has a parameter more than the `without` it must have."""
        return int(plain_function(function).__code__.co_argcount) > without

    @property
    def notes_arrivals(self) -> bool:
        """Whether products must note the receivers: `edge_cond` cannot be tested after the edge has changed."""
        return False

    @property
    def is_shaped(self) -> bool:
        """Whether properties or messages are tuples of several numbers."""
        return bool(self.lengths or self.message_length)

    @cached_property
    def cells(self) -> tuple[np.dtype, ...]:
        """Types of the cells after the state: superstep and parameters, from which functions of arcs read the world."""
        return self._find_cells()

    def _find_cells(self) -> tuple[np.dtype, ...]:
        asked = ((self.gather, 3), (self.edge_cond, 3), (self.cond, 1))
        if not any(function is not None and self.takes_world(function, count) for function, count in asked):
            return ()
        return (np.dtype(np.int64), *(dtype for _, dtype in self.parameters))

    @cached_property
    def reads_receivers(self) -> bool:
        """Whether messages depend on properties of the vertices that they reach: on more of these than their ids."""
        asked = ((self.gather, 2), (self.edge_cond, 2), (self.cond, 0))
        return any(reads_properties(plain_function(function))[at] for function, at in asked if function is not None)

    @cached_property
    def choosing(self) -> "ProgramCode":
        """The same code with `starts` for its `cond`, to be evaluated at all vertices."""
        return replace(self, cond=self.starts, edge_cond=None)

    @property
    def in_words(self) -> str:
        """The type of a message, as the program declares it."""
        return f"{self.message_length} {self.message}" if self.message_length else str(self.pair or self.message)

    def wrap(self, name: str, parameters: str, body: str, **names: Any) -> Function:
        """A generated function ``def name(parameters): body`` over this program's functions and tuples."""
        cells = {"Vertex": self.vertex, "World": self.world, **names}
        lines = "\n".join(f"        {line}" for line in body.splitlines())
        # A factory, so that the names are closure cells: a function's fingerprint covers its cells' contents.
        text = f"def factory({', '.join(cells)}):\n    def {name}({parameters}):\n{lines}\n    return {name}"
        namespace: dict[str, Any] = {"__name__": __name__}
        exec(compile(text, GENERATED, "exec"), namespace)
        return Function(namespace["factory"](**cells), f"{self.name}.{name.removesuffix('_at')}")
