"""Every conversion kernel compiles for every architecture served; that takes no GPU."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import hpgraph.formats
from hpgraph.formats import convert_cuda

FOLDER = Path(hpgraph.formats.__file__).parent
TYPES = {
    "I": list(convert_cuda._ID.values()),
    "V": list(convert_cuda._WORD.values()),
    "T": list(convert_cuda._TYPE.values()),
    "Merge": ["hpgraph::Sum", "hpgraph::Least"],
}


def kernels(file):
    """Each kernel of a file with each combination of its types."""
    for found in re.finditer(r"(?:template <([^>]*)>\s*)?__global__ void (\w+)", (FOLDER / file).read_text()):
        parameters = [parameter.split()[-1] for parameter in found[1].split(",")] if found[1] else []
        for types in itertools.product(*(TYPES[parameter] for parameter in parameters)):
            yield f"hpgraph::{found[2]}<{', '.join(types)}>" if types else f"hpgraph::{found[2]}"


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("file", ["convert.cuh", "bitmask.cuh"])
def test_kernels_compile(file, arch):
    core = pytest.importorskip("cuda.core")
    names = list(kernels(file))
    assert len(names) > 5
    program = core.Program((FOLDER / file).read_text(), "c++", core.ProgramOptions(arch=arch, std="c++17"))
    compiled = program.compile("cubin", name_expressions=names)
    assert set(compiled.symbol_mapping) >= set(names)


def test_every_kernel_asked_for_exists():
    asked = set(re.findall(r'"(?:convert|bitmask)\.cuh",\s*f?"(\w+)', Path(convert_cuda.__file__).read_text()))
    present = {re.sub(r"hpgraph::|<.*", "", name) for file in ("convert.cuh", "bitmask.cuh") for name in kernels(file)}
    assert asked == present
