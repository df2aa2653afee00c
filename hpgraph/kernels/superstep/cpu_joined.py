"""Messages that were computed elsewhere, joined to those of a work space on the CPU."""

from __future__ import annotations

import numpy as np

from hpgraph.kernels.runtime.cpu.claim import mark, test
from hpgraph.kernels.runtime.cpu.kernel import njit
from hpgraph.kernels.spmv.cpu_fold import join


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
