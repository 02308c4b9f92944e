"""What many steps did to one file stays a line that people can read."""

from __future__ import annotations

from tests.engine.stores.library import Library
from workbench.engine.history.plan import Action
from workbench.engine.stores import Draft


def test_a_long_summary_ends_with_how_many_more_there_were() -> None:
    draft = Draft(Library())
    for number in range(100):
        draft.write("MEMORY.md", f"{number}\n".encode(), Action.EDIT, f"added “item number {number}”")
    (change,) = draft.changes()
    assert len(change.summary) < 1100
    assert change.summary.startswith("added “item number 0”; added “item number 1”; ")
    told = change.summary.count("added")
    assert change.summary.endswith(f"”; and {100 - told} more")


def test_a_single_summary_is_never_cut() -> None:
    draft = Draft(Library())
    draft.write("MEMORY.md", b"x\n", Action.EDIT, "y" * 3000)
    assert draft.changes()[0].summary == "y" * 3000
