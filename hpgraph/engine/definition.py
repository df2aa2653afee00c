"""Declarations of a vertex program: properties, parameters, attributes and functions, with their checks."""

import inspect
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hpgraph.core.number import whole
from hpgraph.kernels.runtime.packed_pair import PAIR_TYPES, PAIRS
from hpgraph.semiring.dtypes import check_dtype

# The parameters that each function must have. All but `converged` may have one more, ``world``.
FUNCTIONS = {
    "gather": ("source", "weight", "target"),
    "update": ("vertex", "message"),
    "cond": ("vertex",),
    "edge_cond": ("source", "weight", "target"),
    "sends": ("before", "vertex"),
    "aggregate": ("before", "vertex"),
    "starts": ("vertex",),
    "converged": ("world",),
}
# For programs with edge properties.
EDGE_FUNCTIONS = {
    "edge_compute": ("source", "edge", "target"),
    "edge_cond": ("source", "edge", "target"),
    "reply": ("source", "edge", "target"),
    "reply_cond": ("source", "edge", "target"),
    "vertex_compute": ("vertex", "message"),
    "vote_to_halt": ("before", "vertex"),
    "starts": ("vertex",),
    "aggregate": ("before", "vertex"),
    "converged": ("world",),
}
# Names of an edge's other attributes, and of a run's own arrays.
_OF_EDGES = {"weight", "reverse", "exists", "stamp"}
# Maximum length of a property or a message.
LONGEST = 32
# Value of `starts` for the vertices that the last phase left active.
LEFT = "left"
# Reserved names: no property or parameter may have them.
TAKEN = {
    "id", "superstep", "program", "graph", "active", "group_size", "lanes", "direction", "max_iteration", "delta",
    "ceiling", "apart", "run", "properties", "trace", "supersteps", "world", "edges", "activity", "weighted", "reduce",
    "identity", "idempotent", "message", "aggregators", *FUNCTIONS,
}  # fmt: skip


class SeenAsNumber:
    """Accepted by type checkers as any number: they see the program's class where kernels see a vertex."""

    if TYPE_CHECKING:

        def __get__(self, vertex: Any, program: Any) -> Any: ...


# Compared by identity: as values, 0.0 and -0.0 would be equal.
@dataclass(frozen=True, eq=False)
class Property(SeenAsNumber):
    """A vertex property, declared in the body of a `VertexProgram` and stored as one array.

    Parameters
    ----------
    dtype : dtype-like, optional
        Type of the array. None is the type of the array passed to the run.
    initial : scalar or callable, default 0
        Initial value if no array is passed to the run: one for all, or a function of the graph that returns an array of
        its `n_vertices` values.
    start : scalar or "id", optional
        Initial value of the vertices that are active in the first superstep, if no array is passed to the run; "id" is
        the vertex's index.
    shape : int, optional
        Number of elements for each vertex, from 1 to 32: ``vertex.p`` is a tuple, and the array has shape (n, shape).
        `initial` and `start` may be tuples too. Default: a single number, which is not a tuple.

    Examples
    --------
    >>> Property("float32", initial=0.0).dtype
    'float32'

    Two numbers a vertex, of which the neighbours' means are taken:

    >>> class Means(hpg.VertexProgram):
    ...     at = hpg.Property("float64", shape=2)
    ...     edges, reduce, activity, weighted = "all", "plus", "all", False
    ...     message = "float64", 3
    ...     def gather(source, weight, target):
    ...         return source.at[0], source.at[1], 1.0
    ...     def update(vertex, message):
    ...         return message[0] / message[2], message[1] / message[2]
    >>> G = hpg.Graph.from_edges([0, 1], [1, 2])
    >>> hpg.run(Means, G, at=[[0, 1], [5, 5], [2, 3]], max_iteration=1).at.tolist()
    [[5.0, 5.0], [1.0, 2.0], [5.0, 5.0]]
    """

    dtype: Any = None
    initial: Any = 0
    start: Any = None
    shape: int | tuple[int] | None = None

    @cached_property
    def length(self) -> int:
        """Number of elements for each vertex if the property is a tuple, else 0."""
        if self.shape is None:
            return 0
        return int(self.shape[0] if isinstance(self.shape, tuple) else self.shape)


@dataclass(frozen=True, eq=False)
class Parameter(SeenAsNumber):
    """A number that is the same for all vertices; functions read it as an attribute of ``world``.

    Parameters
    ----------
    dtype : dtype-like
        Its type.
    default : scalar, default 0
        Value if none is passed to the run.

    Examples
    --------
    >>> Parameter("float64", 0.85).default
    0.85
    """

    dtype: Any = "float64"
    default: Any = 0


@dataclass(frozen=True, eq=False)
class EdgeProperty(SeenAsNumber):
    """An edge property, declared in the body of an `EdgeVertexProgram` and stored as one array, in the order of arcs.

    Parameters
    ----------
    dtype, initial : optional
        As for `Property`.
    constant : bool, default False
        Whether `edge_compute` only reads it. If no array is passed to the run, it then is the graph's column of edges
        of the same title, if there is one; for text, the codes.

    Examples
    --------
    >>> EdgeProperty("float32", initial=0.5).initial
    0.5
    """

    dtype: Any = None
    initial: Any = 0
    constant: bool = False


class Definition:
    """The attributes that the body of a `VertexProgram` may define."""

    edges: ClassVar[str] = "in"
    activity: ClassVar[str] = "changed"
    weighted: ClassVar[bool] = True
    max_iteration: ClassVar[int | None] = None
    reduce: ClassVar[Any] = None
    identity: ClassVar[Any] = None
    idempotent: ClassVar[bool] = False
    message: ClassVar[Any] = None
    aggregators: ClassVar[tuple[str, ...]] = ()
    # Overridden by the other kind of program: its functions, its declarations, names of the combiner and the update.
    _functions: ClassVar[dict[str, tuple[str, ...]]] = FUNCTIONS
    _kinds: ClassVar[tuple[type, ...]] = (Property, Parameter)
    _combines: ClassVar[str] = "reduce"
    _updates: ClassVar[str] = "update"
    # Read by `declarations_of` for the last run; one list a class.
    _held: ClassVar[list[Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._held = []
        check_definition(cls)


def check_definition(program: type[Definition]) -> None:
    """Refuse functions with wrong parameters, reserved names, and types that kernels do not support."""
    pairs = reduces_pairs(program)
    for name, parameters in program._functions.items():
        function = function_of(program, name)
        if function is None:
            continue
        if name == "starts" and isinstance(function, str) and function == LEFT:
            continue
        if name == program._updates and pairs:
            parameters = ("vertex", "key", "payload")
        elif name == "update" and updates_alone(program):
            parameters = ("vertex",)
        form = f"{name}({', '.join(parameters)})"
        longer = name != "converged"
        if longer:
            form += f" or {name}({', '.join([*parameters, 'world'])})"
        if not inspect.isroutine(function):
            raise TypeError(f"{program.__name__}.{name} must be a function {form}, not {function!r}")
        names = list(inspect.signature(function).parameters)
        taken = len(names)
        if parameters == ("vertex",) and name == "update" and taken == 3:
            continue  # a base class, without `gather` and `reduce` yet
        # A function with `self` would have as many parameters as one with `world`.
        if taken - len(parameters) not in ((0, 1) if longer else (0,)) or "self" in names:
            written = f"{program.__name__}.{name} must be written {form}, without self"
            raise TypeError(f"{written}; it has {taken} parameters")
    for kind in program._kinds:
        for name, declaration in declared(program, kind).items():
            if name in TAKEN or name in program._functions or not is_plain(name):
                raise ValueError(f"{program.__name__}.{name} cannot be called that; choose another name")
            if kind is Property:
                _check_length(declaration.shape, f"{program.__name__}.{name}", "hpg.Property('float32', shape=4)")
            if declaration.dtype is not None:
                check_dtype(declaration.dtype, f"the type of {program.__name__}.{name}", real=True)
    if program.message is None:
        return
    if pairs:
        pair_types(program, None)
    else:
        message_type(program)


def _check_length(shape: Any, name: str, example: str) -> None:
    """Refuse a shape that is not one length from 1 to `LONGEST`."""
    length = shape[0] if isinstance(shape, tuple) and len(shape) == 1 else shape
    if length is None:
        return
    whole(length, f"the shape of {name}", f"a whole number, as in {example}", least=1, most=LONGEST)


def message_type(program: type[Definition]) -> tuple[np.dtype, int]:
    """Type of a number of a message, and the length of a tuple, else 0, from `message`."""
    form, name = program.message, f"{program.__name__}.message"
    if isinstance(form, tuple) and len(form) == 2:
        _check_length(form[1], name, f'{name} = ("float32", 4)')
        return check_dtype(form[0], name, real=True), int(form[1][0] if isinstance(form[1], tuple) else form[1])
    return check_dtype(form, name, real=True), 0


def updates_alone(program: type[Definition]) -> bool:
    """Whether the program is a step without arcs, which updates vertices from their own properties alone."""
    of_vertices = "gather" in program._functions
    return of_vertices and function_of(program, "gather") is None and inspect.getattr_static(program, "reduce") is None


def reduces_pairs(program: type[Definition]) -> bool:
    """Whether messages are pairs of a key and a payload: where `reduce` is "argmin" or "argmax"."""
    reduce = inspect.getattr_static(program, program._combines)
    return isinstance(reduce, str) and reduce in PAIRS


def pair_types(program: type[Definition], first: np.dtype | None) -> tuple[np.dtype, np.dtype]:
    """Types of key and payload of a program that reduces pairs; `first`: type of its first property, if known."""
    form, name = program.message, program.__name__
    reduce = getattr(program, program._combines)
    if form is not None and not (isinstance(form, tuple) and len(form) == 2):
        raise TypeError(
            f'{name}.message must be the types of key and payload, as ("float32", "int32"), since {name}.'
            f'{program._combines} is "{reduce}"; not {form!r}'
        )
    dtypes = (first, "int32") if form is None else form
    key, payload = (np.dtype(dtype).newbyteorder("=") for dtype in dtypes)
    for dtype, what in ((key, "keys"), (payload, "payloads")):
        if dtype not in PAIR_TYPES:
            supported = ", ".join(str(dtype) for dtype in PAIR_TYPES)
            raise TypeError(
                f"{name}: {what} of {reduce} are {dtype}, but key and payload travel as one word of 64 bits, "
                f'so each must be one of {supported}; set {name}.message = ("float32", "int32"), for one'
            )
    return key, payload


def is_plain(name: str) -> bool:
    """Whether a name can be a field of a named tuple."""
    return not name.startswith("_") and not keyword.iskeyword(name)


def function_of(program: type, name: str) -> Callable[..., Any] | None:
    """The plain function of a program of that name, or None."""
    value = inspect.getattr_static(program, name, None)
    return value.__func__ if isinstance(value, staticmethod) else value


def declared(program: type, kind: type) -> dict[str, Any]:
    """The `Property` or `Parameter` declarations of a program, base classes first, in order."""
    declarations: dict[str, Any] = {}
    for base in reversed(program.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, kind):
                declarations.pop(name, None)
                declarations[name] = value
            else:
                declarations.pop(name, None)
    return declarations


class EdgeDefinition(Definition):
    """The attributes that the body of an `EdgeVertexProgram` may define."""

    combiner: ClassVar[Any] = None
    _functions = EDGE_FUNCTIONS
    _kinds = (Property, EdgeProperty, Parameter)
    _combines = "combiner"
    _updates = "vertex_compute"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in declared(cls, EdgeProperty):
            if name in _OF_EDGES:
                raise ValueError(f"{cls.__name__}.{name} cannot be called that; choose another name")


def is_edge_program(program: Any) -> bool:
    """Whether it is an `EdgeVertexProgram`, or a class of them."""
    return issubclass(program if isinstance(program, type) else type(program), EdgeDefinition)
