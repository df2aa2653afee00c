"""``import hpgraph`` is light, and every public name is there when it is asked for."""

import ast
import json
from pathlib import Path

import pytest
from new_process import printed

import hpgraph

HEAVY = ["numba", "cupy", "scipy.sparse.csgraph", "pandas", "matplotlib", "networkx", "IPython", "tqdm", "cuda.core"]

PROGRAM = """
import json, sys
import {module}
print(json.dumps(list(sys.modules)))
"""


def _imported(folder: Path, module: str = "hpgraph") -> list[str]:
    modules: list[str] = json.loads(printed(PROGRAM.format(module=module), cwd=folder))
    return modules


@pytest.mark.parametrize(
    ("module", "allowed"),
    [("hpgraph", []), ("hpgraph.kernels.cuda", ["cupy"]), ("hpgraph.kernels.runtime.cuda.compile", [])],
)
def test_import_brings_nothing_heavy(tmp_path: Path, module: str, allowed: list[str]) -> None:
    modules = _imported(tmp_path, module)
    assert [name for name in HEAVY if name in modules and name not in allowed] == []


@pytest.mark.parametrize("name", hpgraph.__all__)
def test_every_public_name_loads(name: str) -> None:
    assert getattr(hpgraph, name) is not None
    assert name in dir(hpgraph)


def test_every_lazy_name_is_public() -> None:
    lazy = {*hpgraph._MODULE_OF, *hpgraph._SUBPACKAGES}
    # A star import leaves what is Python's own alone, and needs no Dask.
    assert lazy - set(hpgraph.__all__) == {"id", "open", "cluster", "torch"}
    assert hpgraph.id(5).index == 5 and "id" in dir(hpgraph)
    assert sorted(set(hpgraph.__all__)) == hpgraph.__all__


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(hpgraph.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    known = {alias.asname: node.module for node in imports for alias in node.names}
    assert known == {**hpgraph._MODULE_OF, **dict.fromkeys(hpgraph._SUBPACKAGES, "hpgraph")}


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'bsf'"):
        _ = hpgraph.bsf


def test_a_checkout_imports_as_it_stands(tmp_path: Path) -> None:
    """From the checkout's own folder, whatever other copy is installed, and by its path alone."""
    root = Path(__file__).resolve().parent.parent
    program = "import hpgraph.csgraph, hpgraph.formats as f, hpgraph.semiring as s; print(f.__file__, s.__file__)"
    for folder, options in ((root, {}), (tmp_path, {"PYTHONPATH": str(root)})):
        files = printed(program, cwd=folder, **options).split()
        assert [Path(file).resolve().parent.parent for file in files] == [root, root]
