"""The graph that most tests of the engine run on."""

import pytest
from reference_algorithms import SMALL

import hpgraph as hpg


@pytest.fixture
def G(device):
    return hpg.Graph(SMALL, directed=True).to(device)
