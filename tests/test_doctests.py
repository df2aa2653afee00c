"""The examples in the docstrings, module by module.

pytest's own ``--doctest-modules`` names a module after its folder, and would import formats/csr.py a second time as
``formats.csr``; here each module is imported under the name users import.
"""

import doctest
import importlib
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import hpgraph
from hpgraph.core.device import cuda_available
from hpgraph.core.errors import MissingExtraError

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _modules(package: str) -> list[str]:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    names = []
    for folder in map(Path, spec.submodule_search_locations):
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            names.append(".".join([package, *parts]).removesuffix(".__init__"))
    return names


MODULES = sorted({name for package in ("hpgraph", "hpgraph.formats", "hpgraph.semiring") for name in _modules(package)})


@pytest.mark.parametrize("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on_cuda = name.startswith("hpgraph.kernels") and "cuda" in name
    try:
        module = importlib.import_module(name)
    except MissingExtraError as error:
        if error.extra not in ("torch", "sklearn", "jax"):
            raise
        pytest.skip(f"{error.package} is not installed")
    except ImportError as error:
        needs_cuda = on_cuda or name == "hpgraph.semiring.lto"
        if needs_cuda and error.name and error.name.partition(".")[0] in ("cupy", "cuda", "numba"):
            pytest.skip(f"{error.name} is not installed")
        raise
    # What docs/reference says that examples assume.
    found = doctest.DocTestFinder().find(module, extraglobs={"hpg": hpgraph, "np": np})
    examples = [test for test in found if test.examples]
    if on_cuda and examples and not cuda_available():
        pytest.skip("no CUDA GPU here")
    # Examples that write files write them where they are thrown away.
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for example in examples:
        runner.run(example, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
