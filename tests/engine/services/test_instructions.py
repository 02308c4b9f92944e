"""The text for agents' prompts says what holds in this workspace, and promises nothing that the role may not do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.isolation import isolate
from workbench.engine import Workspace
from workbench.engine.errors import InvalidInput
from workbench.engine.roles import MAIN, READER, Role
from workbench.engine.services.instructions import Phrases, prompt_text, skill_text
from workbench.engine.settings.sections import Settings
from workbench.engine.tokens import count_tokens
from workbench.engine.triggers.phrases import load_phrases

SCOUT = Role("agent", "scout")
SAID = Phrases({"remember": ("remember",), "forget": ("forget about",), "reflect": ("reflect on",)})
PLAIN = Settings()


def test_the_main_agent_is_told_of_everything_it_may_do() -> None:
    text = prompt_text(MAIN, PLAIN, SAID)
    for tool in ("core", "search", "get", "graph", "audit", "remember", "forget", "reflect"):
        assert f"`memory_{tool}`" in text
    assert "- Forget: forget about → `memory_forget`" in text
    assert "3,000 tokens" in text
    assert "every day at 03:00 and when a session ends" in text
    assert "Only a person approves" in text


def test_a_sub_agent_is_told_to_propose_and_of_nothing_that_writes() -> None:
    text = prompt_text(SCOUT, PLAIN, SAID)
    assert "sub-agent scout" in text
    assert "`memory_propose`" in text
    for tool in ("remember", "forget", "reflect"):
        assert f"`memory_{tool}`" not in text
    assert "memory_propose" not in prompt_text(READER, PLAIN, SAID)


def test_it_is_true_to_the_settings() -> None:
    settings = replace(
        PLAIN,
        core=replace(PLAIN.core, cap=1234),
        graph=replace(PLAIN.graph, depth=1),
        reflection=replace(PLAIN.reflection, frequency="manual", token_budget=4321),
        proposals=replace(PLAIN.proposals, mode="manual"),
    )
    text = prompt_text(MAIN, settings, SAID)
    assert "1,234 tokens" in text
    assert "4,321 tokens" in text
    assert "1 hop " in text
    assert "only when somebody asks for it" in text
    assert "the user decides on proposals" in text
    assert "proposals commit" not in text
    assert "the user decides." in prompt_text(SCOUT, settings, SAID)


def test_commands_for_the_shell_name_the_workspace_wherever_the_agent_works() -> None:
    text = prompt_text(MAIN, PLAIN, SAID, Path("/home/nora/my memory"))
    assert "`workbench --workspace '/home/nora/my memory' --role main proposals commit N`" in text
    assert "`workbench --role main proposals`" in prompt_text(MAIN, PLAIN, SAID)


def test_a_trusted_agent_is_told_what_is_stored_at_once() -> None:
    trusting = replace(
        PLAIN, proposals=replace(PLAIN.proposals, mode="auto", trusted=("scout",), auto_confidence="medium")
    )
    assert "stored at once" in prompt_text(SCOUT, trusting, SAID)
    assert "stored at once" not in prompt_text(Role("agent", "other"), trusting, SAID)
    assert "What scout proposed with confidence medium or more" in prompt_text(MAIN, trusting, SAID)


@pytest.mark.parametrize("role", [MAIN, SCOUT, READER], ids=str)
def test_a_skill_says_when_to_load_it(role: Role) -> None:
    head, _, body = skill_text(role, PLAIN, SAID).removeprefix("---\n").partition("\n---\n\n")
    keys = dict(line.split(": ", 1) for line in head.splitlines())
    assert set(keys) == {"name", "description"}
    assert keys["name"].replace("-", "").isalpha()
    assert 50 < len(keys["description"]) <= 1024
    assert body == prompt_text(role, PLAIN, SAID)


def test_search_and_citations_are_told_of_as_the_settings_have_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(tmp_path, monkeypatch)
    Workspace.init(tmp_path / "ws")
    told = []
    for name, value in (("CITATIONS", "auto"), ("CITATIONS", "off"), ("ENABLED", "false")):
        monkeypatch.setenv(f"WORKBENCH_SEARCH_{name}", value)
        with Workspace.open(tmp_path / "ws", role="main") as workspace:
            told.append(workspace.instructions())
    assert ["Do not cite" in text for text in told] == [False, True, False]
    assert ["`memory_search`" in text for text in told] == [True, True, False]


def said_of(text: str) -> str:
    """Return the section about what users say."""
    return text.partition("## What the user says")[2].partition("\n## ")[0]


def test_every_kind_of_phrase_is_told_in_little_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(tmp_path, monkeypatch)
    Workspace.init(tmp_path / "ws")
    with Workspace.open(tmp_path / "ws", role="main") as workspace:
        section = said_of(workspace.instructions())
    assert count_tokens(section) <= 300
    rows = [row for row in section.splitlines() if row.startswith("- ")]
    for language in load_phrases().languages:
        asking = [phrase for phrase in language.phrases if phrase.kind != "none"]
        kinds = (
            {phrase.kind for phrase in asking} if language.name == "en" else {"remember", "forget", "reflect"}
        )
        for kind in kinds:
            told = [phrase.spoken for phrase in asking if phrase.kind == kind]
            assert any(f" {said} " in f"{row} " for said in told for row in rows), (language.name, kind)


def test_the_phrases_of_the_design_document_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Design document §8.1 and §14."""
    isolate(tmp_path, monkeypatch)
    Workspace.init(tmp_path / "ws")
    with Workspace.open(tmp_path / "ws", role="main") as workspace:
        section = said_of(workspace.instructions())
    for phrase in (
        "remember", "don't forget", "keep in mind", "note that", "important:", "for future reference", "save this",
        "fyi for later", "forget about", "never mind", "disregard", "no longer relevant", "scratch that",
        "ignore what i said about", "from memory", "reflect on", "consolidate your memory", "review your memory",
        "clean up your memory", "what do you remember",
    ):  # fmt: skip
        assert phrase in section, phrase


def test_a_kind_of_phrase_that_is_new_is_told_by_itself() -> None:
    text = prompt_text(MAIN, PLAIN, Phrases({"why-forgotten": ("why did you forget",)}))
    assert "- Why forgotten: why did you forget\n" in text


def test_the_door_tells_of_the_users_own_phrases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate(tmp_path, monkeypatch)
    folder = tmp_path / "ws"
    Workspace.init(folder)
    (folder / "phrases.toml").write_text('[sv]\nremember = ["kom ihåg …"]\n', "utf-8")
    with (folder / "workbench.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[triggers]\nphrases = "phrases.toml"\n')
    with Workspace.open(folder, role="person") as workspace:
        assert "- Remember: kom ihåg · remember · 记住 · don't forget" in workspace.instructions()
        assert "sub-agent scout" in workspace.instructions(agent="scout")
        with pytest.raises(InvalidInput):
            workspace.instructions(agent="No Name")
    with Workspace.open(folder, role="agent:coder") as workspace:
        assert "sub-agent coder" in workspace.instructions()
