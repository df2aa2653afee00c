"""The tables of docs/networkx.md, from the code: ``python -m tests.networkx_suite.table`` writes them anew."""

import re

import networkx as nx

from hpgraph.interop.networkx_backend.info import FAMILIES, FUNCTIONS
from tests.networkx_suite.entry import ROOT
from tests.networkx_suite.left import LEFT

PAGE = ROOT / "docs" / "networkx.md"
_BEGIN, _END = "<!-- functions: written by python -m tests.networkx_suite.table -->", "<!-- end of functions -->"


def reasons() -> dict[str, str]:
    """Why each function of the installed NetworkX that the backend does not have is left to it."""
    found = {}
    for name, function in nx.utils.backends._registered_algorithms.items():
        if name not in FUNCTIONS:
            module = function.orig_func.__module__.removeprefix("networkx.")
            # The name itself, then the module, then the packages that it is in.
            names = [name, *(module.rsplit(".", k)[0] for k in range(module.count(".") + 1))]
            given = [
                (names.index(word), reason) for reason, words in LEFT.items() for word in words.split() if word in names
            ]
            found[name] = min(given)[1]
    return found


def tables() -> str:
    """Both tables: the functions of each family, and what is missing and why."""
    lines = [f"{len(FUNCTIONS)} functions:", "", "| family | functions |", "|---|---|"]
    for family, names in FAMILIES.items():
        lines.append(f"| {family.replace('_', ' ')} | {' '.join(f'`{name}`' for name in names.split())} |")
    lines += ["", "Left to NetworkX, function by function:", "", "| why | functions |", "|---|---|"]
    left = reasons()
    for reason in LEFT:
        names = sorted(name for name in left if left[name] == reason)
        lines.append(f"| {reason} | {', '.join(names)} |")
    return "\n".join(lines)


def replaced(page: str) -> str:
    """The page with its tables as they are to be."""
    return re.sub(f"{_BEGIN}.*{_END}", lambda _: f"{_BEGIN}\n\n{tables()}\n\n{_END}", page, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text()))
