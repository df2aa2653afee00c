"""The CUDA kernels of structure that are built like no other compile for several architectures, without a GPU."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles, kernels, local_memory

from hpgraph.kernels.runtime.cuda.compile import build_cached
from hpgraph.kernels.runtime.cuda.persistent import techniques_type
from hpgraph.kernels.structure import (
    cuda_components,
    cuda_fifo,
    cuda_greedy,
    cuda_peeling,
    cuda_spanning_forest,
    cuda_support,
    cuda_triangles,
    cuda_truss,
)  # fmt: skip
from hpgraph.semiring import c_types

pytest.importorskip("cuda.core")
C_TYPES = {"int": "int32", "long long": "int64"}
OLDEST, NEWEST = GENERATIONS
# One type of ids on the oldest generation, the other on the newest.
each_index = pytest.mark.parametrize(("index", "arch"), [("int", OLDEST), ("long long", NEWEST)])


@pytest.mark.parametrize(
    ("ids", "count", "levels", "arch"),
    [("int32", "uint16", True, OLDEST), ("int64", "uint64", True, NEWEST), ("int32", "uint32", False, NEWEST)],
)
def test_peeling(ids: str, count: str, levels: bool, arch: str) -> None:
    types = np.dtype(ids), np.dtype(count)
    name = cuda_peeling.kernel_name(*(c_types.c_type(one) for one in types), techniques_type(), levels)
    path, symbols = build_cached(cuda_peeling.SOURCE, names=(name,), arch=arch, **cuda_peeling.text_around(*types))
    code = path.read_bytes()
    assert symbols[name] in kernels(code)
    assert local_memory(code)[symbols[name]] <= 256


@pytest.mark.parametrize(
    ("types", "arch"),
    [(("int", "float"), OLDEST), (("long long", "signed char"), NEWEST), (("int", "hpgraph::Pattern"), NEWEST)],
)
def test_spanning_forest(types: tuple[str, str], arch: str) -> None:
    names, ids = cuda_spanning_forest.kernel_names(*types).values(), np.dtype(C_TYPES[types[0]])
    compiles(cuda_spanning_forest.SOURCE, names=names, arch=arch, **cuda_spanning_forest.text_around(ids))


@each_index
@pytest.mark.parametrize("room", [cuda_components, cuda_fifo, cuda_greedy])
def test_components_queues_and_greedy_choices(room: ModuleType, index: str, arch: str) -> None:
    compiles(room.SOURCE, names=room.kernel_names(index), arch=arch)


@pytest.mark.parametrize(
    ("index", "above", "lanes", "arch"),
    [("int", cuda_triangles.BY_RANK, 8, OLDEST), ("int", cuda_triangles.BY_RANK, 32, NEWEST),
     ("long long", cuda_triangles.BY_ID, 16, NEWEST), ("long long", cuda_triangles.BY_ID, 8, OLDEST),
     ("int", cuda_triangles.LISTED, 32, OLDEST), ("int", cuda_triangles.LISTED, 16, NEWEST)],
)  # fmt: skip
def test_triangles_of_edges(index: str, above: int, lanes: int, arch: str) -> None:
    names = cuda_support.kernel_names(index, above, lanes)
    compiles(cuda_support.SOURCE, names=names, arch=arch, checks=cuda_support.checks(np.dtype(C_TYPES[index])))


@each_index
def test_trusses(index: str, arch: str) -> None:
    names = *cuda_truss.kernel_names(index), cuda_truss.peeling_name(index)
    compiles(cuda_truss.SOURCE, names=names, arch=arch, checks=cuda_truss.checks(np.dtype(C_TYPES[index])))
