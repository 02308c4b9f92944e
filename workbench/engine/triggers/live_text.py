"""What a message says in its writer's own voice: quotations, code and logs blanked out, length kept."""

from __future__ import annotations

import re

from workbench.engine.patterns import lazy_pattern

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
