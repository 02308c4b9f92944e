"""Finds secrets by their place: key blocks, URLs, commands, tables with a heading row, and seed phrases."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.secrets.values import (
    LABELLED,
    Between,
    Found,
    Label,
    has_letters_and_digits,
    is_password,
    is_secret,
    is_stand_in,
    label_of,
    looks_random,
    words_of,
)

PRIVATE_KEY: Final = "private key"
IN_ADDRESS: Final = "password in an address"
IN_COMMAND: Final = "password in a command"
SEED_PHRASE: Final = "seed phrase"

# If its end is missing, lines that could belong to it do.
_KEY_BLOCK: Final = lazy_pattern(
    r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]|-(?!----BEGIN )){0,20000}?-----END[ A-Z0-9]+-----(?:\\n(?=[\"']))?"
    r"|(?:\s{1,8}[A-Za-z0-9+/=]{20,200}(?!\S))*)"
)
_OPENING: Final = 64
_BEFORE_RSA: Final = 5
_STANDARD: Final = str.maketrans("-_", "+/")
_SSH2_BLOCK: Final = lazy_pattern(
    r"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----(?:[^-]{0,20000}---- END[ A-Z0-9]+ ----)?"
)
_PUTTY_LINES: Final = lazy_pattern(
    r"Private-Lines: [0-9]{1,4}\r?\n((?:[A-Za-z0-9+/=]{1,100}(?:\r?\n|\Z)){1,200})"
)

# Such a block again in base64, as in Kubernetes' secrets; and one without its first and last line.
_ENCODED_BLOCK: Final = lazy_pattern(
    r"[A-Za-z0-9+/_-]{64,20000}={0,2}(?:[ \t]{0,2}\r?\n[ \t>]{0,40}[A-Za-z0-9+/_-]{1,200}={0,2}(?![^\s\"']))*"
)
_BEGIN_ENCODED: Final = "LS0tLS1CRUdJTi"
_KEYS_BARE: Final = (
    "b3BlbnNzaC1rZXktdjEA",
    "IBADANBgkqhkiG9w0BAQEFAASC",
    "MHcCAQEEI",
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG",
)

_SCHEME: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]{0,20}\Z")
_USER_AND_PASSWORD: Final = lazy_pattern(r"([^\s/:@\"'<>`]{0,100}):([^\s/@\"'<>`]{3,200})@")
_TOKEN_ALONE: Final = lazy_pattern(r"([A-Za-z0-9_-]{20,255})(?::x-oauth-basic)?@")
_PLAIN_NAMES: Final = words_of("password pass passwd pwd pw secret token user username changeme xxx example")

_PROGRAM: Final = lazy_pattern(
    rb"(?:curl|https?|xh|mysql(?:dump|admin|import)?|mariadb(?:-dump)?|mongo(?:sh|dump|restore|export)?|sshpass"
    rb"|redis-cli|docker|podman|sqlcmd|bcp|smbclient|ldapsearch|7z|unzip|zip|openssl|cqlsh) "
)
_FLAG: Final = lazy_pattern(rb" -(?:[upaw]|-(?:user|auth|proxy-user|pass))")
_LONGEST_COMMAND: Final = 2000
_QUOTED: Final = r"(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})'|([^\s\"'`<>]{3,200}))"
_PAIR: Final = (
    r"(?:^|\s)(?:-u|--user|-U|-a|--auth|--proxy-user)(?:=|\s{0,4})"
    r"(?:\"[^\"\s:%]{0,100}[:%]([^\"\n]{3,200})\"|'[^'\s:%]{0,100}[:%]([^'\n]{3,200})'|[^\s\"':%]{0,100}[:%]([^\s\"'`<>]{3,200}))"
)
_LONG_WORD: Final = 8
_PAIRED: Final = frozenset(("curl", "http", "https", "xh", "smbclient"))
# Compiled on first use; most texts hold none.
_ATTACHED: Final = rf"(?:^|\s)-p{_QUOTED}"
_APART: Final = rf"(?:^|\s)-p[ ]{_QUOTED}"
_FLAGS: Final = {
    "sqlcmd": rf"(?:^|\s)-P[ ]?{_QUOTED}",
    "bcp": rf"(?:^|\s)-P[ ]?{_QUOTED}",
    "unzip": rf"(?:^|\s)-P[ ]?{_QUOTED}",
    "zip": rf"(?:^|\s)-P[ ]?{_QUOTED}",
    "redis-cli": rf"(?:^|\s)(?:-a|--pass)[ ]{_QUOTED}",
    "ldapsearch": rf"(?:^|\s)-w[ ]?{_QUOTED}",
    "openssl": rf"(?:^|\s)-pass(?:in|out)?[ ]pass:{_QUOTED}",
    "7z": _ATTACHED,
    "sshpass": rf"(?:^|\s)-p[ ]?{_QUOTED}",
    **dict.fromkeys(("mongo", "mongosh", "mongodump", "mongorestore", "mongoexport"), _APART),
    **dict.fromkeys(("docker", "podman", "cqlsh"), _APART),
    **dict.fromkeys(
        ("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump"), _ATTACHED
    ),
}

_RULE: Final = lazy_pattern(r"[ \t>]{0,8}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\r?(?=\n)")
# Every table has one of these below its heading.
_IN_RULES: Final = ("|-", "| -", "|:-", "| :-")
_MOST_COLUMNS: Final = 40
_FIELD: Final = lazy_pattern(r"[\"']?[A-Za-z][A-Za-z _-]{0,30}[\"']?")

_LETTERS: Final = bytes(at if 97 <= at <= 122 else 32 for at in range(256))
_LENGTHS: Final = (24, 21, 18, 15, 12)
_PIECE: Final = 1 << 18
_FEWEST_DIFFERENT: Final = 6
# A blank, a comma, a line feed, or a word's number in a list.
_BETWEEN_WORDS: Final = lazy_pattern(
    r"[ \t]{0,4}[,;|]?[ \t]{0,4}\r?\n?[ \t>]{0,8}(?:(?:[-*+]|\(?\d{1,2}[.):]?)[ \t]{1,4})?"
)


def placed_in(text: str, small: bytes) -> Iterator[Found]:
    """Yield the secrets found by their place in a text.

    Args:
        small: The text in lower-case ASCII, with a placeholder for every other character.
    """
    yield from _key_blocks_in(text)
    yield from _encoded_keys_in(text)
    yield from _addresses_in(text)
    yield from _commands_in(text, small)
    yield from _tables_in(text)
    yield from _columns_in(text)
    yield from _seed_phrases_in(text, small)


def _key_blocks_in(text: str) -> Iterator[Found]:
    for opening, pattern in (("-----BEGIN ", _KEY_BLOCK), ("---- BEGIN SSH2", _SSH2_BLOCK)):
        at = text.find(opening)
        while at >= 0:
            block = pattern.match(text, at)
            if block is not None:
                yield Found(at, block.end(), PRIVATE_KEY)
            at = text.find(opening, block.end() if block else at + 1)
    at = text.find("Private-Lines:")
    while at >= 0:
        lines = _PUTTY_LINES.match(text, at)
        if lines is not None:
            yield Found(lines.start(1), lines.start(1) + len(lines[1].rstrip()), PRIVATE_KEY)
        at = text.find("Private-Lines:", at + 1)


def _encoded_keys_in(text: str) -> Iterator[Found]:
    for opening in (_BEGIN_ENCODED, *_KEYS_BARE):
        at = text.find(opening)
        while at >= 0:
            # The length of what is encoded comes before the mark of an RSA key.
            start = at - _BEFORE_RSA if text[max(0, at - _BEFORE_RSA) : at].startswith("MII") else at
            block = _ENCODED_BLOCK.match(text, start)
            if block is not None and (opening != _BEGIN_ENCODED or _is_encoded_key(block[0])):
                yield Found(start, block.end(), PRIVATE_KEY)
            at = text.find(opening, block.end() if block else at + 1)


def _is_encoded_key(said: str) -> bool:
    opening = base64.b64decode(said[:_OPENING].translate(_STANDARD))
    return b"PRIVATE KEY" in opening


def _addresses_in(text: str) -> Iterator[Found]:
    at = text.find("://")
    while at >= 0:
        begin = at + 3
        if text.find("@", begin, begin + 304) >= 0 and _SCHEME.search(text[max(0, at - 21) : at]):
            pair = _USER_AND_PASSWORD.match(text, begin)
            if pair is not None:
                if not _is_example(pair[1], pair[2]):
                    yield Found(pair.start(2), pair.end(2), IN_ADDRESS)
            elif (token := _TOKEN_ALONE.match(text, begin)) and looks_random(token[1]):
                yield Found(token.start(1), token.end(1), IN_ADDRESS)
        at = text.find("://", begin)


def _is_example(name: str, password: str) -> bool:
    """Return True if a URL only shows the syntax, or the name equals the password."""
    plain = password.strip("*_").lower()
    return not plain or plain in _PLAIN_NAMES or plain == name.lower() or is_stand_in(password, in_code=True)


def _commands_in(text: str, small: bytes) -> Iterator[Found]:
    done = 0
    for flag in _FLAG.finditer(small):
        at = flag.start()
        if at < done:
            continue
        # Each command is examined once, from the end of the previous one to the end of its last line.
        begin, end = _command_start(text, at, done), _command_end(text, at)
        for program in _PROGRAM.finditer(small, begin, end):
            if not small[program.start() - 1 : program.start()].isalpha():
                yield from _passwords_of(text, program[0].decode().strip(), program.end() - 1, end)
                break
        done = end


def _passwords_of(text: str, program: str, begin: int, end: int) -> Iterator[Found]:
    for pattern in (_PAIR if program in _PAIRED else None, _FLAGS.get(program)):
        if pattern is None:
            continue
        for match in re.compile(pattern).finditer(text, begin, end):
            number = next(at for at in (1, 2, 3) if match[at] is not None)
            # After the colon of a user stands a password, even one of letters alone.
            is_word = pattern is _PAIR and match[number].isalpha() and len(match[number]) >= _LONG_WORD
            if _is_in_command(match[number], is_word=is_word):
                yield Found(match.start(number), match.end(number), IN_COMMAND)


def _command_start(text: str, at: int, done: int) -> int:
    first = begin = max(done, at - _LONGEST_COMMAND)
    while at > first:
        begin = text.rfind("\n", first, at)
        if begin < 0:
            return first
        if text[begin - 1] != "\\" and text[begin - 2 : begin] != "\\\r":
            return begin + 1
        at = begin
    return first


def _command_end(text: str, at: int) -> int:
    last = min(len(text), at + _LONGEST_COMMAND)
    while True:
        end = text.find("\n", at, last)
        if end < 0:
            return last
        if text[end - 1] != "\\" and text[end - 2 : end] != "\\\r":
            return end
        at = end + 1


def _is_in_command(said: str, *, is_word: bool) -> bool:
    plain = said.lower()
    if plain in _PLAIN_NAMES or is_stand_in(said, in_code=True) or said.startswith(("-", "/")):
        return False
    return is_word or has_letters_and_digits(said) or (is_password(said) and not said.isdigit())


def _cells(line: str) -> list[tuple[int, int]]:
    """Return the beginning and end of each cell of a table row, without blanks, emphasis and quotes."""
    found, at = [], 0
    for cell in line.split("|")[: _MOST_COLUMNS + 1]:
        inner = cell.strip("* _`\t\r")
        start = at + (cell.find(inner) if inner else 0)
        found.append((start, start + len(inner)))
        at += len(cell) + 1
    return found


def _tables_in(text: str) -> Iterator[Found]:
    done = 0
    for start in _rules_in(text):
        rule = _RULE.match(text, start)
        if rule is None or start < done:
            continue
        heading = text[text.rfind("\n", 0, start - 1) + 1 : start - 1]
        wanted = [
            (number, label)
            for number, (start, end) in enumerate(_cells(heading[:2000]))
            if (label := _heading(heading[start:end])) is not None
        ]
        at = rule.end() + 1
        while wanted and at < len(text):
            end = text.find("\n", at)
            end = end if end >= 0 else len(text)
            line = text[at:end]
            if "|" not in line:
                break
            cells = _cells(line)
            for number, label in wanted:
                start, stop = cells[number] if number < len(cells) else (0, 0)
                if _is_cell(label, line[start:stop]):
                    yield Found(at + start, at + stop, LABELLED)
            at = end + 1
        done = at


def _rules_in(text: str) -> list[int]:
    """Return the beginnings of lines that could be the rule below a table's heading, except the first line."""
    found = set()
    for sign in _IN_RULES:
        at = text.find(sign)
        while at >= 0:
            found.add(text.rfind("\n", 0, at) + 1)
            end = text.find("\n", at)
            at = text.find(sign, end) if end >= 0 else -1
    return sorted(found - {0})


def _heading(said: str) -> Label | None:
    name = said.strip("\"' ")
    return label_of(name.replace(" ", "_")) if name and len(name) <= 40 else None


def _is_cell(label: Label, said: str) -> bool:
    return bool(said) and not any(map(str.isspace, said)) and is_secret(label, Between.CELL, said)


def _columns_in(text: str) -> Iterator[Found]:
    """Yield the passwords in comma-, semicolon- or tab-separated rows below a row of names."""
    end = text.find("\n", 0, 2000)
    first = text[: max(end, 0)].rstrip("\r")
    sign = next((sign for sign in (",", ";", "\t") if sign in first), None)
    if sign is None or not all(_FIELD.fullmatch(name.strip()) for name in first.split(sign)):
        return
    names = first.split(sign)
    wanted = [(at, label) for at, name in enumerate(names) if (label := _heading(name)) is not None]
    at = end + 1
    while wanted and at < len(text):
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        cells = text[at:end].split(sign)
        if len(cells) < len(names):
            return
        for number, label in wanted:
            cell = cells[number]
            said = cell.strip().strip("\"'")
            if _is_cell(label, said):
                start = at + sum(len(each) + 1 for each in cells[:number]) + cell.find(said)
                yield Found(start, start + len(said), LABELLED)
        at = end + 1


@lru_cache(maxsize=1)
def _seed_words() -> dict[bytes, int]:
    said = Path(__file__).with_name("seed_words.txt").read_text("ascii")
    return {word.encode(): number for number, word in enumerate(said.split())}


def _seed_phrases_in(text: str, small: bytes) -> Iterator[Found]:
    """Yield runs of words from BIP-39's list with a valid checksum.

    Ignores signs, numbers and line ends between words. A phrase is a whole run, or a part of one set off by
    lines or signs.
    """
    numbers = _seed_words()
    wanted = b"\1" * _LENGTHS[-1]
    at = 0
    while at < len(small):
        # Large texts are searched in pieces that overlap by the maximum length of a phrase.
        piece = small[at : at + _PIECE].translate(_LETTERS)
        known = bytes(map(numbers.__contains__, piece.split()))
        if wanted in known:
            yield from _seed_phrases_in_piece(text, at, piece, known)
        at += _PIECE - 1024 if at + _PIECE < len(small) else _PIECE


def _seed_phrases_in_piece(text: str, begin: int, piece: bytes, known: bytes) -> Iterator[Found]:
    places = [(word.start() + begin, word.end() + begin) for word in re.finditer(rb"[a-z]+", piece)]
    numbers = _seed_words()
    for run in re.finditer(rb"\x01{12,}", known):
        words = places[run.start() : run.end()]
        values = [numbers[piece[start - begin : end - begin]] for start, end in words]
        # A phrase begins and ends with the run, or where more than a blank separates two words.
        edges = [
            at
            for at in range(len(words) + 1)
            if at in (0, len(words)) or text[words[at - 1][1] : words[at][0]].strip(" ")
        ]
        done, ends = 0, set(edges)
        for first in edges:
            length = next(
                (
                    each
                    for each in _LENGTHS
                    if first >= done and first + each in ends and _is_phrase(text, words, values, first, each)
                ),
                None,
            )
            if length is not None:
                done = first + length
                yield Found(words[first][0], words[done - 1][1], SEED_PHRASE)


def _is_phrase(text: str, words: list[tuple[int, int]], values: list[int], first: int, length: int) -> bool:
    last = first + length
    if len(set(values[first:last])) < _FEWEST_DIFFERENT:
        return False
    if not all(
        _BETWEEN_WORDS.fullmatch(text, words[at][1], words[at + 1][0]) for at in range(first, last - 1)
    ):
        return False
    bits = 0
    for value in values[first:last]:
        bits = bits << 11 | value
    check = length // 3
    entropy = (bits >> check).to_bytes(check * 4, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - check) == bits & ((1 << check) - 1)
