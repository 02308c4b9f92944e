"""What decisions, preferences, corrections and requests to remember teach."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.extraction.learning import facts, learn, say
from tests.engine.reflection.snapshots import chat, said


def test_decisions_come_before_conversation(tmp_path: Path) -> None:
    items = learn(
        tmp_path,
        *chat("2026-02-03", ("user", "I moved to Trondheim with my sister last week.")),
        said(
            "2026-02-04 10:00",
            "We chose Postgres over MySQL for the ledger",
            type="decision",
            source="user-explicit",
        ),
        owner="Ada",
    )
    assert facts(items)[0] == "Ada chose Postgres over MySQL for the ledger"


@pytest.mark.parametrize(
    ("type_", "text", "fact"),
    [
        ("preference", "I prefer tea without sugar", "Ada prefers tea without sugar"),
        ("preference", "Prefers tea without sugar", "Ada prefers tea without sugar"),
        ("preference", "User prefers tea without sugar", "Ada prefers tea without sugar"),
        ("decision", "Chose Zig for the parser", "Ada chose Zig for the parser"),
        ("fact", "The depot closes at noon on Fridays", "The depot closes at noon on Fridays"),
        ("preference", "用户喜欢喝绿茶", "Ada喜欢喝绿茶"),
        ("decision", "决定使用 SQLite", "Ada决定使用 SQLite"),
    ],
)
def test_typed_episodes_say_what_they_say(tmp_path: Path, type_: str, text: str, fact: str) -> None:
    assert facts(learn(tmp_path, said("2026-02-04 10:00", text, type=type_), owner="Ada")) == [fact]


def test_a_correction_drops_what_it_corrects(tmp_path: Path) -> None:
    items = learn(
        tmp_path,
        said("2026-02-01 10:00", "The ferry pilot starts on 7 March", type="fact"),
        said(
            "2026-02-09 10:00",
            "Correction: the ferry pilot starts on 21 March, not on 7 March",
            type="correction",
        ),
        owner="Ada",
    )
    assert facts(items) == ["The ferry pilot starts on 21 March, not on 7 March"]


def test_a_note_to_oneself_is_explicit(tmp_path: Path) -> None:
    items = learn(
        tmp_path, *chat("2026-02-04", ("user", "Note to self: the boat licence expires on 2027-03-01"))
    )
    assert facts(items) == ["The boat licence expires on 2027-03-01"]


def test_remember_that_is_explicit(tmp_path: Path) -> None:
    items = learn(
        tmp_path, *chat("2026-02-04", ("user", "Please remember that my passport expires in June 2027."))
    )
    fact = next(item for item in items if item.kind == "fact")
    assert fact.text == "User’s passport expires in June 2027"
    assert fact.confidence == "high"
    assert "asked to be remembered" in fact.reason.casefold()


@pytest.mark.parametrize(
    ("rule", "fact"),
    [
        (
            "Always quote the statute when I ask about tenancy law.",
            "User wants the agent to always quote the statute when they ask about tenancy law",
        ),
        (
            "Please never use exclamation marks in letters.",
            "User wants the agent to never use exclamation marks in letters",
        ),
        (
            "From now on, answer in Danish with sources.",
            "User wants the agent to answer in Danish with sources",
        ),
    ],
)
def test_standing_rules_for_the_agent_are_preferences(tmp_path: Path, rule: str, fact: str) -> None:
    items = learn(tmp_path, *chat("2026-02-04", ("user", rule)))
    assert facts(items) == [fact]
    assert "standing rule" in next(item.reason for item in items if item.kind == "fact")


@pytest.mark.parametrize(
    "text",
    [
        "Here's my draft:\n\nDear Ana,\nI moved to Bergen last year.\n\nBest,\nOla",
        "Please proofread this:\nI was diagnosed with asthma in 2019.",
        "Dear Ana,\nI got promoted to captain yesterday.",
    ],
)
def test_a_text_that_is_shown_is_not_ones_own(tmp_path: Path, text: str) -> None:
    assert facts(learn(tmp_path, *chat("2026-02-04", ("user", text)))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I'm planning my wedding in June in Lake Como, what should I budget for flowers?",
            ["User is planning their wedding in June in Lake Como"],
        ),
        (
            "My mom's birthday is May 14 and she loves orchids.",
            ["User’s mom's birthday is May 14 and she loves orchids"],
        ),
        ("The team uses Jira, but I prefer email.", ["User prefers email"]),
        (
            "Remember: never book anything before noon.",
            ["User wants the agent to never book anything before noon"],
        ),
        ("I use a ThinkPad with 32 GB of RAM.", ["User uses a ThinkPad with 32 GB of RAM"]),
    ],
)
def test_what_people_tell_their_assistant(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert facts(learn(tmp_path, *chat("2026-02-04", ("user", text)))) == expected


def test_people_rule_agents_not_each_other(tmp_path: Path) -> None:
    assert say(tmp_path, "Always quote the statute when I ask about tenancy law.") == []


def test_statements_about_recorded_entities_are_theirs(tmp_path: Path) -> None:
    files = {
        "memory/graph/entities/project--reef.md": "# project--reef\n\n<!-- Type: project | Label: Reef -->\n"
    }
    items = learn(tmp_path, *chat("2026-02-04", ("user", "Reef runs on two servers in Aarhus.")), files=files)
    fact = next(item for item in items if item.kind == "fact")
    assert (fact.target, fact.text, fact.needs) == ("project--reef", "Reef runs on two servers in Aarhus", ())


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Tide forecasts cost 90 euros a month", "concept--tide-forecast"),
        ("The Esbjerg pilot ends in May", "concept--port-of-esbjerg"),
        ("Nobody works on Sundays", "person--ada"),
    ],
)
def test_impersonal_statements_find_what_they_are_about(tmp_path: Path, text: str, target: str) -> None:
    labels = {"concept--tide-forecast": "Tide forecast", "concept--port-of-esbjerg": "Port of Esbjerg"}
    files = {
        f"memory/graph/entities/{name}.md": f"# {name}\n\n<!-- Type: concept | Label: {label} -->\n"
        for name, label in labels.items()
    }
    items = learn(tmp_path, said("2026-02-04 10:00", text, type="decision"), owner="Ada", files=files)
    assert next(item.target for item in items if item.kind == "fact") == target


def test_what_a_fact_came_from_is_not_taught_twice(tmp_path: Path) -> None:
    port = (
        "# concept--port-of-esbjerg\n\n<!-- Type: concept | Label: Port of Esbjerg -->\n\n## Facts\n"
        "- The Port of Esbjerg extended its pilot by six months (from episode:2026-02-04:10:00) ^f1aa\n"
    )
    items = learn(
        tmp_path,
        said("2026-02-04 10:00", "Esbjerg’s pilot was extended by six months, at full price", type="fact"),
        owner="Ada",
        files={"memory/graph/entities/concept--port-of-esbjerg.md": port},
    )
    assert facts(items) == []


def test_decisions_about_a_project_are_the_projects(tmp_path: Path) -> None:
    files = {
        "memory/graph/entities/project--reef.md": "# project--reef\n\n<!-- Type: project | Label: Reef -->\n"
    }
    items = learn(
        tmp_path,
        said("2026-02-04 10:00", "We chose FastAPI for Reef", type="decision"),
        owner="Ada",
        files=files,
    )
    fact = next(item for item in items if item.kind == "fact")
    assert (fact.target, fact.text) == ("project--reef", "Ada chose FastAPI for Reef")


@pytest.mark.parametrize(
    "text", ["Extended to 60 days.", "The other one is on the shelf in Oslo.", "Cut back to 15 MB."]
)
def test_what_only_points_at_something_is_no_fact_even_where_it_was_typed(tmp_path: Path, text: str) -> None:
    assert facts(learn(tmp_path, said("2026-02-04 09:00", text, type="fact"))) == []


@pytest.mark.parametrize("text", ["The first one-on-one is in Oslo.", "Promoted to team lead in Oslo."])
def test_what_names_what_it_is_about_is_one(tmp_path: Path, text: str) -> None:
    assert facts(learn(tmp_path, said("2026-02-04 09:00", text, type="fact"))) == [text.rstrip(".")]
