"""`init`: a layout for an empty folder, a history and nothing else for one that has memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome, listing, names
from workbench.engine import Workspace, layout
from workbench.engine.errors import InvalidInput, StorageError
from workbench.engine.markdown.source import TEMPLATES


def outside_history(home: AgentHome) -> dict[str, tuple[object, ...]]:
    """Return what can be seen of the folder beside its history, without the times of folders."""
    seen = listing(home.root)
    return {
        path: facts if facts[3] is not None else (facts[0], facts[4])
        for path, facts in seen.items()
        if path.partition("/")[0] != ".audit"
    }


def test_memory_that_is_there_gets_a_history_and_nothing_else(furnished: AgentHome) -> None:
    before = outside_history(furnished)
    changed = Workspace.init(furnished.root, clock=furnished.clock)
    after = outside_history(furnished)
    added = {path: after.pop(path) for path in set(after) - set(before)}
    assert after == before
    assert set(added) == {"memory/meta", layout.AUDIT_LOG}
    assert changed.commit == furnished.commits()[0]
    assert set(changed.files) == set(furnished.tracked())
    for path, content in furnished.tracked().items():
        assert furnished.git("show", f"HEAD:{path}").encode() == content


def test_a_user_that_there_is_not_gets_no_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="This user is unknown"):
        Workspace.init("~nobody-of-that-name/memory")
    assert not any(each.name.startswith("~") for each in tmp_path.iterdir())


def test_a_graph_index_that_is_there_is_left_as_it_is(furnished: AgentHome) -> None:
    written = "# Graph\n\nMy own notes on how to read this.\n"
    furnished.write(layout.GRAPH_INDEX, written)
    furnished.init()
    assert furnished.text(layout.GRAPH_INDEX) == written


def test_an_empty_folder_gets_the_layout(home: AgentHome) -> None:
    changed = Workspace.init(home.root, clock=home.clock)
    assert {*TEMPLATES, layout.SETTINGS} == set(changed.files)
    with home.open() as workspace:
        assert [block.name for block in workspace.core().blocks] == [
            "Identity",
            "Active Context",
            "Persona",
            "Critical Facts",
        ]
        assert workspace.audit_alerts().alerts == ()
        assert workspace.audit_verify().ok
        assert workspace.decay().entries == ()
        assert workspace.timeline().total == 0


def test_the_layout_has_every_folder_and_file_of_the_design_document(home: AgentHome) -> None:
    """Design document §3, §15.1; whatever it names after a day, a person or a task comes with the first of them."""
    home.init()
    files = {place.relative_to(home.root).as_posix() for place in home.root.rglob("*") if place.is_file()}
    assert {path for path in files if not path.startswith(".audit/")} == {
        "MEMORY.md",
        "workbench.toml",
        "memory/graph/index.md",
        "memory/graph/relations.md",
        "memory/meta/decay-scores.json",
        "memory/meta/reflection-log.md",
        "memory/meta/pending-reflection.md",
        "memory/meta/pending-memories.md",
        "memory/meta/evolution.md",
        "memory/meta/audit.log",
    }
    for folder in (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT, layout.HISTORY):
        assert (home.root / folder).is_dir()
    assert "## Entity Registry" in home.text(layout.GRAPH_INDEX)
    assert "## Edges" in home.text(layout.GRAPH_INDEX)


def test_the_proposal_of_a_new_workspace_holds_nothing(home: AgentHome) -> None:
    home.init()
    empty = home.text(layout.PENDING_REFLECTION)
    with home.open() as workspace:
        review = workspace.review()
        assert (review.id, review.items, review.problems) == ("", (), ())
        workspace.remember("We decided to sail at nine.", store="episodic", type="decision")
        assert workspace.reflect().id == "r-001"
        workspace.undo()
        assert home.text(layout.PENDING_REFLECTION) == empty


@pytest.mark.parametrize("fixture", ["home", "furnished"])
def test_twice_is_the_same_as_once(fixture: str, request: pytest.FixtureRequest) -> None:
    place: AgentHome = request.getfixturevalue(fixture)
    place.init()
    before, commits = listing(place.root), place.commits()
    again = Workspace.init(place.root, clock=place.clock)
    assert (again.commit, again.files) == (None, ())
    assert place.commits() == commits
    after = listing(place.root)
    # The lock is taken to look; nothing that anybody reads is touched.
    assert {p: f[3:] for p, f in after.items()} == {p: f[3:] for p, f in before.items()}


def test_init_takes_in_what_was_edited_since(settled: AgentHome) -> None:
    settled.write("memory/2026-01-30.md", "Edited.\n")
    again = Workspace.init(settled.root, clock=settled.clock)
    assert again.files == ("memory/2026-01-30.md",)
    assert settled.commit_of(again.commit).actor == "manual"


def test_a_folder_is_made_where_there_is_none(home: AgentHome) -> None:
    place = home.root / "deep/er"
    Workspace.init(place, clock=home.clock)
    assert (place / "MEMORY.md").is_file()


def test_the_zone_of_existing_memory_is_kept_in_the_history(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_TIMEZONE")
    furnished.init(timezone="Asia/Tokyo")
    assert not (furnished.root / layout.SETTINGS).exists()
    monkeypatch.setenv("TZ", "America/Lima")
    with furnished.open() as workspace:
        assert workspace.settings.zone.key == "Asia/Tokyo"
        assert workspace.now().isoformat() == "2026-02-02T22:30:00+09:00"
    furnished.init()
    with furnished.open() as workspace:
        assert workspace.settings.zone.key == "Asia/Tokyo"
    # A person's own git reads the history as before.
    assert furnished.git("config", "workbench.timezone").strip() == "Asia/Tokyo"
    with pytest.raises(InvalidInput, match="its time zone is Asia/Tokyo"):
        furnished.init(timezone="Europe/Paris")
    assert furnished.git("config", "--get-all", "workbench.timezone").split() == ["Asia/Tokyo"]
    furnished.write(layout.SETTINGS, 'timezone = "Europe/Paris"\n')
    furnished.init()
    with furnished.open() as workspace:
        assert workspace.settings.zone.key == "Europe/Paris"


def test_the_zone_of_a_new_workspace_stands_in_its_settings(
    home: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_TIMEZONE")
    home.init(timezone="Asia/Tokyo")
    assert "Asia/Tokyo" in home.text(layout.SETTINGS)
    home.init()
    with home.open() as workspace:
        assert workspace.settings.zone.key == "Asia/Tokyo"
        assert workspace.audit_alerts().alerts == ()


def test_the_zone_of_a_workspace_is_changed_in_its_settings_alone(
    home: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.init(timezone="Asia/Tokyo")
    before, commits = home.text(layout.SETTINGS), home.commits()
    with pytest.raises(InvalidInput, match="its time zone is Asia/Tokyo") as refused:
        home.init(timezone="Europe/Paris")
    assert refused.value.where == layout.SETTINGS
    assert 'timezone = "Europe/Paris"' in (refused.value.remedy or "")
    monkeypatch.setenv("WORKBENCH_TIMEZONE", "Europe/Paris")
    home.init()
    home.init(timezone="Asia/Tokyo")
    assert (home.text(layout.SETTINGS), home.commits()) == (before, commits)


def test_a_zone_that_is_there_before_the_layout_is_kept(home: AgentHome) -> None:
    home.write(layout.SETTINGS, 'timezone = "Asia/Tokyo"\n')
    with pytest.raises(InvalidInput):
        home.init(timezone="Europe/Paris")
    assert names(home.root) == [layout.SETTINGS]
    home.init()
    assert home.text(layout.SETTINGS) == 'timezone = "Asia/Tokyo"\n'
    assert (home.root / "MEMORY.md").is_file()


def test_settings_that_are_there_are_kept(home: AgentHome) -> None:
    home.write(layout.SETTINGS, "# mine\n[core]\ncap = 2000 # small\n")
    home.init(timezone="Asia/Tokyo")
    text = home.text(layout.SETTINGS)
    assert "# mine" in text
    assert "cap = 2000 # small" in text
    assert "Asia/Tokyo" in text


@pytest.mark.parametrize("zone", ["Atlantis/Capital", "../../etc/passwd", "/etc/localtime", "a\0b", ""])
def test_a_zone_that_does_not_exist_is_refused_before_anything_is_made(home: AgentHome, zone: str) -> None:
    if zone:
        with pytest.raises(InvalidInput) as caught:
            home.init(timezone=zone)
        assert caught.value.remedy
        assert names(home.root) == []
    else:
        home.init(timezone=zone)
        assert "Europe/Stockholm" in home.text(layout.SETTINGS)


def test_a_file_is_no_place_for_a_workspace(home: AgentHome) -> None:
    home.write("file", "text")
    for place in (home.root / "file", home.root / "file/below"):
        with pytest.raises((InvalidInput, StorageError)) as caught:
            Workspace.init(place, clock=home.clock)
        assert caught.value.remedy
    assert home.text("file") == "text"


def test_the_users_own_repository_is_neither_touched_nor_obeyed(furnished: AgentHome) -> None:
    from tests.engine.services.test_workspace_opening import make_repository

    make_repository(furnished.root)
    before = listing(furnished.root / ".git")
    furnished.init()
    with furnished.open() as workspace:
        workspace.core_add("Persona", "Be kind")
        workspace.edit_file("memory/2026-01-30.md", "unix\nline ends\n")
    assert listing(furnished.root / ".git") == before
    assert not (furnished.root / "hooked").exists()
    # Neither ignored, as their .gitignore would have it, nor converted, as their attributes would.
    assert furnished.git("show", "HEAD:memory/2026-01-30.md") == "unix\nline ends\n"
    assert b"\r" not in (furnished.root / "MEMORY.md").read_bytes()
    assert not Path(furnished.root / ".audit/hooks").exists()
