"""Choice of the layout that a Matrix's products read, for format="auto", and `Matrix.explain`."""

import time
from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.core.device import array_module
from hpgraph.formats import RowFormat
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv import cuda_choice
from hpgraph.kernels.spmv.cuda_column_blocks_layout import known_survey
from hpgraph.kernels.spmv.layout_cost import RATES, row_lengths, rows_seconds
from hpgraph.kernels.spmv.product_plan import plan
from hpgraph.semiring import get_semiring

# Below this many entries, launches and the start of threads take most of the time in any layout.
_CHOICE_ENTRIES = 1 << 14
# How often `explain(measure=True)` repeats a product; it takes the median.
_REPEATS = 5


def choose(matrix: Any) -> str:
    """The layout predicted to be quickest for ``A @ x``, x of the matrix's type; on CUDA this waits for the device."""
    if matrix.device == "cpu" or matrix.nnz < _CHOICE_ENTRIES:
        return "csr"
    return cuda_choice.quickest_layout(_predicted(matrix))


def _predicted(matrix: Any) -> dict[str, float]:
    """Seconds of a product on CUDA by method."""
    size = _operand_type(matrix).itemsize
    return cuda_choice.predict(matrix.csr if matrix.is_auto else matrix.rows, size, size)


def predict(matrix: Any) -> dict[str, float]:
    """Predicted seconds of a product by layout, and by "blocks" of columns; on the CPU always of the CSR."""
    if matrix.device == "cpu":
        size = _operand_type(matrix).itemsize
        shape = replace(row_lengths(matrix.csr), operand=size, result=size)
        return {matrix.layout: rows_seconds(shape, RATES["cpu"])}
    if matrix.nnz == 0:
        return dict.fromkeys(("csr", "hyb", matrix.layout), 0.0)
    return cuda_choice.by_layout(_predicted(matrix))


def _operand_type(matrix: Any) -> np.dtype[Any]:
    return np.dtype(np.float32) if matrix.is_pattern else matrix.dtype


def _measure(matrix: Any, rows: RowFormat, by_blocks: bool) -> float:
    """Seconds of a product, the device idle before and after: the median of some."""
    xp, pull = array_module(matrix.device), kernels(matrix.device).pull
    x = xp.ones(rows.shape[1], _operand_type(matrix))
    gather, reduce, dtype = plan(get_semiring("plus_times"), rows.dtype, x.dtype)
    out = xp.empty(rows.shape[0], dtype)
    wait = xp.cuda.get_current_stream().synchronize if matrix.device == "cuda" else lambda: None
    seconds = []
    with techniques(column_blocks=by_blocks):
        for _ in range(_REPEATS + 1):
            wait()
            began = time.perf_counter()
            pull(rows, gather, reduce, (x,), out)
            wait()
            seconds.append(time.perf_counter() - began)
    return sorted(seconds[1:])[_REPEATS // 2]


def explain(matrix: Any, measure: bool = False) -> str:
    """See `hpgraph.Matrix.explain`."""
    predicted = predict(matrix)
    chosen = "blocks" if "blocks" in predicted else matrix.layout
    measured: dict[str, float] = {}
    if measure and min(matrix.shape):
        measured = {name: _measure(matrix, matrix._rows_in(name), False) for name in predicted if name != "blocks"}
        if "blocks" in predicted:
            measured["blocks"] = _measure(matrix, matrix.rows, True)
    table = [("layout", "predicted", "measured", "memory", "")]
    for name, seconds in predicted.items():
        taken = f"{measured[name] * 1e3:.3g} ms" if name in measured else ""
        mark = "chosen" if name == chosen else ""
        table.append((name, f"{seconds * 1e3:.3g} ms", taken, _memory(matrix, name), mark))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
        for row in table
    ]
    return "\n".join([*(line.rstrip() for line in lines), _reason(matrix, chosen, predicted)])


def _memory(matrix: Any, name: str) -> str:
    """Bytes of a layout, where it is built."""
    layout = matrix.layout_if_built(name)
    if name == "blocks":
        size = _operand_type(matrix).itemsize
        surveyed = known_survey(matrix.csr, size, size)
        layout = None if surveyed is None else surveyed.layout
    return "not built" if layout is None else f"{layout.nbytes / 2**20:,.1f} MiB"


def _reason(matrix: Any, chosen: str, predicted: dict[str, float]) -> str:
    x = _operand_type(matrix)
    what = f"A @ x, x of {x}"
    if chosen == "blocks":
        return (
            f"{what}: by blocks of columns, whose part of x lies in shared memory; masked products read {matrix.layout}"
        )
    if not matrix.is_auto:
        return f'{what}: {chosen}, as format="{chosen}" asks'
    if matrix.device == "cpu":
        return f"{what}: csr, in which the CPU multiplies"
    if matrix.nnz < _CHOICE_ENTRIES:
        return f"{what}: csr, as of fewer than {_CHOICE_ENTRIES:,} entries; launches or threads take longer than either"
    other = min(predicted.keys() - {chosen}, key=predicted.__getitem__)
    return f"{what}: {chosen} is predicted to take {predicted[chosen] / predicted[other]:.2f} of the time of {other}"
