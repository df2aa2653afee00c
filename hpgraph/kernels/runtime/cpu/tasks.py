"""Load balancing for a single call: rows cut into tasks of about equal work, which threads take from one counter.

`hpgraph.kernels.runtime.cpu.schedule` is for matrices that are read many times: it keeps its tasks with the matrix.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import RefType, iternext_impl
from numba.extending import lower_builtin, models, register_model

from hpgraph.semiring.intrinsic import intrinsic
from hpgraph.semiring.stop import is_set, is_stopped

# Entries plus rows of one task; with less than two tasks' work one thread does it all.
TASK_ENTRIES = 32768


class _Tasks(types.SimpleIteratorType):  # type: ignore[misc]
    """The tasks that a thread takes: a counter, an end and a step."""

    def __init__(self, counter: Any) -> None:
        self.fields = [("counter", counter), ("end", types.int64), ("step", types.int64)]
        super().__init__(f"tasks({counter})", types.int64)


@register_model(_Tasks)
class _TasksModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.fields)


def _one_by_one(counter: Any, end: int, step: int = 1) -> Iterator[int]:
    while counter[0] < end and not is_stopped():
        counter[0] += step
        yield int(counter[0]) - step


@intrinsic(_one_by_one)
def tasks(typingctx: Any, counter: Any, end: Any, step: Any = 1) -> Any:
    """Dynamic scheduling: numbers of free tasks below `end`, as threads take them; none once kernels are stopped."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        made = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        made.counter, made.end, made.step = args
        if context.enable_nrt:
            context.nrt.incref(builder, counter, args[0])
        return made._getvalue()

    return _Tasks(counter)(counter, types.int64, types.int64), generate


@lower_builtin("iternext", _Tasks)
@iternext_impl(RefType.UNTRACKED)
def _next_task(context: Any, builder: Any, sig: Any, args: Any, result: Any) -> None:
    held = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    counter = context.make_array(sig.args[0].fields[0][1])(context, builder, held.counter)
    task = builder.atomic_rmw("add", counter.data, held.step, "acq_rel")
    result.set_valid(builder.and_(builder.icmp_signed("<", task, held.end), builder.not_(is_set(builder))))
    result.yield_(task)


def task_bounds(ends: Any) -> Any:
    """Rows at which tasks begin and end, for about equal work.

    ``ends`` (int64 array, shape (rows + 1,)): entries before each row. Returns int64 array: ascending, from 0 to the
    number of rows; of two elements if one thread should do all.
    """
    rows = len(ends) - 1
    total = int(ends[-1]) + rows
    if total <= 2 * TASK_ENTRIES:
        return np.array([0, rows])
    work = ends + np.arange(rows + 1)
    return np.unique(np.concatenate(([0], np.searchsorted(work, np.arange(TASK_ENTRIES, total, TASK_ENTRIES)), [rows])))


def share_bounds(indptr: Any, shares: int) -> Any:
    """Row bounds, an int64 array, of shares with equally many entries."""
    entries = int(indptr[-1])
    bounds = np.searchsorted(indptr, [entries * share // shares for share in range(shares + 1)]).astype(np.int64)
    bounds[0], bounds[-1] = 0, len(indptr) - 1
    return bounds
