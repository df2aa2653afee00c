"""Branches for systems that lack what Linux has: functions taken away, and the names of other systems given."""

import ctypes
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from new_process import printed

from hpgraph.core import cache_folder, platform
from hpgraph.io.replace import replacing

Patch = pytest.MonkeyPatch


def test_cores(monkeypatch: Patch) -> None:
    assert platform.usable_cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    assert platform.usable_cores() == os.cpu_count()


def test_memory(monkeypatch: Patch) -> None:
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < platform.available_memory() <= physical

    def no_proc(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", no_proc)
    assert platform.available_memory() == physical

    def status(reference: Any) -> int:
        found = reference._obj
        assert found.length == ctypes.sizeof(found) == 64
        found.u0, found.u1 = 8 << 30, 3 << 30
        return 1

    monkeypatch.delattr(os, "sysconf")
    windows = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=status))
    monkeypatch.setattr(ctypes, "windll", windows, raising=False)
    assert platform.available_memory() == 3 << 30


@pytest.mark.parametrize(
    ("system", "tbb", "driver"),
    [
        ("linux", "libtbb.so.12", "libcuda.so.1"),
        ("darwin", "libtbb.12.dylib", "libcuda.so.1"),
        ("win32", "tbb12.dll", "nvcuda.dll"),
    ],
)
def test_names_of_libraries(monkeypatch: Patch, system: str, tbb: str, driver: str) -> None:
    asked: list[str] = []

    def absent(name: str) -> Any:
        asked.append(name)
        raise OSError

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(ctypes, "CDLL", absent)
    assert platform.tbb_library() == tbb
    assert platform.cuda_driver() is None
    assert asked == [driver]
    assert platform.openmp_ends_in_child() == (system == "linux")


def test_pointers_of_threads(monkeypatch: Patch) -> None:
    key, get, give = platform.thread_pointer()
    get.restype = ctypes.c_void_p
    give(key, 4096)
    with ThreadPoolExecutor(1) as other:
        assert (get(key), other.submit(get, key).result()) == (4096, None)
    words: dict[int, int] = {}
    library = SimpleNamespace(
        TlsAlloc=lambda: 7, TlsGetValue=words.get, TlsSetValue=lambda *given: words.update([given])
    )
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "WinDLL", lambda name: library, raising=False)
    key, get, give = platform.thread_pointer()
    give(key.value, 4096)
    assert (key.value, get(7)) == (7, 4096)


def test_one_process_at_a_time(monkeypatch: Patch, tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("a") as first, path.open("a") as second:
        assert platform.try_lock(first.fileno())
        assert not platform.try_lock(second.fileno())
    calls: list[tuple[int, int, int]] = []
    monkeypatch.setattr(platform, "fcntl", None)
    windows = SimpleNamespace(LK_NBLCK=2, locking=lambda *given: calls.append(given))
    monkeypatch.setattr(platform, "msvcrt", windows)
    with path.open("a") as file:
        assert platform.try_lock(file.fileno())
        assert calls == [(file.fileno(), 2, 1)]

        def held(*_: Any) -> None:
            raise PermissionError

        windows.locking = held
        assert not platform.try_lock(file.fileno())
        monkeypatch.setattr(platform, "msvcrt", None)
        assert platform.try_lock(file.fileno())


def test_reading_at_a_place(monkeypatch: Patch, tmp_path: Path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(100)))
    with path.open("rb") as file:
        for _ in range(2):
            into = bytearray(10)
            assert platform.read_at(file.fileno(), memoryview(into), 95) == 5
            assert into == bytes([95, 96, 97, 98, 99, 0, 0, 0, 0, 0])
            assert platform.read_at(file.fileno(), memoryview(into), 200) == 0
            monkeypatch.delattr(os, "preadv", raising=False)
        for lost in ("O_DIRECT", None):
            monkeypatch.setattr(platform, "_OPEN", str(tmp_path / "none"))
            if lost:
                monkeypatch.delattr(os, lost)
            assert platform.open_direct(file.fileno()) is None


def test_replacing_a_file_that_another_process_has_open(monkeypatch: Patch, tmp_path: Path) -> None:
    """Windows refuses while it is read: replaced once the readers are done, or an error, and the former file stays."""
    path, real, refusals = tmp_path / "file", os.replace, [2]

    def refused(*places: Any) -> None:
        if refusals[0]:
            refusals[0] -= 1
            raise PermissionError(13, "in use", os.fspath(path))
        real(*places)

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(PermissionError), replacing(path) as file:
        file.write(b"elsewhere it is an error at once")
    assert refusals == [1] and not list(tmp_path.iterdir())
    monkeypatch.setattr(sys, "platform", "win32")
    with replacing(path) as file:
        file.write(b"first")
    assert path.read_bytes() == b"first"
    refusals[0] = 1000
    monkeypatch.setattr(platform, "_REPLACE_SECONDS", 0.02)
    with pytest.raises(PermissionError), replacing(path) as file:
        file.write(b"second")
    assert path.read_bytes() == b"first" and [*tmp_path.iterdir()] == [path]


def test_folders_of_code_where_files_have_no_owner(monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.setenv("USERNAME", "ada")
    assert cache_folder.temporary_folder().name == "hpgraph-ada"
    folder = cache_folder.first_usable(tmp_path / "code")
    assert folder == tmp_path / "code"
    cache_folder.write_sealed(folder / "kernel", b"code")
    assert cache_folder.read_sealed(folder / "kernel") == b"code"


# Functions that Windows or macOS does not have, taken away once Python and NumPy have found theirs.
ELSEWHERE = """
import ctypes, os, select, sys
import numba, numpy as np, scipy.sparse.csgraph
import multiprocessing.context, subprocess, concurrent.futures.process, numba.np.ufunc.parallel

for name in ("sched_getaffinity", "register_at_fork", "fork", "preadv", "pread", "O_DIRECT", "O_NOFOLLOW", "O_NONBLOCK",
             "O_CLOEXEC", "geteuid", "getegid", "getuid", "fchown", "fchmod"):
    delattr(os, name)
del select.poll
sys.modules["fcntl"] = None

import hpgraph as hpg
G = hpg.datasets.grid(30, weighted=True)
from scipy.sparse.csgraph import dijkstra
expected = dijkstra(G.out_csr.to_scipy(), indices=0)
assert np.allclose(hpg.sssp(G, 0).distance, expected)
assert (hpg.bfs(G, 0).level >= 0).sum() == np.isfinite(expected).sum()
assert abs(hpg.pagerank(G).rank.sum() - 1) < 1e-5
hpg.write(G, "grid.mtx.gz")
hpg.convert("grid.mtx.gz", "grid.hpg", memory="64MiB")
for _ in range(2):
    pages = hpg.open("grid.hpg", memory="128KiB")
    assert np.allclose(hpg.sssp(pages, 0).distance, expected)
    hpg.write(G, "grid.hpg")
print("the same")
"""


def test_a_process_without_what_only_linux_has(tmp_path: Path) -> None:
    assert printed(ELSEWHERE, cwd=tmp_path) == "the same\n"


def test_the_system_is_tested_in_one_module_and_forks_in_another() -> None:
    root = Path(platform.__file__).parents[1]
    words = (
        "sched_getaffinity", "sysconf", "register_at_fork", "fcntl", '"/proc', "O_DIRECT |", "libcuda",
        "os.replace(", "geteuid", "preadv", "PyOS_setsig(", "pthread_key", "WinDLL",
    )  # fmt: skip
    for file in (*root.rglob("*.py"), *(root / "formats").rglob("*.py"), *(root / "semiring").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if file.name != "platform.py":
            found = [word for word in words if word in text]
            assert found == (["register_at_fork"] if file.name == "forking.py" else []), file
