"""The CUDA kernels of PageRank in lanes compile for every generation of GPUs; no GPU is needed."""

from __future__ import annotations

import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.kernels.sweep import cuda_ranks

pytest.importorskip("cuda.core")


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(
    ("held", "real", "sent", "index", "weight", "arch"),
    [
        (64, "double", "float", "int", "hpgraph::Unweighted", "sm_90"),
        (64, "double", "double", "int", "hpgraph::Unweighted", "sm_90"),
        *((8, "float", "float", "int", "float", arch) for arch in GENERATIONS),
        *((8, "double", "float", "int", "float", arch) for arch in GENERATIONS),
        (16, "double", "double", "long long", "long long", "sm_90"),
    ],
)
def test_every_generation(ahead, held, real, sent, index, weight, arch):
    compiles(cuda_ranks.SOURCE, names=cuda_ranks.kernel_names(ahead, held, real, sent, index, weight), arch=arch)
