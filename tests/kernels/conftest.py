"""Fixtures of the kernels' tests: choices that the GPU makes for large matrices alone, for small ones."""

import pytest

from hpgraph.core.device import cuda_available


@pytest.fixture
def choosing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Products choose their way however few entries there are."""
    if cuda_available():
        from hpgraph.kernels.spmv import cuda, cuda_choice

        for module in (cuda, cuda_choice):
            monkeypatch.setattr(module, "CHOICE_ENTRIES", 1)


@pytest.fixture
def by_blocks(choosing: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products and sweeps go by blocks of columns, however small the matrix is."""
    from hpgraph.kernels.spmv import cuda_column_blocks_layout as layout

    monkeypatch.setattr(layout, "MIN", 1)
    monkeypatch.setattr(layout, "blocks_seconds", lambda *sizes: 1e-9)
