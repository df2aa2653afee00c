"""Graphs made by rule: edges as arrays, in the order in which NetworkX adds them."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, pairwise
from typing import Any

import networkx as nx
import numpy as np

from hpgraph.interop.networkx_backend.returned import graph_of_edges
from hpgraph.interop.networkx_backend.serving import NETWORKX, family

Shape = Callable[..., tuple[Any, ...]]
no_nodes = np.zeros(0, np.int64)


def _named(n: Any) -> list[Any]:
    """The nodes given by a number, or by an iterable."""
    nodes: list[Any] = list(nx.utils.nodes_or_number(0)(lambda n: n)(n)[1])
    if len(set(nodes)) < len(nodes):
        raise NotImplementedError("nodes are given twice")
    return nodes


def _steps(nodes: Any) -> tuple[Any, Any]:
    """The edges along a range of numbers."""
    numbers = np.asarray(nodes, np.int64)
    return numbers[:-1], numbers[1:]


def joined(*parts: tuple[Any, Any]) -> tuple[Any, Any]:
    """Edges, one part after the other."""
    if not parts:
        return no_nodes, no_nodes
    pairs = [np.broadcast_arrays(*part) for part in parts]
    source, target = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
    return source, target


def _pairs(members: Any) -> tuple[Any, Any]:
    """All pairs of some nodes."""
    first, second = np.triu_indices(len(members), 1)
    return members[first], members[second]


def complete(n: Any, directed: bool) -> tuple[Any, ...]:
    """The nodes and edges of a complete graph."""
    nodes = _named(n)
    if not directed:
        return nodes, *_pairs(np.arange(len(nodes)))
    return nodes, *np.nonzero(~np.eye(len(nodes), dtype=bool))


def _path(n: Any) -> tuple[Any, ...]:
    nodes = _named(n)
    return nodes, *_steps(range(len(nodes)))


def _cycle(n: Any) -> tuple[Any, ...]:
    nodes = _named(n)
    numbers = np.arange(len(nodes))
    return nodes, numbers, np.roll(numbers, -1)


def refuse_before_3_6() -> None:
    """Leave to NetworkX what its older versions draw otherwise."""
    if NETWORKX < (3, 6):
        raise NotImplementedError("before NetworkX 3.6 edges were added in another order")


def _star(n: Any) -> tuple[Any, ...]:
    refuse_before_3_6()
    nodes = _named(n)
    if isinstance(n, int | np.integer):
        nodes.append(int(n))
    spokes = np.arange(1, len(nodes))
    return nodes, np.zeros_like(spokes), spokes


def _wheel(n: Any) -> tuple[Any, ...]:
    nodes = _named(n)
    rim = np.arange(1, len(nodes))
    return nodes, *joined((0, rim), (rim, np.roll(rim, -1)) if len(rim) > 1 else (rim[:0], rim[:0]))


def _ladder(n: int) -> tuple[Any, ...]:
    left = np.arange(n)
    return range(2 * n), *joined(_steps(left), _steps(left + n), (left, left + n))


def _circular_ladder(n: int) -> tuple[Any, ...]:
    if n < 2:
        raise NotImplementedError("n must be at least 2")
    nodes, *edges = _ladder(n)
    return nodes, *joined(tuple(edges), (np.array([0, n]), np.array([n - 1, 2 * n - 1])))  # type: ignore[arg-type]


def _grid_2d(m: Any, n: Any, periodic: Any, directed: bool) -> tuple[Any, ...]:
    rows, columns = _named(m), _named(n)
    around_rows, around_columns = periodic if isinstance(periodic, Iterable) else (periodic, periodic)
    number = np.arange(len(rows) * len(columns)).reshape(len(rows), len(columns))
    parts = [(number[1:], number[:-1]), (number[:, 1:], number[:, :-1])]
    if around_rows and len(rows) > 2:
        parts.append((number[0], number[-1]))
    if around_columns and len(columns) > 2:
        parts.append((number[:, 0], number[:, -1]))
    source, target = joined(*parts)
    if directed:
        order = np.argsort(source, kind="stable")
        source, target = joined((source, target), (target[order], source[order]))
    return [(i, j) for i in rows for j in columns], source, target


def _grid(dim: Any) -> tuple[Any, ...]:
    """The lattice of some dimensions, the last one's coordinate first."""
    if not all(isinstance(size, int | np.integer) and size > 0 for size in dim):
        raise NotImplementedError("dim must be positive numbers")
    if not dim:
        return [], no_nodes, no_nodes
    sizes = tuple(dim)[::-1]
    number = np.arange(math.prod(sizes)).reshape(sizes)
    places = np.indices(sizes).reshape(len(sizes), -1)
    source, target = joined(
        *((number.take(range(size - 1), axis), number.take(range(1, size), axis)) for axis, size in enumerate(sizes))
    )
    order = np.argsort(source, kind="stable")
    nodes = places[0].tolist() if len(sizes) == 1 else list(zip(*places.tolist(), strict=True))
    return nodes, source[order], target[order]


def _rary_tree(r: int, n: int) -> tuple[Any, ...]:
    if r < 1:
        raise NotImplementedError("r must be positive")
    below = np.arange(1, n)
    return range(n), (below - 1) // r, below


def _balanced_tree(r: int, h: int) -> tuple[Any, ...]:
    return _rary_tree(r, h + 1 if r == 1 else (1 - r ** (h + 1)) // (1 - r))


def _multipartite(subset_sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    if not all(isinstance(size, int) for size in subset_sizes):
        raise NotImplementedError("sizes must be numbers")
    if any(size < 0 for size in subset_sizes):
        raise nx.NetworkXError(f"Negative number of nodes not valid: {subset_sizes}")
    parts = [np.arange(begin, end) for begin, end in pairwise(accumulate((0, *subset_sizes)))]
    pairs = [(one[:, None], other) for k, one in enumerate(parts) for other in parts[k + 1 :]]
    data = {node: {"subset": k} for k, part in enumerate(parts) for node in part.tolist()}
    return range(sum(subset_sizes)), *joined(*pairs), data


def _turan(n: int, r: int) -> tuple[Any, ...]:
    if not 1 <= r <= n:
        raise nx.NetworkXError("Must satisfy 1 <= r <= n")
    return _multipartite((n // r,) * (r - n % r) + (n // r + 1,) * (n % r))


def _bipartite(n1: Any, n2: Any) -> tuple[Any, ...]:
    top, bottom = _named(n1), _named(n2)
    if isinstance(n1, int) and isinstance(n2, int):
        bottom = [n1 + node for node in bottom]
    if len({*top, *bottom}) != len(top) + len(bottom):
        raise nx.NetworkXError("Inputs n1 and n2 must contain distinct nodes")
    edges = joined((np.arange(len(top))[:, None], np.arange(len(top), len(top) + len(bottom))))
    data = {node: {"bipartite": k} for k, part in enumerate((top, bottom)) for node in part}
    return top + bottom, *edges, data, {"name": f"complete_bipartite_graph({len(top)}, {len(bottom)})"}


def _barbell(m1: int, m2: int) -> tuple[Any, ...]:
    if m1 < 2:
        raise nx.NetworkXError("Invalid graph description, m1 should be >=2")
    if m2 < 0:
        raise nx.NetworkXError("Invalid graph description, m2 should be >=0")
    if m2 == 1:
        raise NotImplementedError("NetworkX puts the only node between the bells behind all others")
    bell, path = np.arange(m1), np.arange(m1, m1 + m2)
    ends = [(np.array([m1 - 1]), np.array([m1]))]
    if m2 > 0:
        ends.append((np.array([m1 + m2 - 1]), np.array([m1 + m2])))
    return range(2 * m1 + m2), *joined(_pairs(bell), _steps(path), _pairs(bell + m1 + m2), *ends)


def _with_tail(ring: bool) -> Shape:
    """A complete graph, or a cycle, and a path that hangs on its last node."""

    def shape(m: Any, n: Any) -> tuple[Any, ...]:
        head, tail = _named(m), _named(n)
        if len(head) < 2:
            raise nx.NetworkXError("Invalid description: m should indicate at least 2 nodes")
        if isinstance(m, int) and isinstance(n, int):
            tail = list(range(len(head), len(head) + n))
        if len({*head, *tail}) != len(head) + len(tail):
            raise NotImplementedError("nodes are given twice")
        k, numbers = len(head), np.arange(len(head))
        path = np.arange(k, k + len(tail))
        if ring:
            return head + tail, *joined((numbers, np.roll(numbers, -1)), _steps([k - 1, *path.tolist()]))
        return head + tail, *joined(_pairs(numbers), _steps(path), (np.full(len(path[:1]), k - 1), path[:1]))

    return shape


def _circulant(n: int, offsets: Any) -> tuple[Any, ...]:
    refuse_before_3_6()
    numbers, steps = np.arange(n)[:, None], np.array(list(offsets), np.int64)
    return range(n), *joined((numbers, (numbers - steps) % n), (numbers, (numbers + steps) % n))


def _caves(count: int, size: int) -> list[tuple[Any, Any]]:
    return [_pairs(np.arange(start, start + size)) for start in range(0, count * size, size)]


def _connected_caves(l: int, k: int) -> tuple[Any, ...]:  # noqa: E741
    if k < 2:
        raise nx.NetworkXError("The size of cliques in a connected caveman graph must be at least 2.")
    if l < 2 or k < 3:
        raise NotImplementedError("there are edges that replace each other")
    starts = np.arange(0, l * k, k)
    # The first edge of each cave leads to the one before instead.
    caves = [(source[1:], target[1:]) for source, target in _caves(l, k)]
    return range(l * k), *joined(*caves, (starts, (starts - 1) % (l * k)))


def _ring(num_cliques: int, clique_size: int) -> tuple[Any, ...]:
    if num_cliques < 2:
        raise nx.NetworkXError("A ring of cliques must have at least two cliques")
    if clique_size < 2:
        raise nx.NetworkXError("The cliques must have at least two nodes")
    n, parts = num_cliques * clique_size, []
    for number, clique in enumerate(_caves(num_cliques, clique_size)):
        start = number * clique_size
        parts += [clique, (np.array([start + 1]), np.array([(start + clique_size) % n]))]
    return range(n), *joined(*parts)


def _classes(call: Mapping[str, Any]) -> str | None:
    chosen = call.get("create_using")
    return None if chosen in (None, nx.Graph, nx.DiGraph) else "create_using must be nx.Graph or nx.DiGraph"


def made(shape: Any, undirected: bool = False) -> Callable[..., Any]:
    """A generator, from what gives its nodes, its edges and their data; `undirected`: of undirected graphs alone."""
    parameters = inspect.signature(shape).parameters
    own = "seed" in parameters

    def run(**arguments: Any) -> Any:
        directed = arguments.get("directed") if own else arguments.pop("create_using", None) is nx.DiGraph
        if "directed" in parameters:
            arguments["directed"] = directed
        nodes, source, target, *data = shape(**arguments)
        if undirected and directed:
            raise nx.NetworkXError("Directed Graph not supported")
        return graph_of_edges(nodes, source, target, bool(directed), None, *data)

    taken = [p for p in parameters.values() if own or p.name != "directed"]
    using = inspect.Parameter("create_using", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    run.__signature__ = inspect.Signature(taken if own else [*taken, using])  # type: ignore[attr-defined]
    return run


globals().update(
    family(
        {
            **{
                name: made(shape)
                for name, shape in {
                    "empty_graph": lambda n: (_named(n), no_nodes, no_nodes),
                    "null_graph": lambda: ([], no_nodes, no_nodes),
                    "trivial_graph": lambda: ([0], no_nodes, no_nodes),
                    "complete_graph": complete, "path_graph": _path, "cycle_graph": _cycle, "star_graph": _star,
                    "grid_2d_graph": _grid_2d, "grid_graph": _grid, "hypercube_graph": lambda n: _grid([2] * n),
                    "full_rary_tree": _rary_tree, "balanced_tree": _balanced_tree, "turan_graph": _turan,
                    "complete_multipartite_graph": _multipartite, "circulant_graph": _circulant,
                    "caveman_graph": lambda l, k: (range(l * k), *joined(*_caves(l, k) if k > 1 else ())),  # noqa: E741
                    "connected_caveman_graph": _connected_caves, "ring_of_cliques": _ring,
                }.items()
            },
            **{
                name: made(shape, undirected=True)
                for name, shape in {
                    "wheel_graph": _wheel, "ladder_graph": _ladder, "circular_ladder_graph": _circular_ladder,
                    "complete_bipartite_graph": _bipartite, "barbell_graph": _barbell,
                    "lollipop_graph": _with_tail(ring=False), "tadpole_graph": _with_tail(ring=True),
                }.items()
            },
        },
        unless=_classes,
    )
)  # fmt: skip
