"""Markdown, vaults and plain text: notes as they are, and passages of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.engine.transfer.reading_all import notes, read_all, skipped, write
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.transfer.documents import front_matter, note_path, passages_of, pieces_of
from workbench.engine.transfer.recognition import open_source


def test_a_vault_keeps_its_notes_and_leaves_templates_out(tmp_path: Path) -> None:
    note = "---\ntags: [garden, spring]\ndate: 2026-03-01\n---\n# Beans\n\nSow [[Beans]] in May.\n"
    vault = write(
        tmp_path / "My Vault",
        {
            "Garden/Beans.md": note,
            "Templates/Daily.md": "x\n",
            ".obsidian/app.json": "{}",
            ".trash/old.md": "gone\n",
            "picture.png": b"\x89PNG",
        },
    )
    source = open_source(vault)
    assert (source.form, source.name) == ("obsidian", "my-vault")
    items = read_all(vault)
    (kept,) = notes(items)
    assert (kept.path, kept.text, str(kept.place)) == ("Garden/Beans.md", note, "Garden/Beans.md")
    assert kept.moment is not None
    assert kept.moment.date().isoformat() == "2026-03-01"
    assert skipped(items) == {"Templates/Daily.md": "It is a template."}


def test_passages_carry_headings_tags_and_lines(tmp_path: Path) -> None:
    text = "---\ntags: garden\n---\n# Beans\n\nSow in May.\n\n## Water\nDaily.\n\n```\n# no heading\n```\n"
    (note,) = notes(read_all(write(tmp_path / "n", {"Beans.md": text})))
    found = list(pieces_of(note))
    assert [(piece.text, str(piece.place), piece.tags) for piece in found] == [
        ("Beans\nSow in May.", "Beans.md#L6", ("garden",)),
        ("Beans › Water\nDaily.\n\n```\n# no heading\n```", "Beans.md#L9-L13", ("garden",)),
    ]


def test_text_of_other_encodings(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "n",
        {
            "wide.txt": "Größe\r\nzwei".encode("utf-16"),
            "bom.txt": b"\xef\xbb\xbfmarked",
            "latin.txt": "Größe".encode("latin-1"),
            "binary.md": b"a\0b",
            "empty.md": " \n",
        },
    )
    items = read_all(folder, "text")
    assert {note.path: note.text for note in notes(items)} == {"wide.md": "Größe\nzwei", "bom.md": "marked"}
    assert set(skipped(items)) == {"latin.txt", "binary.md", "empty.md"}


def test_too_long_a_document_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.transfer.source.MOST_DOCUMENT_BYTES", 0)
    from workbench.engine.transfer.source import as_text

    with pytest.raises(Exception, match="longer than 1 MB"):
        as_text(b"x" * ((1 << 20) + 1), "a.md", 1 << 20)


def test_nothing_there_and_nothing_known(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        open_source(tmp_path / "missing")
    with pytest.raises(InvalidInput, match="Nothing here can be imported"):
        open_source(write(tmp_path / "n", {"picture.png": b"\x89PNG"}))
    with pytest.raises(InvalidInput, match="is no form"):
        open_source(tmp_path, "word")


patiently = settings(suppress_health_check=[HealthCheck.too_slow])


@patiently
@given(st.text(max_size=300))
def test_a_note_never_leaves_its_folder(name: str) -> None:
    path = note_path(name + "/x.md")
    parts = path.split("/")
    assert all(part not in ("", ".", "..") and not part.startswith(".") for part in parts)
    assert all(len(part.encode()) <= 255 for part in parts)
    assert "\\" not in path
    assert "\0" not in path


@patiently
@given(st.lists(st.sampled_from(["# a", "## b", "", "text", "```", "- item", "---", "x" * 900]), max_size=40))
def test_passages_stand_where_they_say_and_lose_no_line(lines: list[str]) -> None:
    text = "\n".join(lines)
    said = ""
    for passage in passages_of(text):
        body = " ".join(" ".join(lines[passage.first - 1 : passage.last]).split())
        told = " ".join(passage.text.split())
        assert told.endswith((body, body.strip("# -")))
        said += passage.text + "\n"
    _, skip = front_matter(text)
    rest = lines[skip:]
    assert said.count("item") >= sum(line == "- item" for line in rest)
    assert said.count("text") >= sum(line == "text" for line in rest)
