"""Matrices of random values at random places."""

from collections.abc import Callable
from typing import Any

import numpy as np

from hpgraph.core.device import array_module, check_memory, normalize_device
from hpgraph.core.number import real
from hpgraph.formats import CSR, index_dtype
from hpgraph.formats.checks import as_shape, as_value_dtype
from hpgraph.scipy_api.matrix import Matrix
from hpgraph.semiring.dtypes import real_dtype


def random(
    m: int,
    n: int,
    density: float = 0.01,
    dtype: Any = None,
    rng: Any = None,
    data_sampler: Callable[..., Any] | None = None,
    *,
    device: str = "cpu",
) -> Matrix:
    """A matrix of random values at random places.

    Parameters
    ----------
    m, n : int
        Rows and columns.
    density : float, default 0.01
        Share of the places that hold an entry, 0 to 1.
    dtype : dtype, optional
        Type of the values, float64 by default. Floats are uniform in [0, 1), and so
        are the two parts of complex numbers; integers and bool are over all of their type.
    rng : int or Generator of NumPy or CuPy, optional
        Seed, or source of the numbers. The same seed gives the same matrix on the same device.
    data_sampler : callable, optional
        ``data_sampler(size=k)`` gives the values instead.
    device : {"cpu", "cuda"}
        Where; the numbers are drawn there.

    Returns
    -------
    Matrix, shape (m, n)
        With ``round(density * m * n)`` entries.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> hpg.random(4, 5, density=0.25, rng=1)
    <Matrix 4x5, 5 entries, float64, csr, cpu>
    """
    rows, columns = as_shape((m, n))
    if not 0 <= real(density, "density") <= 1:
        raise ValueError(f"density must lie between 0 and 1, not {density!r}")
    places = rows * columns
    if places >= 1 << 63:
        raise ValueError(f"a matrix of shape {(rows, columns)} has too many places to draw from: 2**63 or more")
    xp = array_module(normalize_device(device))
    source = rng if hasattr(rng, "integers") else xp.random.default_rng(rng)
    count = round(density * places)
    check_memory(32 * count, f"a random matrix of {count} entries", device)
    kept = _draw(source, xp, places, count)
    kind = as_value_dtype(float if dtype is None else dtype, "dtype")
    if data_sampler is not None:
        data = xp.asarray(data_sampler(size=count)).astype(kind, copy=False)
    elif kind.kind == "f":
        data = source.random(count, dtype=kind)
    elif kind.kind == "c":
        data = source.random(2 * count, dtype=real_dtype(kind)).view(kind)
    else:
        # All bits of the type, drawn by 32, which NumPy's and CuPy's generators have in common.
        words = source.integers(0, 2**32 - 1, size=-(-count * kind.itemsize // 4), dtype=np.uint32, endpoint=True)
        bits = words.view(np.uint8)[: count * kind.itemsize]
        data = bits % 2 == 1 if kind == np.bool_ else bits.view(kind)
    ids = index_dtype(max(rows, columns))
    row, column = (kept // columns, kept % columns) if count else (kept, kept)
    return Matrix._of(CSR.from_coo(row.astype(ids), column.astype(ids), data, (rows, columns)))


def _draw(source: Any, xp: Any, places: int, count: int) -> Any:
    """`count` of the numbers below `places`, ascending, each set of them as likely."""
    if 2 * count > places:
        # Few are left out: drawn, they leave the others.
        kept = xp.ones(places, dtype=bool)
        kept[_draw(source, xp, places, places - count)] = False
        return xp.flatnonzero(kept)
    drawn = xp.zeros(0, dtype=np.int64)
    while len(drawn) < count:
        more = source.integers(0, places, size=count - len(drawn) + 16, dtype=np.int64)
        drawn = xp.unique(xp.concatenate((drawn, more)))
    # Which of too many stay is drawn as well: the largest would otherwise be the ones to go.
    chosen = source.random(len(drawn)).argsort()[:count]
    return xp.sort(drawn[chosen])
