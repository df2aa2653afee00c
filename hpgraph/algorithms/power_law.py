"""Power laws fitted to degrees and other numbers: exponent by maximum likelihood, cutoff by the smallest distance.

A. Clauset, C. R. Shalizi, M. E. J. Newman, "Power-law distributions in empirical data", SIAM Review 51 (2009).
"""

from typing import Any, NamedTuple

import numpy as np

from hpgraph.algorithms.vertex_values import as_array
from hpgraph.core.device import to_device
from hpgraph.core.number import real
from hpgraph.core.suggestions import naming_arguments

# Interval of the exponent.
_BOUNDS = 1.01, 20.0


class PowerLaw(NamedTuple):
    """Result of `hpgraph.power_law_fit`.

    ``alpha``: the exponent; ``sigma``: its standard error; ``xmin``: the least value in the tail; ``distance``: of
    Kolmogorov and Smirnov, between the law and the values from there on; ``n_tail``: their number.
    """

    alpha: float
    sigma: float
    xmin: float
    distance: float
    n_tail: int


@naming_arguments
def power_law_fit(values: Any, *, xmin: float | None = None, discrete: bool | None = None) -> PowerLaw:
    """The power law p(x) ~ x^-alpha, x >= xmin, that is nearest to some numbers.

    Parameters
    ----------
    values : array of shape (n,)
        The numbers, such as ``G.degree``; those that are not above 0 are left out.
    xmin : float, optional
        The least value; by default that from which on the law is nearest to the values.
    discrete : bool, optional
        Whether values are whole numbers; by default whether they are of an integer type.

    Returns
    -------
    PowerLaw

    Raises
    ------
    ValueError, TypeError
        If there are fewer than two different values from `xmin` on.

    Notes
    -----
    Computed in NumPy; an array on the GPU is copied.

    References
    ----------
    A. Clauset, C. R. Shalizi, M. E. J. Newman, "Power-law distributions in empirical data", SIAM Review 51 (2009).

    Examples
    --------
    >>> G = hpg.datasets.barabasi_albert_graph(20_000, 3)
    >>> round(hpg.power_law_fit(G.out_degree).alpha, 1)
    2.8
    """
    given = to_device(as_array(values, "values"), "cpu")
    if given.ndim != 1 or given.dtype.kind not in "biuf" or not np.isfinite(given).all():
        raise ValueError("values must be one-dimensional, of finite numbers")
    whole = given.dtype.kind != "f" if discrete is None else discrete
    value, count = np.unique(given[given > 0], return_counts=True)
    if whole and (value % 1).any():
        raise ValueError("values must be whole numbers where discrete=True")
    value = value.astype(np.float64)
    if xmin is not None:
        kept = value >= real(xmin, "xmin", above=0)
        starts, value, count = [float(xmin)], value[kept], count[kept]
    else:
        starts = value[:-1].tolist()
    if len(value) < 2:
        raise ValueError("values: a law is fitted to two or more different numbers above 0, from xmin on")
    fits = [_fit(start, value[value >= start], count[value >= start], whole) for start in starts]
    return min(fits, key=lambda fit: fit.distance)


def _fit(start: float, value: np.ndarray, count: np.ndarray, whole: bool) -> PowerLaw:
    """The law from a least value on."""
    number, logs = int(count.sum()), float((count * np.log(value / start)).sum())
    if whole:
        alpha, sigma = _exponent(start, number, logs)
    else:
        alpha = 1 + number / logs
        sigma = (alpha - 1) / number**0.5
    # The distance is taken at each step of both, and at its lower side if values are continuous.
    reached = np.cumsum(count) / number
    if whole:
        from scipy.special import zeta

        apart = abs(1 - zeta(alpha, value + 1) / zeta(alpha, start) - reached)
    else:
        expected = 1 - (value / start) ** (1 - alpha)
        apart = np.maximum(abs(expected - reached), abs(expected - (reached - count / number)))
    return PowerLaw(alpha, sigma, start, float(apart.max()), number)


def _exponent(start: float, number: int, logs: float) -> tuple[float, float]:
    """The most likely exponent of whole numbers from a least one, and its standard error."""
    from scipy.optimize import minimize_scalar
    from scipy.special import zeta

    def loss(alpha: float) -> float:
        # Over powers of the least value: those of large ones underflow.
        return float(np.log(zeta(alpha, start)) + alpha * np.log(start) + alpha * logs / number)

    alpha = float(minimize_scalar(loss, bounds=_BOUNDS, method="bounded", options={"xatol": 1e-9}).x)
    step = 1e-3
    bend = (loss(alpha + step) - 2 * loss(alpha) + loss(alpha - step)) / step**2
    return alpha, (number * bend) ** -0.5
