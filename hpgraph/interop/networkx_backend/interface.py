"""The module that NetworkX loads: conversion, whether a call can and should run here, and the functions by name."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import networkx as nx

from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.info import FUNCTIONS
from hpgraph.interop.networkx_backend.returned import as_networkx
from hpgraph.interop.networkx_backend.serving import graphs_of_call, reason_against, reason_to_leave


def __getattr__(name: str) -> Any:
    # NetworkX looks up its functions here, also those that the backend lacks.
    if name in FUNCTIONS:
        family = import_module(f"hpgraph.interop.networkx_backend.{FUNCTIONS[name]}")
        if hasattr(family, name):
            return getattr(family, name)
    raise AttributeError(f"the hpgraph backend has no function {name!r}")


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    node_attrs: Mapping[str, Any] | None = None,
    preserve_node_attrs: bool = False,
    **_: Any,
) -> ConvertedGraph:
    """A NetworkX graph, converted."""
    if isinstance(graph, ConvertedGraph):
        return graph
    # An attribute without a numeric default may be of any type.
    keep_edges = preserve_edge_attrs or None in (edge_attrs or {}).values()
    try:
        return ConvertedGraph.of(graph, edge_attrs, keep_edges, bool(preserve_node_attrs or node_attrs))
    except TypeError as error:
        raise NotImplementedError(str(error)) from error


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """A converted graph as NetworkX's own; anything else as it is."""
    return as_networkx(result) if isinstance(result, ConvertedGraph) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a call can run here: True."""
    reason = reason_against(__getattr__(name), args, kwargs)
    if reason is None or nx.utils.backends._dispatchable._is_testing:
        return reason or True
    raise NotImplementedError(f"hpgraph does not take this call of {name}: {reason}; backend='networkx' does")


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether it pays: True, or why not."""
    (graph, *_) = graphs_of_call(name, args, kwargs) or [None]
    return reason_to_leave(name, graph) or True
