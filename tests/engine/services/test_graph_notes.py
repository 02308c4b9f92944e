"""A note that a person makes among the entities is one, whatever it is called, and keeps its name."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome, graph_index, whole_graph_index
from workbench.engine import Workspace, to_json

FOLDER = "memory/graph/entities"
NAMES = [
    *("Mira Holm", "mira holm", "MIRA HOLM", "Lisbon trip", "ä", "a#b", "a|b", "[[x]]", "n\nl", "tab\there"),
    *("-dash", "--", "x--", "person--Mira Holm", "person--a,b", "one.two.", "trailing ", "CON", "^up", "50%"),
    *(
        "x" * 250,
        "😀",
        "张伟",
        unicodedata.normalize("NFD", "Zoë Ünal"),
        "a:b",
        'say "so"',
        "a'b",
        "caf\udce9",
    ),
    *("note--odd", "people/Bo Ek", "people/person--bo", "esc\x1b[31m", "#", "$(id)"),
]
TEXT = """# Kestrel

- circles above the weir
- rests with [[person--robin]] ^rest

## Facts
- Kestrel hunts voles ^vole

## Relations
- part-of: [[project--harbour]] ^part
"""


def at_rest(home: AgentHome) -> None:
    """Make sure that everything that accounts for memory agrees."""
    with home.open("person") as workspace:
        assert workspace.audit_verify().problems == ()
        assert not [line for line in workspace.warnings if "could not follow" in line]
        assert graph_index(workspace) in (None, whole_graph_index(workspace))


def found(workspace: Workspace, path: str, words: str = "weir kestrel") -> str:
    """Return the id that a search gives for what is in a file."""
    hits = [hit for hit in workspace.search(words).results if hit.path == path]
    assert hits, path
    assert len({hit.id.partition("#")[0] for hit in hits}) == 1
    return hits[0].id.partition("#")[0]


def write(home: AgentHome, name: str, text: str = TEXT) -> str:
    """Put a note among the entities; return its path as the engine shows it."""
    path = f"{FOLDER}/{name}.md"
    place = home.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return path.encode("utf-8", "backslashreplace").decode()


def names(home: AgentHome) -> set[bytes]:
    return {os.fsencode(place) for place in Path(home.root / FOLDER).rglob("*.md")}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_note_is_an_entity_in_everything_that_is_done_with_one(settled: AgentHome, name: str) -> None:
    path = write(settled, name)
    files = names(settled)
    with settled.open() as workspace:
        note = found(workspace, path)
        assert workspace.resolve(note).kind == "entity"
        assert "--" in note
        shown = workspace.show(note)
        assert (shown.id, shown.path) == (note, path)
        assert shown.title == "Kestrel"
        assert "entity:person--robin" in shown.links.to
        assert note in workspace.show("entity:person--robin").links.from_
        assert workspace.resolve("Kestrel").name == note.removeprefix("entity:")
        assert "weir" in workspace.get(path).text
        view = workspace.graph(note)
        assert view.center == note
        said = {fact.text for fact in view.facts}
        assert {"circles above the weir", "Kestrel hunts voles"} <= said
        assert ("part-of", "entity:project--harbour") in {(edge.relation, edge.to) for edge in view.edges}
        to_json(workspace.graph())
        # Each kind of change.
        assert workspace.pin(note).commit
        assert workspace.show(note).score is not None
        assert workspace.graph_add_fact(note, "Kestrel nests in the tower").commit
        assert workspace.edit(f"{note}#^vole", "Kestrel hunts mice").commit
        assert workspace.graph_retire(f"{note}#^rest").commit
        assert workspace.graph_link("Robin", "uses", note).commit
        assert workspace.graph_link(note, "relates-to", "Robin").commit
        assert {edge.to for edge in workspace.graph("Robin").edges} >= {note}
        assert workspace.graph_rename(note, "Old Kestrel").commit
        assert workspace.resolve("Old Kestrel").name == note.removeprefix("entity:")
        assert workspace.graph_unlink("Robin", "uses", note).commit
        assert workspace.remember("Old Kestrel flew to the mill", entities=[note]).commit
        assert "mice" in workspace.show(note).text
        assert names(settled) == files
        assert workspace.graph_merge("Robin", note).commit
        assert workspace.resolve("Old Kestrel").name == "person--robin"
        assert workspace.graph_unmerge(note).commit
        assert workspace.unpin(note).commit
        assert workspace.forget(ids=[note], apply=True).applied
        assert workspace.restore(note).commit
        assert workspace.audit_blame(path).lines
        assert workspace.audit_diff(str(workspace.head())) is not None
        assert names(settled) == files
    at_rest(settled)
    with settled.open() as workspace:
        assert workspace.forget(ids=[note], apply=True, hard=True).applied
        assert len(names(settled)) == len(files) - 1
        assert workspace.undo().commit
        assert names(settled) == files
        assert found(workspace, path) == note
    at_rest(settled)


def test_notes_that_differ_in_little_are_entities_of_their_own(settled: AgentHome) -> None:
    twins = [
        "Zoë",
        unicodedata.normalize("NFD", "Zoë"),
        "zoë",
        "ZOË",
        "Zoe",
        "zoe",
        "note--zoe-x",
        "concept--zoe",
    ]
    paths = {twin: write(settled, twin, f"- word{number} is here\n") for number, twin in enumerate(twins)}
    with settled.open() as workspace:
        ids = [found(workspace, paths[twin], f"word{number}") for number, twin in enumerate(twins)]
        assert len(set(ids)) == len(twins)
        for number, note in enumerate(ids):
            assert f"word{number}" in workspace.show(note).text
            assert workspace.graph_add_fact(note, f"A new word{number}").files == (paths[twins[number]],)
    at_rest(settled)


def test_the_id_of_a_note_is_that_of_its_name_alone(settled: AgentHome) -> None:
    path = write(settled, "Mira Holm", "- likes ferries\n")
    with settled.open() as workspace:
        note = found(workspace, path, "ferries")
        assert note == "entity:note--mira-holm"
        assert workspace.graph(note).nodes[0].type == "concept"
        workspace.pin(note)
    write(settled, "Mira Holm", "---\ntype: person\ntitle: Mira\naliases: [Holmie]\n---\n- likes ferries\n")
    write(settled, "concept--mira-holm", "# Another\n")
    write(settled, "Mira holm", "# A third\n")
    with settled.open() as workspace:
        (node,) = [node for node in workspace.graph(note).nodes if node.id == note]
        assert (node.type, node.label) == ("person", "Mira")
        assert workspace.resolve("Holmie").name == "note--mira-holm"
        assert workspace.show(note).score is not None
        assert workspace.show(note).path == path
        # What is learned of that person by name goes to the note, not to a file beside it.
        learned = workspace.remember("Mira likes trains", store="semantic", entities=["person:Mira"])
        assert learned.path == path
    at_rest(settled)


@pytest.mark.parametrize(
    ("text", "label", "kind"),
    [
        ("# Heading\n", "Heading", "concept"),
        ("---\ntitle: From above\n---\n", "From above", "concept"),
        ("---\ntitle: From above\n---\n# Heading\n", "Heading", "concept"),
        ("plain words\n", "Odd name", "concept"),
        ("", "Odd name", "concept"),
        ("---\ntype: tool\n---\n", "Odd name", "tool"),
        ("<!-- Type: place | Label: There -->\n", "There", "place"),
        ("---\naliases:\n  - Other\n---\n", "Odd name", "concept"),
    ],
)
def test_what_a_note_is_called_and_is(settled: AgentHome, text: str, label: str, kind: str) -> None:
    write(settled, "Odd name", text)
    with settled.open() as workspace:
        (node,) = [node for node in workspace.graph().nodes if "odd-name" in node.id]
        assert (node.label, node.type) == (label, kind)
        assert workspace.graph_rename(node.id, "Renamed").commit
        assert workspace.resolve("Renamed").name == node.id.removeprefix("entity:")
    after = settled.text(f"{FOLDER}/Odd name.md")
    assert after.startswith("---\n") == text.startswith("---\n")


def test_links_between_notes_are_written_as_editors_follow_them(settled: AgentHome) -> None:
    write(settled, "Mira Holm", "# Mira\n\nSee [[Lisbon trip|the trip]] and [[mira holm]].\n")
    write(settled, "Lisbon trip", "# Trip\n\n## Relations\n- part-of: [[Mira Holm#Facts|her]]\n")
    write(settled, "a#b", "# Hash\n")
    with settled.open() as workspace:
        workspace.refresh()
        mira, trip = "entity:note--mira-holm", f"entity:{workspace.resolve('Trip').name}"
        assert trip in workspace.show(mira).links.to
        assert mira in workspace.show(trip).links.to
        assert {(e.from_, e.to) for e in workspace.graph(mira).edges} == {(trip, mira)}
        workspace.graph_link("Robin", "uses", trip)
        workspace.graph_link("Robin", "uses", mira)
        workspace.graph_link("Robin", "uses", "Hash")
        robin = settled.text(f"{FOLDER}/person--robin.md")
        assert "uses: [[Lisbon trip]]" in robin
        assert "uses: [[Mira Holm]]" in robin
        # No editor can follow a link to such a name; the engine does.
        assert "uses: [[note--a-b-0" in robin
        assert len({e.to for e in workspace.graph("Robin").edges if e.relation == "uses"}) == 3
        relation = next(e for e in workspace.graph("Robin").edges if e.to == trip)
        assert relation.relation == "uses"
        workspace.graph_merge(mira, trip)
        assert "Merged into: [[Mira Holm]]" in settled.text(f"{FOLDER}/Lisbon trip.md")
        assert workspace.resolve("Trip").name == "note--mira-holm"
        workspace.graph_unlink("Robin", "uses", mira)
    at_rest(settled)


def test_a_note_in_the_past_is_the_same_entity(settled: AgentHome) -> None:
    path = write(settled, "Lisbon trip")
    with settled.open() as workspace:
        note = found(workspace, path)
        workspace.graph_add_fact(note, "It was postponed")
        then = workspace.head()
        settled.clock.advance(days=1)
        workspace.edit_file(path, "# Gone\n")
        settled.clock.advance(days=1)
        past = workspace.at(str(then))
        assert "It was postponed" in past.show(note).text
        assert note in {edge.from_ for edge in past.graph(note).edges}
        assert workspace.rollback(file=f"{path}@{then}").commit
        assert "It was postponed" in workspace.show(note).text


def test_forgetting_a_note_by_words_finds_it(settled: AgentHome) -> None:
    path = write(settled, "Lisbon trip")
    with settled.open() as workspace:
        note = found(workspace, path)
        matches = workspace.forget("circles above the weir").matches
        assert note in {match.id for match in matches}
