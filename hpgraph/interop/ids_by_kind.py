"""Edges between vertices of several kinds: each kind is numbered by itself, over all relations in which it occurs."""

from itertools import chain
from typing import Any

import numpy as np

from hpgraph.containers.matrix import MatrixStorage
from hpgraph.containers.name_arrays import as_array, python_values
from hpgraph.containers.names import Names, as_names
from hpgraph.core.device import array_module, is_sparse_matrix, native, to_device
from hpgraph.core.errors import optional
from hpgraph.core.number import whole
from hpgraph.interop.given_edges import array_of, edges_given
from hpgraph.interop.vertex_ids import numbered_ends
from hpgraph.scipy_api.matrix import Matrix


def edges_of(data: Any, relation: tuple[str, str, str], columns: bool) -> tuple[tuple[Any, Any], Any, dict[str, Any]]:
    """The ends of the edges, each ``(numbers, names or None, least count)``, their weights or None, and columns."""
    held: dict[str, Any] = {}
    if is_sparse_matrix(data) or isinstance(data, MatrixStorage):
        csr = Matrix(data).csr
        weight = None if csr.dtype == np.bool_ else csr.data
        return ((csr.expand_rows(), None, csr.shape[0]), (csr.indices, None, csr.shape[1])), weight, held
    if isinstance(data, tuple) and len(data) in (2, 3):
        *ends, names = numbered_ends(data[0], data[1])
        weight = None if len(data) == 2 else native(data[2])
        weight = weight if weight is None or hasattr(weight, "dtype") else np.asarray(weight)
    else:
        # A number in place of names: whole numbers are indices.
        further = columns and not isinstance(data, list | np.ndarray)
        given = edges_given(data, None, None, None, 0, further or None)
        if given is None:
            raise TypeError(
                f"{relation!r}: edges cannot be read from {type(data).__name__}: give a table, a list of tuples, a "
                "tuple of arrays (source, target[, weight]), or a sparse array"
            )
        ends, names, weight = [given["source"], given["target"]], given.get("names"), given["weight"]
        held = given.get("columns") or held
    return (_apart(ends[0], names), _apart(ends[1], names)), weight, held


def _apart(numbers: Any, names: Any) -> tuple[Any, Any, int]:
    """One end of the edges with ids of its own: both ends have one numbering, although their kinds may be two."""
    if not len(numbers):
        return np.zeros(0, np.int64), None, 0
    if names is None:
        return numbers, None, int(numbers.max()) + 1
    used, own = np.unique(numbers, return_inverse=True)
    called = as_array(python_values(as_array(names)[used]))
    if called.dtype.kind in "iu":
        return called[own], None, int(called.max()) + 1
    return own, called, 0


def numbered(columns: list[Any], given: Any, kind: str) -> tuple[list[Any], Names | None, int]:
    """Indices within one kind for ids from several relations; the names of the kind, if it has any; and how many."""
    named = any(names is not None for _, names, _ in columns)
    if given is None and not named:
        return [numbers for numbers, _, _ in columns], None, max((least for *_, least in columns), default=0)
    if given is None:
        # Of a column without names the distinct ids.
        ids = (np.unique(to_device(numbers, "cpu")) if names is None else names for numbers, names, _ in columns)
        given = as_array(list(dict.fromkeys(chain.from_iterable(map(python_values, ids)))))
    elif not hasattr(given, "__iter__") or isinstance(given, str | bytes):
        count = whole(given, f"vertices: the number of {kind}")
        if named:
            raise ValueError(f"vertices: ids of {kind} are names, of which {count} must be given, not their number")
        return [_indices(column, count, kind) for column in columns], None, count
    given = given if hasattr(given, "__len__") else list(given)
    names = as_names(given, len(given))
    found = names if names is not None else Names(np.arange(len(given)))
    # Beside names of text, or other objects, whole numbers are indices.
    by_name = found.array.dtype.kind in "iuf"
    places = [
        _places(column, found, kind) if by_name or column[1] is not None else _indices(column, len(given), kind)
        for column in columns
    ]
    return places, names, len(given)


def _indices(column: tuple[Any, Any, int], count: int, kind: str) -> Any:
    numbers, _, least = column
    if least > count or (len(numbers) and int(numbers.min()) < 0):
        raise IndexError(f"vertices: there are {count} of {kind}, and edges end at others, up to {least - 1}")
    return numbers


def _places(column: tuple[Any, Any, int], names: Names, kind: str) -> Any:
    numbers, called, _ = column
    ids = to_device(numbers, "cpu") if called is None else called
    place = names.places_of(ids)
    if (place < 0).any():
        raise ValueError(f"vertices: there is no {kind} {python_values(ids[place < 0])[0]!r}, at which an edge ends")
    place = place if called is None else place[numbers]
    return to_device(place, "cuda" if hasattr(numbers, "__cuda_array_interface__") else "cpu")


def of_geometric(data: Any, vertices: Any) -> tuple[dict[tuple[str, str, str], Any], dict[str, Any]]:
    """The relations of a HeteroData, and how many vertices there are of each kind, or the names given for them."""
    relations = {}
    for relation in data.edge_types:
        weight = getattr(data[relation], "edge_weight", None)
        source, target = array_of(data[relation].edge_index)
        relations[relation] = (source, target) if weight is None else (source, target, array_of(weight).reshape(-1))
    counts = {kind: count for kind in data.node_types if (count := _rows(data[kind])) is not None}
    return relations, {**counts, **(vertices or {})}


def _rows(store: Any) -> int | None:
    """Vertices of one kind: `num_nodes`, or the rows of its first tensor; None if only edges tell."""
    tensors = (tensor for _, tensor in store.items() if hasattr(tensor, "is_cuda") and tensor.ndim)
    return next((len(tensor) for tensor in tensors), None) if store.num_nodes is None else int(store.num_nodes)


def tensors_of(data: Any) -> dict[Any, dict[str, Any]]:
    """The tensors of a HeteroData with one row an edge of a relation, or a vertex of a kind."""
    found: dict[Any, dict[str, Any]] = {}
    for of, count in [(of, data[of].num_edges) for of in data.edge_types] + [
        (of, _rows(data[of])) for of in data.node_types
    ]:
        found[of] = {
            title: array_of(tensor)
            for title, tensor in data[of].items()
            if title not in ("edge_index", "edge_weight") and hasattr(tensor, "is_cuda") and tensor.ndim
            and tensor.shape[0] == count and str(tensor.dtype) != "torch.bfloat16"
        }  # fmt: skip
    return found


def to_geometric(H: Any) -> Any:
    """The HeteroData of a HeteroGraph."""
    torch = optional("torch", "torch", "HeteroGraph.to_pyg")
    data = optional("torch_geometric.data", "torch", "HeteroGraph.to_pyg").HeteroData()
    for kind in H.kinds:
        data[kind].num_nodes = H.n_vertices(kind)
    for of in (*H.kinds, *H):
        for title, column in H.columns(of).items():
            if not isinstance(column, tuple):
                data[of][title] = torch.from_dlpack(column.copy())
    for relation in H:
        matrix = H[relation]
        csr, xp = matrix.csr, array_module(matrix.device)
        ends = xp.stack([csr.expand_rows(), csr.indices]).astype(np.int64, copy=False)
        data[relation].edge_index = torch.from_dlpack(ends)
        if csr.data is not None:
            data[relation].edge_weight = torch.from_dlpack(csr.data.copy())
    return data
