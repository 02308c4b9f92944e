"""Finding what a message asks of memory, and nothing in what merely mentions the words."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.live_text import (
    PUNCTUATION,
    Sentence,
    clause_starts,
    live_text,
    paragraph_start,
    sentences,
)
from workbench.engine.triggers.model import ALONE, Detection, Surroundings
from workbench.engine.triggers.phrases import Find
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.triggers.phrases import Language, Phrase, PhraseBook

# A sentence of more clauses is a list, or hostile.
_MOST_CLAUSES = 200
_LIST_ITEM = lazy_pattern(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_WORDS = lazy_pattern(r"[\w\ufffc]")
_CLAUSE_END = lazy_pattern(r"\s*(?:[,.;:!?。…、)\ufffc–—]|-\s|$|\n)")
_JOINING_MARKS = lazy_pattern(r"[\s,:;–—-]*")
_COLON = lazy_pattern(r"\s*(?::|–|—|-\s)\s*")


_SMILEY = lazy_pattern(r"\s+[:;]-?[)(DP]+\s*$")
_LOOSE_END = lazy_pattern(r"[^\w)\]\"'”’」』》`%°€$£¥&*+#>✅]+$")
_MARKS = r"\s.!?,;:。\uff01\uff1f\uff0c\uff1b"
_SOFT_WRAPPED_LINE = 60
_LONGEST_LOOK_BACK = 800
_FEWEST_WORDS_BEFORE = 3
_FEWEST_LETTERS_BEFORE = 4


@dataclass(frozen=True)
class _Candidates:
    """A language with those of its phrases that a message may hold."""

    language: Language
    phrases: tuple[Phrase, ...]


def detect_all(message: str, phrases: PhraseBook, around: Surroundings = ALONE) -> tuple[Detection, ...]:
    """Return everything that a message asks of memory, in its order.

    A trigger counts where a clause begins, in the writer’s own voice: not in code, quotations and reported
    speech, not in questions unless they are requests (“can you remember that …”).

    Args:
        message: One message of the user.
        phrases: What to look for.
        around: What is known of the conversation and of memory; nothing by default.
    """
    lowered = message.lower().translate(PUNCTUATION)
    candidates = tuple(
        _Candidates(language, fitting)
        for language in phrases.languages
        if (fitting := tuple(p for p in language.phrases if any(a in lowered for a in p.anchors)))
    )
    if all(phrase.kind == "none" for each in candidates for phrase in each.phrases):
        return ()
    live = live_text(message)
    parts = list(sentences(live))
    finds = [find for number in range(len(parts)) for find in _finds_in(live, parts, number, candidates)]
    found = []
    for number, find in enumerate(finds):
        limit = finds[number + 1].clause if number + 1 < len(finds) else len(message)
        detection = _detection(message, live, parts, find, limit)
        if _only_asks(live, parts[find.sentence], find, detection):
            continue
        if find.phrase.group == "retract" and not around.just_remembered():
            continue
        in_doubt = find.phrase.group == "permanently_known" or _goes_on(live, parts, find, limit)
        if in_doubt and not around.known(detection.payload):
            continue
        found.append(detection)
    return tuple(found)


def _finds_in(
    live: str, parts: list[Sentence], number: int, candidates: tuple[_Candidates, ...]
) -> Iterator[Find]:
    sentence = parts[number]
    if _is_introduced(live, sentence, candidates):
        return
    behind, kinds, reported = sentence.start, set(), _reported_from(live, sentence, candidates)
    for clause in islice(clause_starts(live, sentence), _MOST_CLAUSES):
        if clause < behind:
            continue
        if clause >= reported:
            return
        find = _find_at(live, clause, sentence, number, candidates)
        if find is None:
            continue
        behind = find.match.end()
        # A request may hold the words of its own kind again: “remember that …, please note that …”.
        if find.phrase.kind != "none" and find.phrase.kind not in kinds:
            kinds.add(find.phrase.kind)
            yield find


def _reported_from(live: str, sentence: Sentence, candidates: tuple[_Candidates, ...]) -> int:
    """Return where somebody else’s words may begin in the sentence: behind “she said”."""
    found = (
        re.compile(each.language.any_of("reporting"), re.IGNORECASE).search(
            live, sentence.start, sentence.end
        )
        for each in candidates
    )
    return min((match.end() for match in found if match), default=len(live) + 1)


def _find_at(
    live: str, clause: int, sentence: Sentence, number: int, candidates: tuple[_Candidates, ...]
) -> Find | None:
    for each in candidates:
        language, position, requested = each.language, clause, False
        lead_in = re.compile(rf"{language.any_of('lead_ins')}[\s,:;.!–—-]*", re.IGNORECASE)
        request = re.compile(language.any_of("requests"), re.IGNORECASE)
        while True:
            led = lead_in.match(live, position, sentence.end)
            fitting = [
                (
                    phrase.group != "permanently_known",
                    match.end() - match.start() - len(_about(match)),
                    phrase,
                    match,
                )
                for phrase in each.phrases
                if not (led and phrase.open_start)
                and (match := phrase.pattern.match(live, position, sentence.end))
                and _counts(live, phrase, match, sentence.end, language)
            ]
            if fitting:
                *_, phrase, match = max(fitting, key=lambda fit: fit[:2])
                return Find(phrase, language, match, number, clause, requested)
            if led is None:
                break
            requested = requested or request.match(live, position, sentence.end) is not None
            position = led.end()
    return None


def _counts(live: str, phrase: Phrase, match: re.Match[str], end: int, language: Language) -> bool:
    """Return whether what stands around a phrase lets it be one: its clause ends, or the message holds no more."""
    if phrase.open_start and not _is_a_name(_about(match), language):
        return False
    if phrase.group == "retract":
        said = re.sub(language.any_of("lead_ins"), "", live[: match.start()], flags=re.IGNORECASE)
        more = re.sub(language.any_of("trailing"), "", live[match.end() :], flags=re.IGNORECASE)
        return not _WORDS.search(said + more)
    return phrase.open_end or _ends_clause(live, match.end(), end, language)


def _is_a_name(words: str, language: Language) -> bool:
    """Return whether words before a verb name something: “that report”, not “the tests that” or “she said it”."""
    named = re.sub(rf"^{language.any_of('pronouns')}\s", "", words, flags=re.IGNORECASE)
    told = f"{language.any_of('clause_words')}|{language.any_of('reporting')}"
    return not re.search(told, named, re.IGNORECASE)


def _about(match: re.Match[str]) -> str:
    return match.groupdict().get("about") or ""


def _ends_clause(live: str, position: int, end: int, language: Language) -> bool:
    tail = re.compile(rf"(?:[\s,]*{language.any_of('trailing')})*", re.IGNORECASE)
    polite = tail.match(live, position, end)
    return bool(_CLAUSE_END.match(live, polite.end() if polite else position, end))


def _goes_on(live: str, parts: list[Sentence], find: Find, limit: int) -> bool:
    """Return whether “… is no longer relevant” goes on and may be a tale: “…, so I removed it”."""
    if find.phrase.kind != "forget" or not find.phrase.open_start:
        return False
    rest = live[find.match.end() : min(parts[find.sentence].end, limit)]
    rest = re.sub(find.language.any_of("trailing"), "", rest, flags=re.IGNORECASE)
    return _WORDS.search(rest) is not None


def _is_introduced(live: str, sentence: Sentence, candidates: tuple[_Candidates, ...]) -> bool:
    """Return whether a line ending in a colon shows the sentence: “Proofread this:” and then the text."""
    head = live[: sentence.start].rstrip()
    if not head.endswith(":") or "\n" not in live[len(head) : sentence.start]:
        return False
    if _LIST_ITEM.match(live, sentence.start):
        return False
    line = head[head.rfind("\n") + 1 : -1].strip()
    return not any(
        re.fullmatch(rf"(?:{each.language.any_of('lead_ins')}[\s,]*)+", line, re.IGNORECASE)
        for each in candidates
    )


def _only_asks(live: str, sentence: Sentence, find: Find, detection: Detection) -> bool:
    """Return whether a question asks about memory rather than for a change of it."""
    if find.phrase.kind not in ("remember", "forget") or not sentence.question:
        return False
    language = find.language
    written = live[sentence.start : sentence.end]
    if re.search(rf"[,\s–—-]{language.any_of('question_tags')}\s*[?!.。]*\s*$", written, re.IGNORECASE):
        return False
    if not find.requested:
        return True
    asked = live[find.match.end() : sentence.end].strip(" ,:?!.")
    if not language.request_objects or not asked or detection.refers_back or _about(find.match):
        return False
    # “forget about my …” has the word already that “remember that …” has still to come.
    named = live[find.match.start() : find.match.end()].rstrip().endswith(("about", "that", "my", "our"))
    return not named and not re.match(language.any_of("request_objects"), asked, re.IGNORECASE)


def _detection(message: str, live: str, parts: list[Sentence], find: Find, limit: int) -> Detection:
    sentence = parts[find.sentence]
    phrase, language = find.phrase, find.language
    payload = read_payload(message, live, parts, find, limit)
    if phrase.kind in ("changes", "learned") and re.fullmatch(
        language.any_of("lately"), payload, re.IGNORECASE
    ):
        payload = ""
    permanently = phrase.group in ("permanently", "permanently_known") or (
        phrase.kind == "forget"
        and bool(
            re.search(
                language.any_of("permanent_words"),
                live[find.clause : min(sentence.end, limit)],
                re.IGNORECASE,
            )
        )
    )
    from_then_on = phrase.group in ("changes_since", "learned_since", "undo_learning")
    dated = bool(payload) and phrase.kind in ("changes", "learned")
    return Detection(
        phrase.kind,
        payload=payload,
        phrase=message[find.match.start() : find.match.end()].strip(" ,:"),
        span=(find.match.start(), find.match.end()),
        permanently=permanently,
        protect=phrase.group == "protect",
        refers_back=not payload and phrase.kind in ("remember", "forget"),
        from_then_on=from_then_on,
        needs_time=from_then_on or dated or phrase.group == "go_back_to_a_day",
    )


# What a request is about: the text after its phrase, before it, or in the lines that follow.


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


def _says_no_more(text: str, language: Language, *, points: bool) -> bool:
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
