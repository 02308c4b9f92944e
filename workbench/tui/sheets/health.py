"""Index and health: how fresh search is, what works in part and what mends it, and what was said in this session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from workbench.display import words
from workbench.display.card import Card
from workbench.display.health import check_card, check_row, freshness, index_card, partly_words, worse_first
from workbench.display.ink import Line, ink, spread
from workbench.display.rows import beside_row
from workbench.display.words import in_bench
from workbench.engine.errors import WorkbenchError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass
from workbench.tui.parts.evidence import evidence_at
from workbench.tui.parts.rows import Rows
from workbench.tui.places.place import Place
from workbench.tui.verbs.act import OTHER_VERBS, Act

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from workbench.display.transcript import Evidence
    from workbench.engine.results.audit import Check, Diagnosis
    from workbench.engine.results.recall import IndexStatus
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject

INDEX, WHOLE, INIT, ASIDE = "do:index", "do:whole", "do:init", "do:aside"
_PLACED = lazy_pattern(r"(?P<path>[^\s:][^:]*?)(?::(?P<line>\d+))?: (?P<told>.+)", re.DOTALL)
_MENDS = {
    INDEX: "reads the rest now; searching would do it too",
    WHOLE: "rebuilds it; the old one answers until then",
    INIT: "begins a history of this folder; from then on every change can be taken back",
    ASIDE: "sets the history aside and begins a new one; nothing is deleted",
    "go:today": "goes to Today, where they are decided",
    "go:settings": "goes to Settings",
}
_LEADS = {"alerts": "go:today", "settings": "go:settings", "model": "go:settings"}


@dataclass(frozen=True)
class Health:
    """How things are.

    Args:
        broken: Parts of files that cannot be read.
        has_history: Whether anything was ever written here.
    """

    now: datetime
    index: IndexStatus
    broken: tuple[Check, ...]
    has_history: bool


@dataclass(frozen=True)
class Finding:
    """A row: something that was checked, something that can be done, or something that was said.

    Args:
        state: ok, degraded or broken; empty where nothing was checked.
        does: What `enter` does, a key of `_MENDS`; empty where it opens the file or the card.
        remedy: What else there is to do.
        source: The citation of the lines concerned.
    """

    id: str
    title: str
    beside: str = ""
    state: str = ""
    name: str = ""
    does: str = ""
    remedy: str = ""
    source: str = ""


def finding_of(check: Check, at: int) -> Finding:
    """Return the row of a check.

    Args:
        at: Which of them; its id is not the same where a file is mended.
    """
    detail, remedy = in_bench(check.detail), in_bench(check.remedy or "")
    placed = _PLACED.fullmatch(detail) if check.name == "file" else None
    if placed is not None:
        path, line = placed["path"], placed["line"]
        where = path.rpartition("/")[2] + (f", line {line}" if line else "")
        number = line or "1"
        return Finding(f"file:{detail}", placed["told"], where, check.state, path, "", remedy,
                       f"file:{path}#L{number}-L{number}")  # fmt: skip
    does = ""
    if check.state != "ok":
        does = _LEADS.get(check.name, "")
        if check.name == "history":
            does = INIT if "init" in (check.remedy or "") else ASIDE
        elif check.name == "search" and "index" in (check.remedy or ""):
            does = INDEX
    return Finding(f"{check.name}:{at}", detail, "", check.state, check.name, does, "" if does else remedy)


class HealthRows(Rows["tuple[str, str]", "Finding"]):
    """Index, what works in part, what works, and what was said."""

    def __init__(self, health: Health, checks: Iterable[Check] | None, said: Iterable[Finding]) -> None:
        super().__init__()
        index = health.index
        stale = index.dirty or index.pending or index.last_sync is None
        found = [
            finding_of(each, at)
            for at, each in enumerate(
                sorted(checks if checks is not None else health.broken, key=worse_first)
            )
            if each.name != "history" or health.has_history or each.state != "degraded"
        ]
        partly = [each for each in found if each.state != "ok"]
        works = [each for each in found if each.state == "ok"]
        is_told = any(each.name == "search" for each in partly)
        self.states = [each.state for each in partly]
        if index.fallback is not None and not is_told:
            self.states.append("degraded")
        """How many things work in part."""
        self._section("Works in part", str(len(partly)), partly)
        holds = Finding(
            "index",
            f"{index.chunks:,} passages of {index.files:,} files",
            "works in part" if index.fallback else "",
            "degraded" if index.fallback else "",
            does=INDEX if stale else "",
        )
        mends = [Finding(INDEX, "Bring it up to date", does=INDEX)] if stale else []
        self._section("Search index", "", [holds, *mends, Finding(WHOLE, "Rebuild it", does=WHOLE)])
        if not health.has_history and not any(each.does == INIT for each in partly):
            self._section("History", "none yet", [Finding(INIT, "Begin a history", does=INIT)])
        self._section("Works", "", works)
        self._section("Said in this session, the newest first", "", said)

    def _section(self, heading: str, beside: str, rows: Iterable[Finding]) -> None:
        for row in rows:
            self.add(row, row.id, (heading, beside))

    def draw(self, row: Finding, width: int) -> Line:
        """Draw a row."""
        if row.state:
            name = "" if row.source else row.name
            return check_row(name, row.title, row.beside, row.state, width)
        return beside_row((ink("  "), ink(row.title)), row.beside, width)


class HealthPlace(Place):
    """How fresh the index is, what works in part, and what was said."""

    KEYS: ClassVar[tuple[str, ...]] = ("evidence", "filter", "reflect")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._diagnosis: Diagnosis | None = None

    @property
    def labels(self) -> dict[str, str]:
        finding: Finding | None = self.row(self.cursor_key)
        return {"open": "do it"} if finding is not None and finding.does else {}

    def read(self, workspace: Workspace) -> Health:
        try:
            has_history = workspace.head() is not None
        except WorkbenchError:
            # It is there, and what is the matter with it is among what is checked.
            has_history = True
        return Health(workspace.now(), workspace.index_status(), workspace.broken_parts(), has_history)

    def show(self, results: Health) -> None:
        super().show(results)
        if self._diagnosis is None:
            # Slow where a model is tried, so that the rest comes first.
            self.frame.reading.read("doctor", lambda workspace: workspace.doctor(), self._show_checks)

    def _show_checks(self, diagnosis: Diagnosis) -> None:
        self._diagnosis = diagnosis
        super().show(self.results)
        if self.frame.place is self:
            self.frame.read_card()

    def left(self) -> None:
        self._diagnosis = None

    def rows(self, results: Health) -> HealthRows:
        checks = None
        if self._diagnosis is not None:
            # Files are mended while one looks; what else was checked is not checked again at every change.
            checks = (*results.broken, *(each for each in self._diagnosis.checks if each.name != "file"))
        return HealthRows(results, checks, self._said(results.now))

    def _said(self, now: datetime) -> list[Finding]:
        return [
            Finding(f"said:{number}", text, words.moment(at, now), "degraded" if is_problem else "")
            for number, at, text, is_problem in reversed(self.frame.edges.told)
        ]

    def heading(self, results: Health, width: int) -> Line:
        states = self.all_rows.states if isinstance(self.all_rows, HealthRows) else []
        if self._diagnosis is None:
            left = ink("Looking at everything…", "soft")
        else:
            left = ink(partly_words(states), "decide" if states else "soft")
        right = (ink(f"search: {freshness(results.index)}", "faint"),)
        return spread((left,), right if width >= 50 else (), width)

    def reveal(self, key: str) -> bool:
        super().reveal(key)
        # What was mended since is no longer there, and what was checked comes a moment later.
        return True

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        health: Health = self.results
        if not isinstance(subject, Finding):
            return super().read_card(workspace, subject)
        if subject.id == "index":
            return index_card(health.index, health.now, in_bench(health.index.fallback or ""))
        if not subject.state or not subject.name:
            mends = _MENDS.get(subject.does, "")
            return check_card(subject.title, subject.title, subject.state, mends, "") if mends else Card(
                "what was said", subject.title, (ink(subject.beside, "soft"),))  # fmt: skip
        mends = _MENDS.get(subject.does, "opens the file at the line" if subject.source else "")
        name = subject.name if not subject.source else f"{subject.name}, {subject.beside.rpartition(', ')[2]}"
        return check_card(name, subject.title, subject.state, mends, subject.remedy)

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | str | None:
        if isinstance(subject, Finding):
            return evidence_at(workspace, subject.source) if subject.source else None
        return super().read_evidence(workspace, subject)

    def do(self, command: str) -> bool:
        """Do what mends what is under the cursor."""
        if command != "open" or self.visited:
            return False
        finding: Finding | None = self.row(self.cursor_key)
        if finding is None:
            return False
        if finding.source:
            self.frame.run_named("evidence")
        elif finding.does.startswith("go:"):
            self.frame.go(finding.does.removeprefix("go:"))
        elif finding.does in (INDEX, WHOLE):
            self._index(whole=finding.does == WHOLE)
        elif finding.does == INIT:
            self._diagnosis = None
            self.frame.begin(_begin_history(has_been=finding.state == "broken"))
        elif finding.does == ASIDE:
            self._diagnosis = None
            self.frame.begin(_SET_ASIDE)
        else:
            return False
        return True

    def _index(self, *, whole: bool) -> None:
        self._diagnosis = None
        workspace = self.frame.working.workspace

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            def progress(done: int, total: int) -> None:
                tell(f"index {100 * done // total}%" if total else "index…")

            status = workspace.index(force=whole, progress=progress, cancelled=stopped)
            if stopped():
                return "Indexing was stopped; what was read stays."
            state = freshness(status)
            return f"The index is {state}: {status.chunks:,} passages of {status.files:,} files."

        self.frame.say("Rebuilding the index." if whole else "Bringing the index up to date.")
        self.frame.working.begin("The index", work)


def _begin_history(*, has_been: bool) -> Act:
    def begin(workspace: Workspace) -> str:
        changed = type(workspace).init(workspace.root)
        return "Began a history of this folder." if changed.commit else "There is a history already."

    if has_been:
        return Act(begin, "Begin a new history? What was done before can then not be undone.", "begin")
    return Act(begin)


def _set_aside(workspace: Workspace) -> str:
    place = workspace.set_aside_history()
    return f"The old history is in {place.name} now; the next change begins a new one."


_SET_ASIDE = Act(
    _set_aside, "Set the history aside? What was done before can then not be undone.", "set it aside"
)
_NO_MEMORY = "This is not a memory; enter does what can be done about it."
OTHER_VERBS[Finding] = {name: lambda _: _NO_MEMORY for name in ("pin", "forget", "reinforce")}
