"""changefreq: one of seven lower-case English words, whatever the case, blanks or (known) language they came in."""

from __future__ import annotations

import unicodedata

import pandas as pd
import pyarrow as pa

from sitemap_ops.columns import frame
from sitemap_ops.entries.text import MISSING, PADDING, array_of, by_value, text_of

VALUES = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")

TRANSLATIONS: dict[str, tuple[str, ...]] = {
    "always": ("her zaman", "daima", "всегда", "постоянно", "immer", "toujours", "siempre"),
    "hourly": (
        *("saatlik", "her saat", "ежечасно", "каждый час", "stündlich", "jede Stunde", "toutes les heures"),
        *("chaque heure", "cada hora"),
    ),
    "daily": (
        *("günlük", "her gün", "ежедневно", "каждый день", "täglich", "jeden Tag", "quotidien", "quotidienne"),
        *("tous les jours", "chaque jour", "diario", "diaria", "diariamente", "cada día", "todos los días"),
    ),
    "weekly": (
        *("haftalık", "her hafta", "еженедельно", "каждую неделю", "wöchentlich", "jede Woche", "hebdomadaire"),
        *("toutes les semaines", "chaque semaine", "semanal", "semanalmente", "cada semana", "todas las semanas"),
    ),
    "monthly": (
        *("aylık", "her ay", "ежемесячно", "каждый месяц", "monatlich", "jeden Monat", "mensuel", "mensuelle"),
        *("tous les mois", "chaque mois", "mensual", "mensualmente", "cada mes", "todos los meses"),
    ),
    "yearly": (
        *("yıllık", "her yıl", "senelik", "her sene", "ежегодно", "каждый год", "jährlich", "jedes Jahr", "annuel"),
        *("annuelle", "tous les ans", "chaque année", "anual", "anualmente", "cada año", "todos los años"),
    ),
    "never": ("asla", "hiçbir zaman", "никогда", "nie", "niemals", "jamais", "nunca"),
}
"""What translated guides and shops write (P-15): Turkish, Russian, German, French, Spanish."""


def fold(text: str) -> str:
    """The text without its case, accents and extra blanks, so that spellings of one word are equal.

    Right for Turkish too: `HAFTALIK`, `haftalık`, `DAİLY` and `daıly` fold like `haftalik` and `daily`.
    """
    letters = unicodedata.normalize("NFKD", text.strip(PADDING).casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(bare.replace("ı", "i").split())


_TRANSLATED = {fold(word): value for value, words in TRANSLATIONS.items() for word in words}


def parse_changefreq(values: pd.Series) -> pd.DataFrame:
    """The changefreq of each row (P-13, P-15, C-53); one judgement for each different value.

    :param values: text; any other type is read by its text.
    :return: the same index; changefreq (string, null for none), note (string, a code of `NOTES` or null).
    """
    array = text_of(array_of(values))
    changefreq, note = by_value(array, _judge)
    return frame(pa.table({"changefreq": changefreq, "note": note})).set_axis(values.index)


def _judge(text: str) -> tuple[str | None, str | None]:
    if text in VALUES:
        return text, None
    folded = fold(text)
    if folded in MISSING:
        return None, None
    if folded in VALUES:
        return folded, "changefreq-normalised"
    if folded in _TRANSLATED:
        return _TRANSLATED[folded], "changefreq-translated"
    return None, "changefreq-value"
