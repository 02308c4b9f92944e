"""TOML, changed in place: a table of ours is added at the end and taken out again, the rest stays byte for byte."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

from workbench.engine.clients.json_text import Path, Unreadable
from workbench.engine.patterns import lazy_pattern

_PLACE: Final = lazy_pattern(r"\(at (?:line (\d+), column \d+|end of document)\)$")
_BARE: Final = lazy_pattern(r"[A-Za-z0-9_-]+")


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
        if _at(before, path) is not None:
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


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


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
