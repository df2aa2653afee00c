"""Cost model of SpMV in each layout, by which layouts are chosen.

Three costs are counted. Streamed bytes cost their number over the device's bandwidth. Gathers cost *sectors*: pieces of
32 bytes of the vector that miss L1 and come from L2; entries of a row, and of adjacent rows, share them. A sector that
misses L2 is a *miss*. Sectors and misses are measured on a sample of the matrix (`hpgraph.kernels.spmv.cuda_locality`).
The instructions for each entry, row or slot cost time of their own, which bounds it if there are few bytes.

`RATES` are all the constants there are, one set a device. Those of "cuda" were fitted to 22 matrices on an H200 (web
graphs, power laws, lattices, bands, cliques, small worlds, stripes, dense rows and columns, rectangles; float32,
float64 and patterns of float64), where `python -m benchmarks layouts` sets what they predict beside what is measured;
those of "cpu" on two cores of a server. On other machines times scale, but what is compared scales alike.
"""

from dataclasses import dataclass

from hpgraph.formats import CSR, Division, lengths_of


@dataclass(frozen=True)
class Rates:
    """Performance constants of a device: seconds, factors on the time of bytes, and bounds besides that of bytes."""

    bandwidth: float  # bytes streamed in a second
    launch: float  # of a kernel besides its work
    sector: float = 0  # of one from L2
    miss: float = 0  # in addition, of a sector that misses L2
    # Streams and gathers overlap: together they take the norm of this order of their times. 1 adds them, more lets the
    # longer hide the shorter.
    overlap: float = 1
    by_rows: float = 1  # factor on an entry's bytes if lanes share rows of similar length
    row: float = 0  # of such a row,
    short_row: float = 0  # and of one with up to four entries
    entry: float = 0  # of an entry by stretches of entries: a bound,
    ending: float = 0  # and of a row's end there
    by_stretches: float = 1  # factor on an entry's bytes there,
    wide: float = 1  # and for values of 8 bytes
    slot: float = 0  # of a place in a slab: a bound
    tail_row: float = 0  # of a row that continues beyond the slab
    staged: float = 0  # of an entry by blocks of columns: a bound
    blocked: float = 1  # factor on an entry's bytes there
    loading: float = 0  # for a multiprocessor to load a block's part of the vector
    scatter: float = 1  # factor of summing partial results over streaming them
    run: float = 0  # of a warp's load of partial results, at least one for each block and group of rows: a bound
    link: float = 1  # bytes a second that one device copies from another; over NVLink, of two H200
    remote: float = 0  # in addition, of a byte of the result written to another device's memory; likewise


RATES = {
    "cuda": Rates(
        4.275e12, 5e-6, sector=5.8e-12, miss=23e-12, overlap=1.2, by_rows=1.8, row=27e-12, short_row=4e-12,
        entry=1.9e-12, ending=5e-12, by_stretches=1.1, wide=1.25, slot=1.55e-12, tail_row=24e-12, staged=1.9e-12,
        blocked=1.3, loading=16e-6, scatter=1.65, run=30e-12, link=3.7e11, remote=1.1e-12,
    ),
    "cpu": Rates(18e9, 2.5e-6, row=0.1e-9, short_row=0.1e-9),
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """The parameters that the cost of a product depends on."""

    rows: int
    columns: int
    entries: int
    index: int  # bytes of a column id,
    weight: int  # of a value (0 for a pattern),
    operand: int  # and of an element of the two vectors
    result: int
    filled_rows: int  # rows with entries,
    short_rows: int  # and with one to four
    longest: int  # entries of the longest row
    sectors: float = 0  # sectors of the vector that come from L2, for each entry,
    misses: float = 0  # and those that L2 has to fetch again


def row_lengths(csr: CSR) -> Shape:
    """The part of a shape that depends on the row lengths; on CUDA this waits for the stream."""
    length, rows = lengths_of(csr.indptr)
    index, weight = csr.indices.dtype.itemsize, 0 if csr.data is None else csr.data.dtype.itemsize
    short = (length > 0) & (length <= 4)
    return Shape(
        *csr.shape, csr.nnz, index, weight, 0, 0, int(rows[length > 0].sum()), int(rows[short].sum()),
        int(length.max(initial=0)),
    )  # fmt: skip


def _together(shape: Shape, streamed: float, rates: Rates) -> float:
    """Seconds of a stream and of concurrent gathers."""
    gathered = shape.entries * (shape.sectors * rates.sector + shape.misses * rates.miss)
    return float((streamed**rates.overlap + gathered**rates.overlap) ** (1 / rates.overlap))


def rows_seconds(shape: Shape, rates: Rates) -> float:
    """Seconds of a product over CSR with rows binned by length."""
    entries = shape.entries * (shape.index + shape.weight) * rates.by_rows
    others = shape.rows * (12 + shape.result) + shape.columns * shape.operand
    long_rows = shape.filled_rows - shape.short_rows
    return (
        (1 if shape.longest <= 1024 else 2) * rates.launch
        + _together(shape, (entries + others) / rates.bandwidth, rates)
        + long_rows * rates.row + shape.short_rows * rates.short_row
    )  # fmt: skip


def stretches_seconds(shape: Shape, rates: Rates) -> float:
    """Seconds of a product over CSR by stretches of equally many entries."""
    streamed = shape.entries * (shape.index + shape.weight + 1 / 8) + shape.rows * shape.result
    streamed += shape.columns * shape.operand
    worked = shape.entries * rates.entry + shape.filled_rows * rates.ending
    slower = rates.by_stretches * (rates.wide if shape.weight >= 8 else 1)
    return 2 * rates.launch + _together(shape, max(slower * streamed / rates.bandwidth, worked), rates)


def slab_seconds(shape: Shape, division: Division, rates: Rates) -> float:
    """Seconds of a product over a slab and a tail."""
    slots, tail, tail_rows = division
    streamed = (slots + rates.by_rows * tail) * (shape.index + shape.weight) + shape.rows * shape.result
    streamed += shape.columns * shape.operand + tail_rows * (16 + 2 * shape.result)
    return (
        (3 if tail else 1) * rates.launch
        + _together(shape, max(streamed / rates.bandwidth, slots * rates.slot), rates)
        + tail_rows * rates.tail_row
    )  # fmt: skip


def blocks_seconds(shape: Shape, pairs: int, loads: float, runs: int, rates: Rates) -> float:
    """Seconds of a product by blocks of columns.

    An entry is 2 bytes and its weight; a partial result is written, and read again with the 2 bytes of its row.
    """
    each = max(rates.blocked * (2 + shape.weight) / rates.bandwidth, rates.staged)
    entries = shape.entries * each + loads * rates.loading
    added = max(
        rates.scatter * pairs * (2 + shape.result) / rates.bandwidth, (min(runs, pairs) + pairs / 32) * rates.run
    )  # fmt: skip
    return 3 * rates.launch + entries + added + (pairs + shape.rows) * shape.result / rates.bandwidth
