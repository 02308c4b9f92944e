"""Trigger phrases and the router’s words: their data files, a user’s additions, and the language of phrases."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import InvalidInput, NotFound, StorageError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.model import TriggerKind
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbench.engine.triggers.model import MemoryType

_KINDS: dict[str, TriggerKind] = {
    "remember": "remember",
    "protect": "remember",
    "forget": "forget",
    "permanently": "forget",
    "permanently_known": "forget",
    "retract": "forget",
    "reflect": "reflect",
    "recall": "recall",
    "changes": "changes",
    "changes_since": "changes",
    "learned": "learned",
    "learned_since": "learned",
    "why_forgotten": "why-forgotten",
    "go_back": "go-back",
    "go_back_to_a_day": "go-back",
    "undo_learning": "go-back",
    "idle": "none",
}
_UNIT = lazy_pattern(
    r"\[(?P<optional>[^\[\]]*)\]|\((?P<choice>[^()]*)\)|<(?P<about>[^<>]*)>|(?P<slot>…)|(?P<word>[^\s\[\]()<>…]+)"
)
_LONGEST_SLOT = 400
# What a sentence begins with is a name, no sentence of its own.
_LONGEST_BEGINNING = 80
# A word that goes on (“remember-me”, “remember()”, “remember_all”) is another word.
_WORD_END = r"(?!\w|['/=-]\w|\()"


@dataclass(frozen=True)
class Phrase:
    """One phrase of the data file.

    Args:
        kind: What it asks; `none` for one that only looks like a trigger.
        group: The list it stands in, for example `protect`.
        source: As it is written there.
        spaced: Whether its language puts blanks between words.
        anchors: Lower-case texts of which one is in every message that the phrase fits.
        open_end: Whether any text may follow; else the clause must end after it.
        open_start: Whether it begins with what the request is about.
    """

    kind: TriggerKind
    group: str
    source: str
    spaced: bool
    anchors: tuple[str, ...]
    open_end: bool
    open_start: bool

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the phrase as a pattern; its group `about` holds what the request is about, where inside."""
        return _compiled(self.source, self.spaced)

    @property
    def spoken(self) -> str:
        """Return the phrase as somebody would say it: the first of each choice, nothing that may be left out."""
        units = [unit for unit in _units(self.source) if not unit["optional"]]
        if units[-1]["slot"]:
            units.pop()
        said = (
            unit["slot"] or (unit["choice"] or unit["about"] or unit["word"]).split("|")[0] for unit in units
        )
        return (" " if self.spaced else "").join(said)


@dataclass(frozen=True)
class Language:
    """The phrases and the small words of one language; the data file tells what each list is for."""

    name: str
    spaced: bool = True
    phrases: tuple[Phrase, ...] = ()
    lead_ins: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    request_objects: tuple[str, ...] = ()
    pronouns: tuple[str, ...] = ()
    pronoun_tails: tuple[str, ...] = ()
    circumstances: tuple[str, ...] = ()
    joiners: tuple[str, ...] = ()
    trailing: tuple[str, ...] = ()
    question_tags: tuple[str, ...] = ()
    permanent_words: tuple[str, ...] = ()
    reporting: tuple[str, ...] = ()
    clause_words: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    lately: tuple[str, ...] = ()

    def any_of(self, group: str) -> str:
        """Return a pattern for any word of a list, longest first; one that never fits for an empty list."""
        return _alternatives(getattr(self, group), self.spaced)


@dataclass(frozen=True)
class PhraseBook:
    """All phrases known, by language."""

    languages: tuple[Language, ...]


@dataclass(frozen=True)
class Find:
    """A phrase found where a request begins.

    Args:
        phrase: Which one.
        language: Its language.
        match: Where it fits; its group `about`, where it has one, is what the request is about.
        sentence: The sentence’s place among the sentences of the message.
        clause: Where its clause begins, lead-ins included.
        requested: Whether a lead-in such as “can you” makes a question a request.
    """

    phrase: Phrase
    language: Language
    match: re.Match[str]
    sentence: int
    clause: int
    requested: bool


_WORD_LISTS = tuple(f.name for f in fields(Language) if f.name not in ("name", "spaced", "phrases"))
_KEYS = (*_KINDS, *_WORD_LISTS)


def load_phrases(extra: Path | Mapping[str, Any] | None = None) -> PhraseBook:
    """Return the phrases shipped, with a user's own added.

    Args:
        extra: A file laid out like `phrases.toml`, or such a table already read. Its lists are added, the
            phrases under a language's `disabled` are taken away.

    Raises:
        NotFound: There is no such file.
        StorageError: It cannot be read.
        InvalidInput: It is no TOML, or holds a key or phrase that cannot be understood.
    """
    shipped = _shipped_phrases()
    if extra is None:
        return shipped
    where = str(extra) if isinstance(extra, Path) else "trigger phrases"
    table = _read_table(extra) if isinstance(extra, Path) else extra
    known = {language.name: language for language in shipped.languages}
    for name, lists in table.items():
        if not isinstance(lists, dict):
            raise InvalidInput(
                f"“{name}” is not a table of a language’s phrases.",
                where=where,
                remedy="Begin the lists of a language with its table, for example [en].",
            )
        known[name] = _extended(known.get(name, Language(name)), lists, where=where)
    return PhraseBook(tuple(known.values()))


@cache
def _shipped_phrases() -> PhraseBook:
    import tomllib

    text = resources.files("workbench.engine.triggers").joinpath("phrases.toml").read_text("utf-8")
    return PhraseBook(
        tuple(
            _extended(Language(name), lists, where="phrases.toml")
            for name, lists in tomllib.loads(text).items()
        )
    )


def _read_table(path: Path) -> Mapping[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError as error:
        raise NotFound(
            "There is no such file of trigger phrases.",
            where=str(path),
            remedy="Create it, or take “triggers.phrases” out of the settings.",
        ) from error
    except OSError as error:
        raise StorageError(
            f"The file of trigger phrases cannot be read: {error.strerror}.",
            where=str(path),
            remedy="Check that it is a file and that you may read it.",
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"The file of trigger phrases is no TOML: {error}.",
            where=str(path),
            remedy='Write lists under a language, for example [en] and remember = ["mark my words …"].',
        ) from error


def _extended(language: Language, lists: Mapping[str, Any], *, where: str) -> Language:
    spaced = lists.get("spaced", language.spaced)
    if not isinstance(spaced, bool):
        raise InvalidInput(
            f"“{language.name}.spaced” is neither true nor false.", where=where, remedy="Write spaced = true."
        )
    phrases, words = list(language.phrases), {group: getattr(language, group) for group in _WORD_LISTS}
    disabled: set[str] = set()
    for key, value in lists.items():
        if key == "spaced":
            continue
        entries = _checked_list(key, value, where=f"{where}: {language.name}.{key}")
        if key == "disabled":
            disabled.update(entries)
        elif key in _KINDS:
            phrases += [
                _phrase(key, entry, spaced, where=f"{where}: {language.name}.{key}") for entry in entries
            ]
        else:
            words[key] += entries
    unknown = disabled - {phrase.source for phrase in phrases}
    if unknown:
        raise InvalidInput(
            f"There is no phrase “{min(unknown)}” to take away.",
            where=f"{where}: {language.name}.disabled",
            remedy="Write it exactly as it stands in the list.",
        )
    kept = tuple(phrase for phrase in phrases if phrase.source not in disabled)
    return replace(language, spaced=spaced, phrases=kept, **words)


def _checked_list(key: str, value: object, *, where: str) -> tuple[str, ...]:
    if key not in (*_KEYS, "disabled"):
        import difflib

        near = difflib.get_close_matches(key, (*_KEYS, "disabled", "spaced"), n=1)
        meant = f"Did you mean “{near[0]}”?" if near else f"Known are {', '.join(_KINDS)} and disabled."
        raise InvalidInput(f"“{key}” is no list of phrases.", where=where, remedy=meant)
    if not isinstance(value, list) or not all(isinstance(entry, str) and entry.strip() for entry in value):
        raise InvalidInput(
            f"“{key}” is not a list of phrases.", where=where, remedy=f'Write it as {key} = ["…", "…"].'
        )
    return tuple(value)


def _phrase(group: str, source: str, spaced: bool, *, where: str) -> Phrase:
    units = list(_units(source))
    covered = "".join(unit.group() for unit in units)
    firm = [
        tuple(part.lower() for part in (unit["word"] or unit["choice"] or unit["about"]).split("|"))
        for unit in units
        if unit["word"] or unit["choice"] or unit["about"]
    ]
    firm = [parts for parts in firm if all(parts)]
    named = re.sub(r"<[^<>]*>\s*…|(?<!^)…$", "", source).count("<") + source.rstrip("…").count("…")
    if not firm or named > 1 or "".join(source.split()) != "".join(covered.split()) or _is_open_twice(units):
        raise InvalidInput(
            f"The phrase “{source}” cannot be understood.",
            where=where,
            remedy="Write words; one … is any text, [word] may be left out, (a|b) is a choice.",
        )
    anchors = max(firm, key=lambda parts: min(len(part) for part in parts))
    return Phrase(
        _KINDS[group], group, source, spaced, anchors, bool(units[-1]["slot"]), bool(units[0]["slot"])
    )


def _is_open_twice(units: list[re.Match[str]]) -> bool:
    return bool(units[0]["slot"] and units[-1]["slot"])


def _units(source: str) -> Iterator[re.Match[str]]:
    return _UNIT.finditer(source)


@lru_cache(maxsize=512)
def _compiled(source: str, spaced: bool) -> re.Pattern[str]:
    gap, word_end = (r"\s+", _WORD_END) if spaced else (r"\s*", "")
    units = list(_units(source))
    built = ""
    for number, unit in enumerate(units):
        # A blank goes with the words before it; what may be left out at the beginning brings its own.
        before = gap if built and not all(each["optional"] for each in units[:number]) else ""
        last = number == len(units) - 1
        if unit["slot"] and last:
            break
        if unit["slot"] and not number:
            built += rf"(?P<about>[^\s,;:][^,;:]{{0,{_LONGEST_BEGINNING}}}?)"
        elif unit["slot"]:
            before = "" if units[number - 1]["about"] else gap
            built += rf"{before}(?P<about>\S.{{0,{_LONGEST_SLOT}}}?)"
        elif unit["optional"]:
            after = gap if all(each["optional"] for each in units[:number]) else ""
            built += f"(?:{before}{_choice(unit['optional'])}{after})?"
        elif unit["about"] and not last and units[number + 1]["slot"]:
            # It only begins what the request is about, so it is left to be read there.
            built += f"{before}(?={_choice(unit['about'])}{word_end})"
        elif unit["about"]:
            built += f"{before}(?P<about>{_choice(unit['about'])})"
        elif unit["word"] and unit["word"].endswith(":"):
            built += rf"{before}{re.escape(unit['word'][:-1])}\s*:"
        else:
            built += before + _choice(unit["choice"] or unit["word"])
    if units[-1]["slot"] and units[-2]["about"]:
        return re.compile(built, re.IGNORECASE)
    if not built.endswith(":"):
        built += word_end
    return re.compile(built, re.IGNORECASE)


def _choice(written: str) -> str:
    longest_first = sorted(written.split("|"), key=len, reverse=True)
    return "(?:" + "|".join(r"\s+".join(map(re.escape, each.split())) for each in longest_first) + ")"


@lru_cache(maxsize=256)
def _alternatives(words: tuple[str, ...], spaced: bool) -> str:
    if not words:
        return r"(?!)"
    longest_first = sorted(words, key=len, reverse=True)
    body = "|".join(r"\s+".join(map(re.escape, word.split())) for word in longest_first)
    return rf"(?<!\w)(?:{body})(?!\w|'\w)" if spaced else f"(?:{body})"


@dataclass(frozen=True)
class RelationCue:
    """Verbs that state a relation.

    Args:
        relation: Of the vocabulary.
        verbs: How it is said.
        passive: The relation runs from what follows the verb to what stands before it.
        loose: Its end may stand further from the verb than its direct object (“leads the work on …”).
        of: Types that it may start from; empty for all.
        to: Types that it may lead to; empty for all.
    """

    relation: str
    verbs: re.Pattern[str]
    passive: bool = False
    loose: bool = False
    of: frozenset[str] = frozenset()
    to: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Cues:
    """What `routing.toml` holds.

    Args:
        types: A pattern for each type, in the order of precedence.
        cues: A pattern for each other question the router asks of a text.
        words: Word lists, lower case.
        topics: The tag that a word stands for.
        relations: Verbs that state relations, the surest first.
    """

    types: tuple[tuple[MemoryType, re.Pattern[str]], ...]
    cues: Mapping[str, re.Pattern[str]]
    words: Mapping[str, frozenset[str]]
    topics: Mapping[str, str]
    relations: tuple[RelationCue, ...]

    def fits(self, cue: str, text: str) -> bool:
        """Return whether a cue of the `cues` table stands in the text."""
        return self.cues[cue].search(text) is not None


@cache
def routing_cues() -> Cues:
    """Return the shipped cues."""
    import tomllib

    text = resources.files("workbench.engine.triggers").joinpath("routing.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return Cues(
        tuple((kind, _any_of(patterns)) for kind, patterns in table["types"].items()),
        {name: _any_of(patterns) for name, patterns in table["cues"].items()},
        {name: frozenset(words) for name, words in table["words"].items()},
        {word: tag for tag, words in table["topics"].items() for word in words},
        tuple(_relation(entry) for entry in table["relations"]),
    )


def _relation(entry: dict[str, Any]) -> RelationCue:
    return RelationCue(
        entry["relation"],
        _any_of(entry["verbs"]),
        entry.get("passive", False),
        entry.get("loose", False),
        frozenset(entry.get("of", ())),
        frozenset(entry.get("to", ())),
    )


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE)
