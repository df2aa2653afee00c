"""Hierarchical clustering by pair sampling on the CPU: chains of nearest neighbours, merged where two are mutual.

T. Bonald, B. Charpentier, A. Galland, A. Hollocou, "Hierarchical graph clustering using node pair sampling", MLG 2018.
The arcs of a cluster are a linked list of its vertices' rows, which each scan closes up: merging two takes no
time, and nothing is allocated on the way.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from hpgraph.kernels.communities.level import Level
from hpgraph.kernels.runtime.cpu.kernel import interruptible, is_stopped, njit, part
from hpgraph.kernels.runtime.cpu.union_find import root_of

# Rows, with `fill` entries in use, and the `next` vertex of each row in its list. For each cluster, a vertex or a
# merge: the `head` and `tail` of its list, its parent cluster, its strength and size. `around`: weights by cluster
# during a scan, and the clusters `seen` in it.
Clusters = namedtuple("Clusters", "indptr indices weights fill next head tail owner strength size around seen")


def merges(level: Level) -> tuple[Any, Any]:
    """Merges of two clusters, numbered from n on, in an order in which each comes after its parts.

    Returns an int64 array of shape (k, 3): both clusters and the size of their union; and the distance at each.
    """
    arcs, n = level.arcs.without_diagonal(), level.arcs.shape[0]
    strength = np.zeros(2 * n)
    strength[:n] = level.sent + level.received if level.directed else level.sent
    weights = np.ones(arcs.nnz, np.int64) if arcs.data is None else arcs.data.copy()
    number, size = np.arange(2 * n), np.ones(2 * n, np.int64)
    clusters = Clusters(
        arcs.indptr, arcs.indices.astype(np.int64), weights, arcs.degrees.astype(np.int64), np.full(n, -1),
        number.copy(), number.copy(), number, strength, size, np.zeros(2 * n, np.int64), np.empty(n, np.int64),
    )  # fmt: skip
    made, distance = np.empty((n, 3), np.int64), np.empty(n)
    with interruptible():
        count = _merge(clusters, made, distance)
    return made[:count], distance[:count] / strength[:n].sum()


@part
def _scan(clusters, c):
    """Merge the arcs of a cluster, one to each other cluster; returns their number."""
    count, v = 0, clusters.head[c]
    while v >= 0:
        for at in range(clusters.indptr[v], clusters.indptr[v] + clusters.fill[v]):
            other = root_of(clusters.owner, clusters.indices[at])
            # An arc of weight 0 is ignored: it would be listed again for each further arc.
            if other != c and clusters.weights[at] > 0:
                if clusters.around[other] == 0:
                    clusters.seen[count] = other
                    count += 1
                clusters.around[other] += clusters.weights[at]
        v = clusters.next[v]
    v, last, done = clusters.head[c], clusters.head[c], 0
    while v >= 0:
        begin = clusters.indptr[v]
        fill = min(count - done, clusters.indptr[v + 1] - begin)
        for i in range(fill):
            other = clusters.seen[done + i]
            clusters.indices[begin + i], clusters.weights[begin + i] = other, clusters.around[other]
        clusters.fill[v] = fill
        done += fill
        last = v if fill else last
        v = clusters.next[v]
    clusters.next[last], clusters.tail[c] = -1, last
    return count


@part
def _nearest(clusters, count, before):
    """The nearest of the clusters seen, `before` among equals, else the first; clears the weights."""
    nearest, most = np.int64(-1), 0.0
    if before >= 0:
        nearest, most = before, clusters.around[before] / clusters.strength[before]
    for i in range(count):
        other = clusters.seen[i]
        near = clusters.around[other] / clusters.strength[other]
        if near > most or (near == most and nearest != before and other < nearest):
            nearest, most = other, near
    for i in range(count):
        clusters.around[clusters.seen[i]] = 0
    return nearest, most


@njit(cache=True, nogil=True)
def _merge(clusters, made, distance):
    n = clusters.fill.size
    chain, length, merged = np.empty(n + 1, np.int64), 0, 0
    for first in range(n):
        if clusters.owner[first] != first:
            continue
        chain[0], length = first, 1
        while length > 0 and not is_stopped():
            c = chain[length - 1]
            before = chain[length - 2] if length > 1 else np.int64(-1)
            nearest, most = _nearest(clusters, _scan(clusters, c), before)
            if nearest < 0:
                # A whole component, or an isolated vertex.
                length -= 1
            elif nearest != before:
                chain[length] = nearest
                length += 1
            else:
                union = n + merged
                made[merged, 0], made[merged, 1] = min(c, before), max(c, before)
                made[merged, 2] = clusters.size[c] + clusters.size[before]
                distance[merged] = clusters.strength[c] / most
                for part_of in (c, before):
                    if part_of >= n:
                        # Only rounding makes a union nearer than its parts.
                        distance[merged] = max(distance[merged], distance[part_of - n])
                clusters.owner[c] = clusters.owner[before] = union
                clusters.strength[union] = clusters.strength[c] + clusters.strength[before]
                clusters.size[union] = made[merged, 2]
                clusters.head[union], clusters.tail[union] = clusters.head[before], clusters.tail[c]
                clusters.next[clusters.tail[before]] = clusters.head[c]
                merged += 1
                length -= 2
                if length == 0:
                    chain[0], length = union, 1
    return merged
