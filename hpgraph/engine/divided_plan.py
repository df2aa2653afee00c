"""What each device of a divided graph holds of the vertices: all of them, or its own alone.

Strategies P and S of GTS (M.-S. Kim et al., SIGMOD'16). With P the attributes are replicated: values of others'
vertices are at hand, and only what changed travels. With S they are divided: a device fetches what its columns need, a
piece of the columns at a time, in every superstep. P is quicker, and is taken where it fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hpgraph.core.device import fits, free_memory, to_device
from hpgraph.core.errors import BudgetError, readable
from hpgraph.engine.divided_arcs import reads_ids
from hpgraph.engine.state import initial_state
from hpgraph.engine.values import type_of

if TYPE_CHECKING:
    from hpgraph.containers.divided_graph import DividedGraph
    from hpgraph.containers.shards import Shard
    from hpgraph.engine.declarations import Declarations
    from hpgraph.kernels.runtime.program import Beginning, ProgramCode

# Pieces of the columns at the most: each takes two passes over a shard's rows and a launch or more.
MOST_PIECES = 64


class Plan(NamedTuple):
    """Where attributes lie in a run.

    Attributes
    ----------
    replicated : bool
        Whether on every device (P), or each with its vertices (S).
    room : int
        With S, others' vertices whose attributes a device holds at a time.
    told : str
        The choice and its reason, for `Trace.explain`; nothing, where there is no budget and memory for all is free.
    pieces : int
        With S, how many pieces there are at the most.
    """

    replicated: bool
    room: int
    told: str
    pieces: int = 1

    def against(self, why: str) -> Plan:
        """What is done for a program that needs its attributes everywhere."""
        told = f"every device holds what belongs to any vertex (strategy P), more than its memory for it, as {why}"
        return self._replace(replicated=True, told=told)


def bytes_of_vertex(declared: Declarations, initial: dict[str, Any]) -> int:
    """Bytes that a vertex takes in the general loop: properties, a message, and the lists and bits of work spaces.

    Parameters
    ----------
    declared : Declarations
    initial : dict
        What the user gave.

    Returns
    -------
    int
    """
    properties, largest = 0, 0
    for name, prop in declared.properties.items():
        nbytes = type_of(prop.dtype, initial.get(name, prop.initial), name).itemsize * (prop.length or 1)
        properties, largest = properties + nbytes, max(largest, nbytes)
    # A message, and what it is worked out beside; three lists of ids; sets as bits and bytes.
    return properties + 2 * largest + 3 * 8 + 2


def planned_state(
    graph: DividedGraph, declared: Declarations, initial: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Beginning | None, ...], Plan]:
    """The properties of a run on a divided graph, where its plan puts them; see `initial_state`.

    Parameters
    ----------
    graph : DividedGraph
    declared : Declarations
    initial : dict
        What the user gave.

    Returns
    -------
    dict, tuple
        As `initial_state`.
    Plan
    """
    plan = plan_of(graph, declared, initial)
    state, beginnings = initial_state(declared, graph, initial, device=None if plan.replicated else "cpu")
    code = declared.code(tuple(values.dtype for values in state.values()))
    if not plan.replicated and (why := not_divided(code, plan)) is not None:
        # More than was given for it, where there is more: else allocating it says so.
        state = {name: to_device(values, graph.device) for name, values in state.items()}
        plan = plan.against(why)
    return state, beginnings, plan


def plan_of(graph: DividedGraph, declared: Declarations, initial: dict[str, Any]) -> Plan:
    """Where the attributes of a program are to lie.

    Parameters
    ----------
    graph : DividedGraph
    declared : Declarations
    initial : dict
        Initial properties that the user gave.

    Returns
    -------
    Plan

    Raises
    ------
    BudgetError
        When the graph's `memory` is too little for either.
    """
    each, everyone = bytes_of_vertex(declared, initial), declared.activity == "all"
    # What fits once is taken to fit again: to ask the driver takes longer than a search's kernels.
    kept: dict[tuple[int, bool], Plan] = graph.once("plans", dict)
    plan = kept.get((each, everyone))
    if plan is None:
        plan = _plan(graph, declared.name, each, everyone)
        if plan.replicated:
            kept[each, everyone] = plan
    return plan


def _plan(graph: DividedGraph, name: str, each: int, everyone: bool) -> Plan:
    n = graph.n_vertices
    widest = max(shard.last - shard.first for shard in graph.shards)
    topology = max(shard.nbytes for shard in graph.shards)
    arcs = max(shard.in_csr.nnz for shard in graph.shards)
    of_arc = graph.id_dtype.itemsize + (graph.dtype.itemsize if graph.weighted and graph.dtype is not None else 0)
    # Offsets of all rows; where a superstep may push, the arcs once more by who sends.
    pushing = 0 if everyone else arcs * of_arc + 8 * (n + 1)
    replicated = topology + 8 * (n + 1) + pushing + n * each
    if graph.memory is None:
        extra = replicated - topology
        if all(_fits(shard, extra) for shard in graph.shards):
            return Plan(True, n, "")
        memory = min(_free(shard) + shard.nbytes for shard in graph.shards)
    else:
        memory = graph.memory
        if replicated <= memory:
            fitting = f"{readable(replicated)} with its arcs, of {readable(memory)}"
            return Plan(True, n, f"every device holds what belongs to any vertex (strategy P): {fitting}")
    # Numbers of columns are others in a piece, so that arcs are held twice; offsets, and who has which number.
    own = topology + arcs * of_arc + widest * (each + 16)
    others = n - min(shard.last - shard.first for shard in graph.shards)
    least = own + -(-others // MOST_PIECES) * (each + 16)
    if memory < least:
        least, strategy = min((least, "S"), (replicated, "P"))
        raise BudgetError(
            f"{name} does not fit {readable(memory)} a device: on {len(graph.shards)} of them memory={least} "
            f"is the least that does (strategy {strategy})"
        )
    room = min(others, (memory - own) // (each + 16))
    pieces = -(-others // max(room, 1))
    return Plan(
        False, room,
        f"each device holds what belongs to its own vertices, and fetches others' in up to {pieces} "
        f"{'piece' if pieces == 1 else 'pieces'} (strategy S): {readable(own + room * (each + 16))} with its arcs, of "
        f"{readable(memory)}, for which {readable(replicated)} with all vertices (strategy P) are too much",
        pieces,
    )  # fmt: skip


def not_divided(code: ProgramCode, plan: Plan) -> str | None:
    """Why a program needs its attributes everywhere, however little memory there is; None where it does not."""
    if code.is_shaped and (plan.pieces > 1 or reads_ids(code)):
        return "it has tuples at vertices or as messages, which are not joined piece by piece"
    return None


def _fits(shard: Shard, nbytes: int) -> bool:
    with shard.device.here:
        return fits(nbytes, shard.device.kind)


def _free(shard: Shard) -> int:
    with shard.device.here:
        return free_memory(shard.device.kind)
