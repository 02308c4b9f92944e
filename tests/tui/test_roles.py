"""Every role that something is drawn in is one that the palette knows: another would end the bench where it is met."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from workbench.tui.palette import Palette
from workbench.tui.themes import load_themes

PACKAGE = Path(workbench.__file__).parent
# Where the role stands among the arguments of what makes a span.
PLACE = {"ink": 1, "Span": 1, "column": 2}


def roles() -> Iterator[tuple[str, str]]:
    """Yield each role written down in a call that makes a span, with its place."""
    for folder in ("display", "tui"):
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                at = PLACE.get(getattr(node.func, "id", ""))
                if at is None or len(node.args) <= at:
                    continue
                for role in _written(node.args[at]):
                    yield role, f"{path.relative_to(PACKAGE)}:{node.lineno}"


def _written(part: ast.expr) -> Iterator[str]:
    if isinstance(part, ast.IfExp):
        yield from _written(part.body)
        yield from _written(part.orelse)
    elif isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value


def _is_known(palette: Palette, role: str) -> bool:
    try:
        palette.style(role)
    except KeyError:
        return False
    return True


@pytest.mark.parametrize("theme", sorted(load_themes().by_name))
def test_every_role_that_is_drawn_is_known(theme: str) -> None:
    palette = Palette(load_themes().by_name[theme])
    found = list(roles())
    assert len(found) > 300
    assert {place: role for role, place in found if not _is_known(palette, role)} == {}
