"""The kernels of one source, described once: their names for given types, what surrounds it, launches by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hpgraph.core.device import cupy
from hpgraph.kernels.runtime.cuda.compile import Kernel, load
from hpgraph.kernels.runtime.cuda.multiprocessors import multiprocessors as multiprocessors
from hpgraph.kernels.runtime.cuda.structs import Layout, StructLayout, word
from hpgraph.kernels.runtime.cuda.structs import struct as struct


class KernelSet:
    """Kernels that are compiled together, for each choice of the template's parameters.

    ``kernels``: names of kernels, separated by spaces, by what they are instantiated with, as "<{Index}, 8>"; one may
    be called otherwise, as "first=find"; ``layouts``: structs that are passed, which the compiler checks.
    """

    def __init__(
        self, source: str, title: str, kernels: Mapping[str, str], *, layouts: tuple[Layout | StructLayout, ...] = (),
        prologue: str = "", threads: int = 256, cooperative: bool = False,
    ) -> None:  # fmt: skip
        self.source, self._title, self._layouts, self._prologue = source, title, layouts, prologue
        self._names = {
            name.partition("=")[0]: f"hpgraph::{name.rpartition('=')[2]}{given}"
            for given, names in kernels.items() for name in names.split()
        }  # fmt: skip
        self.threads, self._cooperative = threads, cooperative
        self._loaded: dict[tuple[Any, ...], Kernels] = {}

    def text(self, **types: Any) -> dict[str, Any]:
        """Name expressions, and what precedes and follows the source, for dtypes, flags or text of parameters."""
        words = {parameter: word(given) for parameter, given in types.items()}
        typed = {parameter: given for parameter, given in types.items() if isinstance(given, (np.dtype, str))}
        return {
            "names": tuple(name.format(**words) for name in self._names.values()),
            "prologue": self._prologue,
            "checks": "\n".join(
                (layout.of(**typed) if isinstance(layout, Layout) else layout).checks for layout in self._layouts
            ),
        }

    def of(self, **types: Any) -> "Kernels":
        """The kernels for types of the parameters, on CuPy's current device; to be kept over several launches."""
        key = cupy.cuda.runtime.getDevice(), *types.values()
        if key not in self._loaded:
            text = self.text(**types)
            module = load(self.source, cooperative=self._cooperative, title=self._title, **text)
            functions = zip(self._names, map(module.function, text["names"]), strict=True)
            self._loaded[key] = Kernels(dict(functions), self.threads)
        return self._loaded[key]


class Kernels:
    """The kernels of a set for certain types, by name, and the threads of their blocks."""

    def __init__(self, functions: dict[str, Kernel], threads: int) -> None:
        self.functions, self.threads = functions, threads

    def launch(self, name: str, blocks: int, *arguments: Any, shared_mem: int = 0) -> None:
        """Launch a kernel on the current device and stream."""
        self.functions[name]((blocks,), (self.threads,), arguments, shared_mem)

    def each(self, name: str, items: int, *arguments: Any) -> None:
        """Launch a kernel with a thread for each item, if there are any."""
        if items:
            self.launch(name, -(-items // self.threads), *arguments)
