"""The CUDA kernels of similarity, sampling and layouts compile for several architectures, without a GPU."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.kernels.layout import DEPTH
from hpgraph.kernels.layout import cuda as layout
from hpgraph.kernels.sampling import cuda as sampling
from hpgraph.kernels.sampling import cuda_hops
from hpgraph.kernels.similarity import cuda as similarity
from hpgraph.semiring.c_types import c_type

pytest.importorskip("cuda.core")


@pytest.mark.parametrize(("index", "data", "term", "arch"), [
    ("int", "char", similarity.ONE, GENERATIONS[0]), ("long long", "char", similarity.VALUE, GENERATIONS[1]),
    ("int", "double", similarity.LESSER, GENERATIONS[1]), ("long long", "float", similarity.PRODUCT, GENERATIONS[0]),
])  # fmt: skip
def test_similarity(index: str, data: str, term: int, arch: str) -> None:
    names = similarity.kernel_names(index, data, term)
    compiles(similarity.SOURCE, prologue=similarity.prologue(), names=names, arch=arch)


@pytest.mark.parametrize("arch", GENERATIONS)
def test_walks(arch: str) -> None:
    flags = [(index, weighted, biased) for index in ("int", "long long") for weighted, biased in
             ((False, False), (True, True))]  # fmt: skip
    names = [sampling.walk_name(*some) for some in flags]
    compiles(sampling.WALKS, prologue=cuda_hops.prologue(), names=names, arch=arch)


@pytest.mark.parametrize(
    ("index", "weight", "arch"), [("int32", "char", GENERATIONS[0]), ("int64", "double", GENERATIONS[1])]
)
def test_hops(index: str, weight: str, arch: str) -> None:
    names = cuda_hops.kernel_names(c_type(index), weight)
    compiles(cuda_hops.SOURCE, names=names, arch=arch, **cuda_hops.text_around(np.dtype(index)))


@pytest.mark.parametrize("arch", GENERATIONS)
def test_sums(arch: str) -> None:
    compiles(cuda_hops.DRAWS, prologue=cuda_hops.prologue(), names=[sampling.summing_name("float")], arch=arch)


@pytest.mark.parametrize("arch", GENERATIONS)
def test_layout(arch: str) -> None:
    """The nodes that a point has still to look at lie in local memory."""
    compiles(layout.SOURCE, prologue=layout.prologue(), names=layout.NAMES, arch=arch, local=8 * DEPTH)
