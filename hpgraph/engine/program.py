"""Vertex programs: an algorithm as functions of one vertex, in plain Python.

The interface is HPGraph's (2018, Figure 4), which is GraphMat's and Pregel's, with Ligra's `cond` (J. Shun, G.
Blelloch, PPoPP'13), which masks the vertices that receive no more.
"""

from collections.abc import Callable
from typing import Any

from hpgraph.engine.definition import Definition, Property
from hpgraph.engine.definition import Parameter as Parameter
from hpgraph.engine.phases import Phases
from hpgraph.engine.run import Runnable
from hpgraph.engine.run import run as run
from hpgraph.semiring.reads import reads


class VertexProgram(Definition, Runnable):
    """Base class of vertex programs. A subclass's functions are plain Python, without ``self``; they run compiled.

    Attributes
    ----------
    edges : {"in", "out", "all"}
        The arcs along which a vertex gathers: in-arcs, out-arcs, or both; an arc and its reverse then count as one, of
        the lighter weight.
    activity : {"changed", "all"}
        Vertices that send in a superstep: those with properties that the last one changed, unless `sends` is defined;
        or all. With "all", every vertex is also updated in every superstep.
    weighted : bool
        Whether the program reads weights; otherwise they are not loaded, and ``weight`` is 1.
    max_iteration : int or None
        Maximum number of supersteps.
    reduce : str, Monoid or function
        Combination of the messages to a vertex: a monoid's name ("min", "max", "plus", "any", ...), or an associative
        and commutative function of two messages, which needs `identity`. "any" keeps the first message; a vertex
        then receives once in the whole run. "argmin" and "argmax" combine messages that are pairs of a key and a
        payload: the smallest, or largest, key wins, and among equal keys the smaller payload.
    identity : scalar
        Neutral element of a `reduce` that is a function.
    idempotent : bool
        Whether ``reduce(a, a)`` of a `reduce` that is a function equals ``a``.
    message : dtype-like or None
        Type of a message; None is that of the first property. For pairs, a tuple of two, each int32, uint32 or float32
        (key and payload are sent as one word of 64 bits); None is the first property's, and int32. For a message that
        is itself a tuple, type and length, ``"float32", 4``: such messages are combined element by element.
    aggregators : tuple of str
        Names of the sums that `aggregate` contributes to. They reach the next superstep's ``world``.

    Methods
    -------
    gather(source, weight, target)
        The message along an arc. ``source`` and ``target`` have ``id`` and the properties as attributes; ``weight``
        is 1 in an unweighted graph. If the parameter is called ``edge``, ``edge.year`` is the graph's column of edges
        of that title (of text its code). One that reads several is run superstep by superstep, as an
        `EdgeVertexProgram`, and has neither `cond` nor `edges` nor "any". For "argmin" and "argmax" it returns a tuple,
        ``key, payload``; where a message has a shape, a tuple of so many numbers.
    update(vertex, message) or update(vertex, message, world)
        The new property, or a tuple of all of them in the order of their declaration. ``world`` has ``superstep``
        (from 1), the parameters, and the sums of the last superstep. A program without `update` has one property,
        which becomes ``reduce(property, message)``. For "argmin" and "argmax": update(vertex, key, payload).
    cond(vertex), optional
        Whether the vertex may receive. It is evaluated at the start of the run if `reduce` is "any", else before every
        message.
    edge_cond(source, weight, target), optional
        Whether a message is sent along this arc. A vertex without messages is not updated, unless `activity` is "all".
    sends(before, vertex), optional
        Whether an updated vertex sends in the next superstep. Without it a vertex sends if a property changed.
    aggregate(before, vertex) or aggregate(before, vertex, world), optional
        What an updated vertex adds to the sums: a number, or a tuple of as many as there are aggregators.
    starts(vertex), optional
        Whether a vertex is active in the first superstep, if the run does not say; without it all are. Within
        `hpgraph.Phases` also ``starts = "left"``.
    converged(world), optional
        Whether to stop; called after each superstep, with the new sums. Compiled if Numba can (on the GPU, where
        every vertex is active, it runs beside the kernels), else called by Python: it must not have side effects.

    Each but `converged` may take ``world`` as one more parameter, at the end. A program whose `gather`, `cond` or
    `edge_cond` does runs superstep by superstep. `hpgraph.uniform` gives all of them random numbers by seed, vertex and
    superstep.

    An attribute may also be assigned later, to the class or to an instance, as ``program.edges = "out"``: each run
    reads the current values. The same holds for the globals that the functions refer to, directly or through others:
    numbers, arrays, redefined functions, attributes of modules.

    Raises
    ------
    TypeError, ValueError
        When the class is defined, if a function has wrong parameters, a type is not supported by kernels, or a name is
        reserved; when it is run, if a function is missing, an attribute has an invalid value, or `reduce` is not a
        monoid, with a counterexample.

    Notes
    -----
    A superstep is bulk-synchronous: it reads the properties of the last one. The exception is a *relaxation*, a program
    with one monotone property: it may read values of the same superstep, which changes the number of supersteps but not
    the result. There are two kinds:

    - A program without `update` and with an idempotent `reduce`. Leaving out `update` declares that its supersteps need
      not be separate.
    - A program whose `update` is its `reduce`, such as ``max(vertex.width, message)`` for "max", if the result cannot
      depend on the order. That holds where both compile to the same code, only `gather` reads the property, and
      `gather`, without loops, is proved monotone in it, as ``min(source.width, weight)`` or
      ``source.distance + weight`` (ignoring integer overflow). A run with a `max_iteration`, or with direction "pull",
      is bulk-synchronous all the same. For floats the property must come first: Python's ``max(message, vertex.width)``
      is NaN where the message is, and "max" passes over NaN.

    ``result.trace.explain()`` reports which loop ran a program, and why.

    Examples
    --------
    The widest path, which maximizes the least weight of its arcs:

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

    The lightest in-arc of each vertex, and its source:

    >>> class Lightest(hpg.VertexProgram):
    ...     weight = hpg.Property("float32", initial=float("inf"))
    ...     source = hpg.Property("int32", initial=-1)
    ...     reduce = "argmin"
    ...     max_iteration = 1
    ...     def gather(source, weight, target):
    ...         return weight, source.id
    ...     def update(vertex, key, payload):
    ...         return key, payload
    >>> r = hpg.run(Lightest, G)
    >>> r.weight.tolist(), r.source.tolist()
    ([inf, 5.0, 1.0], [-1, 0, 0])
    """

    @classmethod
    def _vertices_where(cls, graph: Any, holds: Callable[..., Any]) -> Any:
        """A flag for each vertex, whether ``holds(vertex)``: a step of vertices alone, in which such are marked."""
        columns = graph._columns_read(*reads(holds).values())
        program = type("Filter", (cls,), {
            "kept_by_filter": Property("int8"), **{title: Property() for title in columns}, "starts": holds,
            "update": _mark_beside if columns else _mark,
        })  # fmt: skip
        return Phases([program], max_iteration=1).run(graph, **columns).kept_by_filter != 0


def _mark(vertex: Any) -> int:
    return 1


def _mark_beside(vertex: Any) -> Any:
    return (1, *vertex[2:])
