"""Running a vertex program on a graph whose blocks are on a cluster."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from hpgraph.cluster.errors import CheckpointError
from hpgraph.cluster.job import Job, Share, key_of, sent
from hpgraph.cluster.placement import Placement
from hpgraph.cluster.programs import OfDegrees
from hpgraph.cluster.result import ClusterResult, collect
from hpgraph.cluster.supervise import Supervisor, turns
from hpgraph.core.config import config
from hpgraph.core.locks import Lock
from hpgraph.core.number import real, whole
from hpgraph.core.placements import not_served
from hpgraph.engine.declarations import Declarations, EdgeDeclarations
from hpgraph.engine.direction import Direction
from hpgraph.engine.forms import check_order, form_of
from hpgraph.engine.state import initial_state, parameters


@dataclass(frozen=True)
class Options:
    """Options of a run, as for `Graph.run`; ``call``: the function called; ``saved``: the checkpoint to resume."""

    gather: bool = True
    checkpoint: Any = None
    every: float = 60.0
    restarts: int = 8
    threads: int | None = None
    call: dict[str, Any] | None = None
    saved: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.checkpoint is not None:
            real(self.every, "every", least=0)
        whole(self.restarts, "restarts", least=0)

    def to(self, **changed: Any) -> "Options":
        """A copy with some options replaced."""
        return replace(self, **changed)

    @contextmanager
    def given(self) -> Iterator[None]:
        """Context manager: the options of the runs within."""
        token = _given.set(self)
        try:
            yield
        finally:
            _given.reset(token)


_given: ContextVar[Options] = ContextVar("hpgraph_cluster_options", default=Options())  # noqa: B039
_OPTIONS = {one.name for one in fields(Options)}


def options_of(arguments: dict[str, Any]) -> Options:
    """The options among arguments, which are removed from these."""
    return Options(**{name: arguments.pop(name) for name in _OPTIONS & arguments.keys()})


def _next_options() -> Options:
    """The options of a run: a checkpoint belongs to the first of a function's runs."""
    options = _given.get()
    if options.checkpoint is not None or options.saved is not None:
        _given.set(options.to(checkpoint=None, saved=None, call=None))
    return options


def run_declared(
    graph: Placement, declared: Declarations, sources: Any, policy: Direction, limit: int, delta: float | None,
    ceiling: float | None, gather: bool, initial: dict[str, Any],
) -> ClusterResult:  # fmt: skip
    """Run a program from one start, superstep by superstep, on all workers; uses up `initial`."""
    options = _next_options()
    options = options.to(gather=gather and options.gather)
    saved = options.saved
    if isinstance(declared, EdgeDeclarations):
        raise not_served("on a cluster", "properties of edges are wanted")
    if declared.edges == "all" and graph.directed:
        raise ValueError(
            f'{declared.name}.edges is "all", and the graph is directed: load it with directed=False, or G.undirected'
        )
    if saved is not None and (key_of(declared) != saved["key"] or len(saved["dtypes"]) != len(declared.properties)):
        raise CheckpointError(
            f"{options.checkpoint} is of {saved['program']}, and {declared.name} is not the same program: resume with "
            "the program that was run, unchanged"
        )
    job, given = _job(graph, declared, initial, options, limit)
    code = declared.code(job.dtypes)
    if code.is_shaped:
        raise not_served("on a cluster", f"{declared.name} has tuples at vertices or as messages")
    if delta is not None or ceiling is not None:
        check_order(form_of(declared, code), delta, ceiling)
    job = replace(job, starts=sources is None and code.starts is not None, policy=policy, delta=delta, ceiling=ceiling)
    return _supervised(graph, job, _shares(graph, given, sources), options)


def _job(
    graph: Placement, declared: Declarations, arguments: dict[str, Any], options: Options, limit: int
) -> tuple[Job, dict[str, np.ndarray]]:
    """The job of a program, and the properties that are given as arrays."""
    given: dict[str, np.ndarray] = {}
    made = {name: value.make for name, value in arguments.items() if isinstance(value, OfDegrees)}
    # Initially zeros.
    arguments.update({name: make(np.ones(1, np.int64)).dtype.type(0) for name, make in made.items()})
    if (saved := options.saved) is None:
        arguments.update({k: np.asarray(value) for k, value in arguments.items() if hasattr(value, "dask")})
        state, beginnings = initial_state(declared, graph, arguments)
        world = parameters(declared, arguments)
        dtypes = tuple(values.dtype for values in state.values())
        given = {name: values for (name, values), one in zip(state.items(), beginnings, strict=True) if one is None}
    else:
        # The checkpoint has the initial state.
        world, limit = {}, saved["limit"]
        dtypes = tuple(np.dtype(text) for text in saved["dtypes"])
        beginnings = (None,) * len(dtypes)
    checkpoint = options.checkpoint
    details = {
        "program": declared.name, "run": uuid.uuid4().hex, "call": options.call,
        "source": None if checkpoint is None else graph.source.table(graph.key),
        "graph": graph.facts(), "limit": limit, "dtypes": [dtype.str for dtype in dtypes],
    }  # fmt: skip
    if saved is not None:
        details.update(run=saved["run"], call=saved["call"])
    job = _blank(
        graph, options, limit, program=sent(declared.program), key=key_of(declared), dtypes=dtypes, world=world,
        beginnings=tuple(None if one is None else (one.fill, one.start) for one in beginnings),
        backwards=declared.edges == "out", checkpoint=None if checkpoint is None else str(checkpoint),
        every=float(options.every), details=details, of_degrees=made,
    )  # fmt: skip
    return job, given


def _blank(graph: Placement, options: Options, limit: int, **more: Any) -> Job:
    topic = f"hpgraph-{uuid.uuid4().hex}" if config.show_progress() else None
    return Job(
        graph=graph.key, limits=graph.limits, arcs=graph.n_edges, threads=options.threads, topic=topic, limit=limit,
        **more,
    )  # fmt: skip


def count_triangles(graph: Placement) -> ClusterResult:
    """Count the triangles at each vertex of an undirected graph, as the property ``count``."""
    made = _next_options()
    job = _blank(graph, made, graph.grid.columns, kind="triangles", details={"program": "triangles"})
    return _supervised(graph, job, [Share({}, None)] * graph.grid.blocks, made)


def _supervised(graph: Placement, job: Job, shares: list[Share], options: Options) -> ClusterResult:
    supervisor = Supervisor(graph, job, shares, options.restarts)
    with turns.setdefault(graph.client, Lock()):
        futures, results = supervisor.run(None if options.saved is None else options.saved["place"], options.gather)
    return collect(graph, futures, results, supervisor.lost, options.gather)


def _shares(graph: Placement, given: dict[str, np.ndarray], active: np.ndarray | None) -> list[Share]:
    """The initial data of each block, from arrays by vertex."""
    grid = graph.grid
    # If vertices keep their order, ranges are slices.
    of_vertex = None if grid.order.factor == 1 else grid.order.vertices(np.arange(grid.n))
    at = None if active is None else np.sort(grid.order.positions(active))
    shares = []
    for block in range(grid.blocks):
        begin, end = grid.bounds[block], grid.bounds[block + 1]
        own = slice(begin, end) if of_vertex is None else of_vertex[begin:end]
        positions = None
        if at is not None:
            low, high = np.searchsorted(at, [begin, end])
            positions = (at[low:high] - begin).astype(np.uint32)
        shares.append(Share({name: np.ascontiguousarray(values[own]) for name, values in given.items()}, positions))
    return shares
