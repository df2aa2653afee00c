"""Exceptions of a cluster, one class for each cause."""

from __future__ import annotations

from hpgraph.core.errors import HpgraphError


class ClusterError(RuntimeError, HpgraphError):
    """The cluster cannot do what was asked: too few workers, versions that differ, workers lost too often."""


class ClusterTimeoutError(TimeoutError, ClusterError):
    """A timeout expired: of what was waited for, its seconds, and the name of the limit, a field of `Limits`.

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
    """A checkpoint is not there, is damaged, or does not belong to the program that goes on from it."""


class ProgramError(ClusterError):
    """A vertex program raised on a worker; the message has the program's name and what was raised."""


class PeerLostError(ClusterError):
    """Another worker of the run went away, and its epoch is over; none but the supervisor sees this."""

    def __init__(self, rank: int, reason: str) -> None:
        super().__init__(f"block {rank}: {reason}")
        self.rank = rank
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[int, str]]:
        return type(self), (self.rank, self.reason)
