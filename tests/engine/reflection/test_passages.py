"""Passages: who said what, when, on which lines."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.reflection.passages import holds_passages, passages_of

ZONE = ZoneInfo("Europe/Berlin")
TURNS = """# 2026-02-01

## Call with Ines at 11:01

- 11:01 Ines: The harbour wants **three** berths.
- 11:02 Jon: I moved the server.
  It runs since noon.
- Note: nobody asked
"""


def test_turns_of_a_log_have_speaker_time_and_lines() -> None:
    first, second, third = passages_of("memory/2026-02-01.md", TURNS.encode(), ZONE)

    assert (first.speaker, first.text) == ("Ines", "The harbour wants **three** berths.")
    assert first.id == "file:memory/2026-02-01.md#L5-L5"
    assert first.moment is not None
    assert first.moment.isoformat() == "2026-02-01T11:01:00+01:00"
    assert (second.speaker, second.text) == ("Jon", "I moved the server.\n  It runs since noon.")
    assert (second.start_line, second.end_line, second.day) == (6, 7, "2026-02-01")
    assert (third.speaker, third.text) == ("", "Note: nobody asked")


def test_a_section_headed_by_its_speaker_is_one_passage() -> None:
    log = "# 2026-02-01\n\n## 09:00 user\nMy quota is 1,000 calls.\n\n- a list\n\n## 09:01 assistant\nGood.\n"

    asked, answered = passages_of("memory/2026-02-01.md", log.encode(), ZONE)

    assert (asked.speaker, asked.id) == ("user", "file:memory/2026-02-01.md#L4-L6")
    assert asked.text == "My quota is 1,000 calls.\n\n- a list"
    assert (answered.speaker, answered.text) == ("assistant", "Good.")


def test_a_heading_that_comes_once_names_no_speaker() -> None:
    log = "# 2026-02-01\n\n## 09:00 Morning standup\nWe moved.\n\n## 10:00 Ines\nFine.\n\n## 11:00 Ines\nGood.\n"

    passages = passages_of("memory/2026-02-01.md", log.encode(), ZONE)

    assert [passage.speaker for passage in passages] == ["", "Ines", "Ines"]


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            "User: I keep bees.\nAssistant: How many?\nNine hives?\nUser: Four.\n",
            [("User", "I keep bees."), ("Assistant", "How many?\nNine hives?"), ("User", "Four.")],
        ),
        (
            "用户：我养蜂。\n助手：几箱？\n用户：四箱。\n",
            [("用户", "我养蜂。"), ("助手", "几箱？"), ("用户", "四箱。")],
        ),
        ("Prices\nHoney: 9 a jar\nWax: 4 a bar\n", [("", "Prices\nHoney: 9 a jar\nWax: 4 a bar")]),
    ],
)
def test_a_paragraph_that_is_a_dialogue_is_cut_into_its_turns(log: str, said: list[tuple[str, str]]) -> None:
    passages = passages_of("memory/2026-02-01.md", f"# 2026-02-01\n\n{log}".encode(), ZONE)

    assert [(passage.speaker, passage.text) for passage in passages] == said


def test_an_episode_is_one_passage_under_its_own_id() -> None:
    log = "# 2026-02-01\n\n## 14:30 | decision | confidence:high | tags:[db]\nWe use Postgres.\nNot MySQL.\n"

    (episode,) = passages_of("memory/episodes/2026-02-01.md", log.encode(), ZONE)

    assert episode.id == "episode:2026-02-01:14:30"
    assert (episode.type, episode.confidence, episode.tags) == ("decision", "high", ("db",))
    assert episode.text == "We use Postgres.\nNot MySQL."


@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("memory/2026-02-01.md", True),
        ("memory/episodes/2026-02-01.md", True),
        ("memory/notes/idea.md", True),
        ("memory/graph/entities/person--jon.md", False),
        ("memory/meta/pending-reflection.md", False),
        ("memory/procedures/how-to-deploy.md", False),
        ("memory/vault/oath.md", False),
        ("MEMORY.md", False),
        ("SOUL.md", False),
    ],
)
def test_what_is_reflected_on(path: str, held: bool) -> None:
    assert holds_passages(path) is held


@given(st.text(max_size=400))
def test_every_line_of_a_passage_stands_on_its_lines(text: str) -> None:
    content = f"# 2026-02-01\n\n{text}".encode("utf-8", "surrogatepass")
    from workbench.engine.markdown.source import SourceText

    source = SourceText.from_bytes(content)
    for passage in passages_of("memory/2026-02-01.md", content, ZONE):
        lines = passage.text.split("\n")
        assert len(lines) == passage.end_line - passage.start_line + 1
        for number, line in enumerate(lines, passage.start_line):
            assert source.line(number).endswith(line)
