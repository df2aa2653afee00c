"""`njit` for the kernels of this package: what ``cache=True`` keeps on disk is read back only if it is ours and whole.

Numba unpickles whatever lies in its cache folder and raises on a file that was cut short. Here a file passes
`hpgraph.core.cache_folder` first; one that does not is compiled anew and overwritten.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)
from numba.extending import is_jitted

from hpgraph.core import cache_folder
from hpgraph.kernels.runtime.cpu import compilation


def njit(function: Callable[..., Any] | None = None, *, cache: bool = False, **options: Any) -> Any:
    """`numba.njit`, but for where and how ``cache=True`` keeps the code; a decorator, with or without options.

    Parameters
    ----------
    function : function
        The kernel.
    cache : bool, default False
        Keep the code for the next process.
    **options
        As `numba.njit` takes them.

    Returns
    -------
    Numba's dispatcher, or a decorator that makes one
    """
    if function is None:
        return lambda function: njit(function, cache=cache, **options)
    dispatcher = numba.njit(function, **options)
    # Under NUMBA_DISABLE_JIT it is the function itself.
    if cache and is_jitted(dispatcher):
        dispatcher._cache = KernelCache(function)
    return dispatcher


class KernelFiles(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one kernel: an index of the types it was compiled for, and the code for each.

    Numba works out which file is which; here they are read and written.
    """

    def _load_index(self) -> dict[Any, str]:
        content = cache_folder.read_sealed(Path(self._index_path))
        if content is None:
            return {}
        stamp, overloads = pickle.loads(content)
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        cache_folder.write_sealed(Path(self._index_path), self._dump((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        content = cache_folder.read_sealed(Path(self._data_path(name)))
        if content is None:
            # Numba then compiles, and writes to the same place.
            raise FileNotFoundError(self._data_path(name))
        return pickle.loads(content)

    def _save_data(self, name: str, data: Any) -> None:
        cache_folder.write_sealed(Path(self._data_path(name)), self._dump(data))


class KernelPlace(UserProvidedCacheLocator):  # type: ignore[misc]
    """Where the files of a kernel lie: in a folder whose name tells the versions of all sources and compilers."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._lineno = function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """The folder."""
        return str(compilation.folder())

    def ensure_cache_path(self) -> None:
        """Nothing to do: whether it can be written shows when it is."""

    def get_source_stamp(self) -> str:
        """What the sources are, in one word."""
        return compilation.folder().name

    @classmethod
    def from_function(cls, function: Any, file: str) -> KernelPlace:
        """The place of a kernel of this package."""
        return cls(function, file)


class _KernelCode(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (KernelPlace,)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """The compiled code of one kernel on disk.

    Parameters
    ----------
    function : function
        The kernel in Python.
    """

    _impl_class = _KernelCode

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        place = self._impl.locator
        self._cache_file = KernelFiles(place.get_cache_path(), self._impl.filename_base, place.get_source_stamp())

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code for some types; a disk that is full costs the next process time and nothing else."""
        try:
            super().save_overload(sig, data)
        except OSError as error:
            warnings.warn(
                f"compiled code cannot be kept in {self._cache_path}: {error.strerror or error}",
                RuntimeWarning,
                stacklevel=2,
            )
