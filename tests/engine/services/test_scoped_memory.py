"""The door of one scope: it tells nothing of what is not for it, and writes for its scope alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.private_words import FAMILY, MARK, MIXED, PRIVATE, lay_out, private
from workbench.engine import WorkbenchError
from workbench.engine.errors import InvalidInput, NotFound, RoleRefused, StorageError
from workbench.engine.requests import ProposeRequest, RememberRequest, SearchRequest
from workbench.engine.results import to_json
from workbench.engine.scoped_memory import ScopedMemory
from workbench.engine.search.finder import Finder
from workbench.engine.search.updater import BackgroundTask

WORDS = (
    "ferry", "Gotland", "trip", "Mira", "Robin", "plumber", "window seats", "quay", "work", "seats", "",
    "who is", "when did", "how to pack", "why", "Remember that", "Do you remember", "Forget", "reflect",
)  # fmt: skip
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join) | st.text(max_size=30)
ids = st.sampled_from(
    (
        "episode:2026-01-31:09:15", "episode:2026-01-31:10:00", "episode:2026-02-01:21:00", "MEMORY.md", "SOUL.md",
        "core:critical-facts:ferry-code", "entity:project--quay", "entity:project--quay#^qay1",
        "entity:person--robin", "entity:person--robin#^pri1", "entity:person--mira", "procedure:how-to-release",
        "procedure:pack-the-car", "vault:promise.md", "vault:house-rules.md", "memory/meta/rejected.md",
        "file:memory/episodes/2026-02-01.md#L1-L40", "memory/graph/entities/person--robin.md", "../MEMORY.md",
        "memory/2026-01-30.md", "file:MEMORY.md#L1-L9", "Mira", "Robin", "Quay", "mira the ferry",
    )
)  # fmt: skip
METHODS: dict[str, Callable[[ScopedMemory, str, str], object]] = {
    "search": lambda door, words, _: [
        door.search(words, min_score=0.0, max_results=50, include_dormant=True, explain=True),
        door.search(words, budget=500),
    ],
    "search_request": lambda door, words, _: door.search_request(SearchRequest(words, budget=500)),
    "show": lambda door, _, name: door.show(name),
    "brief": lambda door, _, __: door.brief(),
    "instructions": lambda door, _, __: door.instructions(),
    "remember": lambda door, words, _: door.remember(f"Noted {words}", dry_run=True),
    "remember_request": lambda door, words, _: door.remember_request(
        RememberRequest(f"Asked {words}", scope="shared", pinned=True, actor="skill:x", dry_run=True)
    ),
    "propose": lambda door, words, _: door.propose(f"Proposed {words}"),
    "propose_request": lambda door, words, _: door.propose_request(
        ProposeRequest(f"Asked {words}", scope="shared", core_worthy=True)
    ),
    "message": lambda door, words, _: door.message(words),
    "close": lambda door, _, __: None,
}
PROPERTIES = {"scope", "role"}


def said(door: ScopedMemory, method: str, words: str, id: str) -> str:
    """Return all that a call says, the time that it took left out."""
    try:
        answer = METHODS[method](door, words, id)
    except WorkbenchError as error:
        return json.dumps([type(error).__name__, str(error), repr(error), str(error.__cause__)])
    shaped: Any = to_json(answer)
    return json.dumps(_timeless(shaped), ensure_ascii=False)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(each) for key, each in value.items() if key != "tookMs"}
    return [_timeless(each) for each in value] if isinstance(value, list) else value


@pytest.fixture
def family(home: AgentHome) -> AgentHome:
    lay_out(home, with_private=True)
    return home


def scoped(home: AgentHome, scope: str = FAMILY, role: str = "main") -> ScopedMemory:
    return ScopedMemory.open(home.root, scope=scope, role=role, clock=home.clock)


def test_the_door_has_these_methods_and_no_others() -> None:
    public = {name for name in dir(ScopedMemory) if not name.startswith("_")}
    assert public == {*METHODS, *PROPERTIES, "open"}
    assert ScopedMemory.__mro__ == (ScopedMemory, object)


def test_every_private_word_is_planted_and_the_owner_sees_it(family: AgentHome) -> None:
    whole = json.dumps({path: content.decode() for path, content in family.tracked().items()})
    planted = [number for number in range(1, 48) if number != 3]
    assert [number for number in planted if private(number) not in whole] == []
    with family.open("person") as workspace:
        for number in (9, 37, 39, 46, 32, 30):
            found = workspace.search(private(number), min_score=0.0)
            assert private(number) in json.dumps(to_json(found)), number
        assert workspace.search("chose the ferry for the Gotland trip").results
        assert private(2) in workspace.brief().core
        assert workspace.brief().alerts


def test_no_answer_and_no_error_says_a_private_word(family: AgentHome) -> None:
    with scoped(family) as door:

        @settings(max_examples=60, suppress_health_check=list(HealthCheck), database=None)
        @given(st.sampled_from(sorted(METHODS)), queries, ids)
        def ask(method: str, words: str, id: str) -> None:
            assert MARK not in said(door, method, words, id).casefold()

        ask()
        for id in (*PRIVATE, *MIXED, *(f"file:{path}#L1-L99" for path in (*PRIVATE, *MIXED))):
            if MARK not in id:
                assert MARK not in said(door, "show", "", id).casefold(), id


def test_what_is_private_changes_no_answer(tmp_path: Path) -> None:
    """Two workspaces that differ in what is private alone say the same: neither words, ranks nor scores tell."""
    with_it, without = AgentHome(tmp_path / "with"), AgentHome(tmp_path / "without")
    lay_out(with_it, with_private=True)
    lay_out(without, with_private=False)
    with scoped(with_it) as one, scoped(without) as other:

        @settings(max_examples=60, suppress_health_check=list(HealthCheck), database=None)
        @given(st.sampled_from(sorted(METHODS)), queries | st.integers(1, 47).map(private), ids)
        def ask(method: str, words: str, id: str) -> None:
            assert said(one, method, words, id) == said(other, method, words, id)

        # Two episodes of one minute are told apart by a number, whosever they are.
        with_it.clock.advance(hours=1)
        without.clock.advance(hours=1)
        ask()
        for text in ("Mira likes maps", "Robin knows Quay", "The trip starts in May"):
            for entities in (
                [],
                ["person:Mira"],
                ["project:Quay"],
                [f"person:{private(27)}"],
                ["project--quay"],
            ):
                for store in ("episodic", "semantic", "core", "vault"):
                    answers = [
                        to_json(door.remember(text, store=store, entities=entities)) for door in (one, other)
                    ]
                    assert answers[0] == answers[1]


def test_it_sees_what_is_for_it_and_for_everybody(family: AgentHome) -> None:
    with scoped(family) as door:
        for words, id in (
            ("ferry Gotland trip", "episode:2026-02-01:08:00"),
            ("plumber kitchen sink", "episode:2026-02-01:20:00"),
            ("window seats", "entity:person--mira"),
            ("deep water", "entity:person--robin"),
            ("pack the car", "procedure:pack-the-car"),
            ("shoes outside", "vault:house-rules.md"),
        ):
            assert id in {hit.id for hit in door.search(words, min_score=0.0).results}, words
        assert door.show("entity:person--mira#^win1").text.startswith("Prefers window seats")
    with scoped(family, "group:work") as door:
        ids_found = {hit.id for hit in door.search("trip", min_score=0.0, max_results=50).results}
        assert "episode:2026-01-31:10:00" in ids_found
        assert "episode:2026-02-01:08:00" not in ids_found


def test_what_was_adopted_is_as_fresh_as_it_is_to_the_owner(home: AgentHome) -> None:
    home.write("memory/episodes/2024-01-01.md", "## 10:00 | event | for:group:family\nThe old ferry sank.\n")
    home.init()
    with home.open("reader") as workspace, scoped(home) as door:
        (own,), (theirs,) = (each.search("ferry sank").results for each in (workspace, door))
        assert (own.id, own.status) == (theirs.id, theirs.status)


def test_what_it_remembers_is_for_its_scope(family: AgentHome) -> None:
    with scoped(family) as door:
        episode = door.remember("We meet at the harbour at nine", store="episodic")
        fact = door.remember("Robin sings in a choir", store="semantic", entities=["person:Robin"])
        core = door.remember("Everybody is called Otto", store="core")
        assert core.store == "episodic"
        assert door.show(episode.id).text
        assert "choir" in door.show(fact.id).text
        assert door.search("choir").results
    assert "| for:group:family" in family.text("memory/episodes/2026-02-02.md")
    assert "Robin sings in a choir (for group:family, since" in family.text(
        "memory/graph/entities/person--robin.md"
    )
    assert "Otto" not in family.text("MEMORY.md")
    with family.open("person") as workspace:
        assert workspace.search("choir").results
        assert workspace.search("meet at the harbour at nine").results
    with scoped(family, "group:work") as other:
        assert not other.search("choir", min_score=0.0, max_results=50).results or "choir" not in said(
            other, "search", "choir", ""
        ).replace('"choir"', "")
        with pytest.raises(NotFound):
            other.show(episode.id)


def test_what_says_the_same_to_others_is_kept_for_each(family: AgentHome) -> None:
    text = f"The ferry captain is {private(46)}"
    with scoped(family) as door:
        own = door.remember(text, store="episodic")
        assert own.warnings == ()
        assert door.remember(text, store="episodic").id == own.id
        fact = door.remember(f"Mira owes {private(47)}", store="semantic", entities=["person:Mira"])
        assert private(47) in door.show(fact.id).text
    assert family.text("memory/graph/entities/person--mira.md").count(private(47)) == 2


def test_what_is_forgotten_or_taken_back_is_gone_at_once(family: AgentHome) -> None:
    with scoped(family) as door:
        assert "Gotland" in door.show("episode:2026-02-01:08:00").text
        with family.open("person") as workspace:
            workspace.forget(ids=["episode:2026-02-01:08:00", "entity:person--mira#^win1"], apply=True)
        for id in ("episode:2026-02-01:08:00", "entity:person--mira#^win1"):
            with pytest.raises(NotFound):
                door.show(id)
        assert "Gotland" not in said(door, "search", "ferry trip", "")
        path = "memory/episodes/2026-02-01.md"
        family.write(path, family.text(path).replace(" | for:shared", ""))
        with pytest.raises(NotFound):
            door.show("episode:2026-02-01:20:00")
        assert "sink" not in said(door, "search", "plumber", "")


def test_an_index_that_is_behind_catches_up_or_does_not_answer(
    family: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was taken away stays unsaid where another process died before the index knew of it, and nobody waits."""
    waited = BackgroundTask.wait

    def impatient(self: BackgroundTask, seconds: float | None, *, enough: Callable[[], bool] = bool) -> bool:
        return waited(self, 0 if seconds is not None else None, enough=enough)

    def killed(*_: object, **__: object) -> None:
        raise StorageError("There is no room.", where=str(family.root))

    with scoped(family) as one, scoped(family) as other:
        for door in (one, other):
            assert "sink" in said(door, "search", "plumber", "")
        path = "memory/episodes/2026-02-01.md"
        family.write(path, family.text(path).replace(" | for:shared", ""))
        monkeypatch.setattr(BackgroundTask, "wait", impatient)
        with monkeypatch.context() as dying:
            dying.setattr(Finder, "sync", killed)
            for door in (one, other, one):
                answer = said(door, "search", "plumber", "")
                # What began to read before may have caught up by now.
                refused = "Memory cannot be reached as it is now." in answer
                assert refused or ("sink" not in answer and '"results"' in answer)
                assert str(family.root) not in answer
        for door in (one, other):
            assert "sink" not in said(door, "search", "plumber", "")
            assert door.search("ferry").results


@pytest.mark.parametrize("taken", ["memory", "index"])
@pytest.mark.parametrize("has_room", [True, False])
def test_where_its_copy_cannot_be_kept_another_place_takes_over_or_nothing_is_told(
    family: AgentHome, taken: str, has_room: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scoped(family) as door:
        before = door.search("ferry").results
        folder = next(door._ScopedMemory__context.derived.glob("scopes/*"))  # type: ignore[attr-defined]
    shutil.rmtree(folder / taken)
    (folder / taken).write_text("in the way")
    if has_room:
        with scoped(family) as door:
            assert door.search("ferry").results == before
        return
    monkeypatch.setattr("workbench.engine.file_access.temporary_folder", lambda: None)
    with scoped(family) as door, pytest.raises(StorageError) as raised:
        door.search("ferry")
    assert str(raised.value) == "Memory cannot be reached as it is now. Try again, or tell the owner."


def test_a_purge_leaves_nothing_of_it_in_what_was_made_for_scopes(family: AgentHome) -> None:
    with scoped(family) as door:
        assert door.search("Gotland").results
        folder = door._ScopedMemory__context.derived / "scopes"  # type: ignore[attr-defined]
    with family.open("person") as workspace:
        workspace.forget(ids=["episode:2026-02-01:08:00"], apply=True, hard=True, purge_history=True)
    assert not any(b"Gotland" in place.read_bytes() for place in folder.rglob("*") if place.is_file())


def test_an_owner_gives_memories_to_a_group(family: AgentHome) -> None:
    with family.open("person") as workspace:
        given_ = [
            workspace.remember("The tent is in the cellar", scope=FAMILY, store=store).id
            for store in ("episodic", "semantic", "procedural", "vault")
        ]
        workspace.remember("Bins go out on Monday", scope="all", store="episodic")
        with pytest.raises(InvalidInput):
            workspace.remember("The tent", scope=FAMILY, store="core")
        with pytest.raises(InvalidInput):
            workspace.remember("The tent", scope="everyone")
    with family.open("reader") as workspace:
        assert [workspace.show(name).scope for name in given_] == [FAMILY] * 4
        assert workspace.show("episode:2026-01-31:09:15").scope is None
    with scoped(family) as door:
        for id in given_:
            assert "tent" in door.show(id).text
        assert door.search("bins Monday").results
    with scoped(family, "person:otto") as door:
        assert door.search("bins Monday").results
        assert "tent" not in said(door, "search", "cellar", "")


def test_proposals_keep_their_scope_and_tell_nothing(family: AgentHome) -> None:
    with scoped(family, role="agent:scout") as door:
        with pytest.raises(RoleRefused):
            door.remember("The boat is red")
        proposed = door.propose(f"The ferry {private(33)}")
        assert (proposed.status, proposed.number, proposed.conflicts_with) == ("pending", 0, ())
        door.propose("The boat is red", store="semantic", entities=["project:Boat"])
    with family.open("main") as workspace:
        waiting = workspace.proposals().proposals
        assert [each.scope for each in waiting] == [None, FAMILY, FAMILY]
        workspace.proposal_commit([each.number for each in waiting if each.scope])
    with scoped(family) as door:
        assert "The boat is red" in said(door, "search", "boat red", "")


def test_a_whole_request_gets_no_further_than_this_door(family: AgentHome) -> None:
    with scoped(family) as door:
        kept = door.remember_request(
            RememberRequest(
                "We meet at the quay at ten",
                store="vault",
                scope="shared",
                pinned=True,
                block="Persona",
                origins=("episode:2026-02-01:08:00",),
                actor="skill:calendar",
                trigger="the owner said so",
            )
        )
        door.propose_request(
            ProposeRequest(
                "The boat is blue",
                store="core",
                scope="shared",
                core_worthy=True,
                origins=("episode:2026-02-01:08:00",),
            )
        )
    written = family.text("memory/episodes/2026-02-02.md")
    assert "| for:group:family" in written
    assert "from:[" not in written
    assert "quay" not in family.text("MEMORY.md")
    with family.open("person") as workspace:
        score = workspace.show(str(kept.id)).score
        assert score is not None
        assert score.status == "active"
        log = json.dumps(to_json(workspace.audit_log(limit=20)))
        assert "skill:calendar" not in log
        assert "the owner said so" not in log
        waits = workspace.proposals().proposals[-1]
        assert (waits.content, waits.scope, waits.store) == ("The boat is blue", FAMILY, "episodic")
        assert (waits.core_worthy, waits.origins) == (False, ())


def test_roles_hold(family: AgentHome) -> None:
    with scoped(family, role="reader") as door:
        assert door.search("ferry").results
        for call in (
            lambda: door.remember("x y"),
            lambda: door.propose("x y"),
            lambda: door.message("Remember x y"),
        ):
            with pytest.raises(RoleRefused):
                call()
    with scoped(family, role="person") as door:
        assert door.role == "main"


@pytest.mark.parametrize(
    "scope", ["", "family", "group:", "group:Family", "group:a/b", "shared", "all", "group:a b"]
)
def test_there_is_no_such_door(family: AgentHome, scope: str) -> None:
    with pytest.raises(InvalidInput):
        scoped(family, scope)


@pytest.mark.parametrize(
    ("citations", "scope", "cited"),
    [("auto", FAMILY, False), ("on", FAMILY, True), ("off", FAMILY, False), ("auto", "person:mira", True)],
)
def test_results_say_how_to_cite_them_where_nobody_reads_along(
    home: AgentHome, monkeypatch: pytest.MonkeyPatch, citations: str, scope: str, cited: bool
) -> None:
    monkeypatch.setenv("WORKBENCH_SEARCH_CITATIONS", citations)
    home.init()
    with home.open("main") as workspace:
        workspace.remember("The tent is in the cellar", store="episodic", scope=scope)
    with scoped(home, scope) as door:
        (hit,) = door.search("Where is the tent?").results
        assert (hit.citation is not None) is cited
        assert ("Do not cite" in door.instructions()) is not cited
    home.clock.advance(days=900)
    with scoped(home, scope) as door:
        (hit,) = door.search("Where is the tent?").faded.results
        assert (hit.citation is not None) is cited


def test_a_request_to_remember_nothing_says_so(family: AgentHome) -> None:
    with scoped(family) as door:
        outcome = door.message("remember that")
    assert (outcome.kind, outcome.applied) == ("remember", False)
    assert "Nothing was kept" in (outcome.note or "")
