"""Vertex programs that the tests of the engine run: between them, everything a program can declare."""

import numpy as np

import hpgraph as hpg
from hpgraph import Parameter, Property


class Widest(hpg.VertexProgram):
    """Width of the widest path: the general loop, an idempotent monoid."""

    width = Property("float64", initial=0.0, start=np.inf)
    reduce = "max"

    def gather(source, weight, target):
        return min(source.width, weight)

    def update(vertex, message):
        return max(vertex.width, message)


class WidestInPlace(hpg.VertexProgram):
    """The same as a relaxation, by a monoid of the user's own."""

    width = Property("float64", initial=0.0, start=np.inf)
    identity = -np.inf
    idempotent = True

    def gather(source, weight, target):
        return min(source.width, weight)

    def reduce(a, b):
        return a if a > b else b


class Component(hpg.VertexProgram):
    """The smallest id that is joined to a vertex, whichever way the arcs go."""

    edges = "all"
    reduce = "min"
    weighted = False
    label = Property("int64", initial=lambda graph: range(graph.n_vertices))

    def gather(source, weight, target):
        return source.label


class Core(hpg.VertexProgram):
    """The k-core: remove vertices of low degree, with a message to their neighbours. Several types, a parameter."""

    edges = "all"
    reduce = "plus"
    message = "int64"
    weighted = False
    left = Property("int64")
    gone = Property("bool", initial=False)
    when = Property("int8", initial=-1)
    k = Parameter("int64", 2)

    def gather(source, weight, target):
        return 1 if source.gone else 0

    def update(vertex, message, world):
        left = vertex.left - message
        goes = not vertex.gone and left < world.k
        return left, vertex.gone or goes, world.superstep if goes else vertex.when

    def cond(vertex):
        return not vertex.gone


class Senders(hpg.VertexProgram):
    """How many messages came over one superstep from arcs that let them through."""

    reduce = "plus"
    max_iteration = 1
    came = Property("int64", initial=-1)

    def gather(source, weight, target):
        return 1

    def update(vertex, message):
        return message


class Leaving(Senders):
    """The same against the direction of arcs."""

    edges = "out"


class Both(Senders):
    """The same along arcs of both directions."""

    edges = "all"


class HeavySenders(Senders):
    """Only along heavy arcs, to vertices above their source."""

    def edge_cond(source, weight, target):
        return weight > 10 and source.id < target.id


class Halving(hpg.VertexProgram):
    """Each vertex takes the mean of itself and its in-neighbours' sum, until the total change is small."""

    activity = "all"
    reduce = "plus"
    aggregators = ("change", "total")
    value = Property("float64", initial=1.0)
    scale = Parameter("float64", 0.25)
    limit = Parameter("float64", 1e-3)

    def gather(source, weight, target):
        return source.value * weight

    def update(vertex, message, world):
        return world.scale * message + 0.5 * vertex.value

    def aggregate(before, vertex):
        return abs(vertex.value - before.value), vertex.value

    def converged(world):
        return world.change < world.limit


class Counter(hpg.VertexProgram):
    """Counts the supersteps: every vertex is updated in each, with messages or without."""

    activity = "all"
    reduce = "plus"
    times = Property("int32")
    last = Property("int32")

    def gather(source, weight, target):
        return 0

    def update(vertex, message, world):
        return vertex.times + 1, world.superstep


class FirstHeard(hpg.VertexProgram):
    """The source of the first message, with a sum over the vertices reached: "any" in the general loop.

    More than eight properties, most of which keep their initial values.
    """

    reduce = "any"
    weighted = False
    aggregators = ("reached",)
    parent = Property("int32", initial=-1, start="id")
    level = Property("int32", initial=-1, start=0)
    a, b, c, d, e, f, g = (Property("int32", initial=10 * k, start="id" if k % 2 else None) for k in range(7))

    def gather(source, weight, target):
        return source.id

    def update(vertex, message, world):
        return message, world.superstep, vertex.a, vertex.b, vertex.c, vertex.d, vertex.e, vertex.f, vertex.g

    def aggregate(before, vertex, world):
        return 1 if vertex.level > 0 else 0


class Guarded(hpg.VertexProgram):
    """A search that closed vertices do not take part in, and that no heavy arc serves; the deaf hear of it in vain."""

    reduce = "any"
    level = Property("int16", initial=-1, start=0)
    closed = Property("bool", initial=False)
    deaf = Property("bool", initial=False)

    def gather(source, weight, target):
        return 0

    def update(vertex, message, world):
        return vertex.level if vertex.deaf else world.superstep, vertex.closed, vertex.deaf

    def cond(vertex):
        return not vertex.closed

    def edge_cond(source, weight, target):
        return weight <= 10


class Nearest(hpg.VertexProgram):
    """Distances in small integers: cond and edge_cond in a relaxation."""

    reduce = "min"
    distance = Property("int32", initial=1_000_000, start=0)

    def gather(source, weight, target):
        return source.distance + weight

    def cond(vertex):
        return vertex.id % 7 != 3

    def edge_cond(source, weight, target):
        return weight < 15


class Earliest(Nearest):
    """The distance of a start vertex is its own id."""

    distance = Property("int32", initial=1_000_000, start="id")


class Reached(hpg.VertexProgram):
    """Whether a way leads there: no `update`, a property of one byte."""

    reduce = "lor"
    weighted = False
    yes = Property("bool", initial=False, start=True)

    def gather(source, weight, target):
        return source.yes


class Sums(hpg.VertexProgram):
    """No `update`, and a monoid that is not idempotent: each superstep adds to the property."""

    reduce = "plus"
    max_iteration = 2
    value = Property("float64", initial=1.0)

    def gather(source, weight, target):
        return weight


class Poison(hpg.VertexProgram):
    """What becomes NaN spreads no further, and does not keep the run from ending."""

    reduce = "plus"
    value = Property("float64", initial=0.0, start=1.0)

    def gather(source, weight, target):
        return source.value

    def update(vertex, message):
        return message / 0.0 - message / 0.0


class Heard(hpg.VertexProgram):
    """Number of messages received; a vertex that receives sends. No message depends on its target."""

    reduce = "plus"
    message = "int64"
    weighted = False
    arrived = Property("int64", initial=0)

    def gather(source, weight, target):
        return 1

    def update(vertex, message):
        return vertex.arrived + message


class HeardAtMost(Heard):
    """The same, up to a number of messages."""

    enough = Parameter("int64", 300)

    def edge_cond(source, weight, target, world):
        return target.arrived < world.enough


class HeardFew(Heard):
    """The same with a literal."""

    def edge_cond(source, weight, target):
        return target.arrived < 300
