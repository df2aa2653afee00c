"""Programs on graphs in shards that run all supersteps in one persistent kernel on each GPU.

It reads properties of its own vertices, and exchanges bits of active vertices, and messages; see `unserved`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from hpgraph.containers.divided_graph import DividedGraph
from hpgraph.containers.shards import Shard
from hpgraph.core.device import array_module, cupy, fits
from hpgraph.core.devices import Devices, reach_each_other
from hpgraph.core.errors import BudgetError, readable
from hpgraph.engine.declarations import Declarations
from hpgraph.engine.state import Run
from hpgraph.engine.values import type_of
from hpgraph.formats import CSR
from hpgraph.kernels.backend import kernels, teams
from hpgraph.kernels.runtime.cuda.multi_gpu_barrier import DividedRecord, Parts
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.kernels.runtime.search import Search
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.sweep import Swept
from hpgraph.placement.on_devices import InShards, copies, gather_states
from hpgraph.semiring.reads import reads_properties

# Mean degree up to which frontiers are expected to be small, as on road networks, before the first search; and expected
# supersteps of a search otherwise.
MAX_SPARSE_DEGREE, MIN_SUPERSTEPS = 8, 7
# Measured on two H200, NVLink: arcs of a superstep a second on one device, in a traversal (a pull visits few of them)
# and in a relaxation; additional seconds a superstep on several devices, and a call (60 µs on the host, 10 between the
# first and the last launch, and the first barrier); and bytes of results a second copied from another device.
ARCS_A_SECOND = {True: 8e11, False: 8e10}
BARRIER, CALL, LINK = 1e-5, 1.2e-4, 3.9e11
# Share of a large superstep that devices wait for each other (35 of the 390 µs of kron24's pulls).
WAITING = 0.09
# For sweeps: arcs a second on one device with gathers from its caches, and additional seconds a superstep for launches,
# events and sums (PageRank of road4096 and kron24).
SWEPT_A_SECOND, LAUNCHES = 2.5e11, 1.6e-4
# For components: vertices a second on one device, and additional seconds a call.
VERTICES_A_SECOND, COMPONENTS = 1.4e10, 1.5e-4


def unserved(run: Run, code: ProgramCode, *, from_source: bool) -> str | None:
    """Why concurrent kernels cannot run a program; None if they can."""
    arcs: Any = run.arcs
    graph = arcs.graph
    why = apart(graph)
    if why is not None:
        return why
    if not techniques.multi_gpu:
        # A single device runs the program, if the graph fits there.
        return None
    if graph.order is not None and any(begin is not None and begin.start == "id" for begin in run.beginnings):
        return "a property begins with ids, but shards have numbers of their own"
    return _reads_too_much(code, from_source)


@lru_cache(maxsize=256)
def _reads_too_much(code: ProgramCode, from_source: bool) -> str | None:
    """The attribute, if any, that a program reads and kernels of a part cannot provide."""
    if code.cond is not None and any(reads_properties(code.cond)):
        return "cond reads a property, which only the vertex's own device knows"
    for name, function in (("gather", code.gather), ("edge_cond", code.edge_cond)):
        if function is None:
            continue
        source, *_, target = reads_properties(function)
        if target:
            return f"{name} reads a property of the target, which only the target's device knows"
        if source and not from_source:
            return f"{name} reads a property of the source, which only the source's device knows"
    return None


def apart(graph: DividedGraph) -> str | None:
    """Why kernels cannot run concurrently on a graph's devices; None if they can."""
    if graph.device != "cuda":
        return "the arcs come in several parts"
    return graph.once("apart", lambda: _apart(graph))


def _apart(graph: DividedGraph) -> str | None:
    max_devices = teams(graph.device).MAX_PARTS
    if len(graph.shards) > max_devices:
        return f"there are more than {max_devices} shards"
    if not reach_each_other(Devices("cuda", tuple(sorted(set(_indices(graph.shards)))))):
        return "the devices have no access to each other's memory"
    return None


def _indices(shards: tuple[Shard, ...]) -> list[int]:
    current = cupy.cuda.runtime.getDevice()
    return [shard.device.indices[0] if shard.device.indices else current for shard in shards]


def parts_of(arcs: InShards) -> Parts:
    """The shards in the form of the concurrent kernels' arguments; cached for each direction of arcs."""
    parts = _parts(arcs.graph, arcs.side, arcs.leaving, arcs.gathering)
    supersteps_of(arcs).parts = parts
    return parts


def _parts(graph: DividedGraph, side: str, leaving: Callable[[Shard], CSR], gathering: Callable[[Shard], CSR]) -> Parts:
    def build() -> Parts:
        team, rows = teams(graph.device), []
        for shard, index in zip(graph.shards, _indices(graph.shards), strict=True):
            with shard.device.here:
                rows.append(team.Rows(index, shard.first, shard.last, leaving(shard), gathering(shard)))
        return team.Parts(rows)

    return graph.once(f"parts that meet, {side}", build)


def divides_components(graph: DividedGraph) -> bool:
    """Whether components are expected to take less time on several devices than on one."""
    parts, n = len(graph.shards), graph.n_vertices
    if graph.place is not None or graph.n_edges < MAX_SPARSE_DEGREE * parts * n:
        # Results would have to be renumbered; or no shard holds a large tree.
        return False
    return n * (1 - 1 / parts) / VERTICES_A_SECOND > COMPONENTS


def components(graph: DividedGraph) -> tuple[int, Any]:
    """Number of weakly connected components, and the component of each vertex; only if `apart` returns None."""
    parts = _parts(graph, "weak components", lambda shard: shard.out_csr, lambda shard: shard.in_csr)
    with graph.shards[0].device.here:
        count, label = teams(graph.device).components(parts, not graph.directed)
        if graph.place is None:
            return count, label
        # Labels are still in the shards' vertex numbering.
        label, xp = graph.in_own_order(label), array_module(label)
        smallest = xp.full(count, len(label), np.int64)
        kernels("cuda").minimum_at(smallest, label, xp.arange(len(label)))
        number = xp.empty(count, label.dtype)
        number[xp.argsort(smallest)] = xp.arange(count, dtype=label.dtype)
        return count, number[label]


class SuperstepHistory:
    """Arcs a superstep of the searches on a graph so far, and seconds an arc on one device, by kind of search."""

    def __init__(self, arcs: int, degree: Callable[[], float]) -> None:
        self._arcs, self._degree = arcs, degree
        self._rows: dict[bool, Callable[[], np.ndarray]] = {}
        self._alone, self._seconds = 0, {True: 0.0, False: 0.0}
        self.parts: Parts | None = None

    def note(self, rows: Callable[[], np.ndarray] | np.ndarray, traverses: bool) -> None:
        """Keep the trace of the first search on one device that reaches half of the arcs; `seen` reads it."""
        if not self._seconds[traverses]:
            self._rows[traverses] = rows if callable(rows) else lambda: rows

    def seen(self, traverses: bool) -> tuple[int, float]:
        """Arcs a superstep of the last search on several devices, else one, and seconds an arc of one; 0 if unknown."""
        rows = self._rows.pop(traverses, None)
        if rows is not None:
            table = rows()
            # Arcs of the active vertices: a pull visits fewer, how many depends on the graph.
            arcs = table[:, 1].sum() * self._degree()
            if 2 * arcs >= self._arcs:
                self._alone = max(int(arcs / len(table)), 1)
                self._seconds[traverses] = max(float(table[:, 3].sum()), 1.0) / arcs / 1e9
        together = 0 if self.parts is None else self.parts.arcs_a_superstep
        return together or self._alone, self._seconds[traverses]


def supersteps_of(arcs: InShards) -> SuperstepHistory:
    """The history of the searches along these arcs."""
    graph = arcs.graph

    def degree() -> float:
        have_arcs = 0
        for shard in graph.shards:
            with shard.device.here:
                have_arcs += shard.last - shard.first - empty_rows(shard.out_csr).count()
        return graph.n_edges / max(have_arcs, 1)

    return graph.once(f"supersteps, {arcs.side}", lambda: SuperstepHistory(graph.n_edges, degree))


def is_worth_it(arcs: InShards, traverses: bool, size: int, stay_apart: bool = False) -> bool:
    """Whether a search is expected to take less time on several devices, with its barriers and copies of results."""
    graph = arcs.graph
    seen, seconds = supersteps_of(arcs).seen(traverses)
    if not seen:
        seen = graph.n_edges // MIN_SUPERSTEPS if graph.n_edges > MAX_SPARSE_DEGREE * graph.n_vertices else 0
    # A traversal visits about every arc once.
    supersteps = graph.n_edges / max(seen, 1)
    elsewhere = 1 - 1 / len(graph.shards)
    saved = seen * elsewhere * (1 - WAITING) * (seconds or 1 / ARCS_A_SECOND[traverses])
    travelling = elsewhere * graph.n_vertices * size / LINK
    once = CALL - travelling if stay_apart else CALL + travelling
    return bool(saved > BARRIER + once / max(supersteps, 1))


def sweeps_are_worth_it(arcs: InShards) -> bool:
    """Whether a sweep over all arcs is expected to take less time on several devices than on one."""
    graph = arcs.graph
    return bool(graph.n_edges * (1 - 1 / len(graph.shards)) / SWEPT_A_SECOND > LAUNCHES)


def traverse(run: Run, code: ProgramCode) -> Callable[[], np.ndarray]:
    """Run a program whose first message wins; returns a function that fetches the trace rows."""
    traverse_divided = teams(run.device).traverse_divided
    record: DividedRecord = _in_order_of_shards(
        run, code, lambda search, parts: traverse_divided(search, parts, apart=run.apart), brings=not run.apart
    )
    if run.apart:
        run.pieces = tuple(map(run.arcs.graph.in_pieces, zip(*record.pieces, strict=True)))
    return record


def relax(run: Run, code: ProgramCode) -> tuple[Callable[[], np.ndarray], Any]:
    """Run a relaxation; returns a function that fetches the trace, and the vertices still active."""
    rows, active = _in_order_of_shards(run, code, teams(run.device).relax_divided)
    order = run.arcs.graph.order
    return rows, active if order is None else array_module(active).sort(order[active])


def _in_order_of_shards(run: Run, code: ProgramCode, go: Callable[[Search, Parts], Any], brings: bool = True) -> Any:
    """Run on properties and sources in the shards' vertex numbering, and convert the results back."""
    graph, search = run.arcs.graph, run.search(code)
    with graph.shards[0].device.here:
        if graph.place is None:
            return go(search, parts_of(run.arcs))
        own = tuple(
            graph.in_order_of_shards(values) if begin is None else array_module(values).empty_like(values)
            for values, begin in zip(run.state, run.beginnings, strict=True)
        )
        sources = graph.place[array_module(graph.place).asarray(run.sources)]
        outcome = go(search._replace(state=own, sources=sources), parts_of(run.arcs))
        if brings:
            for values, computed in zip(run.state, own, strict=True):
                values[...] = graph.in_own_order(computed)
        return outcome


def sweep(run: Run) -> Swept | str:
    """Run supersteps over all vertices, on initialized properties on the first device, or return why it cannot."""
    team = teams(run.device)
    if team is None:
        return "the arcs lie in several parts"
    arcs, graph = run.arcs, run.arcs.graph
    state = tuple(graph.in_order_of_shards(values) for values in run.state)
    states = [copies(state, shard.device, number) for number, shard in enumerate(graph.shards)]
    shards = [(shard.device, shard.first, arcs.gathering(shard)) for shard in graph.shards]
    stop = run.declared.functions["converged"]
    swept: Swept | str = team.divided_sweeps(run.code, shards, states, tuple(run.world.values()), stop, run.limit)
    if not isinstance(swept, str):
        gather_states(run, graph, states)
    return swept


def check_fit(graph: DividedGraph, declared: Declarations, initial: dict[str, Any]) -> None:
    """Raise BudgetError, before anything is allocated, where a device has too little memory for its share of a run."""
    each, all_active = bytes_of_vertex(declared, initial), declared.activity == "all"
    # A run that fitted once is assumed to fit again: a query of the driver takes longer than a search's kernels.
    fitted: set[tuple[int, bool]] = graph.once("runs that fit", set)
    if (each, all_active) in fitted:
        return
    n = graph.n_vertices
    arcs = max(shard.in_csr.nnz for shard in graph.shards)
    of_arc = graph.id_dtype.itemsize + (graph.dtype.itemsize if graph.weighted and graph.dtype is not None else 0)
    # Offsets of all rows; if a superstep may push, also the arcs by source.
    extra = 8 * (n + 1) + (0 if all_active else arcs * of_arc + 8 * (n + 1)) + n * each
    required = max(shard.nbytes for shard in graph.shards) + extra
    for shard in graph.shards:
        with shard.device.here:
            if required > graph.memory if graph.memory is not None else not fits(extra, shard.device.kind):
                available = "the free memory of" if graph.memory is None else f"the {readable(graph.memory)} of"
                raise BudgetError(
                    f"{declared.name} takes {readable(required)} a device, more than {available} {shard.device}: "
                    f"divide the graph between more devices, give memory={required}, or open it in pages: "
                    'hpgraph.open("graph.hpg", device=..., memory=...)'
                )
    fitted.add((each, all_active))


def bytes_of_vertex(declared: Declarations, initial: dict[str, Any]) -> int:
    """Bytes that a vertex takes in the general loop: properties, a message, and the lists and bits of work spaces."""
    properties, largest = 0, 0
    for name, prop in declared.properties.items():
        nbytes = type_of(prop.dtype, initial.get(name, prop.initial), name).itemsize * (prop.length or 1)
        properties, largest = properties + nbytes, max(largest, nbytes)
    # A message, and the values that it is computed beside; three lists of ids; sets as bits and bytes.
    return properties + 2 * largest + 3 * 8 + 2
