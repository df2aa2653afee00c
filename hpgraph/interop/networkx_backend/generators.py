"""Generators: graphs that NetworkX's own code makes, with the conversion that NetworkX's cache would hold."""

import inspect
from collections.abc import Callable
from typing import Any

from hpgraph.interop.networkx_backend.converted import ConvertedGraph
from hpgraph.interop.networkx_backend.info import FAMILIES
from hpgraph.interop.networkx_backend.serving import family, registered


def _converted(name: str) -> Callable[..., Any]:
    make = registered()[name].orig_func
    signature = inspect.signature(make)

    def run(**arguments: Any) -> Any:
        given = inspect.BoundArguments(signature, arguments)  # type: ignore[arg-type]
        graph = make(*given.args, **given.kwargs)
        # Parallel edges are not distinguished: functions that need not convert such a graph themselves.
        if not graph.is_multigraph():
            made = ConvertedGraph.of(graph, None, keep_edges=True, keep_nodes=True)
            graph.__networkx_cache__["backends"] = {"hpgraph": {(True, True): made}}
        return graph

    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


globals().update(family({name: _converted(name) for name in FAMILIES["generators"].split() if name in registered()}))
