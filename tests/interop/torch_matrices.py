"""A small matrix of `hpgraph.torch`, random tensors, and the devices of tests of them."""

from typing import Any

import pytest

from hpgraph.core.device import cuda_available

torch = pytest.importorskip("torch")

DEVICES = ["cpu", *(["cuda"] if cuda_available() and torch.cuda.is_available() else [])]
# Parallel edges, a loop, an empty row, an empty column.
ROWS, COLUMNS, SHAPE = [0, 0, 0, 2, 2, 3, 3, 0], [1, 1, 4, 0, 2, 3, 5, 0], (5, 7)


def edges(device: str) -> Any:
    """An edge index out of order."""
    return torch.tensor([ROWS, COLUMNS], device=device)


def values_of(*shape: int, device: str, dtype: Any = None) -> Any:
    made = torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype or torch.float64)
    return made.to(device)
