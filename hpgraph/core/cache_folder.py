"""The folder of compiled code, and its files: owned by this user and complete, or not used.

Cached code is executed (Numba's files are pickles, which run code on loading), so a folder that others own or can write
is neither read nor written. The owner of each file is checked once it is open, and it begins with the digest of its
content: a truncated, emptied or overwritten file is ignored.
"""

import atexit
import functools
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
import warnings
from pathlib import Path

from hpgraph.core import platform

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_DIGEST = 65  # bytes: hexadecimal SHA-256 and the end of the line

_refused: set[str] = set()


def user_folder() -> Path:
    """The folder of this user unless another is chosen: ``$XDG_CACHE_HOME/hpgraph`` or ``~/.cache/hpgraph``."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification excludes relative paths.
    return Path(base) / "hpgraph" if os.path.isabs(base) else Path.home() / ".cache" / "hpgraph"


def temporary_folder() -> Path:
    """A folder for this user under the system's temporary one."""
    number = platform.user()
    user = os.environ.get("USERNAME", "user") if number is None else number
    return Path(tempfile.gettempdir()) / f"hpgraph-{user}"


@functools.cache
def process_folder() -> Path:
    """A new folder for this process alone, removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="hpgraph-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, process: int) -> None:
    # A forked child must not remove the folder, which its parent still uses.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def first_usable(*folders: Path) -> Path:
    """The first of some folders that is private to this user and writable; else `process_folder`."""
    return next((folder for folder in folders if _usable(folder)), None) or process_folder()


def subfolder(folder: Path, *names: str) -> Path:
    """A folder inside a usable one, under the same conditions all the way down; else the same in `process_folder`."""
    inside = folder
    for name in names:
        inside = inside / name
        if not _usable(inside):
            return subfolder(process_folder(), *names)
    return inside


def _usable(folder: Path) -> bool:
    folder = Path(os.path.abspath(folder))
    try:
        for missing in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        danger = _reason_unsafe(folder)
    except OSError:
        return False
    if danger is None:
        return os.access(folder, os.R_OK | os.W_OK | os.X_OK)
    if os.fspath(folder) not in _refused:
        _refused.add(os.fspath(folder))
        warnings.warn(
            f"no compiled code is read from or kept in {folder}: {danger}, so code found there may not be yours. "
            f"Empty that folder and make it private (chmod 700), or name another one by HPGRAPH_CACHE_DIR",
            RuntimeWarning,
            stacklevel=4,
        )
    return False


def _reason_unsafe(folder: Path) -> str | None:
    """The reason why other users could write to a folder or replace it; None if they cannot."""
    user = platform.user()
    if user is None:
        return None
    for place in {folder, Path(os.path.realpath(folder))}:
        status = place.lstat()
        if status.st_uid != user:
            return f"{place} belongs to user {status.st_uid} and you are user {user}"
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & _OTHERS_WRITE:
        return f"{'every user' if mode & stat.S_IWOTH else 'its group'} may write there (mode {mode:o})"
    for above in Path(os.path.realpath(folder)).parents:
        mode = stat.S_IMODE(above.stat().st_mode)
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            return f"every user may rename what lies in {above} (mode {mode:o})"
    return None


def read(path: Path, installed: bool = False) -> bytes | None:
    """Content of a regular file that only this user can write (``installed``: not all users); None otherwise."""
    try:
        # Opened so that a named pipe does not block, and owner and mode are the file's own, not a link target's.
        with open(path, "rb", opener=platform.open_itself) as file:
            status = os.fstat(file.fileno())
            return file.read() if _is_ours(status, installed) else None
    except OSError:
        return None


def _is_ours(status: os.stat_result, installed: bool) -> bool:
    if not stat.S_ISREG(status.st_mode):
        return False
    if installed:
        return not status.st_mode & stat.S_IWOTH
    user = platform.user()
    return user is None or (status.st_uid == user and not status.st_mode & _OTHERS_WRITE)


def write(path: Path, content: bytes) -> None:
    """Replace a file atomically: concurrent readers find the former one, or none."""
    beside = path.with_name(f".writing-{secrets.token_hex(8)}")
    try:
        with os.fdopen(platform.create(beside, 0o600), "wb") as file:
            file.write(content)
        platform.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_sealed(path: Path, installed: bool = False) -> bytes | None:
    """Content written by `write_sealed`; None as for `read`, or if its digest does not match."""
    sealed = read(path, installed)
    if sealed is None:
        return None
    content = sealed[_DIGEST:]
    return content if sealed[:_DIGEST] == _seal(content) else None


def write_sealed(path: Path, content: bytes) -> None:
    """As `write`, after a digest of the content, which `read_sealed` checks."""
    write(path, _seal(content) + content)


def _seal(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode() + b"\n"
