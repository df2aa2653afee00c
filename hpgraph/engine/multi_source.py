"""One program from many sources on one graph, in groups that fit the memory.

The result for every source is that of its own run. Where a loop serves many sources at once, an arc is read once for
all of them (H. Liu, H. H. Huang, Y. Hu, "iBFS", SIGMOD'16); programs of other forms run source after source.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.core.device import array_module, check_memory, device_of, lanes_within
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.engine.complaint import reworded
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.direction import Direction
from hpgraph.engine.divided_sources import shared_by_rows, sources_on_devices
from hpgraph.engine.forms import RELAXATION, TRAVERSAL, Form, check_order, form_for, form_of
from hpgraph.engine.grouping import groups, order_of, sources_at_most
from hpgraph.engine.loops import go
from hpgraph.engine.result import LanesResult
from hpgraph.engine.source_state import Column, columns, first_of, some_of, starts_of
from hpgraph.engine.state import Run, exclusively, limit_of, parameters
from hpgraph.engine.trace import Trace
from hpgraph.kernels.backend import joint_relaxation, joint_traversal, kernels, sources_together
from hpgraph.kernels.runtime.search import Starts
from hpgraph.placement.of_graph import arcs_of

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.engine.definition import Definition
    from hpgraph.kernels.relaxation import JointRelaxation
    from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
    from hpgraph.kernels.traversal import JointTraversal


def are_sources(active: Any, graph: Graph) -> bool:
    """Whether what a user gave as `active` is one start for each source."""
    if isinstance(active, list | tuple):
        kinds = list if graph._names is not None else (list, tuple)
        for one in active:
            if not isinstance(one, kinds) and getattr(one, "ndim", 0) != 1:
                return False
        return len(active) > 0
    return getattr(active, "ndim", 1) == 2


@exclusively
def run_sources(
    program: Definition | type[Definition],
    graph: Graph,
    active: Any,
    *,
    lanes: int | str = "auto",
    direction: str | Direction = "auto",
    max_iteration: int | None = None,
    delta: float | None = None,
    ceiling: float | None = None,
    whole: bool = True,
    _team: Parts | None = None,
    **initial: Any,
) -> LanesResult:
    """Run a vertex program from many starts.

    ``_team``: devices with a copy of the graph each, this one first, among which the searches are divided; ``initial``:
    properties (arrays of shape (n,) or (k, n), or scalars) and parameters (scalars) by name.
    """
    declared = declarations_of(program)
    for name, prop in declared.properties.items():
        if prop.length:
            raise ValueError(f"{declared.name}.{name} has a shape, which lanes do not know: run it once for each start")
    policy = Direction.of(direction)
    limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)
    starts = active if isinstance(active, Starts) else starts_of(active, graph)
    k, n, device = starts.k, graph.n_vertices, graph.device
    if isinstance(graph, DividedGraph) and k > 1 and not any(np.ndim(value) for value in initial.values()):
        options = {"lanes": lanes, "direction": policy, "max_iteration": max_iteration, "delta": delta,
                   "ceiling": ceiling, "whole": whole, **initial}  # fmt: skip
        begins = columns(declared, graph, dict(initial), k)
        own_code = declared.code(tuple(column.dtype for column in begins.values()))
        shares = shared_by_rows(graph, declared, own_code, tuple(column.beginning for column in begins.values()), k)
        with contextlib.suppress(DeviceMemoryError):
            # Where the graph does not fit each device, sources go one after the other on all of them.
            return sources_on_devices(
                graph, starts, declared.name, shares,
                lambda own, some, team=None: run_sources(program, own, some, _team=team, **options),
            )  # fmt: skip
    begun = columns(declared, graph, initial, k)
    world = parameters(declared, initial)
    code = declared.code(tuple(column.dtype for column in begun.values()))
    arcs: Any = arcs_of(graph, declared.edges, declared.weighted, code)
    size = sum(column.dtype.itemsize for column in begun.values())
    what = f"{declared.name} in {k} lanes of {n} vertices"
    check_memory(k * n * size, what, device)
    backend = kernels(device)
    beginnings = tuple(column.beginning for column in begun.values())
    # What differs from source to source is filled in by the loops.
    run = Run(backend, declared, code, arcs, (), beginnings, world, None, policy, limit, delta, ceiling)
    with reworded(code, arcs), backend.interruptible():
        form = form_for(run)
        if delta is not None or ceiling is not None:
            check_order(form_of(declared, code), delta, ceiling)
        joint = joint_traversal(device) if form.loop == TRAVERSAL and not arcs.in_shards else None
        relaxing = joint_relaxation(device) if form.loop == RELAXATION and not arcs.in_shards else None
        most, ids = 1, graph.id_dtype
        if joint:
            most = sources_at_most(lanes, k, joint.MAX_SOURCES)
            most = _that_fit(most, k * n * size, lambda group: joint.work_space(n, group, ids), what, device)
        elif relaxing:
            most, dtype = sources_at_most(lanes, k, relaxing.MAX_RELAXED), code.message
            most = _that_fit(most, k * n * size, lambda group: relaxing.work_space(n, group, ids, dtype), what, device)
        else:
            form = form._replace(why=f"{form.why}; lanes run one after the other")
        # What will be allocated was counted above, so none of it is there yet.
        found = LanesResult({name: column.rows(device, k, n) for name, column in begun.items()})
        found.active.extend([array_module(device).empty(0, graph.id_dtype)] * k)
        found.world.update({name: [value] * k for name, value in world.items()})
        order = order_of(first_of(starts), arcs.sending, most) if most > 1 else np.arange(k)
        for group in groups(order, most, declared.name):
            rows = tuple(_rows(found.properties[name], column, group) for name, column in begun.items())
            if joint and len(group) > 1:
                _together(joint, run, form, rows, some_of(starts, group, device), found, _team)
            elif relaxing and len(group) > 1:
                _relax_together(relaxing, run, form, rows[0], some_of(starts, group, device), group, found)
            else:
                sources = some_of(starts, group, device).vertices
                _alone(run, form, tuple(values[0] for values in rows), sources, int(group[0]), found)
            for name, values in zip(begun, rows, strict=True):
                if not _is_stretch(group):
                    _put(found.properties[name], group, values)
            found.groups.append(group)
            if found.unfinished and not whole:
                break
    return found


def _that_fit(most: int, results: int, work_space: Callable[[int], int], what: str, device: str) -> int:
    """Number of sources of a group, at most `most`, such that its work space fits its budget beside all results."""
    most = lanes_within(most, work_space, device, results)
    check_memory(results + work_space(most), what, device)
    return most


def _is_stretch(group: np.ndarray) -> bool:
    return bool(group[-1] - group[0] + 1 == len(group))


def _put(results: Any, group: np.ndarray, rows: Any) -> None:
    """Write rows at their sources, by words of 64 bits if possible: CuPy takes a thread for each element."""
    word = np.dtype(np.uint64)
    if results.shape[1] * results.itemsize % word.itemsize == 0 and results.flags.c_contiguous:
        results, rows = results.view(word), rows.view(word)
    results[group] = rows


def _rows(results: Any, column: Column, group: np.ndarray) -> Any:
    """Where a group's properties are worked on: in the results, where its sources follow each other there."""
    if _is_stretch(group):
        rows = results[group[0] : group[-1] + 1]
    else:
        rows = array_module(results).empty((len(group), results.shape[1]), results.dtype)
    column.fill(rows, group)
    return rows


def _together(
    joint: JointTraversal, run: Run, form: Form, rows: tuple[Any, ...], starts: Starts, found: LanesResult,
    team: Parts | None = None,
) -> None:  # fmt: skip
    """One group of a program whose first message wins."""
    own = replace(run, state=tuple(values.T for values in rows), sources=starts)
    search = own.search(form.code, run.arcs.by_target)
    sharing = sources_together(device_of(*rows)) if team is not None else None
    if sharing is not None and team is not None and sharing.may_share(form.code, run.beginnings, starts.k):
        outcome = sharing.traverse_sources_together(search, team)
        form = form._replace(why=f"{form.why}; on {len(team)} devices that share the rows")
    else:
        outcome = joint.traverse_sources(search)
    found.unfinished |= outcome.unfinished
    found.traces.append(Trace(outcome.rows, form))


def _relax_together(
    relaxing: JointRelaxation, run: Run, form: Form, values: Any, starts: Starts, group: np.ndarray, found: LanesResult
) -> None:
    """One group of a program that improves one property in place."""
    rows, left = relaxing.relax_sources(replace(run, state=(values.T,), sources=starts).search(form.code))
    if left is not None:
        found.unfinished = True
        for place, lane in enumerate(group.tolist()):
            found.active[lane] = left.vertices[left.source == place]
    found.traces.append(Trace(rows, form))


def _alone(run: Run, form: Form, state: tuple[Any, ...], sources: Any, lane: int, found: LanesResult) -> None:
    """Run one source alone."""
    one = replace(run, state=state, sources=sources, world=dict(run.world))
    outcome = go(one, form)
    if outcome.active is not None:
        found.active[lane] = outcome.active
    for name, value in one.world.items():
        found.world[name][lane] = value
    trace = Trace(outcome.rows, outcome.form)
    # Where the first message wins, no list of active vertices is made: at the limit, the run may be unfinished.
    found.unfinished |= outcome.active is not None or (run.is_limited and trace.supersteps == run.limit)
    found.traces.append(trace)
