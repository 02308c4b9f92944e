"""TOML and YAML, changed in place: what is ours is added and taken out again, the rest stays byte for byte.

In TOML a table is added at the end; in YAML an entry goes below a key of the first level.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from workbench.engine.clients.json_text import Path, Unreadable, value_at
from workbench.engine.patterns import lazy_pattern

_PLAIN: Final = lazy_pattern(r"[A-Za-z/][A-Za-z0-9_/.-]*")
_NOT_TEXT: Final = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n", "none"))
_PLACE: Final = lazy_pattern(r"\(at (?:line (\d+), column \d+|end of document)\)$")
_BARE: Final = lazy_pattern(r"[A-Za-z0-9_-]+")


class YamlFormat:
    """YAML of one document; see `JsonFormat`, which does the same."""

    def parse(self, text: str) -> Any:
        """Return the value of a text; an empty mapping where there is none.

        Raises:
            Unreadable: It is broken, or there are several documents.
        """
        import yaml

        try:
            value = yaml.safe_load(text)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark else 1
            raise Unreadable(line, str(error.problem or error.context or "It cannot be read")) from error
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise Unreadable(1, " ".join(str(error).split())[:200]) from error
        return {} if value is None else value

    def put(self, text: str, path: Path, value: Any) -> str:
        """Return the text with an entry at a path of two keys, replaced or added.

        Raises:
            Unreadable: It is broken, or the entry cannot be added.
        """
        import yaml

        outer, name = map(str, path)
        before = self.parse(text)
        if not isinstance(before, dict):
            raise Unreadable(1, "The outermost value is no mapping")
        if isinstance(before.get(outer), dict) and name in before[outer]:
            text = self.drop(text, path)
        newline = "\r\n" if "\r\n" in text else "\n"
        root = yaml.compose(text)
        found = None if root is None else _member(root, outer)
        if root is not None and root.flow_style and root.value:
            raise Unreadable(root.start_mark.line + 1, "The outermost mapping is written in braces")
        if found is None:
            gap = "" if not text.strip() or text.endswith("\n") else newline
            return text + gap + newline.join((f"{outer}:", *_block(name, value, "  "), ""))
        key, holder = found
        if holder.id == "mapping" and holder.flow_style:
            end = holder.end_mark.index - 1
            if holder.value:
                entry = json.dumps({name: value}, ensure_ascii=False)[1:-1]
                return (
                    text[: holder.value[-1][1].end_mark.index]
                    + f", {entry}"
                    + text[holder.value[-1][1].end_mark.index :]
                )
            start = text.rindex(":", 0, holder.start_mark.index) + 1
            return text[:start] + newline + newline.join(_block(name, value, "  ")) + text[end + 1 :]
        empty = holder.id == "scalar" and not holder.value
        if not empty and holder.id != "mapping":
            raise Unreadable(holder.start_mark.line + 1, f"“{outer}” is no mapping")
        indent = "  " if empty else " " * holder.value[0][0].start_mark.column
        line_ends = text.find("\n", key.end_mark.index)
        at = len(text) if line_ends < 0 else line_ends + 1
        gap = newline if line_ends < 0 else ""
        return text[:at] + gap + newline.join((*_block(name, value, indent), "")) + text[at:]

    def append(self, text: str, path: Path, value: Any) -> str:
        """Refuse: nothing of ours is in a list here."""
        raise NotImplementedError

    def drop(self, text: str, path: Path) -> str:
        """Return the text without what is at a path of one or two keys, which is there.

        Raises:
            Unreadable: It is broken.
        """
        import yaml

        root = yaml.compose(text)
        key, holder = _found(root, str(path[0]))
        alone = len(path) == 1
        if not alone:
            outer, within, (key, _) = key, holder, _found(holder, str(path[1]))
            if within.flow_style:
                return _dropped_in_braces(text, within, str(path[1]))
        start = text.rfind("\n", 0, key.start_mark.index) + 1
        end = at = text.find("\n", start) + 1 or len(text)
        for line in text[at:].splitlines(keepends=True):
            at += len(line)
            if not line.strip():
                continue
            if len(line) - len(line.lstrip(" ")) <= key.start_mark.column:
                break
            end = at
        if not alone and len(within.value) == 1:
            # Without an entry the key would have no mapping any more.
            colon = text.index(":", outer.end_mark.index) + 1
            return text[:colon] + " {}" + text[colon:start] + text[end:]
        return text[:start] + text[end:]


def _member(root: Any, name: str) -> tuple[Any, Any] | None:
    for key, value in root.value if root.id == "mapping" else ():
        if key.value == name:
            return key, value
    return None


def _found(root: Any, name: str) -> tuple[Any, Any]:
    found = _member(root, name)
    assert found is not None
    return found


def _dropped_in_braces(text: str, holder: Any, name: str) -> str:
    names = [key.value for key, _ in holder.value]
    index = names.index(name)
    start, end = holder.value[index][0].start_mark.index, holder.value[index][1].end_mark.index
    if index:
        start = holder.value[index - 1][1].end_mark.index
    elif len(names) > 1:
        end = holder.value[1][0].start_mark.index
    return text[:start] + text[end:]


def _block(name: str, value: dict[str, Any], indent: str) -> list[str]:
    lines = [f"{indent}{_scalar(name)}:"]
    for key, each in value.items():
        if isinstance(each, list) and each:
            lines += [f"{indent}  {key}:", *(f"{indent}  - {_scalar(item)}" for item in each)]
        else:
            lines.append(f"{indent}  {key}: {_scalar(each)}")
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    return json.dumps(value, ensure_ascii=False)


class TomlFormat:
    """TOML; see `JsonFormat`, which does the same."""

    def parse(self, text: str) -> Any:
        """Return the value of a text.

        Raises:
            Unreadable: It is broken.
        """
        try:
            return tomllib.loads(text.replace("\r\n", "\n"))
        except (ValueError, RecursionError) as error:
            found = _PLACE.search(str(error))
            line = int(found[1]) if found and found[1] else text.count("\n") + 1
            raise Unreadable(line, _PLACE.sub("", str(error)).strip()) from error

    def put(self, text: str, path: Path, value: Any) -> str:
        """Return the text with a table at a path of keys, replaced or added.

        Raises:
            Unreadable: It is broken, or the table cannot be added.
        """
        before, rest = self.parse(text), text
        if value_at(before, path) is not None:
            rest = self.drop(text, path)
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = "" if not rest.strip() else newline if rest.endswith("\n") else newline * 2
        lines = [
            f"[{'.'.join(map(_key, path))}]",
            *(f"{_key(key)} = {_written(each)}" for key, each in value.items()),
        ]
        added = rest + gap + "".join(line + newline for line in lines)
        expected = self.parse(rest)
        _put(expected, path, value)
        try:
            fits = self.parse(added) == expected
        except Unreadable:
            fits = False
        return added if fits else _put_by_tomlkit(rest, path, value)

    def append(self, text: str, path: Path, value: Any) -> str:
        """Refuse: nothing of ours is in an array here."""
        raise NotImplementedError

    def drop(self, text: str, path: Path) -> str:
        """Return the text without the table at a path, which is there.

        Raises:
            Unreadable: It is broken.
        """
        expected = self.parse(text)
        holder = expected
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
        for cut in _without_header(text, path):
            with suppress(Unreadable):
                if _pruned(self.parse(cut)) == _pruned(expected):
                    return cut
        return _drop_by_tomlkit(text, path)


def _without_header(text: str, path: Path) -> Iterator[str]:
    """Yield the text without the lines of a table, as far as its keys go, and the blank line before it.

    What looks like the table may be in a text of several lines, so there may be several.
    """
    name = r"[ \t]*\.[ \t]*".join(map(_any_key, path))
    header = re.compile(r"^[ \t]*\[[ \t]*" + name + r"[ \t]*\][^\n]*\n?", re.MULTILINE)
    below = re.compile(r"^[ \t]*\[[ \t]*" + name + r"[ \t]*\.")
    for found in reversed(list(header.finditer(text))):
        yield _without_table(text, found, below)


def _without_table(text: str, found: re.Match[str], below: re.Pattern[str]) -> str:
    end = at = found.end()
    for line in text[end:].splitlines(keepends=True):
        if line.lstrip().startswith("[") and not below.match(line):
            break
        at += len(line)
        if line.strip() and not line.lstrip().startswith("#"):
            end = at
    start = found.start()
    before = text[:start]
    if before.endswith("\r\n\r\n"):
        start -= 2
    elif before.endswith("\n\n"):
        start -= 1
    return text[:start] + text[end:]


def _any_key(key: str | int) -> str:
    name = re.escape(str(key))
    return f"(?:{name}|\"{name}\"|'{name}')"


def _key(key: object) -> str:
    return str(key) if _BARE.fullmatch(str(key)) else _written(str(key))


def _written(value: Any) -> str:
    import tomlkit

    return str(tomlkit.item(value).as_string())


def _put(value: Any, path: Path, given: Any) -> None:
    for step in path[:-1]:
        value = value.setdefault(step, {})
        if not isinstance(value, dict):
            raise Unreadable(1, f"“{step}” is no table")
    value[path[-1]] = given


def _pruned(value: Any) -> Any:
    """Return it without empty tables, which come and go with the headers below them."""
    if not isinstance(value, dict):
        return value
    kept = {key: _pruned(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each != {}}


def _put_by_tomlkit(text: str, path: Path, value: Any) -> str:
    """Add a table where its parents are written inline."""
    import tomlkit

    document = tomlkit.parse(text)
    holder: Any = document
    for step in path[:-1]:
        holder = holder.setdefault(step, tomlkit.table())
    inline = tomlkit.inline_table()
    inline.update(value)
    holder[path[-1]] = inline
    return tomlkit.dumps(document)


def _drop_by_tomlkit(text: str, path: Path) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    holder: Any = document
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    return tomlkit.dumps(document)
