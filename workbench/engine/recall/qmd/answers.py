"""Reads what QMD prints for a search, and words the question it is asked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.recall.qmd.failure import QmdFailed

_ADDRESS = re.compile(r"qmd://([^/]+)/(.+)", re.DOTALL)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? @@[^\n]*\n?")
_TYPED = re.compile(r"^\s*(lex|vec|hyde|intent|expand)\s*:", re.IGNORECASE)
_WORD = re.compile(r"\w[\w.+#/@'’-]*", re.UNICODE)
_MOST_QUESTION = 2000


@dataclass(frozen=True)
class QmdMatch:
    """One result as QMD names it.

    Args:
        collection: Its name for the folder.
        relative: The file's path below it.
        first: First line of the snippet, 1-based.
        last: Last line, inclusive.
        score: 0–1; in small collections its keyword scores are often 0.
    """

    collection: str
    relative: str
    first: int
    last: int
    score: float
    snippet: str
    title: str


def question_for(query: str, mode: str) -> str:
    """Word a question so that QMD takes all of it as words.

    Its keyword search wants every word to be there, so only telling ones are passed on, and none as an exclusion;
    a quoted phrase stays one.

    Args:
        query: What was asked.
        mode: `search`, `vsearch` or `query`.
    """
    plain = " ".join(query.replace("\0", " ").split())[:_MOST_QUESTION]
    if mode == "query":
        return _TYPED.sub(r"\1 ", plain)
    if mode == "vsearch" or '"' in plain:
        return plain
    words = [word.rstrip(".'’/-") for word in _WORD.findall(plain)]
    return " ".join([word for word in words if word.casefold() not in STOP_WORDS] or words)


def read_answer(output: bytes) -> tuple[QmdMatch, ...]:
    """Read the JSON list of results, which other lines may stand before.

    Raises:
        QmdFailed: It is none.
    """
    text = output.decode("utf-8", "replace")
    start = 0 if text.startswith("[") else text.find("\n[") + 1
    try:
        results = json.loads(text[start:])
    except (ValueError, RecursionError) as error:
        raise QmdFailed("QMD’s answer is no JSON") from error
    if not isinstance(results, list):
        raise QmdFailed("QMD’s answer is no list of results")
    matches = tuple(filter(None, map(_match, results)))
    if results and not matches:
        raise QmdFailed("QMD’s answer has another form than this version knows")
    return matches


def _match(result: object) -> QmdMatch | None:
    if not isinstance(result, Mapping):
        return None
    address = _ADDRESS.fullmatch(str(result.get("file", "")))
    if address is None:
        return None
    given = result.get("snippet") or result.get("body") or ""
    snippet = given if isinstance(given, str) else ""
    hunk = _HUNK.match(snippet)
    first = int(hunk[1]) if hunk and len(hunk[1]) < 10 else _line(result.get("line"))
    body = (snippet[hunk.end() :] if hunk else snippet).rstrip("\n")
    # Blank lines around what is said belong to no citation.
    first += len(body) - len(body.lstrip("\n"))
    body = body.strip("\n")
    title = result.get("title")
    return QmdMatch(
        collection=address[1],
        relative=address[2],
        first=max(1, first),
        last=max(1, first + body.count("\n")),
        score=_score(result.get("score")),
        snippet=body,
        title=title if isinstance(title, str) else "",
    )


def _line(value: object) -> int:
    is_line = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9
    return int(str(value)) if is_line else 1


def _score(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return min(1.0, max(0.0, float(value)))
    return 0.0
