"""Graphs that are listed by hand: NetworkX's own, with the conversion that its cache would hold."""

import inspect
from collections.abc import Callable
from typing import Any

from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.generators import _classes
from hpgraph.interop.networkx_backend.info import FAMILIES
from hpgraph.interop.networkx_backend.serving import family, registered


def _converted(name: str) -> Callable[..., Any]:
    make = registered()[name].orig_func

    def run(**arguments: Any) -> Any:
        graph = make(**arguments)
        made = ConvertedGraph.of(graph, None, keep_edges=True, keep_nodes=True)
        graph.__networkx_cache__["backends"] = {"hpgraph": {(True, True): made}}
        return graph

    run.__signature__ = inspect.signature(make)  # type: ignore[attr-defined]
    return run


globals().update(
    family(
        {name: _converted(name) for name in FAMILIES["small_graphs"].split() if name in registered()}, unless=_classes
    )
)
