"""A vertex program that reads several columns of edges, rewritten as an edge-vertex program with these as properties.

Loops pass a vertex program one number along an arc, its weight; an edge-vertex program gets the arc's number, and reads
each column there. Vertex programs that read at most one column keep their loops.
"""

import inspect
from collections.abc import Callable
from typing import Any

from hpgraph.engine.definition import (
    Definition,
    EdgeDefinition,
    EdgeProperty,
    Parameter,
    Property,
    declared,
    function_of,
)

_ATTRIBUTES = ("activity", "weighted", "max_iteration", "identity", "idempotent", "message", "aggregators")
_FUNCTIONS = {
    "gather": "edge_compute", "edge_cond": "edge_cond", "update": "vertex_compute", "starts": "starts",
    "aggregate": "aggregate", "converged": "converged",
}  # fmt: skip


def reason_against(program: type[Definition], columns: frozenset[str]) -> str | None:
    """Why a program cannot be one whose edges have properties; None if it can."""
    if program.edges != "in":
        return f'edges = "{program.edges}"'
    if function_of(program, "cond") is not None:
        return "cond"
    if inspect.getattr_static(program, "reduce") == "any":
        return 'reduce = "any"'
    taken = columns & {*declared(program, Property), *declared(program, Parameter)}
    return f"a property of the title {min(taken)!r}" if taken else None


def along_columns(program: type[Definition], columns: tuple[str, ...]) -> type[EdgeDefinition]:
    """The edge-vertex program with a constant property of edges for each column."""
    body: dict[str, Any] = {**declared(program, Property), **declared(program, Parameter)}
    body |= {title: EdgeProperty(constant=True) for title in columns if title != "weight"}
    body |= {name: getattr(program, name) for name in _ATTRIBUTES}
    body |= {own: function_of(program, name) for name, own in _FUNCTIONS.items()}
    sends = function_of(program, "sends")
    body |= {
        "vote_to_halt": None if sends is None else _halts(sends, len(inspect.signature(sends).parameters) > 2),
        "combiner": inspect.getattr_static(program, "reduce"), "__module__": program.__module__,
    }  # fmt: skip
    kept = {name: value for name, value in body.items() if value is not None}
    return type(program.__name__, (EdgeDefinition,), kept)


def _halts(sends: Callable[..., Any], in_world: bool) -> Callable[..., Any]:
    if in_world:
        return lambda before, vertex, world: not sends(before, vertex, world)
    return lambda before, vertex: not sends(before, vertex)
