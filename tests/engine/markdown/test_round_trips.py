"""Every kind of file gives back its very bytes and takes any."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.engine.markdown.hostile_text import any_bytes, markdown
from workbench.engine.markdown.audit_log import AuditArchive, AuditLogFile
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.episodes import DailyLog, EpisodeLog
from workbench.engine.markdown.graph import RelationVocabulary, read_graph_index
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.markdown.proposals import PendingMemories
from workbench.engine.markdown.reflection_records import Evolution, ReflectionLog
from workbench.engine.markdown.review import PendingReflection

KINDS: list[tuple[Any, str]] = [
    (CoreMemory, "MEMORY.md"),
    (EpisodeLog, "memory/episodes/2026-02-02.md"),
    (DailyLog, "memory/2026-02-02-notes.md"),
    (EntityFile, "memory/graph/entities/person--alex.md"),
    (RelationVocabulary, "memory/graph/relations.md"),
    (Procedure, "memory/procedures/how-to-deploy.md"),
    (VaultNote, "memory/vault/notes/x.md"),
    (DecayScores, "memory/meta/decay-scores.json"),
    (AuditArchive, "memory/meta/audit-archive.md"),
    (ReflectionLog, "memory/meta/reflection-log.md"),
    (Evolution, "memory/meta/evolution.md"),
    (PendingReflection, "memory/meta/pending-reflection.md"),
    (PendingMemories, "memory/meta/pending-memories.md"),
]
PREFIXES = {
    "MEMORY.md": "# M\n\n## Identity\n- Name: A\n",
    "memory/episodes/2026-02-02.md": "# D\n\n## 14:30 | decision\n",
    "memory/graph/entities/person--alex.md": "# person--alex\n\n## Facts\n",
    "memory/meta/pending-reflection.md": "# R\n\n## New\n- [ ] `r-012.1` fact for [[a--b]]: text\n",
    "memory/meta/pending-memories.md": "# P\n\n---\n## Proposal #1\n- **Content**: text\n",
    "memory/meta/decay-scores.json": '{"version": 1, "entries": {"episode:a": {"store": "episodic"}, ',
}


@pytest.mark.parametrize(("kind", "path"), KINDS, ids=[kind.__name__ for kind, _ in KINDS])
@given(content=any_bytes)
def test_any_bytes_come_back(kind: Any, path: str, content: bytes) -> None:
    assert kind.parse(content, path).render() == content


@pytest.mark.parametrize(("kind", "path"), KINDS, ids=[kind.__name__ for kind, _ in KINDS])
@given(content=markdown)
def test_what_follows_real_structure_comes_back(kind: Any, path: str, content: bytes) -> None:
    whole = PREFIXES.get(path, "# Title\n\n## Section\n- item\n").encode() + content
    read = kind.parse(whole, path)
    assert read.render() == whole
    problems = getattr(read, "problems", ())  # some kinds of file have none
    assert all(problem.message and problem.remedy and problem.path == path for problem in problems)


@given(content=any_bytes)
def test_index_and_audit_log_take_any_bytes(content: bytes) -> None:
    read_graph_index(content)
    AuditLogFile.parse(content)


HOSTILE = {
    "a line of a megabyte": b"x" * 10**6,
    "50,000 headings": b"## 14:30 | event\n" * 50_000,
    "10,000 quotes": b">" * 10_000 + b" x\n",
    "deep lists": b"".join(b" " * (2 * depth) + b"- x\n" for depth in range(1_000)),
    "10,000 markers": b"- " * 10_000 + b"x\n",
    "20,000 items": b"## Facts\n" + b"- same ^f7k2\n" * 20_000,
    "deep JSON": b'{"entries": {"episode:a": ' + b"[" * 100_000,
    "open comments": b"<!--" * 100_000,
    "brackets": b"[" * 200_000,
    "bars": b"|" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(("kind", "path"), KINDS, ids=[kind.__name__ for kind, _ in KINDS])
@pytest.mark.timeout(10)
def test_hostile_files_are_read_in_sensible_time(kind: Any, path: str, name: str) -> None:
    assert kind.parse(HOSTILE[name], path).render() == HOSTILE[name]
