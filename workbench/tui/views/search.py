"""Draws what search found: the answer in a sentence, results with their match lit, and one result in its file."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from workbench.tui.ink import BLANK, Line, Span, column, cut, gap, ink, line_width, spread, wrap_line
from workbench.tui.matching import lit, one_line, part_around_match
from workbench.tui.palette import score_role
from workbench.tui.text import fit, plain, wrap
from workbench.tui.views.dates import MONTH_NAMES, MONTHS, day_name
from workbench.tui.views.explanation import places_words, summary_lines
from workbench.tui.views.memory import STORE_SIGNS, known_lines, section
from workbench.tui.widgets.rows import KeyedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results import Found, Hit
    from workbench.tui.bench import Episode, Memory
    from workbench.tui.question import Question

ASK_KEY = "ask:"
# Lines of the file shown before and after those that were handed over, each of them in two rows at most.
BEFORE, AFTER = 2, 4
_ROWS_AROUND = 2
MOST_EXAMPLES = 3
_MOST_REMEMBERED = 6
_WIDEST_TEXT = 96
# A line of a file that is longer is shown in part; characters.
_LONGEST_LINE = 2000
_FREE_TEXT = frozenset({"file", "extra", "session"})
_READ_AS = {
    "general": "general question",
    "when": "asking when",
    "about": "asking about something",
    "how": "asking how",
    "latest": "asking for the latest",
}
PROVIDERS = {
    "builtin": "built-in vectors",
    "local": "a local model",
    "openai": "an OpenAI-compatible server",
    "gemini": "Gemini",
    "qmd": "QMD",
    "none": "words alone",
}
_ASKED_BY_TYPE = {
    "decision": "what did we decide about",
    "preference": "what is preferred for",
    "task": "what is to be done about",
    "correction": "what was corrected about",
}
_STATES = ("fading", "dormant", "archived")


def hit_key(hit: Hit) -> str:
    """Return the id of a row: a long memory can come up with several of its parts."""
    return f"{hit.id}@{hit.start_line}-{hit.end_line}"


def citation(hit: Hit) -> str:
    """Return how a result is cited: `path#L3-L5`."""
    return hit.citation or f"{hit.path}#L{hit.start_line}-L{hit.end_line}"


def store_look(store: str) -> tuple[str, str]:
    """Return the glyph and the role of a store; what lies outside of memory looks like a file."""
    return STORE_SIGNS.get(store, STORE_SIGNS["file"]), f"store.{store}"


class HitRows(KeyedRows):
    """Results, each as two lines: what it is, with its score, and below it the words around the match, with its day.

    Of free text the words stand above, and below them where they were said.

    Args:
        hits: Best first.
        question: Whose words are lit.
        today: In the workspace's zone.
    """

    def __init__(self, hits: Sequence[Hit], question: str, today: date) -> None:
        self._hits = tuple(hits)
        self._question, self._today = question, today
        super().__init__([key for hit in hits for key in (hit_key(hit), "")], ())

    def owner(self, index: int) -> int:
        """Return the first of the two lines."""
        return index - index % 2

    def hit(self, key: str) -> Hit | None:
        """Return the result of that id."""
        at = self.find(key)
        return self._hits[at // 2] if at is not None else None

    def rank(self, key: str) -> int:
        """Return the place of a result, from 1; 0 where it is none."""
        at = self.find(key)
        return at // 2 + 1 if at is not None else 0

    def line(self, index: int, width: int) -> Line:
        """Draw one of the two lines of a result."""
        hit = self._hits[index // 2]
        return self._head(hit, width) if index % 2 == 0 else self._below(hit, width)

    def _head(self, hit: Hit, width: int) -> Line:
        sign, role = store_look(hit.store)
        right = (Span(f"{min(hit.score, 1):.2f}", "soft"),)
        pinned = (Span("◆ ", role),) if hit.status == "pinned" else ()
        words = first_words(hit)
        if is_free_text(hit):
            words = part_around_match(words, self._question, max(1, width - 8 - 2 * len(pinned)))
        text = lit(plain(words, width * 2), self._question, score_role(hit.score))
        return spread((Span(sign + " ", role), *pinned, *text), right, width)

    def _below(self, hit: Hit, width: int) -> Line:
        state = "superseded" if hit.superseded_by else hit.status if hit.status in _STATES else ""
        told = " · ".join(each for each in (state, short_date(hit.date, self._today)) if each)
        right = (Span(told, "faint"),) if told else ()
        words = head_of(hit) if is_free_text(hit) else gist_of(hit)
        if is_free_text(hit) or not words:
            return spread((gap(2), ink(words or places_words(hit) or citation(hit), "faint")), right, width)
        part = part_around_match(words, self._question, max(1, width - line_width(right) - 4))
        return spread((gap(2), *lit(part, self._question, "soft")), right, width)


def is_free_text(hit: Hit) -> bool:
    """Tell whether a result is a piece of free text, whose words say more than the title of the whole."""
    return hit.store in _FREE_TEXT and bool(hit.snippet.strip())


def first_words(hit: Hit) -> str:
    """Return what a result is recognised by: the words of free text without headings, the title of all else."""
    if not is_free_text(hit):
        return head_of(hit)
    said = [line for line in hit.snippet.splitlines() if not line.startswith("#")]
    return one_line("\n".join(said)) or head_of(hit)


def head_of(hit: Hit) -> str:
    """Return what names a result: its title, or the beginning of its text."""
    return one_line(hit.title) or one_line(hit.snippet) or hit.id


def gist_of(hit: Hit) -> str:
    """Return the text of a result as one line, without what its title has said already."""
    words, title = one_line(hit.snippet), head_of(hit).rstrip("…. ")
    at = words.find(title)
    # A heading with time and type may stand before the sentence that is the title.
    return words[at + len(title) :].lstrip(" .…,;:–—") if 0 <= at < len(title) + 80 else words


def short_date(day: str | None, today: date) -> str:
    """Return a day as it stands in a column: “Today”, “2 Feb”, “19 Dec 2025”."""
    try:
        told = date.fromisoformat((day or "")[:10])
    except ValueError:
        return ""
    if told == today:
        return "Today"
    year = f" {told.year}" if told.year != today.year else ""
    return f"{told.day} {MONTHS[told.month - 1]}{year}"


def answer_lines(
    question: Question, found: Found | None, shown: int, width: int, *, searching: bool, problem: str = ""
) -> list[Line]:
    """Say how a question was read, what answered it, and what to think of the answer.

    Args:
        question: What was asked last.
        found: The newest answer, or None.
        shown: How many of its results the conditions let through.
        width: Cells.
        searching: Whether a newer answer takes its time.
        problem: Why there is no answer, or empty.
    """
    lines = [line for problem in question.problems for line in _remark("! ", problem, "soft", width)]
    if problem:
        return [*lines, *_remark("! ", problem, "danger", width)]
    if found is None or not question.words:
        return [*lines, (Span("searching…", "soft"),)] if searching and question.words else lines
    count = f"{shown} result{'s' * (shown != 1)}" if shown else "nothing found"
    parts = [_READ_AS.get(found.strategy, found.strategy)]
    if found.period:
        parts.append(period_words(*found.period))
    parts += _conditions(question)
    means = PROVIDERS.get(found.provider, found.provider)
    ending = f"{means} · {found.took_ms:,.0f} ms" if not searching else "searching…"
    head: Line = (Span(count, "strong"), ink("  " + " · ".join(parts), "soft"))
    if line_width(head) + len(ending) + 2 > width:
        lines += [cut(head, width), cut((ink(ending, "faint"),), width)]
    else:
        lines.append(spread(head, (ink(ending, "faint"),), width))
    if shown and found.likely_absent:
        lines += _remark(
            "○ ", "Nothing here deserves belief: these are only the nearest there are.", "strong", width
        )
    for remark in (found.fallback, found.stale):
        if remark:
            lines += _remark("! ", remark, "soft", width)
    return lines


def _remark(sign: str, text: str, role: str, width: int) -> list[Line]:
    return [
        (Span(sign if at == 0 else "  ", role), Span(piece, role))
        for at, piece in enumerate(wrap(text, max(8, width - 2), limit=2))
    ]


def _conditions(question: Question) -> list[str]:
    parts = [f"only {question.store}"] if question.store else []
    if question.after:
        parts.append(f"from {_day(question.after)}")
    if question.before:
        parts.append(f"until {_day(question.before)}")
    if question.status:
        parts.append("dormant as well" if question.status == "any" else f"only {question.status}")
    return parts


def period_words(first: str, last: str) -> str:
    """Write a period as one reads it: a day, or from one to another."""
    try:
        begin, end = date.fromisoformat(first[:10]), date.fromisoformat(last[:10])
    except ValueError:
        return f"{first} – {last}"
    if begin == end:
        return _day(begin)
    if (begin.year, begin.month) == (end.year, end.month):
        return f"{begin.day}–{_day(end)}"
    return f"{_day(begin)} – {_day(end)}"


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


# --- one result ---------------------------------------------------------------------------------------------


def hit_lines(
    hit: Hit,
    place: tuple[int, Sequence[str]] | None,
    memory: Memory | None,
    question: str,
    today: date,
    width: int,
) -> list[Line]:
    """Draw one result in its file, and what is known about the memory.

    Args:
        hit: The result.
        place: The number of the first line read of the file around it, and the lines; None while they are not there.
        memory: What is known about the memory, or None while it has not been read.
        question: Whose words are lit.
        today: In the workspace's zone.
        width: Cells.
    """
    lines = [*hit_head(hit, today, width), BLANK]
    if place is not None and place[1]:
        lines += context_lines(hit, place[0], place[1], question, width)
    else:
        for source in hit.snippet.splitlines():
            lines += wrap_line(lit(source, question), min(width, _WIDEST_TEXT)) if source.strip() else [BLANK]
    if hit.explanation is not None:
        lines += [*section("Why it stands here"), *summary_lines(hit, width)]
    if memory is not None:
        lines += known_lines(memory, width)
    return lines


def hit_head(hit: Hit, today: date, width: int) -> list[Line]:
    """Draw what a result is: its title, which leads to the memory, its place, and what is the matter with it."""
    sign, role = store_look(hit.store)
    told = date_words(hit.date, today)
    title = wrap(head_of(hit), max(8, min(width, _WIDEST_TEXT) - 2), limit=3)
    lines: list[Line] = [
        (Span(f"{sign} " if at == 0 else "  ", role), Span(piece, f"{role}+strong", hit.id))
        for at, piece in enumerate(title)
    ]
    facts = [
        told,
        "pinned" if hit.status == "pinned" else "",
        (hit.status or "") if hit.status in _STATES else "",
    ]
    about = " · ".join(fact for fact in facts if fact)
    both = f"{about} · {citation(hit)}" if about else citation(hit)
    folder, slash, name = citation(hit).rpartition("/")
    apart = [citation(hit)] if len(citation(hit)) <= width - 2 else [folder + slash, name]
    for fact in [both] if len(both) <= width - 2 else [about, *apart]:
        lines += [(gap(2), Span(piece, "faint")) for piece in wrap(fact, max(8, width - 2)) if piece]
    if hit.superseded_by:
        lines.append(
            cut(
                (
                    gap(2),
                    Span("No longer holds; superseded by ", "strong"),
                    ink(hit.superseded_by, f"{role}+link", link=hit.superseded_by),
                ),
                width,
            )
        )
    return lines


def date_words(day: str | None, today: date) -> str:
    """Return a day as one reads it, or an empty string where there is none."""
    try:
        return day_name(date.fromisoformat((day or "")[:10]), today)
    except ValueError:
        return ""


def context_lines(hit: Hit, first: int, lines: Sequence[str], question: str, width: int) -> list[Line]:
    """Draw lines of a file with their numbers; those that were handed over stand out behind a bar.

    Args:
        hit: Tells which lines were handed over.
        first: Number of the first line.
        lines: The lines.
        question: Whose words are lit.
        width: Cells.
    """
    digits = len(str(first + len(lines)))
    room = max(8, min(width, _WIDEST_TEXT) - digits - 4)
    _, role = store_look(hit.store)
    drawn: list[Line] = []
    for number, source in enumerate(lines, first):
        within = hit.start_line <= number <= hit.end_line
        if len(source) > _LONGEST_LINE:
            source = _piece_of_long_line(source, hit.snippet if within else "")
        pieces = (
            wrap_line(lit(source, question), room)
            if within
            else [(Span(piece, "faint"),) for piece in wrap(source, room, limit=_ROWS_AROUND)]
        )
        bar = Span("▌ " if within else "  ", role)
        for at, piece in enumerate(pieces):
            figure = Span(
                fit(str(number) if at == 0 else "", digits, right=True), "soft" if within else "faint"
            )
            drawn.append((bar, figure, gap(2), *piece))
    return drawn


def _piece_of_long_line(source: str, snippet: str) -> str:
    """Return what is shown of a very long line: what was handed over of it, or its beginning."""
    piece = max(snippet.splitlines(), key=len, default="").strip("…")
    if piece and (at := source.find(piece)) >= 0:
        return "…" * (at > 0) + piece + "…" * (at + len(piece) < len(source))
    return source[:_LONGEST_LINE] + "…"


# --- before the first question ------------------------------------------------------------------------------


def examples(episodes: Sequence[Episode]) -> tuple[str, ...]:
    """Return questions that this very memory can answer, made of what happened last.

    Args:
        episodes: Newest first.
    """
    told: list[str] = []
    used: set[str] = set()
    for episode in episodes:
        tag = next((each for each in episode.tags if each not in used), "")
        if tag and len(told) < MOST_EXAMPLES:
            used.add(tag)
            asked = _ASKED_BY_TYPE.get(episode.type, "what happened with")
            told.append(f"{asked} {_words_of(tag)}" if tag.isascii() else tag)
    months = list(dict.fromkeys(f"{MONTH_NAMES[each.day.month - 1]} {each.day.year}" for each in episodes))
    told += [f"what happened in {month}" for month in months[: 1 if told else MOST_EXAMPLES]]
    tags = dict.fromkeys(tag for episode in episodes for tag in episode.tags if tag.isascii())
    kinds = ("latest on {}", "{} store:semantic", "{} after:3m")
    told += [kind.format(_words_of(tag)) for kind, tag in zip(kinds, tags, strict=False)]
    return tuple(dict.fromkeys(told))


def _words_of(tag: str) -> str:
    return tag.replace("-", " ").replace("_", " ")


class AskRows(KeyedRows):
    """What can be asked: what one has asked before, and questions that this memory can answer.

    Args:
        asked: Newest first.
        offered: Examples.
    """

    def __init__(self, asked: Sequence[str], offered: Sequence[str]) -> None:
        self._rows: list[str] = []
        keys: list[str] = []
        for heading, questions in (("Asked before", asked[:_MOST_REMEMBERED]), ("For example", offered)):
            fresh = [each for each in questions if ASK_KEY + each not in keys]
            if not fresh:
                continue
            self._rows += [*([""] if keys else []), heading, *fresh]
            keys += [*([""] if keys else []), "", *(ASK_KEY + each for each in fresh)]
        super().__init__(keys, ())

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, a question, or a space."""
        text = self._rows[index]
        if not self.key(index):
            return (Span(text, "soft"),) if text else BLANK
        return (ink(text, "text", width),)


def grammar_lines(width: int) -> list[Line]:
    """Explain what can be asked and which conditions can be typed among the words."""
    width = min(width, 64)
    lines: list[Line] = [(Span("Ask in your own words.", "strong"),), BLANK]
    text = (
        "Memory is searched by words, by meaning, by what is linked to what, and by the days you name, "
        "in any language. Dates in a question count: “in May”, “last spring”, 上週."
    )
    lines += [(Span(piece, "soft"),) for piece in wrap(text, width)]
    lines += [BLANK, (Span("Conditions among the words", "soft"),)]
    for condition, what in (
        ("store:episodic", "or core, semantic, procedural, vault, file"),
        ("after:2026-01", "also feb, 3w, yesterday"),
        ("before:2026-02", "up to the end of it"),
        ("status:dormant", "what has faded; any for everything"),
    ):
        lines += _term(condition, what, 17, width)
    lines += [BLANK, (Span("With a result", "soft"),)]
    for key, what in (
        ("⏎", "reads it in its file; again for the whole memory"),
        ("x", "explains why it stands where it does"),
        ("w", "tells why another one did not come up"),
        ("y", "copies it as a citation"),
    ):
        lines += _term(key, what, 4, width)
    return lines


def _term(term: str, what: str, cells: int, width: int) -> list[Line]:
    return [
        (column(term if at == 0 else "", cells, "strong"), Span(piece, "soft"))
        for at, piece in enumerate(wrap(what, max(8, width - cells)))
    ]
