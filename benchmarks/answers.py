"""Whether an answer is right, by the graph itself or from another library's answer, on NumPy and CuPy alike.

Nothing here computes with hpgraph. Levels and distances are proven, not recomputed: labels in which no arc can be
improved on, and each of which is reached over an arc that explains it, are the shortest ones (weights are positive).
"""

from typing import Any

import numpy as np

from hpgraph.core.device import to_device

from .graphs import Case
from .works import SEMIRINGS

ITERATIONS = 20
DAMPING = 0.85
# How far, summed over all vertices, rounding may take the ranks.
RANK_TOLERANCE = {"pagerank": 1e-6, "pagerank32": 1e-4}
PRODUCT_TOLERANCE = {"spmv": 2e-4, "spmv_hyb": 2e-4, "spmv64": 1e-12}


def prove(work: str, case: Case, source: int | None, answer: Any, rank_tolerance: float) -> str | None:
    """Check an answer against the graph.

    Returns
    -------
    str or None
        What is wrong; None when the answer holds.
    """
    if work == "bfs_row":
        work, source = "bfs", case.row[-1]
    if work in ("bfs", "bfs_smallest"):
        distance = np.asarray(answer) if case.device == "cpu" else answer
        return _shortest(case, source, case.xp.where(distance < 0, np.inf, distance.astype(np.float64)), unit=True)
    if work == "sssp":
        return _shortest(case, source, answer.astype(np.float64), unit=False)
    if work in RANK_TOLERANCE:
        return _near_in_sum(answer, _power_iteration(case), max(rank_tolerance, RANK_TOLERANCE[work]))
    if work in PRODUCT_TOLERANCE:
        return _near_each(answer, case.wide_matrix @ case.wide_vector, PRODUCT_TOLERANCE[work])
    if work in SEMIRINGS:
        return _near_each(answer, _product(work, case), 0)
    # Triangles have no short proof; libraries must agree, and with the published count where there is one.
    return None


def agree(work: str, answer: Any, reference: Any, rank_tolerance: float) -> str | None:
    """Check an answer against one that holds; returns what is wrong, or None."""
    if work in ("triangles", "build"):
        return None if int(answer) == int(reference) else f"counted {int(answer):,}, not {int(reference):,}"
    if work in RANK_TOLERANCE:
        return _near_in_sum(answer, reference, max(rank_tolerance, RANK_TOLERANCE[work]))
    if work in (*PRODUCT_TOLERANCE, *SEMIRINGS):
        return _near_each(answer, reference, PRODUCT_TOLERANCE.get(work, 0))
    # Levels and sums of whole numbers far below 2**24: exact in any type and any order.
    different = int((answer.astype(np.float64) != reference.astype(np.float64)).sum())
    return f"{different:,} vertices have another value" if different else None


def _shortest(case: Case, source: int | None, distance: Any, unit: bool) -> str | None:
    xp = case.xp
    if distance.shape != (case.n,) or source is None or distance[source] != 0:
        return "the source is not at distance 0"
    explained = ~xp.isfinite(distance)
    explained[source] = True
    for row, column, weight in case.arcs():
        beyond = distance[row] + (1 if unit else weight)
        if bool((distance[column] > beyond).any()):
            return "some arc makes a distance shorter"
        explained[column[(distance[column] == beyond) & xp.isfinite(beyond)]] = True
    return None if bool(explained.all()) else "some distance is reached over no arc"


def _power_iteration(case: Case) -> Any:
    """PageRank after so many steps from the uniform start, with the mass of vertices without arcs spread evenly."""
    xp = case.xp
    pattern = case.csr(xp.ones(case.n_arcs))
    dangling = case.degree == 0
    degree = xp.maximum(case.degree, 1)
    rank = xp.full(case.n, 1 / case.n)
    for _ in range(ITERATIONS):
        # The adjacency is symmetric, so it is its own transpose.
        lost = rank[dangling].sum()
        rank = (1 - DAMPING + DAMPING * lost) / case.n + DAMPING * (pattern @ (rank / degree))
    return rank


def _near_in_sum(answer: Any, reference: Any, tolerance: float) -> str | None:
    gap = float(abs(answer - reference).sum())
    return None if gap <= tolerance else f"off by {gap:.1e} in sum"


def _product(semiring: str, case: Case) -> Any:
    """The product of the adjacency over one of the `SEMIRINGS`; where nothing meets, infinity, false or 0.

    The vector is `Case.vector` for min_plus and `Case.flags` for the others, of whose entries those that are true are
    present for the two that read no values.
    """
    xp = case.xp
    if semiring != "min_plus":
        count = case.csr(xp.ones(case.n_arcs, xp.int64)) @ case.flags.astype(xp.int64)
        return count if semiring == "plus_pair" else count > 0
    product = np.full(case.n, np.inf, np.float32)
    starts, messages = to_device(case.indptr, "cpu"), to_device(case.weights + case.vector[case.indices], "cpu")
    some = np.diff(starts) > 0
    product[some] = np.minimum.reduceat(messages, starts[:-1][some])
    return xp.asarray(product)


def _near_each(answer: Any, reference: Any, tolerance: float) -> str | None:
    # Sums of positive numbers in any order are off by a few thousand roundings at most; minima and counts by nothing.
    answer, reference = answer.astype(np.float64), reference.astype(np.float64)
    unequal = answer != reference
    gap = abs(answer[unequal] - reference[unequal]) / (abs(reference[unequal]) + 1e-30)
    return None if bool((gap <= tolerance).all()) else f"off by {float(gap.max()):.1e} of a value"
