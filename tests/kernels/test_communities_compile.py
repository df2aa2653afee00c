"""The CUDA kernels of communities compile for several architectures, without a GPU."""

from __future__ import annotations

import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.kernels.communities import cuda, cuda_aggregate

pytest.importorskip("cuda.core")
TYPES = [
    ("int", "hpgraph::One", "unsigned"),
    ("int", "long long", "unsigned long long"),
    ("long long", "long long", "unsigned"),
]


@pytest.mark.parametrize("arch", GENERATIONS)
@pytest.mark.parametrize("types", TYPES)
def test_local_moving(types: tuple[str, str, str], arch: str) -> None:
    compiles(cuda.SOURCE, names=(cuda.kernel_name(False, *types),), arch=arch, checks=cuda.layout(*types).checks)


@pytest.mark.parametrize("arch", GENERATIONS)
@pytest.mark.parametrize("index", ["int", "long long"])
def test_frequent_labels(index: str, arch: str) -> None:
    types = index, "hpgraph::One", "unsigned"
    compiles(cuda.SOURCE, names=(cuda.kernel_name(True, *types),), arch=arch, checks=cuda.layout(*types).checks)


@pytest.mark.parametrize("arch", GENERATIONS)
@pytest.mark.parametrize("types", TYPES)
def test_graphs_of_communities(types: tuple[str, str, str], arch: str) -> None:
    names, checks = cuda_aggregate.kernel_names(*types), cuda_aggregate.layout(*types).checks
    compiles(cuda_aggregate.SOURCE, names=names, arch=arch, checks=checks)
