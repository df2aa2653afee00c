"""Running a vertex program on a graph whose blocks lie on a cluster."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.cluster.job import Job, Share, key_of, sent
from hpgraph.cluster.result import ClusterResult, collect
from hpgraph.cluster.supervise import Supervisor
from hpgraph.core.config import config
from hpgraph.core.number import real, whole
from hpgraph.core.placements import not_served
from hpgraph.engine.declarations import declarations_of
from hpgraph.engine.definition import is_edge_program
from hpgraph.engine.direction import Direction
from hpgraph.engine.forms import check_order, form_of
from hpgraph.engine.multi_source import are_sources
from hpgraph.engine.phases import Phases
from hpgraph.engine.state import initial_state, limit_of, parameters, sources_of

if TYPE_CHECKING:
    from hpgraph.cluster.graph import Graph
    from hpgraph.engine.program import VertexProgram


def run(
    graph: Graph,
    program: VertexProgram | type[VertexProgram],
    *,
    active: Any = None,
    direction: str | Direction = "auto",
    max_iteration: int | None = None,
    gather: bool = True,
    checkpoint: Any = None,
    every: float = 60.0,
    restarts: int = 8,
    threads: int | None = None,
    prepare: str | None = None,
    delta: float | None = None,
    ceiling: float | None = None,
    call: dict[str, Any] | None = None,
    saved: dict[str, Any] | None = None,
    **initial: Any,
) -> ClusterResult:
    """Run a vertex program, superstep by superstep, on all workers.

    ``every``: seconds between checkpoints.
    """
    if isinstance(program, Phases) or is_edge_program(program):
        raise not_served(graph._placement, "phases and properties of edges are wanted")
    if active is not None and are_sources(active, graph):  # type: ignore[arg-type]
        raise not_served(graph._placement, "active is of several starts")
    declared = declarations_of(program)
    if declared.edges == "all" and graph.directed:
        raise ValueError(
            f'{declared.name}.edges is "all", and the graph is directed: load it with directed=False, or G.undirected'
        )
    policy = Direction.of(direction)
    if checkpoint is not None and real(every, "every") < 0:
        raise ValueError(f"every must not be negative, not {every!r}")
    restarts = _restarts(restarts)
    if saved is None:
        state, beginnings = initial_state(declared, graph, initial)  # type: ignore[arg-type]
        world = parameters(declared, initial)
        dtypes = tuple(values.dtype for values in state.values())
        limit = limit_of(declared.max_iteration if max_iteration is None else max_iteration)
    else:
        # The checkpoint has the initial state.
        state, world, limit = {}, {}, saved["limit"]
        dtypes = tuple(np.dtype(text) for text in saved["dtypes"])
        beginnings = (None,) * len(dtypes)
    code = declared.code(dtypes)
    if code.is_shaped:
        raise not_served(graph._placement, f"{declared.name} has tuples at vertices or as messages")
    if delta is not None or ceiling is not None:
        check_order(form_of(declared, code), delta, ceiling)
    details = {
        "program": declared.name, "run": uuid.uuid4().hex, "call": call,
        "source": None if checkpoint is None else graph.source.table(graph.key),
        "graph": graph.facts(), "limit": limit, "dtypes": [dtype.str for dtype in dtypes],
    }  # fmt: skip
    if saved is not None:
        details.update(run=saved["run"], call=saved["call"])
        if key_of(declared) != saved["key"]:
            raise ValueError(f"the checkpoint is of {saved['program']}, and {declared.name} is not the same program")
    job = Job(
        token=b"", graph=graph.key, program=sent(program), key=key_of(declared), dtypes=dtypes,
        beginnings=tuple(None if one is None else (one.fill, one.start) for one in beginnings), world=world,
        backwards=declared.edges == "out", starts=active is None and code.starts is not None, mode=policy.mode,
        alpha=policy.alpha, limit=limit, arcs=graph.n_edges, peers=[], limits=graph.limits,
        checkpoint=None if checkpoint is None else str(checkpoint), every=float(every), details=details,
        topic=f"hpgraph-{uuid.uuid4().hex}" if config.show_progress() else None, threads=threads,
        prepare=prepare, delta=delta, ceiling=ceiling,
    )  # fmt: skip
    given = {} if saved else {
        name: values for (name, values), one in zip(state.items(), beginnings, strict=True) if one is None
    }  # fmt: skip
    shares = _shares(graph, given, None if active is None else sources_of(active, graph))  # type: ignore[arg-type]
    supervisor = Supervisor(graph, job, shares, restarts)
    futures, results = supervisor.run(None if saved is None else saved["place"], gather)
    return collect(graph, futures, results, supervisor.lost, gather)


def count_triangles(
    graph: Graph, *, gather: bool = True, restarts: int = 8, threads: int | None = None
) -> ClusterResult:
    """Count the triangles at each vertex of an undirected graph; the property ``count`` has them."""
    job = Job(
        token=b"", graph=graph.key, program=b"", key="", dtypes=(), beginnings=(), world={}, backwards=False,
        starts=False, mode="auto", alpha=0.0, limit=graph.grid.columns, arcs=graph.n_edges, peers=[],
        limits=graph.limits, details={"program": "triangles"}, threads=threads, kind="triangles",
        topic=f"hpgraph-{uuid.uuid4().hex}" if config.show_progress() else None,
    )  # fmt: skip
    supervisor = Supervisor(graph, job, [Share({}, None)] * graph.grid.blocks, _restarts(restarts))
    futures, results = supervisor.run(None, gather)
    return collect(graph, futures, results, supervisor.lost, gather)


def _restarts(restarts: int) -> int:
    if whole(restarts, "restarts") < 0:
        raise ValueError(f"restarts must not be negative, not {restarts!r}")
    return restarts


def _shares(graph: Graph, given: dict[str, np.ndarray], active: np.ndarray | None) -> list[Share]:
    """The initial data of each block, from arrays by vertex."""
    grid = graph.grid
    # If vertices keep their order, ranges are slices.
    of_vertex = None if grid.order.factor == 1 else grid.order.vertices(np.arange(grid.n))
    at = None if active is None else np.sort(grid.order.positions(active))
    shares = []
    for block in range(grid.blocks):
        begin, end = grid.bounds[block], grid.bounds[block + 1]
        own = slice(begin, end) if of_vertex is None else of_vertex[begin:end]
        some = None
        if at is not None:
            low, high = np.searchsorted(at, [begin, end])
            some = (at[low:high] - begin).astype(np.uint32)
        shares.append(Share({name: np.ascontiguousarray(values[own]) for name, values in given.items()}, some))
    return shares
