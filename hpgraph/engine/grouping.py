"""Groups of lanes: how many starts go together, and which.

More starts than lanes take turns, group after group, so that 100,000 of them need no more memory than one group.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hpgraph.core.number import whole


def lanes_at_most(lanes: int | str, count: int) -> int:
    """The number of lanes of a group, where the user gave a number or "auto".

    Parameters
    ----------
    lanes : int or "auto"
    count : int
        Number of starts.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        If it is no positive whole number.
    """
    if isinstance(lanes, str):
        if lanes != "auto":
            raise ValueError(f'lanes must be "auto" or a whole number, not {lanes!r}')
        return max(min(count, 64), 1)
    number = whole(lanes, "lanes", 'a whole number or "auto"')
    if number < 1:
        raise ValueError(f"lanes must be positive, not {lanes}")
    return number


def groups(count: int, lanes: int) -> Iterator[np.ndarray]:
    """Which starts go together: their numbers, group after group.

    Parameters
    ----------
    count : int
        Number of starts.
    lanes : int
        Of them in a group, at the most.

    Yields
    ------
    int64 array
    """
    for begin in range(0, count, lanes):
        yield np.arange(begin, min(begin + lanes, count))
