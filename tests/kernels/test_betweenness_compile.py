"""The CUDA kernels of betweenness compile for every generation of GPUs; no GPU is needed."""

from __future__ import annotations

import itertools

import pytest
from cuda_build import GENERATIONS, compiles, translates

from hpgraph.kernels.betweenness import cuda

pytest.importorskip("cuda.core")
# Scaled numbers with places for arcs have more under way than registers hold; none of it is indexed at run time.
LOCAL = 384


@pytest.mark.parametrize(("index", "arch"), list(zip(("int", "long long"), GENERATIONS, strict=True)))
def test_kernels_of_betweenness_compile(arch: str, index: str) -> None:
    # Half of the switches on each generation, and all of them for every type of ids.
    on = arch == GENERATIONS[0]
    halves = {}
    for switches in itertools.product((False, True), repeat=3):
        halves.setdefault(switches[0] is on, set()).update(cuda.names(index, *switches).values())
    compiles(cuda.SOURCE, cuda.prologue(), names=sorted(halves[True]), arch=arch, local=LOCAL)
    translates(cuda.SOURCE, cuda.prologue(), names=sorted(halves[False]), arch=arch)
