"""For whom memories are is read from their files; what is written otherwise is the owner’s."""

from __future__ import annotations

import pytest

from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.memory.lookup import may_be_scoped, scopes_in

EPISODES = """# 2026-02-01 — Episode Log

## 09:00 | type:fact | confidence:high | for:group:family
The ferry sails at nine.

## 10:00 | type:fact | confidence:high
The owner writes “for:group:family” in his own note.

## 11:00 | type:fact | confidence:high | for:group:Not a scope
This is nobody’s.
"""
MIRA = """# Mira

## Facts
- Rows (for person:mira) ^f001
- Owes money ^f002
- Sails (since 2026-01-01, for shared) ^f003

## Relations
- knows → [[person--robin]] (for group:crew) ^r001
"""
FILES = {
    "memory/episodes/2026-02-01.md": (EPISODES, {"episode:2026-02-01:09:00": "group:family"}),
    "memory/graph/entities/person--mira.md": (
        MIRA,
        {
            "entity:person--mira#^f001": "person:mira",
            "entity:person--mira#^f003": "shared",
            "entity:person--mira#^r001": "group:crew",
        },
    ),
    "memory/vault/rules.md": (
        "---\nfor: shared\n---\n\n# Rules\n\nShoes off.\n",
        {"vault:rules.md": "shared"},
    ),
    "memory/vault/spaced.md": (
        "---\nFor :  'person:mira' \n---\n\n# Spaced\n\nShoes off.\n",
        {"vault:spaced.md": "person:mira"},
    ),
    "memory/procedures/how-to-moor.md": (
        "# How to moor\n\n<!-- Type: how-to | FOR： group:crew -->\n\n## Steps\n1. Slow down\n",
        {"procedure:how-to-moor": "group:crew"},
    ),
    "memory/vault/own.md": ("# Own\n\nWe shared a boat with group:family.\n", {}),
    "MEMORY.md": ("# M\n\n- A thing (for shared)\n", {}),
}


@pytest.mark.parametrize("path", FILES)
def test_whom_the_memories_of_a_file_are_for(path: str) -> None:
    content, scopes = FILES[path]
    assert scopes_in(path, content.encode()) == scopes
    assert may_be_scoped(path) == (path != "MEMORY.md")


def test_a_file_that_only_speaks_of_somebody_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EpisodeLog, "parse", None)
    said = "# 2026-02-01\n\n## 09:00 | event | tags:[person:mira]\nA shared table, with group:family.\n"
    assert scopes_in("memory/episodes/2026-02-01.md", said.encode()) == {}


@pytest.mark.parametrize("path", [path for path in FILES if path != "MEMORY.md"])
def test_what_is_no_text_is_nobodys(path: str) -> None:
    assert scopes_in(path, b"\xff\xfe for:group:family \x00 person:mira\n") == {}
