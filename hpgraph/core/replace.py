"""Atomic replacement of a file: written beside its place, flushed, then renamed.

The former file stays until the new file is complete, whatever fails: a full disk, a limit, a signal. A process that is
killed leaves ``.NAME.XXXXXXXX.tmp`` beside it and nothing else.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO

from hpgraph.core import platform

# Characters of a name kept in that of the temporary file, which may have 255 bytes.
_KEPT_OF_NAME = 40


@contextlib.contextmanager
def replacing(
    path: str | os.PathLike[str], through: Callable[[BinaryIO], AbstractContextManager[BinaryIO]] = nullcontext
) -> Iterator[BinaryIO]:
    """A file to write, which atomically replaces another if the block succeeds.

    A link is resolved; a path that is no regular file, such as a pipe, is written to directly. The new file has the
    permissions of the former one; `through` gives what is written to in its place.
    """
    check_writable(path)
    place = Path(os.path.realpath(path))
    try:
        former = place.stat()
    except FileNotFoundError:
        former = None
    if former is not None and not stat.S_ISREG(former.st_mode):
        with place.open("wb") as special, through(special) as target:
            yield target
        return
    beside = place.with_name(f".{place.name[:_KEPT_OF_NAME]}.{secrets.token_hex(4)}.tmp")
    file: BinaryIO | None = None
    try:
        # An interruption may come as soon as the file exists.
        file = open(beside, "xb")  # noqa: SIM115
        if former is not None:
            _take_after(file, former)
        with through(file) as target:
            yield target
        file.flush()
        os.fsync(file.fileno())
        file.close()
        platform.replace(beside, place)
    except BaseException as error:
        # Flushing the rest may fail too, for the same reason.
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()
        beside.unlink(missing_ok=True)
        if isinstance(error.__context__, KeyboardInterrupt):
            # zipfile cannot close an archive whose member was interrupted.
            raise error.__context__ from None
        if isinstance(error, OSError) and error.errno and error.filename in (None, os.fspath(beside)):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written at all, before the work for its content."""
    place, name = Path(os.path.realpath(path)), os.fspath(path)
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder, and a file is to be written", name)
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write to", name)
    if place.exists() and not _may_write(place):
        raise PermissionError(errno.EACCES, "the file is write-protected", name)
    if (place.is_file() or not place.exists()) and not _may_write(place.parent):
        raise PermissionError(errno.EACCES, "its folder is write-protected, and a file is first written beside", name)


def _may_write(path: Path) -> bool:
    needed = os.W_OK | (os.X_OK if path.is_dir() else 0)
    return os.access(path, needed, effective_ids=os.access in os.supports_effective_ids)


def _take_after(file: BinaryIO, former: os.stat_result) -> None:
    user = platform.user()
    if user is not None and (former.st_uid, former.st_gid) != (user, os.getegid()):
        # Only root can give files away; the group is kept if this process belongs to it.
        with contextlib.suppress(PermissionError):
            os.fchown(file.fileno(), former.st_uid if user == 0 else -1, former.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(file.fileno(), stat.S_IMODE(former.st_mode) & 0o777)
