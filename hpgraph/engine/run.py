"""Running a vertex program: PREPROCESS, then (SPMV, APPLY) until nobody is active (HPGraph, 2018, Section 3).

What a run works on begins in `hpgraph.engine.state`; which loop it gets is said in `hpgraph.engine.forms`; the loops
stand behind one interface in `hpgraph.engine.loops`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hpgraph.containers.graph import as_graph
from hpgraph.core.device import array_module
from hpgraph.core.number import real
from hpgraph.engine.arcs import Arcs
from hpgraph.engine.complaint import naming_what_does_not_compile
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.direction import Direction
from hpgraph.engine.forms import RELAXATION, Form, form_for
from hpgraph.engine.loops import go
from hpgraph.engine.state import Run, initial_state, limit_of, parameters, sources_of
from hpgraph.engine.trace import Trace
from hpgraph.kernels.backend import kernels

if TYPE_CHECKING:
    from hpgraph.engine.program import VertexProgram


class RunResult:
    """Where a vertex program ended.

    Attributes
    ----------
    trace : Trace
        What each superstep did.
    supersteps : int
        How many there were.
    active : array of vertex ids
        Who was still active when the limit of supersteps ended the run; empty otherwise, and where the first message
        wins. By index, as all results are: on a graph with names ``hpgraph.id(result.active)`` goes on from there.
    world : dict
        Parameters and last sums.
    <property> : array of length n
        Each property under its own name.
    """

    def __init__(
        self, properties: dict[str, Any], trace: Trace, active: Callable[[], Any], world: dict[str, Any]
    ) -> None:
        self.properties = properties
        self.trace = trace
        self._active = active
        self.world = world

    @cached_property
    def active(self) -> Any:
        """Who was still active; made when first asked for."""
        return self._active()

    @property
    def supersteps(self) -> int:
        """Number of supersteps."""
        return self.trace.supersteps

    def __getattr__(self, name: str) -> Any:
        properties = self.__dict__.get("properties", {})
        if name in properties:
            return properties[name]
        raise AttributeError(f"the result has no {name!r}; it has {', '.join([*properties, 'trace', 'supersteps'])}")

    def __repr__(self) -> str:
        return f"<RunResult: {', '.join(self.properties)}; {self.trace!r}>"


def run(
    program: VertexProgram | type[VertexProgram],
    graph: Any,
    *,
    active: Any = None,
    direction: str | Direction = "auto",
    max_iteration: int | None = None,
    delta: float | None = None,
    ceiling: float | None = None,
    **initial: Any,
) -> RunResult:
    """Run a vertex program on a graph, on the graph's device.

    Parameters
    ----------
    program : VertexProgram
        The program, or its class.
    graph : Graph or what `hpgraph.as_graph` takes
        The graph.
    active : array or sequence of vertices, hpgraph.id, bool array of length n, or None
        Who sends in the first superstep: vertex ids, or names where the graph has names; ``hpgraph.id(array)`` says
        indices. None means everyone.
    direction : {"auto", "push", "pull"} or Direction
        How supersteps find the arcs of active vertices, where there is a choice: a relaxation always pushes, and sums
        of floats are pulled on the GPU, where pushed messages are joined in any order.
    max_iteration : int, optional
        Supersteps at the most; default, the program's `max_iteration`.
    delta : float, optional
        Only for relaxations (see `VertexProgram`) whose `reduce` is "min": vertices with a value beyond the current
        bucket, `delta` wide, wait until those below have settled.
    ceiling : float, optional
        Likewise: a vertex with a value beyond it sends nothing.
    **initial
        Initial properties (arrays of length n, or scalars) and parameters (scalars) by name.

    Returns
    -------
    RunResult
        Its arrays lie on the graph's device.

    Raises
    ------
    TypeError, ValueError, IndexError
        If an argument does not fit the program or the graph.
    CompileError
        If Numba cannot compile one of the program's functions; it says which and why.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> class Component(hpg.VertexProgram):
    ...     label = hpg.Property("int64", initial=lambda G: range(G.n_vertices))
    ...     edges = "all"
    ...     reduce = "min"
    ...     def gather(source, weight, target):
    ...         return source.label
    >>> G = hpg.Graph.from_edges([0, 2], [1, 3], n_vertices=5)
    >>> hpg.run(Component, G).label.tolist()
    [0, 0, 2, 2, 4]
    """
    declared = declarations_of(program)
    graph = as_graph(graph)
    policy = Direction.of(direction)
    limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)
    state, beginnings = initial_state(declared, graph, initial)
    world = parameters(declared, initial)
    if initial:
        known = ", ".join([*declared.properties, *declared.parameters])
        raise TypeError(f"{declared.name} has no property or parameter {next(iter(initial))!r}; it has {known}")
    code = declared.code(tuple(values.dtype for values in state.values()))
    arcs = Arcs(graph, declared.edges, declared.weighted, code.message.itemsize)
    backend = kernels(graph.device)
    sources = sources_of(active, graph)
    this = Run(
        backend, declared, code, arcs, tuple(state.values()), beginnings, world, sources, policy, limit, delta, ceiling
    )
    with backend.interruptible(), naming_what_does_not_compile(code, lambda: arcs.sending.dtype):
        form = form_for(this)
        if not (delta is None and ceiling is None):
            _check_order(form, delta, ceiling)
        outcome = go(this, form)
    left = outcome.active

    def still_active() -> Any:
        return array_module(graph.device).empty(0, arcs.sending.indices.dtype) if left is None else left

    return RunResult(state, Trace(outcome.rows, outcome.form), still_active, world)


def _check_order(form: Form, delta: float | None, ceiling: float | None) -> None:
    """Refuse a width of buckets, or a last value, that the loop does not know what to do with."""
    if form.loop != RELAXATION or form.code.reduce.name != "min":
        for name, value in (("delta", delta), ("ceiling", ceiling)):
            if value is not None:
                only = 'relaxations whose reduce is "min", as programs without update'
                raise ValueError(f"{name} is for {only}, not for {form.code.name} ({form.loop}: {form.why})")
    if delta is not None and not real(delta, "delta", "a number or None") > 0:
        raise ValueError(f"delta must be positive, not {delta!r}")
    if ceiling is not None and math.isnan(real(ceiling, "ceiling", "a number or None")):
        raise ValueError("ceiling must be a number, not NaN")
