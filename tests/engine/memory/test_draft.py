"""What many steps did to one file stays a line that people can read."""

from __future__ import annotations

import pytest

from tests.engine.memory.library import Library
from workbench.engine import layout
from workbench.engine.history.plan import Action
from workbench.engine.memory.draft import Draft


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


@pytest.mark.parametrize("folder", ["", "memory", layout.PROCEDURES])
def test_a_list_has_what_is_drafted_and_not_what_is_deleted(folder: str) -> None:
    view = Library({f"{layout.PROCEDURES}/{name}.md": b"# x\n" for name in ("a", "c", "d")})
    draft = Draft(view)
    assert draft.list(folder) == view.list(folder)
    draft.delete(f"{layout.PROCEDURES}/c.md", "gone")
    draft.write(f"{layout.PROCEDURES}/b.md", b"# b\n", Action.CREATE, "new")
    procedures = [path for path in draft.list(folder) if path.startswith(layout.PROCEDURES)]
    assert procedures == [f"{layout.PROCEDURES}/{name}.md" for name in ("a", "b", "d")]
    assert draft.list(layout.VAULT) == []
