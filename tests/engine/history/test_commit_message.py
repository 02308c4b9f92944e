"""No field of a message or an audit line can forge another, and every field comes back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidInput
from workbench.engine.history.commits import (
    AuditTrailer,
    CommitMessage,
    author_of,
    parse_message,
    render_message,
)
from workbench.engine.history.git_objects import Commit, parse_commit, render_commit
from workbench.engine.history.projections import audit_lines, commit_of_line
from workbench.engine.markdown.audit_log import parse_audit_line, render_audit_line

MOMENT = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)

hostile = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.lists(
        st.sampled_from(
            [
                "\n",
                "\r",
                "\n\n",
                "Audit: ",
                "Actor: root",
                " | ",
                "|",
                "\\",
                "\\n",
                "\\u2014",
                " — ",
                "[EDIT] ",
                "\x85",
                "\u2028",
                "\x00",
                "\x1b[31m",
                " ",
                "",
            ]
        ),
        max_size=6,
    ).map("".join),
)
actions = st.sampled_from(["EDIT", "CREATE", "ALERT"])
entries = st.builds(AuditTrailer, actions, hostile, hostile, hostile, hostile)
keys = st.sampled_from(["Alert", "Reverts", "X-1"])
messages = st.builds(
    CommitMessage,
    action=actions,
    file=hostile,
    summary=hostile,
    actor=hostile,
    approval=hostile,
    trigger=hostile,
    transaction=st.text("0123456789abcdef", min_size=1, max_size=16),
    entries=st.lists(entries, max_size=3).map(tuple),
    trailers=st.lists(st.tuples(keys, hostile), max_size=3).map(tuple),
)


def as_commit(message: CommitMessage) -> Commit:
    author, email = author_of(message.actor)
    raw = render_commit("0" * 40, [], render_message(message), author=author, email=email, moment=MOMENT)
    return parse_commit("a" * 40, raw)


@given(messages)
def test_every_field_comes_back(message: CommitMessage) -> None:
    assert parse_message(as_commit(message)) == message


@given(messages)
def test_no_field_makes_a_line_of_its_own(message: CommitMessage) -> None:
    text = render_message(message)
    assert len(text.splitlines()) == 6 + len(message.trailers) + len(message.entries)
    assert sum(line.startswith("Audit: ") for line in text.splitlines()) == len(message.entries)


@given(messages)
def test_lines_of_the_log_come_back_with_their_commit(message: CommitMessage) -> None:
    commit = as_commit(message)
    lines = audit_lines(commit)
    assert len(lines) == len(message.entries)
    for line in lines:
        text = render_audit_line(line)
        assert len(text.splitlines()) == 1
        assert parse_audit_line(text) == line
        assert commit_of_line(line) == commit.short


@given(st.text())
def test_any_actor_makes_an_author(actor: str) -> None:
    name, email = author_of(actor)
    assert name
    assert name.isprintable() or not set(name) & set("\n\r\0<>")
    assert email.endswith("@workbench.invalid")
    assert email.isascii()


def test_the_format_is_that_of_the_design() -> None:
    message = CommitMessage(
        "EDIT",
        "MEMORY.md",
        "updated Active Context",
        "bot:trigger-remember",
        "auto",
        'user said "remember we chose the hybrid approach"',
        "abc123",
        (AuditTrailer("EDIT", "MEMORY.md", "auto", "updated Active Context"),),
        (("Reverts", "f00"),),
    )
    assert render_message(message) == (
        "[EDIT] MEMORY.md — updated Active Context\n"
        "\n"
        "Actor: bot:trigger-remember\n"
        "Approval: auto\n"
        'Trigger: user said "remember we chose the hybrid approach"\n'
        "Transaction: abc123\n"
        "Reverts: f00\n"
        "Audit: EDIT | MEMORY.md | auto | updated Active Context\n"
    )
    assert author_of("bot:trigger-remember") == ("bot:trigger-remember", "bot@workbench.invalid")


def test_a_line_may_name_an_actor_of_its_own() -> None:
    lines = (
        AuditTrailer("COMMIT", "MEMORY.md", "auto", "accepted #1", "bot:commit-from:coder"),
        AuditTrailer("COMMIT", "a.md", "auto", "accepted #1"),
        AuditTrailer("COMMIT", "a.md", "auto", "accepted #2", "bot:commit-from:scout"),
    )
    message = CommitMessage("COMMIT", "a.md", "accepted", "bot:main", "auto", "—", "abc", lines)
    assert "Audit: COMMIT | MEMORY.md | auto | accepted #1 | bot:commit-from:coder\n" in render_message(
        message
    )
    told = [(line.file, line.actor) for line in audit_lines(as_commit(message))]
    assert told == [
        ("MEMORY.md", "bot:commit-from:coder"), ("a.md", "bot:main"), ("a.md", "bot:commit-from:scout"),
    ]  # fmt: skip
    assert message.actor_of("MEMORY.md") == "bot:commit-from:coder"
    assert message.actor_of("a.md") == message.actor_of("b.md") == "bot:main"


@pytest.mark.parametrize("key", ["Actor", "Audit", "Transaction", "a b", "", "A\nB"])
def test_trailers_cannot_take_the_place_of_others(key: str) -> None:
    with pytest.raises(InvalidInput):
        render_message(CommitMessage("EDIT", "a", "b", "c", "d", "e", "f", (), ((key, "x"),)))


def test_a_commit_by_somebody_else_is_still_read() -> None:
    raw = render_commit(
        "0" * 40, [], "just a commit\n\nActor: system:init\n", author="Eve", email="e@x", moment=MOMENT
    )
    message = parse_message(parse_commit("a" * 40, raw))
    assert (message.actor, message.summary, message.transaction) == ("Eve", "just a commit", "")
    assert message.entries == (AuditTrailer("EDIT", "*", "—", "just a commit"),)
