"""Pydantic's errors as sentences about a site file: the dotted key, what is wrong with it, what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sitemap_ops.site.document import Document, Problem, dotted
from sitemap_ops.site.faults import Key, nearest, one_of
from sitemap_ops.site.model import Site
from sitemap_ops.site.part import Part

_SHOWN = 60
_CREDENTIALS = re.compile(r"//\S*@|\S+:\S+@|(?<=\?)[^\s'=]+=[^\s']+")
_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)?$|secret|token|credential|(access|api|private)_?key|^(conn|dsn|uri|connection)$"
)
_SOURCE_TYPES = ("csv", "sql", "parquet", "sitemap")


def problems_of(error: ValidationError, document: Document) -> list[Problem]:
    """One problem for each error; a missing key is left out where an unknown one beside it was meant for it."""
    problems: list[Problem] = []
    missing: list[Problem] = []
    meant: set[Key] = set()
    for details in error.errors(include_url=False):
        key, model = _locate(details["loc"])
        into = problems
        match details["type"]:
            case "extra_forbidden":
                text, guess = _unknown(key, model)
                if guess:
                    meant.add((*key[:-1], guess))
            case "union_tag_not_found":
                key, text = _untyped(key, details["input"])
            case "missing":
                text = f"is missing: write {model.model_fields[str(key[-1])].description}."
                into = missing
            case "site_rule":
                key += details["ctx"]["at"] or ()
                text = details["msg"]
            case "union_tag_invalid":
                key += ("type",)
                tag = details["ctx"]["tag"]
                text = f"is {_shown(key, tag, document)}, not {one_of(_SOURCE_TYPES)}: {_choose(tag, _SOURCE_TYPES)}"
            case _:
                shown = _shown(key, details["input"], document)
                text = f"is {shown}, {_not_what(details, shown)}"
        into.append(Problem(key, document.line(key), _CREDENTIALS.sub("…", f"{dotted(key)} {text}")))
    return problems + [problem for problem in missing if problem.key not in meant]


def _locate(loc: Key) -> tuple[Key, type[Part]]:
    """The key in the file (without the tag that pydantic adds for a source's type), and the model it is a key of."""
    key: list[str | int] = []
    model: type[Part] = Site
    inner: type[Part] = Site
    kinds: dict[str, type[Part]] = {}
    for step in loc:
        if kinds:
            inner, kinds = kinds[str(step)], {}
            continue
        key.append(step)
        model = inner
        field = model.model_fields.get(str(step))
        parts = list(_parts(field.annotation)) if field else []
        if field and field.discriminator:
            kinds = {get_args(part.model_fields["type"].annotation)[0]: part for part in parts}
        elif parts:
            inner = parts[0]
    return tuple(key), model


def _parts(annotation: Any) -> Iterator[type[Part]]:
    """The models in a field's annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)


def _unknown(key: Key, model: type[Part]) -> tuple[str, str | None]:
    """What to say of an unknown key, and the key that was probably meant."""
    name = str(key[-1])
    if _SECRET_KEY.search(name.lower()):
        return (
            "is not a known key: no secret belongs in the file, put it into a connection and name that by its id.",
            None,
        )
    elsewhere = sorted(known for known in _known_keys(Site, "") if known.rpartition(".")[2] == name)
    if elsewhere:
        return f"is not a known key here: it belongs at {one_of(elsewhere)}.", None
    guess = nearest(name, model.model_fields)
    if guess:
        return f"is not a known key: did you mean {guess}?", guess
    return f"is not a known key: the keys here are {', '.join(model.model_fields)}.", None


def _known_keys(model: type[Part], prefix: str) -> set[str]:
    known = set()
    for name, field in model.model_fields.items():
        known.add(prefix + name)
        items = "[]" if name == "sections" else ""
        for part in _parts(field.annotation):
            known |= _known_keys(part, f"{prefix}{name}{items}.")
    return known


def _untyped(key: Key, given: Any) -> tuple[Key, str]:
    typo = nearest("type", given) if isinstance(given, dict) else None
    if typo:
        return (*key, typo), "is not a known key: did you mean type?"
    return (*key, "type"), f"is missing: write {one_of(_SOURCE_TYPES)}."


def _shown(key: Key, value: Any, document: Document) -> str:
    """The value as the file has it; what came from the environment is not shown."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if value is None or isinstance(value, bool):
        return {None: "empty", True: "true", False: "false"}[value]
    text = document.texts.get(key, value if isinstance(value, str) else str(value))
    text = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return repr(text) if isinstance(value, str) else text


def _not_what(details: ErrorDetails, shown: str) -> str:
    value, context = details["input"], details.get("ctx", {})
    match details["type"]:
        case "site_value":
            return details["msg"]
        case "string_type" if isinstance(value, dict | list):
            return "not text: write one value, and put text that starts with a bracket in quotes."
        case "string_type":
            return "not text: put it in quotes."
        case "literal_error":
            allowed = re.findall(r"'([^']*)'", context["expected"])
            return f"not {one_of(allowed)}: {_choose(value, allowed)}"
        case "int_type" | "int_from_float":
            return "not a whole number: write it in digits, without quotes."
        case "bool_type":
            return "not true or false: write one of these, without quotes."
        case "greater_than_equal":
            return f"less than {context['ge']}: write {context['ge']} or more."
        case "tuple_type" if not isinstance(value, dict):
            return f"not a list: write [{shown}]."
        case "tuple_type":
            return "not a list: start each of its items with '- '."
        case _:
            return "not a mapping: write its keys below it, indented, or as {key: value}."


def _choose(value: Any, allowed: Iterable[str]) -> str:
    guess = nearest(value, allowed) if isinstance(value, str) else None
    return f"did you mean {guess}?" if guess else "write one of these."
