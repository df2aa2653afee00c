"""Whole products by blocks of columns: eligibility and launches. See column_blocks.cuh."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.formats import RowFormat
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK
from hpgraph.kernels.runtime.cuda.specialization import Specialization, specialize_for
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda_choice import predict
from hpgraph.kernels.spmv.cuda_column_blocks_layout import GROUP, Blocked, known_survey, layout_of, worth_a_look
from hpgraph.semiring.c_types import c_type
from hpgraph.semiring.semiring import Gather

# As in column_blocks.cuh: threads of the first phase, arcs that a warp processes at once.
GATHERERS, CHUNK = 1024, 256
KERNELS = ("gather_blocks", "join_stretches", "add_blocks")
# Operators that do not read the vector.
_OF_ENTRIES_ALONE = ("first", "pair")
BOTH = frozenset({"weight", "target"})


@dataclass(frozen=True)
class BlockedProduct:
    """A product by blocks of columns."""

    layout: Blocked
    special: Specialization
    staged: np.dtype[Any]  # type staged in shared memory for each column
    dtype: np.dtype[Any]  # of the result

    @property
    def prologue(self) -> str:
        """C++ text before column_blocks.cuh."""
        return blocked_prologue(self.special, self.staged)


def staged_type(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, ignores: frozenset[str]
) -> np.dtype[Any] | None:
    """The type to stage in shared memory for each column; None if a product cannot go by blocks of columns."""
    ring = isinstance(gather, Gather)
    sources_only = ignores >= BOTH
    # The message of a stored weight and the source's first property: the latter is staged, as a semiring's vector is.
    by_entry = "target" in ignores and (rows.dtype is None or "others" in ignores)
    if reduce.ends_on_anything or (ring and gather.semiring.multiply.position):
        return None
    if ring and gather.semiring.multiply.cpp in _OF_ENTRIES_ALONE:
        # Nothing is gathered: other methods read rows sequentially.
        return None
    if not (ring or sources_only or by_entry) or dtype.itemsize not in (4, 8):
        return None
    once = sources_only or rows.dtype is None
    if once and not ring and rows.dtype is not None:
        return None
    staged = dtype if once else state_dtypes[0]
    return staged if staged.itemsize in (4, 8) else None


def by_blocks(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, staged: np.dtype[Any]
) -> BlockedProduct:
    """A whole product by blocks of columns; `predict` must have surveyed the matrix."""
    csr = rows.csr
    found = known_survey(csr, staged.itemsize, dtype.itemsize)
    if found is None:
        raise RuntimeError("a product by blocks of columns needs a survey of the matrix, which predict() makes")
    special = specialize_for(rows, gather, reduce, state_dtypes, dtype, None, False)
    return BlockedProduct(layout_of(csr, found), special, staged, dtype)


def blocked_product(
    rows: RowFormat, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: Any, ignores: frozenset[str]
) -> BlockedProduct | None:
    """A whole product by blocks of columns if it is possible and predicted to pay; else None."""
    if not techniques.column_blocks or not worth_a_look(rows):
        return None
    staged = staged_type(rows, gather, reduce, state_dtypes, dtype, ignores)
    if staged is None or "blocks" not in predict(rows, staged.itemsize, dtype.itemsize):
        return None
    return by_blocks(rows, gather, reduce, state_dtypes, dtype, staged)


def blocked_prologue(special: Specialization, staged: np.dtype[Any]) -> str:
    """C++ text before column_blocks.cuh: the product, and the type staged in shared memory for each column."""
    return f"{special.prologue}struct Blocked : Product {{\n    typedef {c_type(staged)} Staged;\n}};\n"


def blocked_kernels(special: Specialization, staged: np.dtype[Any]) -> Module:
    """The kernels of column_blocks.cuh for a product, on the current device."""
    key = cupy.cuda.runtime.getDevice(), "column_blocks.cuh", staged
    module = special.loaded.get(key)
    if module is None:
        module = load(
            "column_blocks.cuh", prologue=blocked_prologue(special, staged), ltoir=special.ltoir,
            names=[f"hpgraph::{name}<Blocked>" for name in KERNELS], title=special.title,
        )  # fmt: skip
        special.loaded[key] = module
    return module


def gather_partials(product: BlockedProduct, state: tuple[Any, ...]) -> Any:
    """Launch the first phase; returns the partial results, shape (partials,). ``state``: contiguous."""
    layout, module = product.layout, blocked_kernels(product.special, product.staged)
    stretches = len(layout.block)
    partial, open_ = cupy.empty(layout.partials, product.dtype), cupy.empty(stretches, product.dtype)
    first, join = (module.function(f"hpgraph::{name}<Blocked>") for name in KERNELS[:2])
    shared = layout.per_block * product.staged.itemsize + GATHERERS // 32 * CHUNK * product.dtype.itemsize
    given = product.special.gather.arguments(state), layout.arguments, layout.weights, partial, open_
    first((len(layout.share) - 1,), (GATHERERS,), given, shared_mem=shared)
    join((-(-stretches // BLOCK),), (BLOCK,), (layout.arguments, open_, partial))
    return partial


def add_shape(product: BlockedProduct) -> tuple[int, int]:
    """Thread blocks of the second phase, and the shared memory of each."""
    return product.layout.adders, BLOCK // 32 * GROUP * product.dtype.itemsize


def multiply_by_blocks(product: BlockedProduct, state: tuple[Any, ...], out: Any) -> None:
    """Compute the whole product of a contiguous state into `out`."""
    partial = gather_partials(product, state)
    layout, (blocks, shared) = product.layout, add_shape(product)
    add = blocked_kernels(product.special, product.staged).function(f"hpgraph::{KERNELS[2]}<Blocked>")
    add((blocks,), (BLOCK,), (partial, layout.row, layout.groups, out), shared_mem=shared)
