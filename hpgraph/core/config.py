"""Settings of the whole library: threads, progress bars, verbosity, cache folder, how layouts are chosen.

``hpgraph.config`` is the one `Config` object. A value comes from the innermost ``with config(...)`` block of the
current thread or task, else from an assignment to the attribute, else from the environment, else from the default.
"""

from __future__ import annotations

import contextlib
import os
import sys
import weakref
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from hpgraph.core import cache_folder
from hpgraph.core.locks import Lock
from hpgraph.core.platform import usable_cores

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})


def _threads(value: object, name: str) -> int | None:
    if value is None:
        return None
    try:
        threads = int(value) if isinstance(value, str) else value.__index__()  # type: ignore[attr-defined]
    except (AttributeError, ValueError):
        raise TypeError(f"{name} must be a whole number of threads or None (all cores), not {value!r}") from None
    if isinstance(value, bool) or threads < 1:
        raise ValueError(f"{name} must be at least 1, not {value!r}; None means all cores")
    return threads


def _boolean(value: object, name: str, also: str = "") -> bool:
    if isinstance(value, str) and value.strip().lower() in _TRUE | _FALSE:
        return value.strip().lower() in _TRUE
    if isinstance(value, bool):
        return value
    raise ValueError(f"{name} must be {also}True or False, not {value!r}")


def _or_auto(value: object, name: str) -> bool | Literal["auto"]:
    if isinstance(value, str) and value.strip().lower() == "auto":
        return "auto"
    return _boolean(value, name, also='"auto", ')


def _share(value: object, name: str) -> float | None:
    if value is None:
        return None
    try:
        share = float("nan" if isinstance(value, bool) else value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        share = float("nan")
    if not 0 < share <= 1:
        raise ValueError(f"{name} must be a number above 0, at most 1, or None (0.25), not {value!r}")
    return share


def _cache_dir(value: object, name: str) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be a path or None (the user's cache folder), not {type(value).__name__}")
    return Path(os.fspath(value)).expanduser()  # type: ignore[arg-type]


def _device(value: object, name: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name} must be the name of a device, as in Graph.to, or None (cpu), not {value!r}")
    return value


Value = TypeVar("Value")


class _Setting(Generic[Value]):
    """A setting as an attribute of `Config`; a callable default maps the value that is set, or None, to the result."""

    name: str

    def __init__(
        self, variable: str, check: Callable[[object, str], Any], default: Value | Callable[[Any], Value]
    ) -> None:
        self.variable, self.check, self._default = variable, check, default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        _SETTINGS[name] = self

    def __get__(self, config: Config | None, owner: Any = None) -> Value:
        if config is None:
            return self  # type: ignore[return-value]
        value: Value | None = config._overrides.get().get(self.name)
        if value is None:
            value = config._held.get(self.name)
        if value is None and (text := os.environ.get(self.variable, "").strip()):
            value = self.check(text, self.variable)
        if callable(self._default):
            return self._default(value)
        return self._default if value is None else value

    def __set__(self, config: Config, value: Any) -> None:
        config.__setattr__(self.name, value)


_SETTINGS: dict[str, _Setting[Any]] = {}


def _checked(name: str, value: object) -> Any:
    if name not in _SETTINGS:
        raise TypeError(f"config has no setting {name!r}; it has {', '.join(_SETTINGS)}")
    return _SETTINGS[name].check(value, name)


class Block(contextlib.ContextDecorator):
    """Settings for the block of a ``with`` statement, or of a function."""

    def __init__(self, config: Config, settings: dict[str, Any]) -> None:
        self._config, self._settings = config, settings
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> Config:
        self._config._withdraw(self)
        overrides = self._config._overrides
        self._tokens.append(overrides.set({**overrides.get(), **self._settings}))
        return self._config

    def __exit__(self, *error: object) -> None:
        self._config._overrides.reset(self._tokens.pop())

    def __call__(self, function: Any) -> Any:
        """The function, to run with these settings."""
        self._config._withdraw(self)
        return super().__call__(function)

    def _recreate_cm(self) -> Block:
        return Block(self._config, self._settings)


class Config:
    """The library's settings, as attributes and as a context manager.

    Attributes
    ----------
    threads : int
        Threads of the CPU kernels; all usable cores unless set. ``HPGRAPH_NUM_THREADS``.
    progress : bool or "auto"
        Progress bars; "auto" shows them on a terminal or in a notebook. ``HPGRAPH_PROGRESS``.
    verbose : bool
        Whether to announce slow one-time work such as a cold compile. ``HPGRAPH_VERBOSE``.
    cache_dir : pathlib.Path
        Folder of compiled code. ``HPGRAPH_CACHE_DIR``, else ``$XDG_CACHE_HOME/hpgraph``, else ``~/.cache/hpgraph``. If
        that is not writable, or others can write to it (with a warning), a folder of this user under the system's
        temporary one, or one for this process alone.
    measure_layouts : bool or "auto"
        Whether, on a GPU, the first product of a matrix measures the methods that are predicted to be close, and keeps
        the fastest. "auto" does so if all give the same bits: for integers, and for ``min`` and ``max``. For sums of
        floats the choice depends on the matrix and the types only, so that sums repeat from run to run; True measures
        there, too. ``HPGRAPH_MEASURE_LAYOUTS``.
    memory_share : float
        Share of the free memory for the work space of several searches: as many run together as fit, at least one, and
        the others run in later groups. 0.25 unless set. ``HPGRAPH_MEMORY_SHARE``.
    networkx_device : str
        Device of graphs that NetworkX passes to the backend hpgraph: "cpu", or another one as for `Graph.to`.
        ``HPGRAPH_NETWORKX_DEVICE``.
    peer_access : bool
        Whether several GPUs access each other's memory, if they can; otherwise exchanges go through the host, for
        machines whose GPUs report peer access but fail. It is read when a graph or a matrix is divided, and when a run
        starts. ``HPGRAPH_PEER_ACCESS``.

    check_bounds : bool
        Whether functions of a program, and those that operations are given, check where they index arrays;
        `OutOfBoundsError` is raised then, on a GPU at the end of the run. Without, an index that is out of bounds reads
        memory of something else. A function is compiled as this was when it was made a part of a program or of an
        operator.
        ``HPGRAPH_CHECK_BOUNDS``.

    Raises
    ------
    TypeError, ValueError
        On assignment of an unfit value, or of a setting that does not exist.

    Examples
    --------
    >>> import hpgraph as hpg
    >>> with hpg.config(threads=1):
    ...     hpg.config.threads
    1

    Without ``with``, ``hpg.config(threads=2)`` holds from then on, as ``hpg.config.threads = 2`` does.
    """

    threads = _Setting[int]("HPGRAPH_NUM_THREADS", _threads, usable_cores)
    progress = _Setting[bool | Literal["auto"]]("HPGRAPH_PROGRESS", _or_auto, "auto")
    verbose = _Setting[bool]("HPGRAPH_VERBOSE", _boolean, True)
    cache_dir = _Setting[Path]("HPGRAPH_CACHE_DIR", _cache_dir, lambda given: _folder(given))
    measure_layouts = _Setting[bool | Literal["auto"]]("HPGRAPH_MEASURE_LAYOUTS", _or_auto, "auto")
    memory_share = _Setting[float]("HPGRAPH_MEMORY_SHARE", _share, 0.25)
    networkx_device = _Setting[str]("HPGRAPH_NETWORKX_DEVICE", _device, "cpu")
    peer_access = _Setting[bool]("HPGRAPH_PEER_ACCESS", _boolean, True)
    check_bounds = _Setting[bool]("HPGRAPH_CHECK_BOUNDS", _boolean, True)

    def __init__(self) -> None:
        # Assigned values live in instance attributes shared by all threads; overrides of `with` blocks in a context
        # variable, so that neither another thread nor another asyncio task sees them.
        values: dict[str, Any] = {}
        overrides: ContextVar[Mapping[str, Any]] = ContextVar("hpgraph_config", default=MappingProxyType({}))
        object.__setattr__(self, "_values", values)
        # Calls in order, any of which may still be entered as a `with` block.
        object.__setattr__(self, "_pending", [])
        object.__setattr__(self, "_held", values)
        object.__setattr__(self, "_overrides", overrides)
        object.__setattr__(self, "_announced", set())
        object.__setattr__(self, "_lock", Lock())

    _values: dict[str, Any]
    _pending: list[tuple[weakref.ref[Block], dict[str, Any]]]
    _held: dict[str, Any]
    _overrides: ContextVar[Mapping[str, Any]]
    _announced: set[str]
    _lock: Lock

    def __call__(self, **settings: Any) -> Block:
        """Settings from now on, as assignments; or, in a ``with`` statement, for its block in this thread or task.

        Parameters
        ----------
        **settings
            Attributes of this object and their values; None restores the default.

        Returns
        -------
        Block
            A context manager, which gives this object, and a decorator.

        Raises
        ------
        TypeError, ValueError
            For a setting that does not exist, or an unfit value; nothing is set.

        Examples
        --------
        >>> config = Config()
        >>> block = config(threads=3)
        >>> config.threads
        3
        """
        checked = {name: _checked(name, value) for name, value in settings.items()}
        block = Block(self, checked)
        with self._lock:
            # A block that was freed without being entered was a plain call: its settings are permanent.
            while self._pending and self._pending[0][0]() is None:
                self._values.update(self._pending.pop(0)[1])
            self._pending.append((weakref.ref(block), dict(checked)))
            self._settle()
        return block

    def _withdraw(self, block: Block) -> None:
        """Remove the settings of a block."""
        with self._lock:
            self._pending[:] = [pending for pending in self._pending if pending[0]() is not block]
            self._settle()

    def _settle(self) -> None:
        values = dict(self._values)
        for _, settings in self._pending:
            values.update(settings)
        object.__setattr__(self, "_held", values)

    def __setattr__(self, name: str, value: object) -> None:
        value = _checked(name, value)
        with self._lock:
            self._values[name] = value
            for _, settings in self._pending:
                settings.pop(name, None)
            self._settle()

    def show_progress(self) -> bool:
        """Whether to draw a progress bar now; "auto" draws one if standard error is a terminal or a notebook."""
        return sys.stderr.isatty() or "ipykernel" in sys.modules if self.progress == "auto" else bool(self.progress)

    def announce(self, what: str) -> None:
        """Announce slow work on standard error, once a process ("BFS for the CPU"), unless `verbose` is off.

        Each time the logger ``hpgraph`` also receives a message at level INFO.
        """
        # Imported here: it would make a third of the time of `import hpgraph`, and most calls find all compiled.
        import logging

        logging.getLogger("hpgraph").info("compiling %s", what)
        with self._lock:
            if what in self._announced or not self.verbose:
                return
            self._announced.add(what)
        message = f"hpgraph: compiling {what} (once; cached in {self.cache_dir}): some seconds"
        print(message, file=sys.stderr, flush=True)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *_SETTINGS]

    def __repr__(self) -> str:
        return f"Config({', '.join(f'{name}={getattr(self, name)!r}' for name in _SETTINGS)})"


def _folder(chosen: Path | None) -> Path:
    return cache_folder.first_usable(chosen or cache_folder.user_folder(), cache_folder.temporary_folder())


config = Config()
