"""What notes, which nobody speaks, state of whom they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.snapshots import check_quotes, said, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.extraction import extract_knowledge
from workbench.engine.reflection.model import Agenda
from workbench.engine.reflection.work import Work

ORION = {
    "memory/graph/entities/project--orion.md": "# project--orion\n\n<!-- Type: project | Label: Orion -->\n"
}


def note(folder: Path, text: str, files: dict[str, str] | None = None) -> list[ReviewItem]:
    made = snapshot(folder, [said("2026-02-04 10:00", text)], owner="Ada", files=files)
    items = extract_knowledge(made, Agenda(()), Work())
    check_quotes(made, items)
    return [item for item in items if item.kind == "fact"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("User prefers short answers.", "Ada prefers short answers"),
        ("The user is allergic to penicillin.", "Ada is allergic to penicillin"),
        ("User’s dentist is in Faro.", "Ada’s dentist is in Faro"),
        ("Prefer dark mode everywhere", "Ada prefers dark mode everywhere"),
        ("Decided to go with Hetzner for hosting", "Ada decided to go with Hetzner for hosting"),
    ],
)
def test_what_is_noted_of_the_owner(tmp_path: Path, text: str, fact: str) -> None:
    (item,) = note(tmp_path, text)
    assert (item.text, item.target) == (fact, "person--ada")


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Ana moved to Porto last week and starts at the port in March", "person--ana"),
        ("Orion runs on three machines in Falkenstein", "project--orion"),
        ("Project Orion is led by Ana", "project--orion"),
    ],
)
def test_what_is_noted_of_whom_a_line_begins_with(tmp_path: Path, text: str, target: str) -> None:
    assert [item.target for item in note(tmp_path, text, ORION)] == [target]


@pytest.mark.parametrize(
    "text",
    [
        "Call the dentist tomorrow",
        "TODO: buy milk",
        "Is Orion late again?",
        "She moved to Porto last week",
        "Could Ana review this?",
        "Weather was fine",
    ],
)
def test_tasks_and_talk_teach_nothing(tmp_path: Path, text: str) -> None:
    assert note(tmp_path, text, ORION) == []


def test_a_noted_relation_counts_though_stated_once(tmp_path: Path) -> None:
    files = ORION | {
        "memory/graph/entities/tool--kafka.md": "# tool--kafka\n\n<!-- Type: tool | Label: Kafka -->\n"
    }
    made = snapshot(tmp_path, [said("2026-02-04 10:00", "Orion depends on Kafka.")], owner="Ada", files=files)
    (relation,) = [item for item in extract_knowledge(made, Agenda(()), Work()) if item.kind == "relation"]
    assert (relation.target, relation.text) == ("project--orion", "depends-on [[tool--kafka]]")
