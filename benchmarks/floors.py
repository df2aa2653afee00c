"""What one NVIDIA H200 allows at the least, by formulas over figures measured on it.

The figures: device copy 4,275 GB/s, bytes read and written added up; random 4-byte gathers, 147, 147, 117 and 49
billion a second from vectors of 2, 4, 8 and 32 million; probes of bitmasks of as many bits, 259, 163, 160 and
149; dependent loads 0.24 µs each, four to a level of a search (row, offsets, neighbour, its bit). A floor is for plain
formats with ids of 4 bytes; tighter packing may pass below.
"""

import numpy as np

COPY = 4.275e12
SIZES = (2e6, 4e6, 8e6, 32e6)
GATHERS = (147e9, 147e9, 117e9, 49e9)
PROBES = (259e9, 163e9, 160e9, 149e9)
LINK = 0.24e-6


def seconds(work: str, n: int, arcs: int, levels: float | None, iterations: int) -> float | None:
    """The floor of a work.

    Parameters
    ----------
    work : str
        One of the works.
    n, arcs : int
        Vertices and stored arcs.
    levels : float or None
        Levels of a breadth-first search; without them searches have no floor.
    iterations : int
        Of PageRank.

    Returns
    -------
    float or None
        None where no formula says it: triangles depend on the wedges that an order leaves.
    """
    offsets = 8 * (n + 1)
    if levels is None and work in ("bfs", "bfs_smallest", "bfs_row", "sssp"):
        return None
    chain = 4 * LINK * (levels or 0)
    match work:
        case "bfs" | "bfs_smallest":
            # Each vertex is found by one probe, and its level and parent are written.
            return n / _rate(PROBES, n) + 8 * n / COPY + chain
        case "bfs_row":
            return 64 * (seconds("bfs", n, arcs, levels, iterations) or 0.0)
        case "sssp":
            # Each arc's end and weight are read once, and a distance is gathered for it.
            return max((8 * arcs + offsets) / COPY, arcs / _rate(GATHERS, n)) + chain
        case "pagerank":
            # Each arc's end; each vertex's share read and written, its rank written, its degree read.
            return iterations * (4 * arcs + offsets + 32 * n) / COPY
        case "pagerank32":
            return iterations * (4 * arcs + offsets + 16 * n) / COPY
        case "spmv" | "spmv_hyb":
            return (8 * arcs + offsets + 8 * n) / COPY
        case "spmv64":
            return (12 * arcs + offsets + 16 * n) / COPY
        case "build":
            # Ends are read from CSR and written to HYB.
            return (8 * arcs + offsets) / COPY
    return None


def _rate(rates: tuple[float, ...], n: int) -> float:
    """Between the vectors that were measured; none is smaller or larger than these."""
    return float(np.interp(n, SIZES, rates))
