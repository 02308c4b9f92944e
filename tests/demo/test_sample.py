"""The sample is alive: every store filled, every kind of actor seen, nothing in it that a person would call junk."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from tests.demo.conftest import NOW, Sample
from workbench.demo.sample import ZONE, build, load_story
from workbench.engine import FixedClock, Workspace, layout
from workbench.engine.errors import InvalidInput
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.proposals import PendingMemories

PEOPLE = {"Nora Lind", "Ida Berg", "Jonas Ek", "Karin Voss", "Mei Lin"}
ACTORS = (
    "bot:trigger-remember",
    "bot:trigger-forget",
    "bot:auto-detect",
    "bot:commit-from:researcher",
    "bot:commit-from:bookkeeper",
    "bot:main",
    "reflection:r-001",
    "reflection:r-002",
    "reflection:r-003",
    "system:decay",
    "system:init",
    "manual",
    "skill:calendar-sync",
    "skill:mail-digest",
    "subagent:researcher",
    "subagent:bookkeeper",
)


def entity_files(sample: Sample) -> list[EntityFile]:
    places = sorted((sample.root / layout.ENTITIES).glob("*.md"))
    return [EntityFile.parse(place.read_bytes(), f"{layout.ENTITIES}/{place.name}") for place in places]


def living(sample: Sample) -> list[EntityFile]:
    return [file for file in entity_files(sample) if "merged into" not in dict(file.header)]


def test_history_is_long_many_voiced_and_whole(sample: Sample) -> None:
    with sample.open() as workspace:
        verified = workspace.audit_verify()
        assert verified.problems == ()
        assert verified.ok
        assert verified.commits >= 150
        for actor in ACTORS:
            assert workspace.audit_log(actor=actor, limit=1).entries or actor == "system:init", actor
        first = workspace.audit_log(limit=10_000).entries[-1]
        assert first.timestamp <= NOW - timedelta(days=85)
    assert "system:init" in sample.text("memory/meta/audit-archive.md")


def test_every_scene_left_its_mark(sample: Sample) -> None:
    with sample.open() as workspace:
        commits = workspace.audit_verify().commits
    unrecorded = ("recall", "say", "use", "compact", "overhear")
    scenes = [scene for scene in load_story(NOW.astimezone(ZONE).date()) if scene.verb not in unrecorded]
    assert commits > len(scenes)


def test_every_store_is_filled(sample: Sample) -> None:
    assert len(list((sample.root / layout.EPISODES).glob("*.md"))) >= 50
    assert len(living(sample)) >= 20
    assert len(list((sample.root / layout.PROCEDURES).glob("*.md"))) == 5
    assert len(list((sample.root / layout.VAULT).glob("*.md"))) == 3
    with sample.open() as workspace:
        core = workspace.core()
        assert all(block.items for block in core.blocks if block.budget)
        assert 150 < core.tokens < core.cap / 2
    for name in ("evolution", "reflection-log", "pending-memories", "audit-archive"):
        assert sample.text(f"memory/meta/{name}.md").count("\n") > 5


def test_memories_are_active_fading_dormant_archived_and_pinned(sample: Sample) -> None:
    with sample.open() as workspace:
        entries = workspace.decay().entries
    statuses = Counter("pinned" if entry.pinned else entry.status for entry in entries)
    assert all(statuses[status] >= 3 for status in ("active", "fading", "dormant", "archived", "pinned"))
    scores = {entry.id: entry.status for entry in entries}
    assert scores["entity:project--tofta-handbook"] == "active"
    assert scores["core:identity:name"] == "active"


def test_one_alert_waits(sample: Sample) -> None:
    with sample.open() as workspace:
        alerts = workspace.audit_alerts().alerts
    assert [alert.file for alert in alerts if not alert.acknowledged] == ["IDENTITY.md"]
    assert sum(alert.acknowledged for alert in alerts) == 3


def test_entities_are_whom_and_what_the_story_is_about(sample: Sample) -> None:
    files = living(sample)
    assert {file.label for file in files if file.type == "person"} == PEOPLE
    assert {file.label for file in files if file.type == "project"} == {
        "Tofta handbook",
        "Kiel catalogue",
        "Brewery menu",
    }
    assert {file.label for file in files if file.type == "place"} == {"Lisbon", "Gothenburg", "Malmö"}
    for file in files:
        assert len(file.label.split()) <= 3, file.label
        assert not any(dash in file.label for dash in ":;,.!?")
    merged = {file.id for file in entity_files(sample)} - {file.id for file in files}
    assert merged == {"concept--ockero-brewery-house", "person--林美"}
    renamed = next(file for file in files if file.id == "concept--large-print-edition")
    assert (renamed.label, renamed.aliases) == ("Easy-to-read edition", ("Large print edition",))


def test_relations_say_more_than_that_there_is_one(sample: Sample) -> None:
    with sample.open() as workspace:
        edges = workspace.graph().edges
    kinds = Counter(edge.relation for edge in edges)
    assert {
        "develops",
        "uses",
        "depends-on",
        "part-of",
        "decided-on",
        "supersedes",
        "serves",
        "reviews",
    } <= set(kinds)
    # Only where people live and work.
    assert {edge.to for edge in edges if edge.relation == "relates-to"} <= {
        "entity:place--lisbon",
        "entity:place--gothenburg",
        "entity:place--malmo",
        "entity:concept--nordlicht",
    }
    stated = {(edge.from_, edge.relation, edge.to) for edge in edges}
    assert ("entity:tool--indesign", "supersedes", "entity:tool--word") in stated
    assert ("entity:project--tofta-handbook", "uses", "entity:tool--word") not in stated


def test_facts_come_from_episodes_give_way_and_contradict(sample: Sample) -> None:
    facts = [fact for file in living(sample) for fact in file.facts]
    retired = [fact for file in living(sample) for fact in file.retired]
    sources = [source for fact in facts for source in fact.provenance.sources]
    assert sum(source.startswith("episode:") for source in sources) >= 15
    assert len(retired) >= 4
    assert all(fact.provenance.successor_block and fact.provenance.until for fact in retired)
    texts = {fact.text for fact in facts}
    assert {
        "Nordlicht pays its invoices within 30 days",
        "Nordlicht pays its invoices within 45 days",
    } <= texts
    assert sum(len(file.questions) for file in living(sample)) >= 2
    assert any(re.search(r"[\u4e00-\u9fff]", fact.text) for fact in facts)
    with sample.open() as workspace:
        for source in set(sources):
            if source.startswith("episode:"):
                assert workspace.show(source, count_access=False).text


def test_procedures_have_titles_triggers_and_steps(sample: Sample) -> None:
    for place in (sample.root / layout.PROCEDURES).glob("*.md"):
        text = place.read_text(encoding="utf-8")
        title = text.splitlines()[0]
        assert len(title) < 50
        assert not re.search(r"\d\.", title)
        assert "## Trigger\nWhen " in text
        assert "\n3. " in text


def test_core_memory_holds_no_tasks_and_no_procedures(sample: Sample) -> None:
    core = sample.text("MEMORY.md")
    assert "1. " not in core
    assert "Write " not in core
    assert core.count("\n- ") <= 20


def test_notes_of_the_vault_have_short_titles(sample: Sample) -> None:
    names = {place.stem for place in (sample.root / layout.VAULT).glob("*.md")}
    assert names == {
        "emergency-contacts-of-nora",
        "the-letter-from-the-director-of-the-tofta-museum",
        "why-nora-translates",
    }


def test_sub_agents_disagree_about_what_waits(sample: Sample) -> None:
    pending = PendingMemories.parse((sample.root / layout.PENDING_MEMORIES).read_bytes())
    assert [(p.number, p.sender, p.conflicts) for p in pending.proposals] == [
        (4, "researcher", (5,)),
        (5, "bookkeeper", (4,)),
        (6, "bookkeeper", ()),
    ]


def test_sessions_are_of_every_kind_and_lead_to_memory_and_back(sample: Sample) -> None:
    with sample.open() as workspace:
        sessions = {row.kind: row for row in workspace.sessions().sessions if row.kind != "subagent"}
        assert set(sessions) == {"main", "group", "cron"}
        main = sessions["main"]
        assert 0.95 < (main.flush.tokens or 0) / main.flush.threshold < 1
        assert sessions["group"].shared
        compacted = workspace.session("agent:main:subagent:bookkeeper")
        assert [line.kind for line in compacted.lines].count("compaction") == 1
        reader = workspace.session_reader(main.key)
        drawn = reader.page(1, reader.total()).memories
        assert len(drawn) == 2
        for line, ids in drawn.items():
            for memory in ids:
                assert f"file:{reader.name}#L{line}" in workspace.show(memory, count_access=False).provenance
        for proposal in workspace.proposals().proposals:
            (origin,) = proposal.origins
            cited = next(each for each in workspace.session(origin).lines if each.citation == origin)
            assert "propose" in cited.text


def test_a_person_goes_on_from_it(sample: Sample, isolated: Path) -> None:
    import shutil

    copy = isolated / "copy"
    shutil.copytree(sample.root, copy)
    with Workspace.open(copy, role="person", clock=FixedClock(NOW)) as workspace:
        remembered = workspace.remember("Ida likes Zotero")
        assert {entity.id for entity in remembered.entities} == {
            "entity:person--ida-berg",
            "entity:tool--zotero",
        }
        assert workspace.undo(confirmed=True).commit
        assert workspace.audit_verify().problems == ()


def test_the_same_moment_gives_the_same_sample(sample: Sample, isolated: Path) -> None:
    again = Sample(isolated / "elsewhere")
    steps: list[tuple[int, int]] = []
    build(again.root, clock=FixedClock(NOW), progress=lambda done, total: steps.append((done, total)))
    assert again.files() == sample.files()
    with again.open() as one, sample.open() as other:
        assert one.head() == other.head()
    assert steps[-1][0] == steps[-1][1] == len(steps)


def test_a_sample_that_is_there_is_left_as_it_is(sample: Sample, isolated: Path) -> None:
    before = sample.files()
    changed = build(sample.root, clock=FixedClock(NOW + timedelta(days=9)))
    assert changed.commit is None
    assert sample.files() == before


def test_a_folder_of_somebody_elses_is_refused(isolated: Path) -> None:
    folder = isolated / "mine"
    folder.mkdir()
    (folder / "diary.md").write_text("Dear diary\n", encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        build(folder, clock=FixedClock(NOW))
    assert str(folder) in str(refused.value.where)
    assert [place.name for place in folder.iterdir()] == ["diary.md"]
    with pytest.raises(InvalidInput):
        build(folder / "diary.md", clock=FixedClock(NOW))


def test_a_building_that_was_broken_off_is_not_taken_for_a_sample(isolated: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(isolated / "half", clock=FixedClock(NOW), progress=stop)
    with pytest.raises(InvalidInput, match="broken off"):
        build(isolated / "half", clock=FixedClock(NOW))


def test_the_story_ends_now_even_in_the_morning(isolated: Path) -> None:
    early = NOW.replace(hour=4)
    build(isolated / "early", clock=FixedClock(early))
    with Workspace.open(isolated / "early", role="reader", clock=FixedClock(early)) as workspace:
        assert workspace.audit_log(limit=1).entries[0].timestamp <= early
        assert [a.file for a in workspace.audit_alerts().alerts if not a.acknowledged] == ["IDENTITY.md"]


def test_before_the_last_morning_is_over_the_story_ends_yesterday(isolated: Path, sample: Sample) -> None:
    build(isolated / "night", clock=FixedClock(NOW.replace(hour=1)))
    waits = "memory/meta/pending-reflection.md"
    assert (isolated / "night" / waits).exists()
    assert sample.text(waits)
    with (
        Workspace.open(isolated / "night", clock=FixedClock(NOW.replace(hour=1))) as workspace,
        sample.open() as whole,
    ):
        assert workspace.audit_verify().commits == whole.audit_verify().commits
