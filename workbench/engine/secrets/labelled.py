"""Finds secrets by an explicit label: the value after a separator, on the next line, or in the list below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.secrets.values import (
    LABELLED,
    Between,
    Found,
    Label,
    Named,
    has_letters_and_digits,
    is_plainly_one,
    is_secret,
    is_stand_in,
    label_of,
    label_of_several,
    looks_random,
    stands_beside,
    tells_about,
    value_at,
    values_at,
    words_of,
)
from workbench.engine.values import dataclass

COMPLEMENT: Final = (
    r"(?:[ ](?:of|for|to|on|at|in|für|de|du|del|da|do|der|des|von|zum|zur)[ ]"
    r"(?:[^\n.;:=|]|\.(?=[^\s])){1,60}?)?"
)
_LONGEST_BEFORE: Final = 100
_LONGEST_ROW: Final = 2000
_MOST_BLANK_LINES: Final = 2

# The rest of a label's line: a purpose, a sign, and the beginning of a block in YAML or JSON.
_HEADER: Final = lazy_pattern(
    rf"(?P<what>{COMPLEMENT})[ \t]{{0,20}}(?P<sign>[:：]|=>?)?[*_`\"']{{0,4}}[ \t]{{0,20}}"
    r"(?P<bracket>[\[{(])?(?:[|>][+-]?)?[ \t]{0,20}\r?\n",
    re.IGNORECASE,
)
_MARKS: Final = r"[ \t>]{0,40}(?:(?:[#*+-]{1,6}|\d{1,3}[.)])[ \t]{1,4})?(?:\[[ xX]\][ \t])?[*_\"'`]{0,3}"
_OWN_LINE: Final = lazy_pattern(_MARKS + r"(?:[A-Z][a-z]{1,20}[ ])?")
_FEW_WORDS: Final = lazy_pattern(_MARKS + r"(?:[^\s:;,.!?]{1,30}[ ]){0,2}")
# `Examples of strong passwords:` belong to nobody.
_IN_GENERAL: Final = lazy_pattern(
    r"\b(?:examples?|samples?|strong(?:er)?|weak|common|typical|good|bad|how to)\b", re.IGNORECASE
)
_ROW: Final = lazy_pattern(r"[ \t]{0,3}(?::|=>|=|：)[*_]{0,3}[ \t]{0,20}(?P<bracket>[\[{(])?")
_CLOSING: Final = {"[": "]", "{": "}", "(": ")"}
_PIECE: Final = lazy_pattern(r"[^,;\s][^,;]*")

_INDENT: Final = lazy_pattern(r"[ \t>]{0,40}")
# `min:12`, and the digest of a public key in `SHA256:…`.
_OF_A_SETTING: Final = lazy_pattern(r"([A-Za-z0-9]{2,12})[:=].*")
_FENCE: Final = lazy_pattern(r"(?:`{3,}|~{3,})[^`\n]{0,30}")
_ITEM: Final = lazy_pattern(
    r"[ \t>]{0,40}(?:[-*+•]|\(?\d{1,3}[.)])[ \t]{1,4}(?:\[[ xX]\][ \t]{1,4}|[-*+•][ \t]{1,4})?"
)
# The purpose of a value in a list: `harbor: …`, `**harbor** — …`, `"harbor": …`.
_PURPOSE: Final = lazy_pattern(
    r"[\[{(]?[*_`\"']{0,3}(?P<name>[^\s:：=|`\"'\[{][^\n:：=|]{0,60}?)[*_`\"']{0,3}"
    r"(?:[ \t]{0,3}(?:[:=](?=[\s\"'`*])|：|=>|->|→)|[ ][—–-][ ])[*_]{0,3}[ \t]{0,20}"
)
_END: Final = lazy_pattern(r"[`\"'*_,;)\]}]{0,6}[ \t]{0,20}(?P<note>#|\(|[—–]|--?[ ]|//|<-)?")
_STANDARD: Final = lazy_pattern(r"[A-Z]{2,6}[0-9]{0,5}(?:-(?:[A-Z]{1,5}[0-9]{0,5}|[0-9]{1,5}[A-Z]{0,2}))+")
# Letters from here on are not Latin; their scripts write words without blanks between.
_NO_LATIN: Final = "\u0250"


def _found_below(text: str, named: Named, after: int, read: dict[object, int]) -> Iterator[Found]:
    """Yield the values on the line, in the block or in the list below a label.

    Args:
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
    if name := _PURPOSE.match(text, start, end):
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
        if (setting := _OF_A_SETTING.fullmatch(value)) and tells_about(setting[1]):
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


# Every label holds one of these. Searching for each costs less than trying all of them at every letter.
_ANCHORS: Final = (
    *(b"pass", b"pw", b"secret", b"token", b"auth", b"cred", b"bearer", b"key", b"sig="),
    *(b"kennwort", b"contrase", b"senha", b"parola", b"wachtwoord"),
)
_OTHER_ANCHORS: Final = lazy_pattern(
    "密码|密碼|口令|密钥|密鑰|令牌|パスワード|暗証番号|비밀번호|[Пп]ароль|ПАРОЛЬ|[Hh]asło"
)
_KEYS_IN_CHINESE: Final = frozenset(("密钥", "密鑰", "令牌"))


_NAME: Final = lazy_pattern(r"[A-Za-z0-9_ñ-]*")
_NAME_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

_LONGEST_NAME: Final = 80
_WORD_BEFORE: Final = lazy_pattern(r"([A-Za-z]+)[ ]\Z")


_AFTER: Final = lazy_pattern(
    r"(?P<close>(?:\\{0,3}[\"'`”’*_)\]}]){0,6})(?:\[[0-9]{0,4}\])?(?P<more>[ ]?\([^()\n]{1,40}\)[*_`]{0,3})?"
)
_SIGN: Final = lazy_pattern(r"[ \t]{0,20}(?::=|=>|={1,3}|!={1,2}|:{1,2}|：|＝|->|→|⇒)[*_]{0,3}[ \t]{0,20}")
_CELL: Final = lazy_pattern(r"[ \t]{0,80}\|[ \t]{0,80}")
_ATTRIBUTE: Final = lazy_pattern(r"[ \t]{1,20}value[ \t]?=[ \t]?(?=[\"'])")
_VALUE_LINE: Final = lazy_pattern(r"[ \t]{0,20}\r?\n[ \t]{1,40}value:[ \t]{1,20}")
_ELEMENT: Final = lazy_pattern(r">[^<>\s]{1,300}</")
_ARGUMENT: Final = lazy_pattern(r"[ \t]?,[ \t]?(?=[\"'])")
# A table cell with more text after the label: `| password harbor | …`.
_REST_OF_CELL: Final = lazy_pattern(r"[ ](?P<said>[^|\n]{1,60})\|[ \t]{0,80}")
_IN_CELL: Final = lazy_pattern(r"(?:^|\n)[ \t>]{0,8}\|[^\n]{0,100}\Z")
_END_OF_CELL: Final = lazy_pattern(r"[`\"'*_ \t]{0,80}(?:\||\r?\n|\Z)")
_COPULA: Final = lazy_pattern(
    COMPLEMENT
    + r"(?:[ ]{1,3}(?:(?:is|was|has been|ist|lautet|war|wurde|es|est|è|é)(?:[ ](?:now|still|just|jetzt|nun))?"
    r"(?:[ ](?:set|changed|updated|reset)[ ]to)?|(?:set|changed|updated|reset)[ ]to)[ ]{0,3}:?[ ]{1,3}"
    r"|(?<=[^\s])[ ]{0,3}[:：=][ ]{0,3}|[ ]{1,3}[—–][ ]{1,3})",
    re.IGNORECASE,
)
_SET_TO: Final = lazy_pattern(COMPLEMENT + r"[ ]to[ ]")
_SETTING: Final = lazy_pattern(r"\b(?:set|chang(?:e|ed)|updat(?:e|ed)|reset)\b[^.\n]{0,40}\Z", re.IGNORECASE)
_IN_CHINESE: Final = lazy_pattern(
    r"[^\x00-\x7f，。；：、「“是为為]{0,8}?(?:(?:是|为|為|：|＝|改成了?|换成了?|设成了?|は|는|은)|[ \t]{0,3}[:=])"
    r"[ \t]{0,3}[：:]?[ \t]{0,3}"
    r"|[ \t]{1,3}"
)
_LOGGING_IN: Final = lazy_pattern(
    r"(?:\b(?:user(?:name)?|login|log in|sign in|account|als|as)\b|用户名|账号|帐号|账户)[^\n]{0,80}\Z",
    re.IGNORECASE,
)

_PRINTED: Final = lazy_pattern(r"[!-~]{1,300}")
_BEFORE_LABELS: Final = 4
_FOLLOWS: Final = lazy_pattern(
    r"[*_`\"']{0,3}(?:[.,;:!?)\n\r]|\Z|[ ]+(?:for|of|to|on|at|in|and|now|für|auf|de|del|pour)\b)"
)


def labelled_in(text: str, small: bytes, foreign: str) -> Iterator[Found]:
    """Yield the values that a label calls secret.

    Args:
        small: The text in lower-case ASCII, with a placeholder for every other character.
        foreign: Its non-ASCII characters.
    """
    done, read = 0, dict[object, int]()
    for at in _anchors_in(small):
        if at < done:
            continue
        if small.startswith(b"sig=", at):
            found = None
            if text.startswith(("?", "&"), at - 1):
                found = _value_after(text, Named(Label.WEAK_KEY, at, at + len("sig"), "sig"))
        else:
            done = _name_end(text, at)
            named = _named(text, at, done)
            if named is None:
                continue
            found = _value_after(text, named)
            if found is None:
                below = tuple(_found_below(text, named, _end_of(text, named), read))
                yield from below
                found = None if below or named.many else _value_before(text, named)
        if found is not None:
            yield found
    if any(anchor in small for anchor in _SPOKEN_ANCHORS):
        yield from _spoken_in(text)
    if _OTHER_ANCHORS.search(foreign):
        yield from _told_in(text, _TOLD_IN_CHINESE)
        for other in _OTHER_ANCHORS.finditer(text):
            yield from _in_other_scripts(text, other, read)


def _anchors_in(small: bytes) -> list[int]:
    found = []
    for anchor in _ANCHORS:
        at = small.find(anchor)
        while at >= 0:
            found.append(at)
            at = small.find(anchor, at + len(anchor))
    return sorted(found)


def _name_end(text: str, at: int) -> int:
    name = _NAME.match(text, at)
    return name.end() if name else at


def _named(text: str, at: int, end: int) -> Named | None:
    """Return the label around an anchor, or None if its name means no secret."""
    before = text[max(0, at - _LONGEST_NAME) : at]
    start = at - (len(before) - len(before.rstrip(_NAME_SIGNS)))
    if end - start > _LONGEST_NAME:
        return None
    name = text[start:end]
    if not _could_be_label(name):
        return None
    before = _word_before(text, start)
    if found := label_of(name, before):
        return Named(found, start, end, name)
    found = label_of_several(name, before)
    return None if found is None else Named(found, start, end, name, many=True)


@lru_cache(maxsize=4096)
def _could_be_label(name: str) -> bool:
    # Most words with an anchor are not labels, whatever precedes them.
    return any(label_of(name, before) or label_of_several(name, before) for before in ("api", "my", "de"))


def _word_before(text: str, start: int) -> str:
    word = _WORD_BEFORE.search(text[max(0, start - 24) : start])
    return word[1].lower() if word else ""


@dataclass(frozen=True)
class _Place:
    """A possible position of a label's value.

    Args:
        in_quotes: Whether the value must be quoted.
        is_cell: Whether it must be a whole table cell.
    """

    between: Between
    at: int
    in_quotes: bool = False
    is_cell: bool = False


def _end_of(text: str, named: Named) -> int:
    after = _AFTER.match(text, named.end)
    return after.end() if after else named.end


def _value_after(text: str, named: Named) -> Found | None:
    place = _separated(text, named)
    if place is None or (named.many and not place.is_cell):
        return None
    for start, end, quoted in values_at(text, place.at, named):
        if (place.in_quotes and not quoted) or (place.is_cell and not _END_OF_CELL.match(text, end)):
            continue
        if is_secret(named.label, place.between, text[start:end], quoted=quoted):
            return Found(start, end, LABELLED)
    return None


def _separated(text: str, named: Named) -> _Place | None:
    """Return the possible position of a label's value on its line, or None without a separator."""
    after = _AFTER.match(text, named.end)
    at = after.end() if after else named.end
    close = after["close"] if after else ""
    if sign := _SIGN.match(text, at):
        return _Place(Between.SIGN, sign.end())
    if cell := _CELL.match(text, at):
        return _Place(Between.CELL, cell.end())
    if close and (attribute := _ATTRIBUTE.match(text, at)):
        return _Place(Between.SIGN, attribute.end(), in_quotes=True)
    if close and (argument := _ARGUMENT.match(text, at)):
        return _Place(Between.SIGN, argument.end(), in_quotes=True)
    if value_line := _VALUE_LINE.match(text, at):
        return _Place(Between.SIGN, value_line.end())
    if text.startswith("<", named.start - 1) and _ELEMENT.match(text, at):
        return _Place(Between.SIGN, at + 1)
    if not text[at : at + 1].isascii() and (chinese := _IN_CHINESE.match(text, at)):
        return _Place(Between.WORDS, chinese.end())
    if words := _COPULA.match(text, at):
        return _Place(Between.WORDS, words.end())
    if (set_to := _SET_TO.match(text, at)) and _SETTING.search(text[max(0, named.start - 60) : named.start]):
        return _Place(Between.WORDS, set_to.end())
    if (rest := _REST_OF_CELL.match(text, at)) and _is_in_cell(text, named) and not tells_about(rest["said"]):
        return _Place(Between.CELL, rest.end(), is_cell=True)
    if text.startswith((" ", "\t"), at) and _takes_a_blank(text, named):
        return _Place(Between.BLANK, at + 1)
    return None


def _is_in_cell(text: str, named: Named) -> bool:
    return _IN_CELL.search(text[max(0, named.start - 110) : named.start]) is not None


def _takes_a_blank(text: str, named: Named) -> bool:
    if named.name.startswith("--") or ("_" in named.name and named.name.isupper()):
        return True
    return named.label is Label.PASSWORD and (
        _LOGGING_IN.search(text[max(0, named.start - 100) : named.start]) is not None
    )


_VERBS: Final = words_of("is was as ist es est = è é")


def _value_before(text: str, named: Named) -> Found | None:
    if named.label not in (Label.PASSWORD, Label.KEY) or not text.startswith(" ", named.start - 1):
        return None
    if not _FOLLOWS.match(text, named.end):
        return None
    begin = max(0, named.start - 200)
    line = text[max(begin, text.rfind("\n", begin, named.start) + 1) : named.start]
    words = list(re.finditer(r"[^\s]+", line))
    for number in range(len(words) - 1, max(0, len(words) - 1 - _BEFORE_LABELS), -1):
        if words[number][0].lower() in _VERBS:
            said = words[number - 1][0]
            start = named.start - len(line) + words[number - 1].start()
            value = said.strip("\"'`“”‘’*_(),")
            start += said.index(value) if value else 0
            wanted = looks_random(value) if named.label is Label.KEY else has_letters_and_digits(value)
            if value and wanted and is_secret(named.label, Between.WORDS, value):
                return Found(start, start + len(value), LABELLED)
            return None
    return None


def _in_other_scripts(text: str, anchor: re.Match[str], read: dict[object, int]) -> Iterator[Found]:
    label = Label.KEY if anchor[0] in _KEYS_IN_CHINESE else Label.PASSWORD
    # In scripts without plurals, any name may mean several.
    named = Named(label, *anchor.span(), anchor[0], many=True)
    found = _value_in_other_scripts(text, named)
    if found is not None:
        yield found
    else:
        yield from _found_below(text, named, _end_of(text, named), read)


def _value_in_other_scripts(text: str, named: Named) -> Found | None:
    at = _end_of(text, named)
    if between := _IN_CHINESE.match(text, at) or _CELL.match(text, at) or _SIGN.match(text, at):
        is_apart = between[0].isspace() or "|" in between[0]
        found = _printed_at(text, between.end(), named.label, is_apart=is_apart)
        if found is not None:
            return found
    if (rest := _REST_OF_CELL.match(text, at)) and _is_in_cell(text, named):
        found = _printed_at(text, rest.end(), named.label, is_apart=True)
        return found if found and _END_OF_CELL.match(text, found.end) else None
    return None


def _printed_at(text: str, at: int, label: Label, *, is_apart: bool) -> Found | None:
    for start, end, quoted in value_at(text, at, in_address=False):
        printed = _PRINTED.match(text, start, end)
        value = printed[0].rstrip(".!?:") if printed else ""
        way = Between.BLANK if is_apart else Between.WORDS
        if value and has_letters_and_digits(value) and is_secret(label, way, value, quoted=quoted):
            return Found(start, start + len(value), LABELLED)
        if value and value.isdigit() and not is_apart and is_secret(label, way, value):
            return Found(start, start + len(value), LABELLED)
    return None


# What people choose and say rather than generate: plain words and short numbers. Only a name that leaves no doubt
# counts, and a value with which the statement ends.
_SPOKEN_ANCHORS: Final = (b"pin", b"phrase", b"wifi", b"wi-fi", b"wlan")
_SAID: Final = r"(?:[ ]{0,3}[:：=]|[ ](?:is|was|lautet|ist)(?:[ ]now)?:?)[ \t]{0,3}"
_STOP: Final = r"(?=[\"'`”’*_)]{0,4}(?:[.,;!?]?[ \t]{0,20}(?:\r?\n|\Z)|[.,;!?]\s|[，。；！？、]))"
_PIN: Final = lazy_pattern(
    rf"\bPIN(?:[- ]?number)?{COMPLEMENT}(?:{_SAID}|[ ])[\"'`*_]{{0,3}}(?P<value>[0-9]{{4,8}})(?![0-9])(?![.,:/-]?\w)"
)
_PHRASE: Final = lazy_pattern(
    rf"(?i:\bpass[- ]?phrase){COMPLEMENT}{_SAID}"
    r"(?:[\"“„'`](?P<quoted>[A-Za-z]+(?:[ -][A-Za-z]+){2,12})[\"”“'`]"
    r"|(?P<value>[A-Za-z]+(?:[ -][A-Za-z]+){3,12}))(?=[.!]?[ \t]{0,20}(?:\r?\n|\Z))"
)
_WIRELESS: Final = lazy_pattern(
    rf"(?i:\b(?:wi-?fi|wlan)[- ]?(?:network[ ]|guest[ ])?(?:password|passphrase|passwort|kennwort|key|schlüssel|psk))"
    rf"{COMPLEMENT}{_SAID}[\"“„'`*_]{{0,3}}(?P<value>[A-Za-z0-9]{{8,63}}){_STOP}"
)
_TOLD_IN_CHINESE: Final = lazy_pattern(
    r"(?:密码|密碼|口令)(?:[ \t]{0,3}[:：＝=]|[是为為])[ \t]{0,3}(?P<value>[A-Za-z0-9]{4,63})"
    r"(?=[\"'`”’*_)）」]{0,4}(?:[.,;!?]?[ \t]{0,20}(?:\r?\n|\Z)|[，。；！？、]))"
)
_FUNCTION_WORDS: Final = words_of(
    "a an and are as at be been by can for from has have if in is it must no not of on or please should so that the "
    "this to was we which will with you your word words long random"
)
# English words that say how something is: `required`, `different`, `missing`, `unavailable`.
_STATE: Final = lazy_pattern(
    r"(?:[a-z]{2,}(?:ed|ing|ect|[ai]ble|n?own|ent|ary|ory|al|ly|ive|less|ful))", re.IGNORECASE
)


def _spoken_in(text: str) -> Iterator[Found]:
    for match in _PIN.finditer(text):
        yield Found(*match.span("value"), LABELLED)
    for match in _PHRASE.finditer(text):
        group = "value" if match["value"] else "quoted"
        words = words_of(match[group].lower())
        if group == "quoted" or not (_FUNCTION_WORDS.intersection(words) or tells_about(match[group])):
            yield Found(*match.span(group), LABELLED)
    yield from _told_in(text, _WIRELESS)


def _told_in(text: str, pattern: re.Pattern[str]) -> Iterator[Found]:
    for match in pattern.finditer(text):
        value = match["value"]
        if value.isdigit() or not (
            len(value) < _FEWEST_LETTERS
            or _STATE.fullmatch(value)
            or tells_about(value)
            or is_stand_in(value, in_code=True)
        ):
            yield Found(*match.span("value"), LABELLED)


_FEWEST_LETTERS: Final = 6
