"""The version of the records in `state`, and how those of older versions become records of this one."""

from __future__ import annotations

from typing import Any, Literal

SCHEMA: Literal[2] = 2
"""1: the first. 2: bodies in `state`, the history in each manifest, digests of what an intent puts."""


def migrated(kind: str, record: dict[str, Any]) -> dict[str, Any]:
    """A record, as read, in the shape of this schema; one that is of no known schema is given back as it is.

    Raises KeyError, TypeError or AttributeError for a record that isn't what its schema says.
    """
    if type(record.get("schema")) is not int or record["schema"] != 1 or kind not in _FROM_1:
        return record
    return {**_FROM_1[kind](record), "schema": SCHEMA}


def _manifest(old: dict[str, Any]) -> dict[str, Any]:
    """What schema 1 did not record is empty; its `history` is None, so that the reader follows the chain instead."""
    return {
        **old,
        "indexes": [_index(index) for index in old["indexes"]],
        "unlisted": [
            {**file, "epoch": 0, "digests": []} for file in old["unlisted"] if file["key"].startswith(f"{old['site']}-")
        ],
        "epoch": 0,
        "outcome": "published",
        "gone": [],
        "idle": [],
        "rejected": None,
        "history": None,
    }


def _current(old: dict[str, Any]) -> dict[str, Any]:
    return {**old, "indexes": [_index(index) for index in old["indexes"]]}


def _intent(old: dict[str, Any]) -> dict[str, Any]:
    files = dict.fromkeys(old["keys"], "")
    return {**{name: value for name, value in old.items() if name != "keys"}, "files": files}


def _index(old: dict[str, Any]) -> dict[str, Any]:
    return {**{name: value for name, value in old.items() if name != "etag"}, "max_files": 50_000}


_FROM_1 = {"Manifest": _manifest, "Current": _current, "Intent": _intent}
