"""The state of a run: its arcs, and the initial properties, parameters, active vertices and marks."""

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from hpgraph.containers.divided_array import DividedArray
from hpgraph.containers.graph import Graph, id, whole
from hpgraph.containers.graph_parts import flags_of
from hpgraph.core.device import Device, array_module, device_of, to_device
from hpgraph.engine.declarations import Declarations, beginning
from hpgraph.engine.definition import Property
from hpgraph.engine.direction import Direction
from hpgraph.engine.values import array, as_given, scalar, type_of
from hpgraph.formats import CSR, Bitmask, Frontier
from hpgraph.kernels.backend import Backend, kernels
from hpgraph.kernels.runtime.program import Beginning, ProgramCode, begin
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.superstep import WorkSpace, pushes_repeat
from hpgraph.semiring.dtypes import DTYPES

ENDLESS = int(np.iinfo(np.int64).max)
_REAL = frozenset(dtype for dtype in DTYPES if dtype.kind != "c")

P = ParamSpec("P")
R = TypeVar("R")


def exclusively(run: Callable[P, R]) -> Callable[P, R]:
    """Decorator that serializes runs on a graph in pages; outside `interruptible`, so that Ctrl-C ends the wait."""

    @functools.wraps(run)
    def alone(*args: P.args, **options: P.kwargs) -> R:
        graph: Any = args[1]
        if not graph.in_pages:
            return run(*args, **options)
        with graph.exclusive():
            return run(*args, **options)

    return alone


def stays_apart(graph: Any, gather: bool, apart: bool | None) -> bool:
    """Whether results stay on their devices, by `gather` or its former name; under `naming_arguments`."""
    if apart is None:
        apart = not gather
    else:
        warnings.warn("apart is renamed to gather: apart=True is gather=False", DeprecationWarning, stacklevel=4)
    if apart and not (graph.on_devices or graph.on_cluster):
        raise ValueError('gather=False takes a graph on several GPUs: G.to("cuda:0,1"), or on a cluster')
    return apart


@dataclass(slots=True)
class Run:
    """One run of a program on a graph, the argument of every loop.

    ``state``: the properties, arrays of length n, changed in place, as are the sums in ``world``, beside the
    parameters; ``beginnings``: initial value of each property that is still to be filled, as persistent kernels do
    themselves; ``sources``: ids of the vertices active in the first superstep, each once; a single one may lie in NumPy
    on any device; ``delta, ceiling``: of a relaxation: width of a bucket, and the value beyond which a vertex sends
    nothing; ``apart``: whether the properties of a graph in shards may stay on their devices; ``pieces``: these, if a
    loop has left them there; `state` is then undefined; ``edges``: properties of edges by name; a loop replaces those
    it keeps twice.
    """

    backend: Backend
    declared: Declarations
    code: ProgramCode
    arcs: Any
    state: tuple[Any, ...]
    beginnings: tuple[Beginning | None, ...]
    world: dict[str, Any]
    sources: Any
    policy: Direction
    limit: int
    delta: float | None = None
    ceiling: float | None = None
    apart: bool = False
    pieces: tuple[DividedArray, ...] | None = None
    edges: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.state[0])

    def search(self, code: ProgramCode, by_target: CSR | None = None) -> Search:
        """The run as the argument of a fused loop, with a form of its code; `by_target`: arcs for pulls."""
        policy = self.policy
        return Search(
            code, self.arcs.sending, self.state, self.beginnings, tuple(self.world.values()), self.sources, self.limit,
            by_target, policy.alpha, policy.beta, policy.forced, self.delta, self.ceiling,
        )  # fmt: skip

    @property
    def device(self) -> Device:
        """The device of the properties."""
        return device_of(*self.state)

    @property
    def all_active(self) -> bool:
        """Whether every vertex sends and is updated in every superstep."""
        return self.declared.activity == "all"

    def note_sums(self, sums: Any) -> None:
        """Store the sums of `aggregate` in the world."""
        self.world.update(zip(self.declared.aggregators, sums, strict=True))

    def begin_sums(self) -> None:
        """Store the sums of `aggregate` before the first superstep in the world."""
        if self.code.aggregate is not None and self.n:
            self.note_sums(self.backend.aggregate(self.code, self.state, tuple(self.world.values())))

    def has_converged(self, done: int) -> bool:
        """Whether the program's `converged`, if it has one, returns true after this superstep."""
        stop = self.declared.functions["converged"]
        if stop is None:
            return False
        with self.backend.in_python():
            return bool(stop(self.code.world(done, *self.world.values())))  # type: ignore[call-arg]

    def may_push(self, steps: WorkSpace) -> bool:
        """Whether supersteps may push: not if every vertex sends, nor if pushed sums would depend on their order."""
        return not self.all_active and pushes_repeat(self.code, steps)

    def below_ceiling(self, ids: Any, values: Any) -> Any:
        """The vertices among `ids` whose values do not exceed the ceiling; all without a ceiling."""
        return ids if self.ceiling is None else ids[values[ids] <= self.ceiling]

    def work_space(self, state: tuple[Any, ...], settled: Bitmask | None) -> Any:
        """The work space of the general loop, for properties on the current device."""
        return self.backend.Supersteps(
            self.code, state, settled, self.sources.dtype, joins=self.arcs.joins, all_active=self.all_active
        )

    def fill(self) -> None:
        """Fill the properties, for loops that read them before a kernel writes them."""
        begin(self.state, self.beginnings, self.backend.xp.asarray(self.sources))

    def begin(self) -> tuple[Frontier, Bitmask | None]:
        """Fill the properties; the first frontier, and the vertices that are settled."""
        self.fill()
        n, sources = self.n, to_device(self.sources, self.device)
        from_all = self.all_active or len(sources) == n
        frontier = Frontier(n, device=self.device) if from_all else Frontier(n, ids=sources)
        once = self.code.reduce.ends_on_anything and not self.all_active
        return frontier, Bitmask.from_indices(sources, n) if once else None


def are_sources(active: Any, graph: Graph) -> bool:
    """Whether the argument `active` holds starts of several sources."""
    if isinstance(active, list | tuple):
        kinds = list if graph._names is not None else (list, tuple)
        for entry in active:
            if not isinstance(entry, kinds) and getattr(entry, "ndim", 0) != 1:
                return False
        return len(active) > 0
    return getattr(active, "ndim", 1) == 2


def limit_of(given: int | None, argument: str = "max_iteration") -> int:
    """The maximum number of supersteps from an argument, which may be None."""
    if given is None:
        return ENDLESS
    limit = whole(given, argument, "a whole number or None", least=0)
    return min(limit, ENDLESS)


class Column(NamedTuple):
    """Initial values of a property: its type, and the number that a kernel fills it with, or values (n,) or (k, n)."""

    dtype: np.dtype
    beginning: Beginning | None
    values: Any

    def rows(self, device: str, k: int, n: int) -> Any:
        """The array of shape (k, n) for the results of all sources: `values`, a copy already, if it has that shape."""
        values = self.values
        if values is not None and values.ndim == 2 and values.flags.c_contiguous:
            return values
        return array_module(device).empty((k, n), self.dtype)

    def fill(self, rows: Any, sources: np.ndarray) -> None:
        """Write the initial values of some sources into `rows`, shape (len(sources), n), unless a kernel will."""
        if self.values is not None and not array_module(rows).shares_memory(rows, self.values):
            rows[...] = self.values if self.values.ndim == 1 else self.values[sources]


def column(
    declared: Declarations, name: str, prop: Property, graph: Graph, initial: dict[str, Any], k: int = 0
) -> Column:
    """Initial values of a property, in one run or from k sources; removes those it uses from `initial`."""
    in_arguments, n = name in initial, graph.n_vertices
    if not in_arguments and name in declared.beginnings:
        return Column(*declared.beginnings[name], None)
    value = as_given(initial.pop(name) if in_arguments else prop.initial, graph, name)
    dtype = type_of(prop.dtype, value, name)
    if np.ndim(value) == 0:
        return Column(dtype, beginning(value, None if in_arguments else prop.start, dtype, name, prop.length), None)
    shapes: list[tuple[int, ...]] = [(n,)]
    expected = f"one value for each of the {n} vertices, not shape"
    if k:
        shapes, expected = [(n,), (k, n)], f"shape ({n},) or ({k}, {n}), not"
    elif prop.length:
        shapes = [(n, prop.length)]
        expected = f"shape ({n}, {prop.length}), the numbers of each vertex in a row, not shape"
    if value.shape not in shapes:
        raise ValueError(f"{name} must be a scalar or have {expected} {value.shape}")
    if prop.length:
        value = array_module(value).ascontiguousarray(value)
    return Column(dtype, None, array(to_device(value, graph.device), value, dtype, name))


def initial_state(
    declared: Declarations, graph: Graph, initial: dict[str, Any], properties: dict[str, Property] | None = None
) -> tuple[dict[str, Any], tuple[Beginning | None, ...]]:
    """A new array for each property, and the fill values of those not in `initial`; removes those it uses from it."""
    xp, n = kernels(graph.device).xp, graph.n_vertices
    state: dict[str, Any] = {}
    beginnings: list[Beginning | None] = []
    for name, prop in (declared.properties if properties is None else properties).items():
        value: Any = initial.get(name)
        begins, values = None, None
        if value is None and name not in initial and name in declared.beginnings:
            dtype, begins = declared.beginnings[name]
        elif (
            xp is np and type(value) is np.ndarray and value.shape == (n,) and value.dtype in _REAL
            and not prop.length and prop.dtype in (None, value.dtype)
        ):  # fmt: skip
            values = initial.pop(name).copy()
        else:
            dtype, begins, values = column(declared, name, prop, graph, initial)
        # Uninitialized memory: a kernel fills it, or the values are copied into it.
        state[name] = xp.ndarray((n, prop.length) if prop.length else n, dtype) if values is None else values
        beginnings.append(begins)
    return state, tuple(beginnings)


def parameters(declared: Declarations, initial: dict[str, Any]) -> dict[str, Any]:
    """The program's parameters, and zeros for its sums; removes those it uses from `initial`."""
    world = {}
    for name, parameter in declared.parameters.items():
        value, dtype = initial.pop(name, parameter.default), np.dtype(parameter.dtype)
        plain = type(value) is float and dtype == np.float64
        world[name] = np.float64(value) if plain else scalar(value, dtype, name)
    if initial:
        names = ", ".join([*declared.properties, *declared.edge_properties, *declared.parameters])
        raise TypeError(f"{declared.name} has no property or parameter {next(iter(initial))!r}; it has {names}")
    world.update(dict.fromkeys(declared.aggregators, np.float64(0)))
    return world


def sources_of(active: Any, graph: Graph) -> Any:
    """Active vertices as an array of distinct indices: on the graph's device, or in NumPy if there is only one."""
    n, ids = graph.n_vertices, graph.id_dtype
    single = None
    if type(active) is id:
        single = active.index
    elif type(active) is list and len(active) == 1 and graph._names is None:
        single = active[0]
    if type(single) is int and 0 <= single < n:
        return np.array([single], ids)
    xp = kernels(graph.device).xp
    if active is None:
        return xp.arange(n, dtype=ids)
    if isinstance(active, Bitmask):
        return active.to(graph.device).to_indices().astype(ids)
    flags = flags_of(active, n, "active", "vertices", graph.device)
    if flags is not None:
        return flags.nonzero()[0].astype(ids)
    listed = graph.indices_of(active, "active")
    listed = np.unique(listed) if isinstance(listed, np.ndarray) else xp.unique(listed)
    return to_device(listed, graph.device).astype(ids)


def begin_where(
    backend: Backend, code: ProgramCode, own: tuple[Any, ...], world: tuple[Any, ...], state: tuple[Any, ...],
    beginnings: tuple[Beginning | None, ...], active: Any, graph: Graph,
) -> Any:  # fmt: skip
    """Fill `state`, and return the active vertices: `active`, else those of `starts`, which reads `own`, else all."""
    device = device_of(*state)
    sources = sources_of(active, graph)
    if active is None and code.starts is not None:
        begin(state, beginnings, to_device(sources[:0], device))
        sources = to_device(backend.starting(code, own, world).to_indices(), device).astype(sources.dtype)
    sources = to_device(sources, device)
    begin(state, beginnings, sources)
    return sources
