"""Temporal patterns: small motifs of arcs, and the gaps between contacts of a pair."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hpgraph.algorithms.temporal_arcs import checked
from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.temporal import TemporalGraph
from hpgraph.containers.vertex_array import named
from hpgraph.core.device import Array, array_module
from hpgraph.core.number import one_of
from hpgraph.core.suggestions import naming_arguments
from hpgraph.formats import occurrences
from hpgraph.formats.duplicates import run_starts
from hpgraph.kernels.temporal.cpu_motifs import motifs


@naming_arguments
def temporal_motifs(T: TemporalGraph, span: Any) -> Array:
    """Temporal motif counts: occurrences of each motif of three arcs on two or three vertices within a time span.

    Parameters
    ----------
    T : TemporalGraph
        Directed, on the CPU. Loops and durations are ignored.
    span : number or timedelta
        Maximum time from the first arc to the third: delta in the papers.

    Returns
    -------
    int64 array of shape (6, 6)
        The first arc leads from vertex 1 to 2; rows are the second arc, columns the third: 1 to 2, 2 to 1, 1 to 3,
        3 to 1, 2 to 3, 3 to 2. Those are all 36 motifs, each once, in rows and columns as the paper's Figure 2.

    Raises
    ------
    ValueError
        When T is undirected or lies on the GPU, or the span is negative.

    Notes
    -----
    The three arcs are at three different times. Each arc goes through those at its two ends within the span: O(m d)
    time, where d is their number, and 32 bytes for each vertex and thread.

    References
    ----------
    A. Paranjape, A. R. Benson, J. Leskovec, "Motifs in temporal networks", WSDM'17.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(0, 1, 1), (1, 2, 3), (2, 0, 4), (0, 1, 9)])
    >>> found = hpg.temporal_motifs(T, span=5)
    >>> found[4, 3].item(), found.sum().item()
    (1, 1)
    """
    checked(T)
    if not T.directed:
        raise ValueError("motifs are those of directed arcs, and T has contacts: make it with directed=True")
    if T.device != "cpu":
        raise ValueError('motifs are counted on the CPU, and this graph is on the GPU: use T.to("cpu")')
    width = T._span(span, "span")
    no_loop = T._source != T._target
    source, target, time = T._source[no_loop], T._target[no_loop], T._time[no_loop]
    arcs = np.tile(np.arange(len(source)), 2)
    ends = np.concatenate((source, target))
    order = np.argsort(ends * np.int64(max(len(source), 1)) + arcs)
    offsets = np.searchsorted(ends[order], np.arange(T.n_vertices + 1))
    if time.dtype.kind == "i":
        width = np.int64(min(width, np.iinfo(np.int64).max))
    return motifs((source, target, time), (offsets, arcs[order]), T.n_vertices, time.dtype.type(width))


@dataclass(frozen=True, eq=False)
class ContactStatistics(
    ResultTable, columns=("count", "mean", "deviation", "burstiness", "memory", "source", "target"),
    ends=("source", "target"), edges=True,
):  # fmt: skip
    """Statistics of each pair's contacts, as returned by `contact_statistics`.

    Attributes
    ----------
    source, target : integer arrays of shape (k,)
        The pairs, by index, ascending; of undirected contacts the lower vertex first.
    count : int64 array of shape (k,)
        Number of contacts.
    mean, deviation : float64 arrays of shape (k,)
        Of the times from each contact of the pair to its next, in the unit of the times; NaN below two contacts.
    burstiness : float64 array of shape (k,)
        ``(deviation - mean) / (deviation + mean)``: -1 regular, 0 random, towards 1 in bursts.
    memory : float64 array of shape (k,)
        Correlation of one such time with the next; NaN where it is not defined.
    """

    source: Array
    target: Array
    count: Array
    mean: Array
    deviation: Array
    burstiness: Array
    memory: Array

    def __repr__(self) -> str:
        return f"<ContactStatistics: {len(self.count):,} pairs, {int(self.count.sum()):,} contacts>"


@naming_arguments
def contact_statistics(T: TemporalGraph) -> ContactStatistics:
    """Number, intervals and burstiness of the contacts of each pair.

    Returns
    -------
    ContactStatistics
        A row for each pair with a contact; arrays on the device of T.

    References
    ----------
    K.-I. Goh, A.-L. Barabási, "Burstiness and memory in complex systems", Europhysics Letters 81 (2008).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([(0, 1, t) for t in (0, 1, 2, 30, 31, 32)])
    >>> found = hpg.contact_statistics(T)
    >>> found.count.tolist(), found.mean.tolist(), round(found.burstiness.item(), 2)
    ([6], [6.4], 0.26)
    """
    checked(T)
    xp, source, target = array_module(T.device), T._source.astype(np.int64), T._target.astype(np.int64)
    if not T.directed:
        source, target = xp.minimum(source, target), xp.maximum(source, target)
    n = max(T.n_vertices, 1)
    pairs, statistics = _of_groups(xp, source * n + target, T._time)
    ends = ((pairs // n).astype(T._source.dtype), (pairs % n).astype(T._source.dtype))
    return named(ContactStatistics(*ends, *statistics), T)


@dataclass(frozen=True, eq=False)
class ActivityStatistics(ResultTable, columns=("count", "mean", "deviation", "burstiness", "memory")):
    """Statistics of each vertex's contacts, as returned by `activity_statistics`.

    Attributes
    ----------
    count : int64 array of shape (n,)
        Number of contacts.
    mean, deviation, burstiness, memory : float64 arrays of shape (n,)
        As of `ContactStatistics`.
    """

    count: Array
    mean: Array
    deviation: Array
    burstiness: Array
    memory: Array

    def __repr__(self) -> str:
        return f"<ActivityStatistics: {len(self.count):,} vertices>"


@naming_arguments
def activity_statistics(T: TemporalGraph, *, ends: Literal["both", "source", "target"] = "both") -> ActivityStatistics:
    """Number, intervals and burstiness of the contacts of each vertex.

    Parameters
    ----------
    ends : {"both", "source", "target"}
        Whether an arc counts at both of its ends, a loop once, or at one of them alone. A contact counts at both.

    Returns
    -------
    ActivityStatistics
        A row for each vertex; arrays on the device of T.

    References
    ----------
    K.-I. Goh, A.-L. Barabási, "Burstiness and memory in complex systems", Europhysics Letters 81 (2008).

    Examples
    --------
    >>> import hpgraph as hpg
    >>> T = hpg.TemporalGraph([("ann", "bob", 0), ("eve", "ann", 4), ("ann", "eve", 8)])
    >>> found = hpg.activity_statistics(T)
    >>> found.count.tolist(), found.mean["ann"].item(), found.burstiness["ann"].item()
    ([3, 2, 1], 4.0, -1.0)
    """
    checked(T)
    one_of(ends, "ends", ("both", "source", "target"))
    xp, time = array_module(T.device), T._time
    if ends != "both" and T.directed:
        vertex = T._source if ends == "source" else T._target
    else:
        other = T._source != T._target
        vertex, time = xp.concatenate((T._source, T._target[other])), xp.concatenate((time, time[other]))
        order = xp.argsort(time, kind="stable")
        vertex, time = vertex[order], time[order]
    groups, (number, *measures) = _of_groups(xp, vertex, time)
    count = xp.zeros(T.n_vertices, np.int64)
    count[groups] = number
    spread = [xp.full(T.n_vertices, np.nan) for _ in measures]
    for whole, part in zip(spread, measures, strict=True):
        whole[groups] = part
    return named(ActivityStatistics(count, *spread), T)


def _of_groups(xp: Any, group: Any, time: Any) -> tuple[Any, tuple[Any, ...]]:
    """The groups of contacts, ascending, with numbers, and mean, deviation, burstiness and memory of their gaps."""
    order = xp.argsort(group, kind="stable")
    group, time = group[order], time[order]
    begins = run_starts(group)
    first = xp.flatnonzero(begins)
    groups, of = group[first], xp.cumsum(begins) - 1
    gap, inside = (time[1:] - time[:-1]).astype(np.float64), ~begins[1:]

    def sums(values: Any, kept: Any, of: Any) -> Any:
        return occurrences(of[kept], len(groups), values[kept])

    with np.errstate(invalid="ignore", divide="ignore"):
        number = xp.diff(xp.append(first, len(group))) - 1
        mean = sums(gap, inside, of[1:]) / number
        deviation = xp.sqrt(sums((gap - mean[of[1:]]) ** 2, inside, of[1:]) / number)
        burstiness = (deviation - mean) / (deviation + mean)
        # Pearson's coefficient of consecutive gaps.
        both, later = inside[1:] & inside[:-1], of[2:]
        one, two = (part - (sums(part, both, later) / (number - 1))[later] for part in (gap[:-1], gap[1:]))
        spread = sums(one * one, both, later) * sums(two * two, both, later)
        memory = xp.where(number > 2, sums(one * two, both, later) / xp.sqrt(spread), np.nan)
    return groups, (number + 1, mean, deviation, burstiness, memory)
