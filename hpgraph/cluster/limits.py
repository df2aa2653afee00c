"""How long anybody waits for anybody: every wait of the cluster has a limit, and each limit a name."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Seconds after which a wait is given up. A `ClusterTimeoutError`, or the reason of a new epoch, names the field.

    Attributes
    ----------
    load : float
        For a worker to load blocks.
    connect : float
        For the workers of a run to meet, from the moment that the first is there.
    exchange : float
        For a message of another worker: as long as the slowest superstep of the slowest worker.
    silence : float
        For a sign of life of a worker. A worker that computes gives them all the same; one that is stopped does not.
    leave : float
        For the others to leave, once one is lost.
    workers : float
        For a worker to be there at all, after all are lost: a nanny starts its worker again within some seconds.

    Examples
    --------
    >>> Limits(silence=5).silence
    5
    """

    load: float = 3600.0
    connect: float = 60.0
    exchange: float = 600.0
    silence: float = 30.0
    leave: float = 30.0
    workers: float = 60.0
