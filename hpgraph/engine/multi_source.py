"""One program from many sources on one graph, in groups that fit the memory; each result equals that of a single run.

Loops that serve many sources read an arc once for all (iBFS, SIGMOD'16); others run one source at a time.
"""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.graph import Graph
from hpgraph.core.device import array_module, check_memory, device_of, native, sources_within
from hpgraph.core.errors import DeviceMemoryError
from hpgraph.engine.declarations import Declarations, EdgeDeclarations, declarations_of
from hpgraph.engine.definition import Definition
from hpgraph.engine.direction import Direction
from hpgraph.engine.divided_sources import shared_by_rows, sources_on_devices
from hpgraph.engine.forms import RELAXATION, TRAVERSAL, Form, check_order, form_for, form_of, go
from hpgraph.engine.grouping import columns, first_of, groups, order_of, some_of, sources_at_most, starts_of
from hpgraph.engine.program_errors import reworded
from hpgraph.engine.result import MultiSourceResult, RunResult, Trace
from hpgraph.engine.state import ENDLESS, Column, Run, exclusively, limit_of, parameters
from hpgraph.kernels.backend import joint_relaxation, joint_traversal, kernels, sources_together
from hpgraph.kernels.relaxation import JointRelaxation
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import Parts
from hpgraph.kernels.runtime.search import Starts
from hpgraph.kernels.traversal import JointTraversal
from hpgraph.placement.of_graph import arcs_of


@exclusively
def run_sources(
    program: Definition | type[Definition], graph: Graph, active: Any, *, group_size: int | str = "auto",
    direction: str | Direction = "auto", max_iteration: int | None = None, delta: float | None = None,
    ceiling: float | None = None, whole: bool = True, _team: Parts | None = None, **initial: Any,
) -> MultiSourceResult:  # fmt: skip
    """Run a vertex program from many starts, whose searches the devices of `_team`, if given, share."""
    declared = declarations_of(program)
    for name, prop in declared.properties.items():
        if prop.length:
            raise ValueError(f"{declared.name}.{name} has a shape: run it once for each source")
    policy = Direction.of(direction)
    limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)
    starts = active if isinstance(active, Starts) else starts_of(active, graph)
    k, n, device = starts.k, graph.n_vertices, graph.device
    if isinstance(graph, DividedGraph) and k > 1 and not any(np.ndim(value) for value in initial.values()):
        options = {"group_size": group_size, "direction": policy, "max_iteration": max_iteration, "delta": delta,
                   "ceiling": ceiling, "whole": whole, **initial}  # fmt: skip
        with contextlib.suppress(DeviceMemoryError):
            # If the graph does not fit each device, all devices run one source after the other.
            return _on_devices(program, declared, graph, starts, initial, options)
    initial_columns = columns(declared, graph, initial, k)
    world = parameters(declared, initial)
    code = declared.code(tuple(column.dtype for column in initial_columns.values()))
    arcs: Any = arcs_of(graph, declared.edges, declared.weighted, code)
    size = sum(column.dtype.itemsize for column in initial_columns.values())
    what = f"{declared.name} from {k} sources to {n} vertices"
    check_memory(k * n * size, what, device)
    backend = kernels(device)
    beginnings = tuple(column.beginning for column in initial_columns.values())
    # Loops set the fields that differ between sources.
    run = Run(backend, declared, code, arcs, (), beginnings, world, None, policy, limit, delta, ceiling)
    with reworded(code, arcs), backend.interruptible():
        form = form_for(run)
        if delta is not None or ceiling is not None:
            check_order(form_of(declared, code), delta, ceiling)
        joint: Any = None
        if form.loop in (TRAVERSAL, RELAXATION) and not arcs.in_shards:
            joint = (joint_traversal if form.loop == TRAVERSAL else joint_relaxation)(device)
        at_once = 1
        if joint:
            dtypes = (graph.id_dtype,) if form.loop == TRAVERSAL else (graph.id_dtype, code.message)
            at_once = sources_at_most(group_size, k, joint.MAX_SOURCES)
            # Its work space is to fit its budget beside all results.
            at_once = sources_within(at_once, lambda group: joint.work_space(n, group, *dtypes), device, k * n * size)
            check_memory(k * n * size + joint.work_space(n, at_once, *dtypes), what, device)
        else:
            form = form._replace(why=f"{form.why}; sources run one after the other")
        # The memory check above counts all that is allocated from here on.
        result = MultiSourceResult({name: column.rows(device, k, n) for name, column in initial_columns.items()})
        result.active.extend([array_module(device).empty(0, graph.id_dtype)] * k)
        result.world.update({name: [value] * k for name, value in world.items()})
        order = order_of(first_of(starts), arcs.sending, at_once) if at_once > 1 else np.arange(k)
        for group in groups(order, at_once, declared.name):
            _run_group(run, form, joint, initial_columns, starts, group, result, _team)
            if result.unfinished and not whole:
                break
    return result


def _on_devices(
    program: Definition | type[Definition], declared: Declarations, graph: DividedGraph, starts: Starts,
    initial: dict[str, Any], options: dict[str, Any],
) -> MultiSourceResult:  # fmt: skip
    """Run sources on several devices, which share the rows of a search where they can."""
    initial_columns = columns(declared, graph, dict(initial), starts.k).values()
    code = declared.code(tuple(column.dtype for column in initial_columns))
    shares = shared_by_rows(graph, declared, code, tuple(column.beginning for column in initial_columns), starts.k)
    return sources_on_devices(
        graph, starts, declared.name, shares,
        lambda own, batch, team=None: run_sources(program, own, batch, _team=team, **options),
    )  # fmt: skip


def _run_group(
    run: Run, form: Form, joint: Any, begun: dict[str, Column], starts: Starts, group: np.ndarray,
    found: MultiSourceResult, team: Parts | None,
) -> None:  # fmt: skip
    """Run a group of sources, by the loop `joint` if it exists and there are several."""
    rows = tuple(_rows(found.properties[name], column, group) for name, column in begun.items())
    own = some_of(starts, group, device_of(*rows))
    if not joint or len(group) == 1:
        _run_single(run, form, tuple(values[0] for values in rows), own.vertices, int(group[0]), found)
    elif form.loop == TRAVERSAL:
        _traverse_jointly(joint, run, form, rows, own, found, team)
    else:
        _relax_jointly(joint, run, form, rows[0], own, group, found)
    if not _is_stretch(group):
        for name, values in zip(begun, rows, strict=True):
            _write_rows(found.properties[name], group, values)
    found.groups.append(group)


def _is_stretch(group: np.ndarray) -> bool:
    return bool(group[-1] - group[0] + 1 == len(group))


def _write_rows(results: Any, group: np.ndarray, rows: Any) -> None:
    """Write rows at their sources, by words of 64 bits if possible: CuPy takes a thread for each element."""
    word = np.dtype(np.uint64)
    if results.shape[1] * results.itemsize % word.itemsize == 0 and results.flags.c_contiguous:
        results, rows = results.view(word), rows.view(word)
    results[group] = rows


def _rows(results: Any, column: Column, group: np.ndarray) -> Any:
    """Arrays for a group's properties: views of the results if its sources are consecutive there."""
    if _is_stretch(group):
        rows = results[group[0] : group[-1] + 1]
    else:
        rows = array_module(results).empty((len(group), results.shape[1]), results.dtype)
    column.fill(rows, group)
    return rows


def _traverse_jointly(
    joint: JointTraversal, run: Run, form: Form, rows: tuple[Any, ...], starts: Starts, found: MultiSourceResult,
    team: Parts | None = None,
) -> None:  # fmt: skip
    """Run one group by a joint traversal."""
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


def _relax_jointly(
    relaxing: JointRelaxation, run: Run, form: Form, values: Any, starts: Starts, group: np.ndarray,
    found: MultiSourceResult,
) -> None:  # fmt: skip
    """Run one group by a joint relaxation."""
    rows, left = relaxing.relax_sources(replace(run, state=(values.T,), sources=starts).search(form.code))
    if left is not None:
        found.unfinished = True
        for place, source in enumerate(group.tolist()):
            found.active[source] = left.vertices[left.source == place]
    found.traces.append(Trace(rows, form))


def _run_single(
    run: Run, form: Form, state: tuple[Any, ...], sources: Any, source: int, found: MultiSourceResult
) -> None:
    """Run one source alone."""
    single_run = replace(run, state=state, sources=sources, world=dict(run.world))
    outcome = go(single_run, form)
    if outcome.active is not None:
        found.active[source] = outcome.active
    for name, value in single_run.world.items():
        found.world[name][source] = value
    trace = Trace(outcome.rows, outcome.form)
    # Where the first message wins, no list of active vertices is made: at the limit, the run may be unfinished.
    found.unfinished |= outcome.active is not None or run.limit == trace.supersteps
    found.traces.append(trace)


def run_edges_from_sources(
    declared: EdgeDeclarations, graph: Graph, active: Any, limit: int, initial: dict[str, Any],
    alone: Callable[[Any, dict[str, Any]], RunResult],
) -> MultiSourceResult:  # fmt: skip
    """Run an edge-vertex program in sources, each by `alone` with edges of its own: (k, n) and (k, m)."""
    k = len(active)
    if k == 0:
        raise ValueError("active must hold at least one list of vertices to start from")
    arguments = _by_sources(declared, initial, k)
    result: MultiSourceResult | None = None
    for source in range(k):
        arguments_of_source = {
            name: values[source] if name in arguments else values for name, values in {**initial, **arguments}.items()
        }
        source_result = alone(active[source], arguments_of_source)
        if result is None:
            size = k * sum(values.nbytes for values in source_result.properties.values())
            check_memory(size, f"{declared.name} from {k} sources", graph.device)
            empty = array_module(graph.device).empty
            result = MultiSourceResult(
                {name: empty((k, *a.shape), a.dtype) for name, a in source_result.properties.items()}
            )
        for name, values in source_result.properties.items():
            result.properties[name][source] = values
        for name, value in source_result.world.items():
            result.world.setdefault(name, []).append(value)
        result.active.append(source_result.active)
        result.unfinished |= len(source_result.active) > 0 or (limit < ENDLESS and source_result.supersteps == limit)
        result.traces.append(source_result.trace)
        result.groups.append(np.array([source]))
    assert result is not None  # there is a source at least
    return result


def _by_sources(declared: EdgeDeclarations, initial: dict[str, Any], k: int) -> dict[str, Any]:
    """The arguments with one row a source, by name."""
    lengths = {name: 1 + bool(prop.length) for name, prop in declared.properties.items()}
    lengths |= dict.fromkeys(declared.edge_properties, 1)
    arguments = {}
    for name in lengths.keys() & initial.keys():
        values = native(initial[name])
        values = values if hasattr(values, "dtype") else np.array(values)
        if values.ndim <= lengths[name]:
            continue
        if values.ndim > lengths[name] + 1 or len(values) != k:
            raise ValueError(
                f"{name} must be what one run takes, or a row of that for each of the {k} sources, not shape "
                f"{values.shape}"
            )
        arguments[name] = values
    return arguments
