"""Choice of the kernels of a whole product on the GPU, predicted from the matrix's shape and locality.

Sums of floats may differ in their last bits between methods. So by default the choice depends on the matrix and the
types alone, and products are reproducible; if sums are exact, or ``config.measure_layouts`` asks for it, the first
product times the candidates with close predictions.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.core.device import cupy
from hpgraph.formats import CSR, ROW_FORMATS, Division, RowFormat, attached
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda_column_blocks_layout import survey
from hpgraph.kernels.spmv.cuda_locality import locality
from hpgraph.kernels.spmv.cuda_stretches import can_stretch
from hpgraph.kernels.spmv.layout_cost import RATES, Shape, row_lengths, rows_seconds, slab_seconds, stretches_seconds

# A prepared product, called with the state and the output array.
Multiply = Callable[[tuple[Any, ...], Any], None]

# Entries below which launches dominate.
CHOICE_ENTRIES = 1 << 18
# Largest ratio of predicted times at which methods are timed, if timing may choose; and repetitions of each.
UNSURE, TIMES = 1.5, 3


@attached
def shape_of(csr: CSR, operand: int, result: int) -> Shape:
    """The parameters that a product depends on, measured once for each pair of sizes of the vectors' elements."""
    local = locality(csr, operand if 1 < operand <= 32 else 4)
    return replace(_lengths(csr), operand=operand, result=result, sectors=local.sectors, misses=local.misses)


@attached
def _lengths(csr: CSR) -> Shape:
    return row_lengths(csr)


@attached
def _divided(csr: CSR, name: str) -> Division:
    """How a matrix would be divided in a format; worked out once."""
    return ROW_FORMATS[name].division(csr)


def predict(rows: RowFormat, operand: int, result: int, unsure: bool = False) -> dict[str, float]:
    """Predicted seconds of a whole product by "rows", "stretches", "blocks" if it pays, and formats to choose from."""
    csr, rates = rows.csr, RATES["cuda"]
    shape = shape_of(csr, operand, result)
    found = {"rows": rows_seconds(shape, rates)}
    for name, kind in ROW_FORMATS.items():
        if name != "csr" and (kind.automatic or name == rows.name):
            found[name] = slab_seconds(shape, _divided(csr, name), rates)
    if techniques.row_stretches and can_stretch(csr) and result in (4, 8):
        found["stretches"] = stretches_seconds(shape, rates)
    if techniques.column_blocks and operand in (4, 8) and result in (4, 8):
        surveyed = survey(csr, shape, min(found.values()))
        if surveyed is not None and (surveyed.pays or unsure):
            found["blocks"] = surveyed.seconds
    return found


def by_layout(predicted: dict[str, float]) -> dict[str, float]:
    """The results of `predict` by layout: rows and stretches both read CSR."""
    found = {"csr": min(predicted["rows"], predicted.get("stretches", predicted["rows"]))}
    return found | {name: seconds for name, seconds in predicted.items() if name not in ("rows", "stretches")}


def quickest_layout(predicted: dict[str, float]) -> str:
    """The layout to read if none is asked for; blocks of columns are made of CSR."""
    layouts = by_layout(predicted)
    return "csr" if "blocks" in layouts else min(layouts, key=layouts.__getitem__)


def remote_overhead(csr: CSR, operand: int, result: int, parts: int) -> float:
    """Relative extra time of one part of a whole product whose vectors both lie on another GPU."""
    if csr.nnz < CHOICE_ENTRIES:
        return 0.0
    rates = RATES["cuda"]
    copied, written = csr.shape[1] * operand / rates.link, csr.shape[0] / parts * result * rates.remote
    return (copied + written) / min(predict(csr, operand, result).values())


def layout_of_sweeps(csr: CSR, operand: int, result: int, blocks: bool = True) -> str:
    """The layout in which a graph's whole products are fastest; ``blocks``: whether blocks of columns may be used."""
    if not techniques.hyb or csr.nnz == 0:
        return "csr"
    predicted = predict(csr, operand, result) if csr.nnz >= CHOICE_ENTRIES else {"rows": 0.0}
    if not blocks:
        predicted.pop("blocks", None)
    if "blocks" not in predicted:
        for name, kind in ROW_FORMATS.items():
            # If all entries are in the slab, a sweep is one kernel.
            if name != "csr" and kind.automatic and _divided(csr, name).tail == 0:
                return name
    return quickest_layout(predicted)


def may_time(exact: bool) -> bool:
    """Whether a product may choose its method by timing; ``exact``: whether all give the same bits."""
    wanted = config.measure_layouts
    return wanted is True or (wanted == "auto" and exact)


def by_time(ways: dict[str, tuple[float, Callable[[], Multiply]]], timed: bool) -> Multiply:
    """The fastest of several methods, by prediction or by timing."""
    ordered = sorted(ways.values(), key=lambda way: way[0])
    close = [make for seconds, make in ordered if seconds <= UNSURE * ordered[0][0]]
    return _Timed([make() for make in close]) if timed and len(close) > 1 else close[0]()


class _Timed:
    """The fastest of several methods, timed by the first product and kept."""

    def __init__(self, ways: list[Multiply]) -> None:
        self._ways = ways

    def __call__(self, state: tuple[Any, ...], out: Any) -> None:
        if len(self._ways) > 1:
            seconds = [_seconds(way, state, out) for way in self._ways]
            self._ways = [self._ways[int(np.argmin(seconds))]]
        self._ways[0](state, out)


def _seconds(multiply: Multiply, state: tuple[Any, ...], out: Any) -> float:
    multiply(state, out)  # the first call loads code
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for _ in range(TIMES):
        multiply(state, out)
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(begin, end))
