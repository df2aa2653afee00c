"""Arrays on either device: their location, array modules, memory, reductions and prefix sums.

CuPy is imported only when a CUDA array or the CUDA device is used: what names `cupy` from here names a module that is
imported when one of its attributes is first read.

CuPy implements ``any``, ``all``, ``count_nonzero``, ``mean`` and sums into a wider type by CUB's templates, which NVRTC
compiles anew for each: 1.5 to 3 s twice over, on an H200's host. Without CUB its kernel for a single number is one
block, which reads 27 GB/s. Sums and maxima in the type of an array need neither: their kernels are in CuPy's libraries.
So reductions convert arrays to such a type first, in blocks.
"""

import ctypes
import functools
import importlib
import numbers
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType, NoneType
from typing import Any, Literal, TypeAlias

import numpy as np

from hpgraph.core.config import config
from hpgraph.core.cupy_kernels import compile_for_cupy
from hpgraph.core.errors import DeviceError, DeviceMemoryError, MissingExtraError
from hpgraph.core.locks import Lock
from hpgraph.core.patches import defer_special_functions, precompile_cupys_headers
from hpgraph.core.platform import available_memory, cuda_driver
from hpgraph.core.ready_kernels import ready_folder, serve_cupy

Device = Literal["cpu", "cuda"]
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""An array of NumPy's or, on the GPU, of CuPy's, which has the same methods; to type checkers it is NumPy's."""


class _Lazy:
    """A proxy of a module, which is imported when an attribute is first read."""

    __slots__ = ("__dict__", "_name")

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            module = importlib.import_module(self._name)
        except ModuleNotFoundError:
            # Tools that inspect modules, such as doctest, read such attributes of every name.
            if attribute.startswith("__"):
                raise AttributeError(attribute) from None
            raise
        self.__dict__ = module.__dict__
        return getattr(module, attribute)


cupy: Any = _Lazy("cupy")
_importing = Lock()

# Elements converted at a time on CUDA: 128 MB in float64, enough to occupy a GPU.
_STRETCH = 1 << 24
# Below this many bytes free memory is not queried: the query takes longer than the work.
_LITTLE = 1 << 20

# DLPack's device types that NumPy reads: kDLCPU and kDLCUDAHost.
_DLPACK_HOST = (1, 3)
_NAMES: dict[str, Device] = {"cpu": "cpu", "cuda": "cuda", "gpu": "cuda"}


def normalize_device(device: str) -> Device:
    """The canonical name of a device."""
    name = _NAMES.get(device.lower()) if isinstance(device, str) else None
    if name is None:
        raise ValueError(f'device must be "cpu" or "cuda", not {device!r}')
    return name


def is_cuda(array: object) -> bool:
    """Whether an array (or a CuPy sparse matrix) lies in GPU memory; never imports CuPy."""
    # mypy takes object's own __hash__ for that of its type.
    return _place(type(array)) == "cuda"  # type: ignore[arg-type]


@functools.cache
def _place(kind: type) -> Device | None:
    """The device of a class's objects; None for scalars and None."""
    if kind is NoneType or kind in np.ScalarType or issubclass(kind, (np.generic, numbers.Number)):
        return None
    return "cuda" if any(base.__module__.partition(".")[0] in ("cupy", "cupyx") for base in kind.__mro__) else "cpu"


def device_of(*arrays: object) -> Device:
    """The device that holds all of the arrays."""
    places = {_place(type(array)) for array in arrays}  # type: ignore[arg-type]
    if "cuda" in places and "cpu" in places:
        raise TypeError(
            "arrays on the CPU and on the GPU cannot be mixed in one call: move them to one device first, "
            'with .to("cuda") or cupy.asarray(array), or with .to("cpu") or cupy.asnumpy(array)'
        )
    return "cuda" if "cuda" in places else "cpu"


def require_cupy() -> ModuleType:
    """The module cupy, if it has a usable GPU."""
    starting = None
    if "cupy" not in sys.modules and (driver := cuda_driver()) is not None:
        # The driver takes as long to initialize as CuPy to import; `_require_gpu` reports its errors.
        starting = threading.Thread(target=driver.cuInit, args=(0,), daemon=True)
        starting.start()
    try:
        import cupy as installed
    except ImportError:
        if not _has_driver():
            # Without a driver, CuPy cannot work.
            raise DeviceError(
                'there is neither a CUDA GPU nor its driver: check nvidia-smi, or use device="cpu"'
            ) from None
        raise MissingExtraError("CuPy", cuda_extra(), "the CUDA device") from None
    if starting is not None:
        # Where the main thread initializes it, too, a process under compute-sanitizer may crash as it ends.
        starting.join()
    _require_gpu()
    return installed


@functools.cache
def _require_gpu() -> None:
    """Raise if there is no usable GPU; a positive answer is cached."""
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(f'no usable CUDA GPU ({error}): check nvidia-smi, or use device="cpu"') from None
    if count == 0:
        raise DeviceError('no CUDA GPU is visible: check CUDA_VISIBLE_DEVICES, or use device="cpu"')
    defer_special_functions()
    precompile_cupys_headers()
    folder = ready_folder(cuda_extra())
    if folder is not None:
        serve_cupy(folder)
    else:
        compile_for_cupy()


def cuda_core() -> ModuleType:
    """The module cuda.core, which compiles CUDA C++; numba-cuda imports it too."""
    # Releases as of 1.2 replace the module's own __spec__ while they are imported, so that Python does not let a second
    # thread wait: it would get a module without Program.
    with _importing:
        try:
            import cuda.core as core

            if not hasattr(core, "Program"):
                # Releases before 1.0 kept everything in a module of its own.
                import cuda.core.experimental as core
        except ImportError:
            raise MissingExtraError("cuda-core", "cuda13", "compiling for the GPU") from None
    return core


def cuda_available() -> bool:
    """Whether CuPy is installed and sees a GPU."""
    try:
        require_cupy()
    except (MissingExtraError, DeviceError):
        return False
    return True


def array_module(device_or_array: object) -> ModuleType:
    """NumPy for the CPU, CuPy for CUDA."""
    if isinstance(device_or_array, str):
        device = _NAMES.get(device_or_array) or normalize_device(device_or_array)
    else:
        device = device_of(device_or_array)
    return require_cupy() if device == "cuda" else np


def to_device(array: Any, device: str) -> Any:
    """The array on the device, the same object where it lies there already; moving to the CPU waits for the GPU."""
    if device not in ("cpu", "cuda"):
        device = normalize_device(device)
    if array is None:
        return None
    if device == "cuda":
        return require_cupy().asarray(array)
    return array.get() if is_cuda(array) else np.asarray(array)


def native(array: Any) -> Any:
    """An array of another library, such as PyTorch, as a NumPy or CuPy array over the same memory.

    By its array interface or else by DLPack; objects with neither are returned unchanged.
    """
    if isinstance(array, np.ndarray | np.generic) or is_cuda(array):
        return array
    if hasattr(array, "__cuda_array_interface__"):
        return require_cupy().asarray(array)
    if not hasattr(array, "__array__"):
        return by_dlpack(array) if hasattr(array, "__dlpack__") else array
    if getattr(array, "requires_grad", False):
        raise TypeError("a tensor here must require no gradients, which hpgraph.torch alone computes: give x.detach()")
    try:
        return np.asarray(array)
    except TypeError:
        raise TypeError(
            f"{getattr(array, 'dtype', type(array).__name__)} is no type of NumPy: give x.float(), or its bits as "
            "x.view(torch.int16)"
        ) from None


def by_dlpack(array: Any) -> Any:
    """An array in NumPy, or in CuPy where it lies on a GPU."""
    kind, _ = array.__dlpack_device__()
    return (np if kind in _DLPACK_HOST else require_cupy()).from_dlpack(array)


def is_sparse_matrix(x: object) -> bool:
    """Whether it is a sparse matrix of SciPy, CuPy or this library; one-dimensional sparse arrays are vectors."""
    return hasattr(x, "tocsr") and getattr(x, "ndim", 2) == 2


def is_masked(array: object) -> bool:
    """Whether it is an array of ``numpy.ma``, with or without masked elements."""
    # NumPy imports numpy.ma on first access, which plain arrays do not need.
    return isinstance(array, np.ndarray) and type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray)


def unmasked(array: Any, name: str) -> Any:
    """An array without masked elements; objects that are no masked arrays are returned unchanged."""
    if not is_masked(array):
        return array
    if np.ma.is_masked(array):
        raise TypeError(
            f"{name} is a masked array, whose masked elements would count here: fill them by {name}.filled(value), or "
            f"leave them out by {name}.compressed(); hpg.Vector and hpg.Matrix take masked elements for absent"
        )
    return array.data


def free_memory(device: str) -> int:
    """Bytes that a new array on the device could take now."""
    if normalize_device(device) == "cuda":
        require_cupy()
        free, _ = cupy.cuda.runtime.memGetInfo()
        return int(free) + int(cupy.get_default_memory_pool().free_bytes())
    return available_memory()


def check_memory(nbytes: int, what: str, device: str) -> None:
    """Raise, before anything is allocated, if a peak of `nbytes` does not fit the free memory."""
    if not fits(nbytes, device):
        raise DeviceMemoryError(what, int(nbytes), free_memory(device), normalize_device(device))


def fits(nbytes: int, device: str) -> bool:
    """Whether `nbytes` of memory are free."""
    return nbytes < _LITTLE or _lies_in_pool(nbytes, device) or nbytes <= free_memory(device)


def _lies_in_pool(nbytes: int, device: str) -> bool:
    """Whether CuPy's pool has that many free bytes; a query of the driver takes longer than many kernels."""
    return device == "cuda" and nbytes <= require_cupy().get_default_memory_pool().free_bytes()


def sources_within(most: int, nbytes: Callable[[int], int], device: str, beside: int = 0) -> int:
    """Number of searches, at most `most`, whose work space of `nbytes`, `beside` results, fits the memory share."""
    if nbytes(most) + beside < _LITTLE:
        return most
    known = device, config.memory_share
    # The last call's memory is usually in the pool again.
    if nbytes(most) <= _granted.get(known, 0) and _lies_in_pool(nbytes(most) + beside, device):
        return most
    budget = (free_memory(device) - beside) * config.memory_share
    while most > 1 and nbytes(most) > budget:
        most = -(-most // 2)
    _granted[known] = max(_granted.get(known, 0), nbytes(most))
    return most


# The largest work space that a share of a device's memory held so far.
_granted: dict[tuple[str, float], int] = {}


@functools.cache
def _has_driver() -> bool:
    """Whether the driver of CUDA can be loaded and finds a GPU."""
    driver, count = cuda_driver(), ctypes.c_int(0)
    answers = driver is not None and driver.cuInit(0) == 0
    return answers and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def cuda_extra() -> str:
    """The extra that fits the installed driver: cuda12 only where the driver is too old for CUDA 13."""
    driver, version = cuda_driver(), ctypes.c_int(0)
    known = driver is not None and driver.cuDriverGetVersion(ctypes.byref(version)) == 0
    return "cuda12" if known and version.value < 13_000 else "cuda13"


def anywhere(mask: Any) -> bool:
    """Whether any element is true; waits for the GPU."""
    if not mask.size:
        return False
    return bool(mask.view(np.uint8).max()) if is_cuda(mask) else bool(mask.any())


def everywhere(mask: Any) -> bool:
    """Whether all elements of a mask are true; waits for the GPU."""
    if not mask.size:
        return True
    return bool(mask.view(np.uint8).min()) if is_cuda(mask) else bool(mask.all())


def first_true(mask: Any) -> int:
    """Index of the first true element, 0 if there is none; waits for the GPU."""
    return int((mask.view(np.uint8) if is_cuda(mask) else mask).argmax())


def count(mask: Any) -> int:
    """Number of true elements; waits for the GPU."""
    return int(total(mask, np.int64)) if is_cuda(mask) else int(np.count_nonzero(mask))


def total(array: Any, dtype: Any) -> Any:
    """The sum of all elements, in a type that may be wider than theirs; waits for the GPU."""
    wide = np.dtype(dtype)
    if not is_cuda(array):
        return array.sum(dtype=wide)
    if array.dtype == wide:
        return wide.type(array.sum().item())
    parts = [array[start : start + _STRETCH].astype(wide).sum() for start in range(0, array.size, _STRETCH)]
    # All reductions are launched before the first result is awaited.
    return np.array([part.item() for part in parts], wide).sum()


def prefix_sum(lengths: Any) -> Any:
    """Exclusive prefix sum, with the total at the end: the `indptr` of rows of these lengths, on their device."""
    xp = array_module(lengths)
    with lengths.device if is_cuda(lengths) else nullcontext():
        offsets = xp.zeros(len(lengths) + 1, np.int64)
        xp.cumsum(lengths, out=offsets[1:])
    return offsets
