"""Vertex programs that run in turn on shared properties, for algorithms of several steps a round."""

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph, as_graph, named
from hpgraph.core.device import array_module
from hpgraph.engine.definition import Definition
from hpgraph.engine.direction import Direction
from hpgraph.engine.forms import Form
from hpgraph.engine.phase import ROUND, phases_of
from hpgraph.engine.program_errors import reworded
from hpgraph.engine.result import RunResult, Trace
from hpgraph.engine.state import ENDLESS, are_sources, begin_where, exclusively, limit_of
from hpgraph.kernels.backend import kernels


class Phases:
    """Vertex programs that run in turn, round after round, on shared properties.

    Parameters
    ----------
    phases : sequence of VertexProgram or EdgeVertexProgram, or of their classes
        Each runs as `hpgraph.run` would run it: until no vertex is active, or to its own `max_iteration`. A property
        belongs to all phases that declare one of that name, which must agree on its type; it begins as the first of
        them declares, and stays on the device. Properties of edges likewise. A vertex program without `gather` and
        `reduce` is a step over vertices only: ``update(vertex)`` or ``update(vertex, world)`` runs once on each active
        vertex.
    until : function of ``world``, optional
        Whether to stop; called after every round. ``world`` has `iteration`, the number of completed rounds, the
        parameters, and the last sums of the phases.
    max_iteration : int, optional
        Maximum number of rounds.

    Raises
    ------
    TypeError, ValueError
        If a phase is not a vertex program, `until` is not a function of one parameter, or two phases declare a property
        with different types; if the rounds would never end: a phase that starts from all vertices needs `until` or
        `max_iteration`.

    Notes
    -----
    A phase declares the vertices that are active when it begins: ``starts(vertex)`` or ``starts(vertex, world)``, a
    function of every vertex, or ``starts = "left"``, the vertices that the last phase left active: those that its last
    superstep changed, where `max_iteration` ended it, or those with a true `sends`. Without `starts` all vertices
    begin. The argument `active` of the run, if given, replaces this for the first phase of the first round.

    A parameter reaches every phase that declares one of that name. So do the sums of `aggregate`, in the phases after,
    and ``iteration``, the number of the round, from 1. An `EdgeVertexProgram` that changes properties of edges and
    reads ``edge.reverse`` double-buffers them while it runs, which takes time linear in the graph.

    The rounds end after one in which no phase had active vertices, when `until` is true, or at `max_iteration`.

    Examples
    --------
    Luby's maximal independent set (M. Luby, STOC'85). In each round the undecided vertices draw numbers; a vertex
    whose number is the largest among its undecided neighbours joins, and its neighbours leave.

    >>> UNDECIDED, IN, OUT = 0, 1, 2
    >>> class Draw(hpg.VertexProgram):
    ...     state = hpg.Property("int8", initial=UNDECIDED)
    ...     best = hpg.Property("uint64")
    ...     seed = hpg.Parameter("int64")
    ...     iteration = hpg.Parameter("int64")
    ...     edges, weighted, max_iteration = "all", False, 1
    ...     message, reduce = "uint64", "max"
    ...     def starts(vertex):
    ...         return vertex.state == UNDECIDED
    ...     def gather(source, weight, target, world):
    ...         return hpg.random_bits(world.seed, source.id, world.iteration)
    ...     def edge_cond(source, weight, target):
    ...         return target.state == UNDECIDED and source.id != target.id
    ...     def update(vertex, message):
    ...         return vertex.state, message
    >>> class Join(hpg.VertexProgram):
    ...     state, best = hpg.Property("int8"), hpg.Property("uint64")
    ...     seed, iteration = hpg.Parameter("int64"), hpg.Parameter("int64")
    ...     def starts(vertex):
    ...         return vertex.state == UNDECIDED
    ...     def update(vertex, world):
    ...         own = hpg.random_bits(world.seed, vertex.id, world.iteration)
    ...         return IN if own > vertex.best else UNDECIDED, 0
    ...     def sends(before, vertex):
    ...         return vertex.state == IN
    >>> class Leave(hpg.VertexProgram):
    ...     state = hpg.Property("int8")
    ...     edges, weighted, max_iteration = "all", False, 1
    ...     reduce = "max"
    ...     starts = "left"
    ...     def gather(source, weight, target):
    ...         return OUT
    ...     def cond(vertex):
    ...         return vertex.state == UNDECIDED
    ...     def update(vertex, message):
    ...         return message
    >>> luby = hpg.Phases([Draw, Join, Leave])
    >>> path = hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)
    >>> r = hpg.run(luby, path, seed=1)
    >>> r.state.tolist(), r.rounds
    ([2, 1, 2, 1, 2], 2)
    """

    def __init__(
        self, phases: Sequence[Any], *, until: Callable[[Any], Any] | None = None, max_iteration: int | None = None
    ) -> None:
        if isinstance(phases, type) or not isinstance(phases, Sequence):
            raise TypeError(f"phases must be a list of vertex programs, not {phases!r}")
        if not phases:
            raise ValueError("phases must hold at least one vertex program")
        for phase in phases:
            kind = phase if isinstance(phase, type) else type(phase)
            if not issubclass(kind, Definition):
                raise TypeError(f"phases must hold vertex programs, not {phase!r}")
        if until is not None and not callable(until):
            raise TypeError(f"until must be a function of world, not {until!r}")
        limit_of(max_iteration)
        self.phases = tuple(phases)
        self.until = until
        self.max_iteration = max_iteration

    def run(
        self,
        graph: Any,
        *,
        active: Any = None,
        direction: str | Direction = "auto",
        max_iteration: int | None = None,
        **initial: Any,
    ) -> "PhasesResult":
        """Run the phases on a graph; the same as ``hpg.run(phases, graph, ...)``; `max_iteration` limits the rounds."""
        graph = as_graph(graph)
        if active is not None and are_sources(active, graph):
            raise ValueError("phases do not run from many sources: run them once for each")
        for name in ("delta", "ceiling"):
            if initial.pop(name, None) is not None:
                raise ValueError(f"{name} is for relaxations, not for Phases")
        return _run_rounds(self, graph, active, Direction.of(direction), max_iteration, initial)

    @property
    def name(self) -> str:
        """The names of the phases."""
        return ", ".join(_name(phase) for phase in self.phases)


class PhasesResult(RunResult):
    """Result of a run of phases; ``rounds`` counts a last one without active vertices too.

    ``traces``: name and trace of each phase that had active vertices, as they ran; ``trace`` joins them.
    """

    rounds: int
    traces: list[tuple[str, Trace]]


@exclusively
def _run_rounds(
    phases: Phases, graph: Graph, active: Any, policy: Direction, max_iteration: int | None, initial: dict[str, Any]
) -> PhasesResult:
    limit = limit_of(phases.max_iteration if max_iteration is None else max_iteration)
    prepared = phases_of(phases.phases, graph, initial, phases.until is not None or limit < ENDLESS)
    first = prepared[0]
    shared, backend, ids = first.shared, kernels(graph.device), graph.id_dtype
    none_active = array_module(graph.device).empty(0, ids)
    traces: list[tuple[str, Trace]] = []
    with backend.interruptible():
        with reworded(first.code, first.arcs):
            state = tuple(shared.state.values())
            shared.world[ROUND] = min(limit, 1)
            left = begin_where(backend, first.code, first.seen, first.values, state, shared.beginnings, active, graph)
        done = 0
        while done < limit:
            done += 1
            shared.world[ROUND] = done
            began = False
            for i, phase in enumerate(prepared):
                with reworded(phase.code, phase.arcs):
                    # At first, `left` holds the start vertices of the first phase.
                    sources = left
                    if not phase.begins_left and (i or done > 1):
                        sources = phase.beginning(backend)
                    left = none_active
                    if not len(sources):
                        continue
                    began = True
                    keeps = prepared[(i + 1) % len(prepared)].begins_left
                    trace, left = phase.run(backend, sources, policy, keeps)
                    left = none_active if left is None else left.astype(none_active.dtype, copy=False)
                    traces.append((phase.code.name, trace))
            if not began:
                break
            if phases.until is not None:
                with backend.in_python():
                    if phases.until(namedtuple("World", shared.world)(**shared.world)):  # type: ignore[misc]
                        break
    counted = f"{done} round{'s' * (done != 1)}"
    whole = Trace(_Joined(traces), Form("phases", first.code, f"{phases.name}; {counted}"))
    result = PhasesResult({**shared.state, **shared.edges}, whole, lambda: left, shared.world)
    result.rounds, result.traces = done, traces
    return named(result, graph)


class _Joined:
    """Rows of several traces one after the other, fetched when called."""

    def __init__(self, traces: list[tuple[str, Trace]]) -> None:
        self._traces = traces

    def supersteps(self) -> int:
        """Number of supersteps, listed or not."""
        return sum(trace.supersteps for _, trace in self._traces)

    def __call__(self) -> np.ndarray:
        """The rows, an int64 array of shape (listed supersteps, 4)."""
        return np.concatenate([np.empty((0, 4), np.int64), *(trace.rows[:, :4] for _, trace in self._traces)])


def _name(phase: Any) -> str:
    return phase.__name__ if isinstance(phase, type) else type(phase).__name__
