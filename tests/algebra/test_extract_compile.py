"""The CUDA kernels of extraction compile for several architectures, without a GPU."""

from __future__ import annotations

import pytest

from hpgraph.kernels.entries.cuda_extract import SOURCE, kernel_names
from hpgraph.kernels.runtime.cuda.compile import compile_only

pytest.importorskip("cuda.core")


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize(
    ("index", "word"), [("int", "unsigned char"), ("long long", "unsigned long long"), ("int", "ulonglong2")]
)
def test_extraction(index: str, word: str, arch: str) -> None:
    assert compile_only(SOURCE, "", [], kernel_names(index, word), arch)[:4] == b"\x7fELF"
