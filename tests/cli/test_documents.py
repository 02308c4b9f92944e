"""What people read before they start: every file, command and option that a page names is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

from workbench.cli.root import workbench

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")))
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"(?<![\w./~-])workbench((?: +[^\s`|&;>#]+)+)")
_WORD = re.compile(r"[a-z][a-z-]*")
_OPTION = re.compile(r"--[a-z][a-z-]*")
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


def calls(text: str) -> list[list[str]]:
    """Return the words of every command line of the program that the code of a page has.

    Lines of `npx` are left out: they mix in the options of another program.
    """
    code = "\n".join(match.group() for match in _CODE.finditer(text)).replace("\\\n", " ")
    lines = [line for line in code.splitlines() if " npx " not in f" {line}"]
    return [match.group(1).split() for line in lines for match in _CALL.finditer(line)]


def unknown_words(words: list[str]) -> Iterator[str]:
    """Yield the command and the options of a command line that the program does not have."""
    context = click.Context(workbench)
    known: click.Command | None = workbench
    options = {name for param in workbench.params for name in param.opts}
    words = [word.strip("[]()…,.’”'\"") for word in words]
    while words and words[0].startswith("-"):
        words = words[1:] if words[0] in ("--json", "--help", "--version") else words[2:]
    for at, word in enumerate(words):
        if not (isinstance(known, click.Group) and _WORD.fullmatch(word)):
            break
        found = known.get_command(context, word)
        if found is None and at == 0:
            yield word
            return
        if found is None:
            break
        known = found
    while known is not None:
        options |= {name for param in known.params for name in (*param.opts, *param.secondary_opts)}
        default = getattr(known, "default", None) if isinstance(known, click.Group) else None
        known = known.get_command(context, default) if default and isinstance(known, click.Group) else None
    for word in words:
        if (match := _OPTION.match(word)) and match.group() not in options | {"--help"}:
            yield match.group()


def test_command_lines_are_recognised() -> None:
    page = "`workbench bloom`, `workbench -w A audit at NOW --no`\n```sh\nworkbench search --explain x\n```\n"
    assert [list(unknown_words(words)) for words in calls(page)] == [["bloom"], ["--no"], []]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_a_page_names_is_there(page: str) -> None:
    found = calls((ROOT / page).read_text(encoding="utf-8"))
    told = [(" ".join(words), unknown) for words in found for unknown in unknown_words(words)]
    assert told == []
