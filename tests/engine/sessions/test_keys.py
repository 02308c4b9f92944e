"""Session keys: every form of the grammar there and back, both words for direct, and names that lead elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput
from workbench.engine.sessions.keys import (
    DirectRules,
    SessionKey,
    checked_session_id,
    is_session_id,
    parse_key,
    render_key,
)
from workbench.engine.settings.sections import DIRECT_SCOPES

FORMS = {
    "agent:main:main": SessionKey("main", agent="main"),
    "agent:main:dm:+4670": SessionKey("direct", agent="main", name="+4670", direct="dm"),
    "agent:main:direct:+4670": SessionKey("direct", agent="main", name="+4670", direct="direct"),
    "agent:a:telegram:dm:42": SessionKey("direct", agent="a", name="42", channel="telegram", direct="dm"),
    "agent:a:telegram:work:direct:42": SessionKey(
        "direct", agent="a", name="42", channel="telegram", account="work", direct="direct"
    ),
    "agent:a:whatsapp:group:123@g.us": SessionKey("group", agent="a", name="123@g.us", channel="whatsapp"),
    "agent:a:discord:channel:9": SessionKey("channel", agent="a", name="9", channel="discord"),
    "agent:a:telegram:group:-100:topic:7": SessionKey(
        "group", agent="a", name="-100", channel="telegram", suffix="topic", suffix_id="7"
    ),
    "agent:a:main:thread:t1": SessionKey("main", agent="a", suffix="thread", suffix_id="t1"),
    "agent:a:subagent:1f2e": SessionKey("subagent", agent="a", name="1f2e"),
    "agent:a:acp:x:y": SessionKey("acp", agent="a", name="x:y"),
    "agent:a:cron:job:run:1": SessionKey("cron", agent="a", name="job:run:1"),
    "cron:nightly": SessionKey("cron", name="nightly"),
    "hook:1f2e": SessionKey("hook", name="1f2e"),
    "node-kitchen": SessionKey("node", name="kitchen"),
    "global": SessionKey("global"),
    "agent:a:something:else": SessionKey("other", agent="a", name="something:else"),
}


@pytest.mark.parametrize(("text", "key"), FORMS.items(), ids=list(FORMS))
def test_each_form_is_read_and_written(text: str, key: SessionKey) -> None:
    assert parse_key(text) == key
    assert render_key(key) == text


def test_capital_letters_and_white_space_mean_nothing() -> None:
    assert parse_key(" Agent:Main:MAIN\n") == SessionKey("main", agent="main")


def test_both_words_for_direct_are_one_session() -> None:
    assert parse_key("agent:a:dm:x").spellings() == ("agent:a:dm:x", "agent:a:direct:x")
    assert parse_key("agent:a:direct:x").spellings() == ("agent:a:direct:x", "agent:a:dm:x")


@pytest.mark.parametrize(
    ("text", "type_", "shared"),
    [
        ("agent:a:main", "direct", False),
        ("agent:a:telegram:group:1", "group", True),
        ("agent:a:telegram:group:1:topic:2", "thread", True),
        ("agent:a:main:thread:2", "thread", False),
    ],
)
def test_the_type_goes_by_where_it_takes_place(text: str, type_: str, shared: bool) -> None:
    assert (parse_key(text).type, parse_key(text).is_shared) == (type_, shared)


@pytest.mark.parametrize(
    "text", ["", "  ", "agent:", "agent:a", "agent:a:", "agent:-x:main", "agent:ü:main", "a\0b", "x" * 513]
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_key(text)


@given(st.text(max_size=80))
def test_any_text_is_a_key_or_refused_and_a_key_stays_the_same(text: str) -> None:
    try:
        key = parse_key(text)
    except InvalidInput:
        return
    assert parse_key(render_key(key)) == key


PART = st.text("abc019+@._-", min_size=1, max_size=8)


@given(
    st.lists(
        st.sampled_from(
            ["agent", "main", "dm", "direct", "group", "channel", "topic", "thread", "cron", "x", "1"]
        ),
        min_size=1,
        max_size=8,
    )
)
def test_words_of_the_grammar_in_any_order_stay_the_same(words: list[str]) -> None:
    try:
        key = parse_key(":".join(words))
    except InvalidInput:
        return
    assert render_key(key) == ":".join(words)


@pytest.mark.parametrize(
    "text", ["../x", "a/b", "a\\b", "..", ".hidden", "", "x" * 129, "a\0", "a b", "a..b", None, 7, "ü"]
)
def test_what_could_lead_elsewhere_is_no_session_id(text: object) -> None:
    assert not is_session_id(text)
    with pytest.raises(InvalidInput):
        checked_session_id(text)


def test_ids_of_known_programs_are_ids() -> None:
    assert is_session_id("7d0c3c1e-9a1b-4f6e-8f1e-2d3c4b5a6978")
    assert is_session_id("7d0c-topic-42")


RULES = st.builds(
    DirectRules,
    st.sampled_from(DIRECT_SCOPES),
    st.dictionaries(st.sampled_from(["telegram:42", "42", "mira", "*"]), st.sampled_from(DIRECT_SCOPES)),
    st.dictionaries(st.sampled_from(["telegram:42", "42", "discord:7"]), st.sampled_from(["mira", "kim"])),
    st.sampled_from(["main", "work"]),
)


@given(
    RULES,
    st.sampled_from(["telegram:", "discord:", ""]),
    st.sampled_from(["", "home:"]),
    st.sampled_from(["direct:42", "dm:7", "direct:mira", "group:42", "main", "work", "cron:42"]),
    st.sampled_from(["", ":thread:9"]),
)
def test_a_conversation_belongs_to_one_session_which_is_its_own(
    rules: DirectRules, channel: str, account: str, rest: str, suffix: str
) -> None:
    key = parse_key(f"agent:main:{channel}{account}{rest}{suffix}")
    found = rules.of(key)
    # A channel that is left out cannot be asked for its rule again.
    if rules.by_peer.keys() <= {"*"}:
        assert rules.of(found) == found
    assert parse_key(str(found)).agent == "main"
    assert str(parse_key(str(found))) == str(found)
    if key.kind not in ("direct", "main", "other"):
        assert found == key
    assert found.suffix == key.suffix
