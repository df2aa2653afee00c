"""Fast graph algorithms in Python, on the CPU and on NVIDIA GPUs.

Every algorithm is a loop over one generalized sparse matrix-vector product. It has three interfaces: ready algorithms
(`bfs`, `sssp`, `pagerank`, `triangle_count`), vertex programs (`VertexProgram`) and matrix algebra (`Matrix`,
`hyb_array`). Public names load on first use, so that ``import hpgraph`` itself stays light.
"""

import importlib
import os

import hpgraph.core.forking as _forking  # noqa: F401, before a thread's first call
import hpgraph.core.whole_imports as _whole_imports  # noqa: F401, before that of Numba
from hpgraph.containers.public import register_loader

__version__ = "0.2.0"

# The public names stand in the stub that type checkers read, one a line: from hpgraph.io import read as read.
_STUB = __loader__.get_data(os.path.join(os.path.dirname(__file__), "__init__.pyi")).decode()
_MODULE_OF = {words[3]: words[1] for words in map(str.split, _STUB.splitlines()) if words[:1] == ["from"]}
_SUBPACKAGES = tuple(name for name, module in _MODULE_OF.items() if module == __name__)
for _name in _SUBPACKAGES:
    del _MODULE_OF[_name]
_RENAMED = {"PageRankLanesResult": "MultiSourcePageRankResult", "SSSPLanesResult": "MultiSourceSSSPResult"}

# Without `id` and `open`, which a star import would put in place of Python's own, and without what needs Dask or
# PyTorch.
__all__ = sorted({*_MODULE_OF, *_SUBPACKAGES} - {"id", "open", "cluster", "torch"})


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    elif name in _SUBPACKAGES:
        value = importlib.import_module(f"{__name__}.{name}")
    elif name in _RENAMED:
        from hpgraph.core.caller import renamed

        return renamed(name, _RENAMED[name], __getattr__(_RENAMED[name]), stacklevel=3)
    else:
        # Loaded for the message alone: what it needs would make a third of the time of `import hpgraph`.
        from hpgraph.core.suggestions import did_you_mean

        meant = "" if name.startswith("_") else did_you_mean(name, [*_MODULE_OF, *_SUBPACKAGES])
        raise AttributeError(f"module 'hpgraph' has no attribute {name!r}{meant}")
    globals()[name] = value
    return value


register_loader(__getattr__)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
