"""Timeouts of a cluster, and its exceptions, one class for each cause."""

from typing import NamedTuple

from hpgraph.core.errors import HpgraphError


class ClusterError(RuntimeError, HpgraphError):
    """The cluster cannot run the request: too few workers, different versions, or too many lost workers."""


class ClusterTimeoutError(TimeoutError, ClusterError):
    """A timeout expired: names the limit, a field of `Limits`, its seconds, and the awaited object.

    >>> str(ClusterTimeoutError("connect", 60.0, "block 3"))
    'waited 60 s for block 3: the limit is Limits.connect'
    """

    def __init__(self, limit: str, seconds: float, what: str) -> None:
        super().__init__(f"waited {seconds:g} s for {what}: the limit is Limits.{limit}")
        self.limit = limit
        self.seconds = seconds
        self.what = what

    def __reduce__(self) -> tuple[type, tuple[str, float, str]]:
        return type(self), (self.limit, self.seconds, self.what)


class CheckpointError(ClusterError):
    """A checkpoint is missing, is damaged, or belongs to another program than the one that resumes from it."""


class ProgramError(ClusterError):
    """A vertex program raised on a worker; the message has the program's name and the exception."""


class PeerLostError(ClusterError):
    """Another worker of the run was lost, which ends the epoch; handled by the supervisor."""

    def __init__(self, rank: int, reason: str) -> None:
        super().__init__(f"block {rank}: {reason}")
        self.rank = rank
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[int, str]]:
        return type(self), (self.rank, self.reason)


class Limits(NamedTuple):
    """Timeouts in seconds. A `ClusterTimeoutError`, or the reason for a new epoch, names the field.

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
