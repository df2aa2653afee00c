"""Damaged ``.hpg`` files are refused with an error of the library, unless only padding was damaged.

    python -m tests.fuzz.graph_files --cases 10000 --seed 0

Bytes are flipped, overwritten, moved or lost. In half of the cases checksums are recomputed, as by an
attacker: a file that is then accepted is a graph, perhaps another one, and algorithms on it terminate. Files are read
whole, and opened and streamed, in a separate process, so that a crash is seen. A case follows from the seed and its
number: ``--seed S --first K --cases 1`` repeats one.
"""

import struct
import sys
import traceback
import zlib
from pathlib import Path
from random import Random

import numpy as np

import hpgraph as hpg
from hpgraph.io.hpg_layout import PAGE
from hpgraph.io.hpg_writer import write_hpg
from tests.fuzz.supervised import check, is_ours, keep, limited, run

SECONDS = 60
"""That one file may take."""
MEMORY = 16 << 20


def _work(folder: Path, seed: int, first: int, cases: int) -> int:
    """Read each case; say what it raised that it must not, and where a damaged file gave another graph."""
    whole = list(_whole_files(folder, Random(f"{seed} pool")))
    same = refused = other = 0
    for case in range(first, first + cases):
        (folder / "case").write_text(str(case))
        random = Random(f"{seed} {case}")
        content, graph = random.choice(whole)
        repaired = random.random() < 0.5
        path = folder / "graph.hpg"
        path.write_bytes(_damaged(random, content, repaired))
        try:
            with limited(SECONDS):
                found = hpg.read(path, memory=MEMORY)
                check(found)
                if _equal(found, graph):
                    same += 1
                else:
                    assert repaired, "another graph, and no error"
                    other += 1
                if random.random() < 0.3:
                    _stream(path, found, random, repaired)
        except BaseException as error:
            refused += 1
            if not is_ours(error):
                print(f"FAILED case {case}: {''.join(traceback.format_exception(error)[-4:])}", flush=True)
                keep(folder, case)
    print(f"cases {first} to {case}: {refused} refused, {same} unchanged, {other} other graphs")
    return 0


def _whole_files(folder: Path, random: Random):
    """Small graphs of all kinds, as files, in several pages."""
    for directed in (True, False):
        for dtype in (None, "float32", "int64"):
            for compression in ("gaps", "none"):
                n, arcs = random.randrange(1, 200), random.randrange(0, 3000)
                rng = np.random.default_rng(random.randrange(2**32))
                source, target = rng.integers(0, n, (2, arcs))
                weight = None if dtype is None else rng.integers(1, 100, arcs).astype(dtype)
                names = random.choice([None, [f"v{i}" for i in range(n)], list(range(n, 0, -1))])
                graph = hpg.Graph.from_edges(source, target, weight, n_vertices=n, directed=directed, names=names)
                path = folder / "whole.hpg"
                write_hpg(graph, path, compression=compression, arcs_per_page=random.choice([50, 700, 10_000]))
                yield path.read_bytes(), graph


def _damaged(random: Random, content: bytes, repaired: bool) -> bytes:
    """What happens to a file."""
    made = bytearray(content)
    # Where the bytes are that say something: the header, its table, and the sections.
    places = [(0, 72), (128, 600), (4092, 4096)]
    places += [(at, at + nbytes) for _, at, nbytes in _sections(content) if nbytes]
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        begin, end = random.choice(places)
        at = random.randrange(begin, end)
        kind = random.randrange(6)
        if kind == 0:
            made[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            made[at] = random.choice([0, 1, 127, 128, 255])
        elif kind == 2:
            made[at : at + 8] = struct.pack("<q", random.choice([0, -1, 2**31, 2**62, random.randrange(10_000)]))
        elif kind == 3:
            length, source = random.randrange(1, 65), random.randrange(len(content))
            made[at : at + length] = content[source : source + length]
        elif kind == 4:
            made[at : min(end, at + random.randrange(1, 200))] = b""
        else:
            made[at : at + 16] = bytes(random.randrange(256) for _ in range(16))
    if not repaired and random.random() < 0.2:
        made = made[: random.randrange(len(made))]
    return bytes(_repaired(made)) if repaired else bytes(made)


def _sections(content: bytes) -> list[tuple[str, int, int]]:
    (count,) = struct.unpack_from("<I", content, 64)
    rows = [struct.unpack_from("<16sQQII", content, 128 + 40 * k) for k in range(min(count, 99))]
    return [(row[0].rstrip(b"\0").decode("latin-1"), row[1], row[2]) for row in rows]


def _repaired(made: bytearray) -> bytearray:
    """The same with checksums, and the length of the file, that fit."""
    made += bytes(max(0, 4096 - len(made)))
    sections = {name: (k, at, nbytes) for k, (name, at, nbytes) in enumerate(_sections(bytes(made)))}
    for side in ("out", "in"):
        if all(f"{side}.{part}" in sections for part in ("pages", "ids")):
            _, at, nbytes = sections[f"{side}.pages"]
            _, ids, _ = sections[f"{side}.ids"]
            for row in range(at, min(at + nbytes, len(made)) - PAGE.itemsize + 1, PAGE.itemsize):
                _, _, _, _, offset, length = struct.unpack_from("<6q", made, row)
                if 0 <= ids + offset <= ids + offset + length <= len(made):
                    struct.pack_into("<I", made, row + 48, zlib.crc32(made[ids + offset : ids + offset + length]))
    for name, (k, at, nbytes) in sections.items():
        if not name.endswith((".ids", ".weights")) and at + nbytes <= len(made):
            struct.pack_into("<I", made, 128 + 40 * k + 32, zlib.crc32(made[at : at + nbytes]))
    struct.pack_into("<Q", made, 32, len(made))
    struct.pack_into("<I", made, 4092, zlib.crc32(made[:4092]))
    return made


def _equal(found: hpg.Graph, graph: hpg.Graph) -> bool:
    one, other = found.out_csr, graph.out_csr
    names = (found.names is None) == (graph.names is None) and (
        found.names is None or np.array_equal(found.names, graph.names)
    )
    data = (one.data is None) == (other.data is None) and (one.data is None or np.array_equal(one.data, other.data))
    return (
        names
        and data
        and found.directed == graph.directed
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.indices, other.indices)
    )


def _stream(path: Path, graph: hpg.Graph, random: Random, repaired: bool) -> None:
    """Algorithms over the file; where it is the graph that was read, their answers are those on that."""
    opened = hpg.open(path, memory=random.choice([MEMORY, 400_000, 100_000]))
    if not graph.n_vertices:
        return
    source = random.randrange(graph.n_vertices)
    level = hpg.bfs(opened, hpg.id(source)).level
    rank = hpg.pagerank(opened, max_iteration=20).rank
    if not repaired:
        assert np.array_equal(level, hpg.bfs(graph, hpg.id(source)).level), "another level"
        assert np.allclose(rank, hpg.pagerank(graph, max_iteration=20).rank), "another rank"


if __name__ == "__main__":
    sys.exit(run("tests.fuzz.graph_files", __doc__, "graph files", 10_000, _work))
