"""Edge-vertex programs that the tests of the engine run, all that one can declare; and one that takes turns."""

import hpgraph as hpg
from hpgraph import EdgeProperty, Parameter, Property


class Ledger(hpg.EdgeVertexProgram):
    """Sums over arcs that keep a balance with their reverse: all that an edge has, several types, both conditions."""

    combiner = "plus"
    message = "int64"
    wealth = Property("int64", initial=1)
    turns = Property("int16")
    paid = EdgeProperty("int64")
    times = EdgeProperty("int16", initial=1)
    rate = EdgeProperty("int32", initial=2, constant=True)
    most = Parameter("int64", 6)

    def edge_cond(source, edge, target):
        return edge.times < 5 and edge.paid <= edge.reverse.paid + edge.rate

    def edge_compute(source, edge, target):
        owed = edge.reverse.paid - edge.paid if edge.reverse.exists else -edge.id
        back = edge.reverse.times + edge.reverse.rate + edge.reverse.weight
        sent = (source.wealth * edge.rate + edge.weight * 3 + owed + back - target.turns) % 101
        return sent, edge.paid + sent % 7, edge.times + 1

    def vertex_compute(vertex, message, world):
        return (vertex.wealth + message * world.superstep) % 1009, vertex.turns + (1 if message % 5 < world.most else 0)

    def vote_to_halt(before, vertex):
        return vertex.wealth % 4 == 0 or vertex.turns >= 6


class Faint(hpg.EdgeVertexProgram):
    """A label travels while arcs have not passed it: no reverse, no condition, no vertex_compute."""

    combiner = "min"
    weighted = False
    label = Property("int32", initial=lambda graph: range(graph.n_vertices))
    passed = EdgeProperty("int32", initial=-1)

    def edge_compute(source, edge, target):
        return source.label, source.label


class Relay(hpg.EdgeVertexProgram):
    """Sums of floats; an arc keeps a share, and returns half of its reverse's."""

    activity = "all"
    combiner = "plus"
    identity = 0
    max_iteration = 5
    value = Property("float64", initial=1.0)
    kept = EdgeProperty("float32")

    def edge_compute(source, edge, target):
        share = source.value * 0.25
        return share + 0.5 * edge.reverse.kept, 0.5 * edge.kept + share

    def vertex_compute(vertex, message):
        return 0.25 * vertex.value + 0.125 * message


class Taxed(Relay):
    """The same with sums that decide."""

    max_iteration = None
    aggregators = ("total",)
    least = Parameter("float64", 2.0)

    def aggregate(before, vertex):
        return vertex.value

    def converged(world):
        return world.superstep >= 3 and world.total > world.least


class Suitors(hpg.EdgeVertexProgram):
    """The cheapest suitor, with prices that rise at each message: pairs, and functions that read the world."""

    combiner = "argmin"
    message = ("int32", "int32")
    price = Property("int32", initial=100)
    mate = Property("int32", initial=-1)
    asked = EdgeProperty("int32")
    grace = Parameter("int32", 2)

    def edge_cond(source, edge, target, world):
        return edge.asked < world.superstep + world.grace and target.price > 3

    def edge_compute(source, edge, target, world):
        return edge.weight + edge.asked * 2 + source.id % world.superstep, source.id, edge.asked + world.grace

    def vertex_compute(vertex, key, payload):
        return key, payload

    def vote_to_halt(before, vertex, world):
        return world.superstep > 4 or vertex.price > 30


class Bargain(hpg.EdgeVertexProgram):
    """Vertices hear from the arcs that leave them, what these were before they change; and may send on other arcs."""

    combiner = "plus"
    stock = Property("int64", initial=5)
    offered = EdgeProperty("int32", initial=1)

    def reply_cond(source, edge, target):
        return (edge.offered + target.stock) % 3 != 0

    def reply(source, edge, target, world):
        return edge.offered - edge.reverse.offered + world.superstep

    def edge_cond(source, edge, target):
        return (source.stock + edge.offered) % 2 == 0

    def edge_compute(source, edge, target):
        return source.stock % 11 - 3, edge.offered + 1 + target.stock % 3

    def vertex_compute(vertex, message):
        return (vertex.stock + message) % 257


class Drift(hpg.EdgeVertexProgram):
    """Tuples at vertices and as messages; arcs that change, with their reverse in view, and reply."""

    combiner = "plus"
    message = "int64", 3
    weighted = False
    at = Property("int32", shape=2, initial=(3, 1))
    arrived = Property("int64")
    pull = EdgeProperty("int32", initial=1)

    def reply_cond(source, edge, target):
        return (edge.pull + target.at[1]) % 3 != 0

    def reply(source, edge, target, world):
        return edge.pull - edge.reverse.pull, target.at[0] % 3, world.superstep

    def edge_cond(source, edge, target):
        return (source.at[0] + edge.pull) % 4 != 0

    def edge_compute(source, edge, target):
        return (source.at[0] % 7, source.at[1] + edge.reverse.pull, 1), (edge.pull + target.at[1]) % 5

    def vertex_compute(vertex, message):
        return ((vertex.at[0] + message[0]) % 101, (vertex.at[1] + message[1]) % 103), vertex.arrived + message[2]

    def vote_to_halt(before, vertex):
        return vertex.at[0] % 5 == 0


class Tired(hpg.EdgeVertexProgram):
    """Sums along arcs that grow tired: all that pages by source can tell of an arc."""

    combiner = "plus"
    weighted = False
    wealth = Property("int64", initial=1)
    passed = EdgeProperty("int8")
    rate = EdgeProperty("int32", initial=2, constant=True)

    def edge_cond(source, edge, target):
        return edge.passed < 3 and (source.wealth + edge.rate + target.id) % 4 != 0

    def edge_compute(source, edge, target, world):
        return source.wealth * edge.rate + edge.id % 5 + world.superstep, edge.passed + 1

    def vertex_compute(vertex, message):
        return (vertex.wealth + message) % 1009

    def vote_to_halt(before, vertex):
        return vertex.wealth % 3 == 0


class Rest(hpg.VertexProgram):
    """Halve the wealth of the vertices left active: a step over vertices only, between others."""

    wealth = Property("int64")
    starts = "left"

    def update(vertex):
        return vertex.wealth // 2
