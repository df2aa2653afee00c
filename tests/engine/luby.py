"""Luby's maximal independent set (M. Luby, STOC'85) as phases, as `hpgraph.Phases` shows it."""

import hpgraph as hpg
from hpgraph import Parameter, Property

UNDECIDED, IN, OUT = 0, 1, 2


class Draw(hpg.VertexProgram):
    """Undecided vertices tell each other the numbers that they draw; each keeps the largest."""

    edges = "all"
    weighted = False
    max_iteration = 1
    reduce = "max"
    message = "uint64"
    state = Property("int8", initial=UNDECIDED)
    best = Property("uint64")
    seed = Parameter("int64")
    iteration = Parameter("int64")

    def starts(vertex):
        return vertex.state == UNDECIDED

    def gather(source, weight, target, world):
        return hpg.random_bits(world.seed, source.id, world.iteration)

    def edge_cond(source, weight, target):
        return target.state == UNDECIDED and source.id != target.id

    def update(vertex, message):
        return vertex.state, message


class Join(hpg.VertexProgram):
    """A vertex with a larger number than all its neighbours joins."""

    state = Property("int8")
    best = Property("uint64")
    seed = Parameter("int64")
    iteration = Parameter("int64")
    aggregators = ("joined",)

    def starts(vertex):
        return vertex.state == UNDECIDED

    def update(vertex, world):
        own = hpg.random_bits(world.seed, vertex.id, world.iteration)
        return IN if own > vertex.best else UNDECIDED, 0

    def sends(before, vertex):
        return vertex.state == IN

    def aggregate(before, vertex):
        return vertex.state == IN


class Leave(hpg.VertexProgram):
    """The neighbours of vertices that joined leave."""

    edges = "all"
    weighted = False
    max_iteration = 1
    reduce = "max"
    starts = "left"
    state = Property("int8")

    def gather(source, weight, target):
        return OUT

    def cond(vertex):
        return vertex.state == UNDECIDED

    def update(vertex, message):
        return message


LUBY = hpg.Phases([Draw, Join, Leave])
