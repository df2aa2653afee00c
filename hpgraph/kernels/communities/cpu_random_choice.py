"""Pseudorandom choices on the CPU, by hashes: batches and the order of equals."""

from __future__ import annotations

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.structure.cpu_greedy import mixed


@part(whole=True)
def drawn(number, round_, seed, bits):
    """`bits` pseudorandom bits for each number and round."""
    key = np.uint64(number) + seed + np.uint64(round_) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed(key) >> np.uint64(64 - bits))


@part(whole=True)
def is_before(a, b, v, seed):
    """Whether a comes before b in the pseudorandom order of vertex v."""
    key = seed ^ np.uint64(v) * np.uint64(0x9E3779B97F4A7C15)
    return mixed(np.uint64(a) ^ key) < mixed(np.uint64(b) ^ key)
