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
# Sections of it, until 1e-5 is left, and the share that each keeps.
_SECTIONS, _GOLDEN = 30, (5**0.5 - 1) / 2


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
    """Fit the power law p(x) ~ x^-alpha, x >= xmin, to some numbers.

    Parameters
    ----------
    values : array of shape (n,)
        The numbers, such as ``G.degree``; those that are not above 0 are left out.
    xmin : float, optional
        Lower cutoff; by default the one of smallest Kolmogorov–Smirnov distance.
    discrete : bool, optional
        Whether values are integers; by default whether they have an integer type.

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
    2.9
    """
    array = to_device(as_array(values, "values"), "cpu")
    if array.ndim != 1 or array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        raise ValueError("values must be one-dimensional, of finite numbers")
    whole = array.dtype.kind != "f" if discrete is None else discrete
    value, count = np.unique(array[array > 0], return_counts=True)
    if whole and (value % 1).any():
        raise ValueError("values must be whole numbers where discrete=True")
    value = value.astype(np.float64)
    starts = value[:-1]
    if xmin is not None:
        tail = value >= real(xmin, "xmin", above=0)
        starts, value, count = np.array([float(xmin)]), value[tail], count[tail]
    if len(value) < 2:
        raise ValueError("values: a law is fitted to two or more different numbers above 0, from xmin on")
    # Number of values, and sum of their logarithms, from each start on.
    number, logs = (part[::-1].cumsum()[::-1][: len(starts)] for part in (count, count * np.log(value)))
    logs = logs - number * np.log(starts)
    if whole:
        alpha, sigma = _exponents(starts, number, logs)
    else:
        alpha = 1 + number / logs
        sigma = (alpha - 1) / number**0.5
    distance = [_distance(start, value[i:], count[i:], power, whole)
                for i, (start, power) in enumerate(zip(starts, alpha, strict=True))]  # fmt: skip
    i = int(np.argmin(distance))
    return PowerLaw(float(alpha[i]), float(sigma[i]), float(starts[i]), distance[i], int(number[i]))


def _distance(start: float, value: np.ndarray, count: np.ndarray, alpha: float, whole: bool) -> float:
    """Kolmogorov–Smirnov distance of the law and the tail: at each step, or on both sides of it if continuous."""
    reached = np.cumsum(count) / count.sum()
    if whole:
        from scipy.special import zeta

        return float(abs(1 - zeta(alpha, value + 1) / zeta(alpha, start) - reached).max())
    expected = 1 - (value / start) ** (1 - alpha)
    return float(np.maximum(abs(expected - reached), abs(expected - (reached - count / count.sum()))).max())


def _exponents(start: np.ndarray, number: np.ndarray, logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The most likely exponents of whole numbers from each least one on, and their standard errors."""
    from scipy.special import zeta

    def loss(alpha: np.ndarray) -> np.ndarray:
        # Divided by powers of the least value, since large values' powers underflow.
        return np.log(zeta(alpha, start)) + alpha * (np.log(start) + logs / number)  # type: ignore[no-any-return]

    # Golden sections of all at once: the loss is convex.
    low, high = (np.full(len(start), bound) for bound in _BOUNDS)
    for _ in range(_SECTIONS):
        inner = _GOLDEN * (high - low)
        left = loss(high - inner) < loss(low + inner)
        low, high = np.where(left, low, high - inner), np.where(left, low + inner, high)
    # And a step of Newton's method, since near its minimum the loss is flat.
    alpha, step = (low + high) / 2, 1e-4
    before, at, after = loss(alpha - step), loss(alpha), loss(alpha + step)
    bend = (before - 2 * at + after) / step**2
    return alpha - (after - before) / (2 * step * bend), (number * bend) ** -0.5
