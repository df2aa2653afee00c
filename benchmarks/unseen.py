"""Kinds of graphs that no constant was fitted to: seeds fixed, sizes that two cores search in milliseconds.

Each function returns the ends of the arcs and the number of vertices; both directions, loops and repetitions are left
to `hpgraph.Graph`. Random ids where the kind has no order of its own.
"""

from typing import Any

import numpy as np

Arcs = tuple[Any, Any, int]


def small_world(n: int = 1 << 18, nearest: int = 16, rewired: float = 0.05) -> Arcs:
    """A ring of ``nearest`` neighbours, some arcs rewired (D. J. Watts, S. H. Strogatz, Nature 393, 1998)."""
    rng = np.random.default_rng(12)
    source = np.tile(np.arange(n), nearest // 2)
    target = (source + np.repeat(np.arange(1, nearest // 2 + 1), n)) % n
    return source, np.where(rng.random(source.size) < rewired, rng.integers(0, n, source.size), target), n


def lattice(side: int = 80) -> Arcs:
    """A cube of side³ vertices, each joined to six."""
    ids = np.arange(side**3).reshape(side, side, side)
    near = [(ids[:-1], ids[1:]), (ids[:, :-1], ids[:, 1:]), (ids[:, :, :-1], ids[:, :, 1:])]
    source, target = (np.concatenate([pair[k].ravel() for pair in near]) for k in (0, 1))
    return source, target, side**3


def cliques(count: int = 2000, size: int = 64) -> Arcs:
    """A chain of cliques."""
    first = size * np.arange(count)
    a, b = np.triu_indices(size, 1)
    source = np.concatenate([np.add.outer(first, a).ravel(), first[:-1]])
    return source, np.concatenate([np.add.outer(first, b).ravel(), first[1:]]), count * size


def stars(count: int = 64, size: int = 16384) -> Arcs:
    """Stars side by side, their centres in a chain."""
    centre = size * np.arange(count)
    leaves = np.setdiff1d(np.arange(count * size), centre)
    source = np.concatenate([leaves // size * size, centre[:-1]])
    return source, np.concatenate([leaves, centre[1:]]), count * size


def web_like(n: int = 1 << 18, degree: int = 16) -> Arcs:
    """A crawl's order: four of five links lead near, the others to early pages."""
    rng = np.random.default_rng(11)
    source = rng.integers(0, n, n * degree)
    near = np.clip(source + (60 * rng.standard_normal(source.size)).astype(np.int64), 0, n - 1)
    hub = (n * rng.random(source.size) ** 6).astype(np.int64)
    return source, np.where(rng.random(source.size) < 0.8, near, hub), n


def power_law(n: int = 1 << 18, degree: int = 16, exponent: float = 2.3) -> Arcs:
    """Ends drawn in proportion to expected degrees of a power law (F. Chung, L. Lu, PNAS 99, 2002)."""
    rng = np.random.default_rng(13)
    expected = np.cumsum((1 + np.arange(n)) ** (-1 / (exponent - 1)))
    ends = np.searchsorted(expected, rng.random((2, n * degree // 2)) * expected[-1])
    return *rng.permutation(n)[ends], n


def tree(n: int = 1 << 19) -> Arcs:
    """Each vertex hangs on one drawn among the earlier ones."""
    rng = np.random.default_rng(14)
    return (rng.random(n - 1) * np.arange(1, n)).astype(np.int64), np.arange(1, n), n


def bipartite(n: int = 1 << 18, degree: int = 12) -> Arcs:
    """Sixteen vertices on one side for each on the other, joined at random."""
    rng = np.random.default_rng(15)
    few = n // 17
    return rng.integers(0, few, n * degree // 2), rng.integers(few, n, n * degree // 2), n


def mild_rmat(scale: int = 18, degree: int = 16) -> Arcs:
    """R-MAT of milder skew than Graph500's, (0.45, 0.22, 0.22, 0.11) (D. Chakrabarti et al., SDM'04)."""
    rng = np.random.default_rng(16)
    source, target = np.zeros((2, degree // 2 << scale), np.int64)
    for _ in range(scale):
        quarter = np.searchsorted((0.45, 0.67, 0.89), rng.random(source.size))
        source, target = 2 * source + quarter // 2, 2 * target + quarter % 2
    return *rng.permutation(1 << scale)[np.stack([source, target])], 1 << scale


def geometric(n: int = 1 << 18, degree: float = 12) -> Arcs:
    """Points of a square, joined where they lie near (E. N. Gilbert, 1961)."""
    from scipy.spatial import cKDTree

    points = np.random.default_rng(17).random((n, 2))
    # By strips, as files of meshes and maps mostly are.
    points = points[np.lexsort((points[:, 0], (points[:, 1] * 64).astype(int)))]
    return *cKDTree(points).query_pairs((degree / (np.pi * n)) ** 0.5, output_type="ndarray").T, n


def de_bruijn(letters: int = 9) -> Arcs:
    """Words of four letters, each followed by those that overlap it in all but one."""
    words = np.arange(4**letters)
    return np.repeat(words, 4), (np.add.outer(words * 4, np.arange(4)) % words.size).ravel(), words.size


def kronecker(power: int = 3) -> Arcs:
    """A karate club (W. W. Zachary, 1977) times itself (J. Leskovec et al., "Kronecker graphs", JMLR 11, 2010)."""
    import networkx
    import scipy.sparse

    club = networkx.to_scipy_sparse_array(networkx.karate_club_graph(), weight=None, format="coo")
    product = club
    for _ in range(power - 1):
        product = scipy.sparse.kron(product, club, format="coo")
    return product.row, product.col, product.shape[0]


KINDS = {
    maker.__name__.replace("_", "-"): maker
    for maker in (
        small_world, lattice, cliques, stars, web_like, power_law, tree, bipartite, mild_rmat, geometric,
        de_bruijn, kronecker,
    )
}  # fmt: skip
