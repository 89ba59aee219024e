"""Whether the alternates of a whole set name each other (G-52), by a join on hashes in bounded memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np

from sitemap_ops.validate.hosts import Origins

PARTS = 64
IN_MEMORY = 1_048_576
"""Links that stay in memory (40 bytes each); more go to files, by part."""
KEPT_TEXTS = 200_000
_LINK = np.dtype([("page", np.int64), ("target", np.int64), ("host", np.int64), ("file", np.int32), ("line", np.int32)])


@dataclass(frozen=True)
class Linked:
    """Links of a batch: from a page to an alternate that is not itself."""

    page: np.ndarray
    target: np.ndarray
    host: np.ndarray
    line: np.ndarray
    targets: list[str]

    @classmethod
    def of(cls, sources: list[str], targets: list[str], line: np.ndarray, origins: Origins) -> Linked:
        others = np.array([bool(one) and one != other for one, other in zip(sources, targets, strict=True)], bool)
        kept = [other for other, keep in zip(targets, others, strict=True) if keep]
        pages = [one for one, keep in zip(sources, others, strict=True) if keep]
        return cls(hashes(pages), hashes(kept), hashes([_host(one, origins) for one in kept]), line[others], kept)


def hashes(values: Sequence[str]) -> np.ndarray:
    return np.fromiter(map(hash, values), np.int64, len(values))


def _host(url: str, origins: Origins) -> str:
    origin = origins.of_url(url)
    return origin.host if origin else ""


class Links:
    """All links of a set. A link and its answer fall into the same part, so parts are joined one by one."""

    def __init__(self) -> None:
        self._memory: list[list[np.ndarray]] = [[] for _ in range(PARTS)]
        self._files: list[IO[bytes]] = []
        self._size = 0
        self._texts: dict[int, str] = {}

    def add(self, linked: Linked, file: int) -> None:
        links = np.zeros(len(linked.page), _LINK)
        links["page"], links["target"], links["host"], links["line"] = (
            linked.page,
            linked.target,
            linked.host,
            linked.line,
        )
        links["file"] = file
        if len(self._texts) < KEPT_TEXTS:
            self._texts.update(zip(linked.target.tolist(), linked.targets, strict=True))
        part = (links["page"] ^ links["target"]).astype(np.uint64) % PARTS
        for at in np.unique(part).tolist():
            self._memory[at].append(links[part == at])
        self._size += len(links)
        if self._size > IN_MEMORY:
            self._spill()

    def one_way(self) -> Iterator[np.ndarray]:
        """The links without an answer, in arrays of `page`, `target`, `host` (hashes), `file` and `line`."""
        for part in range(PARTS):
            links = self._part(part)
            answers = _key(links["target"], links["page"])
            yield links[~np.isin(answers, _key(links["page"], links["target"]))]

    def text(self, target: int) -> str | None:
        """The URL behind a hash, while the set is of ordinary size."""
        return self._texts.get(target)

    def _part(self, part: int) -> np.ndarray:
        arrays = self._memory[part]
        if self._files:
            self._files[part].seek(0)
            arrays = [np.frombuffer(self._files[part].read(), _LINK), *arrays]
        return np.concatenate(arrays) if arrays else np.zeros(0, _LINK)

    def _spill(self) -> None:
        if not self._files:
            self._files = [tempfile.TemporaryFile() for _ in range(PARTS)]  # noqa: SIM115 - they end with this object
        for file, arrays in zip(self._files, self._memory, strict=True):
            for array in arrays:
                file.write(array.tobytes())
            arrays.clear()
        self._size = 0


def _key(page: np.ndarray, target: np.ndarray) -> np.ndarray:
    """One number for an ordered pair."""
    mixed = page.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    key: np.ndarray = (mixed ^ (mixed >> np.uint64(29))) + target.astype(np.uint64) * np.uint64(0xC2B2AE3D27D4EB4F)
    return key
