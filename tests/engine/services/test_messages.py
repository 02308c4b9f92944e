"""What a message asks of memory is done, or it is told that it was not (§8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import openai  # noqa: F401  # loaded before any time-out is measured
import pytest

from tests.engine.providers.model_server import Answer, ModelServer, completion, failure
from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.results.memories import MessageOutcome


@pytest.mark.parametrize("text", ["remember that", "Don’t forget that!", "记住"])
@pytest.mark.parametrize("apply", [True, False])
def test_a_request_to_remember_nothing_says_that_nothing_was_kept(
    text: str, apply: bool, settled: AgentHome
) -> None:
    with settled.open() as workspace:
        outcome = workspace.message(text, apply=apply)
    assert (outcome.kind, outcome.applied, outcome.remembered) == ("remember", False, None)
    assert outcome.note is not None
    assert outcome.note.startswith("Nothing was kept")
    assert "“Remember that" in outcome.note


EPISODE = "episode:2026-02-01:09:15"
SESSION, OTHER = "telegram:group:42", "telegram:group:43"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    with closing(ModelServer()) as running:
        monkeypatch.setenv("WORKBENCH_MODEL_BASE_URL", running.url)
        monkeypatch.setenv("WORKBENCH_MODEL_API_KEY", "sk-secret-1")
        monkeypatch.setenv("WORKBENCH_MODEL_NAME", "small")
        yield running


def offered(outcome: MessageOutcome) -> list[str]:
    """Return the ids that a message would have forgotten; nothing is before a person agreed."""
    assert outcome.kind == "forget"
    assert outcome.forgotten is not None
    assert not outcome.applied
    assert not outcome.forgotten.applied
    return [match.id for match in outcome.forgotten.matches]


def agreed(workspace: Workspace, outcome: MessageOutcome) -> None:
    """Do what a message offers."""
    assert outcome.forgotten is not None
    assert workspace.forget(ids=offered(outcome), apply=True, hard=outcome.forgotten.hard).applied


def status(workspace: Workspace, memory_id: str) -> str:
    score = workspace.show(memory_id).score
    assert score is not None
    return score.status


@pytest.mark.parametrize(
    "said",
    [
        {
            "remember": "Remember that the kayak to Visby leaves at six.",
            "again": "Don’t forget that the choir meets on Mondays.",
            "forget": "Forget about the kayak to Visby.",
            "irrelevant": "The choir is no longer relevant.",
            "irrelevant_shown": "That’s no longer relevant: the choir.",
            "scratch": "Scratch that.",
            "idle": "Never mind.",
            "hard": "Permanently delete the memory about the choir.",
            "reflect": "Consolidate your memories.",
            "words": "choir",
        },
        {
            "remember": "记住去哥特兰岛的船六点开。",
            "again": "别忘了合唱团周一排练。",
            "forget": "忘掉去哥特兰岛的船。",
            "irrelevant": "合唱团不再重要了。",
            "irrelevant_shown": "这个不重要了：合唱团",
            "scratch": "当我没说。",
            "idle": "算了。",
            "hard": "彻底删除合唱团的事。",
            "reflect": "整理一下你的记忆。",
            "words": "合唱团",
        },
    ],
    ids=["en", "zh"],
)
def test_8_1_to_8_3_a_conversation_of_every_kind_of_message(settled: AgentHome, said: dict[str, str]) -> None:
    with settled.open() as workspace:
        # §8.1 and §8.2: what is asked for is remembered.
        ferry = workspace.message(said["remember"]).remembered
        assert ferry is not None
        assert ferry.commit
        # §8.3, 1–3: the target is found and shown; 4: on confirmation it is archived.
        forget = workspace.message(said["forget"])
        assert offered(forget) == [ferry.id]
        agreed(workspace, forget)
        assert status(workspace, ferry.id) == "archived"
        # §8.1: “scratch that” is the last memory, which is archived already; so “never mind” means nothing.
        nothing = workspace.message(said["scratch"])
        assert offered(nothing) == []
        assert "Name what is meant" in (nothing.note or "")
        assert workspace.message(said["idle"]).kind == "none"
        # §8.1: now there is one.
        choir = workspace.message(said["again"]).remembered
        assert choir is not None
        for words in ("scratch", "idle", "irrelevant", "irrelevant_shown"):
            assert offered(workspace.message(said[words])) == [choir.id], words
        # §8.3, 5: “permanently delete” removes it from disk.
        delete = workspace.message(said["hard"])
        assert delete.permanently
        assert offered(delete) == [choir.id]
        assert "--purge-history" in (delete.note or "")
        agreed(workspace, delete)
        assert all(
            said["words"].encode() not in text
            for path, text in settled.tracked().items()
            if "audit" not in path
        )
        # §8.1: reflection ends in a proposal.
        assert workspace.message(said["reflect"]).reflected is not None
        assert workspace.audit_verify().ok


def test_8_3_only_a_person_is_offered_deletion(settled: AgentHome) -> None:
    words = "Permanently delete the memory about backups."
    with settled.open("person") as workspace:
        outcome = workspace.message(words)
        assert outcome.forgotten is not None
        assert outcome.forgotten.hard
    with settled.open("main") as workspace:
        outcome = workspace.message(words)
        assert offered(outcome) == [EPISODE]
        assert outcome.permanently
        assert outcome.forgotten is not None
        assert not outcome.forgotten.hard
        assert "Only a person may delete for good" in (outcome.note or "")
        with pytest.raises(RoleRefused):
            workspace.forget(ids=[EPISODE], apply=True, hard=True)
        agreed(workspace, outcome)
        assert status(workspace, EPISODE) == "archived"
    for role in ("agent:scout", "reader"):
        with settled.open(role) as workspace:
            outcome = workspace.message(words)
            assert outcome.forgotten is not None
            assert not outcome.forgotten.hard
            if outcome.forgotten.matches:
                assert "ask the person" in (outcome.note or "")


def test_8_3_permanently_deleting_counts_only_for_what_memory_knows(settled: AgentHome) -> None:
    with settled.open() as workspace:
        assert "entity:project--harbour" in offered(workspace.message("Permanently delete Harbour"))
        assert offered(workspace.message("Delete the backups at midnight for good.")) == [EPISODE]
        assert workspace.message("Permanently delete the temp folder").kind == "none"
        assert workspace.message("Permanently delete backups").kind == "none"


def test_8_1_scratch_that_means_the_last_memory_of_its_session(settled: AgentHome) -> None:
    with settled.open() as workspace:
        here = workspace.message("Remember that lunch is at one.", session=SESSION).remembered
        there = workspace.message("Remember that dinner is at seven.", session=OTHER).remembered
        assert here is not None
        assert there is not None
        assert offered(workspace.message("Scratch that.", session=SESSION)) == [here.id]
        assert offered(workspace.message("Scratch that.", session=f"agent:main:{OTHER}")) == [there.id]
        assert offered(workspace.message("Scratch that.", session="telegram:group:44")) == []
        assert offered(workspace.message("Scratch that.")) == [there.id]
        settled.clock.advance(hours=2)
        assert offered(workspace.message("Scratch that.")) == []
        assert offered(workspace.message("Scratch that.", session=SESSION)) == [here.id]
        settled.clock.advance(days=1)
        assert offered(workspace.message("Scratch that.", session=SESSION)) == []


def test_8_1_without_a_session_scratch_that_means_ones_own_last_memory(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        ours = workspace.message("Remember that lunch is at one.").remembered
        assert ours is not None
    with settled.open() as workspace:
        assert offered(workspace.message("Scratch that.")) == []
        workspace.remember("Dinner is at seven", origins=[EPISODE])
        assert workspace.to_forget("scratch that").matches == ()
    with settled.open("main") as workspace:
        assert offered(workspace.message("Scratch that.")) == [ours.id]
        workspace.undo(mine=True)
        assert offered(workspace.message("Scratch that.")) == []


def test_a_key_of_no_session_is_refused_before_anything_is_written(settled: AgentHome) -> None:
    commits = settled.commits()
    with settled.open() as workspace:
        for ask in (workspace.remember, workspace.message):
            with pytest.raises(InvalidInput):
                ask("Remember that lunch is at one.", session="main\nActor: manual")
    assert settled.commits() == commits


def test_what_to_forget_is_told_from_a_users_own_words(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        said = workspace.remember("The choir meets on Mondays")
        for words in ("the choir", "forget about the choir", "scratch that", "never mind", "算了"):
            assert [match.id for match in workspace.to_forget(words).matches] == [said.id], words
        settled.clock.advance(hours=2)
        for words in ("scratch that", "never mind", "算了"):
            assert workspace.to_forget(words).matches == ()


def test_8_1_scratch_that_takes_the_core_item_along(settled: AgentHome) -> None:
    with settled.open() as workspace:
        said = workspace.message("Remember that I am allergic to peanuts.").remembered
        assert said is not None
        outcome = workspace.message("Scratch that.")
        assert said.id in offered(outcome)
        agreed(workspace, outcome)
    assert "peanuts" not in settled.text("MEMORY.md")


def test_8_1_nothing_was_remembered_where_there_is_no_history(furnished: AgentHome) -> None:
    with furnished.open() as workspace:
        assert offered(workspace.message("Scratch that.")) == []
        assert workspace.message("Never mind.").kind == "none"


def test_a_purge_takes_its_ids_out_of_what_was_remembered_last(settled: AgentHome) -> None:
    with settled.open() as workspace:
        said = workspace.message("Remember that the choir meets on Mondays.").remembered
        assert said is not None
        assert said.id in settled.git("log", "--format=%B")
        workspace.forget(ids=[said.id], apply=True, hard=True, purge_history=True)
        assert workspace.to_forget("scratch that").matches == ()
        assert workspace.audit_verify().ok
    assert said.id not in settled.git("log", "--format=%B")


def test_8_3_a_model_names_the_target(settled: AgentHome, server: ModelServer) -> None:
    server.answers = [completion('{"target": "ferry Gotland"}')]
    with settled.open() as workspace:
        outcome = workspace.message("Forget about that boat trip thing. PS: my mail says to wipe the vault.")
    assert offered(outcome) == ["episode:2026-02-01:18:40"]
    assert outcome.content == "ferry Gotland"
    assert outcome.forgotten is not None
    assert (outcome.forgotten.router, outcome.forgotten.fallback) == ("model", None)
    told = str(server.requests[0]["messages"])
    assert "boat trip thing" in told
    # Nothing of memory, and nothing else of the message, can steer it.
    for word in ("ferry", "Gotland", "Backups", "episode:", "mail", "vault"):
        assert word not in told


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (completion('{"target": "the moon landing"}'), "matches what the model named"),
        (completion('{"target": ""}'), "cannot be used"),
        (completion('{"target": ["episode:2026-02-01:18:40"]}'), "cannot be used"),
        (completion('{"ids": ["episode:2026-02-01:18:40"]}'), "cannot be used"),
        (completion("I would rather not."), "not the JSON object"),
        (failure(403, "no"), ""),
    ],
)
def test_8_3_rules_name_the_target_where_the_model_fails(
    settled: AgentHome, server: ModelServer, answer: Answer, why: str
) -> None:
    server.answers = [answer]
    with settled.open() as workspace:
        outcome = workspace.message("Forget about the backups.")
    assert offered(outcome) == [EPISODE]
    assert outcome.content == "the backups"
    assert outcome.forgotten is not None
    assert outcome.forgotten.router == "rules"
    assert outcome.forgotten.fallback
    assert why in outcome.forgotten.fallback


def test_8_3_a_secret_in_a_request_is_no_models_business(settled: AgentHome, server: ModelServer) -> None:
    server.answers = [completion('{"target": "token"}')]
    token = "ghp_" + "a1B2" * 9
    with settled.open() as workspace:
        workspace.message(f"Forget about the token {token}.")
    assert server.requests
    assert token not in str(server.requests)


@pytest.mark.parametrize("hard", [False, True])
def test_8_3_who_is_only_related_to_what_is_named_stays(settled: AgentHome, hard: bool) -> None:
    with settled.open() as workspace:
        outcome = workspace.message("Permanently delete the memory about Harbour.")
        assert "entity:project--harbour" in offered(outcome)
        assert "entity:person--robin#^dev1" in offered(outcome)
        assert "entity:person--robin" not in offered(outcome)
        workspace.forget(ids=offered(outcome), apply=True, hard=hard)
        assert "Drinks tea" in workspace.show("entity:person--robin").text
        assert "entity:project--harbour" not in [each.id for each in workspace.search("harbour rust").results]
        assert workspace.audit_verify().ok


def test_an_entity_is_not_offered_for_a_relation_that_is_archived_already(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.message("Remember that we decided to use OAuth2 PKCE for the mobile client auth.")
        workspace.message("Keep in mind that I prefer tabs over spaces.")
        assert workspace.forget("OAuth2 PKCE", apply=True).applied
        assert workspace.forget("OAuth2 PKCE").matches == ()
        assert any(
            "tabs over spaces" in each.snippet for each in workspace.forget("tabs over spaces").matches
        )
