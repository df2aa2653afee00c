"""Public functions as methods of a graph on a cluster, which accept the options of a run as further arguments."""

import json
from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

import numpy as np

from hpgraph.algorithms.betweenness import betweenness_centrality
from hpgraph.algorithms.bfs import bfs
from hpgraph.algorithms.components import connected_components
from hpgraph.algorithms.cores import core_number
from hpgraph.algorithms.pagerank import pagerank
from hpgraph.algorithms.sssp import sssp
from hpgraph.algorithms.triangles import triangle_count, triangles
from hpgraph.cluster.runs import options_of
from hpgraph.engine.direction import Direction

R = TypeVar("R")
# Functions that `resume` can call again from a checkpoint.
RESUMED: dict[str, Callable[..., Any]] = {one.__name__: one for one in (bfs, sssp, pagerank, connected_components)}
# Their results may stay on the workers.
_APART = (bfs, sssp, pagerank, triangles)


def _method(function: Callable[..., R]) -> Callable[..., R]:
    """A function of a graph as a method."""
    name = function.__name__

    def method(self: Any, *given: Any, **named: Any) -> R:
        options = options_of(named)
        if options.checkpoint is not None:
            if name not in RESUMED:
                raise ValueError(f"checkpoint is for {', '.join(RESUMED)} and run, not for {name}, which is many runs")
            if options.call is None:
                options = options.to(call={"name": name, "arguments": _recorded(function, self, given, named)})
        if function not in _APART:
            options = options.to(gather=True)
        with options.given():
            return function(self, *given, **named)

    method.__name__, method.__qualname__ = name, f"Graph.{name}"
    method.__doc__ = f"`hpgraph.{name}`; also `gather`, `checkpoint`, `every`, `restarts` and `threads`, as for `run`."
    return method


def _recorded(function: Callable[..., Any], graph: Any, given: Any, named: Any) -> dict[str, Any]:
    """The arguments of a call, as a checkpoint keeps them."""
    arguments: dict[str, Any] = {}
    for name, value in list(signature(function).bind(graph, *given, **named).arguments.items())[1:]:
        if name == "source":
            value = graph.index_of(value, name)
        elif name == "dtype":
            value = np.dtype(value).name
        elif isinstance(value, Direction):
            value = value.mode
        arguments[name] = value.item() if isinstance(value, np.generic) else value
        try:
            json.dumps(arguments[name])
        except TypeError:
            raise TypeError(f"a checkpoint does not store {name}=: call {function.__name__} without one") from None
    return arguments


class Algorithms:
    """The methods."""

    bfs = _method(bfs)
    sssp = _method(sssp)
    pagerank = _method(pagerank)
    betweenness_centrality = _method(betweenness_centrality)
    connected_components = _method(connected_components)
    core_number = _method(core_number)
    triangles = _method(triangles)
    triangle_count = _method(triangle_count)
