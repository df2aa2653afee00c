"""Vertex programs: an algorithm as what one vertex does, in plain Python functions.

The interface is HPGraph's (2018, Figure 4), which is GraphMat's and Pregel's: along every arc of an active vertex
`gather` makes a message, `reduce` combines the messages that meet at a vertex, `update` turns the combined message into
new properties. Ligra's `cond` (J. Shun, G. Blelloch, PPoPP'13) says who may still receive.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from hpgraph.semiring.operators import check_dtype

if TYPE_CHECKING:
    from hpgraph.engine.run import RunResult

FUNCTIONS = {
    "gather": (3, "gather(source, weight, target)"),
    "update": (2, "update(vertex, message) or update(vertex, message, world)"),
    "cond": (1, "cond(vertex)"),
    "edge_cond": (3, "edge_cond(source, weight, target)"),
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


class VertexProgram:
    """Base class of vertex programs. A subclass's functions are plain Python, without ``self``; they run compiled.

    Attributes
    ----------
    edges : {"in", "out", "all"}
        Along which arcs a vertex gathers: those that enter it, those that leave it, or both; of an arc and its reverse
        that is one arc, of the lighter weight.
    activity : {"changed", "all"}
        Who sends in a superstep: the vertices whose properties the last one changed, or all; with "all", every
        vertex is also updated in every superstep.
    weighted : bool
        Whether the program reads weights; where it does not, they are not loaded either, and ``weight`` is 1.
    max_iteration : int or None
        Supersteps at the most.
    reduce : str, Monoid or function
        How messages that meet are combined: a monoid's name ("min", "max", "plus", "any", ...), or an associative
        and commutative function of two messages, which needs `identity`. "any" keeps whichever comes first; a vertex
        then receives once in the whole run.
    identity : scalar
        Neutral element of a `reduce` that is a function.
    idempotent : bool
        Whether a `reduce` that is a function gives ``a`` for ``reduce(a, a)``.
    message : dtype-like or None
        Type of a message; None means that of the first property.
    aggregators : tuple of str
        Names of the sums that `aggregate` contributes to. They reach the next superstep's ``world``.

    Methods a subclass writes
    -------------------------
    gather(source, weight, target)
        The message along an arc. ``source`` and ``target`` have ``id`` and the properties as attributes; ``weight``
        is 1 in an unweighted graph.
    update(vertex, message) or update(vertex, message, world)
        The new property, or a tuple of all of them in the order of their declaration. ``world`` has ``superstep``
        (from 1), the parameters, and the sums of the last superstep. A program without `update` has one property,
        which becomes ``reduce(property, message)``.
    cond(vertex), optional
        Whether the vertex may receive. It is asked at the start of the run where `reduce` is "any", else before
        every message.
    edge_cond(source, weight, target), optional
        Whether a message goes along this arc. Where none comes, a vertex is not updated, unless `activity` is "all".
    aggregate(before, vertex) or aggregate(before, vertex, world), optional
        What an updated vertex adds to the sums: a number, or a tuple of as many as there are aggregators.
    converged(world), optional
        Whether to stop; asked after each superstep, with the new sums. Compiled where Numba can (on the GPU, where
        every vertex is active, it runs beside the kernels), else called by Python: it should do nothing but answer.

    An attribute may also be assigned later, to the class or to an instance, as ``program.edges = "out"``: each run
    looks at what the program is then. So it does at what the functions refer to, directly or through others: numbers,
    arrays, helpers defined again, attributes of modules.

    Raises
    ------
    TypeError
        When the class is defined, if a function has the wrong parameters or a type is none that kernels compute in;
        when it is run, if a function is missing.
    ValueError
        When the class is defined, if a property or parameter has a name that means something else; when it is run, if
        an attribute has a value that is not listed here, or `reduce` is no monoid: a counterexample is shown.

    Notes
    -----
    A superstep is bulk-synchronous: it sees the properties as the last one left them. The exception is a *relaxation*,
    a program whose only property moves one way: values of the same superstep may already be seen, which changes how
    many supersteps it takes but not where it ends. There are two kinds:

    - A program without `update`, whose `reduce` is idempotent. To leave `update` out is to say that its supersteps need
      not be seen apart.
    - A program whose `update` is its `reduce`, ``max(vertex.width, message)`` where that is "max": if its result cannot
      depend on it. That is so where both compile to the same code, nothing but `gather` reads the property, and
      `gather` is seen to rise with it, as ``min(source.width, weight)`` or ``source.distance + weight`` (sums that wrap
      around are left out of account). A run with a `max_iteration`, or with direction "pull", goes superstep by
      superstep all the same. For floats the property must come first: Python's ``max(message, vertex.width)`` is NaN
      where the message is, and "max" passes over NaN.

    ``result.trace.explain()`` says which loop a program got, and why.

    Examples
    --------
    The widest path, whose narrowest arc is as wide as can be:

    >>> import hpgraph as hpg
    >>> class Widest(hpg.VertexProgram):
    ...     width = hpg.Property("float32", initial=0.0)
    ...     reduce = "max"
    ...     def gather(source, weight, target):
    ...         return min(source.width, weight)
    ...     def update(vertex, message):
    ...         return max(vertex.width, message)
    >>> G = hpg.Graph.from_edges([0, 0, 1], [1, 2, 2], [5.0, 1.0, 3.0])
    >>> r = hpg.run(Widest(), G, active=[0], width=[float("inf"), 0, 0])
    >>> r.width.tolist()
    [inf, 5.0, 3.0]
    >>> print(r.trace.loop)
    relaxation: update is its reduce (max), compared as compiled code, and gather rises with width
    """

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

    def run(self, graph: Any, **arguments: Any) -> RunResult:
        """Run the program on a graph; the same as ``hpg.run(program, graph, ...)``.

        Parameters
        ----------
        graph : Graph or what `hpgraph.as_graph` takes
        **arguments
            As for `hpgraph.run`.

        Returns
        -------
        RunResult
        """
        from hpgraph.engine.run import run

        return run(self, graph, **arguments)


def check_definition(program: type[VertexProgram]) -> None:
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
