"""Running a vertex program: PREPROCESS, then (SPMV, APPLY) until no vertex is active (HPGraph, 2018, Section 3)."""

from typing import Any

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.graph import Graph, as_graph, named, naming_arguments
from hpgraph.core.caller import renamed
from hpgraph.core.device import array_module
from hpgraph.engine.declarations import Declarations, EdgeDeclarations, declarations_of
from hpgraph.engine.definition import Definition, is_edge_program
from hpgraph.engine.direction import Direction, standard
from hpgraph.engine.edge_run import DTYPE, edges_of, nothing_beside, numbered_arcs_and_code
from hpgraph.engine.forms import check_order, form_for, form_of, go, order_bounds
from hpgraph.engine.multi_gpu import check_fit
from hpgraph.engine.multi_source import run_edges_from_sources, run_sources
from hpgraph.engine.phases import Phases
from hpgraph.engine.program_errors import reword
from hpgraph.engine.result import RunResult, Trace
from hpgraph.engine.state import (
    ENDLESS,
    Run,
    are_sources,
    begin_where,
    exclusively,
    initial_state,
    limit_of,
    parameters,
    sources_of,
    stays_apart,
)  # fmt: skip
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement.of_graph import arcs_of


@naming_arguments
def run(
    program: Definition | type[Definition] | Phases,
    graph: Any,
    *,
    active: Any = None,
    group_size: int | str = "auto",
    direction: str | Direction = "auto",
    max_iteration: int | None = None,
    delta: float | None = None,
    ceiling: float | None = None,
    gather: bool = True,
    apart: bool | None = None,
    lanes: int | str | None = None,
    **initial: Any,
) -> RunResult:
    """Run a vertex program on a graph, on the graph's device.

    Parameters
    ----------
    program : VertexProgram, EdgeVertexProgram or Phases
        The program, or its class.
    graph : Graph or what `hpgraph.as_graph` takes
        The graph.
    active : array or sequence of vertices, hpgraph.id, bool array of length n, or None
        Vertices that are active in the first superstep: vertex ids, or names if the graph has names;
        ``hpgraph.id(array)`` denotes indices. None selects the vertices for which the program's `starts` holds, or all.
        A list of k lists or arrays, or a two-dimensional array, defines k *sources*, each with its own result.
    group_size : int or "auto"
        Number of sources that run together; "auto" is as many as fit the memory. Sources of an `EdgeVertexProgram` run
        one after the other, each with its own edge properties.
    direction : {"auto", "push", "pull"} or Direction
        Direction of supersteps, if there is a choice: a relaxation always pushes, and sums of floats are pulled on the
        GPU, where pushed messages are combined in any order.
    max_iteration : int, optional
        Maximum number of supersteps, or of rounds of `Phases`; by default the program's `max_iteration`.
    delta : float, optional
        Only for relaxations (see `VertexProgram`) whose `reduce` is "min": vertices with a value beyond the current
        bucket, `delta` wide, wait until those below have settled. Without it, searches on the CPU whose `reduce` is
        "min" or "max" and whose messages depend on weights choose a width once they repeat themselves.
    ceiling : float, optional
        Likewise: a vertex with a value beyond it sends nothing.
    gather : bool, default True
        On a graph on several GPUs, whether properties are copied to the first; otherwise they stay divided, as
        `DividedArray`. On a cluster, whether they are copied to the client; otherwise they are Dask arrays.
    apart, lanes : optional
        Deprecated: ``apart=True`` is ``gather=False``, and `lanes` is `group_size`.
    **initial
        Initial properties (arrays of length n, or scalars) and parameters (scalars) by name; of sources, properties may
        have shape (k, n) too. Properties of edges have the length and order of ``G.edges(both_ways=True)``; of sources
        they may have k such rows.

    Returns
    -------
    RunResult, or its kind for many sources, MultiSourceResult
        Its arrays lie on the graph's device; those of many sources have shape (k, n).

    Raises
    ------
    TypeError, ValueError, IndexError, CompileError
        If an argument is invalid for the program or the graph; if one of the program's functions does not compile.

    Examples
    --------
    >>> class Component(hpg.VertexProgram):
    ...     label = hpg.Property("int64", initial=lambda G: range(G.n_vertices))
    ...     edges = "all"
    ...     reduce = "min"
    ...     def gather(source, weight, target):
    ...         return source.label
    >>> G = hpg.Graph.from_edges([0, 2], [1, 3], n_vertices=5)
    >>> hpg.run(Component, G).label.tolist()
    [0, 0, 2, 2, 4]
    >>> hpg.run(Component, G, active=[[0], [2]]).label.tolist()
    [[0, 0, 2, 3, 4], [0, 1, 2, 2, 4]]
    """
    graph = as_graph(graph)
    apart = stays_apart(graph, gather, apart)
    group_size = group_size if lanes is None else renamed("lanes", "group_size", lanes)
    of_many = active is not None and are_sources(active, graph)
    if apart and (of_many or isinstance(program, Phases) or is_edge_program(program)):
        raise ValueError("gather=False takes one vertex program, without phases or properties of edges, and one start")
    if isinstance(program, Phases):
        return program.run(
            graph, active=active, direction=direction, max_iteration=max_iteration, delta=delta, ceiling=ceiling,
            **initial,
        )  # fmt: skip
    declared = declarations_of(program)
    graph, along_edges = declared.on(graph), isinstance(declared, EdgeDeclarations)
    for name, value in (("delta", delta), ("ceiling", ceiling)):
        if along_edges and value is not None:
            raise ValueError(f"{name} is for relaxations, not for an EdgeVertexProgram")
    delta, ceiling = (None, None) if delta is None and ceiling is None else order_bounds(delta, ceiling)
    limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)

    if not of_many:
        sources = None if active is None else sources_of(active, graph)
        result = run_one(declared, graph, sources, direction=direction, limit=limit, delta=delta, ceiling=ceiling,
                        apart=apart, initial=initial)  # fmt: skip
        return named(result, graph)
    if along_edges:
        return named(run_edges_from_sources(declared, graph, active, limit, initial, lambda start, own: run_one(
            declared, graph, sources_of(start, graph), direction=direction, limit=limit, initial=own,
        )), graph)  # fmt: skip
    return named(run_sources(
        program, graph, active, group_size=group_size, direction=direction, max_iteration=max_iteration, delta=delta,  # type: ignore[arg-type]
        ceiling=ceiling, **initial,
    ), graph)  # fmt: skip


@exclusively
def run_one(
    declared: Declarations, graph: Graph, sources: Any, *, direction: str | Direction = "auto", limit: int = ENDLESS,
    delta: float | None = None, ceiling: float | None = None, apart: bool = False,
    initial: dict[str, Any] | None = None,
) -> RunResult:  # fmt: skip
    """Run a program from one start: set up state and arcs, and call the loop of its form; uses up `initial`."""
    policy = standard(direction) if isinstance(direction, str) else Direction.of(direction)
    backend = kernels(graph.device)
    initial = {} if initial is None else initial
    if graph.on_cluster:
        on_cluster: Any = graph
        return on_cluster.run_on_workers(declared, sources, policy, limit, delta, ceiling, not apart, initial)
    if isinstance(graph, DividedGraph):
        check_fit(graph, declared, initial)
    edges = edges_of(declared, graph, initial) if isinstance(declared, EdgeDeclarations) else {}
    state, beginnings = initial_state(declared, graph, initial)
    world = parameters(declared, initial)
    arcs: Any
    code: ProgramCode
    if isinstance(declared, EdgeDeclarations):
        arcs, code = numbered_arcs_and_code(declared, graph, state, edges)
    else:
        code = declared.code(tuple(map(DTYPE, state.values())))
        arcs = arcs_of(graph, declared.edges, declared.weighted, code)
    this = Run(
        backend, declared, code, arcs, tuple(state.values()), beginnings, world, sources, policy, limit, delta, ceiling,
        apart, edges=edges,
    )  # fmt: skip
    try:
        with backend.interruptible():
            if sources is None:
                _begin_by_itself(this, graph)
            form = form_for(this)
            if delta is not None or ceiling is not None:
                # The general loop has no buckets; its result is the same.
                check_order(declared.forms.get(code) or form_of(declared, code), delta, ceiling)
            outcome = go(this, form)
    except Exception as error:
        reword(error, code, arcs)
        raise
    if apart or this.pieces is not None:
        pieces = this.pieces or tuple(graph.apart(values) for values in this.state)  # type: ignore[attr-defined]
        state = {name: piece if apart else piece.gather() for name, piece in zip(state, pieces, strict=True)}
    trace = Trace(outcome.rows, outcome.form, arcs.traffic)

    def still_active() -> Any:
        return array_module(graph.device).empty(0, graph.id_dtype) if outcome.active is None else outcome.active

    own = {name: values for name, values in edges.items() if name not in declared.columns}
    return RunResult({**state, **own} if own else state, trace, still_active, world)


def _begin_by_itself(run: Run, graph: Graph) -> None:
    """Set the active vertices of the first superstep by default: those of `starts`, or all."""
    if run.code.starts is None:
        run.sources = sources_of(None, graph)
        return
    own, values = (*run.state, *nothing_beside(run.code, graph)), tuple(run.world.values())
    run.sources = begin_where(run.backend, run.code, own, values, run.state, run.beginnings, None, graph)
    run.beginnings = (None,) * len(run.beginnings)


class Runnable:
    """Base of both kinds of programs, with their method `run`."""

    def run(self, graph: Any, **arguments: Any) -> RunResult:
        """Run the program on a graph; the same as ``hpg.run(program, graph, **arguments)``."""
        return run(self, graph, **arguments)  # type: ignore[arg-type]
