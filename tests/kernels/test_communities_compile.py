"""The CUDA kernels of communities compile for several architectures, without a GPU."""

from __future__ import annotations

import pytest
from cuda_build import GENERATIONS, compiles, translates

from hpgraph.kernels.communities import cuda, cuda_aggregate, cuda_members

pytest.importorskip("cuda.core")
TYPES = [
    ("int", "hpgraph::One", "unsigned"),
    ("int", "long long", "unsigned long long"),
    ("long long", "long long", "unsigned"),
]


# Machine code for the oldest and the newest generation, each of other types.
SEEN = list(zip(TYPES, GENERATIONS, strict=False))


def test_types_are_those_of_the_host() -> None:
    for types in TYPES:
        translates(cuda.SOURCE, names=(cuda.kernel_name(False, *types),), checks=cuda.layout(*types).checks)
        names, checks = cuda_aggregate.kernel_names(*types), cuda_aggregate.layout(*types).checks
        translates(cuda_aggregate.SOURCE, names=names, checks=checks)


@pytest.mark.parametrize(("types", "arch"), SEEN)
def test_local_moving(types: tuple[str, str, str], arch: str) -> None:
    compiles(cuda.SOURCE, names=(cuda.kernel_name(False, *types),), arch=arch)


@pytest.mark.parametrize(("index", "arch"), list(zip(("int", "long long"), GENERATIONS, strict=True)))
def test_frequent_labels(index: str, arch: str) -> None:
    types = index, "hpgraph::One", "unsigned"
    compiles(cuda.SOURCE, names=(cuda.kernel_name(True, *types),), arch=arch, checks=cuda.layout(*types).checks)


@pytest.mark.parametrize(("types", "arch"), SEEN)
def test_graphs_of_communities(types: tuple[str, str, str], arch: str) -> None:
    compiles(cuda_aggregate.SOURCE, names=cuda_aggregate.kernel_names(*types), arch=arch)


@pytest.mark.parametrize(("index", "arch"), list(zip(("int", "long long"), GENERATIONS, strict=True)))
def test_members(index: str, arch: str) -> None:
    compiles(cuda_members.SOURCE, names=cuda_members.kernel_names(index), arch=arch)
