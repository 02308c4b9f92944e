"""Finding what a message asks of memory, and nothing in what merely mentions the words."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.clauses import Sentence, clause_starts, sentences
from workbench.engine.triggers.live_text import PUNCTUATION, live_text
from workbench.engine.triggers.model import ALONE, Detection, Surroundings
from workbench.engine.triggers.payload import read_payload
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
        language=language.name,
    )
