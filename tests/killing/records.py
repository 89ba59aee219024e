"""Whether what is in `state` holds all that it has to, whatever was done to the runs that wrote it."""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import Any

from tests.killing.places import PRIVATE, PUBLIC, Objects


def check_records(objects: Objects) -> dict[str, Any]:
    """Every kept release is whole, so that a rollback can bring it back, and every public file has an owner.

    Gives the live release's manifest.
    """
    state = {name.removeprefix(PRIVATE): each.body for name, each in objects.items() if name.startswith(PRIVATE)}
    current = json.loads(state["current.json"])
    live = json.loads(state[current["manifest"]])
    assert (live["release"], live["epoch"]) == (current["release"], current["epoch"])
    for key in [current["manifest"], *(past["manifest"] for past in live["history"])]:
        manifest = json.loads(state[key])
        for each in [*manifest["shards"], *manifest["indexes"]]:
            body = state.get(f"bodies/{each['sha256']}.gz")
            assert body, f"release {manifest['release']} can't be put back: {each['key']} is missing"
            assert hashlib.sha256(gzip.decompress(body)).hexdigest() == each["sha256"]
    intents = [json.loads(body) for key, body in state.items() if key.endswith("/intent.json")]
    owned = {each["key"] for kind in ("shards", "indexes", "unlisted") for each in live[kind]}
    owned |= {key for intent in intents for key in intent["files"]}
    public = {name.removeprefix(PUBLIC) for name in objects if name.startswith(PUBLIC)}
    assert public <= owned, f"nobody owns {public - owned}"
    return live
