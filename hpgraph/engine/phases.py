"""Programs that take turns on the same properties: what algorithms of several steps a round are made of."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpgraph.containers.graph import as_graph
from hpgraph.containers.result_table import named
from hpgraph.core.device import array_module, device_of
from hpgraph.core.work_clock import now
from hpgraph.engine.complaint import naming_what_does_not_compile
from hpgraph.engine.declarations import Declarations, declarations_of
from hpgraph.engine.definition import LEFT, Definition
from hpgraph.engine.direction import Direction
from hpgraph.engine.edge_definition import EdgeDefinition
from hpgraph.engine.forms import SUPERSTEPS, TRAVERSAL, Form, form_for
from hpgraph.engine.lanes import are_lanes
from hpgraph.engine.loops import go
from hpgraph.engine.paged_arcs import arcs_of
from hpgraph.engine.result import RunResult
from hpgraph.engine.state import ENDLESS, Run, begin_where, initial_state, limit_of, sources_of
from hpgraph.engine.trace import Trace
from hpgraph.engine.values import scalar
from hpgraph.formats import Frontier
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.direction import PUSH

if TYPE_CHECKING:
    from hpgraph.containers.graph import Graph
    from hpgraph.kernels.backend import Backend
    from hpgraph.kernels.runtime.program import ProgramCode

ROUND = "iteration"


class Phases:
    """Vertex programs that run one after the other, round after round, on properties that they share.

    Parameters
    ----------
    phases : sequence of VertexProgram, or of their classes
        Each runs as `hpgraph.run` would run it: until nobody is active, or to its own `max_iteration`. A property
        belongs to all phases that declare one of that name, which must agree on its type; it begins as the first of
        them says, and stays on the device. A program without `gather` and `reduce` is a step of vertices alone:
        ``update(vertex)`` or ``update(vertex, world)``, once for each that begins.
    until : function of ``world``, optional
        Asked after every round whether to stop. ``world`` has `iteration`, the number of rounds done, the parameters,
        and what the phases last summed.
    max_iteration : int, optional
        Rounds at the most.

    Raises
    ------
    TypeError
        If something is no vertex program, `until` is no function of one parameter, or two phases declare a property of
        one name with two types.
    ValueError
        If there is no phase, or the rounds would never end: a phase that begins with everyone needs `until` or
        `max_iteration`.

    Notes
    -----
    Who begins a phase, it says itself: ``starts(vertex)`` or ``starts(vertex, world)``, a function that is asked of
    every vertex, or ``starts = "left"``, whoever the phase before left active: those that its last superstep changed,
    where `max_iteration` ended it, or for whom `sends` said so. Without `starts` everyone begins. `active`, where the
    run is given one, says who begins the first phase of the first round.

    A parameter reaches every phase that declares one of that name. So do the sums of `aggregate`, in the phases after,
    and ``iteration``, the number of the round, from 1.

    The rounds end after one in which no phase had anybody to begin with, when `until` says so, or at `max_iteration`.

    Examples
    --------
    Luby's maximal independent set (M. Luby, STOC'85). In each round the undecided vertices draw numbers; whoever has
    the largest among its undecided neighbours joins, and its neighbours leave.

    >>> import hpgraph as hpg
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
            if issubclass(kind, EdgeDefinition):
                raise TypeError(f"phases cannot hold {kind.__name__}: an EdgeVertexProgram runs by itself")
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
    ) -> PhasesResult:
        """Run the phases on a graph; the same as ``hpg.run(phases, graph, ...)``.

        Parameters
        ----------
        graph : Graph or what `hpgraph.as_graph` takes
        active, direction, **initial
            As for `hpgraph.run`.
        max_iteration : int, optional
            Rounds at the most.

        Returns
        -------
        PhasesResult
        """
        graph = as_graph(graph)
        if active is not None and are_lanes(active, graph):
            raise ValueError("phases do not run in lanes: run them once for each start")
        for name in ("delta", "ceiling"):
            if initial.pop(name, None) is not None:
                raise ValueError(f"{name} is for relaxations, not for Phases")
        return _go_round(self, graph, active, Direction.of(direction), max_iteration, initial)

    @property
    def name(self) -> str:
        """The names of the phases."""
        return ", ".join(_name(phase) for phase in self.phases)


class PhasesResult(RunResult):
    """Where the phases ended.

    Attributes
    ----------
    rounds : int
        How many rounds there were, the last one counted in which nobody had anything to do.
    trace : Trace
        What each superstep of each phase did, one after the other.
    traces : list of (str, Trace)
        The same by phases, with their names, in the order in which they ran; those left out with which nobody began.
    """

    rounds: int
    traces: list[tuple[str, Trace]]


class _Phase(NamedTuple):
    """A phase, made ready for the properties of a run."""

    declared: Declarations
    code: ProgramCode
    arcs: Any
    state: tuple[Any, ...]
    limit: int
    begins_left: bool


def _go_round(
    phases: Phases, graph: Graph, active: Any, policy: Direction, max_iteration: int | None, initial: dict[str, Any]
) -> PhasesResult:
    limit = limit_of(phases.max_iteration if max_iteration is None else max_iteration)
    declared = [declarations_of(phase) for phase in phases.phases]
    _check_that_it_ends(declared, phases.until is not None or limit < ENDLESS)
    state, beginnings = _shared(declared, graph, initial)
    world = _world(declared, initial)
    made = [_ready(one, graph, state) for one in declared]
    backend, ids = kernels(graph.device), graph.id_dtype
    nobody = array_module(graph.device).empty(0, ids)
    traces: list[tuple[str, Trace]] = []
    with backend.interruptible():
        first = made[0]
        with naming_what_does_not_compile(first.code, lambda: first.arcs.sending.dtype):
            values = _values(first, world)
            left = begin_where(
                backend, first.code, first.state, values, tuple(state.values()), beginnings, active, graph
            )
        done = 0
        while done < limit:
            done += 1
            world[ROUND] = done
            began = False
            for i, phase in enumerate(made):
                with naming_what_does_not_compile(phase.code, lambda: phase.arcs.sending.dtype):  # noqa: B023
                    # `left` is at first whoever begins the first phase.
                    sources = left
                    if not phase.begins_left and (i or done > 1):
                        sources = _beginning(backend, phase, world, graph)
                    left = nobody
                    if not len(sources):
                        continue
                    began = True
                    keeps = made[(i + 1) % len(made)].begins_left
                    trace, left = _run(backend, phase, sources, world, policy, keeps)
                    left = nobody if left is None else left.astype(nobody.dtype, copy=False)
                    traces.append((phase.code.name, trace))
            if not began or (phases.until is not None and _stops(backend, phases.until, world)):
                break
    counted = f"{done} round{'s' * (done != 1)}"
    whole = Trace(_Joined(traces), Form("phases", made[0].code, f"{phases.name}; {counted}"))
    result = PhasesResult(state, whole, lambda: left, world)
    result.rounds, result.traces = done, traces
    return named(result, graph)


def _stops(backend: Backend, until: Callable[[Any], Any], world: dict[str, Any]) -> bool:
    with backend.in_python():
        return bool(until(namedtuple("World", world)(**world)))  # type: ignore[misc]


class _Joined:
    """Rows of several traces one after the other, fetched when called."""

    def __init__(self, traces: list[tuple[str, Trace]]) -> None:
        self._traces = traces

    def supersteps(self) -> int:
        """How many there were, listed or not."""
        return sum(trace.supersteps for _, trace in self._traces)

    def __call__(self) -> np.ndarray:
        """The rows, an int64 array of shape (listed supersteps, 4)."""
        return np.concatenate([np.empty((0, 4), np.int64), *(trace.rows[:, :4] for _, trace in self._traces)])


def _name(phase: Any) -> str:
    return phase.__name__ if isinstance(phase, type) else type(phase).__name__


def _check_that_it_ends(declared: list[Declarations], is_limited: bool) -> None:
    for one in declared:
        if one.functions["starts"] is None and not is_limited:
            raise ValueError(
                f"every round begins {one.name} with all vertices, so the rounds would never end: give it "
                "starts(vertex), or give Phases until= or max_iteration="
            )


def _shared(
    declared: list[Declarations], graph: Graph, initial: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """One array a property of any phase, and what each is to be filled with. Takes what it uses out of `initial`."""
    state: dict[str, Any] = {}
    beginnings: tuple[Any, ...] = ()
    owner: dict[str, str] = {}
    for one in declared:
        for name, prop in one.properties.items():
            if name in state and (prop.length or 0) != _length(state[name]):
                raise TypeError(
                    f"{one.name}.{name} has shape {prop.shape}, but {owner[name]}.{name} has not: phases share "
                    "properties by name, so give both one shape, or one of them another name"
                )
        own = {name: prop for name, prop in one.properties.items() if name not in state}
        for name, prop in one.properties.items():
            if name in state and prop.dtype is not None and np.dtype(prop.dtype) != state[name].dtype:
                raise TypeError(
                    f"{one.name}.{name} is {np.dtype(prop.dtype)}, but {owner[name]}.{name} is {state[name].dtype}: "
                    "phases share properties by name, so give both one type, or one of them another name"
                )
        arrays, begun = initial_state(one, graph, initial, own)
        state |= arrays
        beginnings += begun
        owner |= dict.fromkeys(own, one.name)
    return state, beginnings


def _length(values: Any) -> int:
    """Numbers that each vertex has; 0 where a property has no shape."""
    return int(values.shape[1]) if values.ndim == 2 else 0


def _world(declared: list[Declarations], initial: dict[str, Any]) -> dict[str, Any]:
    """Parameters of all phases by name, the number of the round, and zeros for sums."""
    world: dict[str, Any] = {ROUND: 0}
    given = {name for one in declared for name in one.parameters if name in initial}
    for one in declared:
        for name, parameter in one.parameters.items():
            if name != ROUND and name not in world:
                value = initial.get(name, parameter.default)
                world[name] = scalar(value, np.dtype(parameter.dtype), name)
    for name in given:
        if name == ROUND:
            raise TypeError(f"{ROUND} is the number of the round, which no run is given")
        initial.pop(name)
    if initial:
        known = dict.fromkeys(name for one in declared for name in (*one.properties, *one.parameters) if name != ROUND)
        raise TypeError(f"no phase has a property or parameter {next(iter(initial))!r}; they have {', '.join(known)}")
    world.update({name: np.float64(0) for one in declared for name in one.aggregators if name not in world})
    return world


def _ready(declared: Declarations, graph: Graph, state: dict[str, Any]) -> _Phase:
    own = tuple(state[name] for name in declared.properties)
    code = declared.code(tuple(values.dtype for values in own))
    arcs = arcs_of(graph, declared, code)
    limit = limit_of(declared.max_iteration)
    return _Phase(declared, code, arcs, own, limit, declared.functions["starts"] == LEFT)


def _values(phase: _Phase, world: dict[str, Any]) -> tuple[Any, ...]:
    """The parameters of one phase, and zeros for its sums."""
    sums = (np.float64(0) for _ in phase.declared.aggregators)
    types = dict(phase.code.parameters)
    return (*(types[name].type(world[name]) for name in phase.declared.parameters), *sums)


def _beginning(backend: Backend, phase: _Phase, world: dict[str, Any], graph: Graph) -> Any:
    """Who begins a phase that says so by a function, or does not say."""
    if phase.code.starts is None:
        return sources_of(None, graph)
    chosen = backend.starting(phase.code, phase.state, _values(phase, world))
    return chosen.to_indices().astype(graph.id_dtype)


def _run(
    backend: Backend, phase: _Phase, sources: Any, world: dict[str, Any], policy: Direction, keeps: bool
) -> tuple[Trace, Any]:
    """One phase: its trace, and whom it left active, where the next one wants to know (`keeps`)."""
    declared, code = phase.declared, phase.code
    own = dict(zip((name for name, _ in code.parameters), _values(phase, world), strict=True))
    if declared.updates_alone:
        trace, left = _step(backend, phase, sources, own)
    else:
        made = (None,) * len(phase.state)
        run = Run(backend, declared, code, phase.arcs, phase.state, made, own, sources, policy, phase.limit)
        form = form_for(run)
        if keeps and form.loop == TRAVERSAL:
            form = Form(SUPERSTEPS, code, "the next phase begins with whom it leaves active")
        outcome = go(run, form)
        trace, left = Trace(outcome.rows, outcome.form), outcome.active
    world.update({name: own[name] for name in declared.aggregators})
    return trace, left


def _step(backend: Backend, phase: _Phase, sources: Any, own: dict[str, Any]) -> tuple[Trace, Any]:
    """A step of vertices alone."""
    code, n, began = phase.code, len(phase.state[0]), now()
    kind: Any = backend.ShapedSupersteps if code.is_shaped else backend.Supersteps
    steps = kind(code, phase.state, None, sources.dtype)
    device = device_of(*phase.state)
    steps.address(Frontier(n, device=device) if len(sources) == n else Frontier(n, ids=sources))
    changed, sums = steps.apply(phase.arcs, tuple(own.values()), 1, False)
    own.update(zip(phase.declared.aggregators, sums, strict=True))
    row = PUSH, len(sources), 0, now() - began
    why = "there is no gather: vertices alone are updated"
    return Trace(np.array([row], np.int64), Form(SUPERSTEPS, code, why)), changed.ids.copy()
