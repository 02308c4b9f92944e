"""Follows what a card names: to its evidence, to another memory, to the place where a memory stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.words import as_on
from workbench.engine.language.periods import day_and_time
from workbench.engine.patterns import lazy_pattern
from workbench.tui.keys.table import COMMAND, IMPORT
from workbench.tui.parts.evidence import evidence_at, next_evidence
from workbench.tui.places.memory_reading import about
from workbench.tui.verbs.history import AGAINST, COMMIT, HISTORY_OF, MOMENT
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.widget import Widget

    from workbench.display.transcript import Evidence
    from workbench.engine.results.memories import Shown
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame
    from workbench.tui.verbs.act import Subject

_PLACE_OF_KIND = {"core": "core", "episode": "timeline", "entity": "graph"}
_GO = {
    "go-core": "core",
    "go-timeline": "timeline",
    "go-graph": "graph",
    "go-decay": "decay",
    "go-session": "sessions",
}
_OPENING = "opened evidence"
_IMPORT = "import:"
_REVIEW_ITEM = lazy_pattern(r"r-\d+(\.\d+)?")
_WITH_HISTORY = frozenset({"core", "episode", "entity", "procedure", "vault", "file"})


class Looking:
    """Opens evidence and links."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._came_from: Widget | None = None

    def do(self, command: str) -> bool:
        """Open the evidence, or go to the place where what is shown stands."""
        if command == "evidence":
            self._open_evidence()
        elif command in _GO:
            self._go(command)
        elif command in ("history", "go-history"):
            self._go_to_history(command)
        elif command in _ACTIONS:
            self._go_to_action(command, _ACTIONS[command])
        elif command == "go-day":
            self._ask_for_a_moment()
        elif command == "show-evidence":
            self._frame.toggle_class("-no-evidence")
            self._frame.read_card()
        else:
            return False
        return True

    def _ask_for_a_moment(self) -> None:
        """Show memory as it was on a day: in History, compared with now."""
        frame = self._frame
        today = frame.working.workspace.now().date()

        def take(text: str) -> str | None:
            if day_and_time(text.strip().casefold(), today) is None:
                return "That is no day; write 14 Oct, last month, two weeks ago or 2026-10-14 10:30."
            frame.go("history", spot=f"{MOMENT}{text.strip()}{AGAINST}", then=say)
            return None

        def say() -> None:
            now = "⸨last⸩ returns to now, ⸨back⸩ to where you were."
            frame.say(f"This is memory {as_on(frame.place.when)}, compared with now. {now}")

        frame.editing.ask("Memory as it was on which day?  14 oct · 3 weeks ago", take=take)

    def _open_evidence(self) -> None:
        place = self._frame.place
        subject, shown = place.current, place.evidence.evidence
        if subject is None:
            self._frame.say(COMMAND["evidence"].elsewhere)
        elif self._frame.focused is place.evidence and shown is not None:
            if shown.more:
                self._open(lambda workspace: next_evidence(workspace, shown))
            else:
                self._frame.say("No other source is named; ⸨out⸩ goes back.")
        else:
            self._open(lambda workspace: place.read_evidence(workspace, subject))

    def _open(self, read: Callable[[Workspace], Evidence | str | None]) -> None:
        """Open evidence, unless one has gone on to something else when it is read."""
        place, subject = self._frame.place, self._frame.place.current
        self._frame.reading.read(
            _OPENING,
            read,
            lambda evidence: self._show(evidence, subject) if place.current == subject else None,
        )

    def stop_opening(self) -> bool:
        """Call off evidence that is still being read; returns whether any was."""
        is_opening = self._frame.reading.is_reading(_OPENING)
        self._frame.reading.forget(_OPENING)
        return is_opening

    def _show(self, evidence: Evidence | str | None, subject: Subject | None) -> None:
        frame = self._frame
        if evidence is None or isinstance(evidence, str):
            frame.say(evidence or COMMAND["evidence"].elsewhere)
            return
        if frame.focused is not frame.place.evidence:
            self._came_from = frame.focused
        frame.place.evidence.show(evidence, of=subject)
        frame.remove_class("-no-evidence")
        frame.add_class("-evidence")
        frame.set_focus(frame.place.evidence)

    def leave_evidence(self) -> None:
        """Give the keys back to the part that the evidence was opened from."""
        frame, came_from = self._frame, self._came_from
        self._came_from = None
        frame.remove_class("-evidence")
        frame.set_focus(came_from if came_from in frame.place.parts else frame.place.card)

    def follow(self, link: str) -> None:
        """Open what a link leads to: the line of a source beside the card, or the card of another memory."""
        if link.startswith(COMMIT):
            self._frame.go("history", spot="", row=link)
        elif link.startswith("file:"):
            self._open(lambda workspace: evidence_at(workspace, link))
        else:
            self._frame.reading.read("visit", lambda workspace: _memory(workspace, link), self._visit)

    def _visit(self, memory: Memory) -> None:
        frame = self._frame
        frame.place.visited.append(memory)
        frame.remove_class("-evidence")
        frame.add_class("-reading")
        frame.read_card()
        frame.set_focus(frame.place.card)

    def _go(self, command: str) -> None:
        subject = self._frame.place.current
        if subject is None:
            self._frame.say(COMMAND[command].elsewhere)
            return
        place, id_ = _GO[command], about(subject)
        if not id_:
            self._frame.say(COMMAND[command].elsewhere)
            return

        def show(row: str) -> None:
            if row:
                self._frame.go(place, row=row)
            else:
                self._frame.say(COMMAND[command].elsewhere)

        self._frame.reading.read("go", lambda workspace: _row_in(workspace, id_, place), show)

    def _go_to_history(self, command: str) -> None:
        """Go to what became of a memory or file."""
        subject = self._frame.place.current
        named = about(subject) if subject is not None else ""
        if named.partition(":")[0] in _WITH_HISTORY:
            self._frame.go("history", spot=HISTORY_OF + named)
        else:
            self._frame.say(COMMAND[command].elsewhere)

    def _go_to_action(self, command: str, find: Callable[[Workspace], str | None]) -> None:
        """Go to an action in History."""

        def show(commit: str | None) -> None:
            if commit is None:
                self._frame.say(COMMAND[command].elsewhere)
            else:
                self._frame.go("history", spot="", row=COMMIT + commit)

        self._frame.reading.read("go", find, show)

    def open_named(self, name: str) -> None:
        """Go to what somebody means who opens the bench at a name: an id, a file, `review` or an item of it."""
        if name == "review" or _REVIEW_ITEM.fullmatch(name):
            self._frame.go("inbox", row=name if "." in name else "")
            return
        if name.startswith(_IMPORT):
            self._frame.go(IMPORT.name, spot=name.removeprefix(_IMPORT), row="memories")
            return

        def find(workspace: Workspace) -> str:
            workspace.refresh()
            return str(workspace.memory_around(name))

        self._frame.reading.read("go", find, self.open_memory)

    def open_memory(self, memory_id: str) -> None:
        """Go to the place where a memory stands, or show its card here where it stands in none of its own."""
        kind = memory_id.partition(":")[0]
        place = _PLACE_OF_KIND.get(kind)
        if place is None:
            self.follow(memory_id)
        else:
            self._frame.go(place, row=_whole(memory_id) if place == "graph" else memory_id)


def _oldest_alert(workspace: Workspace) -> str | None:
    """Return the action that raised the oldest alert that waits."""
    waiting = workspace.alerts_waiting()
    return workspace.action(waiting[-1].commit).action.id if waiting and waiting[-1].commit else None


def _last_own(workspace: Workspace) -> str | None:
    """Return what the person did last."""
    own = workspace.next_steps().own
    return own.commit if own is not None else None


_ACTIONS = {"go-alert": _oldest_alert, "go-mine": _last_own}


def _whole(memory_id: str) -> str:
    """Return the id of the entity that a fact or relation stands in; any other id as it is."""
    return memory_id.partition("#^")[0]


def _row_in(workspace: Workspace, memory_id: str, place: str) -> str:
    """Return the row of a place that shows a memory, or what it names; empty where it has none."""
    kind = memory_id.partition(":")[0]
    if place == "decay":
        return _whole(memory_id) if kind in ("episode", "entity", "procedure", "core") else ""
    if place == "sessions":
        said = workspace.why(memory_id).said
        return next((each.id for each in said if each.session), "")
    if _PLACE_OF_KIND.get(kind) == place:
        return _whole(memory_id) if place == "graph" else memory_id
    shown = workspace.show(memory_id, count_access=False, history=False)
    wanted = next((name for name, where in _PLACE_OF_KIND.items() if where == place), "")
    named = (*shown.links.to, *shown.links.from_, *shown.provenance)
    found = next((each for each in named if each.startswith(f"{wanted}:")), "")
    return _whole(found) if place == "graph" else found


def memory_of(shown: Shown) -> Memory:
    """Return what keys act on, given what is shown of a memory."""
    score = shown.score
    return Memory(
        shown.id,
        shown.store,
        shown.title or shown.text,
        score is not None and bool(score.terms.get("pinned")),
        score is not None and score.status == "archived",
    )


def _memory(workspace: Workspace, memory_id: str) -> Memory:
    return memory_of(workspace.show(memory_id, count_access=False, history=False))
