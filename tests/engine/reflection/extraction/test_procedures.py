"""Ways of working: spelled out, or found because tasks follow each other again and again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.snapshots import chat, check_quotes, said, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.extraction import find_procedures
from workbench.engine.reflection.model import Passage, Work


def ways(folder: Path, *passages: Passage, files: dict[str, str] | None = None) -> list[ReviewItem]:
    made = snapshot(folder, passages, files=files)
    items = find_procedures(made, Work())
    check_quotes(made, items)
    return list(items)


def steps(item: ReviewItem) -> list[str]:
    return dict(item.fields)["steps"].split("\n")


def test_steps_spelled_out_become_a_procedure(tmp_path: Path) -> None:
    text = "To deploy: first run the smoke tests, then tag the release, then restart the workers."
    (item,) = ways(tmp_path, *chat("2026-02-04", ("user", text)))
    assert (item.target, item.text) == ("procedure:how-to-deploy", "How to deploy")
    assert steps(item) == ["1. Run the smoke tests", "2. Tag the release", "3. Restart the workers"]
    assert dict(item.fields)["when"] == "When asked to deploy."


def test_chinese_steps_become_a_procedure(tmp_path: Path) -> None:
    (item,) = ways(tmp_path, *chat("2026-02-04", ("user", "发布流程：先跑测试，然后打标签，最后重启服务")))
    assert len(steps(item)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "Can you tell me how to deploy: first the tests, then the tag?",
        "To get to the top, I'd need five more weeks. Thanks for the help!",
        "First time in Rome, and then we went home.",
        "I went to the market.",
    ],
)
def test_what_is_no_way_of_working_is_none(tmp_path: Path, text: str) -> None:
    assert ways(tmp_path, *chat("2026-02-04", ("user", text))) == []


def test_an_agents_steps_are_not_taken(tmp_path: Path) -> None:
    text = "To deploy: first run the tests, then tag the release."
    assert ways(tmp_path, *chat("2026-02-04", ("assistant", text))) == []


def test_tasks_that_recur_in_order_become_a_procedure(tmp_path: Path) -> None:
    days = ("2026-01-05", "2026-01-12", "2026-01-19")
    passages = [
        said(f"{day} {clock}", text, type="task")
        for day in days
        for clock, text in (
            ("09:00", "Export the ledger"),
            ("09:20", "Reconcile the bank statement"),
            ("10:00", "Mail the summary to Priya"),
        )
    ]
    (item,) = ways(tmp_path, *passages)
    assert steps(item) == [
        "1. Export the ledger",
        "2. Reconcile the bank statement",
        "3. Mail the summary to Priya",
    ]
    assert item.reason == "Done in this order 3 times between 2026-01-05 and 2026-01-19."
    assert item.confidence == "medium"


def test_twice_is_no_habit_of_tasks(tmp_path: Path) -> None:
    passages = [
        said(f"{day} {clock}", text, type="task")
        for day in ("2026-01-05", "2026-01-12")
        for clock, text in (("09:00", "Export the ledger"), ("09:20", "Reconcile the bank statement"))
    ]
    assert ways(tmp_path, *passages) == []


def test_what_is_told_in_order_twice_becomes_a_procedure(tmp_path: Path) -> None:
    (item,) = ways(
        tmp_path,
        *chat("2026-01-05", ("user", "I rebuilt the index, then warmed the cache, then reloaded nginx.")),
        *chat(
            "2026-01-12", ("user", "Today I rebuilt the index, then warmed the cache, then reloaded nginx.")
        ),
    )
    assert len(steps(item)) == 3
    assert item.confidence == "low"


@pytest.mark.parametrize(
    "text",
    [
        "I studied the index, which then grew, then but I need help with the cache.",
        "After the meeting, then should we buy three servers or not.",
        "I assume x = 3 for the base, then show x^2 = 9 for the step.",
    ],
)
def test_pieces_of_sentences_are_no_steps(tmp_path: Path, text: str) -> None:
    passages = [each for day in ("2026-01-05", "2026-01-12") for each in chat(day, ("user", text))]
    assert ways(tmp_path, *passages) == []


def test_known_procedures_are_not_proposed(tmp_path: Path) -> None:
    known = "# How to deploy\n\n## Steps\n1. Run the smoke tests\n"
    text = "To deploy: first run the smoke tests, then tag the release."
    files = {"memory/procedures/how-to-deploy.md": known}
    assert ways(tmp_path, *chat("2026-02-04", ("user", text)), files=files) == []
