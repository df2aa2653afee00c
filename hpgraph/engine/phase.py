"""One phase of several: made ready for the properties that all of them share, and run when its turn comes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import device_of
from hpgraph.core.work_clock import now
from hpgraph.engine.declarations import Declarations, EdgeDeclarations, declarations_of
from hpgraph.engine.definition import LEFT
from hpgraph.engine.direction import Direction
from hpgraph.engine.edge_run import DTYPE, edge_state, nothing_beside, numbered_arcs_and_code
from hpgraph.engine.forms import SUPERSTEPS, TRAVERSAL, Form, form_for, go
from hpgraph.engine.result import Trace
from hpgraph.engine.state import Run, initial_state, limit_of, sources_of
from hpgraph.engine.values import scalar
from hpgraph.formats import Frontier
from hpgraph.kernels.backend import Backend
from hpgraph.kernels.runtime.direction import PUSH
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement.of_graph import arcs_of

ROUND = "iteration"


@dataclass(slots=True)
class Shared:
    """Shared by phases: arrays of vertices and of edges by name, initial values of vertex arrays, the world."""

    state: dict[str, Any]
    edges: dict[str, Any]
    beginnings: tuple[Any, ...]
    world: dict[str, Any]


@dataclass(slots=True)
class Phase:
    """A phase, compiled for the properties of a run; `state` holds its own properties of vertices."""

    declared: Declarations
    code: ProgramCode
    arcs: Any
    state: tuple[Any, ...]
    shared: Shared
    graph: Graph

    @property
    def begins_left(self) -> bool:
        """Whether the phase starts from the vertices that the last phase left active."""
        return bool(self.declared.functions["starts"] == LEFT)

    @property
    def seen(self) -> tuple[Any, ...]:
        """The state for kernels over vertices only."""
        return (*self.state, *nothing_beside(self.code, self.graph))

    @property
    def values(self) -> tuple[Any, ...]:
        """The phase's parameters, and zeros for its sums."""
        sums = (np.float64(0) for _ in self.declared.aggregators)
        types = dict(self.code.parameters)
        return (*(types[name].type(self.shared.world[name]) for name in self.declared.parameters), *sums)

    def beginning(self, backend: Backend) -> Any:
        """The vertices that `starts` selects; all without `starts`."""
        if self.code.starts is None:
            return sources_of(None, self.graph)
        return backend.starting(self.code, self.seen, self.values).to_indices().astype(self.graph.id_dtype)

    def run(self, backend: Backend, sources: Any, policy: Direction, keeps: bool) -> tuple[Trace, Any]:
        """Run the phase from `sources`; its trace, and the vertices still active."""
        declared, code = self.declared, self.code
        world = dict(zip((name for name, _ in code.parameters), self.values, strict=True))
        if declared.updates_alone:
            trace, left = self._step(backend, sources, world)
        else:
            beginnings = (None,) * len(self.state)
            # All phases share one dict of edges, so that a phase sees arrays that another replaced.
            run = Run(
                backend, declared, code, self.arcs, self.state, beginnings, world, sources, policy,
                limit_of(declared.max_iteration), edges=self.shared.edges,
            )  # fmt: skip
            form = form_for(run)
            if keeps and form.loop == TRAVERSAL:
                form = Form(SUPERSTEPS, code, "the next phase begins with the vertices that it leaves active")
            outcome = go(run, form)
            trace, left = Trace(outcome.rows, outcome.form), outcome.active
        self.shared.world.update({name: world[name] for name in declared.aggregators})
        return trace, left

    def _step(self, backend: Backend, sources: Any, own: dict[str, Any]) -> tuple[Trace, Any]:
        """A step over vertices only."""
        code, n, began = self.code, len(self.state[0]), now()
        steps = backend.Supersteps(code, self.state, None, sources.dtype)
        device = device_of(*self.state)
        steps.address(Frontier(n, device=device) if len(sources) == n else Frontier(n, ids=sources))
        changed, sums = steps.apply(self.arcs, tuple(own.values()), 1, False)
        own.update(zip(self.declared.aggregators, sums, strict=True))
        row = PUSH, len(sources), 0, now() - began
        why = "there is no gather: vertices alone are updated"
        return Trace(np.array([row], np.int64), Form(SUPERSTEPS, code, why)), changed.ids.copy()


def phases_of(programs: tuple[Any, ...], graph: Graph, initial: dict[str, Any], ends: bool) -> list[Phase]:
    """All phases, compiled for a graph, on one `Shared` state. Removes the values it uses from `initial`."""
    declared = [declarations_of(phase) for phase in programs]
    for phase in declared:
        if phase.columns:
            raise TypeError(
                f"{phase.name} reads several columns of edges, which are properties in phases: make it an "
                "EdgeVertexProgram, with an hpgraph.EdgeProperty(constant=True) for each"
            )
        if phase.functions["starts"] is None and not ends:
            raise ValueError(
                f"every round begins {phase.name} with all vertices, so the rounds would never end: give it "
                "starts(vertex), or give Phases until= or max_iteration="
            )
    state, beginnings = _of_vertices(declared, graph, initial)
    shared = Shared(state, _of_edges(declared, graph, initial), beginnings, _world(declared, initial))
    return [_ready(phase, graph, shared) for phase in declared]


def _ready(declared: Declarations, graph: Graph, shared: Shared) -> Phase:
    properties = {name: shared.state[name] for name in declared.properties}
    arcs: Any
    code: ProgramCode
    if isinstance(declared, EdgeDeclarations):
        arcs, code = numbered_arcs_and_code(declared, graph, properties, shared.edges)
    else:
        code = declared.code(tuple(map(DTYPE, properties.values())))
        arcs = arcs_of(declared.on(graph), declared.edges, declared.weighted, code)
    return Phase(declared, code, arcs, tuple(properties.values()), shared, graph)


def _of_vertices(
    declared: list[Declarations], graph: Graph, initial: dict[str, Any]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """One array for each property of all phases, and its initial value. Removes those it uses from `initial`."""
    state: dict[str, Any] = {}
    beginnings: tuple[Any, ...] = ()
    owner: dict[str, str] = {}
    for phase in declared:
        new = _undeclared(phase.name, phase.properties, state, owner)
        arrays, initial_values = initial_state(phase, graph, initial, new)
        state |= arrays
        beginnings += initial_values
    return state, beginnings


def _of_edges(declared: list[Declarations], graph: Graph, initial: dict[str, Any]) -> dict[str, Any]:
    """One array for each property of edges of all phases. Removes those it uses from `initial`."""
    of_vertices = {name: phase.name for phase in declared for name in phase.properties}
    changed = {name for phase in declared for name, prop in phase.edge_properties.items() if not prop.constant}
    edges: dict[str, Any] = {}
    owner: dict[str, str] = {}
    for phase in declared:
        for name in phase.edge_properties:
            if name in of_vertices:
                raise TypeError(
                    f"{phase.name}.{name} is a property of edges, but {of_vertices[name]}.{name} is one of vertices: "
                    "phases share properties by name, so give one of them another name"
                )
        if isinstance(phase, EdgeDeclarations):
            edges |= edge_state(
                phase, graph, initial, _undeclared(phase.name, phase.edge_properties, edges, owner), changed
            )
    return edges


def _undeclared(
    program: str, properties: dict[str, Any], declared: dict[str, Any], owner: dict[str, str]
) -> dict[str, Any]:
    """The properties that no earlier phase declares, entered in `owner`; refuses others that disagree."""
    for name, prop in properties.items():
        if name not in declared:
            continue
        length = declared[name].shape[1] if declared[name].ndim == 2 else 0
        if getattr(prop, "length", 0) != length:
            raise TypeError(
                f"{program}.{name} has shape {prop.shape}, but {owner[name]}.{name} has not: phases share "
                "properties by name, so give both one shape, or one of them another name"
            )
        if prop.dtype is not None and np.dtype(prop.dtype) != declared[name].dtype:
            raise TypeError(
                f"{program}.{name} is {np.dtype(prop.dtype)}, but {owner[name]}.{name} is {declared[name].dtype}: "
                "phases share properties by name, so give both one type, or one of them another name"
            )
    new = {name: prop for name, prop in properties.items() if name not in declared}
    owner |= dict.fromkeys(new, program)
    return new


def _world(declared: list[Declarations], initial: dict[str, Any]) -> dict[str, Any]:
    """Parameters of all phases by name, the number of the round, and zeros for sums."""
    # The first phase wins where parameters have one name.
    parameters = {name: parameter for phase in reversed(declared) for name, parameter in phase.parameters.items()}
    if parameters.pop(ROUND, None) is not None and ROUND in initial:
        raise TypeError(f"{ROUND} is the number of the round, which no run is given")
    world: dict[str, Any] = {ROUND: 0}
    for name, parameter in parameters.items():
        world[name] = scalar(initial.pop(name, parameter.default), np.dtype(parameter.dtype), name)
    if initial:
        kinds = ((phase.properties, phase.edge_properties, phase.parameters) for phase in declared)
        names = dict.fromkeys(name for of in kinds for kind in of for name in kind if name != ROUND)
        raise TypeError(f"no phase has a property or parameter {next(iter(initial))!r}; they have {', '.join(names)}")
    return {name: np.float64(0) for phase in declared for name in phase.aggregators} | world
