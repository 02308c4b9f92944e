"""Writes a workspace of plain files as large as wanted, the same for the same seed."""

from __future__ import annotations

import random
import re
import sys
from datetime import date, timedelta
from pathlib import Path

EPISODES_A_DAY = 50
LAST_DAY = date(2026, 2, 2)

_KINDS = ("decision", "fact", "preference", "task", "event", "emotion", "correction")
_CONFIDENCES = ("high", "medium", "low")
_SOURCES = ("conversation", "conversation", "conversation", "user-explicit", "reflection")
_TAGS = ("auth", "deploy", "budget", "hiring", "travel", "search", "health", "design", "garden", "music")
_TYPES = ("person", "project", "concept", "tool", "place")
_RELATIONS = ("works-on", "uses", "prefers", "inspired-by", "part-of", "knows")
_COMMON = re.findall(
    r"\w+",
    "the a of and to in that with for on was is it by from after before because again about they we she he",
)
_TELLING = re.findall(
    r"\w+",
    "deployment memory garden invoice pipeline review budget kitchen train violin database index token schema "
    "harbour contract lesson recipe mountain printer archive meeting dentist ticket bicycle winter report",
)
_ONSETS = ("b", "br", "d", "dr", "f", "g", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "v", "z")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ou")
_CHINESE = (
    "今天讨论了记忆系统的设计",
    "决定使用混合检索方案",
    "下周去上海开会",
    "偏好简洁的界面",
    "数据库需要迁移",
)


def generate(path: Path, *, episodes: int, entities: int, relations: int = 3, seed: int = 0) -> None:
    """Write core memory, day files of 50 episodes each, and one file per entity.

    Args:
        path: The workspace folder; made where it is missing.
        episodes: How many, in days counted backwards from 2 February 2026.
        entities: How many.
        relations: Relations to other entities in each entity's file.
        seed: Chooses the words.
    """
    chance = random.Random(seed)
    words = _vocabulary(chance)
    path.mkdir(parents=True, exist_ok=True)
    (path / "MEMORY.md").write_text(_core(chance, words), encoding="utf-8")
    folder = path / "memory/episodes"
    folder.mkdir(parents=True, exist_ok=True)
    names = _names(chance, entities)
    for number, first in enumerate(range(0, episodes, EPISODES_A_DAY)):
        day = LAST_DAY - timedelta(days=number)
        count = min(EPISODES_A_DAY, episodes - first)
        (folder / f"{day}.md").write_text(_day(chance, words, names, day, count), encoding="utf-8")
    folder = path / "memory/graph/entities"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(entities):
        text = _entity(chance, words, names, number, relations)
        (folder / f"{_slug(names, number)}.md").write_text(text, encoding="utf-8")


def generate_logs(path: Path, *, entries: int, seed: int = 0) -> None:
    """Write flat daily logs of 50 entries each, which never fade.

    Args:
        path: The workspace folder; made where it is missing.
        entries: How many, in days counted backwards from 2 February 2026.
        seed: Chooses the words.
    """
    chance = random.Random(seed)
    words = _vocabulary(chance)
    (path / "memory").mkdir(parents=True, exist_ok=True)
    for number, first in enumerate(range(0, entries, EPISODES_A_DAY)):
        day = LAST_DAY - timedelta(days=number)
        lines = [f"# {day}"]
        for entry in range(min(EPISODES_A_DAY, entries - first)):
            lines += ["", f"## {9 + entry // 6:02}:{entry % 6 * 10:02} note"]
            lines += [f"- {_sentence(chance, words, 10, 20)}" for _ in range(4)]
        (path / f"memory/{day}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def generate_notes(path: Path, *, notes: int, seed: int = 0) -> None:
    """Write small notes of some 200 bytes, one a file.

    Args:
        path: The workspace folder; made where it is missing.
        notes: How many.
        seed: Chooses the words.
    """
    chance = random.Random(seed)
    words = _vocabulary(chance)
    folder = path / "memory/notes"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(notes):
        lines = [_sentence(chance, words, 10, 20) for _ in range(2)]
        text = "\n".join((f"# Note {number}", "", *lines, f"It is note{number}.", ""))
        (folder / f"{number:06}.md").write_text(text, encoding="utf-8")


def _vocabulary(chance: random.Random) -> list[str]:
    """Return words to draw from: about half of what is drawn is common, the rest spread over 4,000 words."""
    rare = [
        "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(chance.randint(2, 4)))
        for _ in range(4_000)
    ]
    return _COMMON * 200 + _TELLING * 40 + rare


def _names(chance: random.Random, count: int) -> list[str]:
    """Return distinct names of two or three words; one in ten ends in a version."""
    parts = [
        "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(2)).title() for _ in range(900)
    ]
    names: dict[str, None] = {}
    while len(names) < count:
        words = chance.choices(parts, k=chance.randint(2, 3))
        if chance.random() < 0.1:
            words.append(f"{chance.randint(1, 9)}.{chance.randint(0, 30)}")
        names[" ".join(words)] = None
    return list(names)


def _slug(names: list[str], number: int) -> str:
    return f"{_TYPES[number % len(_TYPES)]}--{names[number].lower().replace(' ', '-').replace('.', '-')}"


def _sentence(chance: random.Random, words: list[str], least: int, most: int) -> str:
    chosen = chance.choices(words, k=chance.randint(least, most))
    return " ".join(chosen).capitalize() + "."


def _core(chance: random.Random, words: list[str]) -> str:
    blocks = ("Identity", "Active Context", "Persona", "Critical Facts")
    return "# Core memory\n" + "".join(
        f"\n## {block}\n" + "".join(f"- {_sentence(chance, words, 6, 14)}\n" for _ in range(6))
        for block in blocks
    )


def _day(chance: random.Random, words: list[str], names: list[str], day: date, count: int) -> str:
    lines = [f"# {day} — Episode Log", ""]
    for number in range(count):
        minute = 7 * 60 + number * 18
        source = chance.choice(_SOURCES)
        heading = (
            f"## {minute // 60:02}:{minute % 60:02} | {chance.choice(_KINDS)}"
            f" | confidence:{chance.choice(_CONFIDENCES)} | tags:[{', '.join(chance.sample(_TAGS, 2))}]"
        )
        lines.append(heading if source == "conversation" else f"{heading} | source:{source}")
        lines.extend(_sentence(chance, words, 10, 22) for _ in range(chance.randint(1, 4)))
        if names and number % 3 == 0:
            lines.append(f"It concerns [[{_slug(names, chance.randrange(len(names)))}]].")
        if number % 25 == 0:
            lines.append(chance.choice(_CHINESE) + "。")
        lines.append("")
    return "\n".join(lines)


def _entity(chance: random.Random, words: list[str], names: list[str], number: int, relations: int) -> str:
    name, kind = names[number], _TYPES[number % len(_TYPES)]
    day = LAST_DAY - timedelta(days=chance.randrange(400))
    lines = [
        f"# {name}",
        f"<!-- Type: {kind} | Created: {day} -->",
        "",
        "## Aliases",
        f"- {name.split()[1]} of {name.split()[0]}",
        "",
        "## Summary",
        _sentence(chance, words, 8, 20),
        "",
        "## Facts",
    ]
    for fact in range(3):
        sentence = _sentence(chance, words, 6, 12).rstrip(".")
        lines.append(f"- {sentence} (since {day}, from episode:{day}:09:00) ^f{fact}{number % 97:02}")
    lines += ["", "## Timeline", f"- {day}: First mentioned", "", "## Relations"]
    for at in range(relations):
        target = _slug(names, chance.randrange(len(names)))
        known = f"(confidence high, since {day}) ^r{at}{number % 97:02}"
        lines.append(f"- {chance.choice(_RELATIONS)}: [[{target}]] {known}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    generate(Path(sys.argv[1]), episodes=int(sys.argv[2]), entities=int(sys.argv[3]))
