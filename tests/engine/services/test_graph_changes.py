"""Changing the graph by hand through the door: entities, facts, relations, and merges put before a person."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome, failure, graph_index, whole_graph_index
from tests.engine.services.callings import FACT, HARBOUR, PROPOSAL, RELATION, ROBIN
from workbench.engine import Workspace, layout
from workbench.engine.errors import DocumentError, InvalidInput, NotFound, Refused, RoleRefused, Stale
from workbench.engine.results.reviews import ReviewItem

ENTITY = "memory/graph/entities/{}.md"
ROBINS = ENTITY.format("person--robin")


def facts(workspace: Workspace, entity: str = "Robin") -> dict[str, bool]:
    """Return the facts of an entity, and whether they are retired."""
    return {fact.text: fact.retired for fact in workspace.graph(entity).facts}


def one_item(workspace: Workspace, item_id: str) -> ReviewItem:
    return next(item for item in workspace.review().items if item.id == item_id)


class TestEntities:
    def test_an_entity_is_made_with_its_name(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            made = workspace.graph_add("place", "Visby")
            assert made.ids == ("entity:place--visby",)
            assert made.warnings == ()
            assert "Label: Visby" in settled.text(ENTITY.format("place--visby"))
            (node,) = workspace.graph("Visby").nodes
            assert (node.type, node.label, node.known) == ("place", "Visby", True)
            assert graph_index(workspace) == whole_graph_index(workspace)
            workspace.undo()
            assert settled.tracked() == before

    @pytest.mark.parametrize(("type_", "id_"), [("Board Game", "board-game--catan"), ("人", "人--catan")])
    def test_a_type_may_be_another_word(self, settled: AgentHome, type_: str, id_: str) -> None:
        with settled.open() as workspace:
            assert workspace.graph_add(type_, "Catan").ids == (f"entity:{id_}",)
            assert workspace.graph(id_).nodes[0].type == id_.partition("--")[0]
            workspace.graph_add_fact("Catan", "Is played on Fridays")
            workspace.graph_link("Robin", "uses", "Catan")
            assert f"entity:{id_}" in {node.id for node in workspace.graph("Robin").nodes}

    @pytest.mark.parametrize(
        ("type_", "name"),
        [
            ("person", "robin"), ("PERSON", " RÓBIN "), ("person", ""), ("person", "]]"), ("", "Kim"),
            ("--", "Kim"), ("42", "Kim"), ("x" * 41, "Kim"), ("person", "x" * 121),
        ],
    )  # fmt: skip
    def test_doubles_and_nonsense_are_refused(self, settled: AgentHome, type_: str, name: str) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            with pytest.raises(InvalidInput):
                workspace.graph_add(type_, name)
            assert settled.tracked() == before

    def test_an_alias_is_a_name_as_well(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            workspace.graph_rename("Robin", "Robin Ek")
            with pytest.raises(InvalidInput) as caught:
                workspace.graph_add("person", "Robin")
            assert "person--robin" in caught.value.message

    def test_near_names_and_namesakes_are_told(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            near = workspace.graph_add("project", "Harbor")
            assert any("project--harbour" in warning for warning in near.warnings)
            assert "Is this the same as [[project--harbour]]?" in workspace.graph("Harbor").questions
            (warning,) = workspace.graph_add("place", "Robin").warnings
            assert "person--robin" in warning

    def test_c_and_c_plus_plus_are_two(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            first, second = workspace.graph_add("tool", "C"), workspace.graph_add("tool", "C++")
            assert first.ids != second.ids


class TestFacts:
    def test_a_fact_says_who_said_it_and_when(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            (id_,) = workspace.graph_add_fact("Robin", "Sails at  weekends\n").ids
            fact = next(fact for fact in workspace.graph("Robin").facts if fact.id == id_)
            assert fact.text == "Sails at weekends"
            assert fact.provenance == ("source:user-explicit",)
            assert fact.validity.from_ == "2026-02-02"
            workspace.undo()
            assert settled.tracked() == before

    def test_a_fact_that_stands_already_is_told_and_changes_nothing(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            changed = workspace.graph_add_fact(ROBIN, "drinks tea in the morning.")
            assert (changed.commit, changed.ids) == (None, (FACT,))
            assert FACT in changed.warnings[0]

    def test_what_a_person_rejected_is_told(self, settled: AgentHome) -> None:
        settled.write(
            layout.REJECTED,
            "# Rejected\n\n- `r-001.2` fact for [[person--robin]]: Prefers coffee\n"
            "  - rejected: 2026-01-20T09:00:00+01:00 in r-001\n",
        )
        with settled.open("main") as workspace:
            assert any(
                "rejected" in told for told in workspace.graph_add_fact("Robin", "Prefers coffee").warnings
            )

    def test_a_fact_is_edited_in_place_if_it_still_says_what_one_saw(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            with pytest.raises(Stale):
                workspace.edit(FACT, "Drinks coffee", expected="Drinks water")
            workspace.edit(FACT, "Drinks coffee", expected="Drinks tea in the morning")
            held = "- Drinks coffee (since 2026-02-02, from source:user-explicit) ^tea1\n"
            assert held in settled.text(ROBINS)
            # What its source says was corrected, and stays with that source.
            said = "- Drinks tea in the morning (2026-01-20 to 2026-02-02, from episode:2026-02-01:09:15"
            assert f"{said}, superseded by ^tea1)" in settled.text(ROBINS)

    @pytest.mark.parametrize(("entity", "error"), [("Nobody", NotFound), ("person--nobody", NotFound)])
    def test_there_must_be_an_entity(self, settled: AgentHome, entity: str, error: type[Exception]) -> None:
        with settled.open() as workspace, pytest.raises(error):
            workspace.graph_add_fact(entity, "Is here")


class TestRelations:
    def test_a_relation_is_edited_by_naming_another_end(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            workspace.graph_add("project", "Pier")
            before = settled.tracked()
            with pytest.raises(Stale):
                workspace.edit(RELATION, "uses: [[project--pier]]", expected="develops: [[project--gone]]")
            workspace.edit(RELATION, "uses: [[project--pier]]", expected="develops: [[project--harbour]]")
            line = "- uses: [[project--pier]] (confidence high, since 2026-01-15) ^dev1\n"
            assert line in settled.text(ROBINS)
            assert [edge.to for edge in workspace.graph("Robin").edges] == ["entity:project--pier"]
            assert graph_index(workspace) == whole_graph_index(workspace)
            workspace.undo()
            assert settled.tracked() == before

    @pytest.mark.parametrize(
        "text",
        [
            "Robin develops Harbour", "admires: [[project--harbour]]", "uses: [[project--gone]]",
            "uses: [[person--robin]]", "uses:", "uses: [[project--harbour]], [[project--harbour2]]", "",
        ],
    )  # fmt: skip
    def test_what_is_no_relation_is_refused(self, settled: AgentHome, text: str) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            assert isinstance(failure(lambda: workspace.edit(RELATION, text)), (InvalidInput, NotFound))
            assert settled.tracked() == before


class TestRetiring:
    def test_a_fact_moves_under_superseded_with_today_as_its_end(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            assert workspace.graph_retire(FACT, expected="Drinks tea in the morning").ids == (FACT,)
            line = (
                "## Superseded\n- Drinks tea in the morning (2026-01-20 to 2026-02-02, from "
                "episode:2026-02-01:09:15) ^tea1\n"
            )
            assert line in settled.text(ROBINS)
            assert facts(workspace)["Drinks tea in the morning"]
            with pytest.raises(NotFound):
                workspace.graph_retire(FACT)
            workspace.undo()
            assert settled.tracked() == before

    def test_a_relation_keeps_its_line_and_joins_nothing(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            workspace.graph_retire(RELATION)
            line = (
                "## Superseded\n- develops: [[project--harbour]] "
                "(confidence high, 2026-01-15 to 2026-02-02) ^dev1\n"
            )
            assert line in settled.text(ROBINS)
            view = workspace.graph("Robin")
            assert view.edges == ()
            assert facts(workspace)["develops: [[project--harbour]]"]
            assert workspace.graph_path("Robin", "Harbour").nodes == ()
            assert "develops" not in settled.text(layout.GRAPH_INDEX)
            assert graph_index(workspace) == whole_graph_index(workspace)
            assert workspace.audit_log(limit=1).entries[0].summary.startswith("retired relation")
            workspace.undo()
            assert settled.tracked() == before

    def test_it_gives_way_to_another_of_its_entity(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            new = workspace.graph_add_fact("Robin", "Drinks coffee in the morning").ids[0]
            workspace.graph_retire(FACT, by=new)
            validity = workspace.show(FACT).validity
            assert (validity.until, validity.superseded_by) == ("2026-02-02", new)
            workspace.restore(FACT)
            assert facts(workspace)["Drinks tea in the morning"]
            workspace.undo()
            workspace.undo()
            assert settled.tracked() == before

    @pytest.mark.parametrize(
        "by",
        [FACT, "entity:project--harbour#^lang", "entity:person--robin#^nope", "entity:person--robin", ""],
    )
    def test_it_gives_way_to_nothing_else(self, settled: AgentHome, by: str) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            assert isinstance(failure(lambda: workspace.graph_retire(FACT, by=by)), InvalidInput | NotFound)
            workspace.graph_retire(RELATION)
            with pytest.raises(InvalidInput):
                workspace.graph_retire(FACT, by=RELATION)
            workspace.undo()
            assert settled.tracked() == before

    def test_core_memory_that_still_says_it_is_named(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            item = workspace.core_add("Critical Facts", "Drinks tea in the morning").ids[0]
            (warning,) = workspace.graph_retire(FACT).warnings
            assert warning.endswith(f"workbench core remove {item}")
            assert workspace.graph_retire(RELATION).warnings == ()

    def test_what_was_over_keeps_its_last_day(self, settled: AgentHome) -> None:
        settled.write(
            ROBINS, settled.text(ROBINS).replace("(since 2026-01-20,", "(2026-01-20 to 2026-01-25,")
        )
        with settled.open() as workspace:
            workspace.graph_retire(FACT)
            assert workspace.show(FACT).validity.until == "2026-01-25"

    def test_it_is_restored_to_where_it_stood(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            for id_ in (FACT, RELATION):
                workspace.graph_retire(id_)
            for id_ in (FACT, RELATION):
                workspace.restore(id_)
            assert not facts(workspace)["Drinks tea in the morning"]
            (edge,) = workspace.graph("Robin").edges
            assert (edge.relation, edge.id) == ("develops", RELATION)
            assert "Superseded\n- " not in settled.text(ROBINS)

    def test_its_retirement_is_taken_back_after_other_changes(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            retired = workspace.graph_retire(RELATION)
            workspace.graph_add_fact("Robin", "Sails at weekends")
            assert retired.commit
            workspace.revert(retired.commit)
            assert [edge.id for edge in workspace.graph("Robin").edges] == [RELATION]
            assert "Sails at weekends" in facts(workspace)

    def test_a_line_without_a_block_id_is_named_by_its_place(self, settled: AgentHome) -> None:
        with settled.open() as workspace:
            fact = next(f for f in workspace.graph("Robin").facts if f.text.startswith("Collects"))
            assert fact.id.startswith(f"file:{ROBINS}#L")
            with pytest.raises(Stale):
                workspace.graph_retire(fact.id, expected="Drinks tea in the morning")
            (id_,) = workspace.graph_retire(fact.id, expected=fact.text).ids
            assert id_.startswith("entity:person--robin#^f")
            assert facts(workspace)[fact.text]

    @pytest.mark.parametrize(
        "id_",
        ["entity:person--robin#^gone", "entity:person--nobody#^tea1", ROBIN, f"file:{ROBINS}#L1",
         "file:memory/graph/entities/old/person--robin.md#L9", "file:MEMORY.md#L3", "episode:2026-02-01:09:15"],
    )  # fmt: skip
    def test_there_must_be_such_a_line(self, settled: AgentHome, id_: str) -> None:
        with settled.open() as workspace:
            before = settled.tracked()
            assert isinstance(failure(lambda: workspace.graph_retire(id_)), (NotFound, InvalidInput))
            assert settled.tracked() == before


class TestProposingMerges:
    @pytest.fixture
    def doubled(self, settled: AgentHome) -> AgentHome:
        with settled.open() as workspace:
            workspace.graph_add("person", "Robin Ek")
            workspace.graph_add_fact("Robin Ek", "Sails at weekends")
        return settled

    def test_it_is_decided_applied_undone_and_parted(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            unmerged = doubled.tracked()
            proposed = workspace.graph_propose_merge("Robin", "Robin Ek", reason="Both run the agent")
            assert proposed.ids == ("r-001.1",)
            item = one_item(workspace, "r-001.1")
            assert (item.kind, item.target, item.reason) == ("merge", "person--robin", "Both run the agent")
            assert [proof.id for proof in item.evidence] == [ROBIN, "entity:person--robin-ek"]
            assert (item.decision, item.stale) == ("undecided", False)
            assert doubled.text(ROBINS) == unmerged[ROBINS].decode()
            workspace.review_decide({"r-001.1": "approved"})
            applied = workspace.review_apply()
            assert applied.applied == ("r-001.1",)
            assert workspace.resolve("Robin Ek").name == "person--robin"
            assert "Sails at weekends" in facts(workspace)
            workspace.undo(confirmed=True)
            assert "Sails at weekends" not in facts(workspace)
            workspace.redo(confirmed=True)
            workspace.graph_unmerge("person--robin-ek")
            parted = doubled.tracked()
            for place in (ROBINS, ENTITY.format("person--robin-ek")):
                assert parted[place] == unmerged[place]

    def test_undo_takes_the_proposal_back(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            before = doubled.tracked()
            workspace.graph_propose_merge("Robin", "Robin Ek")
            workspace.undo()
            assert doubled.tracked() == before

    def test_it_joins_the_proposal_that_waits(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            workspace.edit_file(layout.PENDING_REFLECTION, f"{PROPOSAL}\n---\n\n**Reflection #**: 2\n")
            (id_,) = workspace.graph_propose_merge("Robin", "Robin Ek").ids
            assert id_ == "r-002.5"
            text = doubled.text(layout.PENDING_REFLECTION)
            assert text.startswith(PROPOSAL)
            assert text.endswith("\n\n---\n\n**Reflection #**: 2\n")
            assert [item.id for item in workspace.review().items][-1] == id_
            decisions = {item.id: item.decision for item in workspace.review().items}
            assert decisions["r-002.1"] == "approved"
            assert decisions[id_] == "undecided"

    def test_numbers_of_what_was_decided_are_not_given_again(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            workspace.edit_file(layout.PENDING_REFLECTION, PROPOSAL)
            workspace.review_decide({"r-002.4": "rejected", "r-002.3": "undecided"})
            workspace.review_apply()
            assert workspace.graph_propose_merge("Robin", "Robin Ek").ids == ("r-002.5",)

    def test_a_second_one_joins_the_first(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            workspace.graph_propose_merge("Robin", "Robin Ek")
            assert workspace.graph_propose_merge("Harbour", "Robin").ids == ("r-001.2",)
            assert len(workspace.review().items) == 2

    @pytest.mark.parametrize(
        ("keep", "absorb"), [("Robin", "person--robin"), ("Robin", "Robin Ek"), ("Robin Ek", "Robin")]
    )
    def test_one_and_the_same_and_what_waits_are_refused(
        self, doubled: AgentHome, keep: str, absorb: str
    ) -> None:
        with doubled.open() as workspace:
            workspace.graph_propose_merge("Robin", "Robin Ek")
            before = doubled.tracked()
            with pytest.raises(InvalidInput):
                workspace.graph_propose_merge(keep, absorb)
            assert doubled.tracked() == before

    def test_what_a_person_rejected_only_a_person_proposes_again(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            workspace.graph_propose_merge("Robin", "Robin Ek")
            workspace.review_decide({"r-001.1": "rejected"})
            workspace.review_apply()
        with doubled.open("main") as workspace, pytest.raises(Refused):
            workspace.graph_propose_merge("Robin", "Robin Ek")
        with doubled.open() as workspace:
            again = workspace.graph_propose_merge("Robin", "Robin Ek")
            assert again.ids == ("r-002.1",)
            assert "r-001.1" in again.warnings[0]

    def test_it_goes_stale_when_one_of_them_changes_its_name(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            workspace.graph_propose_merge("Robin", "Robin Ek")
            workspace.graph_rename("Robin Ek", "Kim")
            assert one_item(workspace, "r-001.1").stale

    def test_the_main_agent_may_propose_and_nobody_below(self, doubled: AgentHome) -> None:
        with doubled.open("main") as workspace:
            done = workspace.graph_propose_merge("Robin", "Robin Ek")
            assert done.commit
            seen = doubled.commit_of(done.commit)
            assert (seen.actor, seen.approval) == ("bot:main", "pending")
            with pytest.raises(RoleRefused):
                workspace.review_decide({"r-001.1": "approved"})
        for role in ("agent:scout", "reader"):
            with doubled.open(role) as workspace, pytest.raises(RoleRefused):
                workspace.graph_propose_merge("Harbour", "Robin Ek")

    def test_how_far_reflection_has_read_is_not_forgotten(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            workspace.reflect()
            read = [
                line for line in doubled.text(layout.PENDING_REFLECTION).splitlines() if "**Read**" in line
            ]
            workspace.graph_propose_merge("Robin", "Robin Ek")
            assert read[0] in doubled.text(layout.PENDING_REFLECTION).splitlines()

    @pytest.mark.parametrize("text", ["Only words.\n", "# Reflection\n\n- [ ] `r-1.1` no end\n"])
    def test_a_proposal_that_names_no_reflection_is_left_alone(self, doubled: AgentHome, text: str) -> None:
        with doubled.open() as workspace:
            workspace.edit_file(layout.PENDING_REFLECTION, text)
            with pytest.raises(DocumentError):
                workspace.graph_propose_merge("Robin", "Robin Ek")
            assert doubled.text(layout.PENDING_REFLECTION) == text

    def test_what_somebody_left_open_swallows_nothing(self, doubled: AgentHome) -> None:
        with doubled.open() as workspace:
            workspace.edit_file(layout.PENDING_REFLECTION, PROPOSAL + "\n```\nleft open\n")
            with pytest.raises(DocumentError):
                workspace.graph_propose_merge("Robin", "Robin Ek")


@pytest.mark.parametrize("role", ["reader", "agent:scout"])
def test_who_may_not_write_is_refused(settled: AgentHome, role: str) -> None:
    before = settled.tracked()
    with settled.open(role) as workspace:
        for act in (
            lambda: workspace.graph_add("place", "Visby"),
            lambda: workspace.graph_add_fact("Robin", "Sails"),
            lambda: workspace.graph_retire(FACT),
            lambda: workspace.graph_retire(RELATION),
            lambda: workspace.edit(RELATION, "uses: [[project--harbour]]"),
            lambda: workspace.graph_propose_merge(ROBIN, HARBOUR),
        ):
            assert isinstance(failure(act), RoleRefused)
    assert settled.tracked() == before
