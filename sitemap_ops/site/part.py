"""What all mappings of the site file have in common."""

from __future__ import annotations

from types import NoneType
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, model_validator


class Part(BaseModel):
    """A mapping of the site file: no unknown keys, no later change; a key without a value counts as left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        fields = cls.model_fields
        return {
            key: value
            for key, value in data.items()
            if value is not None or key not in fields or NoneType in get_args(fields[key].annotation)
        }
