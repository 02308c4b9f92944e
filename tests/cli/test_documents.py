"""What people read before they start: every file that a page points to is there."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")))
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_TARGETS = re.compile(r"\]\(\s*<?([^)\s>]+)|(?:src|href)=\"([^\"]+)\"|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)


def relative_targets(text: str) -> list[str]:
    """Return the paths that a page of Markdown links to or shows, those of other places left out."""
    found = (next(filter(None, match.groups())) for match in _TARGETS.finditer(_CODE.sub("", text)))
    parts = (urlsplit(target) for target in found)
    return [unquote(part.path) for part in parts if part.path and not (part.scheme or part.netloc)]


def test_links_and_pictures_are_recognised() -> None:
    page = (
        '![A](a.svg) [B](b.md#x) <img src="c.png"> [D]\n\n[D]: d.md\n`[no](no.md)` [web](https://e.org/x)\n'
    )
    assert relative_targets(page) == ["a.svg", "b.md", "c.png", "d.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_points_to_is_there(page: str) -> None:
    place = ROOT / page
    targets = relative_targets(place.read_text(encoding="utf-8"))
    assert [target for target in targets if not (place.parent / target).exists()] == []
