"""Edge-vertex programs: arcs have properties, which the function that makes an arc's message may change.

The model is that of Medusa (J. Zhong, B. He, "Medusa: simplified graph processing on GPUs", TPDS 25(6), 2014).
"""

from collections.abc import Callable
from typing import Any

from hpgraph.core.device import array_module
from hpgraph.engine.definition import EdgeDefinition, EdgeProperty, Property
from hpgraph.engine.run import Runnable
from hpgraph.semiring.reads import reads


class EdgeVertexProgram(EdgeDefinition, Runnable):
    """Base class of edge-vertex programs. A subclass's functions are plain Python, without ``self``; they run compiled.

    In a superstep `edge_compute` runs along every out-arc of an active vertex. `combiner` combines the messages of each
    target, and `vertex_compute` runs on the vertices that received any. Of these, those that do not vote to halt are
    active in the next superstep.

    Attributes
    ----------
    combiner : str, Monoid or function
        Combination of the messages to a vertex, as `reduce` of a `VertexProgram`; not "any".
    activity : {"changed", "all"}
        Vertices that are active in a superstep: those that did not vote to halt in the last one; or all, and then every
        vertex is also updated, with messages or without.
    identity, idempotent, weighted, max_iteration, message, aggregators
        As in `VertexProgram`; without weights ``edge.weight`` is 1.

    Methods
    -------
    edge_compute(source, edge, target)
        The message along an arc; where edges have properties that are not constant, a tuple: the message, then the new
        values of these, in the order of their declaration. ``source`` and ``target`` have ``id`` and the properties of
        vertices, ``edge`` has ``id`` (its place in ``G.edges(both_ways=True)``), ``weight`` (1 in an unweighted graph),
        its properties, and ``reverse``: the arc the other way, with ``exists``, ``weight`` and properties. Where there
        is no such arc, ``exists`` is False and the rest is zero.
    edge_cond(source, edge, target), optional
        Whether `edge_compute` runs along this arc. Otherwise no message is sent and no property changes.
    reply(source, edge, target), optional
        A message back to the source of the arc, combined with the other messages to that vertex.
    reply_cond(source, edge, target), optional
        Whether there is a reply along this arc, independent of `edge_cond`. Without it all arcs reply.
    vertex_compute(vertex, message) or vertex_compute(vertex, message, world)
        As `update` of a `VertexProgram`. A program without it has one property, which becomes ``combiner(property,
        message)``.
    vote_to_halt(before, vertex), optional
        Whether an updated vertex is inactive in the next superstep, until it receives a message. Without it a vertex
        halts if no property changed.
    starts, aggregate, converged, optional
        As in `VertexProgram`.

    The functions of arcs, `vote_to_halt` and `starts` may take ``world`` as a last parameter.

    See Also
    --------
    VertexProgram : where arcs only carry messages; simpler, with more loops to choose from.

    Notes
    -----
    A superstep is bulk-synchronous: all functions read the values of the last superstep. If both arcs of an edge are
    processed in one superstep, each reads the other's old values, so the result does not depend on the order. A program
    that reads ``edge.reverse`` therefore double-buffers the properties that `edge_compute` changes.

    Properties of edges lie in the order of ``G.edges(both_ways=True)``, in which they are given to a run and come back.
    On a graph in pages they lie in memory; what asks for more of an arc (its reverse, its weight, replies, tuples, and
    on the GPU sums of floats) raises a `StreamingError`, and runs on ``G.in_memory()``. Supersteps that pull, and
    reverse arcs, find them by their number: 4 bytes an arc each, which stay with the graph. Bits repeat on one device;
    "plus" of floats, too. Errors are those of `VertexProgram`.

    Examples
    --------
    Spread of the largest value; each arc passes values on at most three times.

    >>> class Rumour(hpg.EdgeVertexProgram):
    ...     best = hpg.Property("int64")
    ...     passed = hpg.EdgeProperty("int8")
    ...     combiner = "max"
    ...     def edge_cond(source, edge, target):
    ...         return edge.passed < 3 and source.best > target.best
    ...     def edge_compute(source, edge, target):
    ...         return source.best, edge.passed + 1
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> r = hpg.run(Rumour, G, best=[3, 9, 4, 1])
    >>> r.best.tolist(), r.passed.tolist()
    ([9, 9, 9, 9], [0, 1, 1, 0, 2, 0])
    """

    @classmethod
    def _flags_where(cls, graph: Any, holds: Callable[..., Any]) -> Any:
        """A flag for each arc, whether ``holds(source, edge, target)``: one superstep, in which such arcs are noted."""
        of_source, read, of_target = reads(holds).values()
        if read is None or "reverse" in read:
            titles = list(graph.edge_columns)
        else:
            titles = sorted(read - {"weight", "id"})
        for title in titles:
            graph._column(title, graph._columns_held.edges, "edge")
        ends = graph._columns_read(of_source, of_target)
        if twice := ends.keys() & set(titles):
            raise ValueError(
                f"edges: edges and vertices have a column {min(twice)!r}, and a function cannot read both: give one of "
                "them another title, by with_columns"
            )
        program = type("Filter", (cls,), {
            **{title: EdgeProperty(constant=True) for title in titles},
            "reached_by_filter": Property("int8"), **{title: Property() for title in ends},
            "kept_by_filter": EdgeProperty("int8"), "combiner": "max", "max_iteration": 1, "edge_cond": holds,
            "edge_compute": _note, **({"vertex_compute": _unchanged} if ends else {}),
        })  # fmt: skip
        flags = program().run(graph, **ends).kept_by_filter != 0
        if graph.directed:
            return flags
        # The arc from the lower index decides for both.
        return array_module(graph.device).where(graph._each_once(), flags, flags[graph.reverse_arcs])


def _unchanged(vertex: Any, message: Any) -> Any:
    return vertex[1:]


def _note(source: Any, edge: Any, target: Any) -> tuple[int, int]:
    return 0, 1
