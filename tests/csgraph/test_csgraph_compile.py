"""The CUDA kernels of components and of queues compile for every generation of GPUs; no GPU is needed."""

from __future__ import annotations

import importlib

import pytest
from cuda_build import GENERATIONS, compiles

pytest.importorskip("cuda.core")


@pytest.mark.parametrize("subject", ["components", "fifo"])
@pytest.mark.parametrize("index", ["int", "long long"])
@pytest.mark.parametrize("arch", GENERATIONS)
def test_kernels_of_csgraph_compile(arch: str, index: str, subject: str) -> None:
    kernels = importlib.import_module(f"hpgraph.kernels.structure.cuda_{subject}")
    compiles(kernels.SOURCE, names=kernels.kernel_names(index), arch=arch)
