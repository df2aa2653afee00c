"""Afforest's sampling: the label of the largest component, guessed from a sample of the vertices."""

from typing import Any

import numpy as np

from hpgraph.core.device import device_of, to_device

# Arcs of each vertex that are followed before the sample is taken (Sutton et al., IPDPS'18, Section III).
NEIGHBOURS = 2
_SAMPLE = 1024


def most_frequent(label: Any) -> int:
    """The label that most vertices of a sample have; on CUDA this waits for the stream."""
    places = np.random.default_rng(0).integers(0, len(label), min(_SAMPLE, 4 * len(label)))
    values, counts = np.unique(to_device(label[to_device(places, device_of(label))], "cpu"), return_counts=True)
    return int(values[counts.argmax()])
