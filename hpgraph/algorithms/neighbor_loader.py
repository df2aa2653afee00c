"""Batches of samples for learning: each is made while the one before it is used."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hpgraph.algorithms.lengths import with_weights
from hpgraph.algorithms.neighbor_sampling import NeighborSample, fanouts_of, sample_neighbors
from hpgraph.algorithms.random_choice import seed_of
from hpgraph.containers.graph import Graph
from hpgraph.containers.vertices import id
from hpgraph.core.device import array_module, to_device
from hpgraph.core.number import whole
from hpgraph.semiring.counter_random import random_bits

# Interval in seconds at which a blocked producer checks whether iteration has ended.
_GLANCE = 0.1


class NeighborLoader:
    """Samples around seeds in batches; iterating prefetches the next batch.

    Parameters
    ----------
    G : Graph or what `hpgraph.as_graph` takes
        The graph.
    fanouts : sequence of int, or int
        As for `hpgraph.sample_neighbors`.
    seeds : sequence or array of vertices, names or hpgraph.id, optional
        Seeds of all batches; by default all vertices.
    batch_size : int
        Seeds of a batch; the last may have fewer.
    shuffle : bool
        Whether to draw a new order of the seeds in each epoch.
    drop_last : bool
        Whether to drop a last batch that has fewer seeds.
    prefetch : int
        Batches made ahead by a background thread; 0 makes each on request.
    replace, weight, incoming
        As for `hpgraph.sample_neighbors`.
    seed : int
        Seed of order and draws. Same seed, same sequence; each epoch differs.

    Raises
    ------
    ValueError, TypeError, IndexError
        When seeds are not of the graph, or an argument does not fit.

    Notes
    -----
    On the GPU batches are made on the stream that is current when iteration begins; use them there.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> G = hpg.datasets.grid(30)
    >>> loader = hpg.NeighborLoader(G, [4, 4], batch_size=256, shuffle=True)
    >>> len(loader), [batch.vertices_of_hop[0] for batch in loader]
    (4, [256, 256, 256, 132])
    """

    def __init__(
        self,
        G: Graph | Any,
        fanouts: Sequence[int] | int,
        seeds: Any = None,
        *,
        batch_size: int = 1024,
        shuffle: bool = False,
        drop_last: bool = False,
        prefetch: int = 1,
        replace: bool = False,
        weight: Any = None,
        incoming: bool = False,
        seed: int = 0,
    ) -> None:
        self.graph, weighted = with_weights(G, weight)
        self.fanouts = fanouts_of(fanouts)
        self.batch_size, self.prefetch = whole(batch_size, "batch_size"), whole(prefetch, "prefetch")
        if self.batch_size < 1 or self.prefetch < 0:
            raise ValueError(f"batch_size must be 1 or more, prefetch 0 or more, not {batch_size} and {prefetch}")
        if seeds is None:
            self._seeds = array_module(self.graph.device).arange(self.graph.n_vertices)
        else:
            self._seeds = to_device(self.graph.indices_of(seeds, "seeds"), self.graph.device)
        self.shuffle, self.drop_last, self.seed = bool(shuffle), bool(drop_last), seed_of(seed)
        self._how = {"replace": replace, "weight": weighted, "incoming": incoming}
        self._epoch = 0

    def __len__(self) -> int:
        whole_batches, left = divmod(len(self._seeds), self.batch_size)
        return whole_batches + (left > 0 and not self.drop_last)

    def __repr__(self) -> str:
        return (
            f"<NeighborLoader: {len(self):,} batches of {self.batch_size:,} seeds, fanouts "
            f"{', '.join(map(str, self.fanouts))}, {self.graph.device}>"
        )

    def __iter__(self) -> Iterator[NeighborSample]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        batches = self._batches(epoch)
        return batches if self.prefetch == 0 else _ahead(batches, self.prefetch, self.graph.device)

    def _batches(self, epoch: int) -> Iterator[NeighborSample]:
        """The samples of one epoch."""
        seeds = self._seeds
        if self.shuffle:
            order = np.random.default_rng([self.seed % 2**64, epoch]).permutation(len(seeds))
            seeds = seeds[to_device(order, self.graph.device)]
        for batch in range(len(self)):
            part = seeds[batch * self.batch_size : (batch + 1) * self.batch_size]
            chance = int(random_bits(self.seed, epoch, batch))
            yield sample_neighbors(self.graph, id(part), self.fanouts, seed=chance, **self._how)


def _ahead(batches: Iterator[NeighborSample], prefetch: int, device: str) -> Iterator[NeighborSample]:
    """The batches, `prefetch` of them made ahead by a thread."""
    ready: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(prefetch)
    over = threading.Event()
    # The memory of a released batch is reused for the next: on one stream all its reads come before.
    gpu, stream = contextlib.nullcontext(), contextlib.nullcontext()
    if device == "cuda":
        cuda = array_module(device).cuda
        gpu, stream = cuda.Device(), cuda.get_current_stream()

    def put(batch: Any, error: BaseException | None) -> None:
        while not over.is_set():
            with contextlib.suppress(queue.Full):
                ready.put((batch, error), timeout=_GLANCE)
                return

    def make() -> None:
        try:
            with gpu, stream:
                while not over.is_set():
                    batch = next(batches, None)
                    put(batch, None)
                    if batch is None:
                        return
        except BaseException as error:  # raised by the iterating thread
            put(None, error)

    maker = threading.Thread(target=make, name="hpgraph-batches", daemon=True)
    maker.start()
    try:
        while True:
            batch, error = ready.get()
            if error is not None:
                raise error
            if batch is None:
                return
            yield batch
    finally:
        over.set()
        maker.join()
