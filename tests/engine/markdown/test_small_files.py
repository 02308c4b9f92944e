"""Procedures, vault notes, relations, logs, digests, annotations and templates."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.markdown.hostile_text import texts, worded
from workbench.engine.errors import NotFound
from workbench.engine.markdown.audit_log import AuditArchive, MonthlyDigest
from workbench.engine.markdown.graph import RelationVocabulary, canonical_relation
from workbench.engine.markdown.markup import clean_item
from workbench.engine.markdown.outline import read_annotations, strip_comments, trailing_comments
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.markdown.reflection_records import Evolution, ReflectionLog, ReflectionRecord
from workbench.engine.markdown.source import TEMPLATES, load_template, text_lines

PROCEDURE = """# how-to-deploy.md

<!-- Type: procedure | Learned: 2026-01-25 | Last used: 2026-01-30 -->

## Trigger
When user asks to deploy.

## Steps
1. Run tests
2. Use `git tag`
   for versions

## Notes
- Verbose logs

## Learned From
- Episode 2026-01-25 14:30 — first
"""


def test_a_procedure_is_read_and_extended() -> None:
    procedure = Procedure.parse(PROCEDURE.encode(), "memory/procedures/how-to-deploy.md")
    assert (procedure.id, procedure.title, procedure.trigger) == (
        "procedure:how-to-deploy",
        "how-to-deploy.md",
        "When user asks to deploy.",
    )
    assert procedure.steps == ("Run tests", "Use `git tag`\nfor versions")
    assert dict(procedure.header)["learned"] == "2026-01-25"
    longer = procedure.add_step("Notify").add_note("Ask first").add_learned_from("episode:2026-01-30:09:15")
    assert (
        longer.render().decode()
        == PROCEDURE.replace("for versions\n", "for versions\n3. Notify\n").replace(
            "logs\n", "logs\n- Ask first\n"
        )
        + "- episode:2026-01-30:09:15\n"
    )
    assert longer.add_learned_from("episode:2026-01-30:09:15") is longer


@given(trigger=texts(), steps=st.lists(worded, max_size=3), note=worded)
def test_procedures_of_any_text_read_back(trigger: str, steps: list[str], note: str) -> None:
    made = Procedure.create(
        "memory/procedures/p.md", title=note, learned="2026-01-25", trigger=trigger, steps=steps, notes=[note]
    )
    assert made.trigger == "\n".join(text_lines(trigger))
    assert made.steps == tuple(clean_item(step) for step in steps)
    assert made.notes == (clean_item(note),)


def test_a_vault_note_keeps_front_matter_and_title() -> None:
    note = VaultNote.parse(
        b"---\ntags: [a]\n---\n# Passport\n\nNumber 1\n\n## More\nx\n", "memory/vault/a/p.md"
    )
    assert (note.id, note.title, note.body) == ("vault:a/p.md", "Passport", "Number 1\n\n## More\nx")


@given(body=texts())
def test_vault_notes_of_any_text_read_back(body: str) -> None:
    note = VaultNote.create("memory/vault/n.md", title="Title", body=body)
    assert (note.title, note.body) == ("Title", "\n".join(text_lines(body)))


def test_the_vocabulary_knows_inverses_and_takes_additions() -> None:
    words = RelationVocabulary.parse(b"")
    assert words.inverse_of("Part of") == "contains"
    assert words.inverse_of("used_by") == "uses"
    assert words.inverse_of("uncertain-about") is None
    assert words.find("mentors") is None
    more = words.add("Mentors")
    assert (more.types[-1].name, more.inverse_of("mentors")) == ("mentors", None)
    assert more.add("mentors") is more
    own = RelationVocabulary.parse("- `mentors` / `mentored by` — person → person\n".encode())
    assert own.inverse_of("mentored-by") == "mentors"
    assert [kind.name for kind in own.add("knows-of").types[:2]] == ["mentors", "knows-of"]
    assert own.add("mentored by") is own
    assert RelationVocabulary.parse(b"- nothing\n- `a`\n- `a`\n").problems[1].line == 3
    assert canonical_relation(" Inspired_by ") == "inspired-by"


@given(bodies=st.lists(texts(), min_size=1, max_size=3))
def test_reflection_records_read_back(bodies: list[str]) -> None:
    log = ReflectionLog.parse(b"")
    for number, body in enumerate(bodies, 1):
        log = log.append(
            ReflectionRecord(f"r-{number:03}", "2026-02-03T03:00:00Z", "partial", body, (("items", "7/8"),))
        )
    assert [record.body for record in log.records] == ["\n".join(text_lines(body)) for body in bodies]
    assert {(record.time, record.outcome, record.fields) for record in log.records} == {
        ("2026-02-03T03:00:00Z", "partial", (("items", "7/8"),))
    }
    assert log.problems == ()
    shorter = log.remove("r-001")
    assert [record.id for record in shorter.records] == [record.id for record in log.records[1:]]
    with pytest.raises(NotFound):
        shorter.remove("r-001")


@given(insights=st.lists(worded, min_size=1, max_size=3, unique=True))
def test_insights_read_back(insights: list[str]) -> None:
    evolution = Evolution.parse(b"")
    for text in insights:
        evolution = evolution.add("Active threads", text)
    found = [insight for insight in evolution.insights if insight.section == "Active Threads"]
    assert [insight.text for insight in found] == [clean_item(text) for text in insights]
    assert (
        evolution.remove(found[0].block_id or "").insights
        == Evolution.parse(evolution.remove(found[0].block_id or "").render()).insights
    )
    assert len(evolution.remove(found[0].block_id or "").insights) == len(evolution.insights) - 1


def test_digests_are_put_in_place() -> None:
    january = MonthlyDigest("2026-01", ("142 total mutations",), (("2026-01-15", "Started"), ("", "Loose")))
    february = MonthlyDigest("2026-02", ("1 mutation",), ())
    archive = AuditArchive.parse(b"").put(january).put(february)
    assert archive.digests == (january, february)
    assert archive.source.lines[0] == "# Audit Digest — January 2026"
    changed = archive.put(MonthlyDigest("2026-01", ("1",), ()))
    assert [digest.summary for digest in changed.digests] == [("1",), ("1 mutation",)]
    assert changed.put(january).render() == archive.render()
    assert AuditArchive.parse(b"# Audit Digest - Smarch 2026\n").problems[0].line == 1


def test_annotations_are_read_as_values() -> None:
    text = (
        "- Metric units. <!-- trigger: units, report --> <!-- importance: 6 --> <!-- project: github.com/a/b -->\n"
        "<!-- observed: 2026-01-01 | status: active -->\n"
        "<!-- openclaw-memory-promotion:memory:memory/2026-05-12.md:3:5 --> <!-- pinned -->"
    )
    assert list(read_annotations(text)) == [
        ("trigger", "units, report"),
        ("importance", "6"),
        ("project", "github.com/a/b"),
        ("observed", "2026-01-01"),
        ("status", "active"),
        ("promotion", "memory:memory/2026-05-12.md:3:5"),
        ("pinned", ""),
    ]
    first = text.partition("\n")[0]
    assert strip_comments(first) == "- Metric units."
    assert strip_comments(first) + trailing_comments(first) == first


@given(text=texts())
def test_trailing_comments_are_the_end_of_the_text(text: str) -> None:
    assert text.endswith(trailing_comments(text))
    assert "<!--" not in strip_comments(text) or "-->" not in strip_comments(text).partition("<!--")[2]


@pytest.mark.parametrize("path", TEMPLATES)
def test_every_template_is_read_without_a_problem(path: str) -> None:
    content = load_template(path)
    assert content.endswith(b"\n")
    if path.endswith(".json"):
        assert json.loads(content)["entries"] == {}
