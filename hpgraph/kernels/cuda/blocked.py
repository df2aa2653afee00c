"""Whole products by blocks of columns: when they are used, and their launches. See blocked.cuh."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.formats import CSR, HYB
from hpgraph.kernels.cuda.bins import BLOCK
from hpgraph.kernels.cuda.blocked_layout import GROUP, blocked
from hpgraph.kernels.cuda.compile import Module, load
from hpgraph.semiring.cuda import c_type
from hpgraph.semiring.semiring import Gather
from hpgraph.techniques import techniques

if TYPE_CHECKING:
    from hpgraph.kernels.cuda.product import Specialization

# As in blocked.cuh: threads of the first phase, arcs a warp takes at once.
GATHERERS, CHUNK = 1024, 256
KERNELS = ("gather_blocks", "join_stretches", "add_blocks")


@functools.lru_cache(maxsize=512)
def unread(function: Callable[..., Any]) -> frozenset[str]:
    """Parameters that a Python function never reads, by its bytecode.

    Parameters
    ----------
    function : function

    Returns
    -------
    frozenset of str

    Examples
    --------
    >>> sorted(unread(lambda source, weight, target: source + 1))
    ['target', 'weight']
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    # Newer Pythons read two variables in one instruction; one that is captured, or all by locals(), is taken as read.
    read: set[str] = set(code.co_cellvars)
    if "locals" in code.co_names or "eval" in code.co_names:
        return frozenset()
    for instruction in dis.get_instructions(code):
        if "_FAST" in instruction.opname and instruction.argval is not None:
            value = instruction.argval
            read.update(value if isinstance(value, tuple) else (value,))
    return frozenset(names) - read


def by_blocks(rows: CSR | HYB, gather: Any, reduce: Any, state: tuple[Any, ...], out: Any, sources_only: bool) -> bool:
    """Do a whole product by blocks of columns, where it can be and pays.

    Parameters
    ----------
    rows : CSR or HYB
        The matrix, on the GPU.
    gather : Function
        As for `pull`.
    reduce : Monoid
    state : tuple of arrays
        Contiguous.
    out : array
        Written in place.
    sources_only : bool
        Whether `gather`, not being a semiring's, is known to read neither target nor weight, so that it can be
        computed once for a source.

    Returns
    -------
    bool
        Whether it was done. Otherwise nothing was.

    Notes
    -----
    The decision depends on the matrix and the types alone, so that a product repeats bit for bit.
    """
    from hpgraph.kernels.cuda.product import specialize

    ring = isinstance(gather, Gather)
    if not techniques.column_blocks:
        return False
    if reduce.ends_on_anything or (ring and gather.semiring.multiply.position):
        return False
    if not (ring or sources_only) or out.dtype.itemsize not in (4, 8) or rows.nnz == 0:
        return False
    data = rows.data if isinstance(rows, CSR) else rows.tail_data
    once = sources_only or data is None
    if once and not ring and data is not None:
        return False
    staged = out.dtype if once else state[0].dtype
    if staged.itemsize not in (4, 8):
        return False
    layout = blocked(rows, staged.itemsize, out.dtype.itemsize)
    if layout is None:
        return False
    index = rows.indices.dtype if isinstance(rows, CSR) else rows.tail_indices.dtype
    special = specialize(
        gather,
        reduce,
        None,
        None if data is None else data.dtype,
        index,
        tuple(a.dtype for a in state),
        out.dtype,
        False,
    )
    _launch(blocked_kernels(special, staged), layout, special.gather.arguments(state), staged, out)
    return True


def blocked_prologue(special: Specialization, staged: np.dtype[Any]) -> str:
    """C++ text before blocked.cuh: the product, and the type that shared memory holds for each column.

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
    """The kernels of blocked.cuh for an instance, on the current device.

    Parameters
    ----------
    special : Specialization
    staged : dtype

    Returns
    -------
    Module
    """
    import cupy

    key = cupy.cuda.runtime.getDevice(), "blocked.cuh", staged
    module = special.loaded.get(key)
    if module is None:
        module = load(
            "blocked.cuh",
            prologue=blocked_prologue(special, staged),
            ltoir=special.ltoir,
            names=[f"hpgraph::{name}<Blocked>" for name in KERNELS],
            title=special.title,
        )
        special.loaded[key] = module
    return module


def _launch(module: Module, layout: Any, gather: Any, staged: np.dtype[Any], out: Any) -> None:
    import cupy

    stretches = len(layout.block)
    partial, open_ = cupy.empty(layout.partials, out.dtype), cupy.empty(stretches, out.dtype)
    weights = np.uint64(0) if layout.weights is None else layout.weights
    first, join, add = (module.function(f"hpgraph::{name}<Blocked>") for name in KERNELS)
    shared = layout.per_block * staged.itemsize + GATHERERS // 32 * CHUNK * out.dtype.itemsize
    if first.max_dynamic_shared_size_bytes < shared:
        first.max_dynamic_shared_size_bytes = shared
    first(
        (len(layout.share) - 1,), (GATHERERS,),
        (gather, layout.arguments, weights, partial, open_), shared_mem=shared,
    )  # fmt: skip
    join((-(-stretches // BLOCK),), (BLOCK,), (layout.arguments, open_, partial))
    groups, n_blocks = layout.bounds.shape[0] - 1, layout.bounds.shape[1]
    shared = BLOCK // 32 * GROUP * out.dtype.itemsize
    if add.max_dynamic_shared_size_bytes < shared:
        add.max_dynamic_shared_size_bytes = shared
    add(
        (-(-groups // (BLOCK // 32)),), (BLOCK,),
        (partial, layout.row, layout.bounds, np.int64(groups), np.int64(n_blocks), np.int64(len(out)), out),
        shared_mem=shared,
    )  # fmt: skip
