"""Chance on the CPU, by hashes: in which batch each is, and which of equals comes first."""

from __future__ import annotations

import numpy as np

from hpgraph.kernels.runtime.cpu.part import part
from hpgraph.kernels.structure.cpu_greedy import mixed


@part(whole=True)
def drawn(number, round_, seed, bits):
    """So many bits for each number, others in each round."""
    key = np.uint64(number) + seed + np.uint64(round_) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed(key) >> np.uint64(64 - bits))


@part(whole=True)
def is_before(a, b, v, seed):
    """Whether a comes before b, in an order that each vertex has of its own."""
    key = seed ^ np.uint64(v) * np.uint64(0x9E3779B97F4A7C15)
    return mixed(np.uint64(a) ^ key) < mixed(np.uint64(b) ^ key)
