"""The graphs that the command line is given."""

from pathlib import Path

import networkx as nx
import pytest
from written import ROADS


@pytest.fixture
def roads(tmp_path: Path) -> str:
    path = tmp_path / "roads.csv"
    path.write_text(ROADS)
    return str(path)


@pytest.fixture
def karate(tmp_path: Path) -> str:
    path = tmp_path / "karate.txt"
    nx.write_edgelist(nx.karate_club_graph(), path, data=False)
    return str(path)
