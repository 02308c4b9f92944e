"""What a message says in its writer's own voice: quotations, code and logs blanked out, length kept.

Its sentences, and the places in them where a request can begin.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.engine.language.sentences import has_question_mark, sentence_ends
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

# Neither a blank, a letter nor punctuation, so that no phrase begins, ends or goes through it.
BLANK = "\ufffc"

_FENCE = lazy_pattern(r"^[ ]{0,3}(?P<mark>`{3,}|~{3,})")
_INDENTED = lazy_pattern(r"^(?: {4}|\t)")
_LIST_ITEM = lazy_pattern(r"^\s*(?:[-*+•]|\d+[.)])\s")
_FOREIGN_LINE = lazy_pattern(
    r"""^\s*(?:
        >                                               # a quoted mail or Markdown quotation
      | \[?\d{4}-\d\d-\d\d[T ,]                         # a log line
      | \[?\d\d:\d\d:\d\d
      | \[(?:\d[\d.:,]*|[A-Z]{3,8})\]
      | (?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b[:\s\]]
      | (?:Traceback|\s+at\s)\b
      | (?:\$|>>>|\.\.\.|%|//|/\*|\*/|\#!|--)\s          # a shell, a session, a comment
      | (?:\+\+\+|---|@@)\s
      | \#(?=[^#\s])
    )""",
    re.VERBOSE,
)
_INLINE_CODE = lazy_pattern(r"(?<!`)(`+)(?!`)(.{1,2000}?)(?<!`)\1(?!`)")
_ELEMENTS = lazy_pattern(
    r"<!--.{0,4000}?-->|<(?P<tag>blockquote|pre|code|q|cite|script|style)\b[^>\n]{0,200}>.{0,4000}?</(?P=tag)>",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = lazy_pattern(
    r"""
        "[^"\n]{1,600}"
      | “[^”\n]{1,600}”
      | „[^“”\n]{1,600}[“”]
      | «[^»\n]{1,600}»
      | 「[^」\n]{1,600}」
      | 『[^』\n]{1,600}』
      | 《[^》\n]{1,600}》
      | ‘[^‘\n]{1,300}?’(?!\w)
      | (?<!\w)'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<=\S)'(?!\w)
    """,
    re.VERBOSE,
)
PUNCTUATION = str.maketrans("’\uff1a\uff0c\uff01\uff1f\uff1b", "':,!?;")
# After a comma, a semicolon or a dash; not inside a number. Also after a full stop that may end no sentence: “plan B.”.
_CLAUSE_BORDER = lazy_pattern(
    r"(?<=\w)(?<!\.\w)\.\s+|(?<!\d)[,;、]\s*|(?<=\d)[,;、](?!\d)\s*|\s+[-–—]{1,3}\s+|—{1,2}"
)
_LEADING_MARKS = lazy_pattern(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?)?[*_~]{0,3}")


def live_text(message: str) -> str:
    """Blank out what a message only shows: code, quotations, logs, comments, other people’s mail.

    Args:
        message: One message in Markdown or plain text.

    Returns:
        A text of the same length, position by position the same but for `BLANK` and for full-width
        punctuation, which becomes ASCII.
    """
    lines = message.split("\n")
    live: list[str] = []
    fence = ""
    after_blank, indented_code = True, False
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            if mark and mark["mark"].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            # The line end as well: a fence is one thing, with no paragraph inside.
            live[-1] += BLANK + BLANK * len(line)
            continue
        if mark:
            fence = mark["mark"]
            live.append(BLANK * len(line))
            continue
        is_item = bool(_LIST_ITEM.match(line))
        indented_code = bool(_INDENTED.match(line)) and not is_item and (after_blank or indented_code)
        foreign = indented_code or (_FOREIGN_LINE.match(line) and not is_item)
        live.append(BLANK * len(line) if foreign else line)
        after_blank = not line.strip()
    text = "\n".join(live)
    if "</" in text or "-->" in text:
        text = _ELEMENTS.sub(_blanked, text)
    for shown in (_INLINE_CODE, _QUOTED):
        text = shown.sub(_blanked, text)
    return text.translate(PUNCTUATION)


def _blanked(found: re.Match[str]) -> str:
    return BLANK * len(found.group())


@dataclass(frozen=True)
class Sentence:
    """A sentence by its place; `end` is behind its closing punctuation, without the line end."""

    start: int
    end: int
    question: bool


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in order, empty ones left out.

    Args:
        text: As `live_text` gives it.
    """
    start = 0
    for line in text.split("\n"):
        begin, stop = start, start + len(line)
        for end in (*sentence_ends(text, start, stop), stop):
            if written := text[begin:end].strip():
                first = begin + text[begin:end].index(written)
                yield Sentence(first, end, has_question_mark(written))
            begin = end
        start = stop + 1


def clause_starts(text: str, sentence: Sentence) -> Iterator[int]:
    """Yield the places where a clause of the sentence begins, behind bullets and emphasis, in order."""
    first = _LEADING_MARKS.match(text, sentence.start, sentence.end)
    yield first.end() if first else sentence.start
    for border in _CLAUSE_BORDER.finditer(text, sentence.start, sentence.end):
        if border.end() < sentence.end:
            yield border.end()


def paragraph_start(text: str, position: int) -> int:
    """Return where the paragraph around a position begins."""
    border = text.rfind("\n\n", 0, position)
    return 0 if border < 0 else border + 2
