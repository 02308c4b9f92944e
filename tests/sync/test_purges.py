from __future__ import annotations

from pathlib import Path

import pytest

from tests.sync.household import Household
from workbench.engine import layout
from workbench.engine.results.memories import Forgotten
from workbench.engine.sync import job

CODE = "The vault code is 47-KXZQ since the move"


@pytest.fixture
def home(tmp_path: Path) -> Household:
    home = Household(tmp_path)
    home.begin("laptop", "desk", "server")
    home.remember("laptop", "Sam reviews the backend on Thursdays", "person:Sam")
    home.remember("laptop", CODE, "person:Sam")
    home.sync("laptop", "desk", "server")
    return home


def everywhere(home: Household) -> list[Path]:
    return [home.remote, *map(home.root, ("laptop", "desk", "server"))]


def assert_all_alike(home: Household) -> None:
    home.sync("laptop", "desk", "server", "laptop", "desk")
    for name in ("desk", "server"):
        assert home.files(name) == home.files("laptop")
        assert home.head(name) == home.head("laptop")
    for name in ("laptop", "desk", "server"):
        assert home.is_clean(name)
        with home.opened(name) as workspace:
            assert workspace.audit_alerts().alerts == ()


def test_a_purge_reaches_the_remote_and_every_device(home: Household) -> None:
    home.purge("laptop", "vault code")
    home.sync("laptop")
    assert not home.says(home.remote, "KXZQ")
    assert home.sync("desk").purged
    home.sync("server")
    assert [place.name for place in everywhere(home) if home.says(place, "KXZQ")] == []
    assert_all_alike(home)


def test_a_device_that_was_away_does_not_bring_the_text_back(home: Household) -> None:
    home.remember("desk", f"Jo knows it too. {CODE}", "person:Jo")
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    home.purge("laptop", "vault code")
    home.sync("laptop", "desk", "laptop")
    assert [place.name for place in (home.remote, home.root("desk")) if home.says(place, "KXZQ")] == []
    assert b"frontend of Apollo" in home.files("laptop")["memory/graph/entities/person--jo.md"]
    assert_all_alike(home)


def test_what_others_sent_before_the_purge_did_is_kept(home: Household) -> None:
    home.purge("laptop", "vault code")
    home.remember("desk", "Jo works on the frontend of Apollo", "person:Jo")
    home.sync("desk", "laptop")
    assert "memory/graph/entities/person--jo.md" in home.files("laptop")
    assert [place.name for place in (home.remote, home.root("laptop")) if home.says(place, "KXZQ")] == []
    assert_all_alike(home)


def test_two_devices_purge_each_its_own(home: Household) -> None:
    home.remember("desk", "The locker number is 88-PLUM at the station", "person:Sam")
    home.sync("desk", "laptop", "server")
    home.purge("laptop", "vault code")
    home.purge("desk", "locker number")
    home.remember("server", "Kim bought a new bicycle on Monday", "person:Kim")
    home.sync("laptop", "desk", "server")
    assert_all_alike(home)
    assert "memory/graph/entities/person--kim.md" in home.files("laptop")
    for text in ("KXZQ", "88-PLUM"):
        assert [place.name for place in everywhere(home) if home.says(place, text)] == []


def test_what_a_killed_sync_had_fetched_goes_with_the_purge(
    home: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.remember("laptop", "The locker number is 88-PLUM at the station", "person:Sam")
    home.sync("laptop")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(job, "join_commit", killed)
        with pytest.raises(KeyboardInterrupt):
            home.sync("desk")
    assert home.says(home.root("desk"), "88-PLUM")
    home.purge("laptop", "locker number")
    home.sync("laptop", "desk")
    assert not home.says(home.root("desk"), "88-PLUM")
    assert_all_alike(home)


@pytest.mark.parametrize("is_purged_too", [False, True])
def test_what_a_killed_sync_had_rewritten_is_taken_up_or_goes_with_its_purge(
    home: Household, monkeypatch: pytest.MonkeyPatch, is_purged_too: bool
) -> None:
    home.purge("laptop", "vault code")
    home.remember("server", "The locker number is 88-PLUM at the station", "person:Sam")
    home.sync("server")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(job, "join_commit", killed)
        with pytest.raises(KeyboardInterrupt):
            home.sync("laptop")
    if is_purged_too:
        home.purge("server", "locker number")
        home.sync("server")
    home.sync("laptop")
    assert home.says(home.root("laptop"), "88-PLUM") is not is_purged_too
    assert_all_alike(home)


LONG = ("Kim keeps the number 31-FIGS for the garden door", "Jo keeps the number 88-PLUM for the garden door")


@pytest.mark.parametrize("first", ["desk", "server"])
@pytest.mark.parametrize("heard_by", ["nobody", "others", "all"])
@pytest.mark.parametrize("texts", [LONG, ("31-FIGS", "88-PLUM"), ("Note 31-FIGS", "Note 88-PLUM")])
def test_an_entry_of_the_same_minute_is_not_purged_with_its_namesake(
    home: Household, texts: tuple[str, str], heard_by: str, first: str
) -> None:
    # Both have the same name until they are joined; then the older keeps it.
    for name, text in sorted(zip(("desk", "server"), texts, strict=True), key=lambda each: each[0] != first):
        with home.opened(name) as workspace:
            home.clock.advance(minutes=-1, seconds=1)
            workspace.remember(text, store="episodic")
    if heard_by != "nobody":
        home.sync("desk", "server")
    if heard_by == "all":
        home.sync("desk", "laptop")
    home.remember("laptop", "Sam bought a new bicycle on Monday", "person:Sam")
    home.sync("laptop")
    home.purge("desk", "31-FIGS")
    home.sync("desk", "server", "laptop", "desk")
    for place in everywhere(home):
        assert not home.says(place, "31-FIGS")
    log = home.files("desk")["memory/episodes/2026-02-02.md"].decode()
    assert texts[1] in log
    # Nor is a heading left alone.
    assert all(entry.strip().count("\n") for entry in log.split("\n## ")[1:])
    assert_all_alike(home)


NOTE = "memory/vault/plans.md"
BASE, STANDS = "Monday: meet Sam at the garden door", "Monday: meet Sam at the garden door at nine"
OTHER = "Monday: meet Sam at the garden door, alarm code 31-FIGS"


def disagree(home: Household) -> str:
    """Let two devices change one line of a note; return the id of the conflict, in which the code waits."""
    place = home.root("laptop") / NOTE
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"# Plans\n\n- {BASE}\n- Tuesday: rest\n")
    home.sync("laptop", "desk", "server")
    for name, line in (("laptop", STANDS), ("desk", OTHER)):
        note = home.root(name) / NOTE
        note.write_text(note.read_text().replace(BASE, line))
        home.sync(name)
    home.sync("laptop")
    with home.opened("laptop") as workspace:
        (conflict,) = workspace.conflicts().conflicts
    assert conflict.that.text == f"- {OTHER}"
    return conflict.id


def forget(home: Household, *, query: str = "", named: str = "", purge: bool = True) -> Forgotten:
    with home.opened("laptop") as workspace:
        return workspace.forget(
            query or None, ids=[named] if named else [], apply=True, hard=True, purge_history=purge
        )


@pytest.mark.parametrize("by", ["words", "id"])
def test_what_only_waits_in_a_conflict_is_purged_everywhere(home: Household, by: str) -> None:
    conflict = disagree(home)
    home.sync("server")
    assert all(home.says(place, "31-FIGS") for place in everywhere(home))
    forgotten = forget(home, query="alarm 31-FIGS") if by == "words" else forget(home, named=conflict)
    (match,) = forgotten.matches
    assert (match.id, match.path) == (conflict, layout.CONFLICTS)
    assert "alarm code 31-FIGS" in match.snippet
    assert any("no longer waits" in told and conflict in told for told in forgotten.warnings)
    assert any("next sync" in told and str(home.remote) in told for told in forgotten.warnings)
    assert not home.says(home.root("laptop"), "31-FIGS")
    assert_all_alike(home)
    assert [place.name for place in everywhere(home) if home.says(place, "31-FIGS")] == []
    for name in ("laptop", "desk", "server"):
        assert f"- {STANDS}\n- Tuesday: rest\n".encode() in home.files(name)[NOTE]
        with home.opened(name) as workspace:
            assert workspace.conflicts().conflicts == ()


def test_a_conflict_purged_elsewhere_goes_from_what_was_not_sent_yet(home: Household) -> None:
    note = home.root("laptop") / NOTE
    note.parent.mkdir(exist_ok=True)
    note.write_text("# Plans\n\n- Monday: rest\n- Tuesday: rest\n")
    home.sync("laptop", "desk", "server")
    (home.root("desk") / NOTE).unlink()
    home.sync("desk")
    note.write_text("# Plans\n\n- Monday: rest\n- Tuesday: alarm code 31-FIGS\n")
    home.sync("laptop", "server")
    (home.root("server") / NOTE).with_name("later.md").write_text("# Later\n\n- This was not sent yet.\n")
    with home.opened("server") as workspace:
        workspace.adopt()
    with home.opened("laptop") as workspace:
        (conflict,) = workspace.conflicts().conflicts
        workspace.conflict_settle(conflict.id, "that")
    assert [match.id for match in forget(home, query="alarm 31-FIGS").matches] == [conflict.id]
    assert_all_alike(home)
    for name in ("laptop", "desk", "server"):
        with home.opened(name) as workspace:
            assert workspace.audit_verify(deep=True).problems == ()


def test_what_was_decided_against_is_purged_too(home: Household) -> None:
    conflict = disagree(home)
    with home.opened("laptop") as workspace:
        workspace.conflict_settle(conflict, "this")
    assert forget(home, query="alarm 31-FIGS").matches
    assert_all_alike(home)
    assert [place.name for place in everywhere(home) if home.says(place, "31-FIGS")] == []


def test_who_decides_for_what_was_purged_elsewhere_does_not_bring_it_back(home: Household) -> None:
    conflict = disagree(home)
    home.sync("server")
    with home.opened("server") as workspace:
        workspace.conflict_settle(conflict, "that")
    forget(home, query="alarm 31-FIGS")
    home.sync("laptop")
    assert_all_alike(home)
    assert [place.name for place in everywhere(home) if home.says(place, "31-FIGS")] == []


def test_hard_deletion_takes_what_waits_out_of_the_files(home: Household) -> None:
    conflict = disagree(home)
    assert [match.id for match in forget(home, query="alarm 31-FIGS", purge=False).matches] == [conflict]
    assert not any(b"31-FIGS" in content for content in home.files("laptop").values())
    with home.opened("laptop") as workspace:
        assert workspace.conflicts().conflicts == ()
        workspace.undo()
        assert [each.id for each in workspace.conflicts().conflicts] == [conflict]


def test_archiving_leaves_what_waits_and_says_how_to_get_rid_of_it(home: Household) -> None:
    conflict = disagree(home)
    with home.opened("laptop") as workspace:
        found = workspace.forget("alarm 31-FIGS")
        assert found.matches == ()
        (told,) = found.warnings
        assert conflict in told
        assert "--purge-history" in told
