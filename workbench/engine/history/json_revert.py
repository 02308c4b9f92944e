"""Takes one change of a JSON file back out of what the file has become since, key by key."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.history.bookkeeping import is_bookkeeping

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_ABSENT: Final = object()
_INDENT = re.compile(r"[\[{]\r?\n([ \t]+)")
_SEPARATOR = " / "
_RECORDS_DEPTH = 2
_BLANKS = (" ", "\n", "\r", "\t")


class NotJson(Exception):
    """The content is no JSON object, so its keys cannot be worked on."""


class JsonConflict(Exception):
    """A key's value is no longer as the change left it.

    Args:
        key: The keys on the way, joined by ` / `.
        left_as: The value as the change left it, as JSON; None where it removed it.
        now: The value now, as JSON; None where it is gone.
    """

    def __init__(self, key: str, left_as: object, now: object) -> None:
        super().__init__(key)
        self.key = key
        self.left_as = _shown(left_as)
        self.now = _shown(now)


def revert_json(
    before: bytes | None, after: bytes, now: bytes, *, only: Collection[str] | None = None
) -> bytes | None:
    """Return the file without what the change did to its keys.

    Lists and scalars are values as a whole. Bookkeeping that moved on since stays. The file keeps its
    indentation, its escapes and its last line end.

    Args:
        before: None where there was no file; None is then returned when nothing else is left in it.
        after: The file as the change left it.
        now: The file as it is.
        only: Where given, only keys with these names, or below them, are taken back.

    Raises:
        JsonConflict: A value was changed again since.
        NotJson: One of the versions is not a JSON object.
    """
    old = _parse(before) if before is not None else _ABSENT
    merged = _merge(old, _parse(after), _parse(now), (), only)
    if merged is _ABSENT:
        return None if before is None else b"{}\n"
    return _render(merged, now, before)


def changed_keys(before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """Name the innermost keys whose values differ, each as the keys on the way joined by ` / `."""
    old = _parse(before) if before is not None else {}
    new = _parse(after) if after is not None else {}
    return tuple(_SEPARATOR.join(path) for path in _differing(old, new, ()))


def _differing(old: object, new: object, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    # Records that come or go with what holds them are named one by one, so that each can be told from the others.
    if old is _ABSENT and _holds_records(new):
        old = {}
    elif new is _ABSENT and _holds_records(old):
        new = {}
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            yield from _differing(old.get(key, _ABSENT), new.get(key, _ABSENT), (*path, key))
    elif not _same(old, new):
        yield path


def _holds_records(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(each, dict) for each in value.values())


def _merge(before: Any, after: Any, now: Any, path: tuple[str, ...], only: Collection[str] | None) -> Any:
    selected = only is None or any(_SEPARATOR.join(path[:n]) in only for n in range(1, len(path) + 1))
    if _same(before, after) or _same(now, before):
        return now
    if selected and _same(now, after):
        return before
    if isinstance(after, dict) and isinstance(now, dict) and (before is _ABSENT or isinstance(before, dict)):
        return _merge_objects(
            before if isinstance(before, dict) else {}, after, now, path, only, before is _ABSENT
        )
    if not selected or (after is not _ABSENT and now is _ABSENT and before is _ABSENT):
        return now
    if path and is_bookkeeping(path[-1]):
        return now
    raise JsonConflict(_SEPARATOR.join(path) or "the whole file", after, now)


def _merge_objects(
    before: dict[str, Any],
    after: dict[str, Any],
    now: dict[str, Any],
    path: tuple[str, ...],
    only: Collection[str] | None,
    created: bool,
) -> Any:
    merged: dict[str, Any] = {}
    for key, value in now.items():
        result = _merge(before.get(key, _ABSENT), after.get(key, _ABSENT), value, (*path, key), only)
        if result is not _ABSENT:
            merged[key] = result
    for key in (k for k in {**before, **after} if k not in now):
        result = _merge(before.get(key, _ABSENT), after.get(key, _ABSENT), _ABSENT, (*path, key), only)
        if result is not _ABSENT:
            merged = _placed(merged, key, result, list(before))
    if created and all(is_bookkeeping(key) for key in merged):
        return _ABSENT
    own = [key for key, value in merged.items() if not isinstance(value, dict) and not is_bookkeeping(key)]
    if created and own and only is None and not any(isinstance(value, dict) for value in after.values()):
        # What is left of a record that is to go altogether was put into it since.
        raise JsonConflict(_SEPARATOR.join(path), after, now)
    return merged


def _placed(merged: dict[str, Any], key: str, value: Any, order: list[str]) -> dict[str, Any]:
    """Put a key back behind the one it stood behind."""
    previous = next((k for k in reversed(order[: order.index(key)]) if k in merged), None)
    items = list(merged.items())
    position = list(merged).index(previous) + 1 if previous is not None else 0
    items.insert(position, (key, value))
    return dict(items)


def _same(one: object, other: object) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _parse(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from error
    if not isinstance(value, dict):
        raise NotJson("not an object")
    return value


def _render(value: object, like: bytes, before: bytes | None) -> bytes:
    """Write a value in the manner of a file; what that file, or the one before, says already keeps its very words."""
    text = like.decode("utf-8-sig")
    indent = _INDENT.search(text)
    compact = indent is None and '": ' not in text
    ascii_only = text.isascii() and "\\u" in text
    if indent is None:
        separators = (",", ":") if compact else None
        rendered = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    else:
        files = [text] if before is None else [text, before.decode("utf-8-sig")]
        sources = [_sources(source.replace("\r\n", "\n")) for source in files]
        rendered = _written(value, (), indent.group(1), ascii_only, sources)
    tail = text[len(text.rstrip()) :]
    if "\r\n" in text:
        rendered = rendered.replace("\n", "\r\n")
    mark = "\ufeff" if like.startswith(b"\xef\xbb\xbf") else ""
    return (mark + rendered + tail).encode("utf-8", "surrogatepass")


def _written(
    value: Any,
    path: tuple[str, ...],
    indent: str,
    ascii_only: bool,
    sources: list[dict[tuple[str, ...], str]],
) -> str:
    for source in sources:
        known = source.get(path)
        if known is not None and _same(json.loads(known), value):
            return known
    inner, outer = "\n" + indent * (len(path) + 1), "\n" + indent * len(path)
    if not isinstance(value, dict) or not value:
        written = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        return written.replace("\n", outer)
    members = (
        f"{json.dumps(key, ensure_ascii=ascii_only)}: "
        f"{_written(each, (*path, key), indent, ascii_only, sources)}"
        for key, each in value.items()
    )
    return "{" + inner + ("," + inner).join(members) + outer + "}"


def _sources(text: str) -> dict[tuple[str, ...], str]:
    """Return the source of every value down to the records, by the keys on the way to it."""
    found: dict[tuple[str, ...], str] = {}
    decoder = json.JSONDecoder()

    def read(at: int, path: tuple[str, ...]) -> None:
        at = _past_blanks(text, at + 1)
        while text[at] == '"':
            key, at = decoder.raw_decode(text, at)
            at = _past_blanks(text, _past_blanks(text, at) + 1)
            value, end = decoder.raw_decode(text, at)
            found[*path, key] = text[at:end]
            if isinstance(value, dict) and len(path) < _RECORDS_DEPTH:
                read(at, (*path, key))
            at = _past_blanks(text, end)
            if text[at] != ",":
                return
            at = _past_blanks(text, at + 1)

    read(_past_blanks(text, 0), ())
    return found


def _past_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in _BLANKS:
        at += 1
    return at


def _shown(value: object) -> str | None:
    if value is _ABSENT:
        return None
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else text[:399] + "…"
