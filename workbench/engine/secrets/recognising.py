"""What a secret looks like: forms that services give their keys, private keys, and passwords said to be such."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from workbench.engine.secrets.wrapped import Wrapped, unwrapped, wrapped_runs

LEFT_OUT: Final = "[secret left out]"
"""What stands where a secret was."""
_DIGEST: Final = 16
_SHOWN: Final = 4

# Where a form begins and ends. An underscore may stand there, as in Markdown and in names of variables, and any letter
# of a script that puts no blanks between words.
_START: Final = r"(?<![A-Za-z0-9])"
_END: Final = r"(?![A-Za-z0-9])"
# Forms with a mark of their own, so that ordinary words, ids and hashes are left alone.
_FORMS: Final[tuple[tuple[str, str], ...]] = (
    (
        "private key",
        # Where its end is missing, what could be lines of it belongs to it.
        (
            r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"
            r"(?:(?:[^-]|-(?!----BEGIN )){0,20000}?-----END[ A-Z]+-----|(?:\s{1,8}[A-Za-z0-9+/=]{20,200}(?!\S))*)"
        ),
    ),
    ("AWS access key", _START + r"(?:AKIA|ASIA)[A-Z0-9]{16}" + _END),
    ("GitHub token", _START + r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,255})" + _END),
    ("GitLab token", _START + r"glpat-[A-Za-z0-9_-]{20,255}"),
    ("Anthropic key", _START + r"sk-ant-[A-Za-z0-9_-]{20,255}"),
    ("OpenAI key", _START + r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,255}"),
    ("Stripe key", _START + r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}" + _END),
    ("Google API key", _START + r"AIza[A-Za-z0-9_-]{35}"),
    ("Slack token", _START + r"xox[abeoprs]-(?=[A-Za-z-]*\d)[A-Za-z0-9-]{10,255}"),
    ("Hugging Face token", _START + r"hf_[A-Za-z0-9]{30,255}" + _END),
    ("npm token", _START + r"npm_[A-Za-z0-9]{36}" + _END),
    ("PyPI token", _START + r"pypi-[A-Za-z0-9_-]{50,255}"),
    ("SendGrid key", _START + r"SG\.[A-Za-z0-9_-]{20,30}\.[A-Za-z0-9_-]{30,60}"),
    ("Telegram bot token", _START + r"\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    (
        "JSON web token",
        _START + r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}",
    ),
    ("password in an address", _START + r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?P<u>[^\s/@]{3,200})@"),
    (
        "password",
        (
            r"(?i:(?:(?<![a-z0-9])(?:pass(?:word|wd|phrase|code)|secret|(?:api|access)[ _-]?key|auth[ _-]?token"
            r"|contraseña|passwort|kennwort|mot de passe)(?![a-z0-9])|密码|密碼|口令|パスワード)"
            r"(?:\s(?:of|for|to|on|at|für|de|du|del)\s[^\n.;:=]{1,60}?)?"
            r"\s*(?:(?<![a-z0-9])(?:is|ist|es|est)(?![a-z0-9])|=|:|：|是|为)\s*)[\"'“”‘’`]?"
            r"(?P<p>(?=\S*[\d_!@#$%^&*+=~\\|]|\S*-\S*-)[^\s\"'“”‘’`,;，。]{6,200})"
        ),
    ),
)
# What stands in every text of each form, in the same order: one of the words, or all that stand together. Looking for
# words costs a thousandth of looking for forms, and hardly any text holds one.
_MARKS: Final[tuple[tuple[tuple[str, ...], ...], ...]] = (
    (("-----BEGIN ",),),
    (("AKIA",), ("ASIA",)),
    (("ghp_",), ("gho_",), ("ghu_",), ("ghs_",), ("ghr_",), ("github_pat_",)),
    (("glpat-",),),
    (("sk-ant-",),),
    (("sk-",),),
    (("k_live_",), ("k_test_",)),
    (("AIza",),),
    (("xox",),),
    (("hf_",),),
    (("npm_",),),
    (("pypi-",),),
    (("SG.",),),
    ((":AA",),),
    (("eyJ", ".eyJ"),),
    (("://", "@"),),
)
_WORDS: Final = (
    *(
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "secret",
        "contraseña",
        "passwort",
        "kennwort",
        "mot de passe",
    ),
    *(f"{word}{between}key" for word in ("api", "access") for between in ("", " ", "_", "-")),
    *(f"auth{between}token" for between in ("", " ", "_", "-")),
    *("密码", "密碼", "口令", "パスワード"),
)
_PASSWORD: Final = len(_FORMS) - 1
_ADDRESS: Final = len(_FORMS) - 2
_TOKENS: Final = range(1, _ADDRESS)
"""The numbers of the forms that are one run of characters."""
# What nobody sees within a secret: characters without width, and the backslash that Markdown puts before a mark.
_UNSEEN: Final = re.compile(
    r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff]|\\(?=[_.:-])"
)
# What stands where a secret would, in examples, settings and programs: `$TOKEN`, `<token>`, `****`, `[[link]]`,
# `YOUR_API_KEY`, `process.env.TOKEN`, `hash(password)`.
_STAND_IN: Final = re.compile(
    r"[$<{\[(%].*|(.)\1{3,}.*|(?:https?|file)://.*"
    r"|[A-Z]+(?:_[A-Z]+)+|(?:[A-Za-z]+_)*(?:api_)?(?:key|token|password|secret|path)(?:_here)?\)*"
    r"|(?:(?:[A-Za-z]\w*\.)?[A-Za-z_.]{3,}[(\[])+(?:[A-Za-z_.=]*|\d+)[)\]]*|[a-z_]+(?:\.[A-Za-z_]+)+",
    re.DOTALL,
)


@dataclass(frozen=True)
class Secret:
    """A stretch of text that looks like a secret.

    Args:
        kind: What it looks like, for example `GitHub token`.
        text: Itself.
        start: Of it in the text looked at, in characters.
    """

    kind: str
    text: str
    start: int

    @property
    def digest(self) -> str:
        """Return the name under which it can be allowed: the first digits of its SHA-256, however it is wrapped."""
        return hashlib.sha256(unwrapped(self.text).encode("utf-8", "replace")).hexdigest()[:_DIGEST]

    @property
    def shown(self) -> str:
        """Return its kind and as much of it as tells it from others: `GitHub token ghp_…`."""
        return f"{self.kind} {self.text[:_SHOWN]}…"


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return everything in a text that looks like a key, a token, a private key or a password.

    Known forms alone are found: a long word, a hash or an id is none. What cannot be seen in a text hides nothing.

    Args:
        text: Any.
    """
    if (text.isascii() and "\\" not in text) or not _UNSEEN.search(text):
        return _found_in(text)
    unseen = [match.start() for match in _UNSEEN.finditer(text)]
    found = []
    for secret in _found_in(_UNSEEN.sub("", text)):
        start, end = (_place_of(at, unseen) for at in (secret.start, secret.start + len(secret.text) - 1))
        found.append(Secret(secret.kind, text[start : end + 1], start))
    return tuple(found)


def _place_of(at: int, left_out: Sequence[int]) -> int:
    """Return where the character stood that is at a place now, before others were left out."""
    # Of those left out, the one at N was before the place N less as many as were left out before it.
    return at + bisect_right(range(len(left_out)), at, key=lambda number: left_out[number] - number)


def _found_in(text: str) -> tuple[Secret, ...]:
    forms = _forms_in(text)
    if not forms:
        return ()
    found = []
    for match in _compiled(forms).finditer(text):
        at = next(at for at in forms if match[f"k{at}"] is not None)
        name = {_ADDRESS: "u", _PASSWORD: "p"}.get(at, 0)
        said = match[name].rstrip(".!?") if name == "p" else match[name]
        if not name or not _STAND_IN.fullmatch(said):
            found.append(Secret(_FORMS[at][0], said, match.start(name)))
    return tuple(_with_wrapped(text, found, forms)) if "\n" in text else tuple(found)


def _with_wrapped(text: str, found: list[Secret], forms: tuple[int, ...]) -> list[Secret]:
    """Return what was found in a text together with the tokens that are broken over its lines."""
    tokens = tuple(at for at in forms if at in _TOKENS)
    wrapped = [
        secret for run in (wrapped_runs(text) if tokens else ()) if (secret := _secret_of(text, run, tokens))
    ]
    if not wrapped:
        return found
    starts = [each.start for each in wrapped]

    def is_within(secret: Secret) -> bool:
        before = bisect_right(starts, secret.start) - 1
        return before >= 0 and secret.start < starts[before] + len(wrapped[before].text)

    alone = [each for each in found if not is_within(each)]
    return sorted([*alone, *wrapped], key=lambda each: each.start)


def _secret_of(text: str, run: Wrapped, tokens: tuple[int, ...]) -> Secret | None:
    """Return the token that a run over several lines begins with; None where it is none, or ends in the first line."""
    matches = [_compiled(tokens).fullmatch(said) for said in run.joined]
    last = 0
    could_end = [at for at, match in enumerate(matches) if match]
    for number, at in enumerate(could_end):
        if number and not run.goes_on(at, broken=last > 0):
            break
        last = at
    match = matches[last]
    if match is None or last == 0:
        return None
    kind = next(_FORMS[at][0] for at in tokens if match[f"k{at}"] is not None)
    return Secret(kind, text[run.start : run.ends[last]], run.start)


def _forms_in(text: str) -> tuple[int, ...]:
    """Return the numbers of the forms whose marks stand in a text."""
    forms = [
        at for at, marks in enumerate(_MARKS) if any(all(word in text for word in words) for words in marks)
    ]
    folded = text.casefold()
    if any(word in folded for word in _WORDS):
        forms.append(_PASSWORD)
    return tuple(forms)


@lru_cache(maxsize=128)
def _compiled(forms: tuple[int, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<k{at}>{_FORMS[at][1]})" for at in forms))


def masked(text: str) -> str:
    """Return a text with `[secret left out]` for everything in it that looks like a secret."""
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}{LEFT_OUT}{text[secret.start + len(secret.text) :]}"
    return text
