"""Afforest's sampling: the label of the largest component, guessed from a sample of the vertices."""

from functools import cache
from typing import Any

import numpy as np

from hpgraph.core.device import device_of, to_device

# Arcs of each vertex that are followed before the sample is taken (Sutton et al., IPDPS'18, Section III).
NEIGHBOURS = 2
_SAMPLE = 1024


def most_frequent(label: Any) -> int:
    """The label that most vertices of a sample have; on CUDA this waits for the stream."""
    places = (_uniform()[: 4 * len(label)] * len(label)).astype(np.int64)
    sample = to_device(label[to_device(places, device_of(label))], "cpu")
    sample.sort()
    begins = np.ones(len(sample) + 1, np.bool_)
    np.not_equal(sample[1:], sample[:-1], out=begins[1:-1])
    places = begins.nonzero()[0]
    return int(sample[places[(places[1:] - places[:-1]).argmax()]])


@cache
def _uniform() -> np.ndarray:
    """Numbers from 0 to 1: a generator takes longer to begin than a small graph's components."""
    return np.random.default_rng(0).random(_SAMPLE)
