"""Fixtures of the algorithms' tests."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hpgraph as hpg
from hpgraph.formats import CSR


@pytest.fixture
def wide_graph(monkeypatch: pytest.MonkeyPatch) -> Callable[..., hpg.Graph]:
    """Makes a graph whose ids have 64 bits, as they do from 2³¹ vertices on; fewer are narrowed otherwise."""

    def make(csr: Any, directed: bool) -> hpg.Graph:
        wide = CSR(csr.shape, csr.indptr.astype(np.int64), csr.indices.astype(np.int64), csr.data)
        with monkeypatch.context() as patch:
            patch.setattr("hpgraph.formats.csr.index_dtype", lambda n: np.dtype(np.int64))
            graph = hpg.Graph(wide, directed=directed)
        assert graph.out_csr.indices.dtype == np.int64
        return graph

    return make
