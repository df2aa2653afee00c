"""When a function of the backend can run, and when it pays.

A function refuses beforehand, by what NetworkX shows of its arguments (`serves`); or, where that
needs the converted graph, by raising NotImplementedError, and NetworkX tries the next backend.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

import networkx as nx

# Functions that visit each edge once in NetworkX: the conversion of a graph would take longer.
ONE_PASS = frozenset({
    "connected_components", "is_connected", "is_weakly_connected", "node_connected_component",
    "number_connected_components", "number_weakly_connected_components", "weakly_connected_components",
})  # fmt: skip
# Results follow the NetworkX that is installed where versions differ.
NETWORKX = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))
Function = TypeVar("Function", bound=Callable[..., Any])
Refusal = Callable[[Mapping[str, Any]], "str | None"]


def serves(*, parallel: bool = False, unless: Refusal | None = None) -> Callable[[Function], Function]:
    """Say which calls a function of the backend takes."""

    def mark(function: Function) -> Function:
        function.parallel = parallel  # type: ignore[attr-defined]
        function.unless = unless  # type: ignore[attr-defined]
        return function

    return mark


def given(*names: str) -> Refusal:
    """Refuse where one of these arguments is not None."""

    def refusal(arguments: Mapping[str, Any]) -> str | None:
        return next((f"{name} is not taken" for name in names if arguments.get(name) is not None), None)

    return refusal


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def reason_against(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
    """Why a call cannot run on the backend, or None."""
    try:
        bound = _signature(function).bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    bound.apply_defaults()
    arguments = bound.arguments
    graph = arguments["G"]
    if graph.is_multigraph() and not function.parallel:  # type: ignore[attr-defined]
        return "parallel edges are not told apart"
    named = nx.utils.backends._registered_algorithms[function.__name__].edge_attrs
    if named is not None and not isinstance(arguments[named], str | None):
        return f"{named} must be the name of an attribute"
    unless: Refusal | None = function.unless  # type: ignore[attr-defined]
    return None if unless is None else unless(arguments)


def reason_to_leave(name: str, graph: Any) -> str | None:
    """Why it is better to let NetworkX run by itself, or None: converting takes longer than that."""
    if getattr(graph, "__networkx_backend__", None) == "hpgraph":
        return None
    if (getattr(graph, "__networkx_cache__", None) or {}).get("backends", {}).get("hpgraph"):
        return None
    least = nx.config.backends.hpgraph.least_edges
    if graph.number_of_edges() < least:
        return f"fewer than {least} edges: nx.config.backends.hpgraph.least_edges"
    if least and name in ONE_PASS:
        return "NetworkX goes through the graph once, as the conversion would"
    return None
