"""Where sentences end, which of them ask, and which of a passage its speaker says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

# What is longer is no talk: a dump, a minified file, an attack.
_LONGEST_LINE: Final = 20_000
_LONGEST_SENTENCE: Final = 8_000
_MOST_SENTENCES: Final = 400

_FENCE = lazy_pattern(r"[ \t]{0,8}(`{3,}|~{3,})")
_LIST_MARK = lazy_pattern(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[[ xX>-]\][ \t]+)?")
_INDENTED = lazy_pattern(r"(?: {4}|\t)")
_FOREIGN = lazy_pattern(
    r"""[ \t]*(?:
        >                                                # a quotation, or a doctest
      | \#                                               # a heading, a comment
      | \|                                               # a table
      | <[/!?a-zA-Z]                                     # an element
      | \[?\d{4}-\d\d-\d\d[T ,]\d                        # a log line
      | \[?\d\d:\d\d:\d\d
      | \[(?:\d[\d.:,]*|[A-Z]{3,8})\]
      | (?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[:\s\]]
      | (?:Traceback|at[ ][\w$.]{1,200}[(:])
      | (?:\$|\.\.\.|%|//|/\*|\*/|--)[ ]                 # a shell, a session, a comment
      | (?:\+\+\+|---|@@|={3,}|\*{3,}|_{3,})
      | (?:import|from|export|return|const|let|var|function|async|public|private)[ ].*[;{]$
      | (?:def|class)[ ].*:$
    )""",
    re.VERBOSE,
)
_CODE_END = lazy_pattern(r"(?:[;{}]|=>|\)\s*;?|\],?)\s*$")
_CODE_SIGN = lazy_pattern(r"[={}<>]|\w\(")
# Abbreviations behind which a full stop ends nothing; the second only before a number or a small letter.
_NO_END: Final = frozenset(("e.g", "i.e", "mr", "ms", "mrs", "dr", "prof", "st", "vs"))
_NO_END_WITHIN: Final = frozenset(
    ("approx", "fig", "jr", "sr", "inc", "ltd", "co", "dept", "est", "ca", "al", "ver", "max", "min")
)
_CLOSING = "[\"'”’」』）)\\]*_]"
# Behind a word of Chinese or Japanese, and before one or before what was cut out (`\ufffc`), no blank is needed.
_BORDER = lazy_pattern(
    rf"""
        (?<![.!?…])[.!?…]++{_CLOSING}*+(?=\s|$)
      | (?<![!?…])[!?…]++{_CLOSING}*+(?=[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\ufffc])
      | (?<![。！？])[。！？]++[!?。…]*+{_CLOSING}*+
    """,
    re.VERBOSE,
)
_LAST_WORD = lazy_pattern(r"[\w.]{1,12}$")
# Not the mark within an address: “x.io/?id=12”.
_MARK = lazy_pattern(r"[?？][\W_]*$")
_CHINESE_QUESTION = lazy_pattern(r"(?:吗|嗎|么|麼|呢)[\s.。!！…]*$")
_FILLER = lazy_pattern(
    r"(?:(?:and|but|so|also|then|well|ok|okay|hmm+|hey|hi|hello|oh|sure|yes|yeah|please|now|by the way|anyway)"
    r"\b[,!\s]*)*",
    re.IGNORECASE,
)
_ASKED = (
    r"(?:i|you|we|it|he|she|they|this|that|there|these|those|the|my|your|our|his|her|their|its|any|anyone|anybody"
    r"|someone|a|an)\b"
)
_OPENER = lazy_pattern(
    rf"""(?:
        (?:can|could|would|will|should|shall|may|might|must|do|does|did|don't|doesn't|didn't|is|are|isn't|aren't
           |was|were|am|have|has|had|haven't|won't|can't|couldn't|shouldn't|wouldn't)[ ]{_ASKED}
      | (?:what|how|why|which|when|where|who|whom|whose)(?:'s|’s|'re|’re)?[ ]
           (?:is|are|was|were|do|does|did|can|could|would|will|should|shall|might|have|has|had|if|about|else|kind|kinds
             |type|types|sort|many|much|long|often|far|come|to)\b
      | (?:what|how|why)(?:'s|’s|'re|’re)\b
      | (?:what|how|why)\b
      | any[ ](?:ideas?|thoughts|tips|suggestions|advice|chance|recommendations)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# What no name begins with; “J. A. Smith” has another initial.
_BEGINS = lazy_pattern(rf"{_ASKED}(?!\.)|{_OPENER.pattern}", re.VERBOSE | re.IGNORECASE)
_CLAUSE = lazy_pattern(r"(?:[,;:]\s+|\s+[-–—]{1,3}\s+|—|\s(?=(?:so|and|but)\s))")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in a text.

    Args:
        text: The characters of the text from `start` to `end`, word for word; may go over a line end.
        start: Its first character.
        end: Behind its last one.
        line: The line of the text that it begins on, counted from 0.
        question: Whether it asks; only given where questions were asked for.
    """

    text: str
    start: int
    end: int
    line: int
    question: bool = False


def sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the places behind the closing marks of the sentences between two places of a text, in order.

    A full stop behind an abbreviation or the initial of a name ends none. What follows the last mark is left to the
    caller.
    """
    for border in _BORDER.finditer(text, start, end):
        if text[border.start()] == "." and border.end() < end:
            word = _LAST_WORD.search(text, max(start, border.start() - 12), border.start())
            if word and _goes_on(word[0], text[border.end() : min(end, border.end() + 40)].lstrip()):
                continue
        yield border.end()


def _goes_on(word: str, rest: str) -> bool:
    """Return whether a sentence goes on behind a word with a full stop: “J. Smith”, but not “plan B. We …”."""
    if word.casefold() in _NO_END:
        return True
    if len(word) == 1 and word.isupper() and word != "I":
        return rest[:1].isupper() and not _BEGINS.match(rest)
    if word.casefold() == "no":
        return rest[:1].isdigit()
    # “at 3 p.m. today” goes on, “at 3 p.m. He left” does not.
    if "." in word:
        return rest[:1].islower()
    return word.casefold() in _NO_END_WITHIN and (rest[:1].isdigit() or rest[:1].islower())


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, lines kept apart, without the blanks around them."""
    found = []
    for line in text.split("\n"):
        start = 0
        for end in (*sentence_ends(line, 0, len(line)), len(line)):
            if sentence := line[start:end].strip():
                found.append(sentence)
            start = end
    return found


def has_question_mark(sentence: str) -> bool:
    """Return whether a sentence ends as questions do: with their mark, or with 吗 and the like."""
    return _MARK.search(sentence[-12:]) is not None or _CHINESE_QUESTION.search(sentence[-12:]) is not None


def sentences(text: str, *, questions: bool = False) -> list[Sentence]:
    """Return what a text says in its speaker's own voice, sentence by sentence.

    Left out are fences and indented code, tables, headings, quotations, lines of logs and of programs, and lines
    beyond 20,000 characters. Of a question what it says before it asks is given (“We moved to Postgres, can you
    check the schema?” says “We moved to Postgres”), if that is anything.

    Args:
        text: Of a passage.
        questions: Give questions too, whole and marked as such.

    Returns:
        The first 400, in order; `text[sentence.start:sentence.end] == sentence.text` of each.
    """
    found: list[Sentence] = []
    for start, end, line in _paragraphs(text):
        begin = start
        for stop in (*sentence_ends(text, start, end), end):
            sentence = _sentence(
                text, begin, stop, line + text.count("\n", start, begin), questions=questions
            )
            begin = stop
            if sentence is not None:
                found.append(sentence)
                if len(found) == _MOST_SENTENCES:
                    return found
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the stretches of lines that a sentence may go through: start, end and first line."""
    begin = end = -1
    first = 0
    for start, stop, number, fresh in _spoken_lines(text):
        goes_on = (
            begin >= 0
            and not fresh
            and text[start : start + 1].islower()
            and text[end - 1] not in ".!?:。！？"
        )
        if not goes_on:
            if begin >= 0:
                yield begin, end, first
            begin, first = start, number
        end = stop
    if begin >= 0:
        yield begin, end, first


def _spoken_lines(text: str) -> Iterator[tuple[int, int, int, bool]]:
    """Yield the lines of a speaker's own: start behind the list mark, end, number, and whether a sentence begins."""
    fence = ""
    at = 0
    after_blank, in_code, fresh = True, False, True
    for number, line in enumerate(text.split("\n")):
        start, at = at, at + len(line) + 1
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            fresh = True
            continue
        if mark:
            fence = mark[1]
            continue
        if not line.strip():
            after_blank = fresh = True
            continue
        item = _LIST_MARK.match(line)
        in_code = item is None and _INDENTED.match(line) is not None and (after_blank or in_code)
        after_blank = False
        if in_code or len(line) > _LONGEST_LINE or _is_foreign(line, is_item=item is not None):
            fresh = True
            continue
        begin = start + (item.end() if item else len(line) - len(line.lstrip()))
        stop = start + len(line.rstrip())
        if begin < stop:
            yield begin, stop, number, fresh or item is not None
            fresh = False


def _is_foreign(line: str, *, is_item: bool) -> bool:
    if not is_item and _FOREIGN.match(line):
        return True
    tail = line[-40:]
    return line.count("|") > 2 or (
        _CODE_END.search(tail) is not None and len(_CODE_SIGN.findall(line[:400])) > 1
    )


def _sentence(text: str, start: int, end: int, line: int, *, questions: bool) -> Sentence | None:
    written = text[start:end]
    begin = start + len(written) - len(written.lstrip())
    stop = start + len(written.rstrip())
    if not any(map(str.isalnum, text[begin:stop])) or stop - begin > _LONGEST_SENTENCE:
        return None
    line += text.count("\n", start, begin)
    if not asks(text[begin:stop]):
        return Sentence(text[begin:stop], begin, stop, line)
    if questions:
        return Sentence(text[begin:stop], begin, stop, line, question=True)
    stop = begin + len(said_before_asking(text[begin:stop]))
    return Sentence(text[begin:stop], begin, stop, line) if stop > begin else None


def asks(sentence: str) -> bool:
    """Return whether a sentence is a question: by its mark, or by how it begins where it has none."""
    if has_question_mark(sentence):
        return True
    filler = _FILLER.match(sentence)
    opener = _OPENER.match(sentence, filler.end() if filler else 0)
    # “What a day!” asks nothing, “How can I …” does, with or without its mark.
    return opener is not None and len(opener[0].split()) > 1


def said_before_asking(question: str) -> str:
    """Return what a question says before its first clause that asks; empty where it begins by asking."""
    filler = _FILLER.match(question)
    begin = filler.end() if filler else 0
    if _OPENER.match(question, begin):
        return ""
    for border in _CLAUSE.finditer(question, begin):
        opens = _FILLER.match(question, border.end())
        if _OPENER.match(question, opens.end() if opens else border.end()):
            said = question[: border.start()].rstrip(" ,;:-–—")
            return said if len(said.split()) > 2 else ""
    return ""
