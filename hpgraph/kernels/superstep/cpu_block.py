"""Supersteps over a block of a larger graph on the CPU: messages leave for the blocks that own their targets."""

from __future__ import annotations

import numpy as np

from hpgraph.formats import Bitmask
from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.spmv.cpu_fold import join
from hpgraph.kernels.superstep.cpu import Supersteps


class BlockSupersteps(Supersteps):
    """`hpgraph.kernels.superstep.cpu.Supersteps` of which messages can be taken, and to which they can be brought."""

    def take(self, vertices: slice, words: slice) -> tuple[np.ndarray, np.ndarray]:
        """Take out what a range of vertices has received.

        Where each vertex receives only once, none of them is sent to again.

        Parameters
        ----------
        vertices, words : slice
            The range, as vertices and as words of a bitmask.

        Returns
        -------
        ids : uint32 array
            Who, counted from the beginning of the range; ascending.
        messages : array
        """
        inbox = self._inbox
        received = inbox.received[words]
        ids = Bitmask(vertices.stop - vertices.start, received, validate=False).to_indices()
        if inbox.settled is not None:
            inbox.settled[words] |= received
        received[:] = 0
        return ids.astype(np.uint32, copy=False), inbox.message[vertices][ids]

    def messages(self, vertices: slice) -> np.ndarray:
        """What a range of vertices has received, those with nothing the identity; after a pull from everyone."""
        return self._inbox.message[vertices]

    def bring(self, vertices: slice, ids: np.ndarray, messages: np.ndarray) -> None:
        """Join messages to those of a range of vertices.

        Parameters
        ----------
        vertices : slice
        ids : uint32 array
            Who, counted from the beginning of the range.
        messages : array
        """
        inbox = self._inbox
        bring_some(self._functions.reduce, inbox.message, inbox.received, inbox.identity, vertices.start, ids, messages)

    def bring_all(self, vertices: slice, messages: np.ndarray) -> None:
        """The same, one message for each vertex of the range, none of which counts as received."""
        bring_many(self._functions.reduce, self._inbox.message[vertices], messages)

    def receive_everyone(self, words: slice, n: int) -> None:
        """Have `apply` update all n vertices of a range, and nobody else."""
        self._inbox.received[:] = 0
        self._inbox.received[words] = Bitmask.full(n).words

    def received(self, words: slice) -> np.ndarray:
        """A copy of the bits that say who of a range has received."""
        return self._inbox.received[words].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def bring_some(reduce, message, received, identity, first, ids, sent):
    """Join messages to those of the vertices `first` + `ids`, each once."""
    for k in range(ids.size):
        v = first + np.int64(ids[k])
        if test(received, v):
            message[v] = join(reduce, message[v], sent[k])
        else:
            mark(received, v)
            message[v] = join(reduce, identity, sent[k])


@njit(cache=True, nogil=True, error_model="numpy")
def bring_many(reduce, message, sent):
    """Join messages one by one."""
    for v in range(message.size):
        message[v] = join(reduce, message[v], sent[v])
