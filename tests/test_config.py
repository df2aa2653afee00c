"""Settings: where a value comes from, its scope, and what is refused."""

import os
import stat
import threading
from pathlib import Path

import pytest
from new_process import printed
from raising import raises

from hpgraph.core.config import Config


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch) -> Config:
    for name in list(os.environ):
        if name.startswith("HPGRAPH_"):
            monkeypatch.delenv(name)
    return Config()


def test_defaults(config: Config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert config.threads == len(os.sched_getaffinity(0))
    assert config.progress == "auto"
    assert config.verbose is True
    assert config.cache_dir == tmp_path / "hpgraph"
    assert config.cache_dir.is_dir()


def test_environment_then_assignment_then_block(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPGRAPH_NUM_THREADS", "7")
    assert config.threads == 7
    config.threads = 5
    assert config.threads == 5
    with config(threads=3, progress=False):
        assert (config.threads, config.progress) == (3, False)
        with config(threads=2):
            assert (config.threads, config.progress) == (2, False)
        assert config.threads == 3
    assert (config.threads, config.progress) == (5, "auto")
    config.threads = None
    assert config.threads == 7


def test_share_of_memory(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.memory_share == 0.25
    monkeypatch.setenv("HPGRAPH_MEMORY_SHARE", "0.5")
    assert config.memory_share == 0.5
    with config(memory_share=1):
        assert config.memory_share == 1
    for wrong in (0, -0.5, 1.5, "much", True, float("nan")):
        with pytest.raises(ValueError, match=r"memory_share must be a number above 0, at most 1, or None \(0\.25\)"):
            config.memory_share = wrong


def test_block_ends_after_an_exception(config: Config) -> None:
    config.threads = 4
    with pytest.raises(KeyError), config(threads=1):
        raise KeyError
    assert config.threads == 4


def test_a_call_without_with_assigns(config: Config) -> None:
    config(threads=3)
    assert config.threads == 3
    config(threads=2, progress=False)
    held = config(verbose=False)
    assert (config.threads, config.progress, config.verbose) == (2, False, False)
    config.threads = 5
    assert config.threads == 5, "what is assigned later counts"
    with config(threads=1):
        assert config.threads == 1
    with held:
        assert config.verbose is False
    assert (config.threads, config.verbose) == (5, True), "what was entered holds in its block alone"
    config(threads=None)
    assert config.threads == len(os.sched_getaffinity(0))
    assert len(config._pending) <= 1, "calls do not pile up"


def test_a_function_with_settings(config: Config) -> None:
    config.threads = 4

    @config(threads=1)
    def threads(depth: int) -> list[int]:
        return [config.threads, *(threads(depth - 1) if depth else [])]

    assert threads(2) == [1, 1, 1] and config.threads == 4


def test_block_is_seen_by_its_own_thread_only(config: Config) -> None:
    config.threads = 4
    seen: list[int] = []
    with config(threads=1):
        other = threading.Thread(target=lambda: seen.append(config.threads))
        other.start()
        other.join()
        assert config.threads == 1
    assert seen == [4]


@pytest.mark.parametrize(
    ("text", "progress", "verbose"),
    [("1", True, True), ("off", False, False), ("TRUE", True, True), ("no", False, False)],
)
def test_booleans_of_the_environment(
    config: Config, monkeypatch: pytest.MonkeyPatch, text: str, progress: bool, verbose: bool
) -> None:
    monkeypatch.setenv("HPGRAPH_PROGRESS", text)
    monkeypatch.setenv("HPGRAPH_VERBOSE", text)
    assert config.progress is progress
    assert config.verbose is verbose
    assert config.show_progress() is progress


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("threads", 0, ValueError), ("threads", -2, ValueError), ("threads", True, ValueError),
        ("threads", 1.5, TypeError), ("threads", "many", TypeError), ("progress", "sometimes", ValueError),
        ("verbose", 2, ValueError), ("cache_dir", 3, TypeError), ("colour", "red", TypeError),
    ],
)  # fmt: skip
def test_unfit_values_are_refused_by_name(config: Config, name: str, value: object, error: type[Exception]) -> None:
    raises(error, name, setattr, config, name, value)
    with pytest.raises(error, match=name), config(**{name: value}):
        pass
    assert config.threads >= 1


def test_unfit_environment_names_the_variable(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPGRAPH_NUM_THREADS", "zero")
    with pytest.raises(TypeError, match="HPGRAPH_NUM_THREADS"):
        _ = config.threads


def test_cache_dir_where_the_chosen_one_cannot_be_made(config: Config, tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    config.cache_dir = blocker / "cache"
    folder = config.cache_dir
    assert folder.is_dir()
    assert os.access(folder, os.W_OK)
    assert blocker not in folder.parents
    # Compiled code is run from there: no other user may write it.
    assert stat.S_IMODE(folder.stat().st_mode) & 0o022 == 0


def test_cache_dir_is_never_one_that_others_can_write(
    config: Config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    planted = tmp_path / f"hpgraph-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    config.cache_dir = "/dev/null/cache"
    assert config.cache_dir != planted
    assert config.cache_dir == config.cache_dir
    assert stat.S_IMODE(config.cache_dir.stat().st_mode) == 0o700


def test_announce_prints_once_and_only_when_verbose(config: Config, capsys: pytest.CaptureFixture[str]) -> None:
    with config(verbose=False):
        config.announce("BFS for the CPU")
    assert capsys.readouterr().err == ""
    config.announce("BFS for the CPU")
    config.announce("BFS for the CPU")
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("hpgraph: compiling BFS for the CPU (once; cached in ")


def test_what_is_announced_is_logged(config: Config, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="hpgraph"), config(verbose=False):
        config.announce("BFS for the CPU")
        config.announce("BFS for the CPU")
    assert [record.getMessage() for record in caplog.records] == ["compiling BFS for the CPU"] * 2


def test_repr_lists_the_settings(config: Config) -> None:
    config.threads = 3
    assert repr(config).startswith("Config(threads=3, progress='auto', verbose=True, cache_dir=")


def test_what_compiles_is_logged_in_few_lines(tmp_path: Path) -> None:
    """Numba would tell a program that logs everything of every instruction."""
    program = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(name)s %(levelname)s %(message)s")
from hpgraph.kernels.runtime.cpu.progress import now
now()
"""
    first, second = printed(program, HPGRAPH_CACHE_DIR=tmp_path, NUMBA_CACHE_DIR=tmp_path).splitlines()
    assert first == "hpgraph INFO compiling kernels for the CPU"
    assert second.startswith("hpgraph.compile DEBUG compiled hpgraph.kernels.runtime.cpu.progress.now in ")
