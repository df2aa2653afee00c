"""The CUDA kernels that take no program compile for the oldest and the newest generation of GPUs; no GPU is needed."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles, kernels, local_memory, translates

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.kernels.betweenness import cuda as betweenness
from hpgraph.kernels.communities import cuda as communities
from hpgraph.kernels.communities import cuda_aggregate, cuda_members
from hpgraph.kernels.layout import DEPTH
from hpgraph.kernels.layout import cuda as layout
from hpgraph.kernels.pages import cuda as pages
from hpgraph.kernels.runtime.cuda import row_bins
from hpgraph.kernels.runtime.cuda.compile import build_cached
from hpgraph.kernels.runtime.cuda.persistent import techniques_type
from hpgraph.kernels.sampling import cuda as sampling
from hpgraph.kernels.sampling import cuda_hops
from hpgraph.kernels.similarity import cuda as similarity
from hpgraph.kernels.structure import (
    cuda_components,
    cuda_degree_order,
    cuda_divided_components,
    cuda_fifo,
    cuda_greedy,
    cuda_peeling,
    cuda_spanning_forest,
    cuda_support,
    cuda_triangles,
    cuda_truss,
)  # fmt: skip
from hpgraph.kernels.sweep import cuda_ranks
from hpgraph.kernels.traversal import cuda_bands, cuda_parents
from hpgraph.semiring import c_types

pytest.importorskip("cuda.core")

from hpgraph.kernels.entries import cuda_extract, cuda_induced, cuda_marks
from hpgraph.kernels.runtime.cuda import rescale
from hpgraph.kernels.spgemm import cuda_masked

OLDEST, NEWEST = GENERATIONS
DTYPES = {"int": np.dtype("int32"), "long long": np.dtype("int64")}
# One type of ids on the oldest generation, the other on the newest.
EACH_INDEX = [("int", OLDEST), ("long long", NEWEST)]
COMMUNITIES = [
    ("int", "hpgraph::One", "unsigned"), ("int", "long long", "unsigned long long"),
    ("long long", "long long", "unsigned"),
]  # fmt: skip


def rows() -> Iterable[tuple[str, Any, str, dict[str, Any]]]:
    """Source, kernels, generation, and what else is said of each."""
    for index, arch in EACH_INDEX:
        ids = DTYPES[index]
        for room in (cuda_components, cuda_fifo, cuda_greedy, cuda_members):
            yield room.SOURCE, room.kernel_names(index), arch, {}
        trusses = *cuda_truss.kernel_names(index), cuda_truss.peeling_name(index)
        yield cuda_truss.SOURCE, trusses, arch, {"checks": cuda_truss.checks(ids)}
        kinds = (True, False, 32), (False, True, 8), (True, True, 16)
        counts = [name for kind in kinds for name in cuda_triangles.kernel_names(index, *kind)]
        counts += cuda_triangles.kernel_names(index, True, False, 32, filtered=False)
        yield cuda_triangles.SOURCE, dict.fromkeys(counts), arch, {"checks": cuda_triangles.checks(ids)}
        yield cuda_degree_order.SOURCE, cuda_degree_order.kernel_names(index), arch, {}
        types = index, "hpgraph::One", "unsigned"
        frequent = communities.kernel_name(True, *types)
        yield communities.SOURCE, (frequent,), arch, {"checks": communities.layout(*types).checks}
        yield cuda_bands.SOURCE, (cuda_bands.kernel_name(index),), arch, {}
        for level, words in (("int8", 32), ("int8", 1), ("int16", 16), ("int32", 32)):
            yield cuda_parents.SOURCE, cuda_parents.kernel_names(np.dtype(level), words, index), arch, {}
        yield cuda_masked.SOURCE, (f"hpgraph::masked_work<{index}>",), arch, {"prologue": cuda_masked._NOTHING}
    for index, offset, arch in (
        ("int", "unsigned int", OLDEST), ("int", "long long", NEWEST), ("long long", "long long", NEWEST),
    ):  # fmt: skip
        for room in (cuda_components, cuda_divided_components):
            yield room.SOURCE, room.kernel_names(index, offset), arch, {}
    for index, weight, arch in (("int", "float", OLDEST), ("long long", "signed char", NEWEST),
                                ("int", "hpgraph::Pattern", NEWEST)):  # fmt: skip
        names = cuda_spanning_forest.kernel_names(index, weight).values()
        yield cuda_spanning_forest.SOURCE, names, arch, cuda_spanning_forest.text_around(DTYPES[index])
    for index, above, lanes, arch in (
        ("int", cuda_triangles.BY_RANK, 8, OLDEST), ("int", cuda_triangles.BY_RANK, 32, NEWEST),
        ("long long", cuda_triangles.BY_ID, 16, NEWEST), ("long long", cuda_triangles.BY_ID, 8, OLDEST),
        ("int", cuda_triangles.LISTED, 32, OLDEST), ("int", cuda_triangles.LISTED, 16, NEWEST),
    ):  # fmt: skip
        names = cuda_support.kernel_names(index, above, lanes)
        yield cuda_support.SOURCE, names, arch, {"checks": cuda_support.checks(DTYPES[index])}
    for types, arch in zip(COMMUNITIES, GENERATIONS, strict=False):
        yield communities.SOURCE, (communities.kernel_name(False, *types),), arch, {}
        yield cuda_aggregate.SOURCE, cuda_aggregate.kernel_names(*types), arch, {}
    for index, data, term, arch in (
        ("int", "char", similarity.ONE, OLDEST), ("long long", "char", similarity.VALUE, NEWEST),
        ("int", "double", similarity.LESSER, NEWEST), ("long long", "float", similarity.PRODUCT, OLDEST),
    ):  # fmt: skip
        names = similarity.kernel_names(index, data, term)
        yield similarity.SOURCE, names, arch, {"prologue": similarity.prologue()}
    for index, weight, arch in (("int", "char", OLDEST), ("long long", "double", NEWEST)):
        yield cuda_hops.SOURCE, cuda_hops.kernel_names(index, weight), arch, cuda_hops.text_around(DTYPES[index])
    for ahead in (False, True):
        for types, archs in (
            ((64, "double", "float", "int", "hpgraph::Unweighted"), ("sm_90",)),
            ((64, "double", "double", "int", "hpgraph::Unweighted"), ("sm_90",)),
            ((8, "float", "float", "int", "float"), GENERATIONS), ((8, "double", "float", "int", "float"), GENERATIONS),
            ((16, "double", "double", "long long", "long long"), ("sm_90",)),
        ):  # fmt: skip
            for arch in archs:
                yield cuda_ranks.SOURCE, cuda_ranks.kernel_names(ahead, *types), arch, {}
    for index, word in (("int", "unsigned char"), ("long long", "unsigned long long"), ("int", "ulonglong2")):
        for arch in GENERATIONS:
            yield cuda_extract.SOURCE, cuda_extract.kernel_names(index, word), arch, {}
            if word != "unsigned long long":
                yield cuda_induced.SOURCE, cuda_induced.kernel_names(index, word), arch, {}
    for value in WORD_TYPES.values():
        names = "hpgraph::mark_true", *(f"hpgraph::keep_marked<{index}, {value}>" for index in DTYPES)
        yield cuda_marks.SOURCE, names, "sm_90", {}
    divisions = [rescale.kernel_name(np.dtype(real)) for real in ("float32", "float64")]
    yield rescale.SOURCE, divisions, "sm_90", {}
    for arch in GENERATIONS:
        flags = itertools.product(DTYPES, ((False, False), (True, True)))
        walks = [sampling.walk_name(index, *some) for index, some in flags]
        yield sampling.WALKS, walks, arch, {"prologue": cuda_hops.prologue()}
        yield cuda_hops.DRAWS, (sampling.summing_name("float"),), arch, {"prologue": cuda_hops.prologue()}
        # The nodes that a point has still to look at lie in local memory.
        yield layout.SOURCE, layout.NAMES, arch, {"prologue": layout.prologue(), "local": 8 * DEPTH}
        yield "row_bins.cuh", row_bins.KERNELS, arch, {}
        yield pages.SOURCE, (pages.kernel_name("int32"),), arch, {}


@pytest.mark.parametrize(("source", "names", "arch", "others"), list(rows()), ids=lambda value: str(value)[:40])
def test_machine_code(source: str, names: Any, arch: str, others: dict[str, Any]) -> None:
    compiles(source, names=tuple(names), arch=arch, **others)


@pytest.mark.parametrize(
    ("ids", "count", "levels", "arch"),
    [("int32", "uint16", True, OLDEST), ("int64", "uint64", True, NEWEST), ("int32", "uint32", False, NEWEST)],
)
def test_peeling(ids: str, count: str, levels: bool, arch: str) -> None:
    """The one kernel in which not all functions are inlined."""
    types = np.dtype(ids), np.dtype(count)
    name = cuda_peeling.kernel_name(*(c_types.c_type(one) for one in types), techniques_type(), levels)
    path, symbols = build_cached(cuda_peeling.SOURCE, names=(name,), arch=arch, **cuda_peeling.text_around(*types))
    code = path.read_bytes()
    assert symbols[name] in kernels(code)
    assert local_memory(code)[symbols[name]] <= 256


def test_types_of_communities_are_those_of_the_host() -> None:
    for types in COMMUNITIES:
        names = (communities.kernel_name(False, *types),)
        translates(communities.SOURCE, names=names, checks=communities.layout(*types).checks)
        names, checks = cuda_aggregate.kernel_names(*types), cuda_aggregate.layout(*types).checks
        translates(cuda_aggregate.SOURCE, names=names, checks=checks)


@pytest.mark.parametrize(("index", "arch"), EACH_INDEX)
def test_betweenness(index: str, arch: str) -> None:
    """Half of the switches on each generation, and all of them for every type of ids."""
    halves: dict[bool, set[str]] = {}
    for switches in itertools.product((False, True), repeat=3):
        halves.setdefault(switches[0] is (arch == OLDEST), set()).update(betweenness.names(index, *switches).values())
    # Scaled numbers with places for arcs have more under way than registers hold; none of it is indexed at run time.
    compiles(betweenness.SOURCE, betweenness.prologue(), names=sorted(halves[True]), arch=arch, local=384)
    translates(betweenness.SOURCE, betweenness.prologue(), names=sorted(halves[False]), arch=arch)
