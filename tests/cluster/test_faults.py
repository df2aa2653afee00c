"""What goes wrong on a cluster: processes that are killed, programs that raise, versions that differ, damaged files."""

import json
import os
import signal
import socket
import struct
import sys
import types
import zlib

import numpy as np
import pytest
import scipy.sparse.csgraph
from new_process import printed
from raising import raises

import hpgraph as hpg
from hpgraph.cluster.checkpoints import Folder, pack, read_table, unpack, write_table
from hpgraph.cluster.errors import PeerLostError
from hpgraph.cluster.listener import Listener, place_of
from hpgraph.cluster.messages import ALL, BITS, FOLD, LISTED, MessageError, check, packed, parsed
from hpgraph.cluster.supervise import Supervisor
from hpgraph.cluster.workers import Workers
from tests.cluster.conftest import matrix_of, sparse_graph
from tests.fuzz.cluster_faults import arm


@pytest.fixture(scope="module")
def graph():
    return sparse_graph(2)


@pytest.fixture(scope="module")
def distance(graph):
    return scipy.sparse.csgraph.dijkstra(matrix_of(graph), indices=7)


@pytest.mark.parametrize("block", [1, -1], ids=["one", "all"])
def test_workers_killed_in_the_middle(client, graph, distance, tmp_path, block) -> None:
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4) as C:
        client.run(arm, 3, "kill", block, str(tmp_path))
        found = C.sssp(7, checkpoint=tmp_path / "run", every=0.0)
        assert (tmp_path / "done").exists() or block == -1
        assert len(list(tmp_path.iterdir())) > 1, "a worker was killed"
    assert (found.distance == distance.astype(np.float32)).all()


def test_a_worker_killed_while_triangles_are_counted(client, graph, tmp_path) -> None:
    undirected = graph.undirected
    # Each edge both ways, without loops: a closed walk of three steps is a sixth of a triangle.
    once = (matrix_of(undirected) != 0).astype(np.int64)
    once.setdiag(0)
    with hpg.cluster.Graph.from_graph(client, undirected, blocks=4) as C:
        client.run(arm, 2, "kill", 2, str(tmp_path))
        found = C.count_triangles()
    assert (found.count == (once @ once @ once).diagonal() // 2).all() and found.count.any()
    assert len(found.lost) == 1 and (tmp_path / "done").exists()


def test_cancelled_tasks_are_started_again(client, graph, distance, monkeypatch) -> None:
    """As by `Client.restart` or `Client.cancel`, which another user of the cluster may call at any time."""
    cancelled, start = [], Supervisor._start

    def started(self, *given):
        futures = start(self, *given)
        if len(cancelled) < 2:
            cancelled.append(client.cancel(list(futures.values()), force=True))
        return futures

    monkeypatch.setattr(Supervisor, "_start", started)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4) as C:
        found = C.sssp(7)
    assert (found.distance == distance.astype(np.float32)).all()
    assert len(cancelled) == 2


def test_a_worker_that_hangs(client, graph, distance, tmp_path) -> None:
    # Long enough for a worker that compiles on a machine full of others.
    limits = hpg.cluster.Limits(silence=8, leave=5)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4, limits=limits) as C:
        client.run(arm, 2, "stop", 1, str(tmp_path))
        try:
            found = C.sssp(7)
        finally:
            os.kill(int((tmp_path / "done").read_text()), signal.SIGCONT)
        assert (found.distance == distance.astype(np.float32)).all()
        # Back again, it is asked as before.
        assert C.bfs(7).level[7] == 0


def test_a_scheduler_that_does_not_answer() -> None:
    class Silent:
        def scheduler_info(self, n_workers):
            raise OSError("connection refused")

    with pytest.raises(hpg.cluster.ClusterError, match=r"does not answer \(connection refused\).*resume"):
        Workers(Silent(), hpg.cluster.Limits()).there()


def test_resume_elsewhere(client, graph, distance, tmp_path) -> None:
    """A checkpoint has all that another client needs: blocks, state, and what was asked for."""
    path = tmp_path / "run"
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4) as C:
        C.run(hpg.algorithms.distances.SingleDistances, active=hpg.id(7), max_iteration=2, checkpoint=path, every=0.0,
              call={"name": "sssp", "arguments": {"source": 7}})  # fmt: skip
    # As if the client had gone after two supersteps.
    folder = Folder(str(path))
    table = read_table(folder)
    assert table["step"] == 2
    write_table(folder, {**table, "limit": 1000})
    found = hpg.cluster.resume(client, path)
    assert (found.distance == distance.astype(np.float32)).all()
    raises(hpg.cluster.CheckpointError, "holds no checkpoint", hpg.cluster.resume, client, tmp_path)
    for pattern in ("[0-9a-f]*-*/0", "graph-*/1"):
        part = next(path.glob(pattern))
        whole = part.read_bytes()
        part.write_bytes(whole[:-1] + b"?")
        raises(hpg.cluster.CheckpointError, "checksum", hpg.cluster.resume, client, path)
        part.unlink()
        with pytest.raises(hpg.cluster.CheckpointError, match=rf"{part.parent.name}/{part.name}.* is not there"):
            hpg.cluster.resume(client, path)
        part.write_bytes(whole)
    # Whole files, each with its checksum, of another superstep than their folder's, or of no algorithm's arguments.
    part = next(path.glob("[0-9a-f]*-*/1"))
    whole = part.read_bytes()
    arrays, about = unpack(whole, part.name)
    for forged in ({**arrays, "rows": arrays["rows"][:1]}, about), (arrays, {**about, "step": 3}):
        part.write_bytes(pack(*forged))
        raises(hpg.cluster.CheckpointError, "superstep", hpg.cluster.resume, client, path)
    part.write_bytes(whole)
    now = read_table(folder)
    write_table(folder, {**now, "call": {"name": "sssp", "arguments": 7}})
    raises(hpg.cluster.CheckpointError, "of no run of this release", hpg.cluster.resume, client, path)
    write_table(folder, now)
    assert (hpg.cluster.resume(client, path).distance == found.distance).all()


def test_a_file_that_was_replaced(client, graph, tmp_path) -> None:
    """Blocks that are loaded again, after a loss or by `resume`, are of the same graph as the others."""
    path, run = tmp_path / "graph.hpg", tmp_path / "run"
    graph.save(path)
    with hpg.cluster.Graph.open(client, path, blocks=4) as C:
        C.bfs(7, checkpoint=run, every=0.0)
        sparse_graph(3).save(path)
        client.run(forget, C.key, 1)
        C.settled = False
        raises(hpg.cluster.ClusterError, r"graph\.hpg holds another graph.*call Graph.open anew", C.bfs, 7)
        raises(hpg.cluster.ClusterError, r"graph\.hpg holds another graph", hpg.cluster.resume, client, run)
        graph.save(path)
        assert C.bfs(7).level[7] == 0


def forget(key: str, block: int) -> None:
    from hpgraph.cluster.worker import _blocks

    _blocks.pop((key, block), None)


def test_a_checkpoint_names_nothing_but_its_own(client, graph, tmp_path) -> None:
    """A table that another program wrote, or that is damaged: one error, and no file outside is touched."""
    path, victim = tmp_path / "run", tmp_path / "victim"
    for folder in (path, victim):
        folder.mkdir()
        (folder / "precious").write_text("x")
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4) as C:
        for planted in ({"place": "../victim"}, {"place": "."}, {"place": str(victim)}, ["place"], {"table": {}}):
            (path / "checkpoint.json").write_text(json.dumps(planted))
            with pytest.raises(hpg.cluster.CheckpointError, match=r"checkpoint\.json is damaged or no file of a che"):
                hpg.cluster.resume(client, path)
            C.bfs(7, checkpoint=path, every=0.0)
        found = C.bfs(7, checkpoint=path, every=0.0)
        folder = Folder(str(path))
        table = read_table(folder)
        # With a checksum that fits.
        for name, forged in (
            ("place", "../victim"), ("place", "."), ("place", 7), ("limit", "2"), ("dtypes", ["O"]),
            ("graph", {**table["graph"], "device": "abacus"}), ("source", {"kind": "saved", "name": "../victim"}),
            ("graph", {**table["graph"], "grid": {**table["graph"]["grid"], "rows": 10**9}}),
            ("call", {"name": "close", "arguments": {}}), ("call", {"name": "run", "arguments": {"program": "x"}}),
            ("call", {"name": "bfs", "arguments": {"source": 7, "prepare": "pagerank"}}),
        ):  # fmt: skip
            write_table(folder, {**table, name: forged})
            raises(hpg.cluster.CheckpointError, r"run/checkpoint\.json ", hpg.cluster.resume, client, path)
            if name == "place":
                C.bfs(7, checkpoint=path, every=0.0)
        for name, forged in (("dtypes", []), ("key", "0" * 40)):
            write_table(folder, {**table, name: forged})
            raises(hpg.cluster.CheckpointError, "run is of Tree, and Tree is not", hpg.cluster.resume, client, path)
        within = path / "precious"
        raises(hpg.cluster.CheckpointError, "precious cannot be written", C.bfs, 7, checkpoint=within, every=0.0)
        write_table(folder, {**table, "place": "0" * 32 + "-3"})
        with pytest.raises(hpg.cluster.CheckpointError, match=r"000-3/[0-3], which the checkpoint needs, is not"):
            hpg.cluster.resume(client, path)
    assert (path / "precious").exists() and (victim / "precious").exists() and found.level[7] == 0


def test_a_worker_that_does_not_start() -> None:
    import dask
    from distributed import Nanny, Status

    class Absent(Nanny):
        """A nanny without a worker."""

        worker_address = "tcp://127.0.0.1:1"

        async def instantiate(self):
            return Status.running

    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        call = hpg.cluster.local
        raises(hpg.cluster.ClusterError, "n_workers: 0 of 1 workers .* 2s", call, 1, threads=1, worker_class=Absent)


def test_the_dashboard_is_for_this_machine() -> None:
    import psutil

    with hpg.cluster.local(n_workers=1, threads=1):
        here = psutil.Process()
        for process in (here, *here.children(recursive=True)):
            for one in process.net_connections("tcp"):
                assert one.status != "LISTEN" or one.laddr.ip in ("127.0.0.1", "::1"), one


def test_a_listener_has_its_worker_s_address() -> None:
    for where, host in (("10.0.0.7", "10.0.0.7"), ("[fd00::7]", "fd00::7"), ("node-7.lan", "node-7.lan")):
        for protocol in ("tcp", "ucx", "ucxx", "tls"):
            assert place_of(f"{protocol}://{where}:40123") == (host, protocol == "tls")
    assert place_of("inproc://10.0.0.7/123/4") == ("127.0.0.1", False)
    for address in ("ws://10.0.0.7:40123", "10.0.0.7:40123", "tcp://:40123"):
        raises(hpg.cluster.ClusterError, f'worker {address}: .*protocol="tcp" or "tls"', place_of, address)
    raises(hpg.cluster.ClusterError, r"cannot listen at 192\.0\.2\.7.*--host", Listener, "192.0.2.7")
    listener = Listener("::1")
    with socket.create_connection(listener.address, timeout=20) as caller:
        caller.sendall(struct.pack("<4s16sII", b"hpgS", b"v" * 16, 1, 0))
        listener.take(b"v" * 16, 0, 1, 20).close()


def test_a_listener_continues_after_running_out_of_descriptors() -> None:
    script = """
import os, resource, socket, struct, time
from hpgraph.cluster.listener import Listener
listener = Listener("127.0.0.1")
time.sleep(0.3)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
caller = socket.socket()
held = []
try:
    while True:
        held.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
caller.connect(listener.address)
caller.sendall(struct.pack("<4s16sII", b"hpgS", b"t" * 16, 1, 0))
time.sleep(0.5)
for one in held:
    os.close(one)
listener.take(b"t" * 16, 0, 1, 20)
print("taken")
"""
    assert printed(script) == "taken\n"


def test_a_program_that_raises_on_one_worker(client, graph, monkeypatch) -> None:
    class Picky(hpg.VertexProgram):
        reduce = "plus"
        activity = "all"
        max_iteration = 2
        weighted = False
        value = hpg.Property("float64", initial=0.0)

        def gather(source, weight, target):
            return 1.0

        def update(vertex, message):
            if vertex.id == 123:
                raise ValueError("123 is not to my taste")
            return message

    class Greedy(Picky):
        def update(vertex, message):
            if vertex.id == 123:
                raise MemoryError("no room for 123")
            return message

    absent = types.ModuleType("only_here")
    absent.Absent = type("Absent", (Picky,), {"__module__": "only_here"})
    monkeypatch.setitem(sys.modules, "only_here", absent)
    # A block that compiles on a machine full of others leaves late; what the program raised comes after that.
    limits = hpg.cluster.Limits(leave=300)
    with hpg.cluster.Graph.from_graph(client, graph, blocks=4, limits=limits) as C:
        raises(hpg.cluster.ClusterError, r"import .*No module named 'only_here'.*: install", C.run, absent.Absent)
        raises((MemoryError, hpg.cluster.ProgramError), "no room for 123", C.run, Greedy)
        raises(hpg.cluster.ProgramError, r"Picky raised ValueError on worker tcp.*not to my taste", C.run, Picky)
        # The worker of other blocks often leaves in the same instant: what the program raised comes before that.
        for _ in range(10):
            raises(hpg.cluster.ProgramError, "not to my taste", C.run, Picky, restarts=0)
        assert C.bfs(7).level[7] == 0, "the graph is still there"


def other_version(real: bool) -> None:
    from hpgraph.cluster import worker

    if not hasattr(worker, "_real"):
        worker._real = worker.versions  # type: ignore[attr-defined]
    there = worker._real()  # type: ignore[attr-defined]
    worker.versions = worker._real if real else lambda: (("hpgraph", "0.0.1"), *there[1:])  # type: ignore[attr-defined]


def test_other_versions_are_refused(client, graph) -> None:
    address = min(client.scheduler_info(n_workers=-1)["workers"])
    client.run(other_version, False, workers=[address])
    try:
        raises(hpg.cluster.ClusterError, f"{address} has hpgraph 0.0.1", hpg.cluster.Graph.from_graph, client, graph)
    finally:
        client.run(other_version, True, workers=[address])


def test_messages_are_checked_before_anything_is_taken() -> None:
    float64 = np.dtype(np.float64)
    some = [np.array([1, 5], np.uint32), np.array([0.5, 1.5])]
    header = parsed(bytes(packed(FOLD, LISTED, 3, 2, some)[0]))
    check(header, FOLD, 3, 64, (float64,), ())
    for kind, step, most, dtypes in ((2, 3, 64, (float64,)), (FOLD, 4, 64, (float64,)), (FOLD, 3, 1, (float64,)),
                                     (FOLD, 3, 64, (np.dtype(np.int64),)), (FOLD, 3, 64, ())):  # fmt: skip
        with pytest.raises(MessageError):
            check(header, kind, step, most, dtypes, ())
    for form, count in ((ALL, 2), (BITS, 2), (LISTED, 3)):
        with pytest.raises(MessageError):
            check(parsed(bytes(packed(FOLD, form, 3, count, some)[0])), FOLD, 3, 64, (float64,), ())
    with pytest.raises(MessageError):
        parsed(b"\x80" * 256)


def test_connections_without_the_token_are_refused() -> None:
    listener = Listener("127.0.0.1")
    with socket.create_connection(listener.address, timeout=20) as stranger:
        stranger.sendall(b"GET / HTTP/1.1".ljust(28))
        assert stranger.recv(1) == b""
    listener.abandon(b"t" * 16)
    raises(PeerLostError, "abandoned", listener.take, b"t" * 16, 0, 1, 20)
    raises(hpg.cluster.ClusterTimeoutError, r"Limits\.connect", listener.take, b"u" * 16, 0, 1, 0.05)


def test_a_full_disk_keeps_no_part_of_a_file(tmp_path) -> None:
    resource = pytest.importorskip("resource")
    folder = Folder(str(tmp_path))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        raises(hpg.cluster.CheckpointError, f"{tmp_path} cannot be written", folder.write, "a/0", bytes(1 << 16))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list((tmp_path / "a").iterdir())


def test_files_of_checkpoints() -> None:
    data = pack({"a": np.arange(5), "b": np.zeros((2, 3), np.float32)}, {"step": 7})
    arrays, table = unpack(data, "it")
    assert arrays["a"].tolist() == [0, 1, 2, 3, 4] and arrays["b"].shape == (2, 3) and table == {"step": 7}
    for damaged in (data[:-1], data[:30] + b"x" + data[31:], b"", b"no checkpoint"):
        with pytest.raises(hpg.cluster.CheckpointError):
            unpack(damaged, "it")
    # Forged, with a checksum that fits.
    for listed in ([["a", "<i8", [-1]]], [["a", "|O", [1]]], [["a", "<i8", [2**40]]], [["a"]], 5, [["a", "<i8", "x"]]):
        head = json.dumps({"arrays": listed, "table": {}}).encode()
        forged = data[:21] + struct.pack("<QI", len(head), zlib.crc32(head)) + head
        raises(hpg.cluster.CheckpointError, "it is damaged or no file", unpack, forged, "it")
