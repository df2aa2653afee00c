"""Supersteps over a block of a larger graph on the CPU: messages leave for the blocks that own their targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.runtime.cpu.prefetch import peek_each, put_each
from hpgraph.kernels.runtime.cpu.progress import LOOPS
from hpgraph.kernels.runtime.cpu.threads import team
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv.cpu import pull
from hpgraph.kernels.superstep.cpu import Supersteps
from hpgraph.kernels.superstep.cpu_frontier import BLOCK
from hpgraph.kernels.superstep.cpu_joined import join_all, join_listed
from hpgraph.kernels.sweep.cpu_sums import add_each
from hpgraph.semiring.jit import call


class BlockSupersteps(Supersteps):
    """`hpgraph.kernels.superstep.cpu.Supersteps` of which messages can be taken, and to which others can be joined."""

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

    def join_listed(self, vertices: slice, ids: np.ndarray, messages: np.ndarray) -> None:
        """Join messages to those of a range of vertices.

        Parameters
        ----------
        vertices : slice
        ids : uint32 array
            Who, counted from the beginning of the range.
        messages : array
        """
        inbox, reduce = self._inbox, self._functions.reduce
        join_listed(reduce, inbox.message, inbox.received, inbox.identity, vertices.start, ids, messages)

    def join_all(self, vertices: slice, messages: np.ndarray) -> None:
        """The same, one message for each vertex of the range, none of which counts as received."""
        join_all(self._functions.reduce, self._inbox.message[vertices], messages)

    def pull_all(self, rows: CSR) -> None:
        """Messages of everyone to the first vertices, none of which counts as received.

        Parameters
        ----------
        rows : CSR
            Arcs by the vertex that gathers.
        """
        offer = functions_of(self.code).offer
        pull(rows, offer, self.code.reduce, self.state, self._inbox.message[: rows.shape[0]])

    def update_all(self, vertices: slice, world: tuple[Any, ...], step: int) -> tuple[int, np.ndarray]:
        """Update every vertex of a range, whether it received or not.

        Parameters
        ----------
        vertices : slice
        world : tuple of scalars
            Parameters and last sums.
        step : int

        Returns
        -------
        changed : int
            How many changed.
        sums : float64 array
            What `aggregate` contributed.
        """
        functions, count = functions_of(self.code), len(self.code.properties)
        own = tuple(values[vertices] for values in self.state[: count + 1])
        sums = np.zeros((max(-(-len(own[0]) // BLOCK), 1), 1 + self.code.aggregates))
        with team():
            update_each(
                functions.renew, functions.tally, (0.0,) * sums.shape[1], own[:count], (None,) * count, own[count],
                self._inbox.message[vertices], world, step, sums,
            )  # fmt: skip
        changed, *added = sums.sum(axis=0)
        return int(changed), np.array(added)

    def received(self, words: slice) -> np.ndarray:
        """A copy of the bits that say who of a range has received."""
        return self._inbox.received[words].copy()


@njit(error_model="numpy", forceinline=True)
def _update(renew, tally, properties, nowhere, ids, message, v, world, step, total):
    before = peek_each(properties, v)
    after, changed = call(renew, before, ids[v], message[v], world, step)
    put_each(properties, nowhere, v, after)
    return add_each(total, call(tally, before, after, ids[v], world, step, changed))


@njit(error_model="numpy")
def _update_block(renew, tally, nothing, properties, nowhere, ids, message, world, step, begin, end, sums):
    total = nothing
    for v in range(begin, end):
        total = _update(renew, tally, properties, nowhere, ids, message, v, world, step, total)
    for k in range(len(total)):
        sums[k] = total[k]


@njit(parallel=LOOPS, cache=True, nogil=True, error_model="numpy")
def update_each(renew, tally, nothing, properties, nowhere, ids, message, world, step, sums):
    """Update all vertices; a row of `sums` takes how many of a block changed, and what they add."""
    for block in prange(sums.shape[0]):
        end = min((block + 1) * BLOCK, message.size)
        _update_block(renew, tally, nothing, properties, nowhere, ids, message, world, step, block * BLOCK, end,
                      sums[block])  # fmt: skip
