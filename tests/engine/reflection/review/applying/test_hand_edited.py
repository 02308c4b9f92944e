"""Proposals that people edited by hand: nonsense waits with a sentence, and nothing of it is lost."""

from __future__ import annotations

import pytest

from tests.engine.reflection.review.applying.desk import BACKUPS, ROBIN, WHY, Desk
from workbench.engine import layout
from workbench.engine.errors import DocumentError
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.reflection import items

HEAD = "# Reflection Summary\n\n<!-- reflection: r-012 | created: 2026-02-02T12:00:00Z -->\n\n## Mine\n"

NONSENSE = {
    "`r-012.1` wish for [[person--robin]]: Fly": "“wish” is no kind of change.",
    "`r-012.1` fact: Robin sails": "It does not say what it is for.",
    "`r-012.1` fact for `nobody`: Sails": "“nobody” is not the id of a memory.",
    "`r-012.1` fact for `episode:2026-02-01:09:15`: Sails": "is no entity.",
    "`r-012.1` fact for [[person--robin]]:": "It has no text.",
    "`r-012.1` fact for [[person--robin]]: Sails\n  - was: Rows": "It rewords a fact but does not say which.",
    "`r-012.1` fact for [[person--robin]]: Sails\n  - since: soon": "“soon” is no date.",
    "`r-012.1` fact for [[person--robin]]: Sails\n  - since: 2026-02-30": "“2026-02-30” is no date.",
    "`r-012.1` fact for `entity:person--robin#^`: Sails\n  - was: x": "It rewords a fact but does not say which.",
    "`r-012.1` fact for `entity:person--robin#^nope`: Sails\n  - was: x": "There is no fact",
    "`r-012.1` entity for [[person--robin]]: Robin": "This entity exists already.",
    "`r-012.1` entity for [[Dragon--smaug]]: Smaug": "“Dragon” is no type of entity.",
    "`r-012.1` entity for [[person--Big Bird]]: Big": "Write it as [[person--big-bird]].",
    "`r-012.1` entity for `entity:person--x#^a`: X": "A fact’s id is given where an entity’s is needed.",
    "`r-012.1` relation for [[person--robin]]: likes harbour": "“likes harbour” is no relation.",
    "`r-012.1` relation for [[person--robin]]: develops [[harbour]]": "is not the id of a memory",
    "`r-012.1` relation for [[person--robin]]: uses [[person--robin]]": "cannot be related to itself",
    "`r-012.1` merge for [[person--robin]]: the same": "which entity goes into the other",
    "`r-012.1` merge for [[person--robin]]: [[person--robin]]": "are one entity already",
    "`r-012.1` supersession for [[person--robin]]: Sails": "It does not say what was so before.",
    "`r-012.1` supersession for [[person--robin]]: Sails\n  - was: Sails.": "say the same",
    "`r-012.1` contradiction for [[person--robin]]: ?\n  - resolve: me": "“me” does not resolve it.",
    "`r-012.1` contradiction for [[person--robin]]: ?\n  - resolve: this": "nothing under “this”",
    "`r-012.1` contradiction for [[person--robin]]: ?\n  - this: a\n  - resolve: both": "nothing under “that”",
    "`r-012.1` archive for `episode:2020-01-01:00:00`: Gone": "There is no memory episode:2020-01-01:00:00.",
    "`r-012.1` archive for `file:memory/2026-01-30.md#L3-L3`: Tram": "Free text has no score",
    "`r-012.1` restore for `episode:2026-02-01:09:15`: Backups": "None of these is archived.",
    "`r-012.1` vault pin for `file:memory/2026-01-30.md`: Log": "have no score",
    "`r-012.1` procedure for [[person--robin]]: Sail\n  - steps: 1. a": "It does not name a procedure.",
    "`r-012.1` procedure for `procedure:sail`: Sail": "There are no steps.",
    "`r-012.1` procedure for `procedure:../sail`: Sail\n  - steps: 1. a": "is not the id of a memory",
    "`r-012.1` procedure for `procedure:To Sail`: Sail\n  - steps: 1. a": "Write `procedure:to-sail`.",
    "`r-012.1` core change for `core:garden`: Roses": "Core memory has no block “garden”.",
    "`r-012.1` core change for `core:identity:nope`: X": "Core memory has no item",
    "`r-012.1` core change for [[person--robin]]: X": "is no item of core memory",
    "`r-012.1` demotion for `core:identity`: out": "is not the id of a memory",
    "`r-012.1` insight for `wisdom`: X": "It names no section of evolution.md.",
    "`r-012.1` insight: X": "It names no section of evolution.md.",
    "`r-012.1` question for `nobody`: When?\n  - answer: Now": "“nobody” is not the id of a memory.",
    "`r-012.1` question for [[person--nobody]]: When?\n  - answer: Now": "There is no entity",
    "`12` fact for [[person--robin]]: Sails": "This is no number of an item.",
}


@pytest.mark.parametrize("line", NONSENSE)
def test_what_makes_no_sense_waits_and_says_why(desk: Desk, line: str) -> None:
    good = "- [x] `r-012.9` insight for `evolution:Insights`: Both.\n"
    desk.write(layout.PENDING_REFLECTION, f"{HEAD}- [x] {line}\n{good}")
    item_id = line.split("`")[1]
    before = desk.memory()
    applied = desk.apply()
    assert applied.applied == ("r-012.9",)
    assert NONSENSE[line] in applied.waiting[item_id]
    assert desk.text(layout.PENDING_REFLECTION).endswith(f"- [x] {line}\n")
    changed = {path for path, content in desk.memory().items() if before.get(path) != content}
    assert changed == {layout.EVOLUTION}


def test_an_item_written_by_hand_is_applied(desk: Desk) -> None:
    desk.write(
        layout.PENDING_REFLECTION,
        HEAD + "* [X] `r-012.1` Fact for [[person--robin]]: Robin sails\n\n  Whenever there is wind.\n",
    )
    assert desk.apply().applied == ("r-012.1",)
    assert "- Robin sails" in desk.text(ROBIN)


def test_a_mistyped_tick_is_told_where_the_rest_is_applied(desk: Desk) -> None:
    good = "- [x] `r-012.9` insight for `evolution:Insights`: Both.\n"
    desk.write(
        layout.PENDING_REFLECTION, f"{HEAD}{good}\n-[x] `r-012.1` fact for [[person--robin]]: Robin sails\n"
    )
    applied = desk.apply()
    assert applied.applied == ("r-012.9",)
    (warning,) = applied.warnings
    assert "r-012.1 is not read as an item" in warning


def test_numbers_of_steps_may_be_wrong_or_missing(desk: Desk) -> None:
    desk.write(
        layout.PENDING_REFLECTION,
        HEAD
        + "- [x] `r-012.1` procedure for `procedure:sail`: Sail\n  - steps:\n    - Cast off\n    - Hoist\n"
        "- [x] `r-012.2` procedure for `procedure:row`: Row\n  - steps: 3) Sit\n    down\n    7. Pull\n",
    )
    assert desk.apply().waiting == {}
    assert "1. Cast off\n2. Hoist\n" in desk.text("memory/procedures/sail.md")
    assert "1. Sit down\n2. Pull\n" in desk.text("memory/procedures/row.md")


def test_rejected_items_may_say_anything(desk: Desk) -> None:
    desk.write(
        layout.PENDING_REFLECTION, HEAD + "- [-] `12 | x` wish for `nobody`: Fly\n- [-] `r-012.2` fact: \n"
    )
    applied = desk.apply()
    assert applied.rejected == ("12 | x", "r-012.2")
    assert not (desk.root / layout.PENDING_REFLECTION).exists()
    assert ("Item", "r-012.2 rejected") in desk.commit_of(applied.commit).trailers


def test_an_item_that_was_deleted_is_simply_gone(desk: Desk) -> None:
    desk.propose(*(items.insight("Insights", text, (BACKUPS,), reason=WHY) for text in ("One", "Two")))
    desk.write(layout.PENDING_REFLECTION, desk.pending.remove(["r-012.2"]).render())
    applied = desk.approve_all()
    assert (applied.applied, applied.outcome) == (("r-012.1",), "approved")


def test_a_file_in_which_somebody_s_own_lines_are_left_is_kept(desk: Desk) -> None:
    desk.write(
        layout.PENDING_REFLECTION,
        HEAD + "- [x] `r-012.1` insight for `evolution:Insights`: Both.\n- [ ] and a thought of mine\n",
    )
    assert desk.apply().applied == ("r-012.1",)
    assert desk.text(layout.PENDING_REFLECTION).endswith("## Mine\n- [ ] and a thought of mine\n")


def test_a_lost_header_is_told_from_the_numbers_of_the_items(desk: Desk) -> None:
    desk.write(
        layout.PENDING_REFLECTION, "## Mine\n- [x] `r-007.1` insight for `evolution:Insights`: Both.\n"
    )
    applied = desk.apply()
    assert applied.reflection == "r-007"
    assert desk.commit_of(applied.commit).actor == "reflection:r-007"


def test_a_proposal_that_does_not_say_what_it_is_of_is_refused(desk: Desk) -> None:
    desk.write(layout.PENDING_REFLECTION, "## Mine\n- [x] `x` insight for `evolution:Insights`: Both.\n")
    with pytest.raises(DocumentError, match="which reflection"):
        desk.apply()


def test_the_second_of_two_items_with_one_number_does_not_count(desk: Desk) -> None:
    line = "- [{}] `r-012.1` fact for [[person--robin]]: {}\n"
    desk.write(layout.PENDING_REFLECTION, HEAD + line.format("x", "Sails") + line.format("x", "Rows"))
    assert desk.apply().applied == ("r-012.1",)
    file = EntityFile.parse((desk.root / ROBIN).read_bytes(), ROBIN)
    assert [fact.text for fact in file.facts][2:] == ["Sails"]
    assert "Rows" in desk.text(layout.PENDING_REFLECTION)


def test_windows_line_ends_stay(desk: Desk) -> None:
    text = HEAD + (
        "- [x] `r-012.1` insight for `evolution:Insights`: Both.\n- [ ] `r-012.2` insight for `evolution:X`: Y.\n"
    )
    desk.write(layout.PENDING_REFLECTION, text.replace("\n", "\r\n"))
    assert desk.apply().applied == ("r-012.1",)
    left = (desk.root / layout.PENDING_REFLECTION).read_bytes()
    assert left.count(b"\n") == left.count(b"\r\n") > 0
