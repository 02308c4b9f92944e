"""Finds values below a label: a value on a line of its own, or a list of values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench.engine.secrets.labels import (
    LABELLED,
    Between,
    Named,
    is_plainly_one,
    is_secret,
    stands_beside,
    tells_about,
    values_at,
)
from workbench.engine.secrets.values import Found

COMPLEMENT: Final = (
    r"(?:[ ](?:of|for|to|on|at|in|für|de|du|del|da|do|der|des|von|zum|zur)[ ]"
    r"(?:[^\n.;:=|]|\.(?=[^\s])){1,60}?)?"
)
_LONGEST_BEFORE: Final = 100
_LONGEST_ROW: Final = 2000
_MOST_BLANK_LINES: Final = 2

# The rest of a label's line: a purpose, a sign, and the beginning of a block in YAML or JSON.
_HEADER: Final = re.compile(
    rf"(?P<what>{COMPLEMENT})[ \t]{{0,20}}(?P<sign>[:：]|=>?)?[*_`\"']{{0,4}}[ \t]{{0,20}}"
    r"(?P<bracket>[\[{(])?(?:[|>][+-]?)?[ \t]{0,20}\r?\n",
    re.IGNORECASE,
)
_MARKS: Final = r"[ \t>]{0,40}(?:(?:[#*+-]{1,6}|\d{1,3}[.)])[ \t]{1,4})?(?:\[[ xX]\][ \t])?[*_\"'`]{0,3}"
_OWN_LINE: Final = re.compile(_MARKS + r"(?:[A-Z][a-z]{1,20}[ ])?")
_FEW_WORDS: Final = re.compile(_MARKS + r"(?:[^\s:;,.!?]{1,30}[ ]){0,2}")
# `Examples of strong passwords:` belong to nobody.
_IN_GENERAL: Final = re.compile(
    r"\b(?:examples?|samples?|strong(?:er)?|weak|common|typical|good|bad|how to)\b", re.IGNORECASE
)
_ROW: Final = re.compile(r"[ \t]{0,3}(?::|=>|=|：)[*_]{0,3}[ \t]{0,20}(?P<bracket>[\[{(])?")
_CLOSING: Final = {"[": "]", "{": "}", "(": ")"}
_PIECE: Final = re.compile(r"[^,;\s][^,;]*")

_INDENT: Final = re.compile(r"[ \t>]{0,40}")
# `min:12`, and the digest of a public key in `SHA256:…`.
_SETTING: Final = re.compile(r"([A-Za-z0-9]{2,12})[:=].*")
_FENCE: Final = re.compile(r"(?:`{3,}|~{3,})[^`\n]{0,30}")
_ITEM: Final = re.compile(
    r"[ \t>]{0,40}(?:[-*+•]|\(?\d{1,3}[.)])[ \t]{1,4}(?:\[[ xX]\][ \t]{1,4}|[-*+•][ \t]{1,4})?"
)
# The purpose of a value in a list: `harbor: …`, `**harbor** — …`, `"harbor": …`.
_NAME: Final = re.compile(
    r"[\[{(]?[*_`\"']{0,3}(?P<name>[^\s:：=|`\"'\[{][^\n:：=|]{0,60}?)[*_`\"']{0,3}"
    r"(?:[ \t]{0,3}(?:[:=](?=[\s\"'`*])|：|=>|->|→)|[ ][—–-][ ])[*_]{0,3}[ \t]{0,20}"
)
_END: Final = re.compile(r"[`\"'*_,;)\]}]{0,6}[ \t]{0,20}(?P<note>#|\(|[—–]|--?[ ]|//|<-)?")
_STANDARD: Final = re.compile(r"[A-Z]{2,6}[0-9]{0,5}(?:-(?:[A-Z]{1,5}[0-9]{0,5}|[0-9]{1,5}[A-Z]{0,2}))+")
# Letters from here on are not Latin; their scripts write words without blanks between.
_NO_LATIN: Final = "\u0250"


def found_below(text: str, named: Named, after: int, read: dict[object, int]) -> Iterator[Found]:
    """Yield the values on the line, in the block or in the list below a label.

    Args:
        text: Any text.
        named: The label.
        after: End of the label, including what closes it.
        read: How far lists were read under labels of each kind; updated here, so that each list is read once.
    """
    if after < read.get(named.label, 0):
        return
    header = _HEADER.match(text, after)
    if header is None:
        if named.many and (row := _ROW.match(text, after)):
            yield from _in_row(text, named, row, read)
        return
    begin = max(0, named.start - _LONGEST_BEFORE)
    before = text[text.rfind("\n", begin, named.start) + 1 or begin : named.start]
    if not (header["sign"] or _OWN_LINE.fullmatch(before) or before.lstrip().startswith("#")):
        return
    if _IN_GENERAL.search(before):
        return
    # Below `servers that need new passwords:`, a name with digits names a server.
    is_plain = not header["what"] and _FEW_WORDS.fullmatch(before) is not None
    yield from _in_block(text, named, header, read, is_plain=is_plain)


def _in_row(text: str, named: Named, row: re.Match[str], read: dict[object, int]) -> Iterator[Found]:
    end = text.find("\n", row.end(), row.end() + _LONGEST_ROW)
    end = end if end >= 0 else min(len(text), row.end() + _LONGEST_ROW)
    if row["bracket"]:
        closing = text.find(_CLOSING[row["bracket"]], row.end(), end)
        end = closing if closing >= 0 else end
    read[named.label] = end
    for piece in _PIECE.finditer(text, row.end(), end):
        found = _value_in(text, *piece.span(), named, is_plain=bool(row["bracket"]))
        if found is not None:
            yield found


def _in_block(
    text: str, named: Named, header: re.Match[str], read: dict[object, int], *, is_plain: bool
) -> Iterator[Found]:
    lines = _lines(text, header.end())
    first, blank = next(lines, None), 0
    while first is not None and not text[slice(*first)].strip(" \t>"):
        blank += 1
        first = next(lines, None) if blank <= _MOST_BLANK_LINES else None
    if first is None:
        return
    start, end = first
    fence = _FENCE.fullmatch(text, _inner(text, start, end), end)
    if not fence and not _ITEM.match(text, start, end):
        found = _value_alone(text, start, end, named, is_plain=is_plain and not blank)
        if found is not None:
            yield found
        if not named.many:
            return
    if fence and not named.many:
        inside, close = next(lines, None), next(lines, None)
        if inside and close and _FENCE.fullmatch(text, _inner(text, *close), close[1]):
            found = _value_alone(text, *inside, named, is_plain=True)
            if found is not None:
                yield found
        return
    if fence:
        yield from _in_lines(text, lines, named, read, is_plain=is_plain, is_closed=True)
    else:
        again = _lines(text, start)
        yield from _in_lines(text, again, named, read, is_plain=is_plain, is_closed=bool(header["bracket"]))


def _lines(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Yield the beginning and end of each line from a position on, without its line end."""
    while at < len(text):
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        yield at, end - text.startswith("\r", end - 1)
        at = end + 1


def _inner(text: str, start: int, end: int) -> int:
    indent = _INDENT.match(text, start, end)
    return indent.end() if indent else start


def _in_lines(
    text: str,
    lines: Iterator[tuple[int, int]],
    named: Named,
    read: dict[object, int],
    *,
    is_plain: bool,
    is_closed: bool,
) -> Iterator[Found]:
    """Yield the values of a list, up to the first line outside it.

    Args:
        text: Any text.
        lines: Beginning and end of each.
        named: The label above.
        read: How far lists were read.
        is_plain: Whether there is nothing but the label and a few words above.
        is_closed: Whether a bracket closes the list, so that all lines before it belong to it.
    """
    blank, has_items = 0, False
    for start, end in lines:
        read[named.label] = end
        item = _ITEM.match(text, start, end)
        inner = item.end() if item else _inner(text, start, end)
        if inner == end:
            blank += 1
            if blank > _MOST_BLANK_LINES:
                return
            continue
        if is_closed and (text[inner] in "]})" or _FENCE.fullmatch(text, inner, end)):
            return
        has_items = has_items or item is not None
        found = None
        if item or is_closed:
            found = _value_in(text, inner, end, named, is_plain=is_plain)
        elif named.many:
            # Text that continues an item names its values explicitly.
            found = _value_in(text, inner, end, named, is_plain=False, is_alone=not has_items)
        if found is not None:
            yield found
        elif not item and not is_closed and inner == start:
            return
        blank = 0


def _value_in(
    text: str, start: int, end: int, named: Named, *, is_plain: bool, is_alone: bool = True
) -> Found | None:
    """Return the value of an item: what follows its purpose, or all of the item if that is allowed."""
    if name := _NAME.match(text, start, end):
        if tells_about(name["name"]):
            return None
        found = _value_at(text, name.end(), end, named, is_plain=not stands_beside(name["name"]))
        if found is not None:
            return found
    if not is_alone:
        return None
    return _value_at(text, start, end, named, is_plain=is_plain and name is None, is_alone=True)


def _value_at(
    text: str, at: int, end: int, named: Named, *, is_plain: bool, is_alone: bool = False
) -> Found | None:
    for start, stop, quoted in values_at(text, at, named):
        value, rest = text[start:stop], _END.match(text, stop, end)
        if stop > end or rest is None or (rest.end() < end and not rest["note"]) or max(value) >= _NO_LATIN:
            continue
        if is_alone and not quoted and _STANDARD.fullmatch(value):
            continue
        if (setting := _SETTING.fullmatch(value)) and tells_about(setting[1]):
            continue
        is_told = is_plain and not (is_alone and rest["note"])
        if is_secret(named.label, Between.LINE, value, quoted=quoted) and (is_told or is_plainly_one(value)):
            return Found(start, stop, LABELLED)
    return None


def _value_alone(text: str, start: int, end: int, named: Named, *, is_plain: bool) -> Found | None:
    """Return the value that fills a whole line; without quotes it must plainly look like one."""
    for first, last, quoted in values_at(text, _inner(text, start, end), named):
        rest = _END.match(text, last, end)
        if last > end or rest is None or rest.end() < end or rest["note"]:
            continue
        value = text[first:last]
        if is_secret(named.label, Between.LINE, value, quoted=quoted) and (
            quoted or is_plain or is_plainly_one(value)
        ):
            return Found(first, last, LABELLED)
    return None
