"""The folder of compiled code: ours and private or not used; a damaged file there is compiled anew."""

import os
import pickle
import stat
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from new_process import completed, printed

from hpgraph.core import cache_folder
from hpgraph.core.config import Config

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")

# The quickest kernel to compile. The first word says where it was looked for, the second that it runs.
PROGRAM = """
import hpgraph as hpg
from hpgraph.kernels.runtime.cpu.progress import now
folder = hpg.config.cache_dir
print(folder, now() > 0)
"""


def run(folder: Path, before: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    given = {"HPGRAPH_CACHE_DIR": folder, "HPGRAPH_VERBOSE": 1, "NUMBA_CACHE_DIR": None, **variables}
    return completed(before + PROGRAM, **given)


class Planted:
    """A pickle that makes a file when it is read."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


def compiled(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.code"))


@pytest.mark.parametrize("variable", ["HPGRAPH_CACHE_DIR", "NUMBA_CACHE_DIR"])
def test_what_is_planted_where_others_write_is_not_run(tmp_path: Path, variable: str) -> None:
    folder, trace = tmp_path / "cache", tmp_path / "trace"
    pickle.loads(pickle.dumps(Planted(trace)))
    trace.unlink()  # The bait is one.
    assert run(folder, **{variable: str(folder)}).returncode == 0
    planted = compiled(folder)
    assert len(planted) == 1
    for file in planted:
        # Even with a digest that is right: nothing but the owner vouches for a file.
        cache_folder.write_sealed(file, pickle.dumps(Planted(trace)))
    folder.chmod(0o777)
    again = run(folder, **{"HPGRAPH_CACHE_DIR": str(tmp_path / "mine"), variable: str(folder)})
    assert again.returncode == 0, again.stderr
    assert again.stdout.split()[-1] == "True"
    assert not trace.exists()
    assert f"kept in {folder}: every user may write there (mode 777)" in again.stderr
    assert again.stderr.count("RuntimeWarning") == 1
    assert compiled(folder) == planted


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Config:
    monkeypatch.delenv("HPGRAPH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return Config()


def refusal(config: Config, folder: Path) -> str:
    """What is said when a folder is asked for that must not be used."""
    config.cache_dir = folder
    with pytest.warns(RuntimeWarning) as said:
        assert config.cache_dir == cache_folder.temporary_folder()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert config.cache_dir == cache_folder.temporary_folder(), "said once"
    (one,) = said
    return str(one.message)


@pytest.mark.parametrize(("mode", "who"), [(0o777, "every user"), (0o702, "every user"), (0o775, "its group")])
def test_a_folder_that_others_write_is_refused(config: Config, tmp_path: Path, mode: int, who: str) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(mode)
    said = refusal(config, folder)
    assert f"{folder}: {who} may write there (mode {mode:o})" in said
    assert "chmod 700" in said
    assert "HPGRAPH_CACHE_DIR" in said
    assert list(folder.iterdir()) == []


def test_the_users_own_folder_is_checked_alike(config: Config, tmp_path: Path) -> None:
    folder = tmp_path / "xdg" / "hpgraph"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="every user may write there"):
        assert config.cache_dir == cache_folder.temporary_folder()


def test_a_folder_of_another_owner_is_refused(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    me = os.geteuid()
    config.cache_dir = folder
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.warns(RuntimeWarning) as said:
        assert config.cache_dir != folder
    assert f"{folder} belongs to user {me} and you are user {me + 1}" in str(said[0].message)


def test_a_link_is_as_good_as_where_it_leads(config: Config, tmp_path: Path) -> None:
    folder, open_to_all, link, trap = (tmp_path / name for name in ("cache", "open", "link", "trap"))
    folder.mkdir(mode=0o755)
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    link.symlink_to(folder)
    trap.symlink_to(open_to_all)
    config.cache_dir = link
    assert config.cache_dir == link
    assert "every user may write there" in refusal(config, trap)


def test_a_folder_that_others_can_exchange_is_refused(config: Config, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    folder = shared / "cache"
    assert f"every user may rename what lies in {shared} (mode 777)" in refusal(config, folder)
    # As in /tmp: there, only the owner renames.
    shared.chmod(0o1777)
    assert config.cache_dir == folder


def test_what_we_make_is_private_whatever_the_umask(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "cache"
    done = run(folder, "import os; os.umask(0)\n")
    assert done.returncode == 0, done.stderr
    made = [tmp_path / "deep", folder, *folder.rglob("*")]
    assert len(compiled(folder)) == 1
    assert [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077] == []
    assert run(folder).stderr == "", "found, and nothing to complain of"


def test_a_folder_inside_is_checked_too(tmp_path: Path) -> None:
    inside = tmp_path / "numba"
    inside.mkdir()
    inside.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=f"{inside}: every user may write"):
        assert cache_folder.subfolder(tmp_path, "numba", "1") == cache_folder.process_folder() / "numba" / "1"


def test_a_folder_for_one_process_goes_with_it(tmp_path: Path) -> None:
    program = """
import os
from hpgraph.core.cache_folder import process_folder
print(process_folder(), flush=True)
os.fork() or os._exit(0)
"""
    folder = Path(printed(program, TMPDIR=tmp_path).strip())
    assert folder.parent == tmp_path
    assert not folder.exists()


def link_to_elsewhere(path: Path) -> None:
    elsewhere = path.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def named_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "change",
    [lambda path: path.chmod(0o666), lambda path: path.chmod(0o620), link_to_elsewhere, named_pipe, Path.unlink],
    ids=["all write", "group writes", "link", "pipe", "gone"],
)
def test_a_file_that_others_could_have_put_there_is_none(tmp_path: Path, change: Callable[[Path], object]) -> None:
    path = tmp_path / "file"
    cache_folder.write_sealed(path, b"code")
    assert cache_folder.read_sealed(path) == b"code"
    change(path)
    assert cache_folder.read(path) is None
    assert cache_folder.read_sealed(path) is None


def test_a_file_of_another_owner_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    cache_folder.write_sealed(path, b"code")
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert cache_folder.read(path) is None


def test_a_file_with_any_byte_cut_or_changed_is_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    cache_folder.write_sealed(path, b"some code")
    whole = path.read_bytes()
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(damaged)
            assert cache_folder.read_sealed(path) is None


def cut(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": cut,
    "empty": lambda file: file.write_bytes(b""),
    "garbage": lambda file: file.write_bytes(os.urandom(1000)),
    "another pickle": lambda file: file.write_bytes(pickle.dumps(["0.0.0", 7])),
    "no more than an end missing": lambda file: file.write_bytes(file.read_bytes()[:-1]),
}


# A kernel for each damage, which are kept where those of a module of the library are.
KERNELS = """
from hpgraph.kernels.runtime.cpu.kernel import njit
import hpgraph.kernels.runtime.cpu.claim as place

for k in range({count}):
    exec(f"def kernel{{k}}(a): return a + {{k}}")
    function = locals()[f"kernel{{k}}"]
    function.__module__ = place.__name__
    print(njit(cache=True)(function)(1), end=" ")
"""


def test_damaged_files_are_compiled_anew_and_overwritten(tmp_path: Path) -> None:
    folder, kernels = tmp_path / "cache", KERNELS.format(count=len(DAMAGES))
    assert run(folder, kernels).returncode == 0
    files = [next(folder.rglob(f"kernel{k}*.code")) for k in range(len(DAMAGES))]
    for file, damage in zip(files, DAMAGES.values(), strict=True):
        damage(file)
    assert [cache_folder.read_sealed(file) for file in files] == [None] * len(DAMAGES)
    once, again = run(folder, kernels), run(folder, kernels)
    assert once.stderr.startswith("hpgraph: compiling kernels for the CPU")
    assert once.stderr.count("\n") == 1
    assert (again.returncode, again.stderr) == (0, "")
    for done in once, again:
        assert done.stdout.split()[: len(DAMAGES)] == [str(k + 1) for k in range(len(DAMAGES))]


def test_a_full_disk_costs_the_cache_and_nothing_else(tmp_path: Path) -> None:
    limit = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
    )
    done = run(tmp_path, limit)
    assert (done.returncode, done.stdout.split()[-1]) == (0, "True"), done.stderr
    assert "compiled code cannot be kept in" in done.stderr
    assert "File too large" in done.stderr
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_every_kernel_is_read_back_with_care() -> None:
    """None of this library's kernels leaves it to Numba to read its cache."""
    program = """
import importlib, pkgutil, sys, numba, hpgraph
from numba.core.caching import FunctionCache
from hpgraph.kernels.runtime.cpu.compilation import KernelCache
for package in ("hpgraph.kernels", "hpgraph.engine", "hpgraph.formats", "hpgraph.semiring"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if "cuda" not in module.name and not module.name.endswith("lto"):
            importlib.import_module(module.name)
caches = {
    f"{name}.{key}": type(value._cache)
    for name, module in list(sys.modules.items()) if name.startswith("hpgraph")
    for key, value in vars(module).items()
    if numba.extending.is_jitted(value) and isinstance(value._cache, FunctionCache)
}
print(len(caches), [name for name, kind in caches.items() if kind is not KernelCache])
"""
    count, others = printed(program).split(" ", 1)
    assert int(count) > 30
    assert others.strip() == "[]"
