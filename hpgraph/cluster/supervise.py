"""Supervision of a run by its client, in epochs; each ends with results or with the loss of a worker.

There is one task a worker for a whole epoch. When a worker disconnects or sends no heartbeat, all others leave; its
blocks are loaded elsewhere, and a new epoch begins from the last checkpoint.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from distributed import CancelledError, Client, Future, wait

from hpgraph.cluster.checkpoints import Folder, read_table
from hpgraph.cluster.errors import CheckpointError, ClusterError
from hpgraph.cluster.job import BlockResult, Job, Share
from hpgraph.cluster.worker import Left, abandon, without_properties, work
from hpgraph.cluster.workers import Workers, reachable
from hpgraph.core.config import config
from hpgraph.core.locks import Lock
from hpgraph.core.progress import progress_bar

if TYPE_CHECKING:
    from hpgraph.cluster.placement import Placement

# Seconds between checks of the workers while they compute.
_POLL_INTERVAL = 0.5
# A lock for each client, held for a run. The tasks of a run wait for each other: if a second run had some of the
# workers, both would deadlock.
turns: WeakKeyDictionary[Client, Lock] = WeakKeyDictionary()
# Seconds for which results are kept after their use.
_RELEASE_DELAY = 0.1


class Supervisor:
    """One run."""

    def __init__(self, graph: Placement, job: Job, shares: list[Share], restarts: int) -> None:
        self._graph, self._client = graph, graph.client
        self._job, self._shares, self._restarts = job, shares, restarts
        self._workers = Workers(graph.client, job.limits)
        self._ended: list[bytes] = []
        #: Reasons of epochs that ended early.
        self.lost: list[str] = []

    def run(self, saved: str | None, gather: bool) -> tuple[dict[str, Future], list[dict[int, BlockResult]]]:
        """Run all epochs, while holding the client's lock."""
        graph, tries = self._graph, 0
        while True:
            placed = graph.settle(self._workers)
            job = replace(
                self._job, token=secrets.token_bytes(16), counted=self._job.backwards in graph.counted,
                peers=[graph.listeners[placed[block]] for block in range(len(placed))],
            )  # fmt: skip
            futures, results, reason = self._start(job, placed, saved), None, None
            try:
                reason = self._watch(job, futures)
                if reason is None:
                    results = self._fetched(futures, gather)
            finally:
                if results is None:
                    graph.settled = False
                    self._end(job, futures)
            if results is not None:
                graph.counted.add(job.backwards)
                # Releasing results sends a message, which would delay messages of the next 10 ms: the next run's tasks.
                loop = self._client.loop
                if loop is not None:
                    loop.add_callback(loop.call_later, _RELEASE_DELAY, futures.copy().clear)
                return futures, results
            reason = reason or "a worker was lost with its results"
            self.lost.append(reason)
            before, saved = saved, self._last_saved() or saved
            tries = tries + 1 if saved == before else 1
            if tries > self._restarts:
                raise ClusterError(
                    f"workers were lost {tries} times in a row with no checkpoint between, the last because {reason}; "
                    f"{self._graph.memory_text()}"
                )

    def _start(self, job: Job, placed: dict[int, str], saved: str | None) -> dict[str, Future]:
        by_worker: dict[str, dict[int, Share]] = {}
        for block, worker in sorted(placed.items()):
            share = self._shares[block]
            by_worker.setdefault(worker, {})[block] = share if saved is None else Share({}, None, saved)

        async def submit() -> dict[str, Future]:
            return {
                worker: self._client.submit(work, job, shares, workers=[worker], allow_other_workers=False, pure=False,
                                            retries=0, key=f"hpgraph-{job.token.hex()}-{number}")
                for number, (worker, shares) in enumerate(by_worker.items())
            }  # fmt: skip

        # In one iteration of Dask's event loop, so that all are in one message: another would wait for 10 ms.
        return self._client.sync(submit)

    def _watch(self, job: Job, futures: dict[str, Future]) -> str | None:
        """Wait for all tasks; returns the reason why the epoch ended early, or None."""
        pending, reason, deadline = dict(futures), None, np.inf
        known = set(futures)
        with _Progress(self._client, job) as progress:
            while pending and time.monotonic() < deadline:
                with contextlib.suppress(TimeoutError, CancelledError):
                    wait(list(pending.values()), timeout=_POLL_INTERVAL, return_when="FIRST_COMPLETED")
                progress.show()
                found, before = None, len(pending)
                for worker, future in list(pending.items()):
                    if future.done():
                        del pending[worker]
                        # Check all that ended: a program's exception is raised, whichever block noticed it first.
                        early = self._ended_early(worker, future)
                        found = found or early
                if found is None and len(pending) < before:
                    # Only results so far: the workers are checked when one is missing.
                    continue
                running = self._workers.there()
                if not running.keys() <= known:
                    # A silent worker may still compute in an epoch that is over.
                    for token in self._ended:
                        self._workers.ask(abandon, token, workers=running.keys() - known)
                    known |= running.keys()
                for worker in pending.keys() - running.keys():
                    # Its results may have arrived meanwhile.
                    if not pending[worker].done():
                        del pending[worker]
                        known.discard(worker)
                        found = found or f"worker {worker} was lost"
                if found is not None and reason is None:
                    reason, deadline = found, time.monotonic() + job.limits.leave
                    self._workers.ask(abandon, job.token, workers=running.keys() & futures.keys())
        return reason

    def _fetched(self, futures: dict[str, Future], gather: bool) -> list[dict[int, BlockResult]] | None:
        """The results, or None if a worker was lost before they arrived: Dask would wait for it forever."""
        wanted = list(futures.values())
        if not gather:
            wanted = [
                self._client.submit(without_properties, future, workers=[worker], pure=False)
                for worker, future in futures.items()
            ]
        found: list[Any] = []
        # From the workers directly, if this process reaches them, and not through the scheduler.
        direct = all(map(reachable, futures))

        def fetch() -> None:
            try:
                found.append(self._client.gather(wanted, direct=direct))
            except Exception as error:  # raised below, unless a worker is lost
                found.append(error)

        thread = threading.Thread(target=fetch, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(_POLL_INTERVAL)
            if thread.is_alive() and not futures.keys() <= self._workers.there().keys():
                return None
        if not isinstance(found[0], Exception):
            return found[0]
        if futures.keys() <= self._workers.there().keys():
            raise found[0]
        return None

    def _ended_early(self, worker: str, future: Future) -> str | None:
        """The reason why a worker left early; an exception of the program is raised again."""
        if future.status == "error":
            error = future.exception()
            # Caused by the program or its arguments, not by the cluster.
            of_cluster = isinstance(error, OSError) or type(error).__module__.startswith("distributed")
            if isinstance(error, ClusterError | MemoryError) or not of_cluster:
                raise error
            return f"worker {worker} failed ({type(error).__name__}: {error})"
        if future.status != "finished":
            return f"the task of worker {worker} was {future.status}"
        if future.type is Left or "Left" in str(future.type):
            left = future.result(timeout=self._job.limits.leave)
            return f"of block {left.block}: {left.reason}"
        return None

    def _end(self, job: Job, futures: dict[str, Future]) -> None:
        running = self._workers.there()
        self._ended.append(job.token)
        self._workers.ask(abandon, job.token, workers=running.keys() & futures.keys())
        self._client.cancel(list(futures.values()), asynchronous=False)

    def _last_saved(self) -> str | None:
        """The location of the run's last checkpoint."""
        if self._job.checkpoint is None:
            return None
        try:
            table = read_table(Folder(self._job.checkpoint))
        except CheckpointError:  # another run's, or damaged: this run resumes from its own
            return None
        return table["place"] if table["run"] == self._job.details["run"] else None


class _Progress:
    """A progress bar of supersteps, reported by one of the workers."""

    def __init__(self, client: Any, job: Job) -> None:
        self._client, self._topic = client, job.topic
        self._bar: Any = None
        self._step = self._active = 0
        self._name = job.details.get("program", "")

    def __enter__(self) -> _Progress:
        if self._topic is not None:
            self._client.subscribe_topic(self._topic, self._note)
        return self

    def _note(self, event: Any) -> None:
        report = event[1] if isinstance(event, tuple) else event
        if isinstance(report, dict) and "superstep" in report:
            self._step, self._active = report["superstep"], report["active"]

    def show(self) -> None:
        """Draw the last report."""
        if self._topic is None or not self._step or not config.show_progress():
            return
        if self._bar is None:
            self._bar = progress_bar(desc=self._name, unit=" supersteps")
        self._bar.n = self._step
        self._bar.set_postfix(active=f"{self._active:,}")

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._topic is not None:
            self._client.unsubscribe_topic(self._topic)
