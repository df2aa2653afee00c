"""Weisfeiler–Lehman: colours of vertices, refined by those of their neighbours, and hashes made of them.

A colour is refined by a 64-bit hash of itself and of the multiset of its neighbours' colours: a sum of hashes modulo
2⁶⁴, one product of the adjacency matrix, on the device of the graph. Text is hashed once for each colour, on the CPU.
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from hpgraph.algorithms.distances import with_attributes, with_weights
from hpgraph.algorithms.vertex_values import as_array
from hpgraph.containers.columns import Categories, as_columns
from hpgraph.containers.graph import Graph, as_simple, by_vertex, naming_arguments, whole
from hpgraph.containers.public import matrix_of_csr
from hpgraph.core.device import Array, array_module, count, to_device
from hpgraph.formats import CSR, occurrences
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.structure.cpu_refinement import refined_colors
from hpgraph.semiring.counter_random import mixed

# Keys that distinguish the hashes of neighbours along arcs out and along arcs in.
_OUT, _IN = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
# Rounds over all vertices, in parallel, before those over what has changed: random graphs need no more.
_WHOLE = 4


@naming_arguments
def color_refinement(G: Graph | Any, colors: Any = None, iterations: int | None = None, *, weight: Any = None) -> Array:
    """The coarsest colours by which vertices of one colour have as many neighbours of each colour.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph; in a directed one neighbours along arcs out and along arcs in count apart.
    colors : sequence of n numbers or of text, optional
        Colours to begin with, or a title of a column of vertices; by default all vertices have one.
    iterations : int, optional
        Most rounds of refinement; by default until no colour is divided.
    weight : None, bool or str
        Whether neighbours along arcs of unlike weights are unlike; as for `hpgraph.pagerank`.

    Returns
    -------
    int64 array of shape (n,)
        A number from 0 on for each vertex, on the graph's device. Isomorphic graphs get the same numbers.

    Notes
    -----
    The Weisfeiler–Lehman test of dimension 1: graphs whose numbers are not equally frequent are not isomorphic. A round
    is one product of the adjacency matrix and a sort of n hashes of 64 bits, one a colour: among n vertices the chance
    that two collide is n² / 2⁶⁵. There are about as many rounds as the graph is deep: n / 2 on a path of n vertices. On
    the CPU later rounds read the neighbours of the smaller parts of divided colours alone, O(m log n) arcs in all, and
    numbers are other than the GPU's, where each round reads all arcs and waits for the number of colours.

    References
    ----------
    B. Weisfeiler, A. A. Lehman, "A reduction of a graph to a canonical form" (1968). C. Berkholz, P. Bonsma, M. Grohe,
    "Tight lower and upper bounds for the complexity of canonical colour refinement", Theory Comput. Syst. 60 (2017). R.
    Paige, R. E. Tarjan, "Three partition refinement algorithms", SIAM Journal on Computing 16 (1987).

    Examples
    --------
    >>> hpg.color_refinement(hpg.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], directed=False)).tolist()
    [0, 2, 1, 2, 0]
    """
    graph, weighted = with_weights(with_attributes(G, "weight", [weight], [colors]), weight)
    limit = graph.n_vertices if iterations is None else whole(iterations, "iterations", least=0)
    xp = array_module(graph.device)
    codes = xp.zeros(graph.n_vertices, np.int64)
    if colors is not None:
        codes, _ = _coded(graph, _of_vertices(graph, colors, "colors"))
    sides = _sides(graph, _hashed_kinds(graph.out_csr.data if weighted else None))
    hashes, before = _hashed(codes), _distinct(codes)
    for turn in range(limit):
        if turn == _WHOLE and graph.device == "cpu":
            # Arcs reversed: a changed vertex's neighbours are recomputed.
            back = [(key, arcs) for (key, _), (_, arcs) in zip(sides, reversed(sides), strict=True)]
            hashes = refined_colors(back, np.unique(hashes, return_inverse=True)[1], limit - turn)
            break
        refined = _refined(sides, hashes)
        distinct = _distinct(refined)
        if distinct == before:
            break
        hashes, before = refined, distinct
    return by_vertex(xp.unique(hashes, return_inverse=True)[1].astype(np.int64), graph)


@naming_arguments
def weisfeiler_lehman_graph_hash(
    G: Graph | Any, edge_attr: Any = None, node_attr: Any = None, iterations: int = 3, digest_size: int = 16
) -> str:
    """A hash of a graph that is the same for isomorphic graphs: NetworkX's.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    edge_attr : str or bool, optional
        Labels of edges: a column of edges, or True or "weight" for the weights.
    node_attr : str or sequence, optional
        Labels of vertices: a column of vertices, or a number or text for each; by default their degrees, or
        nothing where `edge_attr` is given.
    iterations : int
        Rounds in which vertices take in their neighbours' labels.
    digest_size : int
        Bytes of a hash, 1 to 64.

    Returns
    -------
    str
        In hexadecimal digits; the value that NetworkX gives since version 3.5.

    Notes
    -----
    Vertices are divided into colours on the graph's device, and the labels of one vertex of each colour hashed on the
    CPU; time on the CPU is that of the number of colours and of those vertices' arcs.

    References
    ----------
    N. Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 12 (2011).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([1, 2, 3, 1], [2, 3, 1, 4], n_vertices=5, directed=False).subgraph([1, 2, 3, 4])
    >>> hpg.weisfeiler_lehman_graph_hash(G)
    'c045439172215f49e0bef8c3d26c6b61'
    """
    return hash_of_steps(_labels(G, edge_attr, node_attr, iterations, digest_size)[1], digest_size)


@naming_arguments
def weisfeiler_lehman_subgraph_hashes(
    G: Graph | Any, edge_attr: Any = None, node_attr: Any = None, iterations: int = 3, digest_size: int = 16,
    include_initial_labels: bool = False,
) -> np.ndarray:  # fmt: skip
    """For each vertex hashes of what lies within 1, 2, ... steps around it: NetworkX's.

    Parameters
    ----------
    G, edge_attr, node_attr, iterations, digest_size
        As for `weisfeiler_lehman_graph_hash`.
    include_initial_labels : bool
        Whether the hash of a vertex's first label comes before the others.

    Returns
    -------
    array of str, shape (n, iterations) or (n, iterations + 1)
        In NumPy, of objects. NetworkX gives a dict of lists.

    References
    ----------
    N. Shervashidze et al., "Weisfeiler-Lehman graph kernels", JMLR 12 (2011).

    Examples
    --------
    >>> G = hpg.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> hpg.weisfeiler_lehman_subgraph_hashes(G, iterations=2, digest_size=4).tolist()[:2]
    [['fc942c07', '677d926f'], ['f6c78813', 'c57da234']]
    """
    first, steps = _labels(G, edge_attr, node_attr, iterations, digest_size)
    plain = edge_attr in (None, False) and node_attr is None
    return hashes_of_steps(first, steps, digest_size, bool(include_initial_labels) + plain)


def hash_of_steps(steps: Iterator[tuple[Any, Any]], size: int) -> str:
    """The hash of a graph, from the rounds of `refined_labels`."""
    result: list[tuple[str, int]] = []
    for codes, digests in steps:
        counts = to_device(occurrences(codes, len(digests)), "cpu").tolist()
        result += zip(digests.tolist(), counts, strict=True)
    return _digest(str(tuple(result)), size)


def hashes_of_steps(
    first: tuple[Any, list[str]], steps: Iterator[tuple[Any, Any]], size: int, initial: int
) -> np.ndarray:
    """The hashes of each vertex: that of its first label, repeated ``initial`` times, and one of each round."""
    codes, texts = first
    labels = np.array([_digest(text, size) for text in texts], dtype=object)[to_device(codes, "cpu")]
    columns = [labels] * initial + [digests[to_device(now, "cpu")].astype(object) for now, digests in steps]
    return np.stack(columns, axis=1)


def _digest(text: str, size: int) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()


def _labels(
    G: Any, edge_attr: Any, node_attr: Any, iterations: Any, size: Any
) -> tuple[tuple[Any, list[str]], Iterator[tuple[Any, Any]]]:
    """The first labels of all vertices, as codes and their texts, and those of each round after it."""
    whole(iterations, "iterations", least=1)
    whole(size, "digest_size", least=1, most=64)
    if not (edge_attr is None or isinstance(edge_attr, bool | str)):
        raise TypeError(f"edge_attr must be the title of a column of edges, True or None, not {edge_attr!r}")
    weighted = edge_attr in (True, "weight")
    graph = as_simple(with_attributes(G, "weight" if weighted else None, [edge_attr][weighted:], [node_attr]))
    if node_attr is not None:
        first = _coded(graph, _of_vertices(graph, node_attr, "node_attr"))
    elif edge_attr not in (None, False):
        first = array_module(graph.device).zeros(graph.n_vertices, np.int64), [""]
    else:
        first, iterations = _degrees(graph), iterations - 1
    kinds = None
    if weighted and graph.weights is not None:
        kinds = _coded(graph, graph.weights)
    elif weighted:
        kinds = array_module(graph.device).zeros(graph.n_edges, np.int64), ["1"]
    elif isinstance(edge_attr, str):
        kinds = _coded(graph, graph.edge_column(edge_attr, both_ways=True))
    return first, refined_labels(graph, first, kinds, iterations, size)


def _degrees(graph: Graph) -> tuple[Any, list[str]]:
    if not graph.directed:
        return _coded(graph, graph.degree)
    xp = array_module(graph.device)
    pairs, codes = xp.unique(graph.in_degree * (graph.n_edges + 1) + graph.out_degree, return_inverse=True)
    return codes, ["{}_{}".format(*divmod(pair, graph.n_edges + 1)) for pair in pairs.tolist()]


def _of_vertices(graph: Graph, given: Any, argument: str) -> Any:
    """A column of vertices, by its title or as an array."""
    if isinstance(given, str):
        return graph.vertex_column(given)
    return as_columns({argument: given}, graph.n_vertices, "vertices", graph.device)[argument]


def _coded(graph: Graph, values: Any) -> tuple[Any, list[str]]:
    """Codes of the distinct values, on the graph's device, and the values as text, by code."""
    if isinstance(values, Categories):
        texts = [str(text) for text in values.categories]
        return values.codes.astype(np.int64) % (len(texts) + 1), [*texts, "None"]
    distinct, codes = array_module(graph.device).unique(to_device(as_array(values, "values"), graph.device),
                                                        return_inverse=True)  # fmt: skip
    return codes.reshape(-1).astype(np.int64), [str(value) for value in distinct.tolist()]


def _hashed(words: Any) -> Any:
    return mixed(words.astype(np.uint64) + np.uint64(_OUT))


def _distinct(words: Any) -> int:
    """Number of distinct hashes."""
    words = array_module(words).sort(words)
    return count(words[1:] != words[:-1]) + min(len(words), 1)


def _hashed_kinds(kinds: Any) -> Any:
    """A hash of the kind of each arc, or None."""
    # Adding 0 makes -0.0 and 0.0 equal.
    return None if kinds is None else _hashed((kinds.astype(np.float64) + 0.0).view(np.uint64))


def _sides(graph: Graph, held: Any) -> list[tuple[int, CSR]]:
    """Out-arcs, and in a directed graph in-arcs, each with its values, or None."""
    out = graph.out_csr.with_data(held, copy=False)
    if not graph.directed:
        return [(_OUT, out)]
    transposed = graph.numbered_in_csr
    return [(_OUT, out), (_IN, transposed.with_data(None if held is None else held[transposed.data], copy=False))]


def _refined(sides: list[tuple[int, CSR]], hashes: Any) -> Any:
    """New hashes from those of a vertex and of the multisets of its neighbours'."""
    refined = _hashed(hashes)
    for salt, arcs in sides:
        spread = _hashed(hashes ^ np.uint64(salt))
        if arcs.data is None:
            refined += matrix_of_csr(arcs).mxv(spread, "plus_second") * np.uint64(salt)
            continue
        each = _hashed(arcs.data ^ spread[arcs.indices])
        ones = array_module(spread).ones(len(spread), np.uint64)
        refined += matrix_of_csr(arcs.with_data(each, copy=False)).mxv(ones, "plus_first") * np.uint64(salt)
    return refined


def refined_labels(
    graph: Graph, first: tuple[Any, list[str]], kinds: tuple[Any, list[str]] | None, iterations: int, size: int
) -> Iterator[tuple[Any, Any]]:
    """Codes of all labels after each round and the hashed labels, ascending, from the first, and from those of arcs."""
    xp, (codes, texts) = array_module(graph.device), first
    kind = None if kinds is None else kinds[0]
    sides, by_kind = _sides(graph, _hashed_kinds(kind)), _sides(graph, kind)
    marks = ("s_", "p_") if graph.directed and kinds is None else ("", "")
    for _ in range(iterations):
        _, chosen, group = xp.unique(_refined(sides, _hashed(codes)), return_index=True, return_inverse=True)
        vertex_labels = to_device(codes[chosen], "cpu").tolist()
        labels = [texts[code] for code in vertex_labels]
        for mark, (_, arcs) in zip(marks, by_kind, strict=False):
            rows = kernels(graph.device).rows_of(arcs, chosen, 0, graph.n_vertices)
            around = _neighbor_labels(rows, codes, texts, kinds, mark)
            labels = [vertex_labels + others for vertex_labels, others in zip(labels, around, strict=True)]
        digests = [blake2b(label.encode(), digest_size=size).hexdigest() for label in labels]
        texts = sorted(set(digests))
        place = dict(zip(texts, range(len(texts)), strict=True))
        codes = xp.asarray(np.array([place[digest] for digest in digests], np.int64))[group.reshape(-1)]
        yield codes, np.array(texts, f"U{2 * size}")


def _neighbor_labels(rows: CSR, codes: Any, texts: list[str], kinds: Any, mark: str) -> list[str]:
    """The sorted labels of each row's neighbours, joined into one text."""
    xp, labels, words = array_module(codes), codes[rows.indices], [mark + text for text in texts]
    if kinds is not None:
        distinct, labels = xp.unique(labels + rows.data.astype(np.int64) * len(texts), return_inverse=True)
        words = [mark + kinds[1][kind] + texts[code]
                 for kind, code in (divmod(key, len(texts)) for key in distinct.tolist())]  # fmt: skip
    order = sorted(range(len(words)), key=words.__getitem__)
    rank = np.empty(len(words), np.int64)
    rank[order] = np.arange(len(words))
    # Sorted within each row.
    rank = rows.expand_rows() * np.int64(len(words)) + xp.asarray(rank)[labels.reshape(-1)]
    rank.sort()
    rank %= max(len(words), 1)
    each = np.array([words[place] for place in order], dtype=object)[to_device(rank, "cpu")].tolist()
    bounds = to_device(rows.indptr, "cpu").tolist()
    return ["".join(each[begin:end]) for begin, end in pairwise(bounds)]
