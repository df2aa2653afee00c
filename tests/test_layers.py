"""Imports point downwards only, those inside functions too, and go round in no cycle; the layers are those drawn in
docs/architecture.md. Imports for type checkers alone do not count: nothing runs them.
"""

import ast
import functools
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import hpgraph

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"hpgraph": ROOT / "hpgraph", "hpgraph.formats": ROOT / "formats", "hpgraph.semiring": ROOT / "semiring"}


def modules() -> dict[str, Path]:
    """Every module of the library by its name."""
    found = {}
    for package, folder in PACKAGES.items():
        for file in folder.rglob("*.py"):
            inside = file.relative_to(folder).with_suffix("").parts
            found[".".join([package, *inside]).removesuffix(".__init__")] = file
    return found


def drawn() -> dict[str, int]:
    """The layer of each folder and module in the drawing, 0 the uppermost."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    (drawing,) = re.findall(r"^## Layers$.*?^```text\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    layers = [re.split(r"\s{2,}", line)[0].split(" · ") for line in drawing.splitlines()]
    return {name: layer for layer, names in enumerate(layers) for name in names}


def imports(source: str) -> Iterator[str]:
    """What a module imports anywhere in it, by full names; ``*`` stands for the part of a name that is put together."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting.extend(node.orelse)
            continue
        waiting.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, "an import relative to its file hides what it imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            name = node.args[0]
            parts = name.values if isinstance(name, ast.JoinedStr) else [name]
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "*" for part in parts)


@functools.cache
def graph() -> dict[str, set[str]]:
    """For each module the others that it imports."""
    files = modules()
    edges: dict[str, set[str]] = {}
    for name, file in files.items():
        met: set[str] = set()
        for imported in imports(file.read_text()):
            if imported.startswith("*"):
                continue  # by a table, as the package finds its public names
            if "*" in imported:
                pattern = re.compile(re.escape(imported).replace(r"\*", r"\w+"))
                met |= {other for other in files if pattern.fullmatch(other)}
            else:
                # ``from a import b``: either the module a.b, or something in a.
                met.add(imported if imported in files else imported.rpartition(".")[0])
        edges[name] = met & set(files) - {name}
    # The package imports whatever bears a public name when it is asked for.
    edges["hpgraph"] |= {*hpgraph._MODULE_OF.values(), *(f"hpgraph.{name}" for name in hpgraph._SUBPACKAGES)}
    return edges


def room(module: str) -> str:
    """The folder, or the module, of the package that a module stands in."""
    return module.partition(".")[2].partition(".")[0] or "hpgraph"


def layer_of(module: str, layers: dict[str, int]) -> int:
    return layers[room(module)]


def upward(edges: dict[str, set[str]], layers: dict[str, int]) -> list[str]:
    return [
        f"{name} imports {other}"
        for name in sorted(edges)
        for other in sorted(edges[name])
        if layer_of(other, layers) < layer_of(name, layers)
    ]


def cycle(edges: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_drawing_shows_every_room() -> None:
    assert set(drawn()) == set(map(room, modules()))


def test_imports_point_downwards() -> None:
    assert upward(graph(), drawn()) == []


def test_no_cycle_of_imports() -> None:
    assert cycle(graph()) == []


def test_what_the_tests_find() -> None:
    """An import is seen inside a function, and by a name that is put together; one that points upwards is named."""
    edges, layers = graph(), drawn()
    assert list(imports("def f():\n    from hpgraph.engine.run import run\n")) == ["hpgraph.engine.run.run"]
    assert list(imports("if TYPE_CHECKING:\n    import hpgraph.io\nelse:\n    import hpgraph.viz")) == ["hpgraph.viz"]
    assert {"hpgraph.kernels.cpu", "hpgraph.kernels.cuda"} <= edges["hpgraph.kernels.backend"]
    assert "hpgraph.semiring.jit" in edges["hpgraph.semiring.function"], "inside a function"
    assert "hpgraph.scipy_api.matrix" in edges["hpgraph"]
    raised = {**edges, "hpgraph.core.device": {"hpgraph.containers.graph"}}
    assert upward(raised, layers) == ["hpgraph.core.device imports hpgraph.containers.graph"]
    assert set(cycle(raised)) >= {"hpgraph.core.device", "hpgraph.containers.graph"}
    assert cycle({**edges, "hpgraph.algebra.write": {"hpgraph.algebra.mxm"}}) != []
