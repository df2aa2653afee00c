"""What NetworkX loads: conversion, whether a call can and should run here, and the functions by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import networkx as nx

from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.info import FUNCTIONS
from hpgraph.interop.networkx_backend.serving import reason_against, reason_to_leave

_FAMILIES = (
    "centrality", "clustering", "communities", "components", "distances", "link_prediction", "paths", "structure",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    # NetworkX asks this module for the functions; it asks for each that it has, ours or not.
    if name in FUNCTIONS:
        for family in _FAMILIES:
            module = import_module(f"hpgraph.interop.networkx_backend.{family}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"the hpgraph backend has no function {name!r}")


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    **_: Any,
) -> ConvertedGraph:
    """A NetworkX graph, converted."""
    if isinstance(graph, ConvertedGraph):
        return graph
    try:
        return ConvertedGraph(graph, edge_attrs or ())
    except TypeError as error:
        raise NotImplementedError(str(error)) from error


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """A converted graph as NetworkX's own; anything else as it is."""
    return result.to_networkx() if isinstance(result, ConvertedGraph) else result


def can_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether a call can run here: True."""
    reason = reason_against(__getattr__(name), args, kwargs)
    if reason is None or nx.utils.backends._dispatchable._is_testing:
        return reason or True
    raise NotImplementedError(f"hpgraph does not take this call of {name}: {reason}; backend='networkx' does")


def should_run(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool | str:
    """Whether it pays: True, or why not."""
    return reason_to_leave(name, args[0] if args else kwargs["G"]) or True
