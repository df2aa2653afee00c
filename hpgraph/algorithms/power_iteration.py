"""Arguments, results and warning of iterations that end when changes are small."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpgraph.algorithms.array_result import ArrayResult
from hpgraph.algorithms.out_strength import least_and_largest
from hpgraph.containers.graph import Graph, real, whole
from hpgraph.core.device import Array
from hpgraph.core.errors import ConvergenceWarning
from hpgraph.core.number import value_type
from hpgraph.engine.program import Property, VertexProgram
from hpgraph.engine.result import Trace


def refuse_unfit_weights(graph: Graph, weighted: bool) -> None:
    """Raise ValueError if weights are NaN or infinite; called only if results are."""
    smallest, largest = least_and_largest(graph.out_csr) if weighted and graph.n_edges else (0.0, 0.0)
    if not -np.inf < smallest <= largest < np.inf:
        unfit = "NaN" if np.isnan(smallest) else "infinity"
        raise ValueError(f"weights must be finite, and there is {unfit}; weight=None does without them")


@dataclass(frozen=True, eq=False)
class CentralityResult(ArrayResult, array="centrality"):
    """Centrality of every vertex by an iteration. ``numpy.asarray`` converts it to the array.

    Attributes
    ----------
    centrality : float array of length n
        By index, on the graph's device.
    iterations : int
    residual : float
        The last iteration's change, summed over all vertices.
    converged : bool
    trace : Trace
    """

    centrality: Array
    iterations: int
    residual: float
    converged: bool
    trace: Trace

    def __repr__(self) -> str:
        return f"<CentralityResult: {len(self)} vertices, {ending(self)}>"


def ending(result: Any) -> str:
    """Whether an iteration converged, and its steps, as text."""
    converged = f"{'' if result.converged else 'not '}converged"
    return f"{converged} after {result.iterations} iterations, residual {result.residual:.2g}"


def warn_unless(converged: bool, tol: float, what: str, iterations: int, residual: float) -> None:
    """Warn, for the caller of `naming_arguments`, of an iteration that did not converge, unless its `tol` is 0."""
    if not converged and tol > 0:
        warnings.warn(
            f"{what} stopped after {iterations} iterations at a change of {residual:.3g}, above what tol={tol:g} "
            "allows: raise max_iteration or tol",
            ConvergenceWarning,
            stacklevel=4,
        )


def iterated(
    step: Callable[[Any, int], tuple[Any, float]], held: Any, limit: int, is_over: Callable[[float], bool]
) -> tuple[Any, int, float]:
    """Replace `held` by ``step(held, iterations)`` until ``is_over(residual)``, or `limit` times."""
    iterations, residual = 0, math.inf
    while iterations < limit and not is_over(residual):
        held, residual = step(held, iterations)
        iterations += 1
    return held, iterations, residual


def checked(tol: Any, max_iteration: Any, dtype: Any) -> tuple[float, int, np.dtype[Any]]:
    """The arguments that all iterations have, checked."""
    tol, limit, dtype = real(tol, "tol", least=0), whole(max_iteration, "max_iteration", least=0), value_type(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise TypeError(f"dtype must be float32 or float64, not {dtype}")
    return tol, limit, dtype


class SendsValue(VertexProgram):
    """Every vertex sends its `value` in each superstep, and sums what it receives."""

    weighted = False
    reduce = "plus"
    activity = "all"
    value = Property()

    def gather(source, weight, target):  # noqa: D102
        return source.value


def _times_weight(source, weight, target):  # type: ignore[no-untyped-def]
    return source.value * weight


def by_weights(program: type[VertexProgram]) -> dict[bool, type[VertexProgram]]:
    """Variants of a program that sends its property `value`: unweighted, and multiplied by the arc's weight."""
    weighted = {"weighted": True, "gather": _times_weight}
    return {False: program, True: type(f"Weighted{program.__name__}", (program,), weighted)}
