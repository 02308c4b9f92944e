"""Who may do what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput, RoleRefused
from workbench.engine.roles import Capability, Role, parse_role, require

ONLY_A_PERSON = {
    Capability.DECIDE_REVIEW,
    Capability.ACKNOWLEDGE,
    Capability.HARD_DELETE,
    Capability.PURGE,
    Capability.CHANGE_SETTINGS,
    Capability.TOUCH_CRITICAL,
}


@pytest.mark.parametrize(
    ("text", "capabilities"),
    [
        ("person", set(Capability)),
        ("main", set(Capability) - ONLY_A_PERSON),
        ("agent:researcher", {Capability.READ, Capability.PROPOSE}),
        ("reader", {Capability.READ}),
    ],
)
def test_each_role_may_exactly_this(text: str, capabilities: set[Capability]) -> None:
    role = parse_role(text)
    assert str(role) == text
    assert role.capabilities == capabilities
    for capability in Capability:
        if capability in capabilities:
            require(role, capability)
        else:
            with pytest.raises(RoleRefused) as caught:
                require(role, capability)
            assert caught.value.where == text
            assert caught.value.remedy


@pytest.mark.parametrize(
    ("role", "capability", "doing", "message", "remedy"),
    [
        (
            "agent:coder",
            Capability.WRITE_MEMORY,
            "forget memories",
            "The agent coder may not forget memories.",
            "Propose",
        ),
        ("agent:coder", Capability.PURGE, "", "The agent coder may not purge history.", "Ask the person"),
        (
            "main",
            Capability.DECIDE_REVIEW,
            "",
            "The main agent may not decide on a reflection.",
            "Ask the person",
        ),
        ("reader", Capability.PROPOSE, "", "A reader may not propose memories.", "another role"),
    ],
)
def test_a_refusal_says_what_to_do_instead(
    role: str, capability: Capability, doing: str, message: str, remedy: str
) -> None:
    with pytest.raises(RoleRefused) as caught:
        require(parse_role(role), capability, doing=doing)
    assert caught.value.message == message
    assert remedy in str(caught.value.remedy)
    assert caught.value.exit_code == 5


@pytest.mark.parametrize(
    "text",
    [
        "", "Person", "admin", "person:x", "main:", "reader:x", "agent", "agent:", "agent:-x", "agent:_x",
        "agent:X", "agent:a b", "agent:a\n", "agent:../x", "agent:a|b", "agent:" + "a" * 65, "agent:é",
        "agent:a:b", "agent:٣", "agent:main", "agent:person", "agent:reader", "agent:agent",
    ],
)  # fmt: skip
def test_what_is_no_role(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_role(text)


@given(st.from_regex(r"[a-z0-9][a-z0-9_-]{0,63}", fullmatch=True))
def test_agents_keep_their_names(name: str) -> None:
    assert parse_role(f"agent:{name}") == Role("agent", name)
