"""Rules for <image:image> (G-20 to G-23, Y-21)."""

from __future__ import annotations

import numpy as np

from sitemap_ops.reading.elements import Elements
from sitemap_ops.reading.record import Record
from sitemap_ops.validate.groups import Groups
from sitemap_ops.validate.locs import Site, elsewhere, judge_urls

MAX_IMAGES = 1_000
TEXT_BYTES = {"caption": 384, "geo_location": 256, "title": 384, "license": 256}
"""Yandex's limits for the tags that Google stopped reading on 2022-08-06."""


def judge_images(batch: Elements, record: Record, site: Site) -> None:
    images = Groups(batch, "image:image")
    if not len(images):
        return
    record.add_rows("image-loc-missing", images.tags, images.counts("loc") == 0)
    _how_many(images, record)
    loc, _ = images.child("loc")
    judge_urls(loc, record, "image:loc")
    record.add_rows("image-foreign-host", loc, elsewhere(loc, site))
    for name, limit in TEXT_BYTES.items():
        text, _ = images.child(name)
        record.add_rows("deprecated-tag", text, np.ones(len(text), bool), f"Google no longer reads <image:{name}>.")
        record.add_rows("yandex-image-bytes", text, text.lengths() > limit)
    images.report_unknown({"loc", *TEXT_BYTES}, record, "image-unknown-tag")


def _how_many(images: Groups, record: Record) -> None:
    entry = images.tags.entry
    first = np.unique(entry, return_index=True)[1]
    many = np.bincount(entry)[entry[first]] > MAX_IMAGES
    over = np.zeros(len(images), bool)
    over[first[many]] = True
    record.add_rows("too-many-images", images.tags, over)
