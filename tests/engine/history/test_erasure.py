"""What a purge removes goes wherever it stands, and its neighbours stay."""

from __future__ import annotations

import json

import pytest

from workbench.engine.errors import InvalidInput
from workbench.engine.history.commits import AuditTrailer, CommitMessage, render_message
from workbench.engine.history.erasure import (
    PURGED,
    Erasure,
    erase_from_content,
    erase_from_message,
    erase_from_text,
    erasure_of,
)
from workbench.engine.identifiers import entity_name
from workbench.engine.markdown.audit_log import render_audit_fields

FACT = "- The vault code is 47-KXZQ since the move (since 2026-02-02, from episode:2026-02-02:14:30) ^f7k2"
ENTITY = f"""# person--alex

## Facts
- Likes tea ^f1
{FACT}
- Likes coffee ^f3

## Relations
- knows: [[person--eve]] ^r1
"""


def erase(erasure: Erasure, path: str, text: str) -> str | None:
    content, _ = erase_from_content(erasure, path, text.encode())
    return None if content is None else content.decode()


def test_a_fact_goes_by_its_id_whatever_it_said_then() -> None:
    erasure = erasure_of(["entity:person--alex#^f7k2"], [])
    path = "memory/graph/entities/person--alex.md"
    older = ENTITY.replace("47-KXZQ", "0000")
    assert erase(erasure, path, ENTITY) == ENTITY.replace(FACT + "\n", "")
    assert erase(erasure, path, older) == ENTITY.replace(FACT + "\n", "")
    assert erase(erasure, "memory/vault/other.md", ENTITY) == ENTITY


def test_a_text_goes_by_what_it_says_however_it_is_written() -> None:
    erasure = erasure_of([], [FACT])
    assert (
        erase(erasure, "MEMORY.md", "# Core\n\n- the vault code is 47-KXZQ since the move\n- Else\n")
        == "# Core\n\n- Else\n"
    )
    wrapped = "Chosen.\nThe vault code\nis 47-KXZQ since the move.\nThe end.\n"
    assert erase(erasure, "memory/2026-02-01.md", wrapped) == "Chosen.\nThe end.\n"
    assert erase(erasure, "memory/vault/a.md", "The vault code is 47-KXZQ since the move\n") is None
    assert erase(erasure, "memory/vault/a.md", "The vault is closed\n") == "The vault is closed\n"


def test_an_episode_goes_with_all_below_it() -> None:
    text = "# Log\n\n## 14:30 | a\nSecret.\n\n- x\n\n## 14:30 #2 | b\nStays.\n"
    erasure = erasure_of(["episode:2026-02-02:14:30"], [])
    assert erase(erasure, "memory/episodes/2026-02-02.md", text) == "# Log\n\n## 14:30 #2 | b\nStays.\n"


def test_a_whole_entity_goes_with_relations_to_it_and_its_score() -> None:
    erasure = erasure_of(["entity:person--eve"], [])
    assert erase(erasure, "memory/graph/entities/person--eve.md", "# person--eve\n") is None
    assert erase(erasure, "memory/graph/entities/person--alex.md", ENTITY) == ENTITY.replace(
        "- knows: [[person--eve]] ^r1\n", ""
    )
    said = "# Log\n\n## 14:30 | a\nMet [[person--eve]].\n"
    assert erase(erasure, "memory/episodes/2026-02-02.md", said) == said
    scores = json.dumps(
        {"entries": {"entity:person--eve": 1, "entity:person--eve#^a": 2, "entity:person--evelyn": 3}}
    )
    left = erase(erasure, "memory/meta/decay-scores.json", scores)
    assert left is not None
    assert json.loads(left) == {"entries": {"entity:person--evelyn": 3}}


@pytest.mark.parametrize("ascii_only", [False, True])
def test_scores_of_names_that_json_escapes_go_with_their_accesses(ascii_only: bool) -> None:
    ids = ["entity:note--张伟-0abcde", "vault:caf\\udce9", 'vault:say "so"']
    entry = {"access_count": 2, "accessed_by_changes": {"3f0c r-012.1": "2026-02-02T10:00:00Z"}}
    scores = json.dumps({"entries": dict.fromkeys([*ids, "vault:tea"], entry)}, ensure_ascii=ascii_only)
    left = erase(erasure_of(ids, []), "memory/meta/decay-scores.json", scores)
    assert left is not None
    assert json.loads(left) == {"entries": {"vault:tea": entry}}


def test_short_texts_go_only_where_they_stand_alone() -> None:
    erasure = erasure_of([], ["- tea"])
    assert (
        erase(erasure, "MEMORY.md", "- tea ^a1\n- Steady hands\n- Tea is hot\n")
        == "- Steady hands\n- Tea is hot\n"
    )


def test_lines_of_a_longer_text_go_on_their_own_but_shared_ones_stay() -> None:
    erasure = erasure_of([], [ENTITY])
    found = [bool(p.search("- the vault code is 47-KXZQ since the move ^zz")) for p in erasure.texts]
    assert any(found)
    assert not any(p.search("- knows: [[person--eve]] ^r9") or p.search("## Facts") for p in erasure.texts)


def test_messages_lose_the_text_whole_cut_or_escaped() -> None:
    erasure = erasure_of(["entity:person--eve"], ["- The password | is \\ hunter2 and nothing else"])
    assert (
        erase_from_text(erasure, "said “the password \\| is \\\\ hunter2 and nothing else”")
        == f"said “{PURGED}”"
    )
    assert erase_from_text(erasure, "added The password | is \\ hunter2 and…") == f"added {PURGED}"
    assert erase_from_text(erasure, "memory/graph/entities/person--eve.md and person--evelyn") == (
        f"{PURGED} and person--evelyn"
    )


def test_a_commit_that_wrote_it_says_nothing_of_it() -> None:
    message = CommitMessage(
        "EDIT", "MEMORY.md", "a secret in other words", "manual", "auto", "user said it", "t1",
        (AuditTrailer("EDIT", "MEMORY.md", "auto", "a secret"), AuditTrailer("EDIT", "USER.md", "auto", "a zone")),
        (("Item-Unit", "r-012.1 | MEMORY.md | Facts / - a secret"), ("Reverts", "abc")),
    )  # fmt: skip
    cleaned = erase_from_message(
        erasure_of([], ["something else entirely"]), message, frozenset({"MEMORY.md"})
    )
    assert (cleaned.summary, cleaned.trigger) == (PURGED, PURGED)
    assert [entry.summary for entry in cleaned.entries] == [PURGED, "a zone"]
    assert cleaned.trailers == (("Item-Unit", f"r-012.1 | MEMORY.md | {PURGED}"), ("Reverts", "abc"))


@pytest.mark.parametrize("name", ["person--mira-holm", "Mira Holm", "Öre (2) | [a]"])
def test_an_entity_takes_the_name_of_its_file_with_it(name: str) -> None:
    path = f"memory/graph/entities/{name}.md"
    other = "memory/graph/entities/Nora Berg.md"
    message = CommitMessage(
        "CREATE", path, f"created {path}", "manual", "—", f"{path} was saved", "t1",
        (AuditTrailer("CREATE", path, "—", "created"), AuditTrailer("EDIT", other, "—", f"beside {path}")),
        (("Item-Unit", render_audit_fields(("r-012.1", path, "Facts / - tea"))),),
    )  # fmt: skip
    erasure = erasure_of([f"entity:{entity_name(name)}"], [], paths=[path])
    cleaned = erase_from_message(erasure, message, frozenset())
    said = render_message(cleaned)
    assert all(part not in said for part in (name, render_audit_fields([name])))
    assert [entry.file for entry in cleaned.entries] == [PURGED, other]


def test_nothing_is_no_purge() -> None:
    with pytest.raises(InvalidInput):
        erasure_of([], ["  "])
