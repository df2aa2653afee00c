"""Many starts of one program on one graph: lanes, in groups that fit the memory.

Every lane answers what its own run would have answered. Where a loop serves many lanes at once, an arc is read once for
all of them (H. Liu, H. H. Huang, Y. Hu, "iBFS", SIGMOD'16); programs of other forms run lane after lane.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module, native
from hpgraph.engine.arcs import Arcs
from hpgraph.engine.complaint import naming_what_does_not_compile
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.direction import Direction
from hpgraph.engine.forms import check_order, form_for
from hpgraph.engine.grouping import groups, lanes_at_most
from hpgraph.engine.loops import go
from hpgraph.engine.result import LanesResult
from hpgraph.engine.state import Run, initial_state, limit_of, parameters, sources_of
from hpgraph.engine.trace import Trace
from hpgraph.kernels.backend import kernels

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.program import VertexProgram


def are_lanes(active: Any, graph: Graph) -> bool:
    """Whether what a user gave as `active` is one start a lane.

    Parameters
    ----------
    active : object
        A list, or tuple, of lists or arrays; of tuples too on a graph without names, where a tuple is no vertex. Or an
        array of two dimensions.
    graph : Graph

    Returns
    -------
    bool
    """
    if isinstance(active, list | tuple):
        kinds = list if graph.names is not None else (list, tuple)
        return len(active) > 0 and all(isinstance(one, kinds) or getattr(one, "ndim", 0) == 1 for one in active)
    return getattr(active, "ndim", 1) == 2


def run_lanes(
    program: VertexProgram | type[VertexProgram],
    graph: Graph,
    active: Any,
    *,
    lanes: int | str = "auto",
    direction: str | Direction = "auto",
    max_iteration: int | None = None,
    delta: float | None = None,
    ceiling: float | None = None,
    **initial: Any,
) -> LanesResult:
    """Run a vertex program from many starts.

    Parameters
    ----------
    program : VertexProgram
        The program, or its class.
    graph : Graph
    active : sequence of k arrays or sequences of vertices
        Who sends in the first superstep of each lane.
    lanes : int or "auto"
        Lanes of a group at the most; "auto" is what fits.
    direction, max_iteration, delta, ceiling
        As for `hpgraph.run`; the same for all lanes.
    **initial
        Initial properties (arrays of shape (n,) or (k, n), or scalars) and parameters (scalars) by name.

    Returns
    -------
    LanesResult
        Its arrays lie on the graph's device.
    """
    declared = declarations_of(program)
    policy = Direction.of(direction)
    limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)
    count, n = len(active), graph.n_vertices
    xp, backend = array_module(graph.device), kernels(graph.device)
    found: LanesResult | None = None
    for group in groups(count, lanes_at_most(lanes, count)):
        for lane in group.tolist():
            given = {name: _of_lane(value, lane, count, n, name) for name, value in initial.items()}
            state, beginnings = initial_state(declared, graph, given)
            world = parameters(declared, given)
            if given:
                known = ", ".join([*declared.properties, *declared.parameters])
                raise TypeError(f"{declared.name} has no property or parameter {next(iter(given))!r}; it has {known}")
            code = declared.code(tuple(values.dtype for values in state.values()))
            arcs = Arcs(graph, declared.edges, declared.weighted, code.message.itemsize)
            sources = sources_of(active[lane], graph)
            this = Run(
                backend, declared, code, arcs, tuple(state.values()), beginnings, world, sources, policy, limit,
                delta, ceiling,
            )  # fmt: skip
            with backend.interruptible(), naming_what_does_not_compile(code, _dtype_of(arcs)):
                form = form_for(this)
                check_order(form, delta, ceiling)
                outcome = go(this, form)
            if found is None:
                found = LanesResult({name: xp.empty((count, n), values.dtype) for name, values in state.items()})
            for name, values in state.items():
                found.properties[name][lane] = values
            nobody = xp.empty(0, arcs.sending.indices.dtype)
            found.active.append(nobody if outcome.active is None else outcome.active)
            for name, value in world.items():
                found.world.setdefault(name, []).append(value)
            found.groups.append(np.array([lane]))
            found.traces.append(Trace(outcome.rows, outcome.form))
    assert found is not None, "there is a lane: `are_lanes` says so"
    return found


def _dtype_of(arcs: Arcs) -> Callable[[], Any]:
    return lambda: arcs.sending.dtype


def _of_lane(value: Any, lane: int, count: int, n: int, name: str) -> Any:
    """What one lane begins with, of values that are the same for all or one row each."""
    if np.ndim(native(value)) != 2:
        return value
    if value.shape != (count, n):
        raise ValueError(f"{name} must be a scalar or have shape ({n},) or ({count}, {n}), not {value.shape}")
    return value[lane]
