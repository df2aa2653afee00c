"""Whole products by blocks of columns: when they are used, and their launches. See column_blocks.cuh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.runtime.cuda.compile import Module, load
from hpgraph.kernels.runtime.cuda.row_bins import BLOCK
from hpgraph.kernels.runtime.cuda.specialization import Specialization, specialize_for
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda_column_blocks_layout import GROUP, Blocked, blocked, worth_a_look
from hpgraph.semiring.cuda import c_type
from hpgraph.semiring.semiring import Gather

# As in column_blocks.cuh: threads of the first phase, arcs a warp takes at once.
GATHERERS, CHUNK = 1024, 256
KERNELS = ("gather_blocks", "join_stretches", "add_blocks")
# Operators that never look at the vector.
_OF_ENTRIES_ALONE = ("first", "pair")


@dataclass(frozen=True)
class BlockedProduct:
    """A product that goes by blocks of columns.

    Attributes
    ----------
    layout : Blocked
    special : Specialization
    staged : numpy.dtype
        What shared memory holds for each column.
    dtype : numpy.dtype
        Of the result.
    """

    layout: Blocked
    special: Specialization
    staged: np.dtype[Any]
    dtype: np.dtype[Any]

    @property
    def prologue(self) -> str:
        """C++ text before column_blocks.cuh."""
        return blocked_prologue(self.special, self.staged)


def blocked_product(
    rows: CSR | HYB, gather: Any, reduce: Any, state_dtypes: tuple[Any, ...], dtype: np.dtype[Any], sources_only: bool
) -> BlockedProduct | None:
    """A whole product by blocks of columns, where it can be and pays.

    Parameters
    ----------
    rows : CSR or HYB
        The matrix, on the GPU.
    gather : Function
        As for `pull`.
    reduce : Monoid
    state_dtypes : tuple of dtype
    dtype : numpy.dtype
        Of the result.
    sources_only : bool
        Whether `gather`, not being a semiring's, is known to read neither target nor weight, so that it can be
        computed once for a source.

    Returns
    -------
    BlockedProduct or None

    Notes
    -----
    The decision depends on the matrix and the types alone, so that a product repeats bit for bit.
    """
    if not techniques.column_blocks or not worth_a_look(rows):
        return None
    ring = isinstance(gather, Gather)
    if reduce.ends_on_anything or (ring and gather.semiring.multiply.position):
        return None
    if ring and gather.semiring.multiply.cpp in _OF_ENTRIES_ALONE:
        # Nothing is gathered: rows are read as they lie.
        return None
    if not (ring or sources_only) or dtype.itemsize not in (4, 8):
        return None
    data = rows.data if isinstance(rows, CSR) else rows.tail_data
    once = sources_only or data is None
    if once and not ring and data is not None:
        return None
    staged = dtype if once else state_dtypes[0]
    if staged.itemsize not in (4, 8):
        return None
    layout = blocked(rows, staged.itemsize, dtype.itemsize)
    if layout is None:
        return None
    special = specialize_for(rows, gather, reduce, state_dtypes, dtype, None, False)
    return BlockedProduct(layout, special, staged, dtype)


def blocked_prologue(special: Specialization, staged: np.dtype[Any]) -> str:
    """C++ text before column_blocks.cuh: the product, and the type that shared memory holds for each column.

    Parameters
    ----------
    special : Specialization
    staged : dtype

    Returns
    -------
    str
    """
    return f"{special.prologue}struct Blocked : Product {{\n    typedef {c_type(staged)} Staged;\n}};\n"


def blocked_kernels(special: Specialization, staged: np.dtype[Any]) -> Module:
    """The kernels of column_blocks.cuh for an instance, on the current device.

    Parameters
    ----------
    special : Specialization
    staged : dtype

    Returns
    -------
    Module
    """
    import cupy

    key = cupy.cuda.runtime.getDevice(), "column_blocks.cuh", staged
    module = special.loaded.get(key)
    if module is None:
        module = load(
            "column_blocks.cuh",
            prologue=blocked_prologue(special, staged),
            ltoir=special.ltoir,
            names=[f"hpgraph::{name}<Blocked>" for name in KERNELS],
            title=special.title,
        )
        special.loaded[key] = module
    return module


def gather_partials(product: BlockedProduct, state: tuple[Any, ...]) -> Any:
    """Launch the first phase.

    Parameters
    ----------
    product : BlockedProduct
    state : tuple of arrays
        Contiguous.

    Returns
    -------
    CuPy array, shape (partials,)
        The partial results.
    """
    import cupy

    layout, module = product.layout, blocked_kernels(product.special, product.staged)
    stretches = len(layout.block)
    partial, open_ = cupy.empty(layout.partials, product.dtype), cupy.empty(stretches, product.dtype)
    weights = np.uint64(0) if layout.weights is None else layout.weights
    first, join = (module.function(f"hpgraph::{name}<Blocked>") for name in KERNELS[:2])
    shared = layout.per_block * product.staged.itemsize + GATHERERS // 32 * CHUNK * product.dtype.itemsize
    if first.max_dynamic_shared_size_bytes < shared:
        first.max_dynamic_shared_size_bytes = shared
    first(
        (len(layout.share) - 1,), (GATHERERS,),
        (product.special.gather.arguments(state), layout.arguments, weights, partial, open_), shared_mem=shared,
    )  # fmt: skip
    join((-(-stretches // BLOCK),), (BLOCK,), (layout.arguments, open_, partial))
    return partial


def add_shape(product: BlockedProduct) -> tuple[int, int, int]:
    """Groups of rows of the second phase, its thread blocks, and the shared memory of each.

    Parameters
    ----------
    product : BlockedProduct

    Returns
    -------
    (int, int, int)
    """
    groups = product.layout.bounds.shape[0] - 1
    return groups, -(-groups // (BLOCK // 32)), BLOCK // 32 * GROUP * product.dtype.itemsize


def multiply_by_blocks(product: BlockedProduct, state: tuple[Any, ...], out: Any) -> None:
    """The whole product.

    Parameters
    ----------
    product : BlockedProduct
    state : tuple of arrays
        Contiguous.
    out : array
        Written in place.
    """
    partial = gather_partials(product, state)
    layout, (groups, blocks, shared) = product.layout, add_shape(product)
    add = blocked_kernels(product.special, product.staged).function(f"hpgraph::{KERNELS[2]}<Blocked>")
    if add.max_dynamic_shared_size_bytes < shared:
        add.max_dynamic_shared_size_bytes = shared
    n_blocks = np.int64(layout.bounds.shape[1])
    arguments = partial, layout.row, layout.bounds, np.int64(groups), n_blocks, np.int64(len(out)), out
    add((blocks,), (BLOCK,), arguments, shared_mem=shared)
