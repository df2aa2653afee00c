"""A cluster on this machine."""

import os
from typing import Any

import dask
from distributed import Client, LocalCluster, Nanny

from hpgraph.core.config import config
from hpgraph.core.device import Device, normalize_device, require_cupy
from hpgraph.core.number import whole

# How long `distributed.LocalCluster` waits for a nanny to restart a worker. It checks once after a loss, and a worker
# that is lost again at that moment would never return.
_LOST, _USUAL, _LONG = "distributed.deploy.lost-worker-timeout", "15s", "1 h"


class _OneGPU(Nanny):
    """A nanny whose worker sees one GPU, assigned round-robin."""

    def __init__(self, scheduler: str, name: int, env: dict[str, str] | None = None, **more: Any) -> None:
        seen = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        gpus = seen.split(",") if seen else [str(k) for k in range(require_cupy().cuda.runtime.getDeviceCount())]
        mine = {"CUDA_VISIBLE_DEVICES": gpus[name % len(gpus)]}
        super().__init__(scheduler, name=name, env={**(env or {}), **mine}, **more)


class _Owner(Client):
    """A client whose cluster ends with it. Of those that `Client` starts itself workers have no certificates."""

    def close(self, *arguments: Any, **options: Any) -> Any:
        ended, cluster = super().close(*arguments, **options), self.cluster
        if cluster is not None:
            cluster.close()
        return ended


def local(n_workers: int = 2, *, threads: int | None = None, device: Device = "cpu", **arguments: Any) -> Client:
    """Start workers on this machine, each a process of its own, and connect to them.

    In a script it stands below ``if __name__ == "__main__":``, because each process reads the script anew.

    Parameters
    ----------
    n_workers : int
        How many.
    threads : int, optional
        Threads of each; default, those that `hpgraph.config` allows, shared out.
    device : {"cpu", "cuda"}
        "cuda" has each worker see one of the GPUs here, in turn.
    **arguments
        As for `distributed.LocalCluster`, as ``memory_limit="4 GiB"``; ``security=True`` encrypts all that the
        processes send, by certificates made for the purpose. Dask's dashboard is reached from this machine alone;
        ``dashboard_address=":8787"`` opens it to others.

    Returns
    -------
    distributed.Client
        Closing it, or leaving its ``with`` block, ends the workers. Dask's setting
        ``distributed.deploy.lost-worker-timeout`` is an hour from then on, unless it was changed before.

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
    # A cluster may start before its scheduler knows all workers.
    client.wait_for_workers(n_workers)
    return client
