"""Graphs on the workers of a Dask cluster: ``hpgraph[cluster]``.

>>> with hpg.cluster.local(n_workers=2) as client:  # doctest: +SKIP
...     C = hpg.cluster.Graph.from_graph(client, hpg.datasets.grid(100))
...     C.bfs(0).level.max()
198
"""

from hpgraph.core.errors import MissingExtraError

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:
    raise MissingExtraError("distributed", "cluster", "hpgraph.cluster") from error

from hpgraph.cluster.errors import CheckpointError, ClusterError, ClusterTimeoutError, Limits, ProgramError
from hpgraph.cluster.graph import Graph
from hpgraph.cluster.local import local
from hpgraph.cluster.resume import resume

__all__ = [
    "CheckpointError", "ClusterError", "ClusterTimeoutError", "Graph", "Limits", "ProgramError", "local", "resume",
]  # fmt: skip
