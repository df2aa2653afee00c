"""Multi-source relaxation on the GPU: work space for the persistent kernel, and its launches."""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.kernels.runtime.cuda import persistent
from hpgraph.kernels.runtime.cuda.compile import load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.cuda.program import DeviceFunctions
from hpgraph.kernels.runtime.cuda.structs import Layout, struct
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.runtime.program import ProgramCode, begin_sources, bucket_bounds
from hpgraph.kernels.runtime.search import Search, Starts
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.semiring import get_monoid
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.function import Function

# Sources of one launch: the lanes of a warp.
MAX_SOURCES = 32
# As in warm_up.cuh.
MAX_STARTS = 32
# Mean degree above which blocks have more threads, with fewer registers each; and the threads.
DENSE, THREADS_OF_MANY_ARCS = 8, 1024
# Of buckets of 1/4, 1 and 4 times the width for a single search the narrow ones were fastest on a Kronecker, a social
# and a road network.
NARROWER = 4
ENDLESS = int(np.iinfo(np.int64).max)
SOURCE = "multi_source_relaxation.cuh"
PRIORITY = Layout("SourcePriority<{Value}>", on="int", adapts="int", delta="double", ceiling="Value")
SPACE = Layout(
    "RelaxSourcesSpace<{Index}>", header="*", words="*", waiting="*", origins="*", least="*", light="*", pieces="*",
    heavy="i64", far="*", far_kept="*", trace=persistent.TRACE,
)  # fmt: skip


class ValueProgram(DeviceFunctions):
    """The C++ struct ``Program`` of a kernel that keeps values in registers; weights of a pattern are int32 ones."""

    def __init__(self, code: ProgramCode, weight: np.dtype | None) -> None:
        self.code = code
        self.weight = np.dtype(np.int32 if weight is None else weight)

    def _list_functions(self) -> dict[str, tuple[Function, tuple[Any, ...], Any]]:
        # A relaxation has one property, so a vertex is its id and the value of one source.
        code, value, ids = self.code, self.code.message, np.dtype(np.int64)
        source, target, given = "Vertex(u, source)", "Vertex(v, target)", "u, source, weight, v, target"
        gather = code.wrap(
            "gather_value", given, f"return cast(gather({source}, weight, {target}))",
            gather=code.gather, cast=value.type,
        )  # fmt: skip
        asked = {}
        if code.cond is not None:
            asked["cond"] = f"cond({target})"
        if code.edge_cond is not None:
            asked["edge_cond"] = f"edge_cond({source}, weight, {target})"
        body = f"return bool({' and '.join(asked.values()) or True})"
        allows = code.wrap("allows_value", given, body, **{name: getattr(code, name) for name in asked})
        arc = ids, value, self.weight, ids, value
        return {
            "hpg_gather": (gather, arc, value),
            "hpg_reduce": (functions_of(code).reduce, (value, value), value),
            "hpg_allows": (allows, arc, np.dtype(np.bool_)),
        }

    @cached_property
    def prologue(self) -> str:
        """C++ text: the functions' declarations, and the struct ``Program``."""
        value, weight = c_type(self.code.message), c_type(self.weight)
        arc = f"long long u, {value} source, {weight} weight, long long v, {value} target"
        given, ids = "u, source, weight, v, target", "static __device__"
        least = str(self.code.reduce == get_monoid("min")).lower()
        return f"""
{self._code[0]}struct Program {{
    {value}* p0;
    typedef {value} Message;
    static constexpr bool MIN = {least};
    {ids} {value} gather({arc}) {{ return hpg_gather({given}); }}
    {ids} {value} reduce({value} a, {value} b) {{ return hpg_reduce(a, b); }}
    {ids} bool allows({arc}) {{ return hpg_allows({given}); }}
}};
"""


@lru_cache(maxsize=256)
def value_program(code: ProgramCode, weight: np.dtype | None) -> ValueProgram:
    """The C++ form of a program; cached."""
    return ValueProgram(code, weight)


def kernel_names(index: str, weight: str, chosen: str) -> dict[str, str]:
    """The kernels of a multi-source relaxation by their short names."""
    return {
        "relax": f"hpgraph::relax_sources<Program, {index}, {weight}, {chosen}>",
        "apart": f"hpgraph::start_apart<Program, {index}, {weight}>",
        "together": f"hpgraph::start_together<Program, {index}>",
        "turn": "hpgraph::transpose_values<Program>",
    }


@lru_cache(maxsize=64)
def _kernels(
    program: ValueProgram, ids: np.dtype, pattern: bool, chosen: str, device: int, threads: int
) -> dict[str, Any]:
    """The kernels for a program, on a device; cached."""
    weight = "hpgraph::Pattern" if pattern else c_type(program.weight)
    names = kernel_names("int" if ids == np.int32 else "long long", weight, chosen)
    layouts = PRIORITY.of(Value=program.code.message), SPACE.of(Index=ids)
    module = load(
        SOURCE, prologue=f"#define HPGRAPH_THREADS {threads}\n{program.prologue}", ltoir=program.ltoir,
        names=tuple(names.values()), cooperative=True, title=f"{program.code.name} from many sources",
        checks=persistent.checks(*layouts),
    )  # fmt: skip
    return {short: module.function(name) for short, name in names.items()}


def work_space(n: int, sources: int, ids: np.dtype, dtype: np.dtype) -> int:
    """Bytes of work space, without the property; see `hpgraph.kernels.relaxation.cpu_sources.work_space`."""
    # Words, and lists of near and far vertices.
    return n * (min(sources, MAX_SOURCES) * dtype.itemsize + 16 + 5 * ids.itemsize)


def relax_sources(search: Search) -> tuple[Callable[[], np.ndarray], Starts | None]:
    """Run a program that lowers one property in place, from every source; see `hpgraph.kernels.relaxation`."""
    starts = search.sources
    rows, records, left = search.state[0].T, [], []
    sources = starts.source.get()
    for first in range(0, starts.k, MAX_SOURCES):
        k = min(MAX_SOURCES, starts.k - first)
        begin, end = np.searchsorted(sources, (first, first + k)).tolist()
        own_starts = Starts(starts.vertices[begin:end], starts.source[begin:end] - np.int32(first), k)
        record, active = _relax(
            search._replace(sources=own_starts), rows[first : first + k], sources[begin:end] - first
        )
        records.append(record)
        if active is not None and len(active.source):
            left.append((active.vertices, active.source + np.int32(first)))

    def fetch() -> np.ndarray:
        return np.concatenate([np.empty((0, 4), np.int64), *(record() for record in records)])

    if not left:
        return fetch, None
    vertices, of_source = (cupy.concatenate(parts) for parts in zip(*left, strict=True))
    return fetch, Starts(vertices, of_source, starts.k)


def _relax(search: Search, rows: Any, of_start: np.ndarray) -> tuple[persistent.Record, Starts | None]:
    """Up to 32 sources, into rows of shape (k, n)."""
    code, out, beginnings, starts = search.code, search.out, search.beginnings, search.sources
    delta, ceiling, limit = search.delta, search.ceiling, search.limit
    n, k, ids, dtype = out.shape[0], starts.k, out.indices.dtype, rows.dtype
    values = cupy.empty((n, k), dtype)
    if beginnings[0] is None:
        values[...] = rows.T
    begin_sources((values,), beginnings, starts.vertices, starts.source)
    words = cupy.zeros((4, n), np.uint32)
    heavy = persistent.heavy_pieces(out)
    space = persistent.Space(16, 3 * n * ids.itemsize, 6 * heavy * ids.itemsize, n * ids.itemsize, n * ids.itemsize)
    least, light, pieces, far, far_kept = space.addresses
    origins = cupy.zeros(k, np.float64)
    record = persistent.Record(n)
    fields = SPACE.of(Index=ids)(
        space.header, words.data.ptr, words[3].data.ptr, origins.data.ptr, least, light, pieces, heavy, far, far_kept,
        *record.fields,
    )  # fmt: skip
    width, _, last = bucket_bounds(dtype, None if delta is None else delta / NARROWER, ceiling, 0)
    priority = PRIORITY.of(Value=dtype)(
        np.int32(delta is not None or ceiling is not None), np.int32(delta is not None and techniques.adaptive_buckets),
        np.float64(np.inf if delta is None else width), last,
    )  # fmt: skip
    program = value_program(code, persistent.weight_dtype(out))
    device = cupy.cuda.runtime.getDevice()
    threads = THREADS_OF_MANY_ARCS if out.nnz > DENSE * n else persistent.THREADS
    kernels = _kernels(program, ids, out.data is None, persistent.techniques_type(), device, threads)
    # As an Offer of multi_source_relaxation.cuh: an id, an int and a value; 64 of them a warp.
    shared = 2 * threads * np.dtype([("target", ids), ("source", np.int32), ("message", dtype)], align=True).itemsize
    given, arcs = struct(values), persistent.arcs_struct(out)
    each = np.bincount(of_start, minlength=k)
    if delta is not None and limit >= ENDLESS and int(each.max(initial=0)) <= MAX_STARTS:
        ends = cupy.asarray(np.cumsum(each), np.int64)
        kernels["apart"]((k,), (32,), (given, np.int32(k), arcs, priority, starts.vertices, ends, fields))
    else:
        blocks = -(-len(of_start) // 256)
        if blocks:
            kernels["together"]((blocks,), (256,), (starts.vertices, starts.source, np.int64(len(of_start)), fields))
    kernels["relax"](
        (multiprocessors(),),
        (threads,),
        (given, np.int64(n), np.int32(k), arcs, priority, np.int64(limit), fields),
        shared_mem=shared,
    )
    kernels["turn"]((min(-(-n // 32), 8 * multiprocessors()),), (256,), (values, np.int64(n), np.int32(k), rows))
    if limit >= ENDLESS or not record.counts()[1]:
        return record, None
    active = words[record.passed()[0]] | words[3]
    found = [cupy.flatnonzero(active >> np.uint32(source) & np.uint32(1)).astype(ids) for source in range(k)]
    of_source = np.repeat(np.arange(k, dtype=np.int32), [len(vertices) for vertices in found])
    return record, Starts(cupy.concatenate(found), cupy.asarray(of_source), k)
