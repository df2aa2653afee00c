"""SpMM and SDDMM on the GPU: specializations of `spmm.cuh` and `sddmm.cuh`, and their launches."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import CSR, RowFormat, attached
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet, struct
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK, bins
from hpgraph.kernels.runtime.cuda.specialization import DeviceGather, Specialization, contiguous, launch, specialize
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda import pull, ways_of
from hpgraph.kernels.spmv.cuda_choice import CHOICE_ENTRIES, shape_of
from hpgraph.kernels.spmv.layout_cost import RATES, rows_seconds
from hpgraph.semiring import get_monoid
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.cuda import INCLUDE, LinkedCode, binary_functor

DENSE_ROWS = ("dense_rows", "dense_long")
# Maximum of adjacent threads sharing a row; maximum bytes and elements of a load; minimum bytes a gather transfers.
LANES, LOAD, WIDEST, SECTOR = 32, 16, 8, 32
# Maximum loads of a row by a thread, used if at least this many threads share the row then, and those in flight at
# once. On an H200 2 and 4 are best (of 1, 2 and 4; 4 and 8) for 64 columns, 1 for 16.
MAX_LOADS, MIN_LANES, IN_FLIGHT = 2, 4, 4
# Loads of an SDDMM in flight: for 64 columns, 4 for each of 2 entries are best (of 1, 2 and 4; 4 and 8).
SAMPLED = 8
SAMPLE = KernelSet(
    "sddmm.cuh", "sampled dense products",
    {"<{Index}, {Value}, {lanes}, {loads}, {batch}, {width}, {whole}>": "sample_dense"},
)  # fmt: skip


@functools.lru_cache(maxsize=256)
def specialize_dense(
    gather: Any, reduce: Any, weight_dtype: np.dtype[Any] | None, index_dtype: np.dtype[Any],
    operand_dtype: np.dtype[Any], message_dtype: np.dtype[Any], width: int = 1, loads: int = 1,
) -> Specialization:  # fmt: skip
    """`specialize` for a dense operand; the gather of a semiring gets an element of it, of `width` that are loaded."""
    multiply = gather.semiring.multiply
    weight, message = message_dtype if weight_dtype is None else weight_dtype, c_type(message_dtype)
    source, ltoir = INCLUDE, tuple[LinkedCode, ...]()
    if multiply.position is not None:
        value = {"source": "u", "target": "v", "column": "column + c"}[multiply.position]
    elif multiply.cpp == "pair":
        value = "1"
    else:
        code = binary_functor(multiply, weight, operand_dtype, "Multiply", message_dtype)
        source, ltoir = code.source, code.ltoir
        value = "Multiply::apply(w, loaded.of[c])"
    operand, reads = c_type(operand_dtype), multiply.position is None and multiply.cpp != "pair"
    source += _gather_text(operand, c_type(weight), message, message, value, (width, loads), reads, False)
    made = DeviceGather(source, ltoir, (operand_dtype,), weight, message_dtype)
    return specialize(made, reduce, None, weight_dtype, index_dtype, (operand_dtype,), message_dtype, False)


def _gather_text(
    operand: str, weight: str, message: str, out: str, value: str, taken: tuple[int, int], reads: bool, headed: bool,
    order: str = "void",
) -> str:  # fmt: skip
    """The gather of spmm.cuh, and what it reads; an entry may have one weight per head, placed by `order`."""
    width, loads = taken
    return f"""#include "dense_rows.cuh"
struct Gather {{
    typedef {out} Out;
    typedef {order} Order;
    static constexpr int width = {width}, loads = {loads}, batch = {IN_FLIGHT // loads};
    static constexpr bool headed = {str(headed).lower()};
    {f"typedef hpgraph::Pack<{operand}, {width}> Loaded;" if reads else "struct Loaded {};"}
    const {operand}* x;
    long long columns;
    __device__ Loaded load(long long u, {weight} w, long long v, long long column) const {{
        return {"*(const Loaded*)(x + u * columns + column)" if reads else "{}"};
    }}
    __device__ {message} operator()(long long u, {weight} w, const Loaded& loaded, int c, long long v,
                                    long long column) const {{
        return ({message}){value};
    }}
}};
"""


@functools.lru_cache(maxsize=256)
def specialize_numbers(
    dtype: np.dtype[Any], half: str | None, index_dtype: np.dtype[Any], weighted: bool, headed: bool, width: int,
    loads: int = 1, order: np.dtype[Any] | None = None,
) -> Specialization:  # fmt: skip
    """Sums of products of numbers; of halves, as words of 16 bits, `half` is the type in halves.cuh."""
    message = np.dtype(np.float32) if half else dtype
    operand, weight = f"hpgraph::{half}" if half else c_type(dtype), dtype if weighted else message
    factor = "w" if not half else f"hpgraph::widened({operand}{{w}})"
    value = f"{factor} * hpgraph::widened(loaded.of[c])" if weighted else "hpgraph::widened(loaded.of[c])"
    text = _gather_text(
        operand, c_type(weight), c_type(message), operand, value, (width, loads), True, headed,
        "void" if order is None else c_type(order),
    )  # fmt: skip
    made = DeviceGather(INCLUDE + text, (), (dtype,), weight, message)
    add = get_monoid("plus")
    return specialize(made, add, None, weight if weighted else None, index_dtype, (dtype,), message, False)


def pull_dense(rows: RowFormat, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any) -> None:
    """SpMM: `hpgraph.kernels.spmv.cuda.pull` for every column at once; ``out`` (shape (n, k), C order) is overwritten.

    Reads the matrix in CSR. If a few columns are predicted to take less time one by
    one, by blocks of columns, they are computed so, with memory for a column of either operand.
    """
    if not hasattr(gather, "semiring"):
        raise TypeError(
            f"a dense operand on the GPU needs the gather of a semiring, not {gather!r}: make one with "
            "Semiring.gather, or call pull for each column"
        )
    (operand,) = contiguous(state)
    if not out.size:
        return
    if _apart_is_quicker(rows, gather, reduce, operand, out):
        _apart(rows, gather, reduce, operand, out)
    else:
        _together(rows.csr, gather, reduce, operand, out)


def _apart_is_quicker(rows: RowFormat, gather: Any, reduce: Any, operand: Any, out: Any) -> bool:
    columns = operand.shape[1]
    if columns == 1:
        return True
    # An entry transfers a whole sector in any case; a row that fills one uses all of it.
    if columns * operand.itemsize >= SECTOR or rows.nnz < CHOICE_ENTRIES:
        return False
    return _blocks_are_quicker(rows.csr, gather, reduce, operand.dtype, out.dtype, columns, techniques.switched)


@attached
def _blocks_are_quicker(
    csr: CSR, gather: Any, reduce: Any, operand: np.dtype[Any], dtype: np.dtype[Any], columns: int, switched: Any
) -> bool:
    ways = ways_of(csr, gather, reduce, (operand,), dtype, frozenset(), timed=False)
    way = min(ways, key=lambda name: ways[name][0])
    # One by one pays by blocks of columns alone: on roads and lattices two columns took up to 1.8 times as long.
    together = rows_seconds(shape_of(csr, SECTOR, columns * dtype.itemsize), RATES["cuda"])
    return way == "blocks" and ways[way][0] * columns < together


def _apart(rows: RowFormat, gather: Any, reduce: Any, operand: Any, out: Any) -> None:
    found = cupy.empty(out.shape[0], out.dtype)
    for column in range(operand.shape[1]):
        pull(rows, gather, reduce, (cupy.ascontiguousarray(operand[:, column]),), found)
        out[:, column] = found


def width_of(columns: int, *arrays: Any) -> int:
    """Number of adjacent elements of one load, which is aligned in all rows."""
    width = min(WIDEST, LOAD // max(array.itemsize for array in arrays))
    while width > 1 and (columns % width or any(array.data.ptr % (width * array.itemsize) for array in arrays)):
        width //= 2
    return max(width, 1)


def loads_of(columns: int, width: int) -> int:
    """Number of loads of a row by a thread: two, if all threads can, so that more rows are in flight."""
    lanes, left = divmod(columns, width * MAX_LOADS)
    return MAX_LOADS if left == 0 and MIN_LANES <= lanes <= LANES else 1


def _together(csr: CSR, gather: Any, reduce: Any, operand: Any, out: Any) -> None:
    width = width_of(columns := out.shape[1], operand, out)
    special = specialize_dense(
        gather, reduce, None if csr.data is None else csr.data.dtype, csr.indices.dtype, operand.dtype, out.dtype,
        width, loads := loads_of(columns, width),
    )  # fmt: skip
    Rows(special, csr, columns, (width, loads)).launch(csr, csr.data, struct(operand, columns), out)


def multiply_dense(csr: CSR, weights: Any, x: Any, out: Any, half: str | None = None, order: Any = None) -> None:
    """`hpgraph.kernels.spmv.Products.multiply_dense`; of halves, as words of 16 bits, `half` says which."""
    if not out.size:
        return
    heads = 1 if weights is None or weights.ndim == 1 else weights.shape[1]
    columns = out.shape[1]
    width = width_of(columns // heads, x, out)
    placed, weighted = None if order is None else order.dtype, weights is not None
    # The loads of a thread are far apart: with several heads, they would belong to different ones.
    loads = loads_of(columns, width) if heads == 1 else 1
    prepared = _prepared(csr, x.dtype, half, weighted, heads, columns, width, loads, placed)
    prepared.launch(csr, weights, struct(x, columns), out, order)


class Rows:
    """The launches that fold the messages of a matrix's rows, for a number of columns: prepared once per type.

    `taken`: adjacent columns of each load of a thread, and number of loads.
    """

    def __init__(self, special: Specialization, csr: CSR, columns: int, taken: tuple[int, int], heads: int = 1) -> None:
        module, self._bins, short = special.load("spmm.cuh", *DENSE_ROWS), bins(csr), len(bins(csr).slots)
        self._rows, self._long = (module.function(f"hpgraph::{name}<Product>") for name in DENSE_ROWS)
        threads = columns // (taken[0] * taken[1])
        tiles = -(-threads // LANES)
        lanes = -(-threads // tiles)
        tasks, self._shape = self._bins.pieces + short, (columns, heads, np.uint32(lanes))
        self._grid = -(-tasks // (BLOCK // lanes)), tiles
        self._long_grid = (-(-self._bins.long_rows * columns // BLOCK),)
        self._short, self._type = np.int64(short), special.gather.message_dtype

    def launch(self, csr: CSR, weights: Any, gather: Any, out: Any, order: Any = None) -> None:
        """Launch them; the gather is given as kernels take it."""
        binned, columns = self._bins, self._shape[0]
        part = cupy.empty((binned.pieces, columns), self._type) if binned.pieces else None
        entries, dealt = struct(csr.indices, weights), struct(order, *self._shape)
        if self._grid[0]:
            given = gather, csr.indptr, entries, binned.arguments, self._short, dealt, out, part
            self._rows(self._grid, (BLOCK,), given)
        if binned.long_rows:
            long_rows = binned.long_slots, binned.first_piece, np.int64(binned.long_rows), np.int64(columns)
            self._long(self._long_grid, (BLOCK,), (*long_rows, out, part))


@attached
def _prepared(
    csr: CSR, dtype: Any, half: str | None, weighted: bool, heads: int, columns: int, width: int, loads: int,
    placed: Any,
) -> Rows:  # fmt: skip
    special = specialize_numbers(dtype, half, csr.indices.dtype, weighted, heads > 1, width, loads, placed)
    return Rows(special, csr, columns, (width, loads), heads)


def launch_sums(
    special: Specialization, csr: CSR, weights: Any, gather: Any, out: Any, width: int, columns: int
) -> None:
    """As `Rows`, and the sum over the `columns` columns of each operand."""
    module = special.load("messages.cuh", "dense_sums", "dense_long")
    binned, short = bins(csr), len(bins(csr).slots)
    lanes = min(LANES, 1 << (columns // width - 1).bit_length())
    part = cupy.empty((binned.pieces, 1), special.gather.message_dtype)
    dealt, tasks = struct(None, columns, 1, np.uint32(lanes)), binned.pieces + short
    entries = struct(csr.indices, weights)
    given = gather, csr.indptr, entries, binned.arguments, np.int64(short), dealt, out, part
    launch(module, "dense_sums", -(-tasks // (BLOCK // lanes)), *given)
    long_rows = binned.long_slots, binned.first_piece, np.int64(binned.long_rows), np.int64(1)
    launch(module, "dense_long", -(-binned.long_rows // BLOCK), *long_rows, out, part)


def sample_dense(csr: CSR, x: Any, y: Any, out: Any, half: str | None = None) -> None:
    """`hpgraph.kernels.spmv.Products.sample_dense`; `half` as for `multiply_dense`."""
    if not out.size:
        return
    _, heads, columns = x.shape
    width = width_of(columns, x, y)
    threads = -(-columns // width)
    loads = next((count for count in (4, 2) if threads >= count * MIN_LANES), 1)
    batch = min(MIN_LANES, SAMPLED // loads)
    lanes = min(LANES, max(batch, 1 << (-(-threads // loads) - 1).bit_length()))
    value = f"hpgraph::{half}" if half else x.dtype
    counts = {"lanes": lanes, "loads": loads, "batch": batch, "width": width}
    shape = {name: str(count) for name, count in counts.items()} | {"whole": columns == lanes * loads * width}
    kernels = SAMPLE.of(Index=csr.indices.dtype, Value=value, **shape)
    binned, short = bins(csr), len(bins(csr).slots)
    size = np.int64(short), np.int64(heads), np.int64(columns)
    tasks = (binned.pieces + short) * lanes
    kernels.each("sample_dense", tasks, csr.indptr, csr.indices, binned.arguments, *size, x, y, out)


EXTREMES = KernelSet("extremes.cuh", "entries of extremes", {"<{Index}, {Value}>": "extreme_entries"})
# Threads of a block, and entries of a warp: as in extremes.cuh.
THREADS, STRETCH = 256, 32


def extreme_entries(csr: CSR, x: Any, extreme: Any, first: Any) -> None:
    """`hpgraph.kernels.spmv.Products.extreme_entries`."""
    first.fill(np.iinfo(np.int64).max)
    if csr.nnz and first.size:
        kernels = EXTREMES.of(Index=csr.indices.dtype, Value=x.dtype)
        size = np.int64(csr.shape[0]), np.int64(csr.nnz)
        kernels.launch(
            "extreme_entries", -(-csr.nnz * 32 // (THREADS * STRETCH)), csr.indptr, csr.indices, csr.data, *size, x,
            np.int64(x.shape[1]), extreme, first,
        )  # fmt: skip
    first[first == np.iinfo(np.int64).max] = -1
