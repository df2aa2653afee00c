"""Writers under a full disk, a kill, an interruption: the file that stood there stays, and nothing beside it."""

import contextlib
import gc
import gzip
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from new_process import printed

import hpgraph as hpg
from hpgraph.cli import main
from hpgraph.core import replace as core_replace
from hpgraph.io import read, write
from hpgraph.io.replace import check_writable, replacing

resource = pytest.importorskip("resource", reason="limits and signals are those of POSIX")

SUFFIXES = [".mtx", ".mtx.gz", ".el", ".txt", ".tsv", ".csv", ".el.gz", ".csv.gz", ".npz", ".hpg"]
OLD = b"what stood here before"
LIMIT = 3000


def some_graph(edges: int = 5000) -> hpg.Graph:
    random = np.random.default_rng(5)
    source, target = random.integers(0, 1000, (2, edges))
    return hpg.Graph.from_edges(source, target, random.random(edges), n_vertices=1000, directed=True)


@contextlib.contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Of a module that is imported meanwhile Python would keep half of the bytecode, and trip over it for ever after.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "dont_write_bytecode", True)
        # Python ignores the signal, so that a write fails with EFBIG as it would with ENOSPC.
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


def command(*words: str) -> Callable[[Path], object]:
    return lambda path: main([*words, "-o", str(path), "--debug"])


def picture(path: Path) -> None:
    pytest.importorskip("matplotlib")
    from hpgraph import demo

    subject = demo.Subject.on("cpu")
    demo.picture(subject, [demo.measure(demo.WORKS[0], subject)], path)


def debian(path: Path) -> None:
    from wheels import debian as make_debian

    text = "\n\n".join(f"Package: p{i}\nVersion: 1\nDepends: p{i * i % 997}\n" for i in range(3000))
    make_debian.make(text, path)


def record(path: Path) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    try:
        from benchmarks.record import Record
    finally:
        sys.path.pop(0)
    Record(path, ["cpu"], "cpu").save(long=["text"] * LIMIT)


# An edge list, made before files have a limit.
SOURCE: list[Path] = []
WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    **{f"write {suffix}": (suffix, lambda path: write(some_graph(), path)) for suffix in SUFFIXES},
    "bfs .csv": (".csv", command("bfs", "debian", "--source", "libc6")),
    "bfs .csv.gz": (".csv.gz", command("bfs", "debian", "--source", "libc6")),
    "pagerank .npz": (".npz", command("pagerank", "debian")),
    "convert": (".hpg", lambda path: hpg.convert(SOURCE[0], path)),
    "demo": (".png", picture),
    "make_debian": (".npz", debian),
    "benchmarks": (".json", record),
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is compiled, and found out about fonts, goes to files too: before files have a limit."""
    SOURCE[:] = [tmp_path_factory.mktemp("source") / "edges.el"]
    write(some_graph(), SOURCE[0])
    for name in ("bfs .csv", "demo"):
        suffix, save = WRITERS[name]
        with contextlib.suppress(pytest.skip.Exception):
            save(tmp_path_factory.mktemp("first") / f"file{suffix}")


@pytest.mark.parametrize(("suffix", "save"), WRITERS.values(), ids=WRITERS)
@pytest.mark.usefixtures("compiled")
def test_a_full_disk_leaves_the_old_file(
    tmp_path: Path, suffix: str, save: Callable[[Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"file{suffix}"
    for before in ([], [OLD]):
        for content in before:
            path.write_bytes(content)
        with no_file_longer_than(LIMIT), pytest.raises(OSError, match="File too large") as caught:
            save(path)
        assert caught.value.filename == str(path)
        assert [file.read_bytes() for file in tmp_path.iterdir()] == before
    save(path)
    assert path.stat().st_size > LIMIT, "the limit was one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_each_of_several_files(tmp_path: Path) -> None:
    """Vertices and properties of Graphalytics are short enough, and edges are not."""
    write(some_graph(5), tmp_path / "g.v")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    ring = hpg.Graph.from_edges(np.arange(500), (np.arange(500) + 1) % 500, np.full(500, 0.125), n_vertices=500)
    with no_file_longer_than(LIMIT), pytest.raises(OSError, match="File too large"):
        write(ring, tmp_path / "g.v")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    write(ring, tmp_path / "g.v")
    assert (tmp_path / "g.v").stat().st_size < LIMIT < (tmp_path / "g.e").stat().st_size


@pytest.mark.usefixtures("compiled")
def test_a_full_disk_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python reports what goes wrong in finalizers, too; those of files since 3.13."""
    gc.collect()
    reported: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: reported.append(repr(what)))
    for suffix in SUFFIXES:
        with no_file_longer_than(LIMIT), pytest.raises(OSError, match="File too large"):
            write(some_graph(), tmp_path / f"file{suffix}")
    gc.collect()
    assert not reported


CHILD = """
import os, sys, time
import numpy as np, hpgraph as hpg
graph = hpg.Graph.from_edges(np.arange(9), np.arange(1, 10), np.ones(9), n_vertices=10)
os.fsync = lambda file: (print("written", flush=True), time.sleep(60))
hpg.io.write(graph, sys.argv[1])
"""


@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz", ".el", ".csv.gz", ".npz"])
def test_a_kill_before_the_last_step_leaves_the_old_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(OLD)
    with subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "written\n"
        child.kill()
    assert path.read_bytes() == OLD
    (left,) = (file for file in tmp_path.iterdir() if file != path)
    assert left.name.startswith(f".file{suffix}.")
    assert left.name.endswith(".tmp")
    whole = tmp_path / f"whole{suffix}"
    os.replace(left, whole)
    assert read(whole).n_edges == 9, "all of it was written by then"


def test_a_kill_amid_a_long_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "long.el.gz"
    path.write_bytes(OLD)
    program = (
        "import sys, numpy as np, hpgraph as hpg\n"
        "ends = np.arange(3_000_000)\n"
        "hpg.io.write(hpg.Graph.from_edges(ends, ends[::-1], directed=True), sys.argv[1])"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(path)]) as child:
        while child.poll() is None and not [f for f in tmp_path.glob(".long*") if f.stat().st_size > 10_000]:
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    assert path.read_bytes() == OLD


def test_an_interruption_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(OLD)
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == OLD
        raise KeyboardInterrupt
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interruption_at_once_or_within_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: object, *given: object) -> None:
        if isinstance(path, Path):
            path.write_bytes(b"")
        raise KeyboardInterrupt

    path, graph = tmp_path / "graph.npz", some_graph(9)
    path.write_bytes(OLD)
    for module, name in ((core_replace, "open"), (zipfile, "_ZipWriteFile")):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(module, name, interrupt, raising=False)
            write(graph, path)
        assert path.read_bytes() == OLD
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["file", "n" * 255, "ä" * 127, "🚲" * 63])
def test_the_new_file_takes_the_place(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    for content in (b"one", b"another"):
        with replacing(path) as file:
            file.write(content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_the_old_file_or_of_the_umask(tmp_path: Path) -> None:
    path, new = tmp_path / "file", tmp_path / "new"
    path.write_bytes(OLD)
    path.chmod(0o640)
    umask = os.umask(0o027)
    try:
        for place in (path, new):
            with replacing(place) as file:
                file.write(b"new")
    finally:
        os.umask(umask)
    assert [stat.S_IMODE(place.stat().st_mode) for place in (path, new)] == [0o640, 0o640]
    path.chmod(0o604)
    with replacing(path) as file:
        file.write(b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_a_link_stays_and_leads_to_the_new_file(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path, link = folder / "file.el", tmp_path / "link.el"
    path.write_bytes(OLD)
    link.symlink_to("folder/file.el")
    graph = some_graph()
    write(graph, link)
    assert link.is_symlink()
    assert read(path).n_edges == graph.n_edges
    dangling = tmp_path / "dangling.el"
    dangling.symlink_to("folder/new.el")
    write(graph, dangling)
    assert (folder / "new.el").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("suffix", [".el", ".csv.gz", ".mtx", ".npz"])
def test_a_pipe_is_written_to_as_it_is(tmp_path: Path, suffix: str) -> None:
    pipe, path = tmp_path / f"pipe{suffix}", tmp_path / f"file{suffix}"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: path.write_bytes(pipe.read_bytes()))
    reader.start()
    graph = some_graph()
    write(graph, pipe)
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read(path).n_edges == graph.n_edges


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is refused must be so before the graph is read."""

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("the graph is read before the output is looked at")

    monkeypatch.setattr(hpg, "read", refuse)


@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("nowhere/levels.csv", "there is no such folder to write to"),
        ("file/levels.csv", "there is no such folder to write to"),
        ("folder.csv", "is a folder, and a file is to be written"),
        ("levels.xlsx", "the name must end in .csv, .csv.gz, .npz, .parquet, .arrow or .feather"),
    ],
)
@pytest.mark.parametrize("command", ["bfs x.el --source 0", "sssp x.el --source 0", "pagerank x.el", "triangles x.el"])
def test_an_output_that_cannot_be_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, path: str, complaint: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "file").touch()
    assert main([*command.split(), "-o", str(tmp_path / path)]) == 2
    error = capsys.readouterr().err
    assert f"{path}: {complaint}" in error
    assert error.count("\n") == 1


def test_write_protection_is_seen_before_the_work() -> None:
    """Not as root, which may write everywhere."""
    program = """
import os, sys
from hpgraph.io.replace import check_writable
if os.geteuid() == 0:
    os.setegid(65534), os.seteuid(65534)
for path in sys.argv[1:]:
    try:
        print(check_writable(path))
    except OSError as error:
        print(type(error).__name__, error.strerror)
"""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        closed, open_ = folder / "closed", folder / "open"
        closed.mkdir()
        open_.mkdir()
        for path in (closed / "file", open_ / "file"):
            path.touch()
            path.chmod(0o444)
        folder.chmod(0o755)
        closed.chmod(0o555)
        open_.chmod(0o777)
        paths = [closed / "new", closed / "file", open_ / "file", open_ / "new"]
        said = printed(program, *paths)
    protected = "PermissionError its folder is write-protected, and a file is first written beside"
    expected = [protected, *["PermissionError the file is write-protected"] * 2, "None"]
    assert said.splitlines() == expected


def test_the_demo_and_the_benchmarks_look_before_they_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from hpgraph import demo

    with pytest.raises(SystemExit):
        demo.main(["--output", str(tmp_path / "nowhere" / "demo.png")])
    assert "nowhere/demo.png: there is no such folder to write to" in capsys.readouterr().err
    with pytest.raises(IsADirectoryError):
        record(tmp_path)


def test_zipped_text_is_what_gzip_reads(tmp_path: Path) -> None:
    path = tmp_path / "file.el.gz"
    write(hpg.Graph.from_edges([0], [1], directed=True), path)
    assert gzip.decompress(path.read_bytes()).decode().splitlines()[1:] == ["0 1"]
    check_writable(path)
