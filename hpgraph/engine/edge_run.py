"""Properties of edges: their arrays, what lies beside them, and supersteps along numbered arcs."""

from collections.abc import Callable, Container
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from hpgraph.containers.columns import values_of
from hpgraph.containers.graph import Graph
from hpgraph.core.device import Device, array_module, check_memory, to_device
from hpgraph.core.placements import not_served
from hpgraph.engine.declarations import EdgeDeclarations
from hpgraph.engine.definition import LEFT, EdgeProperty
from hpgraph.engine.state import Run
from hpgraph.engine.superstep import supersteps
from hpgraph.engine.values import array, as_given, scalar, type_of
from hpgraph.kernels.edges.program import STAMP, EdgeProgramCode, current
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.placement.in_memory import NumberedInMemory
from hpgraph.placement.in_pages import NumberedInPages
from hpgraph.placement.of_graph import numbered_arcs_of

DTYPE = attrgetter("dtype")


def edges_of(declared: EdgeDeclarations, graph: Graph, initial: dict[str, Any]) -> dict[str, Any]:
    """Properties of the edges of a program that runs alone; takes what it uses out of `initial`."""
    if declared.functions["starts"] == LEFT:
        raise TypeError(f'{declared.name}.starts must be a function starts(vertex); "left" works only in Phases')
    own = declared.edge_properties
    return edge_state(declared, graph, initial, own, {name for name, prop in own.items() if not prop.constant})


def numbered_arcs_and_code(
    declared: EdgeDeclarations, graph: Graph, state: dict[str, Any], edges: dict[str, Any]
) -> tuple[Any, EdgeProgramCode]:
    """The arcs of a program by number, and its code, for its own properties in their order."""
    arcs = numbered_arcs_of(graph)
    edge_dtypes = tuple([edges[name].dtype for name in declared.edge_properties])
    code = declared.edge_code(tuple(map(DTYPE, state.values())), edge_dtypes, graph.dtype, arcs.places)
    if isinstance(arcs, NumberedInPages):
        _check_in_pages(code, graph.device)
    return arcs, code


def _check_in_pages(code: EdgeProgramCode, device: Device) -> None:
    """Refuse programs that need arrays of arcs which pages by source do not hold."""
    sums = code.message.kind == "f" and not code.reduce.idempotent
    for used, does in (
        (code.reads_reverse, "looks at edge.reverse"),
        (code.weight is not None, "reads edge.weight (a constant EdgeProperty may stand for it)"),
        (code.reply is not None, "has replies"),
        (code.is_shaped, "has tuples at vertices or as messages"),
        (sums and device == "cuda", "sums floats, which come in any order as the GPU pushes them"),
    ):
        if used:
            raise not_served("in pages", f"{code.name} {does}")


def nothing_beside(code: ProgramCode, graph: Graph) -> tuple[Any, ...]:
    """Empty arrays in place of the arrays beside the arcs, for kernels over vertices only."""
    return tuple(array_module(graph.device).empty(0, dtype) for _, dtype in code.choosing.beside)


def go_along(run: Run, graph: Any) -> tuple[Callable[[], np.ndarray], Any]:
    """Run the supersteps of a program along numbered arcs; `run.edges` then has the new properties of arcs."""
    code: Any = run.code
    beside = _arc_arrays(code, graph, run.arcs, run.edges)
    none = (None,) * len(beside)
    whole = replace(run, state=(*run.state, *beside.values()), beginnings=(*run.beginnings, *none))
    initial = whole.begin()
    whole.begin_sums()
    rows, left = supersteps(whole, *initial)
    for i in code.changes if code.keeps_two else ():
        name = code.edge_properties[i][0]
        run.edges[name] = current(beside[name], beside.get("stamp"), rows.supersteps(), array_module(run.device))
    return rows, left


def edge_state(
    declared: EdgeDeclarations, graph: Graph, initial: dict[str, Any], properties: Container[str],
    changed: Container[str],
) -> dict[str, Any]:  # fmt: skip
    """Arrays of edge properties on the graph's device, copies of those `changed`; uses up `initial`."""
    size = sum(np.dtype(prop.dtype).itemsize for name, prop in declared.edge_properties.items() if name in properties)
    check_memory(graph.n_edges * size, f"properties of the edges of {declared.name}", graph.device)
    return {
        name: _edge_values(declared, name, graph, initial.pop(name, _beginning(prop, name, graph)), name not in changed)
        for name, prop in declared.edge_properties.items()
        if name in properties
    }


def _beginning(prop: EdgeProperty, name: str, graph: Graph) -> Any:
    """Default initial value of a property; of a constant one, the graph's column of the same name."""
    columns = graph._columns_held.edges
    return values_of(columns[name]) if prop.constant and name in columns else prop.initial


def _edge_values(declared: EdgeDeclarations, name: str, graph: Graph, value: Any, stays: bool) -> Any:
    """Initial values of an edge property on the graph's device: a copy, unless no function changes it."""
    m, xp = graph.n_edges, array_module(graph.device)
    value = as_given(value, graph, name)
    dtype = type_of(declared.edge_properties[name].dtype, value, name)
    if np.ndim(value) == 0:
        return xp.full(m, scalar(value, dtype, name), dtype)
    if value.shape != (m,):
        raise ValueError(
            f"{name} must be a scalar or have one value for each of the {m} arcs, in the order of "
            f"G.edges(both_ways=True), not shape {value.shape}"
        )
    moved = to_device(value, graph.device)
    if stays and moved.dtype == dtype and moved.flags.c_contiguous:
        return moved
    return array(moved, value, dtype, name)


def _arc_arrays(code: EdgeProgramCode, graph: Graph, arcs: NumberedInMemory, edges: dict[str, Any]) -> dict[str, Any]:
    """The arrays beside the arcs by name, in the order of the code."""
    xp, m = array_module(graph.device), graph.n_edges
    twice = [code.edge_properties[i][1] for i in code.changes if code.keeps_two]
    size = sum(2 * dtype.itemsize for dtype in twice) + STAMP.itemsize * code.keeps_stamps
    check_memory(m * size, f"the arcs of {code.name}", graph.device)
    arrays: dict[str, Any] = {}
    for name, dtype in code.beside:
        if name in edges:
            arrays[name] = edges[name]
        elif name == "weight":
            arrays[name] = graph.out_csr.data
        elif name == "reverse":
            arrays[name] = arcs.reverses
        else:
            arrays[name] = xp.zeros(m, dtype)
    for i in code.changes if code.keeps_two else ():
        name = code.edge_properties[i][0]
        # The second buffer is written before it is read.
        both = xp.empty(2 * m, arrays[name].dtype)
        both[::2] = arrays[name]
        arrays[name] = both
    return arrays
