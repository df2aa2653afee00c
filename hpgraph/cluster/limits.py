"""Timeouts of the cluster."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Timeouts in seconds. A `ClusterTimeoutError`, or the reason of a new epoch, names the field.

    ``load``: loading blocks on a worker; ``connect``: connecting the workers of a run, counted from the first that is
    ready; ``exchange``: receiving a message of another worker, longer than the slowest superstep of the slowest worker;
    ``silence``: heartbeat of a worker, which one that computes sends, and a stopped process does not; ``leave``: ending
    the epoch on the other workers, once one is lost; ``workers``: waiting for any worker, after all are lost: a nanny
    restarts its worker within some seconds.

    >>> Limits(silence=5).silence
    5
    """

    load: float = 3600.0
    connect: float = 60.0
    exchange: float = 600.0
    silence: float = 30.0
    leave: float = 30.0
    workers: float = 60.0
