"""Changes to other projects' code at run time, each limited to the versions it was written for.

`importlib.metadata`, or the library itself, gives the version when the patch is needed; other versions run unpatched.
`PATCHES` gives the purpose and gain of each, and the upstream change that would replace it;
tests/kernels/test_patches.py reports a patch without effect.
"""

import contextlib
import functools
import importlib
import importlib.metadata
import importlib.util
import math
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np


class Patch(NamedTuple):
    """A patch: its purpose, and the versions from ``first`` on and before ``end``, None for all later ones."""

    distribution: str
    first: tuple[int, ...]
    end: tuple[int, ...] | None
    gain: str
    upstream: str

    def is_for(self, version: tuple[int, ...]) -> bool:
        """Whether it is for a version."""
        return self.first <= version and (self.end is None or version < self.end)


_NUMBA = "numba", (0, 61), (0, 69)
_NUMBA_CUDA = "numba-cuda", (0, 30), (0, 31)

PATCHES = {
    "calls": Patch(
        *_NUMBA,
        "13 % of the processor time to compile the kernels of bfs, pagerank, sssp and connected_components",
        "Numba, BaseFunction.get_call_type: tries the templates of an operator for each call anew, with and without "
        "literals, four times of five for types that it has just found",
    ),
    "libraries": Patch(
        *_NUMBA,
        "40 % of the processor time to compile the same",
        "Numba, JITCodeLibrary: makes machine code of each function beside its copies in all callers",
    ),
    "lowering": Patch(
        *_NUMBA,
        "7 % of the processor time of `hpgraph warmup`",
        "Numba, Lower: keeps each variable that several blocks use in memory, and each array of accessed elements",
    ),
    "analyses": Patch(
        *_NUMBA,
        "4 % of the processor time to compile the kernel of bfs, and 2 % by registries alone",
        "Numba, llvmlite: parse a module for the size of each variable's type, notify all timers of each call of LLVM, "
        "test each part of a statement for four types, inspect the signatures of the same functions again, and look "
        "through all registries for what is new at each function that is compiled",
    ),
    "blas": Patch(
        *_NUMBA,
        "0.1 to 0.3 s of processor time, of about one, in a first call whose kernel is in the cache (busy cores)",
        "Numba, arraymath: imports scipy.linalg with itself, to see whether there is a BLAS for functions used later",
    ),
    "threads": Patch(
        *_NUMBA,
        "pool threads stop with their run, by Ctrl-C or an exception, and a forked child runs loops in one thread",
        "Numba, numba_parallel_for: has no hook for what a pool thread does before its share of a loop",
    ),
    "architecture": Patch(
        *_NUMBA_CUDA,
        "functions that numba-cuda has in Python, as the view of a number, compile without that GPU",
        "numba-cuda, CUDADispatcher.compile_device: compiles for the GPU present, whatever its caller is compiled for",
    ),
    "bounds": Patch(
        *_NUMBA_CUDA,
        "an index out of a captured array's bounds ends a user's function instead of reading foreign memory",
        "numba-cuda, CUDATargetContext.enable_boundscheck: always False, though what it switches is there",
    ),
    "ufuncs": Patch(
        *_NUMBA_CUDA,
        "np.sqrt, np.exp and others in functions of a user, which fail to compile without",
        "numba-cuda, ufunc_db: types NumPy functions for which it has no code",
    ),
    "extremes": Patch(
        "numba-cuda", (0, 30), None,
        "min and max of NaN as in Python and on the CPU; given by lower_builtin, which numba-cuda documents",
        "numba-cuda, cudaimpl: lowers min and max to libdevice's, which pass over a NaN",
    ),
    "cupy": Patch(
        "cupy", (14, 0), (15,),
        "a first call that needs fifty of CuPy's own kernels takes 5 s less where they are in a package",
        "CuPy, compiler._compile_module_with_cache: looks in one folder of the user's, by a key that loads NVRTC",
    ),
    "headers": Patch(
        "cupy", (14, 0), (15,),
        "half of the 75 ms that each of CuPy's own kernels takes to compile, of which a first call may need fifty",
        "CuPy, compiler._use_pch: has NVRTC precompile CuPy's headers only where CUPY_NVRTC_USE_PCH asks for it",
    ),
    "special": Patch(
        "cupy", (14, 0), (15,),
        "0.13 to 0.19 s of a process's first operation of an array with a number (an H200's host)",
        "CuPy, ndarray.__array_ufunc__: imports cupyx.scipy.special, and with it scipy.sparse, unasked",
    ),
    "CS2R": Patch(
        "NVRTC or nvJitLink", (13, 0), (13, 4),
        "right sums: of rows of one entry a few in a hundred came out 0, other ones in each run",
        "CUDA's compiler for sm_90: what CS2R clears may be read a cycle too early behind a predicated write",
    ),
}  # fmt: skip


def applies(name: str) -> bool:
    """Whether a patch is for the version that is installed."""
    return PATCHES[name].is_for(_installed(PATCHES[name].distribution))


@functools.cache
def _installed(distribution: str) -> tuple[int, ...]:
    try:
        version = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    usual = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, usual)


# Numba: types of calls, which it resolves repeatedly while it compiles.


def quick_lookups() -> AbstractContextManager[None]:
    """Context manager: the types of calls in code compiled inside the block are resolved once."""
    if not applies("calls"):
        return nullcontext()
    from numba.core.types import BaseFunction

    return _replaced(BaseFunction, "get_call_type", found_once())


_MAX_CALLS = 1 << 14


@functools.cache
def found_once() -> Callable[..., Any]:
    """Memoized ``BaseFunction.get_call_type``: the resolution of a call of a Numba function for argument types."""
    from numba.core.registry import cpu_target
    from numba.core.targetconfig import ConfigStack
    from numba.core.types import BaseFunction

    search = BaseFunction.get_call_type
    # By identities of function and types: the signature, the key of its implementation, and the objects themselves, so
    # that no identity is reused.
    calls: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    # All options under which calls were compiled.
    options: list[dict[str, Any]] = []

    def options_number() -> int:
        """The number of the options of the current compilation among all so far."""
        flags = ConfigStack.top_or_none()
        values = {} if flags is None else flags._values
        for number, known in enumerate(options):
            if known == values:
                return number
        options.append(dict(values))
        return len(options) - 1

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or context is not cpu_target.typing_context:
            return search(function, context, args, kws)
        key = id(function), options_number(), *map(id, args)
        entry = calls.get(key)
        if entry is None:
            signature = search(function, context, args, kws)
            if len(calls) == _MAX_CALLS:
                calls.clear()
            entry = calls[key] = signature, function.get_impl_key(signature), function, args
        # Another call of the same function may have left another implementation here.
        function._impl_keys[entry[0].args] = entry[1]
        return entry[0]

    return get_call_type


@contextlib.contextmanager
def quick_analyses() -> Iterator[None]:
    """Context manager: memoizes Numba's repeated analyses of code compiled inside the block; LLVM is not timed."""
    with contextlib.ExitStack() as stack:
        for owner, name, value in _memoized() if applies("analyses") else ():
            stack.enter_context(_replaced(owner, name, value))
        yield


@functools.cache
def _memoized() -> list[tuple[Any, str, Callable[..., Any]]]:
    from numba.core import base, event, ir, typing

    plain = frozenset((str, int, float, bool, type(None), ir.Loc, type(len)))
    size, sizes = base.BaseContext.get_abi_sizeof, {}

    def variables(statement: Any, part: Any) -> list[Any]:
        if isinstance(part, ir.Inst):
            return part.list_vars()  # type: ignore[no-any-return]
        if not isinstance(part, dict | list | tuple):
            return [part] if isinstance(part, ir.Var) else []
        results = []
        for each in part.values() if isinstance(part, dict) else part:
            if type(each) not in plain:
                results += [each] if type(each) is ir.Var else variables(statement, each)
        return results

    def size_of(context: Any, kind: Any) -> int:
        key = context.target_data, str(kind)
        if key not in sizes:
            sizes[key] = size(context, kind)
        return sizes[key]

    def unless_of_llvm(send: Callable[..., None]) -> Callable[..., None]:
        return lambda kind, *about, **more: None if kind == "numba:llvm_lock" else send(kind, *about, **more)

    def unless_known(refresh: Callable[[Any], None]) -> Callable[[Any], None]:
        # Registries only grow: one with the same length as at the last refresh has no new entries.
        results_by_key: WeakKeyDictionary[Any, list[int]] = WeakKeyDictionary()

        def counts(context: Any) -> list[int]:
            lists = (each for registry in context._registries for each in vars(registry).values())
            return [len(each) for each in lists if isinstance(each, list)]

        def quick_refresh(context: Any) -> None:
            if results_by_key.get(context) != counts(context):
                refresh(context)
                results_by_key[context] = counts(context)

        return quick_refresh

    contexts = [(owner, "refresh", unless_known(owner.refresh)) for owner in (base.BaseContext, typing.BaseContext)]
    quiet = [(event, name, unless_of_llvm(getattr(event, name))) for name in ("start_event", "end_event")]
    location = base, "_has_loc", functools.cache(base._has_loc)
    targets = (ir.Inst, "_rec_list_vars", variables), (base.BaseContext, "get_abi_sizeof", size_of), location
    return [*targets, *contexts, *quiet]


# Numba: machine code for kernels alone, imports, threads.


def libraries(codegen: Any, kind: type) -> AbstractContextManager[None]:
    """Context manager: code compiled or loaded inside the block is of this kind, Numba's own functions too.

    ``kind``: a class of `hpgraph.semiring.code_library` for code that only other code calls; Numba's own, inside such a
    block, for a cached kernel that Python calls as well.
    """
    return _replaced(codegen, "_library_class", kind) if applies("libraries") else nullcontext()


def import_array_functions() -> None:
    """Import Numba's array functions without SciPy's linear algebra, which functions that need it import themselves."""
    if applies("blas"):
        from numba.np import linalg

        with _replaced(linalg, "ensure_blas", lambda: None):
            importlib.import_module("numba.np.arraymath")


def replace_parallel_for(make: Callable[[int], int]) -> None:
    """Make kernels linked from now on use the ``numba_parallel_for`` that `make` returns for Numba's address."""
    if applies("threads"):
        from llvmlite import binding

        name = "numba_parallel_for"
        binding.add_symbol(name, make(binding.address_of_symbol(name)))


# numba-cuda.

_ONE_ARCHITECTURE = threading.RLock()


@contextlib.contextmanager
def for_architecture(arch: tuple[int, int]) -> Iterator[None]:
    """Context manager, one thread at a time: numba-cuda's Python implementations are compiled for an architecture."""
    if not applies("architecture"):
        yield
        return
    from numba.cuda import dispatcher

    device = SimpleNamespace(compute_capability=arch)
    with _ONE_ARCHITECTURE, _replaced(dispatcher, "get_current_device", lambda: device):
        yield


def checking_bounds(checks: bool) -> AbstractContextManager[None]:
    """Context manager inside `for_architecture`: functions compiled inside the block check indices of arrays."""
    if not checks or not applies("bounds"):
        return nullcontext()
    from numba.cuda.target import CUDATargetContext

    return _replaced(CUDATargetContext, "enable_boundscheck", True)


@functools.cache
def complete_numba_cuda() -> None:
    """Give numba-cuda the NumPy functions that it has no code for, and min and max Python's meaning."""
    if applies("ufuncs"):
        _complete_ufuncs()
    if applies("extremes"):
        _compare_as_python(min, "<")
        _compare_as_python(max, ">")


def _complete_ufuncs() -> None:
    from numba.cuda.mathimpl import get_unary_impl_for_fn_and_ty
    from numba.cuda.np.ufunc_db import get_ufunc_info, get_ufuncs
    from numba.cuda.ufuncs import ufunc_db

    def loop(function: Any) -> Any:
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return get_unary_impl_for_fn_and_ty(function, sig.args[0])(context, builder, sig, args)

        return lower

    known = ufunc_db()
    for name in ("sqrt", "exp", "exp2", "expm1", "log1p", "floor", "ceil", "trunc", "fabs"):
        lower = loop(getattr(math, name))
        known.setdefault(getattr(np, name), {"f->f": lower, "d->d": lower})
    for ufunc in get_ufuncs():  # most of Numba's CPU loops are plain arithmetic
        known.setdefault(ufunc, get_ufunc_info(ufunc))


def _compare_as_python(extreme: Any, comparison: str) -> None:
    """The first of two floats, unless the second compares beyond it: a NaN in first place stays."""
    from numba import types
    from numba.cuda.extending import lower_builtin

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        first, second = (
            context.cast(builder, value, kind, sig.return_type) for value, kind in zip(args, sig.args, strict=True)
        )
        return builder.select(builder.fcmp_ordered(comparison, second, first), second, first)

    for first in (types.float32, types.float64):
        for second in (types.float32, types.float64):
            lower_builtin(extreme, first, second)(lower)


# CuPy, of whose distribution the name contains the CUDA version.


def replace_cupys_compiler(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Make CuPy compile its own kernels by the function that `make` returns for CuPy's."""
    import cupy
    from cupy.cuda import compiler

    if PATCHES["cupy"].is_for(_release(cupy)):
        compiler._compile_module_with_cache = make(compiler._compile_module_with_cache)


def precompile_cupys_headers() -> None:
    """Make NVRTC precompile CuPy's headers, unless ``CUPY_NVRTC_USE_PCH`` is set."""
    import cupy
    from cupy.cuda import compiler

    if PATCHES["headers"].is_for(_release(cupy)) and "CUPY_NVRTC_USE_PCH" not in os.environ:
        compiler._use_pch = True


def defer_special_functions() -> None:
    """Make ``import cupyx.scipy.special`` lazy, until one of its functions is first read."""
    import cupy

    name, top = "cupyx.scipy.special", sys.modules.get("cupyx")
    # CuPy's own laziness ends when Python's import statement reads the specification of a package above.
    if not PATCHES["special"].is_for(_release(cupy)) or type(top).__name__ != "_LazyModule":
        return
    folder = Path(cupy.__file__).parent.parent.joinpath(*name.split("."))
    file, inside = folder / "__init__.py", [os.fspath(folder)]
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    assert spec is not None
    special = importlib.util.module_from_spec(spec)
    for module in (top, special):
        object.__setattr__(module, "__class__", _Deferred)
        module.__spec__.loader_state = _WAITING  # type: ignore[union-attr]
    sys.modules[name] = special


_WAITING = "waiting"


class _Deferred(ModuleType):
    """A module that is executed on the first access to a missing attribute."""

    _executing = threading.RLock()

    def __getattr__(self, attribute: str) -> Any:
        with _Deferred._executing:
            spec: Any = self.__spec__
            # During execution, attributes defined later are missing.
            if spec.loader_state == _WAITING:
                spec.loader_state = None
                spec.loader.exec_module(self)
                object.__setattr__(self, "__class__", ModuleType)
        return getattr(self, attribute) if type(self) is ModuleType else object.__getattribute__(self, attribute)


def _release(cupy: ModuleType) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", cupy.__version__)[:2])
