"""Running an edge-vertex program: messages along numbered arcs, through the general loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.device import array_module, check_memory, to_device, unmasked
from hpgraph.core.errors import StreamingError
from hpgraph.engine.complaint import naming_what_does_not_compile
from hpgraph.engine.direction import Direction
from hpgraph.engine.edge_declarations import EdgeDeclarations, edge_declarations_of
from hpgraph.engine.edge_definition import EdgeDefinition
from hpgraph.engine.forms import SUPERSTEPS, Form
from hpgraph.engine.numbered_arcs import NumberedArcs
from hpgraph.engine.result import RunResult
from hpgraph.engine.state import Run, begin_where, initial_state, limit_of, parameters, sources_of
from hpgraph.engine.superstep import supersteps
from hpgraph.engine.trace import Trace
from hpgraph.engine.values import array, scalar
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.edges.functions import current
from hpgraph.kernels.edges.program import STAMP
from hpgraph.semiring.dtypes import check_dtype

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.formats import Bitmask
    from hpgraph.kernels.edges.program import EdgeProgramCode
    from hpgraph.kernels.superstep import WorkSpace


@dataclass(slots=True)
class EdgeRun(Run):
    """One run of an edge-vertex program: behind the vertices' properties its state has what lies beside the arcs."""

    def work_space(self, settled: Bitmask | None) -> WorkSpace:
        """See `Run.work_space`."""
        assert settled is None
        return self.backend.EdgeSupersteps(self.code, self.state, settled, self.sources.dtype)  # type: ignore[arg-type]


def is_edge_program(program: Any) -> bool:
    """Whether it is an `EdgeVertexProgram`, or a class of them."""
    return issubclass(program if isinstance(program, type) else type(program), EdgeDefinition)


def refuse_for_edges(lanes: bool, delta: float | None, ceiling: float | None) -> None:
    """Refuse what edge-vertex programs do not know.

    Raises
    ------
    ValueError
    """
    if lanes:
        raise ValueError("active must be one set of vertices for an EdgeVertexProgram: lanes would share its edges")
    for name, value in (("delta", delta), ("ceiling", ceiling)):
        if value is not None:
            raise ValueError(f"{name} is for relaxations, not for an EdgeVertexProgram")


def run_edges(
    program: Any, graph: Graph, active: Any, direction: str | Direction, max_iteration: int | None,
    initial: dict[str, Any],
) -> RunResult:  # fmt: skip
    """Run an edge-vertex program; arguments as for `hpgraph.run`.

    Parameters
    ----------
    program : EdgeVertexProgram
    graph : Graph
    active : as for `hpgraph.run`
        But no lanes.
    direction : str or Direction
    max_iteration : int or None
    initial : dict
        Properties and parameters by name.

    Returns
    -------
    RunResult

    Raises
    ------
    TypeError, ValueError, IndexError, CompileError
        As `hpgraph.run`.
    StreamingError
        If the arcs are not in memory.
    """
    declared, policy = edge_declarations_of(program), Direction.of(direction)
    if isinstance(graph, StreamedGraph):
        raise StreamingError(
            f"{declared.name} is an EdgeVertexProgram, whose arcs must be in memory, and this graph's stay in pages: "
            "load it with G.in_memory()"
        )
    limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)
    known = [*declared.properties, *declared.edge_properties, *declared.parameters]
    for name in initial:
        if name not in known:
            raise TypeError(f"{declared.name} has no property or parameter {name!r}; it has {', '.join(known)}")
    edges = {
        name: _edge_values(declared, name, graph, initial.pop(name, prop.initial))
        for name, prop in declared.edge_properties.items()
    }
    state, beginnings = initial_state(declared, graph, initial)
    world = parameters(declared, initial)
    arcs = NumberedArcs(graph)
    dtypes, edge_dtypes = (tuple(values.dtype for values in held.values()) for held in (state, edges))
    code = declared.edge_code(dtypes, edge_dtypes, graph.dtype, arcs.places)
    sources, backend = sources_of(active, graph), kernels(graph.device)
    with backend.interruptible(), naming_what_does_not_compile(code, lambda: arcs.places):
        beside = _beside(code, graph, arcs, edges)
        this = EdgeRun(
            backend, declared, code, arcs, (*state.values(), *beside.values()),
            (*beginnings, *(None for _ in beside)), world, sources, policy, limit,
        )  # fmt: skip
        if active is None and code.starts is not None:
            values = tuple(world.values())
            this.sources = begin_where(backend, code, this.state, values, this.state, this.beginnings, None, graph)
            this.beginnings = (None,) * len(this.beginnings)
        rows, left = supersteps(this, *this.begin())
    xp = array_module(graph.device)
    for i in code.changes if code.keeps_two else ():
        name = code.edge_properties[i][0]
        beside[name] = current(beside[name], beside.get("stamp"), rows.supersteps(), xp)
    found = {**state, **{name: beside[name] for name in edges}}
    trace = Trace(rows, Form(SUPERSTEPS, code, _why(code)))
    return RunResult(found, trace, lambda: xp.empty(0, sources.dtype) if left is None else left, world)


def _edge_values(declared: EdgeDeclarations, name: str, graph: Graph, value: Any) -> Any:
    """An edge property's values at the start: an array on the graph's device, which the run may write to."""
    m, xp = graph.n_edges, array_module(graph.device)
    value = unmasked(value(graph) if callable(value) else value, name)
    if not hasattr(value, "dtype") and not np.isscalar(value):
        value = np.array(value)
    wanted = declared.edge_properties[name].dtype
    dtype = check_dtype(getattr(value, "dtype", np.float64) if wanted is None else wanted, name, real=True)
    if np.ndim(value) == 0:
        return xp.full(m, scalar(value, dtype, name), dtype)
    if value.shape != (m,):
        raise ValueError(
            f"{name} must be a scalar or have one value for each of the {m} arcs, in the order of "
            f"G.edges(both_ways=True), not shape {value.shape}"
        )
    moved = to_device(value, graph.device)
    if declared.edge_properties[name].constant and moved.dtype == dtype and moved.flags.c_contiguous:
        return moved
    return array(moved, value, dtype, name)


def _beside(code: EdgeProgramCode, graph: Graph, arcs: NumberedArcs, edges: dict[str, Any]) -> dict[str, Any]:
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
        # Nobody reads the other one before it is written.
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
