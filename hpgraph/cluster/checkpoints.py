"""Checkpoints: the state of a run between two supersteps, in a folder or an object store (`fsspec`).

Each block writes the state of its vertices to its own file, in a folder for the epoch and the superstep. Then the first
block writes the table that names the files, atomically: a checkpoint is complete or absent. Files hold raw arrays after
a table in JSON; nothing is unpickled, and each file has a checksum.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import struct
import uuid
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hpgraph.cluster.block_arcs import COUNTS
from hpgraph.cluster.blocks import Block
from hpgraph.cluster.errors import CheckpointError, PeerLostError
from hpgraph.cluster.grid import Grid, Numbering
from hpgraph.cluster.job import COLUMNS, BlockState
from hpgraph.core.device import Device
from hpgraph.formats import CSR, Bitmask

if TYPE_CHECKING:
    from hpgraph.cluster.run_block import BlockRun

TABLE = "checkpoint.json"
_MAGIC = b"hpgraph checkpoint 1\n"
_LENGTHS = struct.Struct("<QI")
_KINDS = "biuf"
# Epoch and superstep: the name of a state's folder, which a later state may remove.
_PLACE = re.compile(r"[0-9a-f]{32}-[0-9]{1,18}", re.ASCII)
# Entries of the table, with their types.
_FIELDS: dict[str, Any] = {
    "program": str, "run": str, "key": str, "place": str, "step": int, "limit": int, "dtypes": list, "graph": dict,
    "source": dict, "call": dict | None,
}  # fmt: skip
_NOT_THERE = (FileNotFoundError, IsADirectoryError, NotADirectoryError)


class Folder:
    """A folder, local or in an object store, whose files are replaced atomically."""

    def __init__(self, path: str) -> None:
        import fsspec  # type: ignore[import-untyped]

        self.path = str(path)
        try:
            self._files, self._root = fsspec.core.url_to_fs(self.path)
        except (ValueError, ImportError) as error:
            raise CheckpointError(f"checkpoint {self.path} is in no file system that fsspec has ({error})") from error
        self._local = "file" in (self._files.protocol if isinstance(self._files.protocol, tuple) else
                                 (self._files.protocol,))  # fmt: skip

    def write(self, name: str, data: bytes) -> None:
        """Write a file atomically; `CheckpointError` if that fails, as on a full disk."""
        target = f"{self._root.rstrip('/')}/{name}"
        beside = f"{target}.{uuid.uuid4().hex}.tmp"
        try:
            if not self._local:
                # An object store makes an object visible when it is complete.
                self._files.pipe_file(target, data)
                return
            self._files.makedirs(target.rpartition("/")[0], exist_ok=True)
            try:
                with self._files.open(beside, "wb") as file:
                    file.write(data)
                self._files.mv(beside, target)
            except BaseException:
                with contextlib.suppress(OSError):
                    self._files.rm_file(beside)
                raise
        except OSError as error:
            raise CheckpointError(
                f"checkpoint {self.path} cannot be written ({error}): give a folder with room that all workers write to"
            ) from error

    def read(self, name: str) -> bytes:
        """The content of a file."""
        try:
            return self._files.cat_file(f"{self._root.rstrip('/')}/{name}")
        except _NOT_THERE:
            raise
        except OSError as error:
            raise CheckpointError(f"{self.path}/{name} cannot be read ({error})") from error

    def has(self, name: str) -> bool:
        """Whether a file exists."""
        return bool(self._files.exists(f"{self._root.rstrip('/')}/{name}"))

    def remove(self, name: str) -> None:
        """Remove a subfolder, if it exists."""
        target = f"{self._root.rstrip('/')}/{name}"
        if self._files.exists(target):
            self._files.rm(target, recursive=True)


def pack(arrays: dict[str, np.ndarray], table: dict[str, Any]) -> bytes:
    """Arrays and a table as one file."""
    listed = [(name, array.dtype.str, list(array.shape)) for name, array in arrays.items()]
    head = json.dumps({"arrays": listed, "table": table}).encode()
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays.values())
    return b"".join([_MAGIC, _LENGTHS.pack(len(head), zlib.crc32(body, zlib.crc32(head))), head, body])


def unpack(data: bytes, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the table of a file written by `pack`."""
    at = len(_MAGIC) + _LENGTHS.size
    if data[: len(_MAGIC)] != _MAGIC or len(data) < at:
        raise CheckpointError(f"{name} is no file of a checkpoint")
    length, checksum = _LENGTHS.unpack_from(data, len(_MAGIC))
    if zlib.crc32(data[at:]) != checksum:
        raise CheckpointError(f"{name} is damaged: it does not have its checksum")
    with _meaningful(name):
        content = json.loads(data[at : at + length])
        at += length
        arrays = {}
        for key, text, shape in content["arrays"]:
            dtype = np.dtype(text)
            if dtype.kind not in _KINDS or min(shape, default=0) < 0:
                raise ValueError(f"an array of type {dtype} and shape {shape}, which no checkpoint has")
            count = math.prod(shape)
            arrays[key] = np.frombuffer(data, dtype, count, at).reshape(shape).copy()
            at += count * dtype.itemsize
        return arrays, dict(content["table"])


@contextlib.contextmanager
def _meaningful(name: str) -> Iterator[None]:
    """Turn any error of reading a file's content into a `CheckpointError` that names the file."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise CheckpointError(f"{name} is damaged or no file of a checkpoint ({error!r})") from error


def write_table(folder: Folder, table: dict[str, Any]) -> None:
    """Write the table that names a checkpoint's files, with a checksum."""
    folder.write(TABLE, json.dumps({"crc32": _checksum(table), "table": table}).encode())


def read_table(folder: Folder) -> dict[str, Any]:
    """The table that names a checkpoint's files; each name is checked to be inside the folder."""
    name = f"{folder.path}/{TABLE}"
    try:
        data = folder.read(TABLE)
    except _NOT_THERE:
        raise CheckpointError(f"{folder.path} holds no checkpoint ({TABLE} is not there)") from None
    with _meaningful(name):
        content = json.loads(data)
        table: dict[str, Any] = content["table"]
        if content["crc32"] != _checksum(table):
            raise CheckpointError(f"{name} is damaged: it does not have its checksum")
        for field, kind in _FIELDS.items():
            if not isinstance(table[field], kind):
                raise ValueError(f"{field} is {table[field]!r}")
        if not _PLACE.fullmatch(table["place"]) or any(np.dtype(text).kind not in _KINDS for text in table["dtypes"]):
            raise ValueError(f"its state is said to be in {table['place']!r}, of types {table['dtypes']}")
    return table


def _checksum(table: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(table, sort_keys=True).encode())


def save_block(folder: Folder, name: str, block: Block) -> None:
    """Write a block's arcs, unless the file exists: for a graph that is only in the client's memory."""
    csr, number = block.graph.out_csr, block.numbering.block
    if not folder.has(f"{name}/{number}"):
        arrays = {"indptr": csr.indptr, "indices": csr.indices}
        folder.write(f"{name}/{number}", pack(arrays if csr.data is None else {**arrays, "data": csr.data}, {}))


def load_block(grid: Grid, block: int, device: Device, path: str, name: str) -> Block:
    """Read a block written by `save_block`."""
    file = f"{path}/{name}/{block}"
    try:
        data = Folder(path).read(f"{name}/{block}")
    except _NOT_THERE:
        raise CheckpointError(f"{file}, which the checkpoint needs, is not there") from None
    arrays, _ = unpack(data, file)
    size = Numbering(grid, block).size
    with _meaningful(file):
        csr = CSR((size, size), arrays["indptr"], arrays["indices"], arrays.get("data"))
    return Block.of_csr(grid, block, device, csr)


def save(run: BlockRun, state: BlockState) -> None:
    """Write a block's state; after all blocks have, the first block writes the table."""
    job, arcs, memory = run.job, run.arcs, run.memory
    assert job.checkpoint is not None
    folder, place, block = Folder(job.checkpoint), f"{job.token.hex()}-{state.step}", arcs.numbering.block
    arrays = {f"property {name}": memory.own(i) for i, (name, _) in enumerate(run.run.code.properties)}
    if state.active is not None:
        arrays["active"] = state.active
    if arcs.settled is not None:
        arrays["settled"] = memory.get(arcs.settled.words[arcs.own_words])
    arrays |= {"counts": state.counts, "rows": state.rows}
    world = {name: (np.dtype(type(value)).str, np.asarray(value).item()) for name, value in state.world.items()}
    try:
        folder.write(f"{place}/{block}", pack(arrays, {"step": state.step, "world": world, "key": job.key}))
        if job.details["source"]["kind"] == "saved":
            save_block(folder, job.details["source"]["name"], arcs.block)
    except CheckpointError:
        # No table will name this state. Other blocks may still write to it.
        with contextlib.suppress(OSError):
            folder.remove(place)
        raise
    # A barrier: all blocks have written their files.
    run.exchange.total(state.step, [np.empty(0)])
    if block == 0:
        before = run.last_place or _named(folder)
        write_table(folder, {**job.details, "key": job.key, "step": state.step, "place": place})
        run.last_place = place
        if before is not None:
            folder.remove(before)


def _named(folder: Folder) -> str | None:
    """The folder of an earlier run's checkpoint, which this run replaces."""
    try:
        place: str = read_table(folder)["place"]
    except CheckpointError:  # its files are unknown, so nothing is removed
        return None
    return place


def restore(run: BlockRun) -> BlockState | None:
    """Read a block's state, if its run resumes from a checkpoint."""
    job, arcs, saved = run.job, run.arcs, run.share.saved
    if saved is None:
        return None
    assert job.checkpoint is not None
    folder, number, code = Folder(job.checkpoint), arcs.numbering.block, run.run.code
    name = f"{folder.path}/{saved}/{number}"
    try:
        data = folder.read(f"{saved}/{number}")
    except _NOT_THERE:
        if _named(folder) not in (saved, None):
            raise PeerLostError(number, f"a newer checkpoint has taken the place of {saved}") from None
        raise CheckpointError(f"{name}, which the checkpoint needs, is not there") from None
    arrays, table = unpack(data, name)
    with _meaningful(name):
        if table["key"] != job.key:
            raise CheckpointError(f"{job.checkpoint} is of another program than {code.name}")
        for (prop, dtype), values, beginning in zip(
            code.properties, run.memory.properties, job.beginnings, strict=True
        ):
            own = arrays[f"property {prop}"]
            if own.dtype != dtype or own.shape != (arcs.n_own,):
                raise ValueError(f"{prop} of type {own.dtype} and shape {own.shape}")
            # Values of other blocks' vertices follow by exchange, if the program reads them.
            if beginning is not None:
                values.fill(beginning[0])
            values[arcs.own] = run.memory.put(own)
        active, counts = arrays.get("active"), arrays["counts"]
        if active is not None and (
            active.dtype != np.uint32 or active.ndim != 1 or int(active.max(initial=0)) >= max(arcs.n_own, 1)
        ):
            raise ValueError(f"active vertices that are not among its {arcs.n_own}")
        if counts.dtype != np.int64 or counts.shape != (COUNTS,):
            raise ValueError(f"counts of type {counts.dtype} and shape {counts.shape}")
        world = {key: np.dtype(text).type(value) for key, (text, value) in table["world"].items()}
        # The folder's name ends in the superstep, from which all blocks resume.
        step, rows = int(saved.rpartition("-")[2]), arrays["rows"]
        if table["step"] != step or rows.dtype != np.int64 or rows.shape != (step, COLUMNS):
            raise ValueError(f"superstep {table['step']!r}, with a trace of type {rows.dtype} and shape {rows.shape}")
        settled = Bitmask(arcs.n_own, arrays["settled"]) if "settled" in arrays else None
        state = BlockState(step, active, world, counts, rows, settled)
    if number == 0:
        run.last_place = saved
    return state
