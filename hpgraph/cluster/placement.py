"""The placement of a graph's blocks on workers: loading, and reloading elsewhere when a worker is lost."""

import contextlib
import time
from collections import Counter
from typing import Any

import numpy as np
from distributed import CancelledError, Client, wait

from hpgraph.cluster.blocks import block_bytes
from hpgraph.cluster.errors import ClusterError, ClusterTimeoutError, Limits
from hpgraph.cluster.grid import Grid
from hpgraph.cluster.worker import Loaded, Worker, describe, hold, versions
from hpgraph.cluster.workers import Workers
from hpgraph.containers.graph import Graph
from hpgraph.core.device import Device
from hpgraph.core.errors import DeviceMemoryError, HpgraphError
from hpgraph.formats.duplicates import warn_unlike

# Seconds between checks of the workers while blocks are loaded, and restarts in a row.
POLL_INTERVAL = 0.5
LOADS = 8


class Placement(Graph):
    """A graph whose blocks are on the present workers."""

    client: Client
    source: Any
    grid: Grid
    limits: Limits
    key: str
    blocks_on: Device
    dtype: np.dtype | None

    def _begin_placement(self, arcs: np.ndarray | None) -> None:
        """Initialize without loaded blocks; `arcs`: the number of arcs of each, if known."""
        self._expected = np.zeros(self.grid.blocks, np.int64) if arcs is None else arcs
        self._loaded: dict[int, Loaded] = {}
        #: Directions in which all blocks know the degrees: out-arcs (False), in-arcs (True).
        self.counted: set[bool] = set()
        #: Whether blocks are assumed to be where they were placed: false once a run has lost a worker.
        self.settled = False
        #: The worker of each block, and the listener of each worker.
        self.placed: dict[int, str] = {}
        self.listeners: dict[str, tuple[str, int]] = {}
        self._memory: dict[str, int] = {}

    @property
    def n_edges(self) -> int:  # type: ignore[override]
        """Number of stored arcs."""
        return sum(one.arcs for one in self._loaded.values())

    def facts(self) -> dict[str, Any]:
        """The graph's entries in a checkpoint's table."""
        return {
            "grid": self.grid.table(), "directed": self.directed,
            "dtype": None if self.dtype is None else self.dtype.str, "device": self.blocks_on,
        }  # fmt: skip

    def settle(self, workers: Workers) -> dict[int, str]:
        """Load blocks that no present worker has; returns the worker of each block."""
        if self.settled and set(self.placed.values()) <= workers.there().keys():
            return self.placed
        tries = 0
        while True:
            described = self._described(workers)
            self.listeners = {address: one.listener for address, one in described.items()}
            loaded = {block: address for address, one in described.items() for block in one.held}
            placed = self._placed(described, loaded)
            self._memory = {address: one.memory for address, one in described.items()}
            self._check_memory({**loaded, **placed})
            lost = self._load(placed, workers) if placed else None
            if lost is None:
                self.placed, self.settled = {**loaded, **placed}, True
                return self.placed
            tries += 1
            if tries > LOADS:
                raise ClusterError(f"{lost}, {tries} times in a row; {self.memory_text({**loaded, **placed})}")

    def _placed(self, described: dict[str, Worker], loaded: dict[int, str]) -> dict[int, str]:
        """A worker for each unloaded block, chosen among those with the fewest."""
        counts = Counter(dict.fromkeys(described, 0))
        counts.update(loaded.values())
        placed = {}
        for block in set(range(self.grid.blocks)) - loaded.keys():
            placed[block] = min(counts, key=counts.__getitem__)
            counts[placed[block]] += 1
        return placed

    def _described(self, workers: Workers) -> dict[str, Worker]:
        """The present workers, with their versions checked."""
        while True:
            answers = workers.ask(describe, self.key, self.blocks_on, workers=workers.wait_for_any())
            described = {address: one for address, one in answers.items() if isinstance(one, Worker)}
            if described:
                break
            error = next((one for one in answers.values() if isinstance(one, Exception)), None)
            if isinstance(error, ClusterError):
                raise error
            if error is not None:
                # CUDA's own error, of a context that finds no memory, is no MemoryError.
                lacks = isinstance(error, MemoryError) or "out of memory" in str(error)
                remedy = "free memory there" if lacks else "install it on all workers"
                raise ClusterError(f"workers cannot run hpgraph ({error}): {remedy}") from error
        for address, one in described.items():
            for (what, version), (_, ours) in zip(one.versions, versions(), strict=True):
                if version != ours:
                    raise ClusterError(
                        f"worker {address} has {what} {version} and the client {ours}: install the same versions on all"
                    )
        return described

    def _load(self, placed: dict[int, str], workers: Workers) -> str | None:
        """Load blocks on workers; returns the reason if one of them was lost meanwhile."""
        self.counted.clear()
        deadline = time.monotonic() + self.limits.load
        try:
            table = self.grid.table()
            futures = [
                self.client.submit(hold, self.key, table, block, self.blocks_on, make, *arguments,
                                   workers=[placed[block]], pure=False)
                for block, make, arguments in self.source.loadings(self.client, self.grid, placed)
            ]  # fmt: skip
            done = False
            while not done:
                with contextlib.suppress(TimeoutError):
                    wait(futures, timeout=POLL_INTERVAL)
                    done = True
                gone = set(placed.values()) - workers.there().keys()
                if gone and not done:
                    self.client.cancel(futures)
                    return f"worker {min(gone)} was lost while blocks were loaded"
                if not done and time.monotonic() > deadline:
                    what = f"blocks {sorted(placed)} to be loaded"
                    raise ClusterTimeoutError("load", self.limits.load, what)
            loaded = self.client.gather(futures)
        except (ClusterError, HpgraphError, ValueError, TypeError, IndexError):
            raise
        except Exception as error:
            # Dask reports missing data in many ways; only the loss of a worker matters.
            gone = set(placed.values()) - workers.there().keys()
            if not gone and not isinstance(error, CancelledError):
                raise
            what = f"worker {min(gone)} was lost" if gone else "tasks were cancelled"
            return f"{what} while blocks were loaded ({type(error).__name__})"
        # Not again when blocks are loaded after a loss.
        if not self._loaded and any(one.unlike for one in loaded):
            warn_unlike()
        self._loaded.update((one.block, one) for one in loaded)
        return None

    def memory(self, properties: int = 16) -> dict[str, int]:
        """Predicted bytes of each worker, by address, while a program with `properties` bytes a vertex runs."""
        return self._predicted(self.placed, properties)

    def _predicted(self, placed: dict[int, str], properties: int = 16) -> dict[str, int]:
        weight = 0 if self.dtype is None else self.dtype.itemsize
        taken: dict[str, int] = {}
        for block, address in placed.items():
            arcs = self._loaded[block].arcs if block in self._loaded else int(self._expected[block])
            taken[address] = taken.get(address, 0) + block_bytes(self.grid, block, arcs, weight, properties)
        return taken

    def _check_memory(self, placed: dict[int, str]) -> None:
        for address, needed in self._predicted(placed).items():
            limit = self._memory.get(address, 0)
            if limit and needed > limit:
                raise DeviceMemoryError(
                    f"the blocks of worker {address}", needed, limit, self.blocks_on, "is its limit: start more workers"
                )

    def memory_text(self, placed: dict[int, str] | None = None) -> str:
        """The predicted memory, as text for a message."""
        most = max(self._predicted(self.placed if placed is None else placed).values(), default=0)
        return f"a worker's blocks were predicted to take {most / 2**20:,.0f} MiB at the most"
