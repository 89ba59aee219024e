"""Single values of videos (G-27 to G-29, C-81): what a text means, in the form that the tag takes.

Each function takes a trimmed text that is not blank, and gives the value, or None where it has no meaning here.
"""

from __future__ import annotations

import json
import re
from decimal import ROUND_HALF_UP, Decimal

from sitemap_ops.languages import COUNTRIES

MAX_SECONDS, MAX_RATING, MAX_DIGITS = 28_800, 5, 15
PLATFORMS = ("web", "mobile", "tv")

_NUMBER = r"[0-9]{1,15}(?:[.,][0-9]{1,30})?"
_ISO = re.compile(
    rf"P(?:(?P<d>{_NUMBER})D)?(?:T(?=[0-9])(?:(?P<h>{_NUMBER})H)?(?:(?P<m>{_NUMBER})M)?(?:(?P<s>{_NUMBER})S)?)?", re.I
)
_CLOCK = re.compile(
    r"(?:(?:(?P<d>[0-9]{1,3}) days?,? )?(?P<h>[0-9]{1,3}):(?P<m>[0-5]?[0-9])|(?P<only_m>[0-9]{1,3}))"
    r":(?P<s>[0-5]?[0-9](?:[.,][0-9]{1,30})?)"
)
_PLAIN = re.compile(rf"(?P<s>{_NUMBER})(?: ?(?:s|sec|seconds))?", re.I)
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "only_m": 60, "s": 1}
_YES, _NO = (
    frozenset({"yes", "y", "true", "t", "on", "1", "1.0"}),
    frozenset({"no", "n", "false", "f", "off", "0", "0.0"}),
)
_RESERVED = {"UK": "GB", "EL": "GR"}
"""What is often written for a country, and can't mean another."""
_SEPARATORS = re.compile(r"[\s,;|]+")


def duration(text: str) -> str | None:
    """Whole seconds, 1 to 28,800: of a number, an ISO 8601 duration (`PT10M30S`) or a clock (`1:02:03`, `10:30`)."""
    for form in (_PLAIN, _ISO, _CLOCK):
        match = form.fullmatch(text)
        if match and any(match.groups()):
            seconds = sum(_decimal(number) * _SECONDS[unit] for unit, number in match.groupdict().items() if number)
            whole = int(Decimal(seconds).quantize(Decimal(1), ROUND_HALF_UP))
            return str(whole) if 1 <= whole <= MAX_SECONDS else None
    return None


def rating(text: str) -> str | None:
    """A decimal number, 0 to 5, with a point."""
    if not re.fullmatch(_NUMBER, text) or _decimal(text) > MAX_RATING:
        return None
    whole, _, fraction = text.replace(",", ".").partition(".")
    return f"{int(whole)}.{fraction}" if fraction else str(int(whole))


def view_count(text: str) -> str | None:
    """A whole number; of one that came as a float, its whole part."""
    match = re.fullmatch(rf"([0-9]{{1,{MAX_DIGITS}}})(?:\.0*)?", text)
    return str(int(match[1])) if match else None


def flag(text: str) -> str | None:
    """`yes` or `no`."""
    word = text.lower()
    return "yes" if word in _YES else "no" if word in _NO else None


def relationship(text: str) -> str | None:
    """`allow` or `deny`."""
    word = text.lower()
    return word if word in ("allow", "deny") else None


def countries(text: str) -> str | None:
    """ISO 3166 codes with blanks between, each once; None where one of them is none."""
    words = (word.upper() for word in _words(text))
    codes = [_RESERVED.get(word, word) for word in words]
    return " ".join(dict.fromkeys(codes)) if codes and COUNTRIES.issuperset(codes) else None


def platforms(text: str) -> str | None:
    """Any of web, mobile and tv, each once."""
    names = [word.lower() for word in _words(text)]
    return " ".join(dict.fromkeys(names)) if names and set(names) <= set(PLATFORMS) else None


def price(text: str) -> str | None:
    """A decimal number with a point."""
    return text.replace(",", ".") if re.fullmatch(_NUMBER, text) else None


def currency(text: str) -> str | None:
    """An ISO 4217 code."""
    return text.upper() if re.fullmatch("[A-Za-z]{3}", text) else None


def listed(text: str) -> list[str]:
    """The texts of a JSON list, else what commas or line breaks separate."""
    try:
        entries = json.loads(text) if text.startswith("[") else None
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        entries = re.split("[,\r\n]", text)
    return [str(entry) for entry in entries if isinstance(entry, str | int | float)]


def _words(text: str) -> list[str]:
    return [word for entry in listed(text) for word in _SEPARATORS.split(entry) if word]


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", "."))
