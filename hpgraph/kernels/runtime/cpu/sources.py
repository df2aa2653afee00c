"""The sources of a kernel's machine code: its module and its import closure.

Code and constants of other modules are inlined into a kernel, and it can only have them by an import. So the sources
reached by imports, including those inside functions, determine its machine code. They are found in the text, without
running the modules. Imports for type checkers do not count, nor do the packages that a module lies in: a kernel has
nothing of them unless an import names them.
"""

import functools
import re
from importlib.util import find_spec
from pathlib import Path

_ROOT = "hpgraph"
# Python around kernels: no code or constant of these modules is in a kernel, so an edit invalidates none.
_OUTSIDE = {_ROOT} | {
    f"hpgraph.core.{name}"
    for name in (
        "cache_folder", "caller", "config", "device", "devices", "errors", "locks",
        "number", "platform", "progress", "whole_imports", "work_clock",
    )
}  # fmt: skip
_COMMENT = re.compile(r"#[^\n]*")
# The indented lines below, and blank ones between them.
_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n(?=[ \t\n]))*", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+(hpgraph(?:\.\w+)*)[ \t]+import[ \t]*(\([^)]*\)|[^\n(]*)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n]*)", re.MULTILINE)
_ALIAS = re.compile(r"\bas\s+\w+")
_MODULE = re.compile(r"\bhpgraph(?:\.\w+)*")
_NAME = re.compile(r"\w+")


def import_closure(module: str) -> tuple[str, ...]:
    """A module of this library and those of this library that it imports, directly or not; sorted."""
    seen, waiting = {module}, [module]
    while waiting:
        for name in imports(waiting.pop()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return tuple(sorted(seen))


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Modules of this library that a module imports, wherever in its text, except for type checkers."""
    text = _FOR_TYPES.sub("", _COMMENT.sub("", source(module).decode()))
    wanted = {name for line in _IMPORT.findall(text) for name in _MODULE.findall(line)}
    for package, names in _FROM.findall(text):
        # Other names are defined in the package itself.
        inner = {name: f"{package}.{name}" for name in _NAME.findall(_ALIAS.sub("", names))}
        modules = {name: full for name, full in inner.items() if file_of(full)}
        wanted |= {*modules.values()} | ({package} if len(modules) < len(inner) else set())
    return frozenset(name for name in wanted - _OUTSIDE if file_of(name))


def source(module: str) -> bytes:
    """The text of a module."""
    file = file_of(module)
    if file is None:
        raise ModuleNotFoundError(f"no source of {module}", name=module)
    return file.read_bytes()


def changed_since(module: str, timestamp: float) -> bool:
    """Whether the file of a module was created, written or moved after a given time."""
    file = file_of(module)
    return file is None or max(file.stat().st_ctime, file.stat().st_mtime) > timestamp


@functools.cache
def file_of(module: str) -> Path | None:
    """The source file of a module, which need not be imported; None if there is no such module."""
    package, _, name = module.rpartition(".")
    folder = _folder(package)
    if folder is None:
        return None
    return next((file for file in (folder / name / "__init__.py", folder / f"{name}.py") if file.is_file()), None)


@functools.cache
def _folder(package: str) -> Path | None:
    """The folder of a package. Those right under the root may lie elsewhere; deeper ones lie in each other."""
    above, _, name = package.rpartition(".")
    if above in ("", _ROOT):
        found = find_spec(package)
        return Path(found.submodule_search_locations[0]) if found and found.submodule_search_locations else None
    folder = _folder(above)
    return folder / name if folder and (folder / name).is_dir() else None
