"""What is shipped: an sdist, the wheel built from it, and the installed wheel used from another folder."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

import hpgraph

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {"hpgraph": "hpgraph", "formats": "hpgraph/formats", "semiring": "hpgraph/semiring"}
SHIPPED = {".py", ".pyi", ".cuh", ".typed", ".xz"}
# What tests read besides the packages.
BESIDE = ("tests", "benchmarks", "docs", "notebooks", ".ci", ".github", "conda", "wheels")
FILES = (
    ".gitignore", "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in",
    "Makefile", "README.md", "SECURITY.md", "pyproject.toml", "setup.py",
)  # fmt: skip


def _run(*command: str | Path, cwd: Path, **environment: str) -> str:
    # What the machine's user set for other Pythons must not leak into these.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env={**inherited, **environment},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist of a copy of this checkout, and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("built")
    checkout = folder / "checkout"
    # Of docs; the notebooks themselves are a folder that is copied.
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "generated", "notebooks")
    for name in (*SOURCES, *BESIDE):
        shutil.copytree(ROOT / name, checkout / name, ignore=ignore, symlinks=True)
    for name in FILES:
        shutil.copy(ROOT / name, checkout)
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, checkout, cwd=folder)
    return folder


def _expected() -> set[str]:
    files = set()
    for source, package in SOURCES.items():
        for file in (ROOT / source).rglob("*"):
            inside = PurePosixPath(package) / file.relative_to(ROOT / source).as_posix()
            data = file.is_file() and inside.parent == PurePosixPath("hpgraph/datasets/data")
            if "__pycache__" not in file.parts and (file.suffix in SHIPPED or data):
                files.add(str(inside))
    return files


def test_the_list_of_packages_is_the_folders() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {PurePosixPath(file).parent for file in _expected() if file.endswith(".py")}
    assert listed == sorted(".".join(folder.parts) for folder in folders)


def test_the_wheel_holds_every_source_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert names == _expected()


def test_the_sdist_holds_what_its_tests_read(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        members = {str(PurePosixPath(*PurePosixPath(member.name).parts[1:])): member for member in archive}
    checkout = built / "checkout"
    beside = {
        str(file.relative_to(checkout)) for name in BESIDE for file in (checkout / name).rglob("*") if file.is_file()
    }
    assert len(beside) > 200
    assert {*beside, *FILES} - set(members) == set()
    for name in ("formats", "semiring"):
        assert members[f"hpgraph/{name}"].linkname == f"../{name}"
        assert members[f"{name}/__init__.py"].isfile()


def test_the_installed_wheel_works_elsewhere(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    site = tmp_path / "site"
    _run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", site, wheel, cwd=tmp_path)
    program = """
import hpgraph, hpgraph.formats, hpgraph.semiring, hpgraph.kernels.cpu, hpgraph.io, importlib.metadata, pathlib
for module in (hpgraph, hpgraph.formats, hpgraph.semiring, hpgraph.kernels.cpu, hpgraph.io):
    print(pathlib.Path(module.__file__).resolve())
print(importlib.metadata.version("hpgraph") == hpgraph.__version__)
"""
    *files, same_version = _run(sys.executable, "-c", program, cwd=tmp_path, PYTHONPATH=str(site)).split()
    assert same_version == "True"
    assert [file for file in files if not file.startswith(str(site.resolve()))] == []


def test_recipes_agree() -> None:
    """The recipe for conda and the citation agree with the package metadata."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text()
    assert f'version: "{hpgraph.__version__}"' in recipe
    assert f"\nversion: {hpgraph.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    run = recipe.partition("  run:\n")[2].partition("  run_constraints:\n")[0]
    asked = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    wanted = [f"python{project['requires-python']}", *project["dependencies"]]
    assert asked == {requirement.partition(";")[0] for requirement in wanted}
