"""Images, videos and news of a sitemap as columns, in the forms that `entries` reads: what is taken over is whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sitemap_ops.reading.elements import Elements
from sitemap_ops.tags import IMAGE_TAGS, VIDEO_TAGS

COLUMNS = ("images", "videos", "news_name", "news_language", "news_title", "news_published")

WHITE = " \t\r\n"
Unescape = Callable[[pa.Array], pa.Array]

_ATTRIBUTES = {
    "restriction": "relationship",
    "platform": "relationship",
    "uploader": "info",
    "price": "currency",
}
_URLS = {"loc", "license", "thumbnail_loc", "content_loc", "player_loc", "gallery_loc"}
_NEWS = {"name": "news_name", "language": "news_language", "title": "news_title", "publication_date": "news_published"}


@dataclass
class _Block:
    """One element of an extension: the entry it is in, and the texts of each of its tags."""

    entry: int
    texts: dict[str, list[str]] = field(default_factory=dict)


def extension_columns(batch: Elements, unescape: Unescape, repairs: Counter[str]) -> dict[str, pa.Array]:
    """COLUMNS of a batch's entries, null where an entry has none.

    images: a JSON list of URLs, and of objects by the names of IMAGE_TAGS for those with texts. videos: a JSON list of
    objects by the names of VIDEO_TAGS. news_*: texts, of an entry's first block. What else a block holds is left out.

    unescape: what URLs go through. repairs: counts `duplicate-tag` for further news blocks (G-43).
    """
    images = [(block.entry, _image(block)) for block in _blocks(batch, "image", IMAGE_TAGS, unescape)]
    videos = [(block.entry, _video(block)) for block in _blocks(batch, "video", VIDEO_TAGS, unescape)]
    columns = {"images": _as_json(images, batch.entries), "videos": _as_json(videos, batch.entries)}
    news: dict[str, list[str | None]] = {name: [None] * batch.entries for name in _NEWS.values()}
    seen = set()
    for block in _blocks(batch, "news", tuple(_NEWS), unescape):
        repairs["duplicate-tag"] += block.entry in seen
        if block.entry not in seen:
            seen.add(block.entry)
            for tag, texts in block.texts.items():
                news[_NEWS[tag]][block.entry] = texts[0]
    return columns | {name: pa.array(texts, pa.string()) for name, texts in news.items()}


def _blocks(batch: Elements, kind: str, tags: Sequence[str], unescape: Unescape) -> list[_Block]:
    """The blocks of an extension, whatever its namespace, with the texts that are not empty, and the attributes."""
    names = [name.rpartition("}")[2].rpartition(":") for name in map(str.lower, batch.names)]
    is_block = np.array([local == kind and prefix in (kind, "") for prefix, _, local in names], bool)
    is_tag = np.array([local in tags and prefix in (kind, "") for prefix, _, local in names], bool)
    parents = (batch.depth == 3).nonzero()[0]
    blocks = parents[is_block[batch.tag[parents]]] if parents.size else parents
    if not blocks.size:
        return []
    rows = ((batch.depth > 3) & is_tag[batch.tag]).nonzero()[0]
    parent = parents[batch.owner(rows, parents)]
    rows, parent = rows[np.isin(parent, blocks)], parent[np.isin(parent, blocks)]
    found = {int(row): _Block(int(batch.entry[row])) for row in blocks}
    texts = pc.utf8_trim(batch.text.take(pa.array(rows)), WHITE)
    locals_ = [names[tag][2] for tag in batch.tag[rows]]
    is_url = pa.array([local in _URLS for local in locals_], pa.bool_())
    texts = pc.replace_with_mask(texts, is_url, unescape(texts.filter(is_url)))
    for row, block, tag, text in zip(rows.tolist(), parent.tolist(), locals_, texts.to_pylist(), strict=True):
        given = batch.attributes.get(row, {}).get(_ATTRIBUTES.get(tag, ""), "").strip()
        if text:
            found[block].texts.setdefault(tag, []).append(text)
        if given:
            found[block].texts.setdefault(f"{tag}_{_ATTRIBUTES[tag]}", []).append(given)
    return list(found.values())


def _image(block: _Block) -> Any:
    texts = {tag: some[0] for tag, some in block.texts.items()}
    return texts["loc"] if texts.keys() == {"loc"} else texts


def _video(block: _Block) -> dict[str, Any]:
    return {tag: some if tag == "tag" else some[0] for tag, some in block.texts.items()}


def _as_json(values: Sequence[tuple[int, Any]], entries: int) -> pa.Array:
    """A JSON list for each entry, of its own values that are not empty."""
    found: dict[int, list[Any]] = {}
    for entry, value in values:
        if value:
            found.setdefault(entry, []).append(value)
    return json_column(found, entries)


def json_column(found: Mapping[int, object], entries: int) -> pa.Array:
    """The JSON of each entry's value, null for an entry without."""
    if not found:
        return pa.nulls(entries, pa.string())
    texts: list[str | None] = [None] * entries
    for entry, value in found.items():
        texts[entry] = json.dumps(value, ensure_ascii=False)
    return pa.array(texts, pa.string())
