"""What is called a secret in so many words: a label, what separates it, and a value."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from workbench.engine.secrets.values import (
    Found,
    has_letters_and_digits,
    is_key,
    is_password,
    is_stand_in,
    looks_random,
    words_of,
)

LABELLED: Final = "password"


class Label(Enum):
    """What a label calls its value, which decides how much the value must look like a secret."""

    PASSWORD = "password"  # noqa: S105
    PASS = "pass"  # noqa: S105
    SECRET = "secret"  # noqa: S105
    KEY = "key"
    TOKEN = "token"  # noqa: S105
    WEAK_KEY = "weak key"
    AUTHORIZATION = "authorization"
    CREDENTIALS = "credentials"


class Between(Enum):
    """What separates a value from its label."""

    SIGN = "sign"
    CELL = "cell"
    WORDS = "words"
    BLANK = "blank"
    LINE = "line"


# Every label has one of these in it. Looking for them costs a tenth of looking at labels.
_ANCHORS: Final = re.compile(
    rb"pass|pw|secret|token|auth|cred|bearer|kennwort|contrase|senha|parola|wachtwoord|key|sig="
)
_OTHER_ANCHORS: Final = re.compile(
    "密码|密碼|口令|密钥|密鑰|令牌|パスワード|暗証番号|비밀번호|[Пп]ароль|ПАРОЛЬ|[Hh]asło"
)
_KEYS_IN_CHINESE: Final = frozenset(("密钥", "密鑰", "令牌"))

_NAME: Final = re.compile(r"[A-Za-z0-9_ñ-]*")
_NAME_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_WORDS: Final = re.compile(r"[A-Z]+(?![a-zñ])|[A-Z]?[a-zñ]+|[0-9]+")
_LONGEST_NAME: Final = 80
_WORD_BEFORE: Final = re.compile(r"([A-Za-z]+)[ ]\Z")

_PASSWORDS: Final = (
    *("password", "passwd", "passphrase", "passcode", "pwd", "passwort", "kennwort", "wachtwoord"),
    *("contraseña", "contrasena", "senha", "parola"),
)
_TAILS: Final = words_of(
    "value string prod production dev test staging base raw plain text new old current default root admin super "
    "secure main live sandbox local primary secondary b64 base64"
)
_NO_PASSWORD: Final = words_of("reset forgot forgotten hash hashed encrypted show hide no min max num")
_KEY_HEADS: Final = words_of(
    "api access secret private account shared auth encryption encrypt signing sign master service client app "
    "application storage deploy webhook hmac jwt session cookie admin root wallet vault rest subscription ssh "
    "authorization functions function host license server crypto aes rsa wif recovery"
)
_KEY_COMPOUNDS: Final = (
    *("apikey", "secretkey", "accesskey", "privatekey", "authkey", "accountkey", "sharedkey", "signingkey"),
    *("encryptionkey", "masterkey", "servicekey", "clientkey", "appkey", "sharedaccesskey"),
)
_NO_KEYS: Final = words_of(
    "public pub primary foreign sort cache partition idempotency hash map dict object row col column index shard "
    "routing message sequence natural unique composite bucket translation i18n schema idx hot arrow key"
)
_TOKEN_COMPOUNDS: Final = ("authtoken", "accesstoken", "apitoken", "bearertoken", "refreshtoken", "usertoken")
_TOKEN_HEADS: Final = words_of(
    "api auth access bearer refresh bot user personal deploy id app session github gitlab npm slack private"
)
_NO_TOKENS: Final = words_of(
    "csrf xsrf next page pagination continuation pad eos bos unk sep mask cls cancellation cancel design color num "
    "max min total prompt completion input output per public stop special image sync change cursor first last "
    "start end previous prev"
)
# Words before a bare `pass` that leave it what one logs in with: `my pass`, and no `boarding pass`.
_BEFORE_PASS: Final = words_of("my the your our his her their wifi login root admin user db database")

_AFTER: Final = re.compile(
    r"(?P<close>(?:\\{0,3}[\"'`”’*_)\]}]){0,6})(?:\[[0-9]{0,4}\])?(?P<more>[ ]?\([^()\n]{1,40}\)[*_`]{0,3})?"
)
_SIGN: Final = re.compile(r"[ \t]{0,20}(?::=|=>|={1,3}|!={1,2}|:{1,2}|：|＝|->|→|⇒)[*_]{0,3}[ \t]{0,20}")
_CELL: Final = re.compile(r"[ \t]{0,80}\|[ \t]{0,80}")
_ATTRIBUTE: Final = re.compile(r"[ \t]{1,20}value[ \t]?=[ \t]?(?=[\"'])")
_VALUE_LINE: Final = re.compile(r"[ \t]{0,20}\r?\n[ \t]{1,40}value:[ \t]{1,20}")
_ELEMENT: Final = re.compile(r">[^<>\s]{1,300}</")
_ARGUMENT: Final = re.compile(r"[ \t]?,[ \t]?(?=[\"'])")
_NEXT_LINE: Final = re.compile(r"[ \t]{0,20}[:：]?[*_]{0,3}[ \t]{0,20}\r?\n[ \t]{0,40}")
_ALONE: Final = re.compile(r"[`\"'*_ \t]{0,6}\r?(?:\n|\Z)")
_OWN_LINE: Final = re.compile(r"(?:^|\n)[ \t]{0,40}(?:[#>*-]{1,6}[ \t]{1,4})?[*_]{0,3}\Z")
_COMPLEMENT: Final = (
    r"(?:[ ](?:of|for|to|on|at|in|für|de|du|del|da|do|der|des|von|zum|zur)[ ]"
    r"(?:[^\n.;:=|]|\.(?=[^\s])){1,60}?)?"
)
_COPULA: Final = re.compile(
    _COMPLEMENT
    + r"(?:[ ]{1,3}(?:(?:is|was|has been|ist|lautet|war|wurde|es|est|è|é)(?:[ ](?:now|still|just|jetzt|nun))?"
    r"(?:[ ](?:set|changed|updated|reset)[ ]to)?|(?:set|changed|updated|reset)[ ]to)[ ]{0,3}:?[ ]{1,3}"
    r"|(?<=[^\s])[ ]{0,3}[:：=][ ]{0,3}|[ ]{1,3}[—–][ ]{1,3})",
    re.IGNORECASE,
)
_SET_TO: Final = re.compile(_COMPLEMENT + r"[ ]to[ ]")
_SETTING: Final = re.compile(r"\b(?:set|chang(?:e|ed)|updat(?:e|ed)|reset)\b[^.\n]{0,40}\Z", re.IGNORECASE)
_IN_CHINESE: Final = re.compile(
    r"[^\x00-\x7f，。；：、「“是为為]{0,8}?(?:(?:是|为|為|：|＝|改成了?|换成了?|设成了?|は|는|은)|[ \t]{0,3}[:=])"
    r"[ \t]{0,3}[：:]?[ \t]{0,3}"
    r"|[ \t]{1,3}"
)
_LOGGING_IN: Final = re.compile(
    r"(?:\b(?:user(?:name)?|login|log in|sign in|account|als|as)\b|用户名|账号|帐号|账户)[^\n]{0,80}\Z",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(r"(?:[*_]{1,3}|@(?=\"))?(\\{0,3}[\"'`]|[“‘„「『])?")
_CLOSING: Final = {"“": "”", "‘": "’", "„": "“", "「": "」", "『": "』"}
_BARE: Final = re.compile(r"[^\s\"'`“”‘’「」『』<>，。；、|,;]{1,300}")
_PRINTED: Final = re.compile(r"[!-~]{1,300}")
_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[A-Za-z][\w-]*)+")
_ALGORITHM: Final = re.compile(
    r"(?:sha|md|aes|rsa|hs|rs|es|ps|pbkdf|base|oauth|ed|x|utf|argon|bcrypt|scrypt|http|tls|ssl|hmac|totp)"
    r"[-_]?\d{1,5}(?:[-_./]?[a-z]*\d*)*",
    re.IGNORECASE,
)
_STRONG_SIGNS: Final = frozenset("!@#$%^&*+~|")
_BASIC: Final = re.compile(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9-]{2,20})[ ]{1,4}(?=[^\s])")
_OF_A_USER: Final = re.compile(r"[^\s:/]{2,40}[ ]?[/:][ ]?(?=[^\s/])")


@dataclass(frozen=True)
class _Named:
    label: Label
    start: int
    end: int
    name: str


def labelled_in(text: str, small: bytes) -> Iterator[Found]:
    """Yield the values in a text that a label calls secret.

    Args:
        text: Any.
        small: The same in ASCII and small letters, with something else for every character that is none.
    """
    done = 0
    for anchor in _ANCHORS.finditer(small):
        if anchor.start() < done:
            continue
        if anchor[0] == b"sig=":
            if not text.startswith(("?", "&"), anchor.start() - 1):
                continue
            found = _value_after(text, _Named(Label.WEAK_KEY, anchor.start(), anchor.end() - 1, "sig"))
        else:
            name_end = _name_end(text, anchor.start())
            named = _named(text, anchor.start(), name_end)
            done = name_end
            found = None if named is None else _value_after(text, named)
            if found is None and named is not None:
                found = _value_before(text, named)
        if found is not None:
            yield found
    if not text.isascii():
        for other in _OTHER_ANCHORS.finditer(text):
            found = _in_other_scripts(text, other)
            if found is not None:
                yield found


def _name_end(text: str, at: int) -> int:
    name = _NAME.match(text, at)
    return name.end() if name else at


def _named(text: str, at: int, end: int) -> _Named | None:
    """Return the label whose name has an anchor in it; None where the name is none of a secret."""
    before = text[max(0, at - _LONGEST_NAME) : at]
    start = at - (len(before) - len(before.rstrip(_NAME_SIGNS)))
    if end - start > _LONGEST_NAME:
        return None
    name = text[start:end]
    # Most words with an anchor are no labels, whatever is before them.
    if label_of(name, "api") is None and label_of(name, "my") is None and name.lower() != "passe":
        return None
    found = label_of(name, _word_before(text, start))
    return None if found is None else _Named(found, start, end, name)


def _word_before(text: str, start: int) -> str:
    word = _WORD_BEFORE.search(text[max(0, start - 24) : start])
    return word[1].lower() if word else ""


@lru_cache(maxsize=4096)
def label_of(name: str, before: str = "") -> Label | None:
    """Return what a name calls its value; None where that is no secret.

    Args:
        name: As settings, tables and sentences have it: `DB_PASSWORD`, `clientSecret`, `key`.
        before: The word before it, in small letters.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _TAILS):
        words.pop()
    if not words:
        return None
    last, heads = words[-1], words[:-1] or ([before] if before else [])
    if last.endswith(_PASSWORDS) or last == "pw" or (last == "passe" and before == "de"):
        return None if _NO_PASSWORD.intersection(heads[-1:]) else Label.PASSWORD
    if last in {"pass", "dbpass", "userpass"}:
        return Label.PASS if len(words) > 1 or not before or before in _BEFORE_PASS else None
    if last.endswith("secret"):
        return Label.SECRET
    if last in _TOKEN_COMPOUNDS:
        return Label.KEY
    if last == "token":
        if _NO_TOKENS.intersection(heads[-2:]):
            return None
        return Label.KEY if _TOKEN_HEADS.intersection(heads[-1:]) else Label.TOKEN
    if last.endswith(_KEY_COMPOUNDS):
        return Label.KEY
    if last == "key":
        return _key_label(name, heads, is_name=len(words) > 1)
    if last in {"auth", "authorization"}:
        return Label.AUTHORIZATION
    if last == "bearer":
        return Label.AUTHORIZATION
    return Label.CREDENTIALS if last in {"credential", "credentials", "creds", "cred"} else None


def _key_label(name: str, heads: list[str], *, is_name: bool) -> Label | None:
    if _NO_KEYS.intersection(heads[-1:]):
        return None
    if _KEY_HEADS.intersection(heads[-1:]):
        return Label.KEY
    return Label.WEAK_KEY if is_name and name.isupper() else None


def _value_after(text: str, named: _Named) -> Found | None:
    for between, at, in_quotes in _separated(text, named):
        for start, end, quoted in _values(text, at, named):
            if (in_quotes and not quoted) or (between is Between.LINE and not _ALONE.match(text, end)):
                continue
            if is_secret(named.label, between, text[start:end], quoted=quoted):
                return Found(start, end, LABELLED)
    return None


def _separated(text: str, named: _Named) -> Iterator[tuple[Between, int, bool]]:
    """Yield where the value of a label could begin, what is between, and whether it must be in quotes."""
    after = _AFTER.match(text, named.end)
    at = after.end() if after else named.end
    close = after["close"] if after else ""
    if sign := _SIGN.match(text, at):
        yield Between.SIGN, sign.end(), False
    elif cell := _CELL.match(text, at):
        yield Between.CELL, cell.end(), False
    elif close and (attribute := _ATTRIBUTE.match(text, at)):
        yield Between.SIGN, attribute.end(), True
    elif close and (argument := _ARGUMENT.match(text, at)):
        yield Between.SIGN, argument.end(), True
    elif value_line := _VALUE_LINE.match(text, at):
        yield Between.SIGN, value_line.end(), False
    elif text.startswith("<", named.start - 1) and _ELEMENT.match(text, at):
        yield Between.SIGN, at + 1, False
    elif not text[at : at + 1].isascii() and (chinese := _IN_CHINESE.match(text, at)):
        yield Between.WORDS, chinese.end(), False
    elif words := _COPULA.match(text, at):
        yield Between.WORDS, words.end(), False
    elif (set_to := _SET_TO.match(text, at)) and _SETTING.search(
        text[max(0, named.start - 60) : named.start]
    ):
        yield Between.WORDS, set_to.end(), False
    elif text.startswith((" ", "\t"), at) and _takes_a_blank(text, named):
        yield Between.BLANK, at + 1, False
    if (line := _NEXT_LINE.match(text, at)) and _OWN_LINE.search(
        text[max(0, named.start - 60) : named.start]
    ):
        yield Between.LINE, line.end(), False


def _takes_a_blank(text: str, named: _Named) -> bool:
    if named.name.startswith("--") or ("_" in named.name and named.name.isupper()):
        return True
    return named.label is Label.PASSWORD and (
        _LOGGING_IN.search(text[max(0, named.start - 100) : named.start]) is not None
    )


def _values(text: str, at: int, named: _Named) -> Iterator[tuple[int, int, bool]]:
    """Yield where a value that begins at a place ends, and whether it is in quotes."""
    if named.label is Label.AUTHORIZATION and (quote := _OPENING.match(text, at)):
        scheme = _SCHEME.match(text, quote.end())
        if scheme:
            yield from _value_at(text, scheme.end(), in_address=False)
            return
    if named.label is Label.CREDENTIALS and (user := _OF_A_USER.match(text, at)):
        yield from _value_at(text, user.end(), in_address=False)
    yield from _value_at(text, at, in_address=text.startswith(("?", "&", "#"), named.start - 1))


def _value_at(text: str, at: int, *, in_address: bool) -> Iterator[tuple[int, int, bool]]:
    opening = _OPENING.match(text, at)
    start = opening.end() if opening else at
    quote = opening[1] if opening else None
    if quote:
        sign = _CLOSING.get(quote, quote[-1])
        line_end = text.find("\n", start, start + 302)
        end = text.find(sign, start, line_end if line_end >= 0 else start + 302)
        if end > start:
            end -= len(text[start:end]) - len(text[start:end].rstrip("\\"))
            if not any(map(str.isspace, text[start:end])):
                yield start, end, True
            return
    bare = _BARE.match(text, start)
    if bare is None:
        return
    said = re.split("[&#]", bare[0], maxsplit=1)[0] if in_address else bare[0]
    for sign, partner in ((")", "("), ("]", "["), ("}", "{")):
        if partner not in said:
            said = said.split(sign, 1)[0]
    # What ends a sentence is no part of the last word.
    said = said.rstrip(".!?:\\" if bare.end() == len(text) or text[bare.end()].isspace() else ":\\")
    if start > at or said.endswith("**"):
        said = said.rstrip("*_")
    if said:
        yield start, start + len(said), False


def is_secret(label: Label, between: Between, value: str, *, quoted: bool = False) -> bool:
    """Return True where a value looks like what its label calls it.

    Args:
        label: Of it.
        between: What separates them.
        value: Itself, without quotes.
        quoted: Whether it is in quotes.
    """
    in_code = between is not Between.WORDS
    if len(value) < 6 or is_stand_in(value, in_code=in_code):
        return False
    if _MAIL.fullmatch(value) or _ALGORITHM.fullmatch(value) or value.lower().startswith("1password"):
        return False
    if label is Label.AUTHORIZATION:
        return is_basic(value) or (len(value) >= 12 and looks_random(value))
    if label in (Label.PASSWORD, Label.PASS, Label.CREDENTIALS):
        return _is_password(label, between, value)
    if label is Label.TOKEN:
        return looks_random(value)
    if label is Label.WEAK_KEY:
        return len(value) >= 20 and looks_random(value)
    if between in (Between.CELL, Between.LINE) or (label is Label.SECRET and not in_code):
        return looks_random(value)
    return is_key(value) or (quoted and label is Label.SECRET and _is_mixed(value))


def _is_password(label: Label, between: Between, value: str) -> bool:
    if label is Label.CREDENTIALS:
        return looks_random(value) or _is_mixed(value)
    if between is Between.WORDS and label is Label.PASSWORD:
        return is_password(value)
    if between is Between.SIGN:
        has_sign = any(map(str.isdigit, value)) or bool(_STRONG_SIGNS.intersection(value))
        return has_sign and is_password(value) and (label is Label.PASSWORD or has_letters_and_digits(value))
    return has_letters_and_digits(value) and is_password(value)


def _is_mixed(value: str) -> bool:
    return has_letters_and_digits(value) and bool(_STRONG_SIGNS.intersection(value))


def is_basic(value: str) -> bool:
    """Return True for a name and a password as Basic authentication sends them."""
    if not _BASIC.fullmatch(value[:4000]):
        return False
    try:
        said = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (ValueError, UnicodeDecodeError):
        return False
    name, colon, password = said.partition(":")
    return bool(colon and said.isprintable() and (name or password))


_VERBS: Final = words_of("is was as ist es est = è é")
_BEFORE_LABELS: Final = 4
_FOLLOWS: Final = re.compile(
    r"[*_`\"']{0,3}(?:[.,;:!?)\n\r]|\Z|[ ]+(?:for|of|to|on|at|in|and|now|für|auf|de|del|pour)\b)"
)


def _value_before(text: str, named: _Named) -> Found | None:
    """Return the value in `X is my password for Y` and in `Use X as the password`."""
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


def _in_other_scripts(text: str, anchor: re.Match[str]) -> Found | None:
    label = Label.KEY if anchor[0] in _KEYS_IN_CHINESE else Label.PASSWORD
    after = _AFTER.match(text, anchor.end())
    at = after.end() if after else anchor.end()
    between = _IN_CHINESE.match(text, at) or _CELL.match(text, at) or _SIGN.match(text, at)
    if between is None:
        return None
    blank = between[0].isspace() or "|" in between[0]
    for start, end, quoted in _value_at(text, between.end(), in_address=False):
        printed = _PRINTED.match(text, start, end)
        value = printed[0].rstrip(".!?:") if printed else ""
        way = Between.BLANK if blank else Between.WORDS
        if value and has_letters_and_digits(value) and is_secret(label, way, value, quoted=quoted):
            return Found(start, start + len(value), LABELLED)
        if value and value.isdigit() and not blank and is_secret(label, way, value):
            return Found(start, start + len(value), LABELLED)
    return None
