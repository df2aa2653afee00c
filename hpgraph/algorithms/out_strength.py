"""Out-degrees or out-strengths, the denominators of ranks; and weights of moderate sizes."""

from functools import partial
from typing import Any

import numpy as np

from hpgraph.containers.graph import Graph
from hpgraph.core.device import anywhere, array_module
from hpgraph.core.devices import place_of
from hpgraph.engine.program import Property, VertexProgram, run
from hpgraph.formats import CSR, attached


class Leaving(VertexProgram):
    """The sum of the weights of the arcs that leave a vertex."""

    edges = "out"
    reduce = "plus"
    activity = "all"
    max_iteration = 1
    total = Property("float64")

    def gather(source, weight, target):  # noqa: D102
        return weight

    def update(vertex, message):  # noqa: D102
        return message


class Heaviest(Leaving):
    """The largest weight of the arcs that leave a vertex."""

    reduce = "max"


def moderate(graph: Graph, dtype: np.dtype) -> Graph:
    """The graph, or one whose vertices' weights are scaled by powers of two such that their sums are in range."""
    xp = array_module(graph.device)
    ends = [least_and_largest(csr) for csr in graph.arc_parts if csr.nnz] or [(1.0, 1.0)]
    smallest, largest = float(np.min(ends)), float(np.max(ends))
    if not (smallest >= 0 and largest < np.inf):
        raise ValueError("weights must be finite and not negative for a weighted PageRank; use weight=None")
    # Ranks and shared sums use the other half of the exponents.
    reach = 2.0 ** (60 if dtype == np.float32 else 500)
    if 1 / reach <= smallest and largest <= reach:
        return graph
    heaviest = run(Heaviest, graph).total
    heaviest[heaviest < 0] = 0
    if not anywhere((heaviest > reach) | ((heaviest > 0) & (heaviest < 1 / reach))):
        return graph
    _, exponent = xp.frexp(heaviest)
    whole = graph.out_csr
    scaled = xp.ldexp(whole.data.astype(np.float64), -exponent[whole.expand_rows()])
    return graph.alike(Graph(whole.with_data(scaled), directed=True, duplicates="keep" if graph.multigraph else None))


# Products of two numbers of this size can be summed over any array in memory within float64.
_EXPONENTS = 480


def shift_into_range(least: float, largest: float) -> int:
    """The exponent of the power of two by which to multiply weights; 0 if their largest size is far from the ends."""
    size = max(-least, largest)
    if not 0 < size < np.inf:
        return 0
    exponent = int(np.frexp(size)[1])
    return min(max(exponent, -_EXPONENTS), _EXPONENTS) - exponent


@attached
def scaled_arcs(arcs: CSR) -> CSR:
    """The arcs, their weights multiplied by one power of two if the largest is so near an end of the floats."""
    if arcs.data is None or arcs.data.dtype.kind != "f" or not arcs.nnz:
        return arcs
    shift = shift_into_range(*least_and_largest(arcs))
    if not shift:
        return arcs
    return arcs.with_data(array_module(arcs.data).ldexp(arcs.data.astype(np.float64), shift))


def scaled(graph: Graph) -> Graph:
    """A graph of `scaled_arcs`; itself if they are its own, or not in one memory."""
    if not graph.in_one_memory or scaled_arcs(graph.out_csr) is graph.out_csr:
        return graph
    return Graph(scaled_arcs(graph.out_csr), directed=graph.directed, duplicates="keep" if graph.multigraph else None)


@attached
def least_and_largest(arcs: CSR) -> tuple[float, float]:
    """The minimum and the maximum of the weights; NaN if there is one."""
    with place_of(arcs.data).here:
        return float(arcs.data.min()), float(arcs.data.max())


def out_strength_of(graph: Graph, weighted: bool, dtype: np.dtype) -> Any:
    """Out-degree, or the sum of weights, of each vertex; -1 if it is 0. Read-only."""
    if weighted and graph.weighted:
        cached = _weight_sums(graph.out_csr) if graph.in_one_memory else {}
        if "leaving" not in cached:
            leaving = run(Leaving, graph).total
            leaving[leaving == 0] = -1
            cached["leaving"] = leaving
        return cached["leaving"].astype(dtype, copy=False)
    if graph.in_one_memory:
        return _row_sums(graph.out_csr)
    return graph.of_out_degrees(partial(_counted, n=graph.n_vertices))


@attached
def _weight_sums(arcs: CSR) -> dict[str, Any]:
    return {}


@attached
def _row_sums(arcs: CSR) -> Any:
    return _counted(arcs.degrees, arcs.shape[0])


def _counted(degrees: Any, n: int) -> Any:
    # int32 takes half the bytes if degrees fit.
    leaving = degrees.astype(np.int32 if n < 1 << 31 else np.int64)
    # -1 in place of 0: a masked assignment takes CuPy three kernels more.
    leaving -= leaving == 0
    return leaving
