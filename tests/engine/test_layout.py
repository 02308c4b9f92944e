from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine import layout
from workbench.engine.errors import OutsideWorkspace


@pytest.mark.parametrize(
    ("path", "tracked"),
    [
        ("MEMORY.md", True),
        ("SOUL.md", True),
        ("workbench.toml", True),
        ("openclaw.json", True),
        ("memory/2026-02-01.md", True),
        ("memory/graph/entities/person--alex.md", True),
        ("memory/meta/decay-scores.json", True),
        ("memory/graph/index.md", False),
        ("memory/meta/audit.log", False),
        ("memory/.dreams/events.md", False),
        ("memory/photo.png", False),
        ("README.md", False),
        (".audit/config", False),
        (".git/config", False),
    ],
)
def test_what_history_keeps(path: str, tracked: bool) -> None:
    assert layout.is_tracked(path) is tracked


@pytest.mark.parametrize(
    "path",
    [
        *("", "/etc/passwd", "../x.md", "memory/../../x.md", "a\0b", ".", "./"),
        *(
            "..\\x.md",
            "memory\\..\\..\\x.md",
            "a/..\\x.md",
            "C:\\x.md",
            "C:..\\x.md",
            "\\x.md",
            "\\\\host\\share\\x.md",
        ),
    ],
)
def test_paths_that_lead_out_are_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(OutsideWorkspace):
        layout.resolve(tmp_path, path)


def test_a_backslash_is_a_letter_of_a_name(tmp_path: Path) -> None:
    assert layout.resolve(tmp_path, "memory/odd\\name.md") == tmp_path / "memory" / "odd\\name.md"


@given(st.text(max_size=60))
def test_whatever_is_resolved_stands_inside(text: str) -> None:
    root = Path("/nowhere/at/all")
    try:
        place = layout.resolve(root, text)
    except (OutsideWorkspace, OSError, ValueError):
        return
    assert os.path.normpath(place).startswith(f"{root}{os.sep}")


def test_links_are_refused_on_any_step(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "memory").symlink_to(outside)
    (root / "SOUL.md").symlink_to(outside / "secret.md")
    for path in ("memory/secret.md", "SOUL.md"):
        with pytest.raises(OutsideWorkspace):
            layout.resolve(root, path)
    assert layout.tracked_files(root) == {}


def test_listing_leaves_out_what_is_not_kept(tmp_path: Path) -> None:
    for path in (
        "MEMORY.md",
        "memory/2026-02-01.md",
        "memory/graph/index.md",
        "memory/.hidden/a.md",
        "notes.md",
    ):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    os.mkfifo(tmp_path / "memory/pipe.md")
    assert list(layout.tracked_files(tmp_path)) == ["MEMORY.md", "memory/2026-02-01.md"]


@pytest.mark.parametrize(
    ("path", "store"),
    [
        ("MEMORY.md", "core"),
        ("memory/episodes/2026-02-01.md", "episodic"),
        ("memory/graph/relations.md", "semantic"),
        ("memory/procedures/x.md", "procedural"),
        ("memory/vault/x/y.md", "vault"),
        ("memory/meta/evolution.md", "meta"),
        ("memory/2026-02-01.md", "file"),
        ("SOUL.md", "file"),
    ],
)
def test_the_store_of_a_file(path: str, store: str) -> None:
    assert layout.store_of(path) == store


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-02-03.md", date(2026, 2, 3)),
        ("extra:~/notes/standup 2026-02-03, later.md", date(2026, 2, 3)),
        ("qmd/notes/2026-02-03/plan.md", None),
        ("2026-13-40.md", None),
        ("12026-02-033.md", None),
        ("", None),
    ],
)
def test_a_file_name_can_carry_a_day(path: str, day: date | None) -> None:
    assert layout.day_in_name(path) == day


@pytest.mark.parametrize("path", [".", "./", "./."])
def test_the_folder_itself_is_not_said_to_lie_outside(path: str) -> None:
    with pytest.raises(OutsideWorkspace, match="is the workspace itself"):
        layout.normalise(path)
