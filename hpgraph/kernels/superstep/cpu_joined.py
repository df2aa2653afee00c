"""Supersteps on the CPU whose messages are worked out in several goes, or partly elsewhere, and joined."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import Bitmask
from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.spmv.cpu_fold import join
from hpgraph.kernels.superstep.cpu import Supersteps


class JoinedSupersteps(Supersteps):
    """`hpgraph.kernels.superstep.cpu.Supersteps` whose messages can be taken, and joined to others."""

    def take(self) -> tuple[Any, Bitmask]:
        """The messages so far, and who received; nobody has then.

        Returns
        -------
        messages : array of length n
        received : Bitmask
        """
        inbox = self._inbox
        self._inbox = inbox._replace(message=np.empty_like(inbox.message), received=np.zeros_like(inbox.received))
        return inbox.message, Bitmask(self.n, inbox.received, validate=False)

    def join(self, messages: Any, received: Bitmask, first: int = 0) -> None:
        """Join messages to those that are there.

        Parameters
        ----------
        messages : array of length k
            To the vertices from `first` on.
        received : Bitmask over k
            Who of them has one.
        first : int, default 0
            A multiple of 64.
        """
        inbox, ids = self._inbox, received.to_indices()
        join_listed(self._functions.reduce, inbox.message, inbox.received, inbox.identity, first, ids, messages[ids])


@njit(cache=True, nogil=True, error_model="numpy")
def join_listed(reduce, message, received, identity, first, ids, sent):
    """Join messages to those of the vertices `first` + `ids`, each once."""
    for k in range(ids.size):
        v = first + np.int64(ids[k])
        if test(received, v):
            message[v] = join(reduce, message[v], sent[k])
        else:
            mark(received, v)
            message[v] = join(reduce, identity, sent[k])


@njit(cache=True, nogil=True, error_model="numpy")
def join_all(reduce, message, sent):
    """Join messages one by one."""
    for v in range(message.size):
        message[v] = join(reduce, message[v], sent[v])
