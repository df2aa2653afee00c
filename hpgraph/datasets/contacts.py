"""Contacts of people in a school, like those that badges record: for graphs in time."""

import numpy as np

from hpgraph.containers.temporal import TemporalGraph
from hpgraph.core.number import generator, whole

# Seconds between two readings of the badges, readings a day, and readings from one morning to the next.
_STEP, _READINGS, _DAY = 20, 8 * 3600 // 20, 24 * 3600 // 20
# Longest encounter in readings, exponent of their power law, share of encounters within a class.
_LONGEST, _EXPONENT, _INSIDE = 60, 2.2, 0.8


def contacts(
    people: int = 327, rows: int = 188_000, *, classes: int = 9, days: int = 5, seed: int = 0
) -> TemporalGraph:
    """Contacts in a school, every 20 seconds of eight hours a day a row for each pair that is face to face.

    Four of five encounters are within a class. Most are short, some last for minutes. By default there are as many
    people and rows as SocioPatterns recorded in a high school.

    Parameters
    ----------
    people : int
        Vertices, 2 or more; vertex v is in class ``v % classes``.
    rows : int
        Contacts.
    classes, days : int
        1 or more.
    seed : int
        Of the random numbers; the same seed gives the same contacts on every machine.

    Returns
    -------
    TemporalGraph
        Undirected, times in seconds from the first morning on, no durations and weights.

    Raises
    ------
    ValueError, TypeError
        If a number is out of range or no integer.

    References
    ----------
    R. Mastrandrea, J. Fournet, A. Barrat, "Contact patterns in a high school: a comparison between data collected using
    wearable sensors, contact diaries and friendship surveys", PLoS ONE 10 (2015).

    Examples
    --------
    >>> T = hpg.datasets.contacts(30, 1000, classes=3, days=1)
    >>> T.n_vertices, T.n_edges, T.directed
    (30, 1000, False)
    """
    for name, number, least in (("people", people, 2), ("rows", rows, 0), ("classes", classes, 1), ("days", days, 1)):
        whole(number, name, least=least)
    rng = generator(seed)
    lasting = np.minimum(rng.zipf(_EXPONENT, rows), _LONGEST)
    lasting = lasting[: int(np.searchsorted(np.cumsum(lasting), rows)) + 1]
    one = rng.integers(0, people, len(lasting))
    # The class of vertex v is v % classes: classes, 2 * classes and so on apart lie its others.
    group = one % classes
    size = (people - group + classes - 1) // classes
    inside = group + (rng.random(len(one)) * size).astype(np.int64) * classes
    other = np.where(rng.random(len(one)) < _INSIDE, inside, rng.integers(0, people, len(one)))
    other = np.where(one == other, (one + 1) % people, other)
    begin = rng.integers(0, _READINGS, len(one)) + rng.integers(0, days, len(one)) * _DAY
    later = np.arange(lasting.sum()) - np.repeat(np.cumsum(lasting) - lasting, lasting)
    columns = np.repeat(one, lasting), np.repeat(other, lasting), (np.repeat(begin, lasting) + later) * _STEP
    table = {name: column[:rows] for name, column in zip(("source", "target", "time"), columns, strict=True)}
    return TemporalGraph(table, directed=False, n_vertices=people)
