"""Differences between operating systems, each with a portable fallback.

Linux has all of it; macOS lacks ``/proc`` and O_DIRECT; Windows has neither fork, nor owners of files, nor positioned
reads. No other module of the library depends on the system, except code generators that name a system's function.
"""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from hpgraph.core import forking

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]
try:
    import msvcrt
except ImportError:
    msvcrt = None  # type: ignore[assignment]

# Linux's directory of a process's open files.
_OPEN = "/proc/self/fd"
# Windows refuses to replace a file that another process has open; readers of the cache open it briefly.
_REPLACE_SECONDS, _POLL_INTERVAL = 1.0, 0.01
_position = threading.Lock()


def usable_cores(given: int | None = None) -> int:
    """`given`, or the cores this process may run on, which a container or taskset makes fewer than the machine has."""
    if given:
        return given
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = [("length", ctypes.c_uint32), ("load", ctypes.c_uint32), *((f"u{i}", ctypes.c_uint64) for i in range(7))]


def available_memory() -> int:
    """Bytes of memory available to programs; the total if only that is known: what can never fit is refused."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined]
    return int(status.u1)  # ullAvailPhys


def at_fork(**calls: Callable[[], Any]) -> None:
    """`hpgraph.core.forking.register`; nothing where no process forks."""
    if hasattr(os, "register_at_fork"):
        forking.register(**calls)


def is_thread(native_id: int) -> bool:
    """Whether a thread of this process with an id of the system has not ended; False where that is unknown."""
    return os.path.exists(f"/proc/self/task/{native_id}")


def openmp_ends_in_child() -> bool:
    """Whether Numba's OpenMP is GNU's, which ends a forked child that calls it."""
    return sys.platform == "linux"


def tbb_library() -> str:
    """File name of oneTBB's shared library."""
    return {"win32": "tbb12.dll", "darwin": "libtbb.12.dylib"}.get(sys.platform, "libtbb.so.12")


def cuda_driver() -> Any:
    """The library of NVIDIA's driver; None if it is not installed."""
    try:
        return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None


def signal_setter() -> Any:
    """CPython's ``PyOS_setsig(signal, handler) -> former handler``, addresses all; None where Python exports none."""
    setter = getattr(ctypes.pythonapi, "PyOS_setsig", None)
    if setter is not None:
        setter.argtypes, setter.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    return setter


def thread_pointer() -> tuple[ctypes.c_int64, Any, Any]:
    """A pointer of which every thread has its own: its key, and the system's ``get(key)`` and ``set(key, address)``."""
    key = ctypes.c_int64(0)
    if sys.platform == "win32":
        system = ctypes.WinDLL("kernel32")
        get, give, key.value = system.TlsGetValue, system.TlsSetValue, system.TlsAlloc()
    else:
        system = ctypes.CDLL(None)
        get, give = system.pthread_getspecific, system.pthread_setspecific
        system.pthread_key_create(ctypes.byref(key), None)
    give.argtypes = [ctypes.c_int64, ctypes.c_void_p]
    return key, get, give


def user() -> int | None:
    """Number of the user whose rights this process has; None where files have no such owner."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def create(path: os.PathLike[str], mode: int) -> int:
    """Descriptor of a new file to write bytes to; an error if there is one."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)


def open_itself(path: str, flags: int) -> int:
    """Opener that refuses symbolic links and does not block on pipes, if the system has these flags."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def replace(beside: os.PathLike[str], place: os.PathLike[str]) -> None:
    """`os.replace`, retried for a second where a file that is open cannot be replaced."""
    deadline = time.monotonic() + _REPLACE_SECONDS
    while True:
        try:
            return os.replace(beside, place)
        except PermissionError:
            if sys.platform != "win32" or time.monotonic() > deadline:
                raise
            time.sleep(_POLL_INTERVAL)


def try_lock(descriptor: int) -> bool:
    """Lock a file for this process until it is closed; whether that succeeded, always on systems without locks."""
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif msvcrt is not None:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except (BlockingIOError, PermissionError):
        return False
    return True


def open_direct(descriptor: int) -> int | None:
    """Open the same open file past the page cache, even if its name now refers to another; None if that cannot be."""
    if not hasattr(os, "O_DIRECT") or not os.path.isdir(_OPEN):
        return None
    try:
        return os.open(f"{_OPEN}/{descriptor}", os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECT)
    except OSError:
        return None


def read_at(descriptor: int, into: memoryview, at: int) -> int:
    """Read from a place in a file, in any thread; the number of bytes read, 0 at its end."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [into], at)
    with _position:
        os.lseek(descriptor, at, os.SEEK_SET)
        chunk = os.read(descriptor, len(into))
    into[: len(chunk)] = chunk
    return len(chunk)
