"""What counts as a decision in a change of a file, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from workbench.engine import layout
from workbench.engine.errors import RoleRefused
from workbench.engine.history.commits import REDOES, REVERTS, UNDOES
from workbench.engine.history.permissions import decides, refuse_decisions
from workbench.engine.roles import parse_role, require_by_hand

PENDING = layout.PENDING_REFLECTION
BEFORE = """# Reflection Summary — 2026-02-02

<!-- reflection: r-002 | created: 2026-02-02 -->

## A
- [x] `r-002.1` fact for [[person--robin]]: One (confidence high)
  - since: 2026-02-01
  - episode:2026-02-01:18:40 says "one"
- [-] `r-002.2` fact: Two
- [>] `r-002.3` fact: Three
- [ ] `r-002.4` fact: Four
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[x] `r-002.1`", "[ ] `r-002.1`"),
        ("[x] `r-002.1`", "[-] `r-002.1`"),
        ("[x] `r-002.1`", "[?] `r-002.1`"),
        ("[-] `r-002.2`", "[x] `r-002.2`"),
        ("[-] `r-002.2`", "[ ] `r-002.2`"),
        ("[ ] `r-002.4`", "[x] `r-002.4`"),
        ("[ ] `r-002.4`", "[>] `r-002.4`"),
        (">] `r-002.3`", "X] `r-002.3`"),
        ("One (confidence", "Another (confidence"),
        ("(confidence high)", "(confidence low)"),
        ("2026-02-01\n", "2026-02-02\n"),
        ('says "one"', 'says "won"'),
        ("[[person--robin]]", "[[person--eve]]"),
        ("- [-] `r-002.2` fact: Two\n", ""),
        ("`r-002.1`", "`r-002.9`"),
        ("## A", "## A\n- [x] `r-003.1` fact: New"),
        ("## A", "## A\n- [>] `r-003.1` fact: New"),
        ("## A", "## A\n```"),
        ("## A\n", "A\n"),
    ],
)
def test_what_decides(old: str, new: str) -> None:
    after = BEFORE.replace(old, new)
    assert after != BEFORE
    assert decides(PENDING, BEFORE.encode(), after.encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("r-002 |", "r-003 |"),
        ("[>] `r-002.3`", "[ ] `r-002.3`"),
        ("- [>] `r-002.3` fact: Three\n", ""),
        ("- [ ] `r-002.4` fact: Four\n", "- [ ] `r-003.1` fact: Five\n"),
        ("Four", "4"),
        ("## A", "## B\nSome words.\n"),
        ("\n", "\r\n"),
    ],
)
def test_what_a_new_proposal_may_do(old: str, new: str) -> None:
    assert not decides(PENDING, BEFORE.encode(), BEFORE.replace(old, new).encode())


def test_a_proposal_comes_and_goes_as_long_as_nothing_in_it_is_decided() -> None:
    fresh = BEFORE.replace("[x]", "[ ]").replace("[-]", "[ ]").replace("[>]", "[ ]").encode()
    assert not decides(PENDING, None, fresh)
    assert not decides(PENDING, fresh, None)
    assert decides(PENDING, None, BEFORE.encode())
    assert decides(PENDING, BEFORE.encode(), None)
    assert not decides(PENDING, BEFORE.encode(), BEFORE.encode())


@pytest.mark.parametrize("path", [layout.REJECTED, layout.REFLECTION_LOG, layout.EVOLUTION])
def test_every_change_of_the_books_decides(path: str) -> None:
    assert decides(path, b"a\n", b"b\n")
    assert decides(path, None, b"b\n")
    assert decides(path, b"a\n", None)
    assert not decides(path, b"a\n", b"a\n")


@pytest.mark.parametrize(
    "path",
    [
        "memory/meta/Pending-Reflection.md",
        "memory/META/rejected.md",
        "memory/meta/ｒejected.md",
        "memory/meta/PENDING-MEMORIES.md",
    ],
)
def test_a_name_that_some_disks_take_for_the_same_is_no_way_around(path: str) -> None:
    assert layout.is_decided(path)
    assert decides(path, None, b"- [ ] `r-1.1` fact: x\n")


def test_other_files_decide_nothing() -> None:
    for path in ("MEMORY.md", "memory/notes/rejected.md", layout.DECAY_SCORES, layout.PENDING_MEMORIES):
        assert not decides(path, b"a", b"b")


@pytest.mark.parametrize("path", sorted(layout.DECIDED))
def test_by_hand_only_a_person_writes_where_decisions_stand(path: str) -> None:
    require_by_hand(parse_role("person"), path)
    for role in ("main", "agent:scout", "reader"):
        with pytest.raises(RoleRefused, match="by hand"):
            require_by_hand(parse_role(role), path)
        require_by_hand(parse_role(role), "MEMORY.md")


@pytest.mark.parametrize("trailer", [UNDOES, REVERTS, REDOES])
def test_no_agent_takes_back_what_carried_a_decision_out(tmp_path: Path, trailer: str) -> None:
    notebook = Notebook(tmp_path)
    own = notebook.write("MEMORY.md", "one\n")
    decided = notebook.write("MEMORY.md", "two\n", actor="reflection:r-001")
    store = notebook.history.store
    refuse_decisions(store, "bot:main", [], [(trailer, own)])
    with pytest.raises(RoleRefused, match="decision"):
        refuse_decisions(store, "bot:main", [], [(trailer, decided)])
