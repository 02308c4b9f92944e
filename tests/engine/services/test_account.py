"""What became of memory since a moment: compared, attributed, and read from no more of history than that takes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.history.git_store import GitStore
from workbench.engine.results.account import Since, SinceChange

ROBIN = "entity:person--robin"
BACKUPS, FERRY = "episode:2026-02-01:09:15", "episode:2026-02-01:18:40"
TEA = f"{ROBIN}#^tea1"


def since(home: AgentHome, moment: str) -> Since:
    with home.open() as workspace:
        return workspace.since(moment)


def named(changes: tuple[SinceChange, ...]) -> dict[str, tuple[str, str]]:
    return {each.id: (each.change, each.owner) for each in changes}


@pytest.fixture
def left(settled: AgentHome) -> AgentHome:
    """A home that was last looked at an hour after it began."""
    settled.clock.advance(hours=1)
    return settled


def test_what_history_began_with_is_not_learned(settled: AgentHome) -> None:
    found = since(settled, "2020-01-01")
    assert (found.commit, found.learned, found.changed, found.forgotten, found.by) == (None, (), (), (), {})


def test_each_change_is_told_once_with_who_made_it(left: AgentHome) -> None:
    left.clock.advance(days=1)
    with left.open("main") as agent:
        learned = agent.remember("The ferry leaves at nine", store="episodic").id
        agent.remember("It arrives at noon", store="episodic")
    left.clock.advance(minutes=5)
    with left.open() as person:
        person.edit(TEA, "Drinks coffee in the morning")
        person.pin(BACKUPS)
        person.forget(ids=[FERRY], apply=True)
    found = since(left, "2026-02-02T14:30Z")
    assert named(found.learned)[learned] == ("added", "main")
    assert named(found.changed) == {TEA: ("changed", "person"), BACKUPS: ("pinned", "person")}
    assert named(found.forgotten) == {FERRY: ("archived", "person")}
    assert found.by == {"person": 3, "main": 2}


def test_in_a_file_that_several_wrote_each_memory_has_its_own_author(left: AgentHome) -> None:
    left.clock.advance(days=1)
    with left.open("main") as agent:
        first = agent.remember("The lock froze", store="episodic").id
    left.clock.advance(hours=1)
    with left.open() as person:
        second = person.remember("I oiled the lock", store="episodic", actor="skill:locks").id
    told = {each.id: each for each in since(left, "2026-02-02T14:30Z").learned}
    assert told[first].actor != "skill:locks"
    assert told[second].actor == "skill:locks"
    assert told[first].timestamp < told[second].timestamp


def test_what_came_and_went_is_not_told(left: AgentHome) -> None:
    left.clock.advance(days=1)
    with left.open() as person:
        person.remember("A slip of the tongue", store="episodic")
        person.undo()
    found = since(left, "2026-02-02T14:30Z")
    assert (found.learned, found.changed, found.forgotten) == ((), (), ())


def test_what_faded_meanwhile_names_the_day(left: AgentHome) -> None:
    then = left.clock.now()
    left.clock.advance(days=60)
    found = since(left, then.isoformat())
    with left.open() as workspace:
        standing = {each.id: each.status for each in workspace.decay().entries}
    assert found.faded
    for fall in found.faded:
        assert fall.before in ("active", "fading")
        assert fall.after in ("dormant", "archived")
        assert then.date() < fall.on <= found.now.date()
        assert standing[fall.id] in ("dormant", "archived")
    assert [fall.on for fall in found.faded] == sorted((fall.on for fall in found.faded), reverse=True)
    # Looked at again on the day after, none of them is news.
    left.clock.advance(days=1)
    later = since(left, found.now.isoformat()).faded
    assert not {fall.id for fall in later} & {fall.id for fall in found.faded}


def test_what_was_touched_since_has_not_faded(left: AgentHome) -> None:
    then = left.clock.now()
    left.clock.advance(days=60)
    gone = since(left, then.isoformat()).faded[0].id
    with left.open() as workspace:
        workspace.reinforce(gone)
    assert gone not in {fall.id for fall in since(left, then.isoformat()).faded}


def test_without_a_history_there_is_nothing_to_tell(furnished: AgentHome) -> None:
    found = since(furnished, "3d")
    assert (found.commit, found.learned) == (None, ())
    assert not (furnished.root / ".audit").exists() or found.by == {}


def test_only_the_commits_after_the_moment_are_read(left: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    with left.open() as workspace:
        for number in range(12):
            left.clock.advance(days=1)
            workspace.remember(f"Counted {number} gulls", store="episodic")
        walked: list[str] = []
        walk = GitStore.walk

        def counted(
            store: GitStore, start: str | None = None, *, stop: str | None = None
        ) -> Iterator[object]:
            for commit in walk(store, start, stop=stop):
                walked.append(commit.id)
                yield commit

        monkeypatch.setattr(GitStore, "walk", counted)
        found = workspace.since("36h")
    assert len(found.learned) == 2
    assert len(walked) == 2


def test_what_is_no_time_is_refused(settled: AgentHome) -> None:
    with pytest.raises(InvalidInput):
        since(settled, "soon")


CHAT = """# 2026-01-0{day}

## Session at 09:10

- 09:10 Robin: I met Maja on Friday, and Maja sails
- 09:12 Otter: So Maja sails, and the boat is old
- 09:13 Robin: The boat of Maja is old, and Boat people know it
"""


def test_notes_tell_how_much_there_is_of_when_and_whom_they_name(home: AgentHome) -> None:
    for day in (3, 4):
        home.write(f"memory/2026-01-0{day}.md", CHAT.format(day=day))
    with home.open() as workspace:
        notes = workspace.notes()
    assert (notes.files, notes.passages, notes.whole) == (2, 6, True)
    assert notes.first is not None
    assert notes.last is not None
    assert (notes.first.day, notes.last.day) == (3, 4)
    # “Boat” is written small elsewhere, and Friday is a day.
    assert notes.named == (("Maja", 8), ("Robin", 4))
    assert (notes.opening[0].speaker, notes.opening[0].id) == ("Robin", "file:memory/2026-01-03.md#L5-L5")
    assert not (home.root / ".audit").exists()


def test_a_folder_without_notes_has_none(home: AgentHome) -> None:
    with home.open() as workspace:
        assert workspace.notes().passages == 0


def test_a_history_is_begun_by_a_person_and_changes_no_file(furnished: AgentHome) -> None:
    before = furnished.tracked()
    with furnished.open("main") as agent, pytest.raises(RoleRefused):
        agent.begin_history()
    with furnished.open() as workspace:
        changed = workspace.begin_history()
        assert workspace.head() == changed.commit
    assert furnished.tracked() == before
