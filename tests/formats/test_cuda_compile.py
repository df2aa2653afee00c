"""Every conversion kernel compiles for every architecture served; that takes no GPU."""

import itertools
import re
from pathlib import Path

import pytest

import hpgraph.formats
from hpgraph.core.c_types import ID_TYPES, REAL_TYPES, WORD_TYPES
from hpgraph.formats import convert_cuda, launch

FOLDER = Path(hpgraph.formats.__file__).parent
FILES = ["convert.cuh", "radix.cuh", "bitmask.cuh", "lengths.cuh"]
TYPES = {
    "I": list(ID_TYPES.values()),
    "V": list(WORD_TYPES.values()),
    "T": list(REAL_TYPES.values()),
    "Merge": ["hpgraph::Sum", "hpgraph::Least"],
}


FEW = {"I": TYPES["I"], "V": ["unsigned int"], "T": ["bool", "double"], "Merge": TYPES["Merge"]}


def kernels(file, choices=TYPES):
    """Each kernel of a file with each combination of its types."""
    pattern = r"(?:template <([^>]*)>\s*)?__global__ void (?:__launch_bounds__\([^)]*\)\s*)?(\w+)"
    if file == "radix.cuh":
        # Values of 16 bytes are dealt by their places.
        choices = choices | {"V": [word for word in choices["V"] if word != WORD_TYPES[16]]}
    for found in re.finditer(pattern, (FOLDER / file).read_text()):
        parameters = [parameter.split()[-1] for parameter in found[1].split(",")] if found[1] else []
        for types in itertools.product(*(choices[parameter] for parameter in parameters)):
            yield f"hpgraph::{found[2]}<{', '.join(types)}>" if types else f"hpgraph::{found[2]}"


# For the oldest: the text is the same for all.
@pytest.mark.parametrize("file", FILES)
def test_kernels_compile(file):
    core = pytest.importorskip("cuda.core")
    names = list(kernels(file, FEW))
    assert names
    program = core.Program(launch.source(file), "c++", core.ProgramOptions(arch="sm_75", std="c++17"))
    compiled = program.compile("cubin", name_expressions=names)
    assert set(compiled.symbol_mapping) >= set(names)


# What differs between architectures does not hang on the type of a value: of the others no machine code is made.
@pytest.mark.parametrize("file", FILES)
def test_kernels_of_every_type_are_instantiated(file):
    core = pytest.importorskip("cuda.core")
    names = list(kernels(file))
    linked = {"relocatable_device_code": True, "link_time_optimization": True}
    program = core.Program(launch.source(file), "c++", core.ProgramOptions(arch="sm_90", std="c++17", **linked))
    compiled = program.compile("ltoir", name_expressions=names)
    assert set(compiled.symbol_mapping) >= set(names)


def test_every_requested_kernel_exists():
    text = Path(convert_cuda.__file__).read_text()
    asked = set(re.findall(r'"(?:convert|radix|bitmask|lengths)\.cuh",\s*f?"(\w+)', text))
    present = {re.sub(r"hpgraph::|<.*", "", name) for file in FILES for name in kernels(file)}
    assert asked == present
