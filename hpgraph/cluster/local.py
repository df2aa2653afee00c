"""A cluster on this machine."""

import os
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import Client, LocalCluster, Nanny

from hpgraph.cluster.errors import ClusterError
from hpgraph.core.config import config
from hpgraph.core.device import Device, normalize_device, require_cupy
from hpgraph.core.number import whole

# Time that `distributed.LocalCluster` waits for a nanny to restart a worker. It checks once after a loss, and a worker
# that is lost again at that moment would never return.
_LOST, _USUAL, _LONG = "distributed.deploy.lost-worker-timeout", "15s", "1 h"
_CONNECT = "distributed.comm.timeouts.connect"


class _OneGPU(Nanny):
    """A nanny whose worker sees one GPU, assigned round-robin."""

    def __init__(self, scheduler: str, name: int, env: dict[str, str] | None = None, **more: Any) -> None:
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        gpus = seen.split(",") if seen else [str(k) for k in range(require_cupy().cuda.runtime.getDeviceCount())]
        own_env = {"CUDA_VISIBLE_DEVICES": gpus[name % len(gpus)]}
        super().__init__(scheduler, name=name, env={**(env or {}), **own_env}, **more)


class _Owner(Client):
    """A client whose cluster ends with it. In clusters that `Client` starts itself, workers have no certificates."""

    def close(self, *arguments: Any, **options: Any) -> Any:
        ended, cluster = super().close(*arguments, **options), self.cluster
        if cluster is not None:
            cluster.close()
        return ended


def local(n_workers: int = 2, *, threads: int | None = None, device: Device = "cpu", **arguments: Any) -> Client:
    """Start workers on this machine, each in its own process, and connect to them.

    In a script, call it below ``if __name__ == "__main__":``, because each process imports the script.

    Parameters
    ----------
    n_workers : int
        Number of workers.
    threads : int, optional
        Threads of each worker; default, the threads that `hpgraph.config` allows, divided among the workers.
    device : {"cpu", "cuda"}
        With "cuda" each worker sees one of this machine's GPUs, assigned round-robin.
    **arguments
        As for `distributed.LocalCluster`, for instance ``memory_limit="4 GiB"``; ``security=True`` encrypts all
        connections, with temporary certificates. Dask's dashboard is reachable from this machine only;
        ``dashboard_address=":8787"`` opens it to others.

    Returns
    -------
    distributed.Client
        Closing it, or leaving its ``with`` block, ends the workers. This sets Dask's
        ``distributed.deploy.lost-worker-timeout`` to an hour, unless it was changed before.

    Raises
    ------
    ClusterError
        If a worker has not started within Dask's ``distributed.comm.timeouts.connect``.

    Examples
    --------
    >>> with hpg.cluster.local(n_workers=2) as client:  # doctest: +SKIP
    ...     C = hpg.cluster.Graph.from_graph(client, hpg.datasets.grid(100))
    ...     C.connected_components().count
    1
    """
    n_workers = whole(n_workers, "n_workers", least=1)
    each = max(1, config.threads // n_workers) if threads is None else whole(threads, "threads", least=1)
    if normalize_device(device) == "cuda":
        arguments = {"worker_class": _OneGPU, **arguments}
    if dask.config.get(_LOST) == _USUAL:
        dask.config.set({_LOST: _LONG})
    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=each, processes=True,
        **{"dashboard_address": "127.0.0.1:0", "silence_logs": 50, **arguments},
    )  # fmt: skip
    client = _Owner(cluster)
    # A cluster may start before its scheduler knows all workers, each of which has the time of a connection.
    limit = dask.config.get(_CONNECT)
    try:
        client.wait_for_workers(n_workers, timeout=parse_timedelta(limit))
    except TimeoutError:
        found = len(client.nthreads())
        client.close()
        raise ClusterError(
            f"n_workers: {found} of {n_workers} workers started within {limit} (dask.config {_CONNECT!r}): "
            "call local again, or start fewer"
        ) from None
    return client
