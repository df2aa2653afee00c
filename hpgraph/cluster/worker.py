"""The task of a worker, one for a whole run.

Blocks are in the process, outside Dask's managed memory: they are not spilled, moved or counted twice. They stay until
the graph is closed or the worker ends.
"""

import platform
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from typing import Any, NamedTuple

from distributed import get_worker

from hpgraph.algorithms.distances import WeightFacts, facts_of_weights
from hpgraph.cluster.blocks import Block
from hpgraph.cluster.checkpoints import restore, save
from hpgraph.cluster.errors import ClusterError, ClusterTimeoutError, PeerLostError, ProgramError
from hpgraph.cluster.grid import Grid
from hpgraph.cluster.job import BlockResult, Job, Share
from hpgraph.cluster.listener import Listener, listener, listeners
from hpgraph.cluster.mesh import Mesh
from hpgraph.cluster.messages import MessageError
from hpgraph.cluster.run_block import BlockRun
from hpgraph.cluster.triangles import TriangleRun
from hpgraph.core.config import config
from hpgraph.core.device import Device, require_cupy
from hpgraph.core.versions import own_version

# Blocks by graph and number.
_blocks: dict[tuple[str, int], Block] = {}
_lock = threading.Lock()
# Seconds between two reports of progress.
_REPORT = 0.5
# The class for each kind of job.
_KINDS: dict[str, type[Any]] = {"program": BlockRun, "triangles": TriangleRun}


class Worker(NamedTuple):
    """A worker's description for the client, with its blocks of a graph."""

    listener: tuple[str, int]
    versions: tuple[tuple[str, str], ...]
    held: tuple[int, ...]
    # Limit in bytes; 0 if there is none.
    memory: int


class Loaded(NamedTuple):
    """A loaded block: its arcs, and facts of their weights; `unlike`: as for `Block`."""

    block: int
    arcs: int
    facts: WeightFacts
    unlike: bool


class Left(NamedTuple):
    """The result of a worker that left a run because the worker of another block was lost."""

    block: int
    reason: str


def versions() -> tuple[tuple[str, str], ...]:
    """Versions that all workers and the client must share: bytecode differs between versions of Python."""
    python = ".".join(platform.python_version_tuple()[:2])
    return ("hpgraph", own_version()), ("Python", python), ("NumPy", version("numpy")), ("Numba", version("numba"))


def describe(graph: str, device: Device, dask_worker: Any = None) -> Worker:
    """Open this worker's listener, and describe the worker with its blocks of a graph."""
    limit = dask_worker.memory_manager.memory_limit or 0
    if device == "cuda":
        of_gpu = require_cupy().cuda.runtime.memGetInfo()[1]
        limit = min(limit, of_gpu) if limit else of_gpu
    with _lock:
        held = tuple(sorted(block for name, block in _blocks if name == graph))
    return Worker(listener(dask_worker).address, versions(), held, int(limit))


def hold(graph: str, table: dict[str, Any], block: int, device: Device, make: Any, *arguments: Any) -> Loaded:
    """Make a block of a graph on the grid that `table` describes, and keep it in this process."""
    made: Block = make(Grid.of_table(table), block, device, *arguments)
    # A missing or too small GPU raises here.
    _ = made.resident, made.resident_vertices
    with _lock:
        _blocks[graph, block] = made
    arcs = int(made.graph.n_edges)
    return Loaded(block, arcs, facts_of_weights(made.graph.out_csr.data, arcs), made.unlike)


def drop(graph: str) -> None:
    """Free a graph's blocks."""
    with _lock:
        for key in [key for key in _blocks if key[0] == graph]:
            del _blocks[key]


def abandon(token: bytes) -> None:
    """Leave a run's epoch in this process."""
    for one in listeners():
        one.abandon(token)


def work(job: Job, shares: dict[int, Share]) -> dict[int, BlockResult] | Left:
    """Run one epoch for the blocks of one worker."""
    worker = get_worker()
    own_listener = listener(worker)
    threads = job.threads or max(1, worker.state.nthreads // len(shares))
    try:
        with ThreadPoolExecutor(len(shares), thread_name_prefix="hpgraph-block") as pool:
            futures = {
                block: pool.submit(_work_on, worker, own_listener, job, block, share, threads)
                for block, share in shares.items()
            }
    finally:
        abandon(job.token)
    failed = [error for future in futures.values() if (error := future.exception()) is not None]
    # A program's exception takes precedence over the departure of other blocks because of it.
    for error in sorted(failed, key=lambda error: isinstance(error, PeerLostError)):
        if isinstance(error, PeerLostError):
            return Left(error.rank, error.reason)
        raise error
    return {block: future.result() for block, future in futures.items()}


def _work_on(worker: Any, own_listener: Listener, job: Job, block: int, share: Share, threads: int) -> BlockResult:
    held_here = _blocks.get((job.graph, block))
    if held_here is None:
        raise PeerLostError(block, "it is no longer where it was loaded")
    mesh = None
    try:
        # The other blocks of its row and its column.
        addresses = {peer: job.peers[peer] for peer in held_here.numbering.first if peer != block}
        mesh = Mesh(own_listener, job.token, block, addresses, job.limits)
        run = _KINDS[job.kind](job, held_here, share, mesh)
        report = _Report(worker, job.topic if block == 0 else None)
        with config(threads=threads):
            return run.go(restore, save, report)
    except ClusterTimeoutError as error:
        raise PeerLostError(block, str(error)) from None
    except (ClusterError, MessageError, MemoryError):
        raise
    except Exception as error:
        name = job.details.get("program", "the program")
        where = f"on worker {worker.address}, block {block}"
        # Exceptions of a parallel loop are wrapped.
        cause = error.__cause__ if isinstance(error, SystemError) and error.__cause__ is not None else error
        raise ProgramError(f"{name} raised {type(cause).__name__} {where}: {cause}") from error
    finally:
        if mesh is not None:
            mesh.close()


def without_properties(blocks: dict[int, BlockResult]) -> dict[int, BlockResult]:
    """Results whose properties stay on the worker."""
    return {
        block: replace(part, properties={key: values[:0] for key, values in part.properties.items()})
        for block, part in blocks.items()
    }


class _Report:
    """Reports a run's progress to the client."""

    def __init__(self, worker: Any, topic: str | None) -> None:
        self._worker, self._topic, self._last = worker, topic, 0.0

    def __call__(self, step: int, active: int) -> None:
        if self._topic is not None and time.monotonic() - self._last >= _REPORT:
            self._last = time.monotonic()
            self._worker.log_event(self._topic, {"superstep": step, "active": active})
