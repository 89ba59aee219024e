"""A disk that is soon full: a tmpfs that only this process sees, and that is gone with it."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

PAGE = 4096

_NEW_NAMESPACE, _NEW_USER = 0x00020000, 0x10000000
_PRIVATE_RECURSIVELY = 0x44000


class NoMount(Exception):
    """This machine does not let us mount anything."""


def mount_small_disk(folder: Path, pages: int) -> None:
    """From now on this process, which has one thread, sees an empty disk of so many pages at `folder`.

    Raises NoMount where the machine forbids it: it needs root, or user namespaces.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if user and libc.unshare(_NEW_USER | _NEW_NAMESPACE):
        raise NoMount(os.strerror(ctypes.get_errno()))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    elif libc.unshare(_NEW_NAMESPACE) or libc.mount(b"none", b"/", None, _PRIVATE_RECURSIVELY, None):
        raise NoMount(os.strerror(ctypes.get_errno()))
    if libc.mount(b"tmpfs", bytes(folder), b"tmpfs", 0, f"size={pages * PAGE}".encode()):
        raise NoMount(os.strerror(ctypes.get_errno()))


def fill(folder: Path, *, free: int) -> Path:
    """Leave so many pages free; gives the file to remove to have space again."""
    status = os.statvfs(folder)
    filler = folder / "filler"
    with filler.open("wb") as file:
        file.write(bytes((status.f_bavail * status.f_frsize // PAGE - free) * PAGE))
    return filler
