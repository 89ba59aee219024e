"""A site file's text as plain data, with the line of every key.

Only what a site file needs of YAML: mappings with text keys, lists, text, numbers, true/false, null, anchors and merge
keys. Words that YAML 1.1 reads as something else (`no`, `12:30`, `2024-01-01`) stay text: `no` is Norwegian.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from sitemap_ops.errors import SiteFileError
from sitemap_ops.site.environment import EnvironmentFault, References, substitute
from sitemap_ops.site.faults import Key

MAX_BYTES = 1_048_576
MAX_NODES = 20_000
"""Scalars, lists and mappings after aliases are followed: bounds a file whose aliases multiply."""
MAX_DEPTH = 20

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_TAGS = {_TAG + name for name in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq", "merge", "value")}
_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_WORD = re.compile(r"[\w$-]{1,60}")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,2})?")


@dataclass(frozen=True)
class Problem:
    """One mistake at a key; `line` counts from 1, `text` is the sentence without file and line."""

    key: Key
    line: int
    text: str


@dataclass
class Document:
    """What a site file holds.

    data: the root mapping. lines: the line of each key and list item. texts: the file's own text of each value that
    took something from the environment. problems: what is wrong with keys and references.
    """

    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Key, int] = field(default_factory=dict)
    texts: dict[Key, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, key: Key) -> int:
        """The line of a key, or of the nearest thing around it that is in the file."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)


def dotted(key: Key) -> str:
    """`sections[1].source.type`; what is no word is quoted."""

    def shown(step: str | int) -> str:
        if isinstance(step, int):
            return f"[{step}]"
        return f".{step}" if _WORD.fullmatch(step) else f"[{step[:60]!r}]"

    return "".join(map(shown, key)).lstrip(".")


def read_document(path: Path) -> Document:
    """The site file at a path. Raises SiteFileError where it can't be read as one YAML mapping."""
    references = References(_decode(path.name, _read(path)))
    try:
        root = yaml.compose(references.hidden, Loader=_Loader)
    except (yaml.YAMLError, ValueError) as error:
        raise SiteFileError(_syntax(path.name, references.hidden, error)) from None
    except RecursionError:
        raise SiteFileError(
            f"{path.name} is nested too deeply: a site file needs {MAX_DEPTH} levels at most."
        ) from None
    if root is None:
        raise SiteFileError(f"{path.name} is empty: a site file starts with 'site: <name>'.")
    if not isinstance(root, yaml.MappingNode):
        line = root.start_mark.line + 1
        raise SiteFileError(f"{path.name} line {line}: a site file is a mapping: start it with 'site: <name>'.")
    return _Builder(path.name, references).build(root)


def _read(path: Path) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise SiteFileError(f"{path} is not a file: give the path of a site's YAML file.")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise SiteFileError(f"{path} does not exist: give the path of a site's YAML file.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise SiteFileError(f"{str(path)!r} can't be read ({reason}): check the path and its permissions.") from None
    if len(data) > MAX_BYTES:
        raise SiteFileError(
            f"{path.name} is larger than 1 MiB: a site file names its sources, it does not hold their rows."
        )
    return data


def _decode(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SiteFileError(f"{name} line {line}: byte {error.start} is not UTF-8: save the file as UTF-8.") from None


def _syntax(name: str, text: str, error: Exception) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return f"{name} line {line}: the control character U+{error.character:04X} can't be in a YAML file: remove it."
    mark = getattr(error, "problem_mark", None)
    lines = text.splitlines()
    line = min(mark.line if mark else 0, max(len(lines) - 1, 0))
    here = lines[line][mark.column : mark.column + 1] if mark and lines else ""
    return f"{name} line {line + 1}: {_explain(getattr(error, 'problem', None) or 'not YAML', here)}"


def _explain(problem: str, here: str) -> str:
    if "cannot start any token" in problem:
        if here == "\t":
            return "a tab can't indent YAML: use spaces."
        return f"text can't start with {here!r}: put it in quotes."
    if "another document" in problem:
        return "a second document starts here: a site file holds one site."
    if "undefined alias" in problem or "alphabetic or numeric" in problem:
        return "'*' and '&' mark what is to be repeated: put text that starts with them in quotes."
    if "mapping values are not allowed" in problem:
        return "a ': ' stands where no key can be: put text that holds ': ' in quotes, and check the indentation."
    if "end of stream" in problem or "found unexpected" in problem:
        return "a quote or bracket that is opened here or above is not closed: close it."
    if "nesting depth" in problem:
        return f"the nesting is too deep: a site file needs {MAX_DEPTH} levels at most."
    return f"this is not YAML ({problem}): check the indentation, and put text that starts with a bracket in quotes."


class _Builder:
    """Turns composed YAML nodes into plain data, once; collects lines and problems on the way."""

    def __init__(self, name: str, references: References) -> None:
        self.name = name
        self.references = references
        self.document = Document()
        self.nodes = 0

    def build(self, root: yaml.MappingNode) -> Document:
        self.document.lines[()] = root.start_mark.line + 1
        self.document.data = self.mapping(root, ())
        return self.document

    def count(self, node: yaml.Node, key: Key) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES or len(key) > MAX_DEPTH:
            raise SiteFileError(
                f"{self.name} line {node.start_mark.line + 1}: the file has more than {MAX_NODES:,} values"
                f" or {MAX_DEPTH} levels, counting what aliases repeat: write it without such aliases."
            )

    def report(self, node: yaml.Node, key: Key, text: str) -> None:
        where = dotted(key) or "the file"
        self.document.problems.append(Problem(key, node.start_mark.line + 1, f"{where} {text}"))

    def value(self, node: yaml.Node, key: Key) -> Any:
        self.count(node, key)
        if node.tag not in _TAGS:
            self.report(node, key, f"has the YAML tag {node.tag!r}: remove it, values have no types of their own here.")
            return None
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, key)
        if isinstance(node, yaml.SequenceNode):
            return self.sequence(node, key)
        return self.scalar(node, key) if isinstance(node, yaml.ScalarNode) else None

    def mapping(self, node: yaml.MappingNode, key: Key) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for name_node, value_node in self.pairs(node, key):
            line = name_node.start_mark.line + 1
            child = (*key, name_node.value)
            if name_node.value in data:
                first = self.document.lines[child]
                text = f"{dotted(child)} is given twice, first on line {first}: keep one."
                self.document.problems.append(Problem(key, line, text))
            else:
                self.document.lines[child] = line
                data[name_node.value] = self.value(value_node, child)
        return data

    def pairs(self, node: yaml.MappingNode, key: Key) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
        """A mapping's keys and values, then those that `<<` merges into it under keys it lacks."""
        self.count(node, key)
        own: list[tuple[yaml.ScalarNode, yaml.Node]] = []
        merged: list[tuple[yaml.ScalarNode, yaml.Node]] = []
        for name, value in node.value:
            if name.tag == _TAG + "merge":
                for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                    if isinstance(part, yaml.MappingNode):
                        merged += self.pairs(part, (*key, "<<"))
                    else:
                        self.report(
                            name, key, "has a '<<' that merges no mapping: give it an alias of one, such as *name."
                        )
            elif isinstance(name, yaml.ScalarNode):
                name.value = self.references.restore(name.value)
                own.append((name, value))
            else:
                self.report(name, key, "has a list or a mapping as a key: a key is one word.")
        names = {name.value for name, _ in own}
        inherited = {name.value: (name, value) for name, value in reversed(merged) if name.value not in names}
        return own + list(reversed(inherited.values()))

    def sequence(self, node: yaml.SequenceNode, key: Key) -> list[Any]:
        items = []
        for position, item in enumerate(node.value):
            child = (*key, position)
            self.document.lines[child] = item.start_mark.line + 1
            items.append(self.value(item, child))
        return items

    def scalar(self, node: yaml.ScalarNode, key: Key) -> Any:
        text = self.references.restore(node.value)
        substituted = "${" in text
        if substituted:
            self.document.texts[key] = text
            try:
                text = substitute(text, os.environ)
            except EnvironmentFault as fault:
                self.report(node, key, str(fault))
        typed = not node.style and (substituted or node.tag != _TAG + "str")
        return _core_value(text) if typed else text


def _core_value(text: str) -> Any:
    """A plain scalar by YAML 1.2's core schema (10.3.2), in decimal; what has leading zeros is text."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
