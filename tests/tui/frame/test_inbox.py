"""The Inbox on real workspaces: one way of ticking, one key that writes, and an undo that brings everything back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui.frame.hands import drawn, frame_of, opened, press, said
from tests.tui.held_workspace import ANTHROPIC, TOKEN, held
from tests.tui.proposed_workspace import CALL, MAY_2, MAY_16, RADAR, TEA, asked, asked_template
from tests.tui.seen_workspace import FERRY, INES, open_seen
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine import FixedClock, Workspace, layout
from workbench.engine.results.inbox import ProposalTick, SecretTick
from workbench.engine.sync.conflicts import ConflictFile, ConflictRecord, Version
from workbench.tui.parts.line import DrawnLines
from workbench.tui.places.inbox import InboxPlace

__all__ = ["asked", "asked_template", "held"]

SIZES = [(80, 24), (120, 36), (160, 40), (240, 60)]
OLD_RADAR = "entity:tool--radar#^ffur"
REFLECTION = """# Reflection Summary — 2026-02-02

<!-- reflection: r-001 | created: 2026-02-02T03:00:00+00:00 -->

## 🧠 New knowledge extracted
- [ ] `r-001.1` fact for [[person--ines-duarte]]: Inês Duarte sings on the bridge (confidence high)
  - because: said so
  - episode:2026-01-14:18:00 says "Inês was proud of the first full week"
- [ ] `r-001.2` fact for [[person--ines-duarte]]: Inês Duarte dislikes fog
- [ ] `r-001.3` question: Who pays for the second radar?
  - answer: …

## ✏️ Core memory changes
- [ ] `r-001.4` core change for `core:active-context`: Printing the summer timetable

## ⚠️ Contradictions detected
- [ ] `r-001.5` contradiction for [[project--ferry]]: Does the ferry sail at night?
  - this: The ferry sails at night
  - that: The ferry does not sail at night
  - resolve: ask
"""
BY_ID = dict(
    zip(("sings", "fog", "question", "core", "night"), (f"r-001.{at}" for at in range(1, 6)), strict=True)
)


OF_CHANGES = ("CORE MEMORY", "NEW OR CHANGED")


def inbox_of(pilot: Pilot[None]) -> InboxPlace:
    place = frame_of(pilot).place
    assert isinstance(place, InboxPlace)
    return place


def listed(pilot: Pilot[None], width: int = 100) -> list[str]:
    rows = inbox_of(pilot).list.rows
    return [plain_text(rows.line(at, width)).rstrip() for at in range(len(rows))]


def card(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in inbox_of(pilot).card.lines)


def reflect(workspace: Workspace) -> None:
    """Lay a reflection before the person."""
    workspace.edit_file(layout.PENDING_REFLECTION, REFLECTION)


def painted(pilot: Pilot[None]) -> str:
    """Return what a person sees, which is not what would be drawn now where nobody asked for it."""
    return pilot.app.export_screenshot().replace("&#160;", " ")


async def to_row(pilot: Pilot[None], key: str) -> None:
    assert inbox_of(pilot).reveal(key), key
    await settle(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_everything_that_waits_is_listed_once_and_counted(
    asked: Workspace, size: tuple[int, int]
) -> None:
    reflect(asked)
    with open_seen(asked.root, FixedClock(asked.now()), "main") as agent:
        agent.remember("The password of the guest Wi-Fi is gull-and-tern-7", store="vault")
    async with opened(asked, size) as pilot:
        await press(pilot, "2")
        rows = listed(pilot)
        waiting = [row for row in rows if row.startswith("[ ]")]
        assert len(waiting) == asked.inbox_waiting() == 5 + 5 + 1
        assert plain_text(inbox_of(pilot).head.lines(100)[0]).strip().startswith("11 wait · 0 ticked")
        shown = drawn(pilot, "rail" if size[0] >= 110 else "line-of-places")
        assert "11" in shown
        headings = [row for row in rows if row.isupper()]
        assert headings == ["CANNOT BOTH BE TRUE", "HELD BACK", "QUESTIONS FOR YOU", *OF_CHANGES]
        assert any(row.startswith("[ ] The summer season starts on May 2 or 16?") for row in rows)
        for line in inbox_of(pilot).card.lines:
            assert len(plain_text(line)) <= size[0]


async def test_a_key_ticks_and_the_same_key_takes_the_tick_away(asked: Workspace) -> None:
    async with opened(asked) as pilot:
        await press(pilot, "2")
        head = asked.head()
        await to_row(pilot, f"proposal:{TEA}")
        await press(pilot, "d")
        assert said(pilot) == (
            "Will decline “Inês Duarte prefers tea from São Miguel”. w writes it; u takes the tick away."
        )
        assert asked.inbox().proposal_ticks == {TEA: ProposalTick("decline")}
        assert inbox_of(pilot).cursor_key == f"proposal:{CALL}"
        assert any(row.startswith("[✗] Inês Duarte prefers tea") for row in listed(pilot))
        await to_row(pilot, f"proposal:{TEA}")
        await press(pilot, "d")
        assert said(pilot).startswith("Took the tick away")
        assert not asked.inbox().proposal_ticks
        await to_row(pilot, f"proposal:{TEA}")
        await press(pilot, "d", "w", "escape", "u")
        assert not asked.inbox().proposal_ticks
        assert asked.head() == head


async def test_two_statements_are_decided_with_one_key_whichever_row_is_older(asked: Workspace) -> None:
    async with opened(asked) as pilot:
        await press(pilot, "2")
        await to_row(pilot, f"proposal:{RADAR}")
        assert "keep 1998: the newer is declined" in card(pilot)
        assert "take 2004: the older is kept as what held until today" in " ".join(card(pilot).split())
        await press(pilot, "a")
        assert said(pilot) == "Say which holds: < the older, > the newer, = both."
        await press(pilot, ">")
        assert asked.inbox().proposal_ticks[RADAR] == ProposalTick("accept", (OLD_RADAR,))
        radar = next(each for each in asked.proposals().proposals if each.number == RADAR)
        assert said(pilot).startswith(f"Will take the newer: “{radar.content}”.")
        await to_row(pilot, f"proposal:{MAY_2}")
        await press(pilot, "<")
        assert said(pilot).startswith("Will keep the older: “The summer season starts on May 2”.")
        ticks = asked.inbox().proposal_ticks
        assert (ticks[MAY_2].choice, ticks[MAY_16].choice) == ("accept", "decline")
        await to_row(pilot, f"proposal:{TEA}")
        await press(pilot, "<")
        assert said(pilot) == "Only two contradicting statements are decided with < > =."


async def test_each_side_of_a_contradiction_opens_its_evidence(seen: Workspace) -> None:
    sources = [each.id for each in seen.timeline(limit=2).entries]
    against = "  - that: The ferry does not sail at night\n"
    evidence = "".join(f'  - {each} says "night"\n' for each in sources)
    seen.edit_file(layout.PENDING_REFLECTION, REFLECTION.replace(against, against + evidence))
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, BY_ID["night"])
        seen_of = []
        for _ in range(3):
            await press(pilot, "o")
            shown = inbox_of(pilot).evidence.evidence
            assert shown is not None
            seen_of.append(shown.link)
        assert seen_of == [*sources, sources[0]]


async def test_what_is_ticked_is_previewed_written_and_taken_back_whole(asked: Workspace) -> None:
    reflect(asked)
    async with opened(asked) as pilot:
        await press(pilot, "2")
        for row, key in (
            (f"proposal:{RADAR}", ">"),
            (BY_ID["night"], "="),
            (BY_ID["sings"], "a"),
            (BY_ID["fog"], "d"),
            (BY_ID["core"], "a"),
            (f"proposal:{CALL}", "s"),
        ):
            await to_row(pilot, row)
            await press(pilot, key)
        before, ticks = asked.head(), asked.inbox().proposal_ticks
        await press(pilot, "w")
        shown = " ".join(card(pilot).split())
        assert "enter write 6: 4 accepted, 1 declined, 1 set aside   esc leave it" in drawn(pilot, "keys")
        assert "+ Inês Duarte sings on the bridge" in shown
        assert "± The radar is a Furuno of 1998 · held until today" in shown
        assert "+ Printing the summer timetable" in shown
        assert "tokens" in shown
        assert "“Inês Duarte dislikes fog”" in shown
        assert asked.head() == before
        await press(pilot, "escape")
        assert said(pilot) == "Left as it was."
        assert "WHAT WILL BE WRITTEN" not in card(pilot)
        await press(pilot, "w", "enter")
        assert said(pilot) == "Wrote 6: 4 accepted, 1 declined, 1 set aside. u takes all of it back."
        assert "“Inês Duarte sings on the bridge”" in card(pilot)
        assert asked.show(OLD_RADAR).retired
        assert asked.inbox_waiting() == 4
        assert any("SET ASIDE" in row for row in listed(pilot))
        # What was written with one key is taken back with one, unasked, and every tick is there again.
        await press(pilot, "u")
        assert said(pilot).startswith(
            "Took back: wrote 6 decisions: 4 accepted, 1 declined, 1 set aside (yours, "
        )
        assert not asked.show(OLD_RADAR).retired
        assert asked.inbox().proposal_ticks == ticks
        decisions = {item.id: item.decision for item in asked.inbox().review.items}
        assert decisions[BY_ID["sings"]] == "approved"
        assert decisions[BY_ID["fog"]] == "rejected"


async def test_undo_takes_back_a_tick_that_no_commit_holds(asked: Workspace) -> None:
    async with opened(asked) as pilot:
        await press(pilot, "2")
        await to_row(pilot, f"proposal:{CALL}")
        await press(pilot, "a")
        assert asked.inbox().proposal_ticks[CALL].choice == "accept"
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ticked “")
        assert ": accepted (yours, " in said(pilot)
        assert CALL not in asked.inbox().proposal_ticks


async def test_ticks_are_one_row_of_history_and_each_is_undone_unasked(seen: Workspace) -> None:
    reflect(seen)
    done = seen.action_count()
    async with opened(seen) as pilot:
        await press(pilot, "2")
        for name in ("sings", "fog"):
            await to_row(pilot, BY_ID[name])
            await press(pilot, "a")
        assert seen.action_count() == done + 1
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ticked “Inês Duarte dislikes fog")
        assert [item.decision for item in seen.inbox().review.items].count("approved") == 1
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ticked “Inês Duarte sings")
        assert {item.decision for item in seen.inbox().review.items} == {"undecided"}
        await press(pilot, "U", "U")
        assert [item.decision for item in seen.inbox().review.items].count("approved") == 2


async def test_one_key_on_many_contradictions_is_one_step(seen: Workspace) -> None:
    more = "".join(
        f"- [ ] `r-001.{at}` contradiction for [[project--ferry]]: Does boat {at} sail at night?\n"
        f"  - this: Boat {at} sails at night\n  - that: Boat {at} does not\n  - resolve: ask\n"
        for at in range(6, 10)
    )
    seen.edit_file(layout.PENDING_REFLECTION, REFLECTION + more)
    async with opened(seen) as pilot:
        await press(pilot, "2")
        for at in range(5, 10):
            await to_row(pilot, f"r-001.{at}")
            await press(pilot, "space")
        await press(pilot, "<")
        clashes = [item for item in seen.inbox().review.items if item.kind == "contradiction"]
        assert [item.decision for item in clashes] == ["approved"] * 5
        assert {(item.fields or {})["resolve"] for item in clashes} == {"this"}
        await press(pilot, "u")
        clashes = [item for item in seen.inbox().review.items if item.kind == "contradiction"]
        assert [item.decision for item in clashes] == ["undecided"] * 5
        assert {(item.fields or {})["resolve"] for item in clashes} == {"ask"}


async def test_one_key_on_rows_of_several_kinds_is_one_step(asked: Workspace) -> None:
    reflect(asked)
    async with opened(asked) as pilot:
        await press(pilot, "2")
        for key in (BY_ID["sings"], BY_ID["fog"], f"proposal:{CALL}"):
            await to_row(pilot, key)
            await press(pilot, "space")
        await press(pilot, "d")
        assert [asked.inbox().review.items[at].decision for at in (0, 1)] == ["rejected"] * 2
        assert asked.inbox().proposal_ticks[CALL].choice == "decline"
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ticked 2 changes of a reflection: declined and 1 more (")
        assert {item.decision for item in asked.inbox().review.items} == {"undecided"}
        assert CALL not in asked.inbox().proposal_ticks


async def test_the_count_above_is_that_of_the_rows_after_undo(seen: Workspace) -> None:
    reflect(seen)
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, BY_ID["sings"])
        await press(pilot, "a")
        assert "1 ticked" in painted(pilot)
        await press(pilot, "u")
        assert "0 ticked" in painted(pilot)


async def test_what_a_change_needs_is_ticked_with_it(seen: Workspace) -> None:
    new = "- [ ] `r-001.6` entity for [[person--rui]]: Rui\n- [ ] `r-001.7` fact for [[person--rui]]: Rui steers\n"
    seen.edit_file(
        layout.PENDING_REFLECTION, REFLECTION.replace("\n## ✏️", f"{new}  - needs: r-001.6\n\n## ✏️")
    )
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, "r-001.7")
        assert "Accepting it also accepts one more row of the Inbox, which it needs." in " ".join(
            card(pilot).split()
        )
        await press(pilot, "a")
        assert said(pilot).endswith("With it goes what it needs: “Rui”.")
        assert "2 ticked" in painted(pilot)
        await press(pilot, "u")
        assert {item.decision for item in seen.inbox().review.items} == {"undecided"}


async def test_declining_an_entity_says_what_needs_it_and_a_later_accepted_fact_brings_it_back(
    seen: Workspace,
) -> None:
    new = "- [ ] `r-001.6` entity for [[person--rui]]: Rui\n- [ ] `r-001.7` fact for [[person--rui]]: Rui steers\n"
    seen.edit_file(
        layout.PENDING_REFLECTION, REFLECTION.replace("\n## ✏️", f"{new}  - needs: r-001.6\n\n## ✏️")
    )
    told = "1 change that needs it still waits; accepting it accepts “Rui” after all."
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, "r-001.6")
        await press(pilot, "d")
        assert said(pilot).endswith(told)
        await press(pilot, "w")
        assert told in " ".join(card(pilot).split())
        await press(pilot, "enter")
        await press(pilot, "escape")
        await to_row(pilot, "r-001.7")
        await press(pilot, "a", "w", "enter")
        assert "Rui steers" in seen.show("entity:person--rui", history=False).text


async def test_a_reflection_written_here_is_taken_back_unasked(seen: Workspace) -> None:
    reflect(seen)
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, BY_ID["sings"])
        await press(pilot, "a", "w", "enter")
        await press(pilot, "u")
        assert said(pilot).startswith("Took back: ")
        assert "sings" not in seen.show(INES, history=False).text


async def test_w_elsewhere_opens_the_preview_and_says_where_nothing_is_ticked(asked: Workspace) -> None:
    async with opened(asked) as pilot:
        await press(pilot, "w")
        assert said(pilot) == "Nothing is ticked."
        asked.inbox_tick_proposals({TEA: ProposalTick("accept")})
        await press(pilot, "w")
        assert drawn(pilot, "crumbs").strip().startswith("Inbox ▸ Write")
        assert "WHAT WILL BE WRITTEN" in card(pilot)


async def test_keys_typed_at_once_tick_row_after_row(asked: Workspace) -> None:
    async with opened(asked) as pilot:
        await press(pilot, "2")
        await to_row(pilot, "proposal:1")
        await press(pilot, "a", "a", "a")
        assert set(asked.inbox().proposal_ticks) == {1, TEA, CALL}
        await press(pilot, "P", "N")
        assert inbox_of(pilot).cursor_key.startswith("proposal:")


async def test_a_group_is_ticked_and_what_cannot_be_is_left(seen: Workspace) -> None:
    reflect(seen)
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, BY_ID["question"])
        await press(pilot, "m", "a")
        assert said(pilot).startswith("A question is accepted with its answer")
        await press(pilot, "space")
        await to_row(pilot, BY_ID["fog"])
        await press(pilot, "space", "a")
        assert "1 left for you: A question is accepted with its answer" in said(pilot)
        await to_row(pilot, BY_ID["fog"])
        await press(pilot, "a")
        assert said(pilot).startswith("Took the tick away")
        await to_row(pilot, BY_ID["sings"])
        await press(pilot, "m", "a")
        assert said(pilot).startswith("Will accept 2 rows.")
        decisions = {item.id: item.decision for item in seen.inbox().review.items}
        assert decisions == {
            BY_ID["sings"]: "approved",
            BY_ID["fog"]: "approved",
            BY_ID["core"]: "undecided",
            BY_ID["question"]: "undecided",
            BY_ID["night"]: "undecided",
        }


async def test_the_mouse_ticks_writes_and_answers(seen: Workspace) -> None:
    reflect(seen)
    async with opened(seen) as pilot:
        await press(pilot, "2")

        async def click(part: str, words: str) -> None:
            """Click on words in a line of keys or of the question."""
            at = drawn(pilot, part).splitlines()[-1].index(words)
            await pilot.click(f"#{part}", offset=(at, 0))
            await settle(pilot)

        list_ = inbox_of(pilot).list
        row = list_.rows.find(BY_ID["sings"])
        assert row is not None
        # On its title a click moves the cursor alone, on its box it accepts.
        for cell, decision in ((12, "undecided"), (3, "approved")):
            await pilot.click(list_, offset=(cell, row - round(list_.scroll_y)))
            await settle(pilot)
            assert {item.id: item.decision for item in seen.inbox().review.items}[BY_ID["sings"]] == decision
        # What a card says of a key, a click on it does.
        await to_row(pilot, BY_ID["night"])
        shown = inbox_of(pilot).card
        y, x = next(
            (at, line.index(">")) for at, line in enumerate(map(plain_text, shown.lines)) if line[:1] == ">"
        )
        shown.scroll_to(y=y, animate=False, force=True)
        await pilot.click(shown, offset=(x + 1, y - round(shown.scroll_y)))
        await settle(pilot)
        night = next(item for item in seen.inbox().review.items if item.id == BY_ID["night"])
        assert night.decision == "approved"
        await press(pilot, "u")
        await to_row(pilot, BY_ID["fog"])
        await click("keys", "decline")
        assert {item.id: item.decision for item in seen.inbox().review.items}[BY_ID["fog"]] == "rejected"
        head = seen.head()
        await click("keys", "write")
        assert "leave it" in drawn(pilot, "keys")
        await click("keys", "leave it")
        assert seen.head() == head
        await click("keys", "write")
        await click("keys", "write 2")
        assert seen.head() != head
        assert len(seen.inbox().review.items) == 3
        await click("keys", "keys")
        assert frame_of(pilot).query_one("#chooser").display


async def test_what_was_declined_of_a_group_stays_declined(seen: Workspace) -> None:
    reflect(seen)
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, BY_ID["fog"])
        await press(pilot, "d")
        await to_row(pilot, BY_ID["sings"])
        await press(pilot, "m", "a")
        assert said(pilot).startswith("Will accept “")
        decisions = {item.id: item.decision for item in seen.inbox().review.items}
        assert (decisions[BY_ID["fog"]], decisions[BY_ID["sings"]]) == ("rejected", "approved")
        await to_row(pilot, BY_ID["sings"])
        await press(pilot, "m", "a")
        decisions = {item.id: item.decision for item in seen.inbox().review.items}
        assert (decisions[BY_ID["fog"]], decisions[BY_ID["sings"]]) == ("rejected", "undecided")


@pytest.mark.parametrize("key", ["e", "a"])
async def test_an_answer_is_written_and_accepts_its_question(seen: Workspace, key: str) -> None:
    reflect(seen)
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, BY_ID["question"])
        assert "a answer" in drawn(pilot, "keys")
        await press(pilot, key)
        below = frame_of(pilot).query_one(".editor-lines", DrawnLines)
        assert "Who pays for the second radar?" in "\n".join(map(plain_text, below.lines(60)))
        await press(pilot, *"Lisbon")
        await press(pilot, "enter")
        assert said(pilot).startswith("Answered “Who pays for the second radar?”")
        item = next(each for each in seen.inbox().review.items if each.id == BY_ID["question"])
        assert item.decision == "approved"
        assert (item.fields or {})["answer"] == "Lisbon"


async def test_what_is_reworded_is_ticked_and_one_undo_takes_back_both(seen: Workspace) -> None:
    reflect(seen)

    def fog() -> tuple[str, str]:
        item = next(each for each in seen.inbox().review.items if each.id == BY_ID["fog"])
        return item.after, item.decision

    before = fog()
    async with opened(seen) as pilot:
        await press(pilot, "2")
        await to_row(pilot, BY_ID["fog"])
        await press(pilot, "e", "end", *" at noon", "enter")
        assert " ".join(said(pilot).split()).startswith("Will accept in your words")
        assert fog() == (f"{before[0]} at noon", "approved")
        # Who is used to accept what was reworded does not lose the tick by that.
        await press(pilot, "a")
        assert said(pilot) == "It is ticked, in your words. w writes it; u takes words and tick back."
        assert fog() == (f"{before[0]} at noon", "approved")
        await press(pilot, "u")
        assert fog() == before
        # Which of two holds is still to be said.
        await to_row(pilot, BY_ID["night"])
        await press(pilot, "e", "end", *" and day", "enter")
        assert said(pilot).startswith("Reworded")
        item = next(each for each in seen.inbox().review.items if each.id == BY_ID["night"])
        assert item.decision == "undecided"


async def test_no_key_takes_words_that_were_changed_since(seen: Workspace) -> None:
    every_ten = "The ferry leaves Barreiro every ten minutes"
    seen.edit_file(
        layout.PENDING_REFLECTION,
        f"""# Reflection Summary — 2026-02-02

<!-- reflection: r-001 | created: 2026-02-02T03:00:00+00:00 -->

## ⚠️ Contradictions detected
- [ ] `r-001.1` contradiction for [[project--ferry]]: Which holds?
  - this: The ferry leaves Barreiro every hour
  - that: The ferry leaves Barreiro every twenty minutes
  - resolve: ask
  - episode:2026-01-12:10:05 says "every hour"
  - {FERRY}#^frun says "The ferry leaves Barreiro every twenty minutes"
""",
    )
    async with opened(seen, place="inbox") as pilot:
        assert "take “twenty minutes”" in card(pilot)
        seen.edit(f"{FERRY}#^frun", every_ten)
        await press(pilot, "1", "2")
        assert "One of the two reads otherwise by now." in card(pilot)
        assert "take" not in card(pilot)
        assert "> newer" not in drawn(pilot, "keys")
        assert "d decline" in drawn(pilot, "keys")
        await press(pilot, "greater_than_sign")
        assert said(pilot) == "One of the two reads otherwise by now; d declines the question."
        await press(pilot, "d")
        await press(pilot, "w", "enter")
        assert seen.show(f"{FERRY}#^frun").text == every_ten


async def test_a_proposal_is_reworded_and_stored_elsewhere(asked: Workspace) -> None:
    async with opened(asked) as pilot:
        await press(pilot, "2")
        await to_row(pilot, f"proposal:{TEA}")
        await press(pilot, "e", "end", *" at four", "enter")
        assert said(pilot).startswith("Will accept in your words")
        await press(pilot, "a")
        assert asked.inbox().proposal_ticks[TEA].text == "Inês Duarte prefers tea from São Miguel at four"
        await to_row(pilot, f"proposal:{CALL}")
        await press(pilot, "m", "s")
        await press(pilot, *"vault", "enter")
        assert asked.inbox().proposal_ticks[CALL] == ProposalTick("accept", store="vault")


async def test_a_secret_is_shown_only_when_asked_and_until_one_moves_on(held: Workspace) -> None:
    async with opened(held) as pilot:
        await press(pilot, "2")
        await to_row(pilot, "held:1")
        assert TOKEN not in card(pilot)
        await press(pilot, "m", "v")
        assert "Show the secret on this screen" in drawn(pilot, "keys")
        assert TOKEN not in card(pilot)
        await press(pilot, "enter")
        assert TOKEN in card(pilot).replace("\n", "")
        await press(pilot, "j")
        await press(pilot, "k")
        assert TOKEN not in card(pilot).replace("\n", "")


async def test_secrets_are_stored_left_out_and_erased_with_the_rest(held: Workspace) -> None:
    async with opened(held) as pilot:
        await press(pilot, "2")
        await to_row(pilot, "held:1")
        await press(pilot, "s")
        assert said(pilot).startswith("A secret cannot be set aside")
        await press(pilot, "m", "x")
        await to_row(pilot, "held:2")
        await press(pilot, "d")
        assert said(pilot).startswith("Will erase “A password")
        await to_row(pilot, "held:4")
        await press(pilot, "a")
        ticks = held.inbox().secret_ticks
        assert ticks == {1: SecretTick("without"), 2: SecretTick("drop"), 4: SecretTick("keep")}
        await press(pilot, "w")
        assert "FOR GOOD" in card(pilot)
        assert "write 3: 2 accepted, 1 secret erased" in drawn(pilot, "keys")
        await press(pilot, "enter")
        assert (
            said(pilot) == "Wrote 3: 2 accepted, 1 secret erased. u takes all of it back but what is erased."
        )
        assert ANTHROPIC in (held.root / "memory/notes.md").read_text()
        assert [each.number for each in held.inbox().held] == [3]
        await press(pilot, "u")
        assert [each.number for each in held.inbox().held] == [1, 3, 4]
        assert held.inbox().secret_ticks == {1: SecretTick("without"), 4: SecretTick("keep")}


async def test_a_past_reflection_is_listed_and_taken_back_whole(seen: Workspace) -> None:
    reflect(seen)
    seen.review_decide({BY_ID["sings"]: "approved", BY_ID["fog"]: "rejected"})
    seen.review_apply()
    async with opened(seen) as pilot:
        await press(pilot, "2")
        assert any(row.endswith("1 accepted, 1 declined") for row in listed(pilot))
        await to_row(pilot, "past:r-001")
        assert "Inês Duarte sings on the bridge" in card(pilot)
        await press(pilot, "r")
        assert "Take back all of the reflection of today (1 change)?" in drawn(pilot, "keys")
        await press(pilot, "enter")
        assert said(pilot) == "Took back all of the reflection of today. u brings it back."
        assert "sings" not in seen.show(INES, history=False).text
        assert any("taken back by you" in row for row in listed(pilot))
        await to_row(pilot, "past:r-001")
        await press(pilot, "r")
        assert said(pilot) == "Reflection of today was taken back already."


async def test_an_empty_inbox_teaches_what_comes_there(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "2")
        inbox = inbox_of(pilot)
        told = " ".join(plain_text(line) for line in inbox.empty())
        assert "Nothing waits for your decision." in told
        assert "⸨bring-back⸩ takes one back whole" in told
        assert "workbench " not in told
        await press(pilot, "N")
        assert said(pilot) == "Everything here is decided."
        await press(pilot, "a")
        assert said(pilot) == "Nothing waits here; 2 is the Inbox."


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        (("p",), "A proposal can be pinned once it is stored."),
        (("f",), "d declines a proposal."),
        (("r",), "This is as it is now; there is nothing to bring back."),
        (("m", "v"), "Only secrets that were held back are shown or left out."),
        (("m", "x"), "Only something held back is stored without its secret."),
        (("=",), "Only two contradicting statements are decided with < > =."),
    ],
)
async def test_no_key_is_silent_on_a_proposal(asked: Workspace, keys: tuple[str, ...], why: str) -> None:
    async with opened(asked) as pilot:
        await press(pilot, "2")
        await to_row(pilot, f"proposal:{CALL}")
        await press(pilot, *keys)
        assert said(pilot) == why


async def test_hostile_words_are_drawn_as_words(asked: Workspace) -> None:
    with open_seen(asked.root, FixedClock(asked.now()), "agent:mallory") as agent:
        agent.propose("[red]stop[/nothing] \x1b[31m \u202e right [link", store="episodic")
    async with opened(asked) as pilot:
        await press(pilot, "2")
        row = next(each for each in listed(pilot) if "stop" in each)
        assert "[red]stop[/nothing]" in row
        assert "\x1b" not in row
        await press(pilot, "G")
        assert "[red]stop[/nothing]" in card(pilot)


async def test_a_damaged_file_of_what_waits_is_named_and_mended_here(asked: Workspace) -> None:
    reflect(asked)
    asked.edit_file(layout.PENDING_REFLECTION, REFLECTION.replace("- [ ] `r-001.4`", "- [?] `r-001.4`"))
    assert asked.inbox().review.problems
    async with opened(asked) as pilot:
        await press(pilot, "2", "g", "g")
        assert inbox_of(pilot).cursor_key == f"unread:{layout.PENDING_REFLECTION}"
        assert "cannot be read" in " ".join(card(pilot).split())
        assert asked.inbox_waiting() == 5 + 5
        await press(pilot, "e")
        area = pilot.app.focused
        assert isinstance(area, TextArea)
        area.text = REFLECTION
        await press(pilot, "ctrl+s")
        assert said(pilot).startswith("Changed memory/meta/pending-reflection.md.")
        assert not asked.inbox().review.problems


async def test_rows_are_filtered_by_whom_they_are_from_and_what_they_are(asked: Workspace) -> None:
    reflect(asked)
    async with opened(asked) as pilot:
        await press(pilot, "2", "l")
        await press(pilot, *"from:planner is:open", "enter")
        rows = [row for row in listed(pilot) if row.startswith("[")]
        assert rows
        assert all("planner" in row for row in rows)


def differ(workspace: Workspace) -> str:
    """Let two devices have changed an item of core memory, and one have deleted a note that the other changed."""
    core = (workspace.root / layout.CORE).read_text()
    line = next(each for each in core.splitlines() if each.startswith("- "))
    note = next(path for path in layout.tracked_files(workspace.root) if path.startswith(layout.VAULT))
    text = (workspace.root / note).read_text()
    desk, lap = (FixedClock(workspace.now()).now() - timedelta(days=days) for days in (2, 1))
    records = (
        ConflictRecord(
            "c-1", layout.CORE, line, "- Before", Version(line, "desk", desk), Version("- [b]Lap", "lap", lap)
        ),
        ConflictRecord("c-2", note, "", "x", Version(text, "lap", lap), Version(None, "desk", desk)),
    )
    found = ConflictFile({each.id: each for each in records}, {})
    (workspace.root / layout.CONFLICTS).write_bytes(found.render())
    return line


@pytest.mark.parametrize("size", SIZES)
async def test_what_two_devices_changed_is_decided_like_a_contradiction(
    asked: Workspace, size: tuple[int, int]
) -> None:
    line = differ(asked)
    async with opened(asked, size) as pilot:
        await press(pilot, "2")
        assert "CHANGED ON TWO DEVICES" in listed(pilot)
        await to_row(pilot, "conflict:c-1")
        shown = card(pilot)
        assert "[b]Lap" in shown
        assert "desk" in shown
        assert "before either knew of the other" in " ".join(shown.split())
        await press(pilot, "a")
        assert said(pilot).startswith("Say which holds")
        await press(pilot, "greater_than_sign")
        assert asked.inbox().conflict_ticks == {"c-1": "that"}
        await to_row(pilot, "conflict:c-2")
        await press(pilot, "equals_sign")
        assert said(pilot).startswith("Both do not fit here")
        await press(pilot, "s")
        assert said(pilot).startswith("This waits until")
        await press(pilot, "w", "enter")
        assert "- [b]Lap" in (asked.root / layout.CORE).read_text().splitlines()
        assert line not in (asked.root / layout.CORE).read_text().splitlines()
        assert [each.id for each in asked.conflicts().conflicts] == ["c-2"]
        await press(pilot, "u")
        assert line in (asked.root / layout.CORE).read_text().splitlines()
        assert len(asked.conflicts().conflicts) == 2
