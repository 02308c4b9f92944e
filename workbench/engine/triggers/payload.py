"""What a request is about: the text after its phrase, before it, or in the lines that follow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.clauses import Sentence, paragraph_start, sentences
from workbench.engine.triggers.live_text import PUNCTUATION

if TYPE_CHECKING:
    from workbench.engine.triggers.phrases import Find, Language

_JOINING_MARKS = lazy_pattern(r"[\s,:;–—-]*")
_COLON = lazy_pattern(r"\s*(?::|–|—|-\s)\s*")
_WORDS = lazy_pattern(r"[\w\ufffc]")
_LIST_ITEM = lazy_pattern(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_SMILEY = lazy_pattern(r"\s+[:;]-?[)(DP]+\s*$")
_LOOSE_END = lazy_pattern(r"[^\w)\]\"'”’」』》`%°€$£¥&*+#>✅]+$")
_MARKS = r"\s.!?,;:。\uff01\uff1f\uff0c\uff1b"
_SOFT_WRAPPED_LINE = 60
_LONGEST_LOOK_BACK = 800
_FEWEST_WORDS_BEFORE = 3
_FEWEST_LETTERS_BEFORE = 4


def read_payload(message: str, live: str, parts: list[Sentence], find: Find, limit: int) -> str:
    """Return what the request is about.

    Args:
        message: The message as written.
        live: As `live_text` gives it.
        parts: Its sentences.
        find: The phrase and where it stands.
        limit: Where the next request begins, in characters.

    Returns:
        The text without what joins it to the phrase and without a closing “please”; empty where the request
        names nothing in this message.
    """
    language, sentence = find.language, parts[find.sentence]
    end = min(sentence.end, limit)
    inside = find.match.groupdict().get("about")
    if inside is not None:
        start, stop = find.match.span("about")
        is_pronoun = re.fullmatch(_pronoun(language), live[start:stop].strip(), re.IGNORECASE)
        return "" if is_pronoun and find.phrase.kind != "recall" else _clean(message[start:stop], language)
    if find.phrase.kind != "remember" and not find.phrase.open_end:
        return ""
    polite = re.compile(rf"(?:[\s,]*{language.any_of('trailing')})+(?=\s*:)", re.IGNORECASE)
    start = _match_end(polite, live, find.match.end(), end)
    start = _match_end(_JOINING_MARKS, live, start, end)
    named = re.compile(_pronoun(language), re.IGNORECASE).match(live, start, end)
    shown = False
    if named:
        colon = _COLON.match(live, named.end(), end)
        if colon:
            start, shown = colon.end(), True
        elif _says_no_more(live[named.end() : end], language, points=not _joins(named.group(), language)):
            return _elsewhere(message, live, parts, find, limit)
    if not shown:
        joiner = re.compile(rf"{language.any_of('joiners')}[\s,:;]*", re.IGNORECASE)
        start = _match_end(joiner, live, start, end)
    points = re.search(language.any_of("pronouns"), find.match.group(), re.IGNORECASE)
    if _says_no_more(live[start:end], language, points=bool(points)):
        if live[find.match.end() - 1 : end].rstrip().endswith(":"):
            return _clean(message[end : _block_end(live, end, limit, language)], language)
        return _elsewhere(message, live, parts, find, limit)
    if find.phrase.kind == "remember":
        colon_before = shown or ":" in live[find.match.end() - 1 : start]
        end = _continued(live, parts, find.sentence, limit, language, shown=colon_before)
    elif find.phrase.kind == "forget":
        end = _without_reason(live, start, end, language)
    return _clean(message[start:end], language)


def _pronoun(language: Language) -> str:
    return rf"{language.any_of('pronouns')}(?:[\s,]*{language.any_of('pronoun_tails')})*"


def _match_end(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    match = pattern.match(text, start, end)
    return match.end() if match else start


def _joins(word: str, language: Language) -> bool:
    return bool(re.fullmatch(language.any_of("joiners"), word.strip(), re.IGNORECASE))


def _says_no_more(text: str, language: Language, *, points: bool = True) -> bool:
    """Return whether only “please”, or after “this” only when it matters (“when you book”), is left."""
    rest = re.sub(language.any_of("trailing"), "", text, flags=re.IGNORECASE)
    if not _WORDS.search(rest):
        return True
    return points and bool(re.match(rf"\s*{language.any_of('circumstances')}", rest, re.IGNORECASE))


def _elsewhere(message: str, live: str, parts: list[Sentence], find: Find, limit: int) -> str:
    """Return what “this” is: what was said before, else what follows in the same line."""
    if find.phrase.kind != "remember":
        return ""
    if before := _before(message, live, parts, find):
        return before
    end = parts[find.sentence].end
    after = _continued(live, parts, find.sentence, limit, find.language, shown=False)
    return _clean(message[end:after], find.language) if after > end else ""


def _before(message: str, live: str, parts: list[Sentence], find: Find) -> str:
    """Return what was said just before “remember that”: in its sentence, else in its paragraph."""
    sentence = parts[find.sentence]
    clause = live[sentence.start : find.clause]
    bare = re.sub(find.language.any_of("lead_ins"), "", clause, flags=re.IGNORECASE)
    if find.language.spaced:
        enough = len(re.findall(r"\w+", bare)) >= _FEWEST_WORDS_BEFORE
    else:
        enough = len(re.findall(r"\w", bare)) >= _FEWEST_LETTERS_BEFORE
    if enough:
        return _clean(message[sentence.start : find.clause], find.language)
    earliest = max(paragraph_start(live, sentence.start), sentence.start - _LONGEST_LOOK_BACK)
    start = sentence.start
    for earlier in reversed(parts[: find.sentence]):
        if earlier.start < earliest or earlier.question:
            break
        start = earlier.start
    return _clean(message[start : sentence.start], find.language)


def _block_end(live: str, start: int, limit: int, language: Language) -> int:
    """Return where the block ends that a line ending in a colon introduces."""
    end = start
    for number, paragraph in enumerate(re.finditer(r"\s*\S(?:.|\n(?!\s*\n))*", live[start:limit])):
        text = paragraph.group().strip()
        if number and (text.endswith("?") or re.match(language.any_of("turns"), text, re.IGNORECASE)):
            break
        end = start + paragraph.end()
    return end


def _continued(
    live: str, parts: list[Sentence], number: int, limit: int, language: Language, *, shown: bool
) -> int:
    """Return where the memory ends: further statements of its paragraph belong to it, a turn does not."""
    end = min(parts[number].end, limit)
    for following in parts[number + 1 :]:
        gap = live[end : following.start]
        if following.start >= limit or following.question or gap.count("\n") > 1:
            break
        if "\n" in gap and not (
            shown or _LIST_ITEM.match(live, following.start) or _is_soft_wrapped(live, end)
        ):
            break
        if re.match(language.any_of("turns"), live[following.start : following.end], re.IGNORECASE):
            break
        end = min(following.end, limit)
    return end


def _is_soft_wrapped(live: str, end: int) -> bool:
    line = live[live.rfind("\n", 0, end) + 1 : end].rstrip()
    return len(line) >= _SOFT_WRAPPED_LINE and line[-1] not in ".!?。:"


def _without_reason(live: str, start: int, end: int, language: Language) -> int:
    reason = re.compile(
        rf"(?:\s*[,;–—]|\s+-)\s*(?:{language.any_of('reasons')}|{language.any_of('because')})"
        rf"|\s+{language.any_of('because')}|\s*;",
        re.IGNORECASE,
    ).search(live, start, end)
    return reason.start() if reason else end


def _clean(text: str, language: Language) -> str:
    joined = r"[\s,;–—-]+" if language.spaced else r"[\s,\uff0c]*"
    trailing = re.compile(rf"{joined}{language.any_of('trailing')}[{_MARKS}]*$", re.IGNORECASE)
    cleaned = _SMILEY.sub("", text.strip())
    while (shorter := trailing.sub("", cleaned)) != cleaned:
        cleaned = shorter
    if "\n" in cleaned or len(list(sentences(cleaned.translate(PUNCTUATION)))) > 1:
        return cleaned.strip(" \t\n,;\uff0c\uff1b")
    return _LOOSE_END.sub("", cleaned).lstrip(" ,;:\uff0c\uff1a\uff1b")
