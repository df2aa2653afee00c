"""What a superstep on a grid of blocks costs: bytes, messages, memory and seconds, as functions of n, m, r and c.

docs/scaling.md describes the model, with its error against measured runs.
"""

from typing import NamedTuple

from hpgraph.cluster.messages import HEADER_BYTES
from hpgraph.kernels.superstep.block import VERTEX

# Counts that blocks add up in each superstep, besides the sums of a program.
_COUNTED = 32


class Shape(NamedTuple):
    """A graph on a grid.

    Attributes
    ----------
    n, m : float
        Vertices, arcs.
    rows, columns : int
    """

    n: float
    m: float
    rows: int
    columns: int

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return self.rows * self.columns


class Traits(NamedTuple):
    """The properties of a program that determine its cost.

    Attributes
    ----------
    message : int
        Bytes of a message.
    source, target : int
        Bytes of the properties that are read of an arc's source, and of its target.
    sums : int
        Number of sums.
    all_active : bool
        Whether every vertex sends in every superstep.
    weight : int
        Bytes of a weight, if the program reads weights.
    properties : int
        Bytes of all properties of a vertex.
    """

    message: int
    source: int = 0
    target: int = 0
    sums: int = 0
    all_active: bool = False
    weight: int = 0
    properties: int = 8


BFS = Traits(message=4, properties=8)
SSSP = Traits(message=4, source=4, weight=4, properties=4)
PAGERANK = Traits(message=8, source=8, sums=3, all_active=True, properties=12)


def distinct_bytes(some: float, all_: float, size: int) -> float:
    """Bytes of a message that identifies vertices of a range and has a value for each.

    ``size``: bytes of a value.
    """
    return some * size + (0 if some >= all_ else min(4 * some, all_ / 8))


def superstep_bytes(shape: Shape, traits: Traits, active: float, messages: float, raises: float = 0.0) -> float:
    """Bytes that all blocks send in a superstep, if each sends equally much."""
    p, own = shape.blocks, shape.n / shape.blocks
    columns, rows = p * (shape.rows - 1), p * (shape.columns - 1)
    beside = HEADER_BYTES + _COUNTED + 8 * traits.sums
    if traits.all_active:
        active, messages = shape.n, own * columns
    fold = columns * (HEADER_BYTES + distinct_bytes(messages / columns, own, traits.message)) if columns else 0.0
    spread = rows * (beside + distinct_bytes(active / p, own, traits.source))
    control = columns * (beside + (distinct_bytes(active / p, own, traits.target) if traits.target else 0))
    # Before the bound is raised, blocks agree on the least value beyond it, then exchange the active vertices.
    return fold + spread + control + raises * (rows + columns) * (HEADER_BYTES + 8 + beside)


def messages_of(shape: Shape) -> int:
    """Number of messages of one block in a superstep: r - 1 fold, c - 1 spread, r - 1 control."""
    return 2 * (shape.rows - 1) + shape.columns - 1


def memory(shape: Shape, traits: Traits) -> float:
    """Bytes of a worker with one block: arcs both ways, and all vertices of its row and column."""
    known = shape.n / shape.rows + shape.n / shape.columns - shape.n / shape.blocks
    ids = 4 if known < 1 << 31 else 8
    arcs = 2 * shape.m / shape.blocks * (ids + traits.weight)
    of_vertex = VERTEX.itemsize + 16 + traits.message + traits.properties + 0.25
    return arcs + known * of_vertex + shape.n / shape.blocks * (2 * traits.properties + 3 * ids)


class Machine(NamedTuple):
    """Measured costs of a worker and its network.

    Attributes
    ----------
    arc : float
        Seconds of an arc, of one worker.
    vertex : float
        Seconds for each vertex with a local number, in a superstep in which every vertex is active.
    message : float
        Latency of a small message in seconds, including the interpreter.
    byte : float
        Seconds of a byte through one worker's network.
    superstep : float
        Seconds of an empty superstep, without its messages.
    """

    arc: float
    vertex: float
    message: float
    byte: float
    superstep: float


def superstep_seconds(
    shape: Shape, traits: Traits, machine: Machine, active: float, messages: float, arcs: float
) -> float:
    """Seconds of a superstep: arcs scanned, bytes sent, and latency of each message."""
    counted = counts(shape, traits, active, messages, arcs)
    return sum(each * count for each, count in zip(machine, counted, strict=True))


def counts(
    shape: Shape, traits: Traits, active: float, messages: float, arcs: float, raises: float = 0.0
) -> tuple[float, ...]:
    """Work of a block in a superstep: arcs, vertices, messages, bytes, and the superstep.

    In the order of `Machine`.
    """
    p = shape.blocks
    known = shape.n / shape.rows + shape.n / shape.columns - shape.n / p
    looked = known if traits.all_active else min(known, active * known / shape.n + known / 64)
    told_by_all = superstep_bytes(shape, traits, active, messages, raises)
    return arcs / p, looked, (1 + raises) * messages_of(shape), told_by_all / p, 1.0
