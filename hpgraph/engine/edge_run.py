"""Running an edge-vertex program: messages along numbered arcs, through the general loop."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.core.device import array_module, check_memory, to_device
from hpgraph.core.placements import not_served
from hpgraph.engine.complaint import naming_what_does_not_compile
from hpgraph.engine.definition import LEFT
from hpgraph.engine.direction import Direction
from hpgraph.engine.edge_declarations import EdgeDeclarations, edge_declarations_of
from hpgraph.engine.edge_definition import EdgeDefinition
from hpgraph.engine.forms import SUPERSTEPS, Form
from hpgraph.engine.loops import Outcome
from hpgraph.engine.result import RunResult
from hpgraph.engine.state import Run, begin_where, exclusively, initial_state, limit_of, parameters, sources_of
from hpgraph.engine.superstep import supersteps
from hpgraph.engine.trace import Trace
from hpgraph.engine.values import array, as_given, scalar, type_of
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.edges.functions import current
from hpgraph.kernels.edges.program import STAMP
from hpgraph.placement.in_memory import NumberedInMemory
from hpgraph.placement.in_pages import NumberedInPages
from hpgraph.placement.of_graph import numbered_arcs_of

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.core.device import Device
    from hpgraph.kernels.edges.program import EdgeProgramCode


@dataclass(slots=True)
class EdgeRun(Run):
    """One run of an edge-vertex program: `state` has the vertices' properties, `edges` those of arcs by name.

    A run of its supersteps replaces the arrays of `edges` that it keeps twice.
    """

    edges: dict[str, Any] = field(default_factory=dict)


def is_edge_program(program: Any) -> bool:
    """Whether it is an `EdgeVertexProgram`, or a class of them."""
    return issubclass(program if isinstance(program, type) else type(program), EdgeDefinition)


def refuse_for_edges(delta: float | None, ceiling: float | None) -> None:
    """Refuse what edge-vertex programs do not know."""
    for name, value in (("delta", delta), ("ceiling", ceiling)):
        if value is not None:
            raise ValueError(f"{name} is for relaxations, not for an EdgeVertexProgram")


@exclusively
def run_edges(
    program: Any, graph: Graph, active: Any, direction: str | Direction, max_iteration: int | None,
    initial: dict[str, Any],
) -> RunResult:  # fmt: skip
    """Run an edge-vertex program; arguments as for `hpgraph.run`."""
    declared, policy = edge_declarations_of(program), Direction.of(direction)
    limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)
    known = [*declared.properties, *declared.edge_properties, *declared.parameters]
    for name in initial:
        if name not in known:
            raise TypeError(f"{declared.name} has no property or parameter {name!r}; it has {', '.join(known)}")
    if declared.functions["starts"] == LEFT:
        raise TypeError(f'{declared.name}.starts must be a function starts(vertex); "left" works only in Phases')
    own = declared.edge_properties
    edges = edge_state(declared, graph, initial, own, {name for name, prop in own.items() if not prop.constant})
    state, beginnings = initial_state(declared, graph, initial)
    world = parameters(declared, initial)
    arcs: Any = numbered_arcs_of(graph)
    code = edge_code(declared, graph, arcs, state, edges)
    sources, backend = sources_of(active, graph), kernels(graph.device)
    with naming_what_does_not_compile(code, lambda: arcs.places), backend.interruptible():
        this = EdgeRun(
            backend, declared, code, arcs, tuple(state.values()), beginnings, world, sources, policy, limit,
            edges=edges,
        )  # fmt: skip
        if active is None and code.starts is not None:
            seen = (*this.state, *nothing_beside(code, graph))
            this.sources = begin_where(
                backend, code, seen, tuple(world.values()), this.state, this.beginnings, None, graph
            )
            this.beginnings = (None,) * len(this.beginnings)
        outcome = go_along(this, graph)
    left, none_active = outcome.active, array_module(graph.device).empty(0, sources.dtype)
    trace = Trace(outcome.rows, outcome.form, arcs.table())
    return RunResult({**state, **edges}, trace, lambda: none_active if left is None else left, world)


def edge_code(
    declared: EdgeDeclarations, graph: Graph, arcs: NumberedInMemory | NumberedInPages, state: dict[str, Any],
    edges: dict[str, Any],
) -> EdgeProgramCode:  # fmt: skip
    """The code of a program for arrays by name.

    ``state, edges``: at least the program's own properties.
    """
    dtypes = tuple(state[name].dtype for name in declared.properties)
    edge_dtypes = tuple(edges[name].dtype for name in declared.edge_properties)
    code = declared.edge_code(dtypes, edge_dtypes, graph.dtype, arcs.places)
    if isinstance(arcs, NumberedInPages):
        _check_in_pages(code, graph.device)
    return code


def _check_in_pages(code: EdgeProgramCode, device: Device) -> None:
    """Refuse programs that need more of an arc than pages by source hold."""
    sums = code.message.kind == "f" and not code.reduce.idempotent
    for asked, does in (
        (code.reads_reverse, "looks at edge.reverse"),
        (code.weight is not None, "reads edge.weight (a constant EdgeProperty may stand for it)"),
        (code.reply is not None, "has replies"),
        (code.is_shaped, "has tuples at vertices or as messages"),
        (sums and device == "cuda", "sums floats, which come in any order as the GPU pushes them"),
    ):
        if asked:
            raise not_served("in pages", f"{code.name} {does}")


def nothing_beside(code: EdgeProgramCode, graph: Graph) -> tuple[Any, ...]:
    """Empty arrays in place of those beside the arcs, for kernels over vertices only."""
    return tuple(array_module(graph.device).empty(0, dtype) for _, dtype in code.choosing.beside)


def go_along(run: EdgeRun, graph: Graph) -> Outcome:
    """Run the supersteps of an edge-vertex program; `run.edges` then has the new properties of arcs."""
    code: Any = run.code
    beside = _beside(code, graph, run.arcs, run.edges)  # type: ignore[arg-type]
    none = (None,) * len(beside)
    whole = replace(run, state=(*run.state, *beside.values()), beginnings=(*run.beginnings, *none))
    begun = whole.begin()
    whole.begin_sums()
    rows, left = supersteps(whole, *begun)
    for i in code.changes if code.keeps_two else ():
        name = code.edge_properties[i][0]
        kept = current(beside[name], beside.get("stamp"), rows.supersteps(), array_module(graph.device))
        run.edges[name] = kept
    return Outcome(rows, left, Form(SUPERSTEPS, code, _why(code)))


def edge_state(
    declared: EdgeDeclarations, graph: Graph, initial: dict[str, Any], properties: Container[str],
    changed: Container[str],
) -> dict[str, Any]:  # fmt: skip
    """Arrays of edge properties on the graph's device; removes those it uses from `initial`.

    ``changed``: properties that the program writes: arrays that the user gave are copied.
    """
    size = sum(np.dtype(prop.dtype).itemsize for name, prop in declared.edge_properties.items() if name in properties)
    check_memory(graph.n_edges * size, f"properties of the edges of {declared.name}", graph.device)
    return {
        name: _edge_values(declared, name, graph, initial.pop(name, prop.initial), name not in changed)
        for name, prop in declared.edge_properties.items()
        if name in properties
    }


def _edge_values(declared: EdgeDeclarations, name: str, graph: Graph, value: Any, stays: bool) -> Any:
    """Initial values of an edge property on the graph's device: a copy, unless no function changes it."""
    m, xp = graph.n_edges, array_module(graph.device)
    value = as_given(value, graph, name)
    dtype = type_of(declared.edge_properties[name].dtype, value, name)
    if np.ndim(value) == 0:
        return xp.full(m, scalar(value, dtype, name), dtype)
    if value.shape != (m,):
        raise ValueError(
            f"{name} must be a scalar or have one value for each of the {m} arcs, in the order of "
            f"G.edges(both_ways=True), not shape {value.shape}"
        )
    moved = to_device(value, graph.device)
    if stays and moved.dtype == dtype and moved.flags.c_contiguous:
        return moved
    return array(moved, value, dtype, name)


def _beside(code: EdgeProgramCode, graph: Graph, arcs: NumberedInMemory, edges: dict[str, Any]) -> dict[str, Any]:
    """The arrays beside the arcs by name, in the order of the code."""
    xp, m = array_module(graph.device), graph.n_edges
    twice = [code.edge_properties[i][1] for i in code.changes if code.keeps_two]
    size = sum(2 * dtype.itemsize for dtype in twice) + STAMP.itemsize * code.keeps_stamps
    check_memory(m * size, f"the arcs of {code.name}", graph.device)
    found: dict[str, Any] = {}
    for name, dtype in code.beside:
        if name in edges:
            found[name] = edges[name]
        elif name == "weight":
            found[name] = graph.out_csr.data
        elif name == "reverse":
            found[name] = arcs.reverses
        else:
            found[name] = xp.zeros(m, dtype)
    for i in code.changes if code.keeps_two else ():
        name = code.edge_properties[i][0]
        # The second buffer is written before it is read.
        both = xp.empty(2 * m, found[name].dtype)
        both[::2] = found[name]
        found[name] = both
    return found


def _why(code: EdgeProgramCode) -> str:
    """What `Trace.explain` says of the program."""
    changed = [code.edge_properties[i][0] for i in code.changes]
    if not changed:
        return "edge_compute makes messages"
    held = ", each kept twice, since an arc's reverse is read" if code.keeps_two else ""
    return f"edge_compute changes {', '.join(changed)} of every arc it passes{held}"
