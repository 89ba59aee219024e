"""The folder store: whole files, conditions between processes, nothing outside the root."""

from __future__ import annotations

import gzip
import hashlib
import multiprocessing
import os
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from sitemap_ops.errors import ConflictError, TargetError, UsageError
from sitemap_ops.storage import OWN_PREFIX, Headers
from sitemap_ops.storage.folder import FolderStore

TEXT = Headers("text/plain; charset=utf-8")
GZIP = Headers("application/gzip")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "srv" / "sitemaps"


@pytest.fixture
def store(root: Path) -> FolderStore:
    return FolderStore(root)


def test_what_is_put_is_there_described(store: FolderStore) -> None:
    """head, get and put describe an object alike, but that get leaves the content's digest to who has the bytes now."""
    xml = b"<?xml?><urlset/>"
    body = gzip.compress(xml)
    put = store.put("a/b.xml.gz", body, GZIP)
    assert put == store.head("a/b.xml.gz")
    assert store.get("a/b.xml.gz") == (body, replace(put, sha256=None))
    assert put.sha256 == hashlib.sha256(xml).hexdigest()
    assert put.etag == hashlib.sha256(body).hexdigest()
    assert (put.size, put.headers) == (len(body), None)


def test_nothing_there(store: FolderStore) -> None:
    store.put("folder/file", b"x", TEXT)
    assert store.head("none") is store.head("folder") is store.head("folder/file/below") is None
    assert store.get("none") is store.get("folder") is store.get("folder/file/below") is None
    store.delete(["none", "folder", "folder/file/below"])
    assert [each.key for each in store.list()] == ["folder/file"]


def test_a_shorter_file_keeps_no_tail_of_the_longer_one(store: FolderStore, root: Path) -> None:
    """C-13: a file is replaced whole."""
    store.put("sitemap.xml", b"long" * 1000, TEXT)
    store.put("sitemap.xml", b"short", TEXT)
    assert (root / "sitemap.xml").read_bytes() == b"short"


def test_a_reader_of_the_old_file_is_not_disturbed(store: FolderStore, root: Path) -> None:
    """C-17: the old file stays what it was for who has it open: it is replaced, not written into."""
    store.put("k", b"old content", TEXT)
    with (root / "k").open("rb") as reader:
        store.put("k", b"new", TEXT)
        assert reader.read() == b"old content"


def test_files_can_be_read_by_the_web_server(store: FolderStore, root: Path, tmp_path: Path) -> None:
    """A temporary file's usual mode 0600 would make every sitemap answer 403."""
    store.put("put", b"x", TEXT)
    (tmp_path / "source").write_bytes(b"x")
    store.upload(tmp_path / "source", "upload", TEXT)
    umask = os.umask(0)
    os.umask(umask)
    assert {(root / name).stat().st_mode & 0o777 for name in ("put", "upload")} == {0o666 & ~umask}


def test_conditions(store: FolderStore) -> None:
    first = store.put("k", b"1", TEXT, if_none_match=True)
    with pytest.raises(ConflictError, match="changed by another run"):
        store.put("k", b"2", TEXT, if_none_match=True)
    second = store.put("k", b"2", TEXT, if_match=first.etag)
    with pytest.raises(ConflictError):
        store.put("k", b"3", TEXT, if_match=first.etag)
    with pytest.raises(ConflictError):
        store.put("gone", b"3", TEXT, if_match=first.etag)
    assert store.head("k") == second
    assert store.head("gone") is None


def test_the_etag_tells_what_the_content_does_not(store: FolderStore) -> None:
    """Other compressed bytes of the same content are another object to If-Match."""
    first = store.put("k.gz", gzip.compress(b"x" * 999, 1, mtime=0), GZIP)
    second = store.put("k.gz", gzip.compress(b"x" * 999, 1, mtime=1), GZIP)
    assert first.sha256 == second.sha256
    assert first.etag != second.etag


def _race(root: Path, number: int, etag: str | None, start: object) -> bool:
    start.wait()  # type: ignore[attr-defined]
    try:
        FolderStore(root).put("k", b"%d" % number, TEXT, if_match=etag, if_none_match=etag is None)
    except ConflictError:
        return False
    return True


@pytest.mark.parametrize("exists", [False, True], ids=["if_none_match", "if_match"])
def test_of_many_processes_one_wins(store: FolderStore, root: Path, exists: bool) -> None:
    """Conditions are atomic between processes: of 6 that write at once, exactly one succeeds, in each of 10 rounds."""
    fork = multiprocessing.get_context("fork")
    root.mkdir(parents=True)
    for _ in range(10):
        store.delete(["k"])
        etag = store.put("k", b"start", TEXT).etag if exists else None
        start = fork.Barrier(6)
        results = fork.Queue()
        racers = [
            fork.Process(target=lambda n=n: results.put((n, _race(root, n, etag, start))))  # noqa: B023
            for n in range(6)
        ]
        for racer in racers:
            racer.start()
        won = [number for number, result in (results.get(timeout=20) for _ in racers) if result]
        for racer in racers:
            racer.join()
        assert len(won) == 1
        assert (root / "k").read_bytes() == b"%d" % won[0]


@pytest.mark.parametrize("operation", ["put", "get", "head", "upload", "delete"])
@pytest.mark.parametrize("place", ["folder", "file"])
def test_symbolic_links_lead_nowhere_outside(
    store: FolderStore, root: Path, tmp_path: Path, operation: str, place: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    root.mkdir(parents=True)
    (root / "folder").symlink_to(outside)
    (root / "file").symlink_to(outside / "secret")
    key = "folder/secret" if place == "folder" else "file"
    calls = {
        "put": lambda: store.put(key, b"x", TEXT),
        "get": lambda: store.get(key),
        "head": lambda: store.head(key),
        "upload": lambda: store.upload(outside / "secret", key, TEXT),
        "delete": lambda: store.delete([key]),
    }
    with pytest.raises(UsageError, match="symbolic link"):
        calls[operation]()
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"secret": b"secret"}
    assert list(store.list()) == []


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    FolderStore(tmp_path / "link").put("k", b"x", TEXT)
    assert (tmp_path / "real" / "k").read_bytes() == b"x"


def test_own_files_are_neither_listed_nor_reachable(store: FolderStore, root: Path) -> None:
    store.put("k", b"x", TEXT, if_none_match=True)
    (root / ".sitemap-ops-left-by-a-crash").write_bytes(b"half")
    assert [each.key for each in store.list()] == ["k"]
    with pytest.raises(UsageError, match="can't be a key"):
        store.put(".sitemap-ops-lock", b"x", TEXT)


def test_list_is_in_the_order_of_keys(store: FolderStore) -> None:
    """As S3 lists: by the bytes of the whole key, where `/` is a letter like others."""
    keys = ["a-b", "a/b", "a/c/d", "a0", "ab/c", "B", "ü/x"]
    for key in keys:
        store.put(f"in/{key}", key.encode(), TEXT)
    store.put("out", b"", TEXT)
    assert [each.key for each in store.list()] == sorted([*(f"in/{key}" for key in keys), "out"])
    assert [(each.key, each.size) for each in store.list("in/a/")] == [("in/a/b", 3), ("in/a/c/d", 5)]
    assert [each.key for each in store.list("in/a")] == sorted(f"in/{key}" for key in keys if key.startswith("a"))
    assert list(FolderStore(Path("/nowhere/at/all")).list()) == []


def test_download_and_upload(store: FolderStore, tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(os.urandom(3_000_000))
    store.upload(source, "a/k", TEXT)
    store.download("a/k", copy)
    assert copy.read_bytes() == source.read_bytes()
    with pytest.raises(TargetError, match="/none to read"):
        store.download("none", copy)


def test_a_full_disk_is_a_sentence_and_leaves_no_temporary_file(root: Path) -> None:
    """A write that fails in the middle: the old file stays, the part is removed, the message names the path."""
    root.mkdir(parents=True)
    FolderStore(root).put("k", b"old", TEXT)
    code = (
        "import sys; from pathlib import Path; from sitemap_ops.storage import Headers;"
        "from sitemap_ops.storage.folder import FolderStore; from sitemap_ops.errors import TargetError\n"
        "try: FolderStore(Path(sys.argv[1])).put('k', bytes(1_000_000), Headers('text/plain'))\n"
        "except TargetError as error: print(error)"
    )
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)], capture_output=True, text=True, preexec_fn=limit, check=True
    )
    assert done.stdout.startswith(f"It was not possible to write {root / 'k'} (File too large):")
    assert (root / "k").read_bytes() == b"old"
    assert sorted(path.name for path in root.iterdir()) == [".sitemap-ops-lock", "k"]


def test_a_root_that_is_no_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(TargetError, match="check the folder"):
        FolderStore(tmp_path / "file").put("k", b"x", TEXT)


def _temporary(folder: Path, number: int, *, minutes: float) -> Path:
    """A temporary file as a killed run leaves it, of that age."""
    path = folder / f"{OWN_PREFIX}{number:032x}"
    path.write_bytes(b"half")
    then = time.time() - minutes * 60
    os.utime(path, (then, then))
    return path


def test_what_killed_runs_left_is_swept_away(store: FolderStore, root: Path) -> None:
    """Temporary files whose writer is gone, in sub-folders too, with the folders that they leave empty."""
    store.put("a/b.txt", b"x", TEXT)
    (root / "releases" / "one").mkdir(parents=True)
    old = [_temporary(root, 1, minutes=1.1), _temporary(root / "a", 2, minutes=60_000)]
    old.append(_temporary(root / "releases" / "one", 3, minutes=2))
    young = _temporary(root / "a", 4, minutes=0.5)
    assert store.sweep() == 3
    assert [path.exists() for path in (*old, young)] == [False, False, False, True]
    assert sorted(path.name for path in root.iterdir()) == [".sitemap-ops-lock", "a"]
    assert store.sweep() == 0


def test_a_slow_writers_file_is_not_swept_away(store: FolderStore, root: Path) -> None:
    """A write that takes long, of another process or thread, keeps its temporary file however old that is."""

    def sweep_meanwhile(*_: object) -> None:
        for part in root.glob(f"{OWN_PREFIX}{'[0-9a-f]' * 32}"):
            os.utime(part, (0, 0))
            swept.append(FolderStore(root).sweep())

    swept: list[int] = []
    with patch("os.fsync", sweep_meanwhile):
        store.put("k", b"whole", TEXT)
    assert swept == [0]
    assert (root / "k").read_bytes() == b"whole"


def test_deleting_leaves_no_empty_folders(store: FolderStore, root: Path) -> None:
    """Of a release that is removed nothing stays, as on S3; a folder with something in it does, and the root too."""
    store.put("releases/1/intent.json", b"x", TEXT)
    store.put("releases/2/intent.json", b"x", TEXT)
    store.delete(["releases/1/intent.json"])
    assert [path.name for path in (root / "releases").iterdir()] == ["2"]
    store.delete(["releases/2/intent.json"])
    assert [path.name for path in root.iterdir()] == [".sitemap-ops-lock"]


def test_writing_where_another_removes_empty_folders(store: FolderStore, root: Path) -> None:
    """A folder that vanishes between its making and the first file in it is made again."""
    opened = Path.open

    def vanish_once(path: Path, *arguments: object, **named: object) -> object:
        if path.name.startswith(OWN_PREFIX) and path.parent.name == "folder" and not vanished:
            vanished.append(path)
            path.parent.rmdir()
        return opened(path, *arguments, **named)

    vanished: list[Path] = []
    with patch.object(Path, "open", vanish_once):
        store.put("folder/k", b"x", TEXT)
    assert vanished
    assert (root / "folder" / "k").read_bytes() == b"x"


def test_who_waits_for_the_lock_says_for_whom_and_gives_up(
    store: FolderStore, root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A process that hangs with the lock held is named after some seconds, and ends the wait by a sentence."""
    monkeypatch.setattr("sitemap_ops.storage.folder.LOCK_TOLD_AFTER", 0.02)
    monkeypatch.setattr("sitemap_ops.storage.folder.LOCK_TIMEOUT", 0.1)
    store.put("k", b"old", TEXT)
    refused = pytest.raises(TargetError, match=rf"process {os.getpid()} on .* has held the lock of .*: find out why")
    with FolderStore(root)._locked(), refused:
        store.put("k", b"new", TEXT)
    (told,) = caplog.messages
    assert told.startswith(f"Waiting for the lock of {root}, which process {os.getpid()} on ")
    assert (root / "k").read_bytes() == b"old"
    assert sorted(path.name for path in root.iterdir()) == [".sitemap-ops-lock", "k"]
    assert not (root / ".sitemap-ops-lock").read_text(), "a public folder tells nothing of its machine"


def test_a_sweep_touches_nothing_else(store: FolderStore, root: Path, tmp_path: Path) -> None:
    """Not the lock, no file of the site, nothing that only looks like a temporary file, nothing behind a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    kept = [_temporary(outside, 1, minutes=9_999)]
    store.put("old.xml", b"x", TEXT)
    for name in ("old.xml", ".sitemap-ops-lock", ".sitemap-ops-0123", ".sitemap-ops-" + "g" * 32, "a" * 32):
        path = root / name
        path.touch()
        os.utime(path, (0, 0))
        kept.append(path)
    (root / "link").symlink_to(outside)
    assert store.sweep() == 0
    assert all(path.exists() for path in kept)


def test_a_sweep_of_nothing(tmp_path: Path) -> None:
    assert FolderStore(tmp_path / "none").sweep() == 0
    assert not (tmp_path / "none").exists()
