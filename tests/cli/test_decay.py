"""The command for decay: what is asked of the engine, and what people read."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli import samples
from tests.cli.door import Bench, Door
from tests.cli.program import Program
from workbench.display.decay import decay_lines, explained_lines, fall_lines, trial_lines
from workbench.display.text import Page
from workbench.engine.results.decay import DecayEntry, ScorePoint

EPISODE, LENA = samples.DECAY.entries
OTHER = dataclasses.replace(
    EPISODE, id="episode:2026-01-02:10:00", tags=("Sea", "ship"), entities=("entity:person--lena",), score=0.1
)
VIEW = dataclasses.replace(samples.DECAY, entries=(EPISODE, LENA, OTHER))


@pytest.fixture
def program(program: Program) -> Program:
    """Run command lines in this process: what they answer is looked at."""
    return replace(program, here=True)


@pytest.fixture(autouse=True)
def answering(door: Door) -> None:
    door.answers |= {"decay": VIEW, "decay_falls": samples.FALLS, "decay_keep": samples.CHANGED}
    door.answers["resolve"] = lambda **_: "entity:person--lena"


def ids(answer: dict[str, object]) -> list[str]:
    entries = answer["entries"]
    assert isinstance(entries, list)
    return [entry["id"] for entry in entries]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], [EPISODE.id, LENA.id, OTHER.id]),
        (["--store", "semantic"], [LENA.id]),
        (["--tag", "sea"], [OTHER.id]),
        (["--entity", "Lena"], [OTHER.id]),
        (["--store", "semantic", "--tag", "sea"], []),
        (["--sort", "id"], sorted([EPISODE.id, LENA.id, OTHER.id])),
        (["--sort", "uses"], [OTHER.id, EPISODE.id, LENA.id]),
        (["--sort", "used"], [OTHER.id, EPISODE.id, LENA.id]),
    ],
)
def test_memories_are_narrowed_and_sorted(bench: Bench, words: list[str], expected: list[str]) -> None:
    assert ids(bench.json("decay", *words)) == expected


def test_what_fades_is_narrowed_like_the_rest(bench: Bench, door: Door) -> None:
    found = bench.json("decay", "--fading", "30", "--lambda", "0.1")
    assert door.called("decay_falls") == {"within": 30, "lambda_": 0.1}
    assert [fall["id"] for fall in found["falls"]] == [EPISODE.id, LENA.id]
    found = bench.json("decay", "--fading", "30", "--store", "semantic")
    assert [fall["id"] for fall in found["falls"]] == [LENA.id]


@pytest.mark.parametrize(
    "words",
    [
        ["--keep"],
        ["--fading", "3", "--forecast", "3"],
        ["--fading", "0"],
        ["--group", "colour"],
        ["--sort", "colour"],
        ["--store", "file"],
        ["--lambda", "-1"],
        ["explain", "x", "--on", "soon"],
    ],
)
def test_what_makes_no_sense_is_refused(bench: Bench, words: list[str]) -> None:
    assert bench.run("decay", *words).exit_code == 2


def test_a_rate_is_kept_by_those_who_agree(bench: Bench, door: Door) -> None:
    refused = bench.json("decay", "--lambda", "0.05", "--keep", code=5)
    assert refused["error"]["kind"] == "confirmation-needed"
    # What would change comes with the refusal.
    assert ids(refused) == [EPISODE.id, LENA.id, OTHER.id]
    assert "decay_keep" not in [name for name, _ in door.calls]
    assert bench.json("decay", "--lambda", "0.05", "--keep", "--yes")["commit"] == samples.COMMIT
    assert door.called("decay_keep") == {"lambda_": 0.05}
    assert "λ is 0.05 a day now." in bench.run("decay", "--lambda", "0.05", "--keep", "--yes").stdout


def test_a_trial_is_asked_about_in_the_zone_of_the_workspace(program: Program) -> None:
    program = program.with_environment(WORKBENCH_TIMEZONE="Asia/Taipei")
    program.json("init", ".")
    headings = [
        program.run("decay", "--lambda", "0.05", *more).stdout.splitlines()[0] for more in ([], ["--keep"])
    ]
    assert "22:30" in headings[0]
    assert headings[0] == headings[1]


def test_what_another_rate_would_change_is_counted_and_listed() -> None:
    standing = dataclasses.replace(VIEW, entries=tuple(_with(entry, "active") for entry in VIEW.entries))
    changed = (_with(EPISODE, "fading", "fading"), _with(LENA, "active"), _with(OTHER, "fading", "fading"))
    trial = dataclasses.replace(VIEW, lambda_=0.1, entries=changed)
    lines = trial_lines(Page(), standing, trial, limit=1)
    assert lines[2] == "2 would be fading instead of active:"
    assert OTHER.id in lines[4]
    assert lines[5] == "… and 1 more: --limit 2"
    assert not any(LENA.id in line for line in lines)
    same = trial_lines(Page(), standing, standing)
    assert same[-1] == "Nothing would change: 3 active."


def _with(entry: DecayEntry, status: str, would_be: str | None = None) -> DecayEntry:
    return dataclasses.replace(entry, status=status, would_be=would_be)


def test_groups_are_counted_and_the_largest_comes_first() -> None:
    lines = decay_lines(Page(), VIEW, grouped="store")
    heads = [line.split() for line in lines if line.startswith(("episodic", "semantic"))]
    assert heads == [["episodic", "2", "fading"], ["semantic", "1", "pinned"]]
    by_tag = "\n".join(decay_lines(Page(), VIEW, grouped="tag"))
    assert by_tag.index("no tag") < by_tag.index("Sea") < by_tag.index("ship")
    assert by_tag.count(OTHER.id) == 2
    few = decay_lines(Page(), VIEW, grouped="tag", limit=1)
    assert few[-1] == "… and 2 more of 3 tags: --limit 3"


def test_a_forecast_is_drawn_as_a_strip() -> None:
    def course(entry: DecayEntry, days: Sequence[int]) -> list[ScorePoint]:
        return [ScorePoint(day, 0.5, "active" if day < 30 else "dormant") for day in days]

    lines = decay_lines(Page(width=120), samples.DECAY, course=course)
    assert " ".join(lines[-1].split()) == (
        "The strip begins today, 1 cell = 8 days; its height is the score, ▼ where that drops a level."
    )
    assert "│▄▄▄▄▼▄▄▄▄▄▄▄▄" in lines[4]
    # Without a forecast there is none to draw.
    assert "The strip" not in "".join(decay_lines(Page(), VIEW, course=None))
    # Titles come before strips, and a legend explains nothing that is not there.
    narrow = decay_lines(Page(width=90), samples.DECAY, course=course)
    assert any("Hybrid approach chosen" in line for line in narrow)
    assert not any("The strip" in line or "▼" in line for line in narrow)


def test_falls_say_when_and_what_changes() -> None:
    lines = fall_lines(Page(width=120), samples.FALLS, limit=1)
    assert lines[0].startswith("What fades within 30 days")
    assert lines[2].split()[:7] == ["2026-02-06", "4", "d", "active", "→", "fading", "0.5"]
    assert lines[-1] == "… and 1 more: --limit 2"
    # Titles come before numbers.
    assert "Hybrid approach cho…" in fall_lines(Page(width=80), samples.FALLS, limit=1)[2]
    nothing = fall_lines(Page(), dataclasses.replace(samples.FALLS, within=1, falls=()))
    assert nothing[-1] == "Nothing passes a threshold within 1 day."


def test_a_score_is_written_out_term_by_term() -> None:
    text = "\n".join(explained_lines(Page(), samples.EXPLAINED))
    for words in (
        "λ 0.03, 1 day since 2026-02-01",
        "0.9705",
        "1 use",
        "0.8000",
        "= ",
        "0.7763",
        "Score 0.7763, active.",
    ):
        assert words in text, words
    assert "halves every 23.1 days" in text
    assert "2026-02-06  in 4 d  below 0.5: fading" in text
    for days, said in ((3, "in 1 d"), (4, "that day"), (6, "2 d before")):
        then = dataclasses.replace(samples.EXPLAINED, on=samples.EXPLAINED.on + timedelta(days))
        assert f"2026-02-06  {said}  below 0.5: fading" in explained_lines(Page(), then)
    gone = dataclasses.replace(samples.EXPLAINED, score=None, status="unmade", half_life=None, falls=())
    assert "it was made on 2026-02-01" in explained_lines(Page(), gone)[-1]


def test_in_earnest(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "memory"
    home.mkdir()
    folder.mkdir()
    program = Program(folder, home, here=True)
    program.run("init")
    id_ = program.json("remember", "Lena moored the ship", "--store", "episodic", "--tag", "sea")["id"]
    answer = program.json("decay", "--forecast", "30", "--tag", "sea")
    (entry,) = answer["entries"]
    assert entry["id"] == id_
    then = program.at("2026-03-04T14:30:00Z")
    (later,) = then.json("decay", "--tag", "sea")["entries"]
    assert entry["forecast"] == {"30": later["score"]}
    fall = program.json("decay", "--fading", "365", "--tag", "sea")["falls"][0]
    assert fall["after"] == program.json("decay", "explain", id_, "--on", fall["on"])["status"]
    assert program.json("decay", "--lambda", "0.5", "--keep", "--yes")["files"] == ["workbench.toml"]
    assert program.json("decay")["lambda"] == 0.5
    program.json("undo")
    assert program.json("decay")["lambda"] == answer["lambda"] != 0.5
