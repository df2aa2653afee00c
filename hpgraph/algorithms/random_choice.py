"""What all random choices share: the seed, and the table by which weights decide."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpgraph.algorithms.distances import weight_facts
from hpgraph.containers.graph import Graph
from hpgraph.core.number import whole
from hpgraph.formats import CSR
from hpgraph.kernels.backend import sampling
from hpgraph.kernels.sampling import Sums


def seed_of(seed: Any, stream: int = 0) -> int:
    """A seed as int64, combined with the `stream` of a function: the same seed draws differently in each function."""
    return ((whole(seed, "seed") ^ stream) + 2**63) % 2**64 - 2**63


def chances(graph: Graph, arcs: CSR, weighted: bool) -> Sums | None:
    """Running sums for draws by weight, computed once; None for uniform draws."""
    if not weighted:
        return None
    facts = weight_facts(graph.out_csr)
    if facts.has_nan or facts.least < 0 or not np.isfinite(facts.mean):
        held = "NaN" if facts.has_nan else "infinity" if facts.least >= 0 else f"{facts.least:g}"
        raise ValueError(f"weight: chances go by finite weights from 0 on, and there is {held}; or weight=None")
    return sampling(graph.device).running_sums(arcs)
