"""Vertex programs: an algorithm as what one vertex does, in plain Python functions.

The interface is HPGraph's (2018, Figure 4), which is GraphMat's and Pregel's: along every arc of an active vertex
`gather` makes a message, `reduce` combines the messages that meet at a vertex, `update` turns the combined message into
new properties. Ligra's `cond` (J. Shun, G. Blelloch, PPoPP'13) says who may still receive.
"""

from __future__ import annotations

from hpgraph.engine.definition import Definition
from hpgraph.engine.run import Runnable


class VertexProgram(Definition, Runnable):
    """Base class of vertex programs. A subclass's functions are plain Python, without ``self``; they run compiled.

    Attributes
    ----------
    edges : {"in", "out", "all"}
        Along which arcs a vertex gathers: those that enter it, those that leave it, or both; of an arc and its reverse
        that is one arc, of the lighter weight.
    activity : {"changed", "all"}
        Who sends in a superstep: the vertices whose properties the last one changed, unless `sends` says otherwise, or
        all; with "all", every vertex is also updated in every superstep.
    weighted : bool
        Whether the program reads weights; where it does not, they are not loaded either, and ``weight`` is 1.
    max_iteration : int or None
        Supersteps at the most.
    reduce : str, Monoid or function
        How messages that meet are combined: a monoid's name ("min", "max", "plus", "any", ...), or an associative
        and commutative function of two messages, which needs `identity`. "any" keeps whichever comes first; a vertex
        then receives once in the whole run. "argmin" and "argmax" are for messages that are pairs, of a key and a
        payload: the smallest, or largest, key wins, of equal ones the smaller payload.
    identity : scalar
        Neutral element of a `reduce` that is a function.
    idempotent : bool
        Whether a `reduce` that is a function gives ``a`` for ``reduce(a, a)``.
    message : dtype-like or None
        Type of a message; None means that of the first property. Of pairs a tuple of two, each int32, uint32 or
        float32 (key and payload travel as one word of 64 bits); None means the first property's, and int32. Of a
        message that is itself a tuple, type and length, ``"float32", 4``: such are combined number by number.
    aggregators : tuple of str
        Names of the sums that `aggregate` contributes to. They reach the next superstep's ``world``.

    Methods
    -------
    gather(source, weight, target)
        The message along an arc. ``source`` and ``target`` have ``id`` and the properties as attributes; ``weight``
        is 1 in an unweighted graph. For "argmin" and "argmax" it returns a tuple, ``key, payload``;
        where a message has a shape, a tuple of so many numbers.
    update(vertex, message) or update(vertex, message, world)
        The new property, or a tuple of all of them in the order of their declaration. ``world`` has ``superstep``
        (from 1), the parameters, and the sums of the last superstep. A program without `update` has one property,
        which becomes ``reduce(property, message)``. For "argmin" and "argmax": update(vertex, key, payload).
    cond(vertex), optional
        Whether the vertex may receive. It is asked at the start of the run where `reduce` is "any", else before
        every message.
    edge_cond(source, weight, target), optional
        Whether a message goes along this arc. Where none comes, a vertex is not updated, unless `activity` is "all".
    sends(before, vertex), optional
        Whether an updated vertex sends in the next superstep. Without it those do of which a property changed.
    aggregate(before, vertex) or aggregate(before, vertex, world), optional
        What an updated vertex adds to the sums: a number, or a tuple of as many as there are aggregators.
    starts(vertex), optional
        Who is active at first, where the run does not say; within `hpgraph.Phases` also ``starts = "left"``.
    converged(world), optional
        Whether to stop; asked after each superstep, with the new sums. Compiled where Numba can (on the GPU, where
        every vertex is active, it runs beside the kernels), else called by Python: it should do nothing but answer.

    Each but `converged` may take ``world`` as one more parameter, at the end. A program whose `gather`, `cond` or
    `edge_cond` does runs superstep by superstep. `hpgraph.uniform` gives all of them random numbers by seed, vertex and
    superstep.

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

    The lightest arc that enters a vertex, and where it comes from:

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
