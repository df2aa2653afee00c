"""Results of a run on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.cluster.job import BlockResult
from hpgraph.engine.result import RunResult, Trace

if TYPE_CHECKING:
    from hpgraph.cluster.placement import Placement


class ClusterTrace(Trace):
    """Trace of a run on a cluster, one row for each superstep, with the time of the slowest block.

    ``rows``: as in `hpgraph.Trace`; ``sent, messages, raises`` (int64 arrays of length supersteps): bytes sent between
    blocks, messages to vertices, and number of times a superstep raised the bound up to which values are sent.
    """

    def __init__(self, rows: np.ndarray, loop: str, sent: np.ndarray, messages: np.ndarray, raises: np.ndarray) -> None:
        super().__init__(rows)
        self._loop, self.sent, self.messages, self.raises = loop, sent, messages, raises

    @property
    def loop(self) -> str:
        """The loop that ran."""
        return self._loop


class ClusterResult(RunResult):
    """Result of a vertex program on a cluster: each property is a NumPy or Dask array of length n.

    ``sent_before`` (int): bytes sent before the first superstep: given values, and degrees in the first run; ``lost``
    (list of str): reasons of restarts, one for each lost worker.
    """

    def __init__(
        self, properties: dict[str, Any], trace: ClusterTrace, active: Any, world: dict[str, Any], sent_before: int,
        lost: list[str],
    ) -> None:  # fmt: skip
        super().__init__(properties, trace, active, world)
        self.sent_before, self.lost = sent_before, lost


def collect(
    graph: Placement, futures: dict[str, Any], results: list[dict[int, BlockResult]], lost: list[str], gather: bool
) -> ClusterResult:
    """Combine the blocks' results."""
    grid = graph.grid
    blocks: dict[int, BlockResult] = {block: part for own_blocks in results for block, part in own_blocks.items()}
    if gather:
        order = None if grid.order.factor == 1 else grid.order.vertices(np.arange(grid.n))
        properties: dict[str, Any] = {}
        for key in blocks[0].properties:
            values = np.concatenate([blocks[block].properties[key] for block in range(grid.blocks)])
            if order is not None:
                values, scattered = np.empty_like(values), values
                values[order] = scattered
            properties[key] = values
    else:
        owners = {
            block: future for own_blocks, future in zip(results, futures.values(), strict=True) for block in own_blocks
        }
        properties = _as_dask(graph, blocks, owners)
    rows = np.stack([blocks[block].rows for block in range(grid.blocks)])
    table = rows[0, :, :4].copy()
    table[:, 3] = rows[:, :, 3].max(axis=0)

    def active() -> np.ndarray:
        own = [blocks[block].active.astype(np.int64) + grid.bounds[block] for block in range(grid.blocks)]
        return np.sort(grid.order.vertices(np.concatenate(own))).astype(grid.ids)

    trace = ClusterTrace(
        table, f"supersteps on a grid of {grid.rows} × {grid.columns} blocks", rows[:, :, 4].sum(axis=0),
        rows[:, :, 5].sum(axis=0), rows[0, :, 6],
    )  # fmt: skip
    begun = sum(part.begun for part in blocks.values())
    return ClusterResult(properties, trace, active, blocks[0].world, begun, lost)


def _one(blocks: dict[int, BlockResult], block: int, key: str) -> np.ndarray:
    return blocks[block].properties[key]


def _as_dask(graph: Placement, blocks: dict[int, BlockResult], owners: dict[int, Any]) -> dict[str, Any]:
    import dask.array as da

    grid, client = graph.grid, graph.client
    properties = {}
    for key, empty in blocks[0].properties.items():
        parts = [
            da.from_delayed(client.submit(_one, owners[b], b, key, pure=False), (grid.size(b),), empty.dtype)
            for b in range(grid.blocks)
        ]
        values = da.concatenate(parts)
        if grid.order.factor != 1:
            values = values[grid.order.positions(np.arange(grid.n))]
        properties[key] = values
    return properties
