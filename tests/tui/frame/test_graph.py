"""The Graph: table, drawing and path, the card of an entity with its facts, and what changes them."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.tui.frame.hands import drawn, frame_of, opened, press, said
from tests.tui.seen_workspace import (
    ALONE,
    BELIEVED,
    FERRY,
    INES,
    LEARNED_FROM,
    MEI,
    TIDES,
    TIMETABLE,
    WITHOUT_FILE,
)
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.tui.parts.line import DrawnLines
from workbench.tui.places.graph import GraphPlace

SIZES = [(80, 24), (120, 36), (160, 40), (240, 60)]
HOSTILE = "[red]x[/nope] \x1b[31m\u202e 東京港の潮汐"


def graph_of(pilot: Pilot[None]) -> GraphPlace:
    place = frame_of(pilot).place
    assert isinstance(place, GraphPlace)
    return place


def table(pilot: Pilot[None]) -> list[str]:
    part = graph_of(pilot).list
    width = part.scrollable_content_region.width - 3
    return [plain_text(part.rows.line(at, width)) for at in range(len(part.rows))]


def picture(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in graph_of(pilot).canvas.picture.lines)


def empty(pilot: Pilot[None]) -> str:
    return " ".join(plain_text(line) for line in graph_of(pilot).canvas._empty(100))


def card(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line).rstrip() for line in graph_of(pilot).card.lines)


def heading(pilot: Pilot[None]) -> str:
    head: DrawnLines = graph_of(pilot).head
    return "".join(plain_text(line) for line in head.lines(head.size.width)).strip()


async def go_to(pilot: Pilot[None], entity: str) -> None:
    await press(pilot, "5")
    assert graph_of(pilot).list.go_to(entity)
    frame_of(pilot).read_card()
    await press(pilot)


async def write(pilot: Pilot[None], text: str) -> None:
    await press(pilot, *(character if character != " " else "space" for character in text), "enter")


async def walk_to(pilot: Pilot[None], link: str) -> None:
    """Go down in the card until its cursor is on a fact or relation."""
    part = graph_of(pilot).card
    await press(pilot, "enter")
    for _ in range(len(part.links) + 1):
        await press(pilot, "down")
        if part.link == link:
            return
    raise AssertionError(f"{link} is not reached.")


@pytest.mark.parametrize("size", SIZES)
async def test_the_table_names_everybody_whole_at_every_width(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await press(pilot, "5")
        names = {row.label for row in seen.graph_entities().entities}
        rows = table(pilot)
        assert len(rows) == len(names)
        assert all(any(name in row for row in rows) for name in names)
        assert "links" in heading(pilot)
        assert "entities" in heading(pilot) or size[0] == 80


async def test_v_s_sorts_by_the_next_order_and_says_so(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "5")
        assert "by use" in heading(pilot)
        await press(pilot, "v", "s")
        assert "by links" in heading(pilot)
        assert "Ferry" in table(pilot)[0]
        await press(pilot, "v", "s", "v", "s")
        rows = table(pilot)
        assert "by name" in heading(pilot)
        assert "Barreiro" in rows[0]


async def test_one_walks_the_drawing_goes_into_an_entity_and_comes_back(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go_to(pilot, FERRY)
        await press(pilot, "v", "g")
        place = graph_of(pilot)
        assert frame_of(pilot).focused is place.canvas
        assert place.canvas.chosen == FERRY
        while place.canvas.chosen != INES:
            before = place.canvas.chosen
            await press(pilot, "down")
            assert place.canvas.chosen != before
        assert "Inês Duarte" in card(pilot)
        await press(pilot, "enter")
        assert heading(pilot).startswith("Inês Duarte, person")
        await press(pilot, "[")
        assert heading(pilot).startswith("Ferry, project")
        assert place.canvas.chosen == INES
        await press(pilot, "escape")
        assert frame_of(pilot).focused is place.list
        assert place.cursor_key == FERRY


async def test_a_narrow_screen_draws_the_compact_tree(seen: Workspace) -> None:
    async with opened(seen, (80, 24)) as pilot:
        await go_to(pilot, FERRY)
        await press(pilot, "v", "v")
        assert "├─→ uses ── " in picture(pilot)
        await pilot.resize_terminal(160, 40)
        await press(pilot)
        assert "├─→ uses ── " not in picture(pilot)


async def test_plus_and_minus_follow_more_hops_and_fewer(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go_to(pilot, MEI)
        await press(pilot, "v", "g")
        assert "Tide tables" not in picture(pilot)
        await press(pilot, "+")
        assert "two hops" in heading(pilot)
        assert "Tide tables" in picture(pilot)
        await press(pilot, "-", "-")
        assert said(pilot) == "This is as near as it goes."
        assert "Tide tables" not in picture(pilot)


async def test_the_path_between_two_is_drawn_or_said_not_to_be_there(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go_to(pilot, MEI)
        await press(pilot, "c")
        await write(pilot, "tide t")
        assert heading(pilot).startswith("path from 陈美 to Tide tables")
        assert heading(pilot).endswith("2 steps")
        assert "Timetable" in picture(pilot)
        await press(pilot, "c")
        await write(pilot, "berlenga")
        assert heading(pilot) == "no path from 陈美 to Berlenga"
        assert "No relations join 陈美 and Berlenga, either way" in empty(pilot)
        await press(pilot, "c")
        await write(pilot, "nobody")
        assert said(pilot) == "Nothing is called “nobody”; tab completes."


async def test_two_marked_rows_have_a_path(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "5")
        graph_of(pilot).list.go_to(INES)
        await press(pilot, "space")
        graph_of(pilot).list.go_to(TIMETABLE)
        await press(pilot, "space", "c")
        assert heading(pilot).startswith("path from ")
        assert heading(pilot).endswith(" 2 steps")


@pytest.mark.parametrize("size", SIZES)
async def test_the_card_says_why_of_the_fact_its_cursor_is_on(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size) as pilot:
        await go_to(pilot, FERRY)
        await walk_to(pilot, BELIEVED)
        # The reason stands right below the fact.
        lines = card(pilot).splitlines()
        at = next(at for at, line in enumerate(lines) if "WHY “From today the ferry" in line)
        above = [line for line in lines[:at] if line.lstrip().startswith("· The ")]
        assert "· The ferry sails by the tide" in above[-1]
        told = " ".join(card(pilot).split())
        assert "until 12 Jan: The ferry" in told
        assert "tide tables" in drawn(pilot, "crumbs") or size[0] == 80


async def test_facts_and_relations_stand_beside_one_another_where_there_is_room(seen: Workspace) -> None:
    for size, beside in (((160, 40), True), ((120, 36), False)):
        async with opened(seen, size) as pilot:
            await go_to(pilot, FERRY)
            line = next(line for line in card(pilot).splitlines() if "WHAT IS KNOWN" in line)
            assert ("CONNECTED" in line) == beside


async def test_a_fact_is_retired_and_u_takes_that_back(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, FERRY)
        await walk_to(pilot, BELIEVED)
        await press(pilot, "m", "t")
        assert said(pilot).startswith("Retired “The ferry sails by the tide tables")
        assert said(pilot).endswith("u takes that back.")
        assert next(fact for fact in seen.graph(FERRY).facts if fact.id == BELIEVED).retired
        await press(pilot, "m", "t")
        assert said(pilot) == "This is retired already."
        await press(pilot, "u")
        assert not next(fact for fact in seen.graph(FERRY).facts if fact.id == BELIEVED).retired


async def test_a_fact_is_edited_and_forgotten_where_the_cursor_is(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, FERRY)
        await walk_to(pilot, BELIEVED)
        await press(pilot, "f")
        assert said(pilot).startswith("Archived “The ferry sails by the tide tables")
        assert BELIEVED not in {fact.id for fact in seen.graph(FERRY).facts}


async def test_a_pin_is_the_entitys_wherever_the_cursor_is(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, FERRY)
        await walk_to(pilot, BELIEVED)
        await press(pilot, "p")
        assert said(pilot) == "Pinned “Ferry”. u unpins."


async def test_a_relation_is_followed_and_removed(seen: Workspace) -> None:
    relation = f"{INES}#^rdev"
    async with opened(seen) as pilot:
        await go_to(pilot, FERRY)
        await walk_to(pilot, relation)
        await press(pilot, "m", "k")
        assert said(pilot) == "Removed “Inês Duarte develops Ferry”. u takes that back."
        await press(pilot, "u")
        await walk_to(pilot, relation)
        await press(pilot, "enter")
        assert graph_of(pilot).cursor_key == INES


async def test_two_are_linked_by_words(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, ALONE)
        await press(pilot, "m", "l")
        await write(pilot, "loves")
        assert said(pilot) == "“loves” is no relation of this workspace; tab lists them."
        await press(pilot, *(["backspace"] * 5))
        await write(pilot, "part-of")
        await write(pilot, "Lisbon")
        assert said(pilot) == "Linked “Berlenga” to “Lisbon” (part-of). u unlinks."
        assert any(edge.relation == "part-of" for edge in seen.graph(ALONE).edges)


async def test_an_entity_is_renamed_and_told_more_of(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, ALONE)
        await press(pilot, "m", "n")
        await write(pilot, "s")
        assert said(pilot) == "Renamed “Berlenga” to “Berlengas”. u takes that back."
        await press(pilot, "n")
        await write(pilot, "Puffins live there")
        assert said(pilot) == "Added “Puffins live there” to “Berlengas”. u takes that back."
        assert "Puffins live there" in card(pilot)
        await press(pilot, "m", "N")
        await write(pilot, "Mira")
        assert said(pilot) == "Write a type, a colon and a name, such as person: Mira Okafor."
        await press(pilot, "escape", "m", "N")
        await write(pilot, "person: Mira")
        assert said(pilot) == "Added the person “Mira”. u takes that back."


async def test_a_merge_is_shown_asked_done_and_taken_apart(seen: Workspace) -> None:
    ines = "entity:person--ines"
    async with opened(seen, (160, 40)) as pilot:
        await press(pilot, "5")
        for each in (ines, INES):
            graph_of(pilot).list.go_to(each)
            await press(pilot, "space")
        graph_of(pilot).list.go_to(INES)
        head = seen.head()
        await press(pilot, "m", "m")
        assert "Ines is merged into Inês Duarte" in card(pilot)
        assert "one entity, Inês Duarte, with 3 facts" in card(pilot)
        assert "Merge “Ines” into “Inês Duarte”?" in drawn(pilot, "keys")
        await press(pilot, "escape")
        assert seen.head() == head
        await press(pilot, "m", "m")
        await press(pilot, "enter")
        assert said(pilot) == "Merged “Ines” into “Inês Duarte”. u takes them apart."
        assert "MERGED" in card(pilot)
        await press(pilot, "m", "m")
        assert said(pilot) == "Took “Ines” apart again. u merges them."
        assert seen.graph(ines).center == ines


async def test_the_filter_narrows_table_and_drawing(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go_to(pilot, FERRY)
        await press(pilot, "l")
        await write(pilot, "type:tool,project")
        assert all("tool" in row or "project" in row for row in table(pilot))
        await go_to(pilot, FERRY)
        await press(pilot, "v", "g")
        assert "Radar" in picture(pilot)
        assert "Lisbon" not in picture(pilot)
        await press(pilot, "l", "escape")
        assert "Lisbon" in picture(pilot)
        await press(pilot, "l")
        await write(pilot, "score:>0.9")
        assert len(table(pilot)) == sum(row.score >= 0.9 for row in seen.graph_entities().entities)


async def test_an_entity_that_only_relations_name_has_a_card(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await go_to(pilot, FERRY)
        await press(pilot, "v", "g")
        graph_of(pilot).canvas.choose(WITHOUT_FILE)
        await press(pilot)
        frame_of(pilot).read_card()
        await press(pilot)
        assert "no file of its own" in card(pilot)
        assert "Ferry" in card(pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_hostile_and_wide_names_are_words(seen: Workspace, size: tuple[int, int]) -> None:
    (seen.root / "memory/graph/entities/place--x.md").write_text(
        f"# place--x\n\n<!-- Type: place | Label: {HOSTILE} -->\n\n## Facts\n- It is called {HOSTILE} ^fx01\n\n"
        "## Relations\n- relates-to: [[project--ferry]] ^rx01\n",
        encoding="utf-8",
    )
    seen.adopt()
    async with opened(seen, size) as pilot:
        await go_to(pilot, "entity:place--x")
        assert any("[red]x[/nope]" in row for row in table(pilot))
        assert "\x1b" not in card(pilot)
        assert "\u202e" not in card(pilot)
        await press(pilot, "v", "g")
        assert "[red]x[/nope]" in picture(pilot)
        await press(pilot, "c")
        await write(pilot, "ferry")
        assert "1 step" in heading(pilot)


async def test_a_drawing_whose_middle_is_gone_gives_way_to_the_table(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, ALONE)
        await press(pilot, "v", "g")
        (seen.root / "memory/graph/entities/place--berlenga.md").unlink()
        seen.adopt()
        frame_of(pilot).read_again()
        await press(pilot)
        assert frame_of(pilot).focused is graph_of(pilot).list
        assert "entities" in heading(pilot)


async def test_a_link_from_elsewhere_leads_to_the_row_whatever_was_drawn(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, ALONE)
        await press(pilot, "v", "g", "4")
        frame_of(pilot).go("graph", row=TIDES)
        await press(pilot)
        assert graph_of(pilot).cursor_key == TIDES
        assert frame_of(pilot).focused is graph_of(pilot).main


async def test_what_waits_against_a_fact_is_said_in_words(seen: Workspace) -> None:
    with Workspace.open(seen.root, role="agent:researcher") as agent:
        agent.propose("The timetable changes on the last Sunday of October", entities=["project:Timetable"])
    waiting = seen.proposals().proposals
    against = [each for proposal in waiting for each in proposal.conflicts_with]
    if not against:
        pytest.skip("nothing is found to contradict it")
    async with opened(seen) as pilot:
        await go_to(pilot, TIMETABLE)
        assert "contradicted by researcher, waits in the Inbox" in " ".join(card(pilot).split())


async def test_place_and_row_survive_every_size(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, FERRY)
        await press(pilot, "v", "g", "down", "down")
        chosen = graph_of(pilot).canvas.chosen
        for size in ((240, 60), (109, 30), (80, 24), (60, 20), (40, 10), (120, 36)):
            await pilot.resize_terminal(*size)
            await press(pilot)
            assert graph_of(pilot).canvas.chosen == chosen
            assert frame_of(pilot).focused is graph_of(pilot).canvas


async def test_every_key_says_something_in_the_drawing(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await go_to(pilot, TIDES)
        await press(pilot, "v", "g", "left", "left", "left", "left")
        assert said(pilot) == "There is nothing to the side."
        await press(pilot, "space")
        assert said(pilot) == "Rows are marked in the list; tab goes there."
        await press(pilot, "m", "t")
        assert said(pilot) == "Press enter and go down to a fact or relation first."


async def test_a_fact_that_now_says_otherwise_is_told_as_corrected(seen: Workspace) -> None:
    (seen.root / "memory/graph/entities/place--kiosk.md").write_text(
        "# place--kiosk\n\n<!-- Type: place | Label: Kiosk -->\n\n## Facts\n"
        f"- The kiosk opens at seven (since 2026-01-12, from {LEARNED_FROM}) ^fk01\n",
        encoding="utf-8",
    )
    seen.adopt()
    async with opened(seen, (160, 40)) as pilot:
        await go_to(pilot, "entity:place--kiosk")
        await press(pilot, "enter", "down", "e", "ctrl+a", *"The kiosk opens at nine", "enter")
        wanted = "Corrected “The kiosk opens at seven” to “The kiosk opens at nine”."
        assert said(pilot) == f"{wanted} u takes that back."
        # History calls it the same.
        assert seen.actions(1).actions[0].summary.startswith("corrected “The kiosk opens at seven” to “")
        await press(pilot, "e", "end", *" sharp", "enter")
        assert said(pilot) == "Reworded “The kiosk opens at nine”. u takes that back."
