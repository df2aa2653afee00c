"""Hub cache: the in-neighbour of largest degree of every vertex, resident while the topology is streamed.

If the first message wins, an unvisited vertex checks this neighbour before its pages are loaded. On kron18 this finds
94 to 100% of the vertices that a bottom-up step reaches, and the remaining unvisited vertices have 1% of the arcs.
"""

from typing import Any

import numpy as np

from hpgraph.containers.streamed_graph import StreamedGraph
from hpgraph.core.device import array_module
from hpgraph.formats import Bitmask, Frontier
from hpgraph.kernels.backend import kernels
from hpgraph.kernels.out_of_core import HubCache, Store
from hpgraph.kernels.runtime.program import ProgramCode
from hpgraph.semiring import get_monoid


def _degree_and_id(source: Any, weight: Any, target: Any) -> Any:
    return source.degree << 32 | source.id


# The neighbour of largest degree; of several, the one of largest id.
_HUB = ProgramCode(
    "Hub", (("degree", np.dtype(np.int32)),), (), np.dtype(np.int64), get_monoid("max"), _degree_and_id,
    lambda vertex, message: vertex.degree,
)  # fmt: skip


def hub_cache_of(store: Store, graph: StreamedGraph) -> HubCache | None:
    """The hub cache of a store, built in one pass on first use; None if there is no room, or ids need 64 bits."""
    if store.hub_cache is None and store.has_room_for_hub_cache:
        store.hub_cache = _found(store, graph)
    return store.hub_cache


def _found(store: Store, graph: StreamedGraph) -> HubCache:
    xp, resident = array_module(graph.device), store.resident
    n, ids = resident.shape[0], graph.id_dtype
    # Degree by the arcs in these rows: the in-degree in a directed graph.
    degree = xp.minimum(resident.indptr[1:] - resident.indptr[:-1], np.iinfo(np.int32).max).astype(np.int32)
    steps = kernels(graph.device).Supersteps(_HUB, (degree,), None, ids, joins=True, all_active=True)
    all_vertices = Frontier(n, device=graph.device)
    for window in store.windows(store.survey(None)):
        steps.pull(window, all_vertices)
    best = steps.messages
    neighbour = xp.where(best < 0, -1, best & 0xFFFFFFFF).astype(ids)
    return HubCache(neighbour, Bitmask.from_bool(degree > 1))
