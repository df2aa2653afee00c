"""How long a product of a matrix and a vector takes in each layout: a small model, by which layouts are chosen.

Time is counted as bytes streamed from memory; what is no stream is given as the bytes that could have been streamed
meanwhile, or as seconds for each row, slot or launch. `RATES` are all the constants there are, one set a device. Those
of "cuda" were measured on an H200, those of "cpu" on two cores of a server; on other machines times scale, but what is
compared scales alike.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rates:
    """What a device can do.

    Attributes
    ----------
    bandwidth : float
        Bytes streamed in a second.
    launch : float
        Seconds a kernel costs beside its work.
    line : float
        Bytes streamed in the time of a gather that touches a line of its own of the vector, which the cache holds.
    cache : float
        Bytes of vector the cache holds.
    miss : float
        Bytes to be added to `line` for each MiB of vector beyond the cache.
    row : float
        Seconds of a row of CSR, or of a tail, that lanes share.
    short_row : float
        The same for a row of up to four entries.
    slot : float
        Seconds of a place in a slab beside its bytes.
    staged : float
        Seconds of a gather from shared memory.
    scatter : float
        How much longer adding up partial results takes than streaming them.
    """

    bandwidth: float
    launch: float
    line: float = 0
    cache: float = 0
    miss: float = 0
    row: float = 0
    short_row: float = 0
    slot: float = 0
    staged: float = 0
    scatter: float = 1


RATES = {
    "cuda": Rates(
        4.275e12, 2.5e-6, line=29, cache=16 << 20, miss=0.5, row=60e-12, short_row=12e-12, staged=0.6e-12, scatter=1.65
    ),
    "cpu": Rates(18e9, 2.5e-6, row=0.1e-9, short_row=0.1e-9, slot=0.5e-9),
}


@dataclass(frozen=True)
class Shape:
    """What the cost of a product depends on.

    Attributes
    ----------
    rows, columns, entries : int
    index, weight, operand, result : int
        Bytes of a column id, of a value (0 for a pattern), and of an element of the two vectors.
    width : int
        Of the slab in HYB.
    tail, tail_rows : int
        Entries beyond the slab, and rows that have any.
    short_rows : int
        Rows of one to four entries.
    lines : int
        Lines of 32 columns that warps touch taking the entries as they come.
    """

    rows: int
    columns: int
    entries: int
    index: int
    weight: int
    operand: int
    result: int
    width: int
    tail: int
    tail_rows: int
    short_rows: int
    lines: int


def gathered_bytes(lines: int, entries: int, columns: int, operand: int, rates: Rates) -> float:
    """Bytes that could be streamed while a product gathers from a vector, directly.

    Parameters
    ----------
    lines, entries, columns, operand
        As in `Shape`.
    rates : Rates

    Returns
    -------
    float
    """
    beyond = max(0.0, columns * operand - rates.cache) / 2**20
    # Where warps touch few lines, neighbours share them, and what the cache does not hold is missed once for all.
    return lines * max(0.0, rates.line - 4 + rates.miss * beyond * lines / max(entries, 1))


def csr_seconds(shape: Shape, rates: Rates) -> float:
    """A product that reads CSR.

    Parameters
    ----------
    shape : Shape
    rates : Rates

    Returns
    -------
    float
    """
    streamed = shape.entries * (shape.index + shape.weight) + shape.rows * (12 + shape.result)
    streamed += shape.columns * shape.operand
    gathered = gathered_bytes(shape.lines, shape.entries, shape.columns, shape.operand, rates)
    long_rows = shape.rows - shape.short_rows
    return (
        2 * rates.launch + (streamed + gathered) / rates.bandwidth
        + long_rows * rates.row + shape.short_rows * rates.short_row
    )  # fmt: skip


def hyb_seconds(shape: Shape, rates: Rates) -> float:
    """A product that reads HYB.

    Parameters
    ----------
    shape : Shape
    rates : Rates

    Returns
    -------
    float
    """
    slots = shape.width * shape.rows
    streamed = (slots + shape.tail) * (shape.index + shape.weight) + shape.rows * shape.result
    streamed += shape.columns * shape.operand + shape.tail_rows * (16 + 2 * shape.result)
    gathered = gathered_bytes(shape.lines, shape.entries, shape.columns, shape.operand, rates)
    return (
        (3 if shape.tail else 1) * rates.launch + (streamed + gathered) / rates.bandwidth
        + slots * rates.slot + shape.tail_rows * rates.row
    )  # fmt: skip


def blocks_seconds(entries: int, rows: int, pairs: int, weight: int, result: int, rates: Rates) -> float:
    """A product by blocks of columns.

    An entry is 2 bytes and its weight; a partial result is written, and read again with the 2 bytes of its row.

    Parameters
    ----------
    entries, rows, weight, result
        As in `Shape`.
    pairs : int
        Partial results.
    rates : Rates

    Returns
    -------
    float
    """
    first = entries * (2 + weight) + pairs * result
    second = rates.scatter * pairs * (2 + result) + rows * result
    return 3 * rates.launch + (first + second) / rates.bandwidth + entries * rates.staged
