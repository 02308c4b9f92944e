"""The bench’s graph, scores and past for tests of other panes: there is nothing there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from workbench.engine.errors import NotFound
from workbench.engine.past.past import Past
from workbench.engine.results.audit import CommitView, Comparison, HistoryLine
from workbench.engine.results.decay import DecayEntry, DecayView, Falls, ScorePoint
from workbench.engine.results.graph import EntityTable, GraphView
from workbench.engine.results.memories import Score
from workbench.engine.results.sessions import FlushCheck, SessionPlace, Sessions
from workbench.tui.bench import Outcome
from workbench.tui.bench.sessions import TranscriptCalls

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
NOTHING = Outcome("Nothing changed.")


class FakeSeeing:
    """An empty graph, no scores, no history; the panes about them are tested on a real workspace."""

    def titles(self, stores: Sequence[str]) -> Mapping[str, str]:
        return {}

    def memory_text(self, memory_id: str) -> str:
        return f"What {memory_id} says."

    def edit_memory(self, memory_id: str, text: str, expected: str) -> Outcome:
        return NOTHING

    def restore(self, memory_ids: Sequence[str]) -> Outcome:
        return NOTHING

    def session_places(self) -> Sequence[SessionPlace]:
        return ()

    def sessions(self, place: str | None = None) -> Sessions:
        return Sessions((), "nowhere")

    def transcript(self, key: str, place: str | None = None) -> TranscriptCalls:
        raise NotFound(f"There is no session “{key}”.")

    def fullness(self, key: str, place: str | None = None) -> FlushCheck:
        raise NotFound(f"There is no session “{key}”.")

    def names_of(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        return {}

    def compact_session(
        self, key: str, place: str | None = None, progress: object = None, cancelled: object = None
    ) -> Outcome:
        return NOTHING

    def flush_session(self, key: str, place: str | None = None) -> Outcome:
        return NOTHING

    def start_session_over(self, key: str) -> Outcome:
        return NOTHING

    def mend_session(self, key: str) -> Outcome:
        return NOTHING

    def graph(self, entity: str, **narrowed: object) -> GraphView:
        raise NotFound(f"There is no memory “{entity}”.")

    def entities(self) -> EntityTable:
        return EntityTable((), 0)

    def graph_path(self, start: str, goal: str) -> GraphView:
        return GraphView(start, (), ())

    def graph_relations(self) -> Sequence[str]:
        return ()

    def add_entity(self, type_: str, name: str) -> Outcome:
        return NOTHING

    def rename_entity(self, entity: str, name: str) -> Outcome:
        return NOTHING

    def add_fact(self, entity: str, text: str) -> Outcome:
        return NOTHING

    def retire(self, id_: str) -> Outcome:
        return NOTHING

    def link(self, from_: str, relation: str, to: str) -> Outcome:
        return NOTHING

    def unlink(self, from_: str, relation: str, to: str) -> Outcome:
        return NOTHING

    def merge(self, keep: str, absorb: str) -> Outcome:
        return NOTHING

    def propose_merge(self, keep: str, absorb: str) -> Outcome:
        return NOTHING

    def unmerge(self, absorbed: str) -> Outcome:
        return NOTHING

    def decay(self, lambda_: float | None = None) -> DecayView:
        return DecayView(NOW, 0.03 if lambda_ is None else lambda_, ())

    def score_course(self, view: DecayView, entry: DecayEntry, days: Sequence[int]) -> Sequence[ScorePoint]:
        return ()

    def score_terms(self, view: DecayView, entry: DecayEntry, day: int) -> Score | None:
        return None

    def falls(self, within: int, lambda_: float | None = None) -> Falls:
        return Falls(NOW, 0.03, within, ())

    def keep_rate(self, lambda_: float) -> Outcome:
        return NOTHING

    def reinforce(self, memory_ids: Sequence[str]) -> Outcome:
        return NOTHING

    def history_line(self) -> HistoryLine:
        return HistoryLine((), (), ())

    def past(self, commit: str) -> Past:
        raise NotFound("There is no history.")

    def moment(self, commit: str) -> CommitView:
        raise NotFound("There is no history.")

    def compare(self, older: str, newer: str | None = None) -> Comparison:
        return Comparison(older, newer, (), ())

    def restore_memory(self, memory_id: str, commit: str) -> Outcome:
        return NOTHING

    def restore_file(self, path: str, commit: str) -> Outcome:
        return NOTHING

    def roll_back(self, commit: str) -> Outcome:
        return NOTHING
