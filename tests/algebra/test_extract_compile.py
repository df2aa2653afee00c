"""The CUDA kernels of extraction compile for several architectures, without a GPU."""

from __future__ import annotations

import pytest
from cuda_build import GENERATIONS, compiles

from hpgraph.kernels.entries.cuda_extract import SOURCE, kernel_names

pytest.importorskip("cuda.core")


@pytest.mark.parametrize("arch", GENERATIONS)
@pytest.mark.parametrize(
    ("index", "word"), [("int", "unsigned char"), ("long long", "unsigned long long"), ("int", "ulonglong2")]
)
def test_extraction(index: str, word: str, arch: str) -> None:
    compiles(SOURCE, names=kernel_names(index, word), arch=arch)
