"""Extra Markdown files: what is found, how it is named, what is refused."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.engine.search.outside_sources.unmasked import Unmasked
from workbench.engine.catalog.file_rows import MOST_BYTES
from workbench.engine.errors import OutsideWorkspace
from workbench.engine.search.outside_files import matches_glob, split_glob
from workbench.engine.search.outside_sources import ExtraPaths

UTC = ZoneInfo("UTC")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    (root / "memory/2026-02-01.md").write_text("in the catalog already\n")
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with everything that may be found in one, and much that may not."""
    folder = tmp_path / "notes"
    for path in (
        "a.md",
        "deep/er/b.MD",
        "c.txt",
        ".hidden/d.md",
        "node_modules/e.md",
        ".f.md",
        "2026-03-04 day.md",
    ):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# Title of {path}\n\nSome text.\n")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/s.md").write_text("secret\n")
    (folder / "link.md").symlink_to(tmp_path / "secret/s.md")
    (folder / "linked").symlink_to(tmp_path / "secret")
    (folder / "deep/loop").symlink_to(folder)
    return folder


def source(root: Path, *paths: str, memory: Path | None = None) -> ExtraPaths:
    return ExtraPaths(root, paths, UTC, memory, Unmasked())


def test_a_folder_is_searched_through_and_only_for_plain_markdown(root: Path, outside: Path) -> None:
    extra = source(root, str(outside))
    assert sorted(extra.digests()) == [
        f"extra:{outside}/2026-03-04 day.md",
        f"extra:{outside}/a.md",
        f"extra:{outside}/deep/er/b.MD",
    ]
    assert extra.problems == ()


def test_records_carry_lines_store_and_the_day_of_the_file_name(root: Path, outside: Path) -> None:
    shown = f"extra:{outside}/2026-03-04 day.md"
    (file,) = source(root, str(outside)).read([shown, "extra:/etc/passwd", "extra:nothing"])
    (record,) = file.records
    assert (record.store, record.path, record.start_line, record.end_line) == ("extra", shown, 1, 3)
    assert record.id == f"file:{shown}#L1-L3"
    assert record.title == "Title of 2026-03-04 day.md"
    assert record.moment is not None
    assert record.moment.date().isoformat() == "2026-03-04"
    assert file.digest == source(root, str(outside)).digests()[shown]


def test_paths_are_relative_to_the_workspace_and_memory_is_not_found_twice(root: Path, outside: Path) -> None:
    (root / "docs").mkdir()
    (root / "docs/x.md").write_text("x\n")
    assert list(source(root, "docs", "memory").digests()) == ["extra:docs/x.md"]
    assert list(source(root, "../notes/a.md").digests()) == ["extra:../notes/a.md"]
    assert list(source(root, ".").digests()) == ["extra:./docs/x.md"]


def test_a_file_that_is_named_twice_is_found_once(root: Path, outside: Path) -> None:
    digests = source(root, str(outside / "a.md"), str(outside), f"{outside}/*.md").digests()
    assert len(digests) == 3


@pytest.mark.parametrize(
    "path", ["link.md", "linked", "linked/s.md", "deep/loop", "deep/loop/a.md", "linked/*.md"]
)
def test_links_are_refused_wherever_they_stand(root: Path, outside: Path, path: str) -> None:
    extra = source(root, f"{outside}/{path}")
    assert extra.digests() == {}
    assert "symbolic link" in extra.problems[0].message


@pytest.mark.parametrize(
    ("path", "said"), [("missing", "no such"), ("c.txt", "Markdown"), ("missing/*.md", "no such")]
)
def test_what_leads_nowhere_is_said_and_hides_nothing_else(
    root: Path, outside: Path, path: str, said: str
) -> None:
    extra = source(root, f"{outside}/{path}", f"{outside}/a.md")
    assert list(extra.digests()) == [f"extra:{outside}/a.md"]
    assert said in extra.problems[0].message
    assert extra.problems[0].path.endswith(path)


def test_get_reads_what_is_listed_and_nothing_else(root: Path, outside: Path, tmp_path: Path) -> None:
    extra = source(root, str(outside))
    assert extra.read_extra(f"extra:{outside}/a.md").startswith(b"# Title of a.md")
    for path in (
        f"extra:{tmp_path}/secret/s.md",
        f"extra:{outside}/../secret/s.md",
        f"extra:{outside}/linked/s.md",
        f"extra:{outside}/link.md",
        f"{outside}/a.md",
        "extra:/etc/passwd",
        "extra:",
        "",
        "extra:\0",
    ):
        with pytest.raises(OutsideWorkspace):
            extra.read_extra(path)


def test_a_file_that_became_a_link_is_not_read(root: Path, outside: Path, tmp_path: Path) -> None:
    extra = source(root, str(outside))
    assert extra.digests()
    (outside / "a.md").unlink()
    (outside / "a.md").symlink_to(tmp_path / "secret/s.md")
    with pytest.raises(OutsideWorkspace):
        extra.read_extra(f"extra:{outside}/a.md")
    assert list(extra.read([f"extra:{outside}/a.md"])) == []


def test_an_untouched_file_is_not_read_again_even_by_the_next_run(
    root: Path, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "cache/extra.json"
    first = source(root, str(outside), memory=kept).digests()
    (outside / "a.md").write_text("changed, and longer\n")
    opened: list[str] = []

    def spied(file: object) -> bytes:
        opened.append(str(getattr(file, "place", "")))
        return b"changed, and longer\n"

    monkeypatch.setattr("workbench.engine.search.outside_sources._content", spied)
    second = source(root, str(outside), memory=kept).digests()
    assert opened == [str(outside / "a.md")]
    changed = [path for path in first if first[path] != second[path]]
    assert changed == [f"extra:{outside}/a.md"]


@pytest.mark.parametrize(
    "content", ["", "{", "[1]", "[1, [[1]]]", '[1, [["a", 1, 2, 3, 4, "zz", 5]]]', "[" * 9999]
)
def test_a_broken_memory_costs_a_reading(root: Path, outside: Path, tmp_path: Path, content: str) -> None:
    kept = tmp_path / "extra.json"
    kept.write_text(content)
    assert len(source(root, str(outside), memory=kept).digests()) == 3


def test_a_large_file_is_cut_at_a_line_and_that_is_said(root: Path, outside: Path) -> None:
    line = b"word " * 20 + b"\n"
    (outside / "a.md").write_bytes(line * (MOST_BYTES // len(line) + 100))
    extra = source(root, f"{outside}/a.md")
    assert len(extra.digests()) == 1
    assert "larger than 4 MiB" in extra.problems[0].message
    content = extra.read_extra(f"extra:{outside}/a.md")
    assert content.endswith(b"\n")
    assert len(content) <= MOST_BYTES


def test_bytes_that_are_no_text_and_strange_names_are_survived(root: Path, outside: Path) -> None:
    (outside / "a.md").write_bytes(b"\xff\xfe words \x00 here\n")
    (outside / "odd #1\nname.md").write_text("odd\n")
    extra = source(root, str(outside))
    shown = [path for path in extra.digests() if "odd" in path]
    assert shown == [f"extra:{outside}/odd %231\ufffdname.md"]
    assert extra.read_extra(shown[0]) == b"odd\n"
    assert all(file.records for file in extra.read(list(extra.digests())))


def test_too_many_files_are_bounded(root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.search.outside_sources.MOST_FILES", 2)
    extra = source(root, str(outside))
    assert len(extra.digests()) == 2
    assert "more than 2" in extra.problems[0].message


@pytest.mark.parametrize(
    ("path", "pattern", "fitting"),
    [
        ("a.md", "*.md", True),
        ("b/a.md", "*.md", False),
        ("b/a.md", "**/*.md", True),
        ("a.md", "**/*.md", True),
        ("b/c/a.md", "**/c/*.md", True),
        ("b/c/a.md", "b/**", True),
        ("b/c/a.md", "?/c", True),
        ("b/c/a.md", "[!b]/**", False),
        ("b/a.md", "[z-a]/*.md", False),
        ("b/a.md", "", True),
        ("b/a.md", "**/**/**/a.md", True),
        ("x" * 200 + ".md", "*x" * 60 + "*y", False),
    ],
)
def test_globs(path: str, pattern: str, fitting: bool) -> None:
    assert matches_glob(path, pattern) is fitting


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/srv/a", ("/srv/a", "")),
        ("/srv/*/b.md", ("/srv", "*/b.md")),
        ("*.md", ("", "*.md")),
        ("/*.md", ("/", "*.md")),
        ("~/n/**/x", ("~/n", "**/x")),
    ],
)
def test_a_glob_is_parted_before_its_first_wildcard(path: str, parts: tuple[str, str]) -> None:
    assert split_glob(path) == parts
