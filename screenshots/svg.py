"""Draws what a terminal shows as SVG: one picture, or several as one that moves by CSS alone.

No font is fetched, since a page that shows a picture does not allow it. Each run of text is stretched to its cells, so
any font of even width will do; bars and rules are drawn as shapes, so none of them leaves gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.color import blend_rgb
from rich.color_triplet import ColorTriplet
from rich.style import Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.strip import Strip

CELL, LINE, SIZE = 12.2, 24.0, 20
BASELINE = 18
MARGIN, BAR = 8, 40
SECONDS = 3.4
FONTS = "'Fira Code','JetBrains Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Noto Sans Mono CJK SC',monospace"
# Rectangles: left, top, width and height within a cell.
_LEFT, _RIGHT = (0.0, 0.47, 0.56, 0.06), (0.44, 0.47, 0.56, 0.06)
_UP, _DOWN = (0.44, 0.0, 0.12, 0.53), (0.44, 0.47, 0.12, 0.53)
_ACROSS, _UPRIGHT = (0.0, 0.47, 1.0, 0.06), (0.44, 0.0, 0.12, 1.0)
_SHAPES = {
    **{sign: ((0.0, 1 - each / 8, 1.0, each / 8),) for each, sign in enumerate("▁▂▃▄▅▆▇█", 1)},
    **{sign: ((0.0, 0.0, each / 8, 1.0),) for each, sign in enumerate("▏▎▍▌▋▊▉", 1)},
    "━": ((0.0, 0.44, 1.0, 0.12),),
    "─": (_ACROSS,),
    "│": (_UPRIGHT,),
    "├": (_UPRIGHT, _RIGHT),
    "┤": (_UPRIGHT, _LEFT),
    "┬": (_ACROSS, _DOWN),
    "┴": (_ACROSS, _UP),
    "┼": (_ACROSS, _UPRIGHT),
}
# Rounded corners: where they begin and end, across and down, in halves of a cell.
_CORNERS = {"╭": (2, 1, 1, 2), "╮": (0, 1, 1, 2), "╰": (2, 1, 1, 0), "╯": (0, 1, 1, 0)}
_DRAWN = {*_SHAPES, *_CORNERS}


@dataclass(frozen=True)
class Scene:
    """What a terminal shows.

    Args:
        caption: What it is; stands in the title bar.
        lines: From above.
        dark: Whether its ground is.
    """

    caption: str
    lines: tuple[Strip, ...]
    dark: bool


def picture(scene: Scene) -> str:
    """Return a picture that stands alone."""
    drawn = "".join(
        f'<g transform="translate(0,{row * LINE:g})">{_line(line)}</g>'
        for row, line in enumerate(scene.lines)
    )
    return _framed(scene, "", _caption(scene) + _inside(drawn))


def animated(scenes: Sequence[Scene], still: int = 0) -> str:
    """Return several pictures, shown one after the other for ever.

    Args:
        scenes: In order, all of one size.
        still: Number of the one that is shown where nothing may move.
    """
    names: dict[str, str] = {}
    shown = []
    for number, scene in enumerate(scenes):
        rows = []
        for row, line in enumerate(scene.lines):
            name = names.setdefault(_line(line), f"l{len(names)}")
            rows.append(f'<use href="#{name}" y="{row * LINE:g}"/>')
        kind = "scene still" if number == still else "scene"
        delay = (number - len(scenes)) * SECONDS
        shown.append(
            f'<g class="{kind}" style="animation-delay:{delay:g}s">{_caption(scene)}{_inside("".join(rows))}</g>'
        )
    share = 100 / len(scenes)
    rules = (
        f".scene{{opacity:0;animation:turn {len(scenes) * SECONDS:g}s step-end infinite}}.still{{opacity:1}}"
        f"@keyframes turn{{0%{{opacity:1}}{share:g}%{{opacity:0}}100%{{opacity:0}}}}"
        "@media (prefers-reduced-motion:reduce){.scene{animation:none}}"
    )
    defined = "".join(f'<g id="{name}">{drawn}</g>' for drawn, name in names.items())
    return _framed(scenes[0], rules, f"<defs>{defined}</defs>{''.join(shown)}")


def _framed(scene: Scene, rules: str, drawn: str) -> str:
    width = scene.lines[0].cell_length * CELL + 2 * MARGIN
    height = len(scene.lines) * LINE + BAR + MARGIN
    ground, edge = ("#262a33", "#3a3f4b") if scene.dark else ("#e4e6ea", "#c3c7cf")
    lights = "".join(
        f'<circle cx="{22 + 20 * each}" cy="{BAR / 2:g}" r="6" fill="{colour}"/>'
        for each, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="{FONTS}" '
        f'font-size="{SIZE}" role="img"><title>{escape(scene.caption)}</title>'
        f"<style>text{{white-space:pre}}.b{{font-weight:700}}.i{{font-style:italic}}{rules}</style>"
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="9" fill="{ground}" stroke="{edge}"/>'
        f"{lights}{drawn}</svg>\n"
    )


def _caption(scene: Scene) -> str:
    width = scene.lines[0].cell_length * CELL + 2 * MARGIN
    colour = "#dfe2e8" if scene.dark else "#30343c"
    return (
        f'<text x="{width / 2:g}" y="{BAR / 2 + 6:g}" text-anchor="middle" font-size="17" fill="{colour}" '
        f'font-family="system-ui,sans-serif" font-weight="600">{escape(scene.caption)}</text>'
    )


def _inside(drawn: str) -> str:
    return f'<g transform="translate({MARGIN},{BAR})">{drawn}</g>'


def _line(line: Strip) -> str:
    """Return a line: its grounds, then what stands on them."""
    runs = list(_runs(line))
    grounds: list[str] = []
    signs: list[str] = []
    x = 0
    for colour, same in groupby(runs, lambda run: _colours(run[1])[1]):
        cells = sum(cell_len(text) for text, _ in same)
        # A little over the edge, or the page behind shines through.
        grounds.append(_rect(x, 0, cells, 1, colour, 0.4))
        x += cells
    x = 0
    for text, style in runs:
        colour = _colours(style)[0]
        for shape, letters in groupby(text, lambda letter: letter if letter in _DRAWN else ""):
            part = "".join(letters)
            cells = cell_len(part)
            if shape in _CORNERS:
                signs.extend(_corner(x + each, _CORNERS[shape], colour) for each in range(cells))
            elif shape:
                signs.extend(_shapes(x, cells, shape, colour))
            elif part.strip() or style.underline:
                signs.append(_text(part, x, colour, style))
            x += cells
    return "".join((*grounds, *signs))


def _runs(line: Strip) -> Iterator[tuple[str, Style]]:
    """Return the texts of a line that look alike, with no line break and nothing said to the terminal."""
    plain = ((segment.text, segment.style or Style()) for segment in line if not segment.control)
    for style, same in groupby(plain, lambda run: _look(run[1])):
        yield "".join(text for text, _ in same), style


def _look(style: Style) -> Style:
    """Return a style without links and other things that cannot be seen."""
    return Style(
        color=style.color,
        bgcolor=style.bgcolor,
        bold=style.bold,
        dim=style.dim,
        italic=style.italic,
        underline=style.underline,
        reverse=style.reverse,
    )


def _colours(style: Style) -> tuple[str, str]:
    front = style.color.get_truecolor() if style.color else ColorTriplet(128, 128, 128)
    behind = style.bgcolor.get_truecolor() if style.bgcolor else ColorTriplet(20, 22, 27)
    if style.reverse:
        front, behind = behind, front
    return (blend_rgb(front, behind) if style.dim else front).hex, behind.hex


def _shapes(x: int, cells: int, shape: str, colour: str) -> Iterator[str]:
    """Return a run of one sign, as few rectangles as will do."""
    for left, top, width, height in _SHAPES[shape]:
        if width == 1:
            yield _rect(x, top, cells, height, colour)
        else:
            yield from (_rect(x + each + left, top, width, height, colour) for each in range(cells))


def _corner(x: int, ends: tuple[int, int, int, int], colour: str) -> str:
    across, down, to_across, to_down = ends
    middle = f"{(x + 0.5) * CELL:g},{LINE / 2:g}"
    return (
        f'<path d="M{(x + across / 2) * CELL:g},{down * LINE / 2:g}Q{middle} '
        f'{(x + to_across / 2) * CELL:g},{to_down * LINE / 2:g}" fill="none" stroke="{colour}" stroke-width="1.44"/>'
    )


def _rect(x: float, y: float, width: float, height: float, colour: str, more: float = 0) -> str:
    return (
        f'<rect x="{x * CELL:g}" y="{y * LINE:g}" width="{width * CELL + more:g}" '
        f'height="{height * LINE + more:g}" fill="{colour}"/>'
    )


def _text(text: str, x: int, colour: str, style: Style) -> str:
    """Return a run of text; spaces at its ends are no part of it, since readers of SVG trim them."""
    bare = text if style.underline else text.strip(" ")
    x += cell_len(text) - cell_len(text.lstrip(" ")) if bare is not text else 0
    looks = " ".join(name for name, wanted in (("b", style.bold), ("i", style.italic)) if wanted)
    return (
        f'<text x="{x * CELL:g}" y="{BASELINE}" textLength="{cell_len(bare) * CELL:g}" '
        f'lengthAdjust="spacingAndGlyphs" fill="{colour}"'
        f"{f' class={chr(34)}{looks}{chr(34)}' if looks else ''}"
        f"{' text-decoration=' + chr(34) + 'underline' + chr(34) if style.underline else ''}>"
        f"{escape(bare, quote=False)}</text>"
    )
