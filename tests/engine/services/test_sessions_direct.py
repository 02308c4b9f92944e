"""Which session a direct conversation belongs to, what becomes of those that are there already, and who may reset."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.session_talk import MAIN
from workbench.engine import Workspace
from workbench.engine.errors import InvalidSetting, NotFound, RoleRefused

ALEX = "agent:main:telegram:direct:42"
GROUP = "agent:main:telegram:group:7"


def says(home: AgentHome, text: str) -> None:
    home.write("workbench.toml", f"[sessions]\n{text}\n")


def append(workspace: Workspace, key: str, text: str = "Hello") -> str:
    return workspace.session_append(key, text).key


def told(workspace: Workspace, key: str) -> list[str]:
    return [line.text for line in workspace.session(key).lines if line.kind == "message"]


@pytest.mark.parametrize(
    "key", ["telegram:direct:42", "telegram:dm:42", ALEX, "discord:work:direct:9", "main"]
)
def test_direct_conversations_join_the_main_session(key: str, settled: AgentHome) -> None:
    with settled.open() as workspace:
        assert append(workspace, key) == MAIN
        assert workspace.session(key).session.key == MAIN
        assert append(workspace, "agent:main:main", "And on") == MAIN
        assert told(workspace, key) == ["Hello", "And on"]


def test_each_agent_has_its_main_session_and_a_thread_stays_one(settled: AgentHome) -> None:
    with settled.open() as workspace:
        assert append(workspace, "agent:coder:telegram:direct:42") == "agent:coder:main"
        assert append(workspace, "agent:main:telegram:direct:42:thread:9") == "agent:main:main:thread:9"
        assert append(workspace, GROUP) == GROUP


@pytest.mark.parametrize(
    ("scope", "key"),
    [
        ("per-peer", "agent:main:direct:42"),
        ("per-channel-peer", ALEX),
        ("per-account-channel-peer", "agent:main:telegram:default:direct:42"),
    ],
)
def test_a_scope_gives_each_a_session_of_their_own(scope: str, key: str, settled: AgentHome) -> None:
    says(settled, f'direct_scope = "{scope}"')
    with settled.open() as workspace:
        assert append(workspace, "telegram:direct:42") == key
        assert workspace.session("telegram:direct:42").session.key == key
        with pytest.raises(NotFound):
            workspace.session(MAIN)


def test_accounts_of_one_person_share_a_session(settled: AgentHome) -> None:
    says(settled, 'direct_scope = "per-peer"\nidentity_links = { "telegram:42" = "mira", "7" = "mira" }')
    with settled.open() as workspace:
        assert append(workspace, "telegram:direct:42") == "agent:main:direct:mira"
        assert append(workspace, "discord:direct:7") == "agent:main:direct:mira"
        assert append(workspace, "discord:direct:42") == "agent:main:direct:42"


def test_a_session_that_is_there_already_goes_on_and_is_never_merged(settled: AgentHome) -> None:
    says(settled, 'direct_scope = "per-channel-peer"')
    with settled.open() as workspace:
        append(workspace, ALEX, "Before")
    says(settled, 'direct_scope = "main"')
    settled.clock.advance(days=1)
    with settled.open() as workspace:
        assert append(workspace, "telegram:dm:42", "After") == ALEX
        assert append(workspace, "telegram:direct:43") == MAIN
        assert told(workspace, "telegram:direct:42") == ["After"]
    says(settled, 'direct_scope_by_peer = { "telegram:42" = "main" }')
    with settled.open() as workspace:
        assert append(workspace, ALEX, "Joined") == MAIN
        assert told(workspace, "telegram:direct:42") == ["Hello", "Joined"]
        # Its own is reached by its whole key, as ever.
        assert told(workspace, ALEX) == ["After"]


def test_one_is_kept_apart_and_the_rest_join(settled: AgentHome) -> None:
    says(settled, 'direct_scope_by_peer = { "telegram:42" = "per-channel-peer" }')
    with settled.open() as workspace:
        assert append(workspace, ALEX) == ALEX
        assert append(workspace, "telegram:direct:43") == MAIN


def test_who_has_memories_of_their_own_does_not_speak_in_the_owners_session(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.remember("Alex borrowed the ladder", scope="person:telegram-42")
        workspace.remember("The ladder was a present", scope="person:telegram-421")
        assert append(workspace, ALEX, "Remember that I need the ladder until May.") == ALEX
        append(workspace, MAIN, "Remember that the cello is a present for Alex.")
        shown = str([each.message for each in workspace.session_context(MAIN).messages])
        assert "ladder" not in shown
        for key in (ALEX, MAIN):
            workspace.session_flush(key, now=True)
        with workspace.scoped("person:telegram-42") as theirs:
            found = " ".join(hit.snippet for hit in theirs.search("ladder cello present").results)
        assert "until May" in found
        assert "cello" not in found


@pytest.mark.parametrize(
    "said_in", ["telegram:direct:42:thread:9", "telegram:dm:42:topic:1", "telegram:work:direct:42"]
)
def test_nor_by_a_thread_or_through_another_account(said_in: str, settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.remember("Alex borrowed the ladder", scope="person:telegram-42")
        assert not append(workspace, said_in, "Remember that I hide the zebra.").startswith(MAIN)


def test_a_thread_of_a_session_of_its_own_stays_with_it(settled: AgentHome) -> None:
    says(settled, 'direct_scope = "per-channel-peer"')
    with settled.open() as workspace:
        append(workspace, ALEX)
    says(settled, 'direct_scope = "main"')
    with settled.open() as workspace:
        assert append(workspace, f"{ALEX}:thread:9") == f"{ALEX}:thread:9"


def test_by_their_name_as_well(settled: AgentHome) -> None:
    says(settled, 'identity_links = { "telegram:42" = "mira" }')
    with settled.open() as workspace:
        workspace.remember("Mira borrowed the ladder", scope="person:mira")
        assert append(workspace, ALEX) == ALEX
        assert append(workspace, "telegram:direct:43") == MAIN


def test_what_is_said_in_the_main_session_is_the_owners_alone(settled: AgentHome) -> None:
    with settled.open() as workspace:
        assert append(workspace, "telegram:direct:4", "Remember that the cello is a present.") == MAIN
        assert workspace.session_flush(MAIN, now=True).saved
        with workspace.scoped("person:telegram-4") as theirs:
            assert theirs.search("cello").results == ()


def test_who_joined_stays_joined(settled: AgentHome) -> None:
    with settled.open() as workspace:
        assert append(workspace, ALEX) == MAIN
        workspace.remember("Alex borrowed the ladder", scope="person:telegram-42")
        settled.clock.advance(days=1)
        assert append(workspace, ALEX) == MAIN
        assert append(workspace, "telegram:direct:421") == MAIN


def test_the_main_session_may_have_another_name_and_one_that_is_there_goes_on(settled: AgentHome) -> None:
    says(settled, 'main_key = "Work"')
    with settled.open() as workspace:
        assert append(workspace, "main") == "agent:main:work"
        assert append(workspace, "telegram:direct:42") == "agent:main:work"
        assert append(workspace, "work") == "agent:main:work"
        (row,) = workspace.sessions().sessions
        assert (row.kind, row.key) == ("main", "agent:main:work")
        assert append(workspace, "agent:coder:main") == "agent:coder:work"
    says(settled, "")
    with settled.open() as workspace:
        assert append(workspace, "main") == MAIN
    says(settled, 'main_key = "play"')
    with settled.open() as workspace:
        assert append(workspace, "telegram:direct:9") == MAIN


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('main_key = "a:b"', "sessions.main_key"),
        ('main_key = " "', "sessions.main_key"),
        ('direct_scope_by_peer = { "telegram:42" = "alone" }', "sessions.direct_scope_by_peer.telegram:42"),
        ('identity_links = { "telegram:42" = "a:b" }', "sessions.identity_links.telegram:42"),
    ],
)
def test_what_can_mean_nothing_is_named(text: str, where: str, settled: AgentHome) -> None:
    says(settled, text)
    with settled.open() as workspace, pytest.raises(InvalidSetting) as caught:
        append(workspace, ALEX)
    assert caught.value.where == where


def resets(workspace: Workspace, key: str, sender: str = "") -> bool:
    done = workspace.session_append(key, "/new", sender=sender)
    if done.reason != "new":
        assert "sessions.reset_senders" in " ".join(done.warnings)
        assert told(workspace, key)[-1] == "/new"
    return done.reason == "new"


def test_who_talks_alone_with_the_agent_may_start_over_and_in_a_group_nobody(settled: AgentHome) -> None:
    says(settled, 'direct_scope = "per-channel-peer"')
    with settled.open() as workspace:
        assert resets(workspace, MAIN)
        assert resets(workspace, ALEX)
        assert resets(workspace, ALEX, "Telegram:42")
        assert not resets(workspace, ALEX, "telegram:43")
        assert not resets(workspace, GROUP)
        assert not resets(workspace, GROUP, "telegram:42")
        assert not resets(workspace, GROUP, "Direct ")


def test_the_setting_names_who_may(settled: AgentHome) -> None:
    says(settled, 'reset_senders = ["telegram:42", "mira"]\nidentity_links = { "discord:7" = "Mira" }')
    with settled.open() as workspace:
        assert resets(workspace, MAIN)
        assert resets(workspace, GROUP, "telegram:42")
        assert resets(workspace, GROUP, "discord:7")
        assert not resets(workspace, GROUP, "discord:42")
        assert not resets(workspace, "telegram:direct:43")
        with pytest.raises(RoleRefused) as caught:
            workspace.session_reset(GROUP, sender="telegram:43")
        assert "sessions.reset_senders" in (caught.value.remedy or "")
        assert workspace.session_reset(GROUP, sender="telegram:42").previous_id
        assert workspace.session_reset(GROUP).previous_id
    says(settled, 'reset_senders = ["*"]')
    with settled.open() as workspace:
        assert resets(workspace, GROUP)
