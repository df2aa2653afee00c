"""The CUDA kernels of connected components compile for every generation of GPUs; no GPU is needed."""

from __future__ import annotations

import pytest

from hpgraph.kernels.cuda.compile import compile_only
from hpgraph.kernels.cuda.components import SOURCE, kernel_names

pytest.importorskip("cuda.core")


@pytest.mark.parametrize("index", ["int", "long long"])
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_components_compile(arch: str, index: str) -> None:
    assert compile_only(SOURCE, names=kernel_names(index), arch=arch).startswith(b"\x7fELF")
