"""Workers are killed, stopped, starved in every superstep in turn: the answer is right every time, or says why."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from distributed import Client

import hpgraph as hpg
from hpgraph.cluster.checkpoints import Folder, read_table, write_table

LIMITS = hpg.cluster.Limits(silence=6, leave=15, workers=60)


def arm(step: int, action: str, block: int, folder: str) -> None:
    """In a worker: when this block comes to this superstep, or stage, do it, once in the whole cluster."""
    from hpgraph.cluster.block_arcs import BlockArcs
    from hpgraph.cluster.triangles import TriangleRun

    # Stages are counted from 0.
    for kind, name, first in ((BlockArcs, "fold", 1), (TriangleRun, "_fetched", 0)):
        now = getattr(kind, name)
        setattr(kind, name, _armed(getattr(now, "whole", now), step - 1 + first, action, block, folder))


def _armed(whole: Callable[..., Any], at: int, action: str, block: int, folder: str) -> Callable[..., Any]:
    def armed(self: Any, number: int, *rest: Any) -> Any:
        if number == at and (block < 0 or self.numbering.block == block):
            happen(action, f"{folder}/{os.getpid() if block < 0 else 'done'}")
        return whole(self, number, *rest)

    armed.whole = whole  # type: ignore[attr-defined]
    return armed


def happen(action: str, mark: str) -> None:
    try:
        file = os.open(mark, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.write(file, str(os.getpid()).encode())
        os.close(file)
    except FileExistsError:
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif action == "memory":
        held = []
        while True:
            held.append(np.ones(1 << 22))
            time.sleep(0.02)


def works(graph: hpg.Graph) -> dict[str, tuple[Callable[..., Any], Callable[[Any], bool]]]:
    """What runs, and whether its answer is right: as one machine has it."""
    level = hpg.bfs(graph, 0).level
    distance = hpg.sssp(graph, 0).distance
    rank = hpg.pagerank(graph).rank
    return {
        "bfs": (lambda C, **run: C.bfs(0, **run), lambda r: bool((r.level == level).all())),
        "sssp": (lambda C, **run: C.sssp(0, **run), lambda r: bool((r.distance == distance).all())),
        "pagerank": (lambda C, **run: C.pagerank(**run), lambda r: bool(np.abs(r.rank - rank).max() < 1e-12)),
    }


def every_superstep(client: Any, graph: hpg.Graph, action: str, block: int, names: list[str], stride: int) -> int:
    """One fault in each superstep of each work in turn; how many answers were wrong."""
    wrong = 0
    for name, (call, right) in works(graph).items():
        if name not in names:
            continue
        with hpg.cluster.Graph.from_graph(client, graph, blocks=4, limits=LIMITS) as C:
            # Once for compiling: time lost is counted from a run without.
            call(C)
            began = time.perf_counter()
            steps = len(call(C).trace)
            usual = time.perf_counter() - began
            lost = []
            for step in range(1, steps + 1, stride):
                folder = tempfile.mkdtemp(prefix="hpgraph-faults-")
                client.run(arm, step, action, block, folder)
                began = time.perf_counter()
                found = call(C, checkpoint=f"{folder}/run", every=0.0)
                lost.append(time.perf_counter() - began - usual)
                happened = len([mark for mark in os.listdir(folder) if mark != "run"])
                if not right(found) or not happened:
                    wrong += 1
                    print(f"{name}, superstep {step}: {'WRONG' if happened else 'nothing happened'}", flush=True)
                if action == "stop":
                    os.kill(int((pathlib.Path(folder) / "done").read_text()), signal.SIGCONT)
                client.wait_for_workers(len(client.nthreads()) or 1, timeout=30)
                # Workers that were not killed are still armed.
                client.run(arm, 0, action, block, folder)
                # A worker that goes on after a stop may still write to it.
                shutil.rmtree(folder, ignore_errors=True)
            print(f"{name}: {action} in each of {len(lost)} of {steps} supersteps, {wrong} wrong; time lost "
                  f"{np.median(lost):.2f} s, at the most {max(lost):.2f}", flush=True)  # fmt: skip
    return wrong


def scheduler_restarted(graph: hpg.Graph) -> int:
    """The scheduler is killed in the middle of a run: said within the limits; with another one the run goes on."""
    folder = tempfile.mkdtemp(prefix="hpgraph-faults-")
    call, _ = works(graph)["pagerank"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])

    def cluster() -> list[subprocess.Popen[bytes]]:
        run = [sys.executable, "-m"]
        server = [*run, "distributed.cli.dask_scheduler", "--port", port, "--no-dashboard", "--host", "127.0.0.1"]
        worker = [*run, "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", "--nworkers", "2", "--nthreads", "2"]
        return [subprocess.Popen(one, stderr=subprocess.DEVNULL) for one in (server, [*worker, "--no-dashboard"])]

    def goodbye(processes: list[subprocess.Popen[bytes]]) -> None:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)

    first = cluster()
    client = Client(f"tcp://127.0.0.1:{port}", timeout=60)
    client.wait_for_workers(2, timeout=60)
    C = hpg.cluster.Graph.from_graph(client, graph, blocks=4, limits=LIMITS)
    call(C)
    threading.Timer(1.0, first[0].kill).start()
    began = time.perf_counter()
    try:
        # Slow enough for the kill to come in the middle: a checkpoint after each superstep.
        C.pagerank(tol=0, max_iteration=1_000_000, checkpoint=f"{folder}/run", every=0.0)
        said = "nothing"
    except (hpg.cluster.ClusterError, OSError) as error:
        said = f"{type(error).__name__}: {error}"
    print(f"scheduler killed: after {time.perf_counter() - began:.1f} s: {said}", flush=True)
    client.close(timeout=5)
    goodbye(first)
    saved = Folder(f"{folder}/run")
    write_table(saved, {**read_table(saved), "limit": 2000})
    second = cluster()
    with Client(f"tcp://127.0.0.1:{port}", timeout=60) as other:
        other.wait_for_workers(2, timeout=60)
        found = hpg.cluster.resume(other, f"{folder}/run")
        fine = bool(np.abs(found.rank - hpg.pagerank(graph, tol=1e-14, max_iteration=2000).rank).max() < 1e-12)
    goodbye(second)
    print(f"resumed with another: {'right' if fine else 'WRONG'} after {found.iterations} iterations", flush=True)
    return int(said == "nothing" or not fine)


def main(words: list[str]) -> int:
    stride = int(os.environ.get("STRIDE", "1"))
    words = words or ["kill", "all", "stop", "memory", "scheduler"]
    chosen = [word for word in words if word in ("kill", "all", "stop", "memory")]
    names = [word for word in words if word in ("bfs", "sssp", "pagerank")] or ["bfs", "sssp", "pagerank"]
    graph = hpg.datasets.kron(8, edge_factor=8, seed=3)
    wrong = 0
    for action in chosen:
        limit = {"memory_limit": "700 MiB"} if action == "memory" else {}
        with hpg.cluster.local(n_workers=2, threads=2, **limit) as client:
            fault, block = ("kill", -1) if action == "all" else (action, 1)
            wrong += every_superstep(client, graph, fault, block, names, stride)
    if "scheduler" in words:
        wrong += scheduler_restarted(graph)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
