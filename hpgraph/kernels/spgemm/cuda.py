"""The product of two sparse matrices on the GPU: code generation for `spgemm.cuh`, and launches."""

import functools
from typing import Any

import numpy as np

from hpgraph.core.device import check_memory, cupy
from hpgraph.formats import CSR
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.row_bins import address, words
from hpgraph.kernels.runtime.cuda.structs import traits
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.cuda import LinkedCode, binary_functor, function_functor, monoid_functor

SOURCE, TITLE = "spgemm.cuh", "products of matrices"
# As in the CUDA source.
THREADS, LONG_THREADS, MIN, WINDOWED, KINDS, CURSORS = 256, 128, 64, 6, 7, 512
# Columns of a window in the numeric pass, and in the symbolic one.
WINDOW, COUNTED = 8192, 65536
# Rows of more windows than this get wider ones, of at most this many columns.
MANY_WINDOWS, LARGEST_WINDOW = 512, 65536
# Bytes of shared memory for the warps of one block; a warp that needs more has its own block.
BLOCK_ROOM = 32768
KERNELS = (
    "hpgraph::count_pairs<Multiply>", "hpgraph::sort_tasks<false>", "hpgraph::sort_tasks<true>",
    "hpgraph::count_by_table<Multiply>", "hpgraph::fill_by_table<Multiply>", "hpgraph::count_by_bits<Multiply>",
    "hpgraph::fill_by_windows<Multiply>",
)  # fmt: skip


@functools.lru_cache(maxsize=512)
def multiply_code(
    product: Any, reduce: Any, has_a: bool, has_b: bool, index_dtype: np.dtype[Any], excludes: bool = False,
    within: bool = False,
) -> tuple[str, tuple[LinkedCode, ...]]:  # fmt: skip
    """The C++ text before the kernels of matrix products, and the code to link with it."""
    op, c, monoid = product.semiring.multiply, c_type(product.dtype), monoid_functor(reduce, product.dtype, "Reduce")
    source, ltoir = monoid.source, monoid.ltoir
    if product.index is not None:
        value = f"({c}){product.index}"
    elif op.cpp == "pair":
        value = f"({c})1"
    else:
        if op.position is None:
            code, value = binary_functor(op, product.a_dtype, product.b_dtype, "Times", product.dtype), "(a, b)"
        else:
            read = product.a_dtype, product.b_dtype, np.int64, np.int64, np.int64
            code, value = function_functor(product, read, product.dtype, "Times"), "(a, b, i, k, j)"
        source += code.source
        ltoir += code.ltoir
        value = f"Times::apply{value}"
    types = {"A": product.a_dtype, "B": product.b_dtype, "C": product.dtype, "Index": index_dtype}
    flags = {
        "reads_a": has_a and product.reads_a, "reads_b": has_b and product.reads_b, "counts": product.semiring.counts,
        "excludes": excludes, "within": within,
    }  # fmt: skip
    members = f"""    __device__ static C product(A a, B b, long long i, long long k, long long j) {{ return {value}; }}
    __device__ static C reduce(C a, C b) {{ return Reduce::apply(a, b); }}
    __device__ static C identity() {{ return Reduce::identity(); }}
"""
    return source + traits("Multiply", types, flags, members), tuple(dict.fromkeys(ltoir))


def run(module: Module, name: str, blocks: int, threads: int, shared: int, *arguments: Any) -> None:
    """Launch a kernel with `shared` bytes of dynamic shared memory a block, unless `blocks` is 0."""
    if blocks:
        module.function(f"hpgraph::{name}")((blocks,), (threads,), arguments, shared_mem=shared)


def windows_of(columns: int) -> tuple[int, int]:
    """The number of windows, and of columns in each."""
    width = WINDOW
    while width < LARGEST_WINDOW and columns > width * MANY_WINDOWS:
        width *= 2
    return max(1, -(-columns // width)), width


def multiply(a: CSR, b: CSR, product: Any, reduce: Any, exclude: CSR | None = None) -> CSR:
    """`hpgraph.kernels.spgemm.cpu.multiply` on the GPU; waits twice, and takes 16 bytes a row and 40 a task besides."""
    return by_rows(a, b, product, reduce, exclude, within=False)


def by_rows(a: CSR, b: CSR, product: Any, reduce: Any, mask: CSR | None, *, within: bool) -> CSR:
    """`multiply`, with a mask that excludes entries or, `within`, names those to compute."""
    rows, columns = a.shape[0], b.shape[1]
    dtype = product.dtype
    ids = np.result_type(*(csr.indices.dtype for csr in (a, b, mask) if csr is not None))
    excludes = mask is not None and not within
    prologue, ltoir = multiply_code(product, reduce, a.data is not None, b.data is not None, ids, excludes, within)
    module = load(SOURCE, prologue=prologue, ltoir=ltoir, names=KERNELS, title=TITLE)
    held = [None if csr is None else csr.indices.astype(ids, copy=False) for csr in (a, b, mask)]
    factors = words(
        address(a.indptr), address(held[0]), address(a.data), address(b.indptr), address(held[1]), address(b.data),
        0 if mask is None else address(mask.indptr), address(held[2]),
    )  # fmt: skip
    windows, width = windows_of(columns)
    check_memory(40 * rows, "the tasks of a matrix product", "cuda")
    pairs, tasks = cupy.empty(rows, np.int64), cupy.zeros(rows + 1, np.int64)
    blocks = -(-rows * 32 // THREADS)
    run(module, "count_pairs<Multiply>", blocks, THREADS, 0, factors, np.int64(rows), np.int64(windows), pairs,
        tasks[1:])  # fmt: skip
    first_task = cupy.cumsum(tasks)
    del tasks
    work = _Tasks(module, pairs, first_task, rows, columns)
    counts_of_kinds, n_tasks = work.count(None)
    counts = cupy.zeros(n_tasks + 1, np.int64)
    sizes = counts[1:]
    task_row = cupy.empty(n_tasks, np.int64)
    for kind, list_, length in work.lists(counts_of_kinds, n_tasks, None, task_row):
        if kind == WINDOWED:
            bits = min(COUNTED, -(-columns // 64) * 64)
            warps = LONG_THREADS // 32
            run(module, "count_by_bits<Multiply>", -(-length // warps), LONG_THREADS, warps * bits // 8, factors, list_,
                np.int64(length), task_row, first_task, np.int64(windows), np.int64(width), np.int64(columns),
                np.int64(bits), sizes)  # fmt: skip
        else:
            slots = MIN << kind
            warps = max(1, min(THREADS // 32, BLOCK_ROOM // (slots * ids.itemsize)))
            run(module, "count_by_table<Multiply>", -(-length // warps), 32 * warps, warps * slots * ids.itemsize,
                factors, list_, np.int64(length), task_row, np.uint32(slots), sizes)  # fmt: skip
    counts_of_kinds, _ = work.count(sizes)
    offsets = cupy.cumsum(counts)
    indptr = offsets[first_task]
    nnz = int(offsets[-1])
    check_memory(nnz * (ids.itemsize + dtype.itemsize), f"a product of {nnz} entries", "cuda")
    indices, data = cupy.empty(nnz, ids), cupy.empty(nnz, dtype)
    for kind, list_, length in work.lists(counts_of_kinds, n_tasks, sizes, None):
        if kind == WINDOWED:
            warps = LONG_THREADS // 32
            shared = warps * (width // 8 + width // 16 + 4 * CURSORS)
            run(module, "fill_by_windows<Multiply>", -(-length // warps), LONG_THREADS, shared, factors, list_,
                np.int64(length), task_row, first_task, np.int64(windows), np.int64(width), np.int64(columns), offsets,
                indices, data)  # fmt: skip
        else:
            slots = MIN << kind
            room = slots * (ids.itemsize + dtype.itemsize)
            warps = max(1, min(THREADS // 32, BLOCK_ROOM // room))
            run(module, "fill_by_table<Multiply>", -(-length // warps), 32 * warps, warps * room, factors, list_,
                np.int64(length), task_row, np.uint32(slots), offsets, indices, data)  # fmt: skip
    return CSR((rows, columns), indptr, indices, data, validate=False)


class _Tasks:
    """The tasks of a product, by kind: hash tables by size, and windows."""

    def __init__(self, module: Module, pairs: Any, first_task: Any, rows: int, columns: int) -> None:
        self.module, self.pairs, self.first_task = module, pairs, first_task
        self.rows, self.columns = rows, columns

    def _sort(self, listed: str, sizes: Any, starts: Any, totals: Any, list_: Any, task_row: Any) -> None:
        run(self.module, f"sort_tasks<{listed}>", -(-self.rows // THREADS), THREADS, 0, self.pairs, self.first_task,
            np.int64(self.rows), np.int64(self.columns), sizes, starts, totals, list_, task_row)  # fmt: skip

    def count(self, sizes: Any) -> tuple[list[int], int]:
        """The number of tasks of each kind, and of all; waits for the device."""
        totals = cupy.zeros(KINDS + 1, np.uint64)
        self._sort("false", sizes, None, totals, None, None)
        totals[KINDS] = self.first_task[-1]
        *kinds, n_tasks = (int(total) for total in totals.get())
        return kinds, n_tasks

    def lists(self, kinds: list[int], n_tasks: int, sizes: Any, task_row: Any) -> list[tuple[int, Any, int]]:
        """Each kind with its tasks and their number: the longest first."""
        starts = np.concatenate(([0], np.cumsum(kinds)))
        list_ = cupy.empty(n_tasks, np.int64)
        self._sort("true", sizes, cupy.asarray(starts), cupy.zeros(KINDS, np.uint64), list_, task_row)
        return [(kind, list_[starts[kind] :], kinds[kind]) for kind in reversed(range(KINDS)) if kinds[kind]]
