"""Paths are completed by what stands in their folder, whatever its names are."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.tui.paths import PathFound, complete


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("notes", "Nested", ".hidden"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes.md").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def paths(typed: str) -> list[str]:
    return [each.path for each in complete(typed)]


def test_folders_come_first_and_case_does_not_matter(home: Path) -> None:
    assert paths("~/n") == ["~/Nested/", "~/notes/", "~/notes.md"]
    assert paths(f"{home}/nest") == [f"{home}/Nested/"]


def test_what_is_typed_comes_first_where_it_is_there(home: Path) -> None:
    assert complete("~/notes")[0] == PathFound("~/notes", is_folder=True, told="this folder")
    assert paths("~/notes") == ["~/notes", "~/notes.md"]
    (home / "notes" / "a").write_text("")
    assert paths("~/notes/") == ["~/notes", "~/notes/a"]


def test_hidden_names_come_once_a_full_stop_is_typed(home: Path) -> None:
    assert "~/.hidden/" not in paths("~/")
    assert paths("~/.")[-1:] == ["~/.hidden/"]


@pytest.mark.parametrize(
    "typed", ["/no/such/folder/x", "~nobody-of-that-name/x", "\0", "a" * 5000, "~/notes.md/x"]
)
def test_what_cannot_be_listed_offers_nothing(home: Path, typed: str) -> None:
    assert complete(typed) == []


def test_a_call_that_nobody_waits_for_ends(home: Path) -> None:
    assert complete("~/n", lambda: True) == []
