"""Why a memory is believed: the words behind it, else the commit that wrote it."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.session_talk import MAIN
from workbench.display.card import history_lines, why_lines
from workbench.display.ink import plain_text
from workbench.engine.errors import NotFound
from workbench.engine.results import to_json

FACT = "entity:person--robin#^tea1"
EPISODE = "episode:2026-02-01:09:15"


def test_a_fact_rests_on_the_words_of_its_episode(settled: AgentHome) -> None:
    with settled.open() as workspace:
        why = workspace.why(FACT)
    (said,) = why.said
    assert (why.basis, why.written, why.lost) == ("words", None, ())
    assert (said.id, said.quote, said.path, said.line) == (
        EPISODE, "Backups run at midnight.", "memory/episodes/2026-02-01.md", 4,
    )  # fmt: skip
    assert said.moment is not None
    assert f"{said.moment:%Y-%m-%d %H:%M}" == "2026-02-01 09:15"
    assert to_json(why)["said"][0]["session"] is None


def test_a_fact_that_was_reworded_says_so_beside_the_words_it_rests_on(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.adopt()
        assert workspace.why(FACT).reworded is None
        before = workspace.show(FACT).text
        edited = workspace.edit(FACT, f"{before}s")
        why = workspace.why(FACT)
        assert why.said
        assert why.reworded is not None
        assert (why.reworded.commit, why.reworded.actor) == (edited.commit, "manual")
        told = [plain_text(line) for line in why_lines(why, workspace.now())]
        assert told[0].startswith("reworded by you, today, ")
        assert "Backups run at midnight." in told[1]
        workspace.undo()
        assert workspace.why(FACT).reworded is None


def test_an_episode_from_a_session_gives_speaker_session_line_and_day(talked: AgentHome) -> None:
    with talked.open() as workspace:
        line = next(each for each in workspace.session(MAIN).lines if each.kind == "message")
        talked.write(
            "memory/episodes/2026-02-02.md",
            f"# 2026-02-02\n\n## 10:00 | event | from:[{line.citation}]\nSomething was said.\n",
        )
        (said,) = workspace.why("episode:2026-02-02:10:00").said
    assert (said.quote, said.speaker, said.session, said.line, said.moment) == (
        line.text, line.role, MAIN, line.line, line.moment,
    )  # fmt: skip


def test_a_fact_of_such_an_episode_has_both_the_transcript_first(talked: AgentHome) -> None:
    with talked.open() as workspace:
        line = next(each for each in workspace.session(MAIN).lines if each.kind == "message")
        talked.write(
            "memory/episodes/2026-02-02.md",
            f"# 2026-02-02\n\n## 10:00 | event | from:[{line.citation}]\nSomething was said.\n",
        )
        talked.write(
            "memory/graph/entities/person--kim.md",
            "# person--kim\n\n## Facts\n- Rows (from episode:2026-02-02:10:00) ^row1\n",
        )
        why = workspace.why("entity:person--kim#^row1")
    assert [each.id for each in why.said] == [line.citation, "episode:2026-02-02:10:00"]


def test_a_core_item_rests_on_the_commit_that_wrote_its_words(settled: AgentHome) -> None:
    with settled.open() as workspace:
        changed = workspace.core_add("Critical Facts", "The spare key is under the stairs")
        workspace.core_add("Persona", "Ask before mailing anybody")
        (item,) = changed.ids
        why = workspace.why(item)
    assert why.basis == "commit"
    assert why.written is not None
    assert why.written.commit == changed.commit
    assert "The spare key" in why.written.summary
    assert why.status == "active"
    assert why.falls[0].after == "fading"


def test_what_was_there_before_the_history_was_adopted(settled: AgentHome) -> None:
    with settled.open() as workspace:
        why = workspace.why("core:identity:name")
    assert why.basis == "adoption"
    assert why.written is not None
    assert why.written.timestamp == settled.clock.now()


def test_without_a_history_the_file_is_all_there_is(furnished: AgentHome) -> None:
    with furnished.open() as workspace:
        why = workspace.why("core:identity:name")
    assert (why.basis, why.written, why.said) == ("file", None, ())


def test_a_source_that_is_gone_is_named_as_lost(settled: AgentHome) -> None:
    settled.write(
        "memory/graph/entities/person--kim.md",
        "# person--kim\n\n## Facts\n- Rows (since 2020-01-01, from episode:2020-01-01:10:00) ^row1\n",
    )
    with settled.open() as workspace:
        workspace.adopt()
        why = workspace.why("entity:person--kim#^row1")
    assert why.lost == ("episode:2020-01-01:10:00",)
    assert why.basis == "commit"


def test_what_names_a_memory_uses_it(settled: AgentHome) -> None:
    with settled.open() as workspace:
        used_by = workspace.why(EPISODE).used_by
    assert set(used_by) == {"entity:person--robin", FACT}


def test_asking_counts_as_no_access_and_changes_nothing(settled: AgentHome) -> None:
    before, commits = settled.tracked(), settled.commits()
    with settled.open() as workspace:
        counts = [each.access_count for each in workspace.decay().entries]
        workspace.why(FACT)
        assert [each.access_count for each in workspace.decay().entries] == counts
    assert (settled.tracked(), settled.commits()) == (before, commits)


def test_an_unknown_memory_is_not_found(settled: AgentHome) -> None:
    with settled.open() as workspace, pytest.raises(NotFound):
        workspace.why("episode:1999-01-01:10:00")


def test_a_page_that_was_merged_is_no_reason_beside_what_it_rested_on(settled: AgentHome) -> None:
    settled.write(
        "memory/graph/entities/person--rob.md",
        f"# person--rob\n\n## Facts\n- Rows on Sundays (since 2026-02-01, from {EPISODE}) ^row1\n",
    )
    with settled.open() as workspace:
        workspace.adopt()
        workspace.graph_merge("entity:person--robin", "entity:person--rob")
        moved = next(each for each in workspace.graph("entity:person--robin").facts if "Sundays" in each.text)
        assert "entity:person--rob" in moved.provenance
        why = workspace.why(moved.id)
    assert [each.id for each in why.said] == [EPISODE]
    assert why.lost == ()


def test_an_act_and_its_undoing_are_not_the_last_change_of_a_memory(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.core_add("Identity", "Drink: tea")
        workspace.core_add("Identity", "Lives in Tromsø")
        tea, home = (
            i.id
            for b in workspace.core().blocks
            for i in b.items
            if i.text in ("Drink: tea", "Lives in Tromsø")
        )
        (learned,) = workspace.show(tea).history
        workspace.core_replace(tea, "Drink: coffee", moving=(home,))
        # What the same commit did to another line is not said of this one.
        assert workspace.show(tea).history[0].summary.startswith("changed “Drink: tea” to “Drink: coffee”")
        assert "Tromsø" not in workspace.show(tea).history[0].summary
        for _ in range(2):
            workspace.undo(confirmed=True)
            assert [each.commit for each in workspace.show(tea).history if not each.undone] == [
                learned.commit
            ]
            (standing,) = workspace.actions(memory=tea, standing=True).actions
            assert standing.id == learned.commit
            (added,) = (each for each in workspace.since("1d").learned if each.id == tea)
            assert added.commit not in {each.commit for each in workspace.show(tea).history if each.undone}
            told = [plain_text(line) for line in history_lines(workspace.show(tea), workspace.now())]
            assert "coffee" not in told[0]
            workspace.redo(confirmed=True)
            assert [each.undone for each in workspace.show(tea).history] == [False, False]


def test_the_words_of_a_line_of_notes_are_quoted_without_its_mark_time_and_speaker(
    settled: AgentHome,
) -> None:
    settled.write(
        "memory/2026-01-08.md",
        "# Talk\n\n- 15:44 Robin: Good to see you\n"
        "- 15:46 Maria: I slept badly. I grow tomatoes on the roof! [image: a photo of a roof]\n",
    )
    settled.write(
        "memory/graph/entities/person--maria.md",
        "# person--maria\n\n<!-- Type: person | Label: Maria -->\n\n## Facts\n"
        "- Maria grows tomatoes on the roof (from file:memory/2026-01-08.md#L4) ^ftom\n",
    )
    with settled.open() as workspace:
        workspace.adopt()
        (said,) = workspace.why("entity:person--maria#^ftom").said
    assert (said.quote, said.speaker, said.line) == ("I grow tomatoes on the roof!", "Maria", 4)
    assert said.moment is not None
    assert f"{said.moment:%Y-%m-%d %H:%M}" == "2026-01-08 15:46"


def test_what_a_reflection_put_into_core_memory_rests_on_the_words_that_it_quoted(settled: AgentHome) -> None:
    settled.write(
        "memory/2026-02-03.md",
        "# 2026-02-03\n\n- 09:10 User: Always answer in English, please.\n",
    )
    with settled.open() as workspace:
        workspace.reflect()
        rule = next(item for item in workspace.review().items if item.target == "core:persona")
        workspace.review_decide({rule.id: "approved"})
        workspace.review_apply()
        (written,) = (
            each for block in workspace.core().blocks for each in block.items if rule.after == each.text
        )
        why = workspace.why(written.id)
    (said,) = why.said
    assert (why.basis, said.path, said.line) == ("words", "memory/2026-02-03.md", 3)
    assert "Always answer in English" in said.quote
