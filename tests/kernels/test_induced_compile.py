"""The CUDA kernels of induced parts compile for several architectures, without a GPU."""

from __future__ import annotations

import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.kernels.entries.cuda_induced import SOURCE, kernel_names

pytest.importorskip("cuda.core")


@pytest.mark.parametrize("arch", GENERATIONS)
@pytest.mark.parametrize(("index", "word"), [("int", "unsigned char"), ("long long", "ulonglong2")])
def test_induced_part(index: str, word: str, arch: str) -> None:
    compiles(SOURCE, names=kernel_names(index, word), arch=arch)
