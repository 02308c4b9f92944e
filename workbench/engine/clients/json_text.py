"""JSON as people and programs write it, changed in place: what is not meant stays byte for byte.

Read as strict JSON, as JSON with comments and trailing commas, or as JSON5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

Path = tuple[str | int, ...]
"""Keys of objects and places in arrays, from the outermost in."""

_DEEPEST: Final = 100
_WHITE: Final = lazy_pattern(r"[ \t\r\n]*")
_WHITE_JSON5: Final = lazy_pattern(r"[\s\ufeff]*")
_COMMENT: Final = lazy_pattern(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING: Final = lazy_pattern(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_STRING_JSON5: Final = lazy_pattern(
    r'"(?:[^"\\\r\n]|\\(?:\r\n|.))*"|' r"'(?:[^'\\\r\n]|\\(?:\r\n|.))*'", re.DOTALL
)
_SCALAR: Final = lazy_pattern(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_SCALAR_JSON5: Final = lazy_pattern(r"[^\s,:\[\]{}\"'/]+")
_NAME_JSON5: Final = lazy_pattern(r"[^\W\d][\w$\u200c\u200d]*|\$[\w$]*")
_LINE_END: Final = lazy_pattern(r"[ \t]*(?:/\*[^\r\n]*?\*/[ \t]*)*(?://[^\r\n]*)?")


class Unreadable(ValueError):
    """A text is not what its format says.

    Args:
        line: Where, from 1.
        why: What is wrong there, one sentence.
    """

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


@dataclass(frozen=True, slots=True)
class Part:
    """A member of an object or an item of an array.

    Args:
        key: Of the member; None of an item.
        start: Where it begins: the key's first character, or the value's.
        comma: Where the comma after it is; None where there is none.
    """

    key: str | None
    start: int
    value: Node
    comma: int | None


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it is in the text.

    Args:
        kind: `{`, `[` or "" for a scalar.
        value: Of a scalar.
    """

    kind: str
    start: int
    end: int
    parts: tuple[Part, ...] = ()
    value: Any = None

    def plain(self) -> Any:
        """Return it as Python has it; of equal keys the last one counts, as for the programs that read it."""
        if self.kind == "{":
            return {part.key: part.value.plain() for part in self.parts}
        if self.kind == "[":
            return [part.value.plain() for part in self.parts]
        return self.value


@dataclass
class _Reader:
    text: str
    comments: bool
    trailing: bool
    json5: bool
    ends: list[tuple[int, int]] = field(default_factory=list)

    def read(self) -> Node:
        at = self.skip(0)
        node, at = self.value(at, 0)
        at = self.skip(at)
        if at < len(self.text):
            raise self.wrong(at, "Something follows the end of the value")
        return node

    def wrong(self, at: int, why: str) -> Unreadable:
        return Unreadable(self.text.count("\n", 0, at) + 1, why)

    def skip(self, at: int) -> int:
        white = _WHITE_JSON5 if self.json5 else _WHITE
        while True:
            found = white.match(self.text, at)
            at = found.end() if found else at
            if self.text[at : at + 1] != "/":
                return at
            comment = _COMMENT.match(self.text, at)
            if comment is None:
                raise self.wrong(at, "A comment does not end")
            if not self.comments:
                raise self.wrong(
                    at, "There is a comment, which the program that reads this file does not take"
                )
            self.ends.append(comment.span())
            at = comment.end()

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        if depth > _DEEPEST:
            raise self.wrong(at, "Values are nested too deeply")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self.collection(at, first, depth)
        if first and first in "\"'":
            text, end = self.string(at)
            return Node("", at, end, value=text), end
        found = (_SCALAR_JSON5 if self.json5 else _SCALAR).match(self.text, at)
        if found is None:
            raise self.wrong(at, "A value is missing" if first else "The file ends in the middle")
        return Node("", at, found.end(), value=self.scalar(found[0], at)), found.end()

    def scalar(self, text: str, at: int) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            if not self.json5:
                raise self.wrong(at, "A value cannot be read") from None
        return self.loosely(text, at)

    def loosely(self, text: str, at: int) -> Any:
        import json5

        try:
            return json5.loads(text)
        except ValueError:
            raise self.wrong(at, "A value cannot be read") from None

    def string(self, at: int) -> tuple[str, int]:
        found = (_STRING_JSON5 if self.json5 else _STRING).match(self.text, at)
        if found is None:
            raise self.wrong(at, "A text in quotes does not end")
        if not self.json5:
            return str(self.scalar(found[0], at)), found.end()
        return str(self.loosely(found[0], at)), found.end()

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] == '"' or (self.json5 and self.text[at : at + 1] == "'"):
            return self.string(at)
        found = _NAME_JSON5.match(self.text, at) if self.json5 else None
        if found is None:
            raise self.wrong(
                at, "A key in quotes is missing" if self.text[at : at + 1] else "The file ends in the middle"
            )
        return found[0], found.end()

    def collection(self, at: int, kind: str, depth: int) -> tuple[Node, int]:
        start, closing = at, "}" if kind == "{" else "]"
        parts: list[Part] = []
        at = self.skip(at + 1)
        while self.text[at : at + 1] != closing:
            if parts and parts[-1].comma is None:
                raise self.wrong(
                    at, "A comma is missing" if at < len(self.text) else "The file ends in the middle"
                )
            begins, key = at, None
            if kind == "{":
                key, at = self.key(at)
                at = self.skip(at)
                if self.text[at : at + 1] != ":":
                    raise self.wrong(at, "A colon is missing")
                at = self.skip(at + 1)
            node, end = self.value(at, depth + 1)
            at = self.skip(end)
            comma = at if self.text[at : at + 1] == "," else None
            parts.append(Part(key, begins, node, comma))
            if comma is not None:
                at = self.skip(at + 1)
                if self.text[at : at + 1] == closing and not self.trailing:
                    raise self.wrong(comma, "A comma stands before the end")
        return Node(kind, start, at + 1, tuple(parts)), at + 1


@dataclass(frozen=True)
class JsonFormat:
    """One way of writing JSON.

    Args:
        comments: Whether comments are read.
        trailing: Whether a comma may stand before the end.
        json5: Whether the rest of JSON5 is read as well.
    """

    comments: bool = False
    trailing: bool = False
    json5: bool = False

    def parse(self, text: str) -> Any:
        """Return the value of a text; an empty object where there is none.

        Raises:
            Unreadable: It is broken.
        """
        return self._read(text)[0].plain() if text.strip() else {}

    def put(self, text: str, path: Path, value: Any) -> str:
        """Return the text with a value at a path of keys, replaced or added with the objects that lead to it.

        Raises:
            Unreadable: It is broken, what leads there is no object, or a key on the way is there twice.
        """
        if not text.strip():
            return _written(_nested(path, value), "  ", _newline(text), "") + _newline(text)
        root, comments = self._read(text)
        node, rest = _nearest(text, root, path)
        if not rest:
            return text[: node.start] + self._rendered(text, root, node, value) + text[node.end :]
        if node.kind != "{":
            known = len(path) - len(rest)
            what = f"“{path[known - 1]}”" if known else "The outermost value"
            raise Unreadable(_line(text, node.start), f"{what} is no object")
        return _added(text, root, node, comments, str(rest[0]), _nested(rest[1:], value))

    def append(self, text: str, path: Path, value: Any) -> str:
        """Return the text with a value at the end of an array, which is made where it is missing.

        Raises:
            Unreadable: As of `put`, or there is something else than an array.
        """
        if not text.strip():
            return self.put(text, path, [value])
        root, comments = self._read(text)
        node, rest = _nearest(text, root, path)
        if rest:
            return self.put(text, path, [value])
        if node.kind != "[":
            raise Unreadable(_line(text, node.start), f"“{path[-1]}” is no array")
        return _added(text, root, node, comments, None, value)

    def drop(self, text: str, path: Path) -> str:
        """Return the text without what is at a path, which is there.

        Raises:
            Unreadable: It is broken.
        """
        root, comments = self._read(text)
        holder, rest = _nearest(text, root, path[:-1])
        assert not rest
        at = path[-1]
        index = at if isinstance(at, int) else [part.key for part in holder.parts].index(at)
        return _dropped(text, holder, comments, index)

    def _read(self, text: str) -> tuple[Node, list[tuple[int, int]]]:
        reader = _Reader(text, self.comments, self.trailing, self.json5)
        return reader.read(), reader.ends

    def _rendered(self, text: str, root: Node, node: Node, value: Any) -> str:
        if "\n" not in text[root.start : root.end]:
            return json.dumps(value, ensure_ascii=False)
        return _written(value, _unit(text, root), _newline(text), _indent_at(text, node.start))


def _nearest(text: str, node: Node, path: Sequence[str | int]) -> tuple[Node, Sequence[str | int]]:
    """Return the innermost value on a path that is there, and what of the path is not."""
    for depth, step in enumerate(path):
        if isinstance(step, int):
            node = node.parts[step].value
            continue
        found = [part for part in node.parts if node.kind == "{" and part.key == step]
        if len(found) > 1:
            raise Unreadable(_line(text, found[1].start), f"“{step}” is there a second time")
        if not found:
            return node, path[depth:]
        node = found[0].value
    return node, ()


def _nested(path: Sequence[str | int], value: Any) -> Any:
    for step in reversed(path):
        value = {step: value}
    return value


def _written(value: Any, unit: str, newline: str, indent: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    return text.replace("\n", newline + indent)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _indent_at(text: str, at: int) -> str:
    """Return what the line of a place begins with."""
    begins = text.rfind("\n", 0, at) + 1
    line = text[begins:at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _is_first_in_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip(" \t")


def _unit(text: str, root: Node) -> str:
    """Return by what each level is indented here."""
    for part in _all_parts(root):
        if (
            _is_first_in_line(text, part.start)
            and "\n" in text[: part.start]
            and (unit := _indent_at(text, part.start))
        ):
            return "\t" if unit[0] == "\t" else unit
    return "  "


def _all_parts(node: Node) -> Iterator[Part]:
    for part in node.parts:
        yield part
        yield from _all_parts(part.value)


def _added(
    text: str, root: Node, node: Node, comments: list[tuple[int, int]], key: str | None, value: Any
) -> str:
    """Return the text with one more part at the end of an object or an array."""
    newline = _newline(text)
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    is_one_line = (
        "\n" not in text[root.start : root.end] if node is root else "\n" not in text[node.start : node.end]
    )
    last = node.parts[-1] if node.parts else None
    if is_one_line and (last or "\n" not in text[root.start : root.end]) and not (node is root and not last):
        return _added_in_line(text, node, last, name + json.dumps(value, ensure_ascii=False))
    unit = _unit(text, root)
    outer = _indent_at(text, node.start)
    stands_alone = last is not None and _is_first_in_line(text, last.start)
    indent = _indent_at(text, last.start) if last is not None and stands_alone else outer + unit
    written = newline + indent + name + _written(value, unit, newline, indent)
    closing = node.end - 1
    if last is None:
        inside = [end for start, end in comments if node.start < start < closing]
        at = max(inside, default=node.start + 1)
        rest = text[at:closing]
        kept = rest if "\n" in rest else newline + outer
        return text[:at] + written + kept + text[closing:]
    if last.comma is None:
        at = _end_of_line(text, last.value.end)
        return text[: last.value.end] + "," + text[last.value.end : at] + written + text[at:]
    at = _end_of_line(text, last.comma + 1)
    return text[:at] + written + "," + text[at:]


def _added_in_line(text: str, node: Node, last: Part | None, written: str) -> str:
    if last is None:
        return text[: node.start + 1] + written + text[node.end - 1 :]
    if last.comma is not None:
        return text[: last.comma + 1] + " " + written + "," + text[last.comma + 1 :]
    return text[: last.value.end] + ", " + written + text[last.value.end :]


def value_at(value: Any, path: Path) -> Any:
    """Return what is at a path of keys; None where nothing is."""
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _end_of_line(text: str, at: int) -> int:
    """Return where a line's comments end, if nothing but comments follows on it; else the place itself."""
    found = _LINE_END.match(text, at)
    end = found.end() if found else at
    if text[end : end + 1] in ("\r", "\n"):
        return at + len(text[at:end].rstrip(" \t"))
    return at


def _dropped(text: str, node: Node, comments: list[tuple[int, int]], index: int) -> str:
    """Return the text without one part of an object or an array; comments around it stay."""
    part = node.parts[index]
    before = node.parts[index - 1] if index else None
    begins = node.start + 1 if before is None else (before.comma or before.value.end) + 1
    # What was said before it, of others, is not part of it.
    begins = max((end for _, end in comments if begins <= end <= part.start), default=begins)
    ends = part.value.end if part.comma is None else part.comma + 1
    if len(node.parts) == 1:
        rest = text[begins : node.end - 1][ends - begins :]
        if not text[node.start + 1 : begins].strip() and not rest.strip():
            return text[: node.start + 1] + text[node.end - 1 :]
    cut = text[:begins] + text[ends:]
    if part.comma is None and before is not None and before.comma is not None:
        return cut[: before.comma] + cut[before.comma + 1 :]
    return cut
