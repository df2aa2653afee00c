"""Which way a whole product goes on the GPU: predicted from the matrix's shape and locality, for all callers alike.

Sums of floats may differ in their last bits from one way to another. So what chooses, by default, is the matrix and the
types alone, and products repeat from run to run; where sums are exact, or ``config.measure_layouts`` asks for it, the
first product times those that are predicted to be close.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from hpgraph.core.config import config
from hpgraph.formats import CSR, SELL, RowFormat
from hpgraph.formats.sell import slots_of
from hpgraph.kernels.runtime.attached import attached
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors
from hpgraph.kernels.runtime.techniques import techniques
from hpgraph.kernels.spmv.cuda_column_blocks_layout import LOADING, STRETCH, known_survey, survey
from hpgraph.kernels.spmv.cuda_locality import locality
from hpgraph.kernels.spmv.cuda_stretches import can_stretch
from hpgraph.kernels.spmv.layout_cost import (
    RATES,
    Shape,
    entries_seconds,
    hyb_seconds,
    row_lengths,
    rows_seconds,
    slices_seconds,
    stretches_seconds,
)
from hpgraph.kernels.spmv.origin import csr_of

# Does a whole product, given the state and the array to write.
Multiply = Callable[[tuple[Any, ...], Any], None]

# Below this many entries the launches take longer than any choice could save.
CHOICE_ENTRIES = 1 << 18
# Ways whose predicted times differ by no more than this are timed, where timing may choose; and how often each.
UNSURE, TIMES = 1.5, 3
# SELL has to be made, and holds padding: it is chosen where it takes no more than such a share of any other way's time.
SLICES_PAY = 0.9


def shape_of(csr: CSR, operand: int, result: int) -> Shape:
    """What the cost of a product depends on; measured once for each pair of sizes.

    ``operand, result``: bytes of an element of the vectors.
    """
    known = _shapes(csr)
    if (operand, result) not in known:
        local = locality(csr, operand) if 1 < operand <= 32 else locality(csr, 4)
        known[operand, result] = replace(
            _lengths(csr), operand=operand, result=result, sectors=local.sectors, misses=local.misses
        )
    return known[operand, result]


@attached
def _lengths(csr: CSR) -> Shape:
    return row_lengths(csr)


@attached
def _shapes(csr: CSR) -> dict[tuple[int, int], Shape]:
    return {}


def predict(rows: RowFormat, operand: int, result: int, unsure: bool = False, slices: bool = False) -> dict[str, float]:
    """Seconds of a whole product of a semiring, by way: "rows", "stretches", "hyb", and "blocks" where it pays.

    And "sell" where the rows are that, or it is asked for, or it is quicker than others by more than predictions err.
    """
    csr, rates = csr_of(rows), RATES["cuda"]
    shape = shape_of(csr, operand, result)
    found = {"rows": rows_seconds(shape, rates), "hyb": hyb_seconds(shape, rates)}
    if techniques.row_stretches and can_stretch(csr) and result in (4, 8):
        found["stretches"] = stretches_seconds(shape, rates)
    if techniques.column_blocks and operand in (4, 8) and result in (4, 8):
        surveyed = survey(csr, shape, min(found.values()))
        if surveyed is not None and (surveyed.pays or unsure):
            found["blocks"] = surveyed.seconds
    if slices or isinstance(rows, SELL):
        found["sell"] = slices_seconds(shape, _slots(csr), rates)
    elif rates.by_slices is not None:
        most = (UNSURE if unsure else SLICES_PAY) * min(found.values())
        # Rows are sorted to count slots only where entries without padding would be quick enough.
        if slices_seconds(shape, csr.nnz, rates) < most:
            seconds = slices_seconds(shape, _slots(csr), rates)
            found |= {"sell": seconds} if seconds < most else {}
    return found


@attached
def _slots(csr: CSR) -> int:
    return slots_of(csr)


def fetches(csr: CSR, operand: int, result: int) -> bool:
    """Whether a whole product of a semiring brings what it reads of the vector to shared memory first.

    Then the vector may as well lie in another GPU's memory: blocks of columns in their own order read it once, from
    front to back, and others see to it themselves.
    """
    if csr.nnz < CHOICE_ENTRIES:
        return False
    predicted = predict(csr, operand, result)
    return min(predicted, key=predicted.__getitem__) == "blocks"


def longer_abroad(csr: CSR, operand: int, result: int, parts: int) -> float:
    """What share of a whole product's time a part of it takes longer whose vectors both lie on another GPU."""
    if csr.nnz < CHOICE_ENTRIES:
        return 0.0
    rates = RATES["cuda"]
    seconds, waits = min(predict(csr, operand, result).values()), csr.shape[1] * operand / rates.link
    if fetches(csr, operand, result):
        surveyed, weight = known_survey(csr, operand, result), shape_of(csr, operand, result).weight
        if surveyed is None or surveyed.order is None:
            waits = 0.0
        else:
            # Meanwhile it works on the hottest columns, which are fetched one by one. For that either waits for the
            # other once, two kernels are launched more, and each multiprocessor loads a block more.
            loaded = entries_seconds(LOADING * STRETCH * multiprocessors(), weight, rates)
            waits = max(0.0, waits - surveyed.hottest * entries_seconds(csr.nnz, weight, rates) / parts)
            waits += rates.far * (1 << surveyed.shift) + loaded + 4 * rates.launch
    return (waits + csr.shape[0] / parts * result * rates.abroad) / seconds


def reads_slab(csr: CSR, operand: int, result: int, blocks: bool = True) -> bool:
    """Whether a graph's whole products are quickest in HYB, so that it is worth making."""
    if not techniques.hyb or csr.nnz == 0:
        return False
    predicted = predict(csr, operand, result) if csr.nnz >= CHOICE_ENTRIES else {}
    # Sweeps do not read SELL.
    predicted.pop("sell", None)
    if not blocks:
        predicted.pop("blocks", None)
    if "blocks" in predicted:
        return False
    # Sweeps over what is all slab are one kernel.
    return _lengths(csr).tail == 0 or (len(predicted) > 0 and min(predicted, key=predicted.__getitem__) == "hyb")


def may_time(exact: bool) -> bool:
    """Whether a product may choose its way by timing.

    ``exact``: whether all ways give the same bits.
    """
    wanted = config.measure_layouts
    return wanted is True or (wanted == "auto" and exact)


def by_time(ways: dict[str, tuple[float, Callable[[], Multiply]]], timed: bool) -> Multiply:
    """Of several ways, the one that is predicted to be quickest, or is timed to be.

    ``ways``: predicted seconds, and what makes ready the way of a name.
    """
    ordered = sorted(ways.values(), key=lambda way: way[0])
    close = [make for seconds, make in ordered if seconds <= UNSURE * ordered[0][0]]
    return _Timed([make() for make in close]) if timed and len(close) > 1 else close[0]()


class _Timed:
    """The quickest of several ways, found out by the first product and kept."""

    def __init__(self, ways: list[Multiply]) -> None:
        self._ways = ways

    def __call__(self, state: tuple[Any, ...], out: Any) -> None:
        if len(self._ways) > 1:
            seconds = [_seconds(way, state, out) for way in self._ways]
            self._ways = [self._ways[int(np.argmin(seconds))]]
        self._ways[0](state, out)


def _seconds(multiply: Multiply, state: tuple[Any, ...], out: Any) -> float:
    import cupy

    multiply(state, out)  # the first loads code
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for _ in range(TIMES):
        multiply(state, out)
    end.record()
    end.synchronize()
    return float(cupy.cuda.get_elapsed_time(begin, end))
