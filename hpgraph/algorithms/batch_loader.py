"""Loaders of batches with the features of their vertices; each is prefetched while the one before it is used."""

import contextlib
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace as replaced
from typing import Any, Self, TypeVar

import numpy as np

from hpgraph.algorithms.distances import with_weights
from hpgraph.algorithms.feature_rows import FeatureRows
from hpgraph.algorithms.hop_sampling import checked_draws
from hpgraph.algorithms.neighbor_sampling import NeighborSample, checked_method, draw_sample, ends_of, fanouts_of
from hpgraph.algorithms.random_choice import seed_of
from hpgraph.containers.graph import Graph, whole
from hpgraph.core.device import array_module, to_device
from hpgraph.semiring.counter_random import random_bits

_T = TypeVar("_T")


class BatchLoader:
    """Base class of loaders: a sequence of samples, epoch after epoch. A kind of loader has `_batches` and a length."""

    graph: Graph

    def __init__(self, batch_size: Any, prefetch: Any, incoming: Any, seed: Any) -> None:
        self.batch_size, self.prefetch = whole(batch_size, "batch_size", least=1), whole(prefetch, "prefetch", least=0)
        self.incoming, self.seed = bool(incoming), seed_of(seed)
        self._epoch = 0
        self._features: Any = None

    def attach(self, features: Any, *, cache: int = 0) -> Self:
        """Attach feature rows to each batch; they are prefetched with it.

        Parameters
        ----------
        features : array of shape (n, ...), or dict of such
            NumPy arrays, also those mapped from a file (`numpy.memmap`), or CPU tensors, whose memory is read.
        cache : int
            Number of vertices, those of largest degree, whose rows a GPU caches in its memory.

        Returns
        -------
        BatchLoader
            Itself. ``batch.features`` are arrays on the graph's device; ``torch.from_dlpack`` takes their memory.

        Notes
        -----
        A GPU gathers rows itself where they are in page-locked memory, as ``tensor.pin_memory()`` and CuPy's
        ``cupyx.empty_pinned`` give it. Rows of other memory are gathered by threads of the CPU.

        Examples
        --------
        >>> import numpy as np
        >>> loader = hpg.NeighborLoader(hpg.datasets.grid(5), [2], batch_size=10).attach(np.arange(25.0))
        >>> all((batch.features == batch.vertex).all() for batch in loader)
        True
        """
        graph, hot = self.graph, ()
        count = whole(cache, "cache", "a number of vertices", least=0)
        if count and graph.device == "cuda":
            # A vertex is drawn about in proportion to its degree.
            drawn_by = (graph.out_csr if self.incoming else graph.in_csr).degrees
            hot = drawn_by.argsort()[::-1][:count]
        self._features = FeatureRows(features, graph.n_vertices, graph.device, hot)
        return self

    def _fetched(self, sample: NeighborSample) -> NeighborSample:
        """The sample with the features of its vertices."""
        if self._features is None:
            return sample
        return replaced(sample, features=self._features.fetch(self._features.prepare(sample.vertex)))

    def __len__(self) -> int:
        raise NotImplementedError

    def _batches(self, epoch: int) -> Iterator[NeighborSample]:
        """The samples of one epoch."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[NeighborSample]:
        epoch, self._epoch = self._epoch, self._epoch + 1
        samples = self._batches(epoch)
        if self.prefetch == 0:
            return map(self._fetched, samples)
        if self._features is None or self.graph.device == "cpu":
            return _ahead(map(self._fetched, samples), self.prefetch, self.graph.device)
        return self._by_two_streams(_ahead(map(self._prepared, samples), self.prefetch, self.graph.device))

    def _prepared(self, sample: NeighborSample) -> tuple[Any, ...]:
        """A sample, what a fetch needs, in memory of the current stream, and the event after which all is there."""
        prepared = self._features.prepare(sample.vertex)
        return sample, prepared, array_module(self.graph.device).cuda.get_current_stream().record()

    def _by_two_streams(self, prepared: Generator[tuple[Any, ...], None, None]) -> Iterator[NeighborSample]:
        """Fetch features on a second stream, while the next samples are drawn and the last ones are used."""
        cuda = array_module(self.graph.device).cuda
        main, link, ready = cuda.get_current_stream(), cuda.Stream(non_blocking=True), deque[Any]()
        try:
            while True:
                while len(ready) <= self.prefetch:
                    one = next(prepared, None)
                    if one is None:
                        break
                    sample, rows, event = one
                    # Waits for this event only, since the main stream's later draw waits for the last fetch.
                    link.wait_event(event)
                    with link:
                        sample = replaced(sample, features=self._features.fetch(rows))
                    ready.append((sample, rows, link.record()))
                if not ready:
                    return
                sample, rows, fetched = ready.popleft()
                main.wait_event(fetched)
                yield sample
        finally:
            # Fetches that nothing waited for may still be writing.
            main.wait_event(link.record())
            prepared.close()


class NeighborLoader(BatchLoader):
    """Samples around seeds in batches; iterating prefetches the next batches.

    Parameters
    ----------
    fanouts : sequence of int, or int
        As for `hpgraph.sample_neighbors`.
    seeds : sequence or array of vertices, names or hpgraph.id, optional
        Seeds of all batches; by default all vertices. The rows of an array of shape (k, 2) or (k, 3) are links or
        triangles.
    batch_size : int
        Seeds of a batch; the last may have fewer.
    shuffle : bool
        Whether to draw a new order of the seeds in each epoch.
    drop_last : bool
        Whether to drop a last batch that has fewer seeds.
    prefetch : int
        Batches made ahead by a background thread; 0 makes each on request.
    replace, weight, incoming, disjoint, method
        As for `hpgraph.sample_neighbors`.
    seed : int
        Seed of order and draws. Same seed, same sequence; each epoch differs.

    Notes
    -----
    On the GPU batches are made on the stream that is current when iteration begins; use them there.

    Examples
    --------
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
        prefetch: int = 2,
        replace: bool = False,
        weight: Any = None,
        incoming: bool = False,
        disjoint: bool = False,
        method: str = "neighbors",
        seed: int = 0,
    ) -> None:
        super().__init__(batch_size, prefetch, incoming, seed)
        self.graph, self._weighted = with_weights(G, weight, parallel="keep")
        self.fanouts = fanouts_of(fanouts)
        if seeds is None:
            self._seeds = array_module(self.graph.device).arange(self.graph.n_vertices)
        else:
            self._seeds = to_device(self.graph.indices_of(seeds, "seeds"), self.graph.device)
        self.shuffle, self.drop_last = bool(shuffle), bool(drop_last)
        self._how = checked_draws(replace, disjoint, None, "uniform", False, ends_of(seeds))
        self._method = checked_method(method, self._how)
        self._seeds = self._seeds.reshape(-1, self._how.ends)

    def __len__(self) -> int:
        whole_batches, left = divmod(len(self._seeds), self.batch_size)
        return whole_batches + (left > 0 and not self.drop_last)

    def __repr__(self) -> str:
        return (
            f"<NeighborLoader: {len(self):,} batches of {self.batch_size:,} seeds, fanouts "
            f"{', '.join(map(str, self.fanouts))}, {self.graph.device}>"
        )

    def _batches(self, epoch: int) -> Iterator[NeighborSample]:
        seeds = self._seeds
        if self.shuffle:
            order = np.random.default_rng([self.seed % 2**64, epoch]).permutation(len(seeds))
            seeds = seeds[to_device(order, self.graph.device)]
        for batch in range(len(self)):
            part = seeds[batch * self.batch_size : (batch + 1) * self.batch_size]
            batch_seed = int(random_bits(self.seed, epoch, batch))
            yield draw_sample(
                self.graph, part, self.fanouts, self._weighted, self.incoming, self._how, self._method, batch_seed
            )


def _ahead(batches: Iterator[_T], prefetch: int, device: str) -> Generator[_T, None, None]:
    """The batches, up to `prefetch` of them produced ahead by a thread."""
    # The next batch reuses a released batch's memory; on one stream, all reads of it come first.
    gpu, stream = contextlib.nullcontext(), contextlib.nullcontext()
    if device == "cuda":
        cuda = array_module(device).cuda
        gpu, stream = cuda.Device(), cuda.get_current_stream()

    def make() -> _T | None:
        with gpu, stream:
            return next(batches, None)

    maker = ThreadPoolExecutor(1, "hpgraph-batches")
    try:
        ready = deque(maker.submit(make) for _ in range(prefetch))
        while True:
            batch = ready.popleft().result()
            if batch is None:
                return
            ready.append(maker.submit(make))
            yield batch
    finally:
        maker.shutdown(cancel_futures=True)
