"""A table with a column for each array of vertex values."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.containers.result_table import ResultTable
from hpgraph.containers.vertex_array import named
from hpgraph.core.device import is_cuda


class VertexTable(ResultTable):
    """A table that `Graph.table` has made: `to_pandas`, `to_arrow`, `top`, and a look in a notebook."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._held = columns

    def _values(self) -> dict[str, Any]:
        return self._held

    def __repr__(self) -> str:
        n = len(next(iter(self._held.values())))
        return f"<VertexTable: {n:,} vertices, {', '.join(self._held)}>"


def table_of(graph: Any, columns: dict[str, Any]) -> VertexTable:
    """A table of columns by vertex: arrays of length n, or objects that `numpy.asarray` converts to these."""
    if not columns or "vertex" in columns:
        raise ValueError('a table needs columns, with other names than "vertex", which is the first of each')
    held = {name: values if is_cuda(values) else np.asarray(values) for name, values in columns.items()}
    for name, values in held.items():
        if values.shape != (graph.n_vertices,):
            wanted = f"a value for each of the {graph.n_vertices} vertices"
            raise ValueError(f"{name} must have {wanted}, not {values.shape}")
    return named(VertexTable(held), graph)
