"""Editing memories by id, and whole files."""

from __future__ import annotations

import dataclasses

import pytest

from tests.engine.memory.library import ALEX, NOW, SETTINGS, ZONE, Library, entity
from workbench.engine.errors import BudgetExceeded, InvalidInput, NotFound, OutsideWorkspace, Refused, Stale
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.memory.edit import plan_edit, plan_edit_file
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.settings.sections import CoreSettings

DAY = "memory/episodes/2026-02-01.md"
EPISODE = "episode:2026-02-01:10:00"
FACT = "entity:person--alex#^f1aa"


@pytest.fixture
def files() -> Library:
    return Library(
        {
            "MEMORY.md": "## Identity\n- Name: Alex\n",
            DAY: "# 2026-02-01 — Episode Log\n\n## 10:00 | event | confidence:high\nDrank tea.\n",
            ALEX: entity(
                "Alex",
                "## Facts\n- Likes tea (since 2026-02-01) ^f1aa\n\n## Relations\n- uses: [[tool--git]] ^r1aa\n",
            ),
            "memory/procedures/how-to-deploy.md": "# How to deploy\r\n\r\n## Steps\r\n1. Test\r\n",
            "memory/vault/promise.md": "# Promise\n\nNever give up.\n",
            "memory/2026-02-01.md": "one\ntwo\nthree",
        }
    )


@pytest.mark.parametrize(
    ("memory_id", "text", "path", "content"),
    [
        ("core:identity:name", "Name: Bo", "MEMORY.md", "## Identity\n- Name: Bo\n"),
        (
            "vault:promise.md",
            "# Promise\n\nNever give in.\n",
            "memory/vault/promise.md",
            "# Promise\n\nNever give in.\n",
        ),
        ("file:memory/2026-02-01.md#L2", "zwei\nund", "memory/2026-02-01.md", "one\nzwei\nund\nthree"),
        (
            "procedure:how-to-deploy",
            "# How to deploy\n\n## Steps\n1. Tag\n",
            "memory/procedures/how-to-deploy.md",
            "# How to deploy\r\n\r\n## Steps\r\n1. Tag\r\n",
        ),
    ],
)
def test_only_what_was_meant_changes(
    files: Library, memory_id: str, text: str, path: str, content: str
) -> None:
    expected = locate_memory(files, memory_id, ZONE).text
    plan = plan_edit(files, memory_id, text, NOW, SETTINGS, expected=expected)
    assert [change.path for change in plan.changes] == [path]
    files.apply(plan)
    assert files.contents[path].decode() == content


def test_a_fact_keeps_where_it_comes_from(files: Library) -> None:
    files.apply(plan_edit(files, FACT, "Likes green\ntea", NOW, SETTINGS, expected="Likes tea"))
    assert "- Likes green tea (since 2026-02-01) ^f1aa\n" in files.text(ALEX)


@pytest.mark.parametrize(
    "memory_id", [FACT, "core:identity:name", "vault:promise", EPISODE, "entity:person--alex"]
)
def test_an_edit_of_something_else_than_expected_is_stale(files: Library, memory_id: str) -> None:
    before = dict(files.contents)
    with pytest.raises(Stale) as caught:
        plan_edit(files, memory_id, "new", NOW, SETTINGS, expected="what it said yesterday")
    assert caught.value.where
    assert files.contents == before


def test_an_episode_is_corrected_by_another(files: Library) -> None:
    before = files.contents[DAY]
    outcome = files.apply(plan_edit(files, EPISODE, "Drank coffee.", NOW, SETTINGS, expected="Drank tea."))
    assert files.contents[DAY] == before
    today = "memory/episodes/2026-02-02.md"
    entry = EpisodeLog.parse(files.contents[today], today).entries[0]
    assert (entry.type, entry.body) == ("correction", f"Correction of {EPISODE}: Drank coffee.")
    assert outcome.ids == (entry.id, EPISODE)
    assert "stays as it was recorded" in outcome.warnings[0]


def test_a_relation_stays_one(files: Library) -> None:
    with pytest.raises(InvalidInput, match="relation"):
        plan_edit(files, "entity:person--alex#^r1aa", "x", NOW, SETTINGS)


def test_the_cap_of_core_memory_holds_for_every_way_in(files: Library) -> None:
    tight = dataclasses.replace(SETTINGS, core=CoreSettings(cap=20))
    long = "Name: " + "word " * 40
    with pytest.raises(BudgetExceeded):
        plan_edit(files, "core:identity:name", long, NOW, tight)
    with pytest.raises(BudgetExceeded):
        plan_edit(files, "file:MEMORY.md#L2", f"- {long}", NOW, tight)
    with pytest.raises(BudgetExceeded):
        plan_edit_file(files, "MEMORY.md", f"## Identity\n- {long}\n", NOW, tight, person=True)


def test_a_file_is_written_exactly_as_given(files: Library) -> None:
    text = "# T\r\n\ttrailing  \r\n\u202eraw"
    files.apply(plan_edit_file(files, "memory/vault/new.md", text, NOW, SETTINGS, person=False))
    assert files.contents["memory/vault/new.md"] == text.encode()
    with pytest.raises(Stale):
        plan_edit_file(files, "memory/vault/new.md", "x", NOW, SETTINGS, person=True, expected="y")


def test_only_a_person_changes_what_was_recorded(files: Library) -> None:
    changed = files.text(DAY).replace("tea", "coffee")
    with pytest.raises(Refused):
        plan_edit_file(files, DAY, changed, NOW, SETTINGS, person=False)
    with pytest.raises(Refused):
        plan_edit_file(files, DAY, files.text(DAY).rstrip() + " and cake\n", NOW, SETTINGS, person=False)
    with pytest.raises(Refused):
        plan_edit(files, f"file:{DAY}#L4", "Drank coffee.", NOW, SETTINGS)
    added = files.text(DAY) + "\n## 11:00 | event\nMore.\n"
    assert plan_edit_file(files, DAY, added, NOW, SETTINGS, person=False).changes
    assert plan_edit_file(files, DAY, changed, NOW, SETTINGS, person=True).changes


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "/etc/passwd",
        "notes.txt",
        "memory/.hidden.md",
        "memory/graph/index.md",
        "memory/../../x.md",
    ],
)
def test_nothing_outside_memory_is_written(files: Library, path: str) -> None:
    with pytest.raises(OutsideWorkspace):
        plan_edit_file(files, path, "x", NOW, SETTINGS, person=True)


@pytest.mark.parametrize(
    "memory_id",
    [
        "vault:../../etc/passwd",
        "vault:/etc/passwd",
        "file:../x",
        "file:workbench.toml",
        "entity:person--..",
        "entity:..--/../x",
        "procedure:../x",
        "episode:2026-02-01:10:00#9",
        "core:identity:nope",
        "file:memory/2026-02-01.md#L9",
        "file:memory/2026-02-01.md#L3-L2",
        "nonsense",
    ],
)
def test_no_id_leads_out_of_the_memory_files(files: Library, memory_id: str) -> None:
    with pytest.raises((NotFound, OutsideWorkspace, InvalidInput)):
        plan_edit(files, memory_id, "x", NOW, SETTINGS)


def test_a_file_of_a_megabyte_and_more_is_refused(files: Library) -> None:
    with pytest.raises(InvalidInput, match="1,000,000"):
        plan_edit_file(files, "memory/vault/new.md", "x" * 1_000_001, NOW, SETTINGS, person=True)
    with pytest.raises(InvalidInput, match="UTF-8"):
        plan_edit_file(files, "memory/vault/new.md", "\ud800", NOW, SETTINGS, person=True)
