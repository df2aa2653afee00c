"""The CUDA kernels that take no program compile for the oldest and the newest generation of GPUs; no GPU is needed."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from cuda_build import GENERATIONS, compiles, kernels, local_memory, registers, translates

from hpgraph.core.c_types import WORD_TYPES
from hpgraph.kernels.betweenness import cuda as betweenness
from hpgraph.kernels.communities import cuda as communities
from hpgraph.kernels.communities import cuda_aggregate, cuda_members
from hpgraph.kernels.layout import DEPTH
from hpgraph.kernels.layout import cuda as layout
from hpgraph.kernels.matching import cuda as matching
from hpgraph.kernels.nearest import cuda as nearest
from hpgraph.kernels.pages import cuda as pages
from hpgraph.kernels.runtime.cuda import row_bins
from hpgraph.kernels.runtime.cuda.compile import build_cached
from hpgraph.kernels.runtime.cuda.kernel_set import KernelSet
from hpgraph.kernels.runtime.cuda.persistent import techniques_type
from hpgraph.kernels.sampling import cuda as sampling
from hpgraph.kernels.sampling import cuda_edges, cuda_hops
from hpgraph.kernels.similarity import cuda as similarity
from hpgraph.kernels.spmv import cuda_attention, cuda_column_blocks_layout, cuda_locality, cuda_spmm
from hpgraph.kernels.structure import (
    cuda_components,
    cuda_degree_order,
    cuda_divided_components,
    cuda_fifo,
    cuda_greedy,
    cuda_peeling,
    cuda_spanning_forest,
    cuda_subgraphs,
    cuda_triangles,
    cuda_truss,
    cuda_undirected,
)  # fmt: skip
from hpgraph.kernels.sweep import cuda_ranks
from hpgraph.kernels.traversal import cuda_bands, cuda_parents

pytest.importorskip("cuda.core")

from hpgraph.kernels.entries import cuda_extract, cuda_marks
from hpgraph.kernels.spgemm import cuda_masked

OLDEST, NEWEST = GENERATIONS
DTYPES = {"int": np.dtype("int32"), "long long": np.dtype("int64")}
# One type of ids on the oldest generation, the other on the newest.
EACH_INDEX = [("int", OLDEST), ("long long", NEWEST)]
COMMUNITIES = [
    {"Index": np.dtype(index), "Weight": weight, "Sum": np.dtype(sums)}
    for index, weight, sums in (("int32", "hpgraph::One", "uint32"), ("int32", "long long", "uint64"),
                                ("int64", "long long", "uint32"))
]  # fmt: skip


def of_set(kernels: KernelSet, arch: str, **types: Any) -> tuple[str, Any, str, dict[str, Any]]:
    """All kernels of a set, for types of the parameters."""
    text = kernels.text(**types)
    return kernels.source, text.pop("names"), arch, text


def rows() -> Iterable[tuple[str, Any, str, dict[str, Any]]]:
    """Source, kernels, generation, and what else is said of each."""
    for index, arch in EACH_INDEX:
        ids = DTYPES[index]
        for room in (cuda_fifo, cuda_greedy, cuda_members, cuda_degree_order):
            yield of_set(room.KERNELS, arch, Index=ids)
        yield of_set(cuda_components.COLORING, arch, Index=ids)
        source, peel, _, text = of_set(cuda_truss.PEEL, arch, Index=ids)
        yield source, (*cuda_truss.KERNELS.text(Index=ids)["names"], *peel), arch, text
        for place in (np.dtype(np.int32), np.dtype(np.int64)):
            types = {"Index": ids, "Place": place}
            yield of_set(cuda_triangles.SPANS, arch, **types)
            kinds = [(0, 0, 32, True), (1, 1, 16, True), (0, 2, 32, True), (1, 2, 16, False), (0, 0, 16, False)]
            given = [dict(zip(("above", "tally", "line", "filtered"), kind, strict=True)) for kind in kinds]
            counts = [of_set(cuda_triangles.KERNELS, arch, **types, **kind) for kind in given]
            yield counts[0][0], dict.fromkeys(name for count in counts for name in count[1]), arch, counts[0][3]
        frequent = {"frequent": True, "plain": True, "Index": ids, "Weight": "hpgraph::One", "Sum": np.dtype(np.uint32)}
        yield of_set(communities.KERNELS, arch, **frequent)
        yield of_set(cuda_bands.KERNELS, arch, Index=ids)
        for level, bits, words in (
            ("int8", 2, 8), ("int8", 8, 1), ("int8", 8, 32), ("int16", 16, 16), ("int16", 2, 1), ("int32", 32, 32),
        ):  # fmt: skip
            kind = {"Level": np.dtype(level), "Bits": str(bits), "Words": str(words)}
            yield of_set(cuda_parents.KERNELS, arch, **kind, Index=ids)
        halves = (("hpgraph::half", "8", "8"), ("hpgraph::bfloat", "4", "4"))
        for value, lanes, width in (("float32", "16", "4"), ("float32", "4", "1"), ("float64", "32", "2"), *halves):
            number = value if ":" in value else np.dtype(value)
            yield of_set(
                cuda_spmm.SAMPLE,
                arch,
                Index=ids,
                Value=number,
                lanes=lanes,
                loads="1" if lanes == "4" else "4",
                batch="4" if lanes == "4" else "2",
                width=width,
                whole=lanes == "16",
            )
            yield of_set(cuda_attention.SUMS, arch, Index=ids, Value=number)
            for fold in ("Exponentials", "Products"):
                yield of_set(cuda_attention.SOFTMAX, arch, Value=number, Fold=fold)
            if number is not value:
                yield of_set(cuda_spmm.EXTREMES, arch, Index=ids, Value=number)
        yield cuda_masked.SOURCE, (f"hpgraph::masked_work<{index}>",), arch, {"prologue": cuda_masked._NOTHING}
    for index, offset, arch in (("int", "unsigned int", OLDEST), ("int", "long long", NEWEST),
                                ("long long", "long long", NEWEST)):  # fmt: skip
        for room in (cuda_components, cuda_divided_components):
            yield of_set(room.KERNELS, arch, Id=DTYPES[index], Offset=offset)
    for index, weight, arch in (("int", "float", OLDEST), ("long long", "signed char", NEWEST),
                                ("int", "hpgraph::Pattern", NEWEST)):  # fmt: skip
        yield of_set(cuda_spanning_forest.KERNELS, arch, Id=DTYPES[index], Weight=weight)
    for types, arch in zip(COMMUNITIES, GENERATIONS, strict=False):
        yield of_set(communities.KERNELS, arch, frequent=False, plain=arch == OLDEST, **types)
        yield of_set(cuda_aggregate.KERNELS, arch, **types)
    for index, data, term, arch in (
        ("int", "char", similarity.ONE, OLDEST), ("long long", "char", similarity.VALUE, NEWEST),
        ("int", "double", similarity.LESSER, NEWEST), ("long long", "float", similarity.PRODUCT, OLDEST),
    ):  # fmt: skip
        yield of_set(similarity.KERNELS, arch, Index=index, Data=data, term=term)
    for index, weight, arch in (("int", "char", OLDEST), ("long long", "double", NEWEST)):
        yield of_set(cuda_hops.KERNELS, arch, Index=DTYPES[index], Weight=weight)
    for ahead in (False, True):
        for types, arch in (
            ((64, "double", "float", "int", "hpgraph::Unweighted"), "sm_90"),
            ((8, "float", "float", "int", "float"), OLDEST),
            ((16, "double", "double", "long long", "long long"), NEWEST),
        ):  # fmt: skip
            names = zip(("Held", "Real", "Sent", "Index", "Weight"), types, strict=True)
            yield of_set(cuda_ranks.KERNELS, arch, Ahead=ahead, **dict(names))
    for word, arch in (("unsigned char", OLDEST), ("ulonglong2", NEWEST)):
        yield of_set(cuda_extract.INDUCED, arch, Index=DTYPES["int"], Word=word)
    for value in WORD_TYPES.values():
        names = "hpgraph::mark_true", *(f"hpgraph::keep_marked<{index}, {value}>" for index in DTYPES)
        yield cuda_marks.SOURCE, names, "sm_90", {}
    flags = itertools.product(DTYPES, (False, True))
    walks = [of_set(sampling.WALKS, NEWEST, Index=index, weighted=flag, biased=flag) for index, flag in flags]
    yield walks[0][0], [name for walk in walks for name in walk[1]], NEWEST, walks[0][3]
    yield of_set(sampling.SUMS, OLDEST, Weight="float")
    for index, arch in EACH_INDEX:
        yield of_set(cuda_subgraphs.KERNELS, arch, Index=DTYPES[index])
        yield of_set(cuda_undirected.KERNELS, arch, Index=DTYPES[index], Id=DTYPES[index])
        yield of_set(cuda_edges.SHUFFLES, arch, Value=DTYPES[index])
        yield of_set(cuda_edges.RECURSIVE, arch, Index=DTYPES[index])
        yield of_set(cuda_edges.ORDERED, arch, Index=DTYPES[index])
        yield of_set(cuda_edges.BLOCKS, arch, Index=DTYPES[index])
        for room in (cuda_edges.ATTACHMENTS, cuda_edges.FIRST):
            yield of_set(room, arch, Index=DTYPES[index])
    for word in ("uint4", "unsigned char"):
        yield of_set(sampling.FETCH, OLDEST, Index=np.dtype(np.int64), Word=word)
    # The nodes that a point has still to look at lie in local memory.
    *tree, text = of_set(layout.KERNELS, NEWEST)
    yield *tree, text | {"local": 8 * DEPTH}
    yield of_set(layout.STEPS, OLDEST)
    for index, arch in EACH_INDEX:
        yield of_set(layout.SAMPLED, arch, Index=DTYPES[index])
    yield of_set(row_bins.KERNELS, OLDEST)
    for index, arch in EACH_INDEX:
        for row in DTYPES.values():
            yield of_set(cuda_extract.KERNELS, arch, Index=DTYPES[index], Row=row)
        yield of_set(cuda_locality.KERNELS, arch, Index=DTYPES[index])
        word = "unsigned" if index == "int" else "unsigned long long"
        yield of_set(cuda_column_blocks_layout.KERNELS, arch, Index=DTYPES[index], Word=word)
    yield of_set(pages.KERNELS, NEWEST, Id=np.dtype(np.int32))
    for real, arch in (("float", OLDEST), ("double", NEWEST)):
        yield of_set(nearest.KERNELS, arch, Real=real)


@pytest.mark.parametrize(("source", "names", "arch", "others"), list(rows()), ids=lambda value: str(value)[:40])
def test_machine_code(source: str, names: Any, arch: str, others: dict[str, Any]) -> None:
    compiles(source, names=tuple(names), arch=arch, **others)


@pytest.mark.parametrize(
    ("room", "types", "arch"),
    [
        (cuda_peeling, {"Index": "int32", "Count": "uint16", "levels": True}, OLDEST),
        (cuda_peeling, {"Index": "int64", "Count": "uint64", "levels": True}, NEWEST),
        (cuda_peeling, {"Index": "int32", "Count": "uint32", "levels": False}, NEWEST),
        (matching, {"Index": "int32"}, OLDEST),
        (matching, {"Index": "int64"}, NEWEST),
    ],
)
def test_kernels_in_which_not_all_functions_are_inlined(room: Any, types: dict[str, Any], arch: str) -> None:
    given = {name: kind if isinstance(kind, bool) else np.dtype(kind) for name, kind in types.items()}
    text = room.KERNELS.text(techniques=techniques_type(), **given)
    path, symbols = build_cached(room.KERNELS.source, arch=arch, **text)
    code, (name,) = path.read_bytes(), text["names"]
    assert symbols[name] in kernels(code)
    assert local_memory(code)[symbols[name]] <= 256


def test_rows_are_fetched_beside_a_sample() -> None:
    """One block of each kernel has the registers of a multiprocessor, so that neither waits for the other."""
    used = 0
    for room, name, types in (
        (cuda_hops.KERNELS, "hpgraph::sample<int, char>", {"Index": np.dtype(np.int32), "Weight": "char"}),
        (sampling.FETCH, "hpgraph::fetch_rows<long long, uint4>", {"Index": np.dtype(np.int64), "Word": "uint4"}),
    ):
        path, symbols = build_cached(room.source, arch="sm_90", **room.text(**types))
        used += room.threads * -(-registers(path.read_bytes())[symbols[name]] // 8) * 8
    assert used <= 65536


def test_types_of_communities_are_those_of_the_host() -> None:
    source, names, arch, text = of_set(communities.KERNELS, "sm_90", frequent=False, plain=False, **COMMUNITIES[2])
    translates(source, names=names, arch=arch, **text)
    source, names, arch, text = of_set(cuda_aggregate.KERNELS, "sm_90", **COMMUNITIES[2])
    translates(source, names=names, arch=arch, **text)


@pytest.mark.parametrize(("index", "arch"), EACH_INDEX)
def test_betweenness(index: str, arch: str) -> None:
    """Half of the switches on each generation, and all of them for every type of ids."""
    halves: dict[bool, set[str]] = {}
    for switches in itertools.product((False, True), repeat=3):
        types = dict(zip(("scaled", "places", "weighted"), switches, strict=True))
        text = betweenness.KERNELS.text(Index=DTYPES[index], **types)
        halves.setdefault(switches[0] is (arch == OLDEST), set()).update(text["names"])
    # Scaled numbers with places for arcs have more under way than registers hold; none of it is indexed at run time.
    source = betweenness.KERNELS.source
    compiles(source, text["prologue"], names=sorted(halves[True]), arch=arch, local=384, checks=text["checks"])
    translates(source, text["prologue"], names=sorted(halves[False]), arch=arch)
