"""Write a file completely or not at all: a temporary file beside it replaces it at the very end."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file in system errors that do not name it, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file for writing that appears at `path` when the block ends without an error.

    Until then, and after an error or Ctrl-C, what was at `path` is untouched, and nothing else is left behind.
    The file has the permissions of the one that it replaces, or those that the umask asks for. A symbolic
    link stays, and the file that it points to is replaced. A pipe or a device (``/dev/stdout``) cannot be replaced
    and is written to directly.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise IsADirectoryError(errno.EISDIR, "Is a directory; give the name of a file", os.fspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "No such directory; create it first", folder)
    before = os.stat(path) if os.path.exists(path) else None  # the target of /dev/stdout may have no name
    if before is not None and not stat.S_ISREG(before.st_mode):
        with naming(path), open(path, "wb") as file:
            yield file
        return
    # In the same folder, since only there is a rename atomic. The kernel applies the umask to 0o666.
    temporary = os.path.join(folder, f".fewvars-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with naming(path), os.fdopen(descriptor, "wb") as file:
            if before is not None:
                os.chmod(temporary, stat.S_IMODE(before.st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write bytes, or text as UTF-8, to a file that is complete or unchanged; see `atomic_file`."""
    data = content.encode() if isinstance(content, str) else content
    with atomic_file(path) as file:
        file.write(data)


def _sync_folder(folder: str) -> None:
    """Make the new name last through a power cut, where the system lets a folder be opened and synced."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
