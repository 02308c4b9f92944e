"""A secret holds back its line: the rest of the file is read, reflected on and cited, even where there is no other."""

from __future__ import annotations

from functools import partial

import pytest

from tests.engine.services.agent_home import AgentHome, failure
from tests.engine.services.callings import EVERY, Calling
from tests.engine.services.test_secrets import TOKEN
from workbench.engine import Workspace
from workbench.engine.results.reviews import LinesLeftOut, Reflected

DAY = "memory/2026-01-28.md"
LOG = f"# 2026-01-28\n\n- I moved to Visby.\n- The herring token is {TOKEN}\n- I am allergic to herring.\n"
# Said on the line of the secret, so that it is learned once that is let in.
LINE = f"- I live in Lisbon, and my token is {TOKEN}\n"


def only_that(home: AgentHome, text: str = LOG) -> AgentHome:
    home.write(DAY, text)
    return home


def quotes(reflected: Reflected) -> str:
    items = reflected.review.items
    return " | ".join(quoted.quote for item in items for quoted in item.evidence)


def cited(reflected: Reflected) -> set[str]:
    return {quoted.id for item in reflected.review.items for quoted in item.evidence}


def forget_proposal(workspace: Workspace) -> None:
    """Decide on everything that was proposed, so that the next reflection proposes what is new alone."""
    if items := workspace.review().items:
        workspace.review_decide({item.id: "approved" for item in items})
        workspace.review_apply()


def test_the_rest_of_the_day_is_reflected_on(home: AgentHome) -> None:
    with only_that(home).open("main") as workspace:
        reflected = workspace.reflect()
        assert (reflected.ok, reflected.id) == (True, "r-001")
        assert reflected.left_out == (LinesLeftOut(DAY, (4,)),)
        assert "allergic to herring" in quotes(reflected)
        assert f"file:{DAY}#L5-L5" in cited(reflected)
        assert all(quoted.found for item in reflected.review.items for quoted in item.evidence)
        assert TOKEN not in repr(reflected)
    assert home.text(DAY) == LOG
    assert DAY not in home.git("ls-tree", "-r", "--name-only", "HEAD")


def test_what_was_read_is_not_read_again(home: AgentHome) -> None:
    with only_that(home).open("person") as workspace:
        workspace.reflect()
        forget_proposal(workspace)
        again = workspace.reflect()
        assert (again.id, again.reason, again.left_out) == ("", "There is nothing new to learn.", ())
        home.write(DAY, LOG + "- I am allergic to oysters.\n")
        more = workspace.reflect()
        assert "oysters" in quotes(more)
        assert "to herring" not in quotes(more)


@pytest.mark.parametrize("text", [LOG, LOG + LINE])
def test_a_line_that_is_let_in_is_read_by_the_next_reflection(home: AgentHome, text: str) -> None:
    with only_that(home, text).open("person") as workspace:
        workspace.reflect()
        forget_proposal(workspace)
        for held in workspace.secrets_held().held:
            workspace.secrets_store(held.number)
        after = workspace.reflect()
        assert after.left_out == ()
        assert "allergic" not in quotes(after)
        assert after.reason != "There is nothing new to learn."
        assert workspace.reflection_due().unprocessed == 0


@pytest.mark.parametrize("drop", [True, False])
def test_a_line_of_which_the_secret_is_left_out_says_nothing(home: AgentHome, drop: bool) -> None:
    with only_that(home, LOG + LINE).open("person") as workspace:
        workspace.reflect()
        forget_proposal(workspace)
        (held,) = workspace.secrets_held().held
        if drop:
            workspace.secrets_drop(held.number)
        else:
            workspace.secrets_store(held.number, leave_out=True)
        assert "[secret left out]" in home.text(DAY)
        after = workspace.reflect()
        assert (after.reason, after.left_out) == ("There is nothing new to learn.", ())


def test_a_placeholder_in_a_file_that_history_knows_says_nothing_either(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.reflect()
        forget_proposal(workspace)
        path = "memory/2026-01-30.md"
        settled.write(path, settled.text(path) + f"- My token is {TOKEN}\n- I am allergic to oysters.\n")
        reflected = workspace.reflect()
        assert "oysters" in quotes(reflected)
        assert "held back" not in quotes(reflected)
        assert [each.path for each in reflected.left_out] == [path]


def test_what_was_read_no_longer_makes_a_reflection_due(home: AgentHome) -> None:
    with only_that(home).open("person") as workspace:
        assert workspace.reflection_due().unprocessed > 0
        workspace.reflect()
        assert workspace.reflection_due().unprocessed == 0


def test_losing_what_was_noted_costs_a_second_reading(home: AgentHome) -> None:
    with only_that(home).open("person") as workspace:
        workspace.reflect()
        forget_proposal(workspace)
        (kept,) = (home.root.parent / "cache").rglob("read-while-waiting.json")
        assert TOKEN not in kept.read_text()
        kept.write_text("[1")
        # What was rejected stays away.
        assert workspace.reflect().id == ""


@pytest.mark.parametrize("calling", EVERY, ids=lambda calling: calling.name)
def test_nothing_fails_where_all_there_is_waits(home: AgentHome, calling: Calling) -> None:
    with only_that(home).open("person") as workspace:
        error = failure(partial(calling.call, workspace))
        assert error is None or "“”" not in str(error)


def test_an_empty_folder_teaches_nothing(home: AgentHome) -> None:
    with home.open("main") as workspace:
        reflected = workspace.reflect()
        assert (reflected.id, reflected.reason) == ("", "There is nothing new to learn.")


def test_verify_counts_it_as_waiting(home: AgentHome) -> None:
    with only_that(home).open("main") as workspace:
        workspace.reflect()
        verified = workspace.audit_verify()
        assert (verified.ok, verified.problems, verified.waiting) == (True, (), (DAY,))
    with home.open("reader") as workspace:
        home.write("memory/2026-01-29.md", "# 2026-01-29\n\nNobody said why.\n")
        verified = workspace.audit_verify()
        assert (verified.ok, [each.where for each in verified.problems]) == (False, ["memory/2026-01-29.md"])
        assert verified.waiting == (DAY,)


def test_no_note_names_a_file_whose_name_holds_a_secret(settled: AgentHome) -> None:
    settled.write(f"memory/{TOKEN}.md", "# Notes\n\nRobin moved to Visby.\n")
    with settled.open() as workspace:
        workspace.adopt()
        workspace.reflect()
    cache = settled.root.parent / "cache"
    notes = [path for path in cache.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert notes == []
