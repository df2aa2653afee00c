"""What a vertex program declares: properties, parameters, attributes and functions; refused where they do not fit."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hpgraph.semiring.dtypes import check_dtype

FUNCTIONS = {
    "gather": (3, "gather(source, weight, target)"),
    "update": (2, "update(vertex, message) or update(vertex, message, world)"),
    "cond": (1, "cond(vertex)"),
    "edge_cond": (3, "edge_cond(source, weight, target)"),
    "sends": (2, "sends(before, vertex)"),
    "aggregate": (2, "aggregate(before, vertex) or aggregate(before, vertex, world)"),
    "converged": (1, "converged(world)"),
}
# Names that mean something else where a property or a parameter would be read or given.
TAKEN = {
    "id", "superstep", "program", "graph", "active", "direction", "max_iteration", "delta", "ceiling", "run",
    "properties", "trace", "supersteps", "world", "edges", "activity", "weighted", "reduce", "identity", "idempotent",
    "message", "aggregators", *FUNCTIONS,
}  # fmt: skip


# Without ==: what begins with 0.0 is another declaration than what begins with -0.0.
@dataclass(frozen=True, eq=False)
class Property:
    """A value every vertex has, declared in the body of a `VertexProgram`; the program's data is one array a property.

    Parameters
    ----------
    dtype : dtype-like, optional
        Type of the array. None takes the type of the array given to the run.
    initial : scalar or callable, default 0
        What a run starts from where it is given no array: a value for all, or a function of the graph that returns an
        array of its `n_vertices` values.
    start : scalar or "id", optional
        What the vertices that are active at first have instead; "id" is the vertex's own number. Only where the run
        is given no array.

    Examples
    --------
    >>> Property("float32", initial=0.0).dtype
    'float32'
    """

    dtype: Any = None
    initial: Any = 0
    start: Any = None


# Without ==: what begins with 0.0 is another declaration than what begins with -0.0.
@dataclass(frozen=True, eq=False)
class Parameter:
    """A number that is the same for all vertices, and reaches `update` as an attribute of ``world``.

    Parameters
    ----------
    dtype : dtype-like
        Its type.
    default : scalar, default 0
        Its value where the run is given none.

    Examples
    --------
    >>> Parameter("float64", 0.85).default
    0.85
    """

    dtype: Any = "float64"
    default: Any = 0


class Definition:
    """What the body of a `VertexProgram` says."""

    edges: ClassVar[str] = "in"
    activity: ClassVar[str] = "changed"
    weighted: ClassVar[bool] = True
    max_iteration: ClassVar[int | None] = None
    reduce: ClassVar[Any] = None
    identity: ClassVar[Any] = None
    idempotent: ClassVar[bool] = False
    message: ClassVar[Any] = None
    aggregators: ClassVar[tuple[str, ...]] = ()
    # What `declarations_of` read for the last run; each class has a list of its own.
    _held: ClassVar[list[Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._held = []
        check_definition(cls)


def check_definition(program: type[Definition]) -> None:
    """Refuse functions of the wrong parameters, names that mean something else, and types kernels do not compute in.

    Raises
    ------
    TypeError, ValueError
        As `VertexProgram` does when a class is defined.
    """
    for name, (count, form) in FUNCTIONS.items():
        function = function_of(program, name)
        if function is None:
            continue
        if not inspect.isroutine(function):
            raise TypeError(f"{program.__name__}.{name} must be a function {form}, not {function!r}")
        taken = len(inspect.signature(function).parameters)
        if taken != count and not (name in ("update", "aggregate") and taken == 3):
            written = f"{program.__name__}.{name} must be written {form}, without self"
            raise TypeError(f"{written}; it has {taken} parameters")
    for kind in (Property, Parameter):
        for name, declaration in declared(program, kind).items():
            if name in TAKEN or not is_plain(name):
                raise ValueError(f"{program.__name__}.{name} cannot be called that; choose another name")
            if declaration.dtype is not None:
                check_dtype(declaration.dtype, f"the type of {program.__name__}.{name}", real=True)
    if program.message is not None:
        check_dtype(program.message, f"{program.__name__}.message", real=True)


def is_plain(name: str) -> bool:
    """Whether it can be a field of a named tuple."""
    return not name.startswith("_") and not keyword.iskeyword(name)


def function_of(program: type, name: str) -> Callable[..., Any] | None:
    """A program's function as it was written, or None where it has none of that name."""
    value = inspect.getattr_static(program, name, None)
    return value.__func__ if isinstance(value, staticmethod) else value


def declared(program: type, kind: type) -> dict[str, Any]:
    """The `Property` or `Parameter` declarations of a program, base classes first, in order."""
    found: dict[str, Any] = {}
    for base in reversed(program.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, kind):
                found.pop(name, None)
                found[name] = value
            else:
                found.pop(name, None)
    return found
