"""Supersteps over a block of a larger graph on the GPU: messages leave for the blocks that own their targets."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.formats import CSR, Bitmask
from hpgraph.kernels.runtime.cuda.persistent import load_program
from hpgraph.kernels.runtime.cuda.program import cuda_program
from hpgraph.kernels.runtime.functions import functions_of
from hpgraph.kernels.spmv.cuda import pull
from hpgraph.kernels.superstep.cuda import Supersteps

_THREADS = 256
KERNELS = ("hpgraph::join_listed<Program>", "hpgraph::join_all<Program>")


class BlockSupersteps(Supersteps):
    """See `hpgraph.kernels.superstep.cpu_block.BlockSupersteps`; arrays that it is given and gives are CuPy's."""

    def take(self, vertices: slice, words: slice) -> tuple[Any, Any]:
        """Take out what a range of vertices has received: who, uint32, and the messages. Waits for the device."""
        received = self._received.words[words]
        if self._settled is not None:
            settled = self._settled.words[words]
            received &= ~settled
            settled |= received
        ids = Bitmask(vertices.stop - vertices.start, received, validate=False).to_indices()
        received[...] = 0
        return ids.astype(np.uint32), self._message[vertices][ids]

    def messages(self, vertices: slice) -> Any:
        """What a range of vertices has received, those with nothing the identity; after `pull_all`."""
        return self._message[vertices]

    def join_listed(self, vertices: slice, ids: Any, messages: Any) -> None:
        """Join messages to those of a range of vertices: who, counted from the beginning of the range, each once."""
        if len(ids):
            code = self.code
            identity = np.asarray(code.reduce.identity_for(code.message), code.message)
            self._launch(
                0, len(ids), self._message, self._received.words, np.int64(vertices.start), ids, messages,
                np.int64(len(ids)), identity, np.bool_(code.reduce.ends_on_anything),
            )  # fmt: skip

    def join_all(self, vertices: slice, messages: Any) -> None:
        """The same, one message for each vertex of the range, none of which counts as received."""
        if len(messages):
            self._launch(1, len(messages), self._message[vertices], messages, np.int64(len(messages)))

    def _launch(self, number: int, count: int, *arguments: Any) -> None:
        module = load_program(cuda_program(self.code, None), "joined.cuh", *KERNELS)
        module.function(KERNELS[number])((-(-count // _THREADS),), (_THREADS,), arguments)

    def pull_all(self, rows: CSR) -> None:
        """Messages of everyone to the first vertices, none of which counts as received."""
        pull(rows, functions_of(self.code).offer, self.code.reduce, self.state, self._message[: rows.shape[0]])

    def update_all(self, vertices: slice, world: tuple[Any, ...], step: int) -> tuple[int, np.ndarray]:
        """Update every vertex of a range, whether it received or not: how many changed, and the sums."""
        first = vertices.start // 64
        full = Bitmask.full(vertices.stop - vertices.start, device="cuda").words
        self._received = Bitmask.zeros(self.n, "cuda")
        self._received.words[first : first + len(full)] = full
        changed, sums = self.apply(None, world, step, False)  # type: ignore[arg-type]
        return changed.size, sums

    def received(self, words: slice) -> Any:
        """A copy of the bits that say who of a range has received."""
        return self._received.words[words].copy()
