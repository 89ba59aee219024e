"""priority: a decimal number from 0.0 to 1.0, written with a point and one digit (P-16)."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import frame
from sitemap_ops.entries.text import MISSING, PADDING, array_of, by_value, text_of

_TENTH = Decimal("0.1")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)")
_MISSING = MISSING - {"nan"}


def parse_priority(values: pd.Series) -> pd.DataFrame:
    """The priority of each row (P-15 to P-17, C-51, C-53); one judgement for each different value.

    More decimals are rounded half up on the decimal digits (0.25 is 0.3), after the range is checked: 1.04 is dropped.

    :param values: numbers, or text. A decimal comma is read as the point that it can only mean; exponents, NaN and all
        else that is no number from 0 to 1 is dropped.
    :return: the same index; priority (string `0.0` to `1.0`, null for none), note (string, a code of `NOTES` or null).
    """
    array = array_of(values)
    judge: Callable[[str], tuple[str | None, str | None]] = _judge if pa.types.is_string(array.type) else _judge_number
    priority, note = by_value(text_of(array), judge)
    return frame(pa.table({"priority": priority, "note": note})).set_axis(values.index)


def _judge(text: str) -> tuple[str | None, str | None]:
    bare = text.strip(PADDING)
    if bare.casefold() in _MISSING:
        return None, None
    priority = _rounded(bare.replace(",", ".")) if _NUMBER.fullmatch(bare) else None
    if priority is None:
        return None, "priority-value"
    if "," in bare:
        return priority, "priority-comma"
    return priority, None if priority == text else "priority-noncanonical"


def _judge_number(text: str) -> tuple[str | None, str | None]:
    """A typed number by its shortest decimal text: only what rounding changed is worth a note."""
    priority = _rounded(text)
    if priority is None:
        return None, "priority-value"
    return priority, None if Decimal(priority) == Decimal(text) else "priority-noncanonical"


def _rounded(text: str) -> str | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not (number.is_finite() and 0 <= number <= 1):
        return None
    return str(number.copy_abs().quantize(_TENTH, ROUND_HALF_UP))
