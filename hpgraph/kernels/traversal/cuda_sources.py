"""Multi-source traversal on the GPU: work space for the persistent kernels, and their launch.

Properties are arrays of shape (n, k) in Fortran order, so that each source has the arrays of a separate run, and
results need no transposition.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, attached
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.fetching import after
from hpgraph.kernels.runtime.cuda.kernel_set import Kernels, KernelSet, multiprocessors
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.cuda.structs import Layout, StructLayout
from hpgraph.kernels.runtime.program import Beginning, ProgramCode
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.structure.empty_rows import empty_rows
from hpgraph.kernels.traversal import JointOutcome, SourceTotals, Totals
from hpgraph.kernels.traversal.cuda_bands import Bands, bands
from hpgraph.kernels.traversal.cuda_parents import begin_parents as begin_parents
from hpgraph.kernels.traversal.cuda_parents import parents_of_levels as parents_of_levels
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.reads import reads, unread

# Sources of one launch: 16 bytes of bits a vertex, which a thread loads at once.
MAX_SOURCES = MAX_SURVEYED = 128
# As PARTING in separate_searches.cuh: no search continues separately in so few supersteps, and the kernel without that
# compiles in five eighths of the time.
SHORT = 64
# Threads of a block. Pulls need loads in flight; below a mean degree of MANY_ARCS there are hardly any pulls, and list
# entries need registers.
MANY_ARCS, THREADS_OF_MANY_ARCS = 8, 1024
# Vertices that a dense superstep scans in the time of one arc of a sparse one.
_SWEPT = 4
# As in source_direction.cuh.
LENGTHS = 32
# Room for senders of a separate search.
SENDERS = 16384
# Cost of an arc of a push, in arcs that a pull examines: it also sets bits. Measured on an H200 with bits that fit the
# second-level cache (16.7 and 11.3 ps), and beyond it (58 and 16 to 21).
PUSHED, PUSHED_FAR = 1.5, 3.0
PUSH_SECONDS, PUSH_SECONDS_FAR = 1.67e-11, 5.8e-11
# As in source_words.cuh and source_history.cuh.
HISTORIES = 4
_KINDS = "<{Element}, {Aligned}, {Words}>"
HISTORY = KernelSet("source_history.cuh", "levels of many sources", {_KINDS: "write_history"})

_SUMS = dict.fromkeys(("count", "arcs", "pairs", "looked"), "u64")
_TAILS = dict.fromkeys(("light", "pieces", "put_off"), "u64")
_TALLY = Layout("MultiSourceTally", **_SUMS, live=("u64", 2), **_TAILS)
_APART = Layout("SeparateSearch", arcs="u64", count="u64", parked="i64")
HEADER = Layout(
    "MultiSourceHeader", barrier="unsigned", tally=(_TALLY, 3), histories="i64", searches=(_APART, MAX_SOURCES),
    step="i64", left="u64",
).of()  # fmt: skip
POLICY = Layout(
    "MultiSourcePolicy", alpha="i64", beta="i64", forced="int", limit="i64", arcs="i64", rows="i64", few="i64",
    pushed="double", looks=("double", LENGTHS), waits="int",
).of()  # fmt: skip
STARTS = Layout("SourceStarts<{Index}>", vertices="*", sources="*", count="i64", k="i64")
_ENTRY = Layout("Entry<{Index}>", bits="u64", start="i64", vertex="Index", degree="unsigned")
_ENTRIES = Layout("EntryList<{Index}>", list="*", room="i64")
_BANDS = Layout("Bands", ends="*", count="i64")
SPACE = Layout(
    "MultiSourceSpace<{Index}>", header="*", reached="*", front=("*", 2), entries=(_ENTRIES, 2),
    queue=persistent.FRONTIER, history="*", parked="*", bands=_BANDS, trace=persistent.TRACE, pairs="*",
)  # fmt: skip
SURVEY = Layout("TotalsSpace", of_level=("*", 2), reached="*", total="*", farthest="*", inverse="*").of()


def layouts(ids: np.dtype) -> tuple[StructLayout, ...]:
    """The struct layouts of a launch."""
    return HEADER, POLICY, STARTS.of(Index=ids), SPACE.of(Index=ids), _ENTRY.of(Index=ids)


def threads_for(out: CSR) -> int:
    """Threads of a block for searches of a graph."""
    return THREADS_OF_MANY_ARCS if out.nnz >= MANY_ARCS * out.shape[0] else persistent.THREADS


def work_space(n: int, sources: int, ids: np.dtype) -> int:
    """Bytes of work space, without the properties; see `hpgraph.kernels.traversal`."""
    bits = 8 * n * words_of(sources)
    entries = 2 * (n // _SWEPT) * _ENTRY.of(Index=ids).size
    return (3 + HISTORIES) * bits + entries + n * ids.itemsize


def differ_by_arc(code: ProgramCode) -> bool:
    """Whether messages to a vertex in one superstep may differ by sender or arc."""
    return code.edge_cond is not None or not {*code.gather.__code__.co_varnames[:2]} <= unread(code.gather)


def may_wait(code: ProgramCode, beginnings: tuple[Beginning | None, ...]) -> bool:
    """Whether messages and updates of a superstep are equal: one stands for all, and they may come at the end."""
    if differ_by_arc(code) or code.cond is not None or None in beginnings:
        return False
    if code.gather.__code__.co_varnames[2] not in unread(code.gather):
        return False
    if code.update is None:
        return True
    vertex = reads(code.update)[code.update.__code__.co_varnames[0]]
    return vertex is not None and "id" not in vertex


@attached
def _with_in_arcs(in_: CSR) -> int:
    """Number of vertices with in-arcs; waits for the device, once a graph."""
    return in_.shape[0] - empty_rows(in_).count()


@attached
def _mean_scans(in_: CSR) -> tuple[np.float64, ...]:
    """Mean number of in-neighbours examined if each row ends after 2^i, over non-empty rows; waits once a graph."""
    sums = cupy.stack([cupy.minimum(in_.degrees, 1 << i).sum() for i in range(LENGTHS)]).get()
    return tuple(np.float64(total / max(_with_in_arcs(in_), 1)) for total in sums)


class Work:
    """Work space of one launch, cleared as needed, and the arguments that describe it.

    ``waits``: messages are delivered at the end; ``beyond``: further bytes, cleared; ``fronts``: addresses of the
    frontiers' bits, if not in CuPy's pool.
    """

    def __init__(self, search: Search, waits: bool, beyond: int = 0, fronts: tuple[int, int] | None = None) -> None:
        out, in_, starts = search.out, search.in_, search.sources
        n, ids, count = out.shape[0], out.indices.dtype, len(starts.vertices)
        self.words, self._few = words_of(starts.k), n // _SWEPT
        room, bits = max(self._few, count, min(n, SENDERS) * starts.k), 8 * n * self.words
        entries = room * _ENTRY.of(Index=ids).size
        pieces = max(persistent.heavy_pieces(out), persistent.heavy_pieces(in_)) * 2 * ids.itemsize
        own_fronts = bits * (fronts is None)
        cleared = HEADER.size, beyond, bits
        rest = (
            own_fronts, own_fronts, entries, entries, n * ids.itemsize, pieces, HISTORIES * bits * waits, bits,
        )  # fmt: skip
        ends = [0]
        for size in (*cleared, *rest):
            ends.append(ends[-1] + -(-size // 256) * 256)
        self._memory = cupy.cuda.alloc(ends[-1])
        self._memory.memset_async(0, ends[len(cleared)])
        places = [self._memory.ptr + end for end in ends[:-1]]
        header, self.beyond, self.reached, *own, one, other, light, pieces_at, self._history, parked = places
        self._histories = header + HEADER.offset("histories")
        self.record = persistent.Record(n)
        self.pairs = cupy.empty(self.record.capacity, np.int64)
        self._bands = bands(in_) if len(out.indices) >= MANY_ARCS * n else Bands(1, None)
        self._shape = n, starts.k
        pushed = PUSHED if self._bands.number == 1 else PUSHED_FAR
        course = search.alpha, search.beta, search.forced, search.limit
        policy = _policy(n, len(out.indices), _with_in_arcs(in_), _mean_scans(in_), course, self._few, pushed, waits)
        space = SPACE.of(Index=ids)(
            header, self.reached, *(fronts or own), one, room, other, room, light, pieces_at, self._history,
            parked, self._bands.ends, self._bands.number, *self.record.fields, self.pairs,
        )  # fmt: skip
        pairs = STARTS.of(Index=ids)(starts.vertices, starts.source, count, starts.k)
        # The common last arguments of every kernel, from the number of vertices on.
        self.arguments = np.int64(n), persistent.arcs_struct(out), persistent.arcs_struct(in_), pairs, policy, space

    def history_kernels(self, state: Sequence[Any], samples: Sequence[Any]) -> list[Kernels]:
        """The kernels of `write_histories`; compiled beside the search's if asked for before it is launched."""
        found = []
        for values, _ in zip(state, samples, strict=False):
            aligned = self._shape[0] * values.itemsize % 16 == 0 and values.data.ptr % 16 == 0
            found.append(HISTORY.of(Element=np.dtype(f"u{values.itemsize}"), Aligned=aligned, Words=self.words))
        return found

    def write_histories(self, state: Sequence[Any], samples: Sequence[Any]) -> None:
        """Write properties from their histories; vertices that were not reached get the initial value."""
        n, k = self._shape
        for values, sample, kernels in zip(state, samples, self.history_kernels(state, samples), strict=False):
            given = np.int64(n), np.int64(k), self.reached, self._history, self._histories, sample, values
            kernels.launch("write_history", 8 * multiprocessors(), *given)

    @property
    def push_seconds(self) -> float:
        """Seconds for an arc of a push."""
        return PUSH_SECONDS if self._bands.number == 1 else PUSH_SECONDS_FAR

    def rows(self) -> np.ndarray:
        """The trace with its fifth column; waits for the kernel."""
        rows = self.record()
        return np.column_stack([rows, self.pairs[: len(rows)].get()])


@lru_cache(maxsize=256)
def _policy(
    n: int, arcs: int, rows: int, looks: tuple[np.float64, ...], course: tuple[float, float, int, int], few: int,
    pushed: float, waits: bool,
) -> bytes:  # fmt: skip
    alpha, beta, forced, limit = course
    # An infinite threshold becomes a very large one.
    bounds = [np.int64(min(share, 1 << 62)) for share in (alpha * arcs, np.ceil(beta * n))]
    return POLICY(*bounds, np.int32(forced), limit, arcs, rows, few, np.float64(pushed), *looks, np.int32(waits))


def _fill(values: Any, fill: Any) -> None:
    """Fill a contiguous array with one value, at the rate of memory where its bytes are equal, as those of 0 and -1."""
    pattern = np.asarray(fill, values.dtype).tobytes()
    if len(set(pattern)) == 1:
        values.data.memset_async(pattern[0], values.nbytes)
    else:
        values.fill(fill)


def traverse_sources(search: Search) -> JointOutcome:
    """Run a program whose first message wins, from many starts; see `hpgraph.kernels.traversal`."""
    launches = [
        _traverse(search._replace(state=tuple(values[:, part] for values in search.state), sources=batch))
        for part, batch in _launches(search.sources)
    ]
    # No search has more supersteps than vertices; only a lower limit requires the count, which waits.
    unfinished = search.limit < search.out.shape[0] and any(work.record.counts()[1] > 0 for work in launches)
    return JointOutcome(_rows_of(launches), unfinished)


def _launches(starts: Starts) -> list[tuple[slice, Starts]]:
    """The sources of each launch; if there are several, the host waits for the device."""
    most = MAX_SOURCES if techniques.joint_frontier else 1
    if starts.k <= most:
        return [(slice(0, starts.k), starts)]
    firsts = list(range(0, starts.k, most))
    ends = [*np.searchsorted(starts.source.get(), firsts), len(starts.source)]
    found = []
    for first, (begin, end) in zip(firsts, itertools.pairwise(ends), strict=True):
        last = min(first + most, starts.k)
        batch = Starts(starts.vertices[begin:end], starts.source[begin:end] - np.int32(first), last - first)
        found.append((slice(first, last), batch))
    return found


def _rows_of(launches: list[Work]) -> Callable[[], np.ndarray]:
    """A callable that fetches the trace, summed over the launches by superstep."""
    if len(launches) == 1:
        return launches[0].rows

    def rows() -> np.ndarray:
        tables = [work.rows() for work in launches]
        longest = max(tables, key=len)
        summed = np.zeros_like(longest)
        for table in tables:
            summed[: len(table)] += table
        summed[:, 0] = longest[:, 0]
        return summed

    return rows


def kernel_of_searches(code: ProgramCode, out: CSR, sources: int, limit: int) -> Callable[..., None]:
    """The kernel of a launch for these sources and limit; it is compiled in a thread until it is launched."""
    ids, words = out.indices.dtype, words_of(sources)
    return persistent.kernel(
        cuda_program(code, persistent.weight_dtype(out)), "multi_source.cuh", "traverse_sources",
        f"{words}, {'true' if differ_by_arc(code) else 'false'}, {chosen(limit)}", ids, out.data is None,
        cupy.cuda.runtime.getDevice(), threads_for(out), layouts(ids),
    )  # fmt: skip


def words_of(sources: int) -> int:
    """Words of bits a vertex."""
    return 1 if sources <= 64 else 2


def _traverse(search: Search) -> Work:
    """One launch."""
    code, out, world, beginnings = search.code, search.out, search.world, search.beginnings
    launch = kernel_of_searches(code, out, search.sources.k, search.limit)
    program = cuda_program(code, persistent.weight_dtype(out))
    if not all(values.flags.f_contiguous for values in search.state):
        raise ValueError("properties of many sources must be in Fortran order: source after source")
    waits, flat = may_wait(code, beginnings), tuple(values.T.reshape(-1) for values in search.state)
    samples = samples_of(flat, beginnings) if waits else ()
    for values, beginning in zip(flat, beginnings, strict=True):
        if beginning is not None and not waits:
            _fill(values, beginning.fill)
    work = Work(search, waits)
    given = program.struct(flat, world, beginnings), program.struct(samples or flat, world, beginnings)
    work.history_kernels(flat, samples)
    launch((*given, *work.arguments))
    work.write_histories(flat, samples)
    return work


def samples_of(state: tuple[Any, ...], beginnings: tuple[Beginning | None, ...]) -> tuple[Any, ...]:
    """Small properties that receive one message of each superstep for all; see `Messages::sample`."""
    return tuple(
        cupy.full(HISTORIES + 1, beginning.fill, values.dtype)
        for values, beginning in zip(state, beginnings, strict=True)
        if beginning is not None
    )


def chosen(limit: int = SHORT + 1) -> str:
    """Template arguments: the chosen techniques, with early exit of many sources, and whether searches may split."""
    parts = ", false" if limit <= SHORT else ""
    return persistent.techniques_type(leaves_early=techniques.early_termination) + parts


@lru_cache(maxsize=64)
def _survey_kernel(ids: np.dtype, words: int, chosen: str, device: int, threads: int) -> Callable[..., None]:
    name = f"hpgraph::multi_source_totals<{c_type(ids)}, {words}, {chosen}>"
    module = load(
        "multi_source.cuh", prologue=f"#define HPGRAPH_THREADS {threads}\n", names=(name,), cooperative=True,
        title="searches from many sources", checks=persistent.checks(*layouts(ids), SURVEY),
    )  # fmt: skip
    return partial(module.function(name), (multiprocessors(),), (threads,))


@attached
def _deep(out: CSR) -> list[bool]:
    """Whether searches have exceeded `SHORT` supersteps: empty as long as none has."""
    return []


def survey_sources(search: Search) -> Totals:
    """Breadth-first search from every source that keeps totals only; see `hpgraph.kernels.traversal`.

    The first searches of a graph run `SHORT` supersteps, and restart with their own limit if that does not suffice.
    """
    deep = _deep(search.out)
    if deep or search.limit <= SHORT:
        return _survey(search)[0]
    short = [_survey(search._replace(limit=SHORT))]

    @cache
    def whole() -> Totals:
        totals, unfinished = short.pop()
        if not unfinished():
            return totals
        # Their work space is given back: another group's may be in use beside that of the longer searches.
        del totals, unfinished
        deep.append(True)
        return _survey(search)[0]

    return Totals(lambda: whole().of_sources(), lambda: whole().rows())


def _survey(search: Search) -> tuple[Totals, Callable[[], bool]]:
    """A survey, and whether the limit ended it."""
    out, starts = search.out, search.sources
    sums = cupy.zeros((4, starts.k), np.int64)
    reached, total, farthest, inverse = sums[0], sums[1], sums[2], sums[3].view(np.float64)
    launches = []
    for part, batch in _launches(starts):
        device = cupy.cuda.runtime.getDevice()
        launch = _survey_kernel(out.indices.dtype, words_of(batch.k), chosen(search.limit), device, threads_for(out))
        work = Work(search._replace(sources=batch), False, 2 * 8 * MAX_SOURCES)
        launches.append(work)
        launch(
            (
                *work.arguments,
                SURVEY(
                    work.beyond, work.beyond + 8 * MAX_SOURCES, reached[part], total[part], farthest[part],
                    inverse[part],
                ),
            ),
        )  # fmt: skip
    over, rows = cupy.cuda.Event(disable_timing=True), _rows_of(launches)
    over.record()

    def of_sources() -> SourceTotals:
        values = after(over, sums.get)
        return SourceTotals(values[0], values[1], values[3].view(np.float64), values[2])

    def unfinished() -> bool:
        return after(over, lambda: any(work.record.counts()[1] > 0 for work in launches))

    return Totals(of_sources, lambda: after(over, rows)), unfinished
