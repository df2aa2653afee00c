"""Graph files of every kind that `hpgraph.read` takes, whole ones and ones that something happened to."""

import gzip
import io
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow.feather
import pyarrow.parquet
import scipy.io
import scipy.sparse

import hpgraph as hpg

NUMBERS = [
    b"0", b"1", b"-1", b"2", b"7", b"1.5", b"-0.0", b"1e309", b"nan", b"-inf", b"0x10", b"1_0", b"", b"+3",
    b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808",
    b"18446744073709551615", b"18446744073709551616", b"-9223372036854775809", b"1" + b"0" * 30, b"9" * 5000,
]  # fmt: skip
WORDS = [
    b"matrix", b"vector", b"coordinate", b"array", b"real", b"double", b"integer", b"unsigned-integer", b"pattern",
    b"complex", b"general", b"symmetric", b"skew-symmetric", b"hermitian", b"%%MatrixMarket", b"source", b"target",
    b"weight", b"weights", b"from", b"to", b"directed", b"undirected", b"by", b"name", b"number", b"hpgraph:",
    b"vertices,", b"edges,", b"int64", b"float32", b"bool", b"#", b"%", b"//", b"graph", b"node", b"edge", b"subgraph",
]  # fmt: skip
PIECES = [
    b"\0", b"\n", b"\r", b"\r\n", b" ", b"\t", b",", b";", b'"', b'""', b"#", b"# note", b" % note", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\x1f\x8b", b"\x1f\x8b\x08", b"PK\x03\x04", b"\x93NUMPY", "\u2028".encode(), "\u0663".encode(),
    b"\x0b", b"\x0c", b"\x1c", b"\x85",
]  # fmt: skip
FIELDS = ("real", "integer", "pattern", "complex")
EXTREMES = [0, 1, -1, 3, 2**15, 10**7, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]

Files = list[tuple[str, bytes]]


def whole_files(random: Random) -> Files:
    """Suffix and content of files without a fault: each text format in each of its forms, and archives."""
    files = [*_edge_lists(random), *_matrix_market(random), *_others(random)]
    return files + [(suffix, archive(arrays)) for suffix, arrays in whole_archives(random)]


def _edge_lists(random: Random) -> Files:
    files: Files = []
    n = 12
    edges = [(random.randrange(n), random.randrange(n)) for _ in range(random.choice([1, 8, 40]))]
    for suffix, mark in ((".el", " "), (".wel", " "), (".txt", "\t"), (".csv", ","), (".tsv", "\t"), (".csv", ";")):
        for weight in (lambda: [], lambda: [str(random.randrange(99))], lambda: [repr(random.random())]):
            for name in (str, "v{}".format, lambda v: str(v * 10**6)):
                lines = [mark.join([name(u), name(v), *weight()]) for u, v in edges]
                columns = lines[0].count(mark) + 1
                titles = mark.join(["source", "target", "weight"][:columns])
                kind = random.choice(["", "", " by name", " by number"])
                about = random.choice(["", ", int64 weights", ", float32 weights", ", bool weights"])
                own = f"# hpgraph: {n} vertices, {len(lines)} edges, {random.choice(['', 'un'])}directed{kind}{about}"
                top = random.choice([[], [], ["# a comment"], [titles], [own], [own, titles]])
                files.append((suffix, ("\n".join([*top, *lines]) + "\n").encode()))
    gephi = "Source,Target,Type,Id,Label,Weight\n" + "".join(f"{u},{v},Directed,{u},x,2.5\n" for u, v in edges)
    files.append((".csv", gephi.encode()))
    files.append((".el", b"0 1 # note\n" * 3))
    # Longer than the pieces that readers take.
    files.append((".el", "".join(f"{k % 700} {k % 900} {k}\n" for k in range(9_000)).encode()))
    return files


def _matrix_market(random: Random) -> Files:
    files: Files = []
    n = random.choice([1, 2, 9])
    draw = np.random.default_rng(random.randrange(2**32))
    lower = np.tril(draw.integers(1, 9, (n, n)) * (draw.random((n, n)) < 0.6))
    forms = {
        "general": lower + 2 * lower.T,
        "symmetric": lower + lower.T,
        "skew-symmetric": lower - lower.T,
        "hermitian": lower + lower.T,
    }
    for symmetry, full in forms.items():
        for field in {"general": FIELDS, "hermitian": ("complex",)}.get(symmetry, FIELDS[:3]):
            if field != "pattern":
                files.append((".mtx", _market(full.astype(complex if field == "complex" else float), field, symmetry)))
            files.append((".mtx", _market(scipy.sparse.coo_array(full), field, symmetry)))
    entries = "".join(f"{1 + k % 90} {1 + k % 80} {k}.5\n" for k in range(9_000))
    files.append((".mtx", f"%%MatrixMarket matrix coordinate real general\n% said\n90 90 9000\n{entries}".encode()))
    return files


def _others(random: Random) -> Files:
    """What the library writes in the formats of other programs; tables of other programs besides."""
    files: Files = []
    draw = np.random.default_rng(random.randrange(2**32))
    source, target = draw.integers(0, 9, (2, 30))
    weight = draw.integers(1, 9, 30).astype(np.int32)
    named = [f"v{k}" * random.choice([1, 20]) for k in range(9)]
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (
            ".graphml",
            ".gv",
            ".gml",
            ".gexf",
            ".net",
            ".json",
            ".graph",
            ".gr",
            ".col",
            ".sg",
            ".wsg",
            ".gt",
            ".parquet",
            ".arrow",
            ".feather",
        ):
            for names in (None, named):
                some = source != target
                weights = None if suffix in (".col", ".sg") else weight[some]
                directed = suffix not in (".graph", ".col") and random.random() < 0.5
                graph = hpg.Graph.from_edges(
                    source[some], target[some], weights, n_vertices=9, directed=directed, names=names
                )
                path = Path(folder) / f"graph{suffix}"
                hpg.write(graph, path)
                files.append((suffix, path.read_bytes()))
        columns = {"source": source.astype(random.choice(["i4", "u8", "i8"])), "target": target, "weight": weight / 2}
        columns = {**columns, "said": np.array(named)[target]}
        if random.random() < 0.5:
            columns |= {"source": np.array(named)[source], "target": columns["said"]}
        table = pyarrow.table(columns)
        for codec in ("uncompressed", "lz4", "zstd"):
            pyarrow.feather.write_feather(table, path, compression=codec, chunksize=random.choice([7, 100]))
            files.append((".feather", path.read_bytes()))
        for codec in ("none", "zstd", "snappy"):
            pyarrow.parquet.write_table(table, path, compression=codec, row_group_size=random.choice([7, 100]),
                                        use_dictionary=random.random() < 0.5)  # fmt: skip
            files.append((".parquet", path.read_bytes()))
    return files


def _market(matrix: Any, field: str, symmetry: str) -> bytes:
    target = io.BytesIO()
    scipy.io.mmwrite(target, matrix, field=field, symmetry=symmetry)
    return target.getvalue()


def whole_archives(random: Random) -> list[tuple[str, dict[str, Any]]]:
    """Suffix and arrays of ``.npz`` files without a fault."""
    draw = np.random.default_rng(random.randrange(2**32))
    found = []
    for layout in ("csr", "csc", "coo", "bsr", "dia"):
        full = draw.integers(0, 3, (6, 6)) * (draw.random((6, 6)) < 0.5)
        dtype = random.choice(["int64", "float64", "uint64", "int8", "bool", "float32", "complex128"])
        target = io.BytesIO()
        scipy.sparse.save_npz(target, scipy.sparse.coo_array(full.astype(dtype)).asformat(layout), compressed=False)
        arrays = dict(np.load(io.BytesIO(target.getvalue())))
        if layout == "csr" and random.random() < 0.7:
            arrays["hpgraph_directed"] = np.array(random.random() < 0.5)
            arrays["hpgraph_pattern"] = np.array(random.random() < 0.5)
            names: list[Any] = [f"v{k}" for k in range(6)]
            arrays["hpgraph_names"] = np.array(random.choice([names, list(range(6))]))
        found.append((".npz", arrays))
    return found


def archive(arrays: dict[str, Any]) -> bytes:
    """An ``.npz`` of these arrays; bytes stand for a member as it is."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, array in arrays.items():
            member = io.BytesIO()
            if not isinstance(array, bytes):
                np.save(member, array, allow_pickle=True)
            packed.writestr(f"{name}.npy", array if isinstance(array, bytes) else member.getvalue())
    return target.getvalue()


def damaged(random: Random, files: Files) -> tuple[str, bytes]:
    """Suffix and content of one of these files after up to four things happened to it; or of such an archive."""
    if random.random() < 0.15:
        suffix, arrays = random.choice(whole_archives(random))
        for _ in range(random.choice([1, 1, 2, 3])):
            _damage_array(random, arrays)
        return suffix, archive(arrays)
    suffix, content = random.choice(files)
    for _ in range(random.choice([0, 1, 1, 1, 2, 2, 3, 4])):
        content = random.choice(_DAMAGES)(random, content, files)
    if suffix != ".npz" and random.random() < 0.15:
        content = gzip.compress(content, 1, mtime=0)
        for _ in range(random.choice([0, 0, 1, 2])):
            content = random.choice([_flip, _cut, _double, _insert])(random, content, files)
        suffix += random.choice([".gz", ".gz", ""])
    return suffix, content


def _span(random: Random, content: bytes) -> tuple[int, int]:
    start = random.randrange(len(content) + 1)
    return start, min(len(content), start + random.choice([1, 2, 8, 64, 4096]))


def _flip(random: Random, content: bytes, files: Files) -> bytes:
    changed = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 8])):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _cut(random: Random, content: bytes, files: Files) -> bytes:
    return content[: random.randrange(len(content) + 1)]


def _remove(random: Random, content: bytes, files: Files) -> bytes:
    start, end = _span(random, content)
    return content[:start] + content[end:]


def _double(random: Random, content: bytes, files: Files) -> bytes:
    start, end = _span(random, content)
    return content[:end] + content[start:end] * random.choice([1, 2, 50]) + content[end:]


def _insert(random: Random, content: bytes, files: Files) -> bytes:
    start, _ = _span(random, content)
    piece = random.choice([*PIECES, random.randbytes(4)]) * random.choice([1, 1, 1, 3, 300])
    return content[:start] + piece + content[start:]


def _splice(random: Random, content: bytes, files: Files) -> bytes:
    _, other = random.choice(files)
    return _cut(random, content, files) + other[random.randrange(len(other) + 1) :]


def _renumber(random: Random, content: bytes, files: Files) -> bytes:
    return _reword(random, content, [at for at in _words(content) if at[2][:1].isdigit()], NUMBERS)


def _rename(random: Random, content: bytes, files: Files) -> bytes:
    return _reword(random, content, [at for at in _words(content) if not at[2][:1].isdigit()], WORDS)


def _words(content: bytes) -> list[tuple[int, int, bytes]]:
    """Start, end and text of the words near the top, where the header is, and of some at the end."""
    found = []
    for low, high in ((0, 600), (max(600, len(content) - 100), len(content))):
        at = low
        for word in content[low:high].replace(b",", b" ").split(None):
            at = content.index(word, at)
            found.append((at, at + len(word), word))
            at += len(word)
    return found


def _reword(random: Random, content: bytes, words: list[tuple[int, int, bytes]], others: list[bytes]) -> bytes:
    if not words:
        return content
    # The first ones say how much there is.
    start, end, _ = random.choice(words[:4] if random.random() < 0.5 else words)
    return content[:start] + random.choice(others) + content[end:]


def _lines(random: Random, content: bytes, files: Files) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    happening = random.randrange(4)
    if happening == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif happening == 1:
        lines.insert(other, lines[at])
    elif happening == 2:
        del lines[at]
    else:
        random.shuffle(lines)
    return b"".join(lines)


def _exchange(random: Random, content: bytes, files: Files) -> bytes:
    return content.replace(random.choice([b"\n", b" ", b",", b"\t", b"0", b"1"]), random.choice(PIECES))


def _lengthen(random: Random, content: bytes, files: Files) -> bytes:
    start, _ = _span(random, content)
    piece = random.choice([b"1", b" ", b"x", b"#", b"\r"]) * (1 << random.choice([12, 17, 21]))
    return content[:start] + piece + content[start:]


_DAMAGES: list[Callable[[Random, bytes, Files], bytes]] = [
    _flip, _cut, _cut, _remove, _remove, _double, _insert, _insert, _splice, _renumber, _renumber, _renumber, _rename,
    _lines, _lines, _exchange,
] * 4 + [_lengthen]  # fmt: skip


def _damage_array(random: Random, arrays: dict[str, Any]) -> None:
    name = random.choice(list(arrays))
    array = arrays[name]
    if isinstance(array, bytes):
        return
    happening = random.randrange(10)
    if happening == 0:
        del arrays[name]
        arrays["other"] = array
    elif happening == 1:
        arrays[name] = arrays[random.choice(list(arrays))]
    elif happening == 2:
        arrays[name] = np.resize(array, random.choice([(), (0,), (1,), (2,), (5,), (7,), (6, 1), (2, 3, 4), (1000,)]))
    elif happening == 3:
        arrays[name] = np.array([None, {}], dtype=object)
    elif happening == 4:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
            try:
                arrays[name] = array.astype(random.choice(["i1", "u8", ">i8", "f2", "f8", "c16", "U3", "S2", "g", "?"]))
            except (ValueError, TypeError):
                arrays[name] = np.array(random.choice([b"bsr", "lil", "", "x" * 99]))
    elif happening == 5:
        arrays[name] = _false_header(random, array)
    elif array.size and array.dtype.kind in "iuf":
        array = array.copy()
        for _ in range(random.choice([1, 1, 3])):
            value = random.choice(EXTREMES)
            low, high = (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else (-9, 9)
            array.flat[random.randrange(array.size)] = min(max(value, low), high)
        arrays[name] = array
    else:
        arrays[name] = np.array(random.choice([b"bsr", b"dia", "coo", b"\xff", 7, True, 2.5]))


def _false_header(random: Random, array: Any) -> bytes:
    """A member whose header says something else than what follows it."""
    shape = random.choice(["(10000000000,)", "(-1,)", "(2**40,)", "(3,3)", "()", "(" * 3000, "(1e9,)", "'x'"])
    dtype = random.choice(["<i8", "|O", "<f8", "|V8", "<U1000000000", "<M8[s]", "[('a','<i8')]", "?"])
    header = f"{{'descr': '{dtype}', 'fortran_order': {random.choice(['False', '3'])}, 'shape': {shape}}}\n".encode()
    version = random.choice([b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"])
    size = struct.pack("<H" if version == b"\x01\x00" else "<I", random.choice([len(header), len(header), 65_000]))
    return b"\x93NUMPY" + version + size + header + array.tobytes()
