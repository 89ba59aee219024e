"""Local folders for copies, which outlive no process for long: what a killed one leaves, the next one removes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

_PREFIX = "sitemap-ops-copies-"
_OWNER = ".owner"


class LocalCopies:
    """A folder in the system's temporary one. Its process holds a lock in it, which ends with the process."""

    def __init__(self) -> None:
        _remove_orphans(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # It gets its name when it is locked: nobody takes it for an orphan's.
        unlocked = self.folder / f"{_OWNER}-to-be"
        self._lock: IO[str] = unlocked.open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unlocked.rename(self.folder / _OWNER)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.close()


def _remove_orphans(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another user's, or just removed
            if not folder.is_symlink() and folder.stat().st_uid == os.geteuid():
                _remove_unless_owned(folder)


def _remove_unless_owned(folder: Path) -> None:
    with (folder / _OWNER).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
