"""The site without building it (`make docs` does): the reference is complete, links lead somewhere, programs run."""

import importlib
import importlib.util
import multiprocessing
import re
import runpy
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import pytest

import hpgraph as hpg
from hpgraph.core.placements import PLACEMENTS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# Of pages in docs/notebooks, which the site makes of the notebooks, tests/test_notebooks.py runs the programs.
PAGES = sorted(page for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")] if page.parent != DOCS / "notebooks")
GALLERY = sorted((DOCS / "gallery").glob("*.py"))


def _documented() -> set[str]:
    names = set()
    for page in (DOCS / "reference").glob("*.rst"):
        module = "hpgraph"
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif re.fullmatch(r"   [\w.]+", line):
                names.add(f"{module}.{line.strip()}")
    return names


def _value(name: str) -> object:
    """What a dotted name stands for; an error where there is no such thing."""
    value: object = hpg
    path = "hpgraph"
    for part in name.split(".")[1:]:
        path = f"{path}.{part}"
        if path in ("hpgraph.torch", "hpgraph.jax") and not importlib.util.find_spec(part):
            return None
        value = getattr(value, part) if hasattr(value, part) else importlib.import_module(path)
    return value


PACKAGES = [
    "csgraph",
    "linalg",
    "datasets",
    "embed",
    "formats",
    "layout",
    "semiring",
    "viz",
    "cluster",
    "torch",
    "jax",
    "",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_has_every_public_name(package: str) -> None:
    if package == "cluster":
        pytest.importorskip("distributed")
    if package in ("torch", "jax"):
        pytest.importorskip(package)
    module = importlib.import_module(f"hpgraph.{package}" if package else "hpgraph")
    public = {*module.__all__, *(() if package else ("id", "open"))}
    packages = {name for name in public if not package and Path(hpg.__file__).with_name(name).is_dir()}
    # `hpgraph.layout` and the like are a page, `hpgraph.io` and its kin are named by `hpgraph` itself.
    assert {f"{module.__name__}.{name}" for name in public - packages} - _documented() == set()


def test_the_reference_has_nothing_else() -> None:
    for name in _documented():
        _value(name)


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), f"{target} leads nowhere"
        assert not anchor or anchor in _anchors(file), f"{target}: no such heading"


def test_tables_of_what_runs_where() -> None:
    if importlib.util.find_spec("distributed"):
        importlib.import_module("hpgraph.cluster")
    tables: dict[str, str] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        tables.update(re.findall(r"^<!-- served: (.+) -->\n((?:\|.*\n)+)", text, re.MULTILINE))
    for name, placement in PLACEMENTS.items():
        assert tables[name] == placement.table() + "\n", f"print(hpgraph.core.placements.PLACEMENTS[{name!r}].table())"


def test_parts_of_the_readme_that_pages_include() -> None:
    found = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for wanted in re.findall(r'^:(?:start-after|end-before): "(.+)"$', text, re.MULTILINE):
            (source,) = re.findall(r"^```\{include\} (.+)$", text, re.MULTILINE)
            assert (page.parent / source).read_text(encoding="utf-8").count(wanted) == 1, f"{page.name}: {wanted}"
            found += 1
    assert found


FENCE = re.compile(r"(?:^<!-- needs: (\w+) -->\n)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN_BLOCKS = """
import os
os.chdir(folder)
for place, block in blocks:
    exec(compile(block, place, "exec"), {"__name__": "__main__"})
"""


@pytest.fixture(scope="module")
def new_processes() -> Iterator[Executor]:
    """A process for each call, forked from one that has imported what takes longest, where systems fork."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    context.set_forkserver_preload(["hpgraph.kernels.cpu", "pandas"])
    with ProcessPoolExecutor(1, context, max_tasks_per_child=1) as pool:
        yield pool


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks(page: Path, tmp_path: Path, new_processes: Executor) -> None:
    """In a process for each page, no block sees another's names; what needs a GPU or a cluster is compiled."""
    text, blocks = page.read_text(encoding="utf-8"), []
    for found in FENCE.finditer(text):
        needs, block = found.groups()
        place = f"{page.name}:{text[: found.start(2)].count(chr(10))}"
        compile(block, place, "exec")
        assert needs in (None, "cuda", "cluster", "torch")
        blocks += [(place, block)] * (needs is None or (needs == "torch" and bool(importlib.util.find_spec("torch"))))
    if blocks:
        new_processes.submit(exec, RUN_BLOCKS, {"blocks": blocks, "folder": str(tmp_path)}).result()


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_gallery(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    assert len(script.read_text(encoding="utf-8").splitlines()) < 30
    assert (DOCS / "images" / "gallery" / f"{script.stem}.png").is_file(), "run it in docs/images/gallery"
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script))
    assert (tmp_path / f"{script.stem}.png").stat().st_size > 10_000


def test_the_version_is_the_same_everywhere() -> None:
    assert f"version: {hpg.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(
        rf"^## {re.escape(hpg.__version__)}$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_files_named_in_papers_exist() -> None:
    rows = re.findall(r"^\|.*\|.*\| (`.*`) \|$", (DOCS / "papers.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 20
    for place in re.findall(r"`([^`]+)`", " ".join(rows)):
        assert (ROOT / place).exists(), place


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=lambda page: page.name)
def test_names_of_ours_exist(page: Path) -> None:
    for name in set(re.findall(r"(?<![\w/.])(?:hpg|hpgraph)((?:\.[A-Za-z_]\w*)+)", page.read_text(encoding="utf-8"))):
        _value(f"hpgraph{name}")
