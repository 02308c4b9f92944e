"""Names that label a secret, and the values that look like one under each label."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from typing import Final

from workbench.engine.patterns import lazy_pattern

_PARTS: Final = lazy_pattern(r"[A-Za-z0-9]{8,}")
_HUMPS: Final = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_UUID: Final = lazy_pattern(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_RANDOM_CHANGES: Final = 4
_LOOKED_AT: Final = 120
# The same character many times, as in `xxxxxxxx`, `********`, `00000000` and `......`.
_REPEATED: Final = lazy_pattern(r"(.)\1{5}|^(?:x{3}|X{3}|[*•.]{3}|…|(.)\2{3})", re.DOTALL)
_CROSSED_OUT: Final = lazy_pattern(r"x{6}|X{6}|[*•.]{4}")
_FIRST_OF_A_STAND_IN: Final = "$<{[(%…•"
# The same in prose, where `abc(1x9` may be a password.
_CALL: Final = lazy_pattern(
    r"(?:(?:[A-Za-z]\w*\.)?[A-Za-z_.]{3,}[(\[])+(?:[A-Za-z_.=]*|\d+)[)\]]*|[a-z_]+(?:\.[A-Za-z_]+)+"
)
_ADDRESS: Final = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_CAPITALS: Final = lazy_pattern(r"[A-Z]+(?:[_-][A-Z]+)+|[A-Z_]*[A-Z](?:_\d+)?")
_WORDS: Final = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
# `mypassword1`, `app_secret_2`: placeholders that describe themselves.
_NAMES_ITSELF: Final = lazy_pattern(
    r"[A-Za-z0-9_.-]*(?:password|passwd|secret|token|apikey)[A-Za-z0-9_.-]*", re.IGNORECASE
)
_WORDY: Final = lazy_pattern(r"(?:[A-Za-z]++[-_. /:@#]?)*+(?:v?\d{1,4}(?:\.\d+)*)?")
_HYPHENED: Final = lazy_pattern(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+")
OPENING: Final = lazy_pattern(r"(?:[*_]{1,3}|@(?=\"))?(\\{0,3}[\"'`]|[“‘„「『])?")
_BARE: Final = lazy_pattern(r"[^\s\"'`“”‘’「」『』<>，。；、|,;]{1,300}")


def words_of(said: str) -> frozenset[str]:
    return frozenset(said.split())


# `os.environ["X"]`, `user.password`, `$row->token`, `hash(password)`, `Optional[str]`: expressions of a program.
_EXPRESSION: Final = lazy_pattern(
    r"&?[A-Za-z_]\w*(?:(?:\?\.|\.|->|::)[A-Za-z_]\w*)+(?:[(\[{].*|[);]*)"
    r"|(?:\w+(?:\.|->|::))*[A-Za-z_]\w{2,}[(\[].*",
    re.DOTALL,
)
# Numbers, dates, amounts, durations, versions.
_NUMBER: Final = lazy_pattern(
    r"[~≈<>±+-]?[$€£¥]?\d[\d.,:/–x×-]*"
    r"(?:%|€|ms|s|m|min|h|d|k|kb|mb|gb|px|mm|cm|km|kg|g|ml|l|x|st|nd|rd|th|am|pm|usd|eur|bit|-bit)?\+?"
    r"|v?\d+(?:\.\d+)+(?:[-.]?[a-z]+[.-]?\d*)?|\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?",
    re.IGNORECASE,
)
_STAND_INS: Final = words_of(
    "your example placeholder changeme change replace replaceme insert redacted dummy todo xxx xxxx fake paste enter "
    "sample hidden masked removed omitted undefined null none"
)
_ABOUT: Final = words_of(
    "api key keys token tokens password passwords passwd pass pwd pw secret secrets user username name auth access "
    "client db database my the a new old test hashed hash plain value string str app admin default some in me for "
    "service env config settings path id file type text field input param var here this self is of at and no not "
    "required optional demo foo bar baz private public oauth basic bearer jwt ci dev prod staging local root super "
    "strong secure safe random long very production development v"
)
_CLOSING: Final = {"“": "”", "‘": "’", "„": "“", "「": "」", "『": "』"}


@dataclass(frozen=True)
class Found:
    """A secret in a text.

    Args:
        kind: For example `GitHub token`.
    """

    start: int
    end: int
    kind: str


def looks_random(value: str) -> bool:
    """Return True for alternating letters and digits, as in keys and tokens, that no person would invent.

    Args:
        value: A run of characters; only the first 120 count.
    """
    said = value[:_LOOKED_AT]
    if _UUID.fullmatch(said):
        return True
    return any(
        _is_random(part) for part in (*_PARTS.findall(said), *_PARTS.findall(re.sub("[+/]", "", said)))
    )


def _is_random(part: str) -> bool:
    digits = sum(map(str.isdigit, part))
    return 0 < digits < len(part) and len(_HUMPS.findall(part)) >= _RANDOM_CHANGES


def is_crossed_out(value: str) -> bool:
    """Return True if crosses, stars or dots hide part of the value, as in `ghp_xxxxxxxx`."""
    return _CROSSED_OUT.search(value[:_LOOKED_AT]) is not None


def is_stand_in(value: str, *, in_code: bool) -> bool:
    """Return True for a placeholder of examples, settings and programs.

    Args:
        in_code: Whether it is assigned by a sign rather than stated in prose; then names and expressions are
            not secrets.
    """
    if value[0] in _FIRST_OF_A_STAND_IN or _REPEATED.search(value[:_LOOKED_AT]) or _ADDRESS.fullmatch(value):
        return True
    if _NUMBER.fullmatch(value) and not (value.isdigit() and len(value) >= 6):
        return True
    words = [word.lower() for word in _WORDS.findall(value[:_LOOKED_AT])]
    if _STAND_INS.intersection(words) or _CAPITALS.fullmatch(value):
        return True
    if not in_code:
        return _CALL.fullmatch(value) is not None
    if looks_random(value):
        return False
    if _EXPRESSION.fullmatch(value) or _NAMES_ITSELF.fullmatch(value):
        return True
    return not value.isdigit() and all(word in _ABOUT or word.isdigit() for word in words)


def is_key(value: str) -> bool:
    """Return True for a plausible key under a label that says so: letters and digits, not words with a version."""
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= 8 and (looks_random(value) or (has_both and not _WORDY.fullmatch(value)))


def is_password(value: str) -> bool:
    """Return True for a plausible password under an explicit label: it has a digit, or a sign of its own."""
    if len(value) < 6:
        return False
    if _HYPHENED.fullmatch(value) and "_" not in value:
        parts = value.split("-")
        mixed = any(any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in parts)
        return mixed or (len(parts) > 2 and all(len(part) > 3 for part in parts)) or _has_number(parts)
    return any(map(str.isdigit, value)) or any(sign in value for sign in "_!@#$%^&*+=~\\|")


def _has_number(parts: list[str]) -> bool:
    # `eel-under-7-stones`, `12345-abcde`, but not `12-character-long`.
    if any(len(part) > 4 for part in parts if part.isdigit()):
        return True
    return len(parts) > 3 and any(map(str.isdigit, parts))


def has_letters_and_digits(value: str) -> bool:
    """Return True for six or more characters with letters, and with digits or signs that no word has."""
    return (
        len(value) >= 6
        and any(map(str.isalpha, value))
        and (any(map(str.isdigit, value)) or any(sign in value for sign in "!#$%^&*+~|"))
    )


def value_at(text: str, at: int, *, in_address: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the end of a value that begins here, and whether it is quoted; nothing if none does.

    Args:
        at: Its beginning, or that of the quotes or emphasis around it.
        in_address: Whether it is in a URL's query, where some signs end it.
    """
    opening = OPENING.match(text, at)
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
    # Punctuation that ends a sentence is not part of its last word.
    after = text[bare.end() : bare.end() + 1]
    # A typographic quotation mark ends what was quoted, and a sentence in it ends before that.
    said = said.rstrip(".!?:\\" if not after or after.isspace() or after in "”’」』" else ":\\")
    if start > at or said.endswith("**"):
        said = said.rstrip("*_")
    if said:
        yield start, start + len(said), False


LABELLED: Final = "password"
_NAME_WORDS: Final = lazy_pattern(r"[A-Z]+(?![a-zñ])|[A-Z]?[a-zñ]+|[0-9]+")
_TOKEN_COMPOUNDS: Final = ("authtoken", "accesstoken", "apitoken", "bearertoken", "refreshtoken", "usertoken")
_MAIL: Final = lazy_pattern(r"[\w.+-]+@[\w-]+(?:\.[A-Za-z][\w-]*)+")
_STRONG_SIGNS: Final = frozenset("!@#$%^&*+~|")
_SCHEME: Final = lazy_pattern(r"([A-Za-z][A-Za-z0-9-]{2,20})[ ]{1,4}(?=[^\s])")
_OF_A_USER: Final = lazy_pattern(r"[^\s:/]{2,40}[ ]?[/:][ ]?(?=[^\s/])")
_BASIC: Final = lazy_pattern(r"[A-Za-z0-9+/_-]{8,}={0,2}")
_SEVERAL: Final = lazy_pattern(r"(?<=[A-RT-Za-rt-zñ])[Ss](?![A-Za-zñ])")
_WORD: Final = lazy_pattern(r"[A-Za-z]+")


class Label(Enum):
    """Kind of label, which decides how strictly its value is judged."""

    PASSWORD = auto()
    PASS = auto()
    SECRET = auto()
    KEY = auto()
    TOKEN = auto()
    WEAK_KEY = auto()
    AUTHORIZATION = auto()
    CREDENTIALS = auto()


class Between(Enum):
    """The separator between a label and its value."""

    SIGN = auto()
    CELL = auto()
    WORDS = auto()
    BLANK = auto()
    LINE = auto()


@dataclass(frozen=True)
class Named:
    """A label in a text.

    Args:
        many: Whether it names several, as in `passwords:`; then only a list of values follows.
    """

    label: Label
    start: int
    end: int
    name: str
    many: bool = False


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
_TOKEN_HEADS: Final = words_of(
    "api auth access bearer refresh bot user personal deploy id app session github gitlab npm slack private"
)
_NO_TOKENS: Final = words_of(
    "csrf xsrf next page pagination continuation pad eos bos unk sep mask cls cancellation cancel design color num "
    "max min total prompt completion input output per public stop special image sync change cursor first last "
    "start end previous prev"
)
# Words before a bare `pass` that make it a password: `my pass`, unlike `boarding pass`.
_BEFORE_PASS: Final = words_of("my the your our his her their wifi login root admin user db database")

_ALGORITHM: Final = lazy_pattern(
    r"(?:sha|md|aes|rsa|hs|rs|es|ps|pbkdf|base|oauth|ed|x|utf|argon|bcrypt|scrypt|http|tls|ssl|hmac|totp)"
    r"[-_]?\d{1,5}(?:[-_./]?[a-z]*\d*)*",
    re.IGNORECASE,
)
# Facts about a password, token or key rather than the thing itself: `password length`, `- rotated: 2026-01-02`.
_ABOUT_IT: Final = words_of(
    "about age algorithm audience budget category changed check color column count created date default "
    "description digest encoding entropy error example expiration expired expires expiry field file "
    "fingerprint folder form format generator hash hashed hashes hashing hint history holder id input issued "
    "issuer keeper kept kind known last length level lifetime limit location manager max maximum method min "
    "minimum name names next note notes number owner pattern place policy price prompt protection purpose "
    "reason regex region reminder requirement requirements reset rotate rotated rotation rule rules scope "
    "scopes screen setting settings sha since size status storage store stored strength supply symbol ticket "
    "tool ttl type types until updated usage use used validation vault version where"
)
# Named beside a value rather than naming it.
_BESIDE_IT: Final = words_of("account host hostname login server url user username")


def label_of_several(name: str, before: str) -> Label | None:
    """Return the label for each value of a plural name such as `API_KEYS`, or None if they are not secrets.

    Args:
        before: The word before it, in lower case.
    """
    single = _SEVERAL.sub("", name)
    return None if single == name else label_of(single, before)


def tells_about(said: str) -> bool:
    """Return True if words beside a label or before a value show that no secret is meant: `policy`, `stored in`."""
    return any(word.lower() in _ABOUT_IT for word in _WORD.findall(said))


def stands_beside(said: str) -> bool:
    """Return True for words that name the owner of a value rather than the value: `user`, `host`."""
    return any(word.lower() in _BESIDE_IT for word in _WORD.findall(said))


@lru_cache(maxsize=4096)
def label_of(name: str, before: str = "") -> Label | None:
    """Return the label of a name, or None if it means no secret.

    Args:
        name: As in settings, tables and sentences: `DB_PASSWORD`, `clientSecret`, `key`.
        before: The word before it, in lower case.
    """
    words = [word.lower() for word in _NAME_WORDS.findall(name)]
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


def values_at(text: str, at: int, named: Named) -> Iterator[tuple[int, int, bool]]:
    """Yield the end of a value that begins here, and whether it is quoted.

    Args:
        at: Its beginning, including a prefix that such a label allows: a scheme or a user name.
    """
    if named.label is Label.AUTHORIZATION and (quote := OPENING.match(text, at)):
        scheme = _SCHEME.match(text, quote.end())
        if scheme:
            yield from value_at(text, scheme.end(), in_address=False)
            return
    if named.label is Label.CREDENTIALS and (user := _OF_A_USER.match(text, at)):
        yield from value_at(text, user.end(), in_address=False)
    yield from value_at(text, at, in_address=text.startswith(("?", "&", "#"), named.start - 1))


def is_secret(label: Label, between: Between, value: str, *, quoted: bool = False) -> bool:
    """Return True if a value looks like what its label names."""
    in_code = between is not Between.WORDS
    if len(value) < 6 or is_stand_in(value, in_code=in_code):
        return False
    if _MAIL.fullmatch(value) or _ALGORITHM.fullmatch(value) or value.lower().startswith("1password"):
        return False
    if label is Label.AUTHORIZATION:
        return _is_basic(value) or (len(value) >= 12 and looks_random(value))
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
        return is_plainly_one(value)
    if between is Between.WORDS and label is Label.PASSWORD:
        return is_password(value)
    if between is Between.SIGN:
        has_sign = any(map(str.isdigit, value)) or bool(_STRONG_SIGNS.intersection(value))
        return has_sign and is_password(value) and (label is Label.PASSWORD or has_letters_and_digits(value))
    return has_letters_and_digits(value) and is_password(value)


def is_plainly_one(value: str) -> bool:
    """Return True for values that look secret under almost any label: random, or letters, digits and signs."""
    return looks_random(value) or _is_mixed(value)


def _is_mixed(value: str) -> bool:
    return has_letters_and_digits(value) and bool(_STRONG_SIGNS.intersection(value))


def _is_basic(value: str) -> bool:
    """Return True for a user name and password encoded for Basic authentication."""
    if not _BASIC.fullmatch(value[:4000]):
        return False
    try:
        said = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (ValueError, UnicodeDecodeError):
        return False
    name, colon, password = said.partition(":")
    return bool(colon and said.isprintable() and (name or password))
