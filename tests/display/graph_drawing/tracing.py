"""Reads a drawing back as a person does: follows the lines from box to box, and reads the words on and beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.display.canvas import clusters
from workbench.display.ink import plain_text

if TYPE_CHECKING:
    from workbench.display.canvas import Picture

Edge = tuple[str, str, str]
ARMS = {
    "─": "EW", "│": "NS", "╭": "ES", "╮": "SW", "╰": "NE", "╯": "NW", "├": "NES", "┤": "NSW", "┬": "ESW", "┴": "NEW",
    "┼": "NESW",
}  # fmt: skip
MOVES = {"N": (0, -1), "E": (1, 0), "S": (0, 1), "W": (-1, 0)}
BACK = {"N": "S", "E": "W", "S": "N", "W": "E"}
HEADS = {"▶": "E", "◀": "W"}


def grid_of(picture: Picture) -> list[list[str]]:
    """Return the cells of a drawing; the right half of a wide character is an empty string."""
    rows = []
    for line in picture.lines:
        row: list[str] = []
        for shown, size in clusters(plain_text(line)):
            row += [shown, ""][:size]
        rows.append(row)
    width = max((len(row) for row in rows), default=0)
    return [row + [" "] * (width - len(row)) for row in rows]


@dataclass(frozen=True)
class Port:
    """An end of a line at a box: what is written on the line until it meets another, and the heads on it."""

    key: str
    words: str
    points_here: bool
    points_away: bool


class Tracer:
    """Follows the lines of one drawing."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.grid = grid_of(picture)
        self.owner = {
            (x, y): key
            for key, region in picture.regions.items()
            for y in range(region.y, region.y + region.height)
            for x in range(region.x, region.x + region.width)
        }
        self.walked: set[tuple[int, int]] = set()

    def at(self, x: int, y: int) -> str:
        return self.grid[y][x] if 0 <= y < len(self.grid) and 0 <= x < len(self.grid[0]) else " "

    def edges(self) -> set[Edge]:
        """Return the relations that lines tell, by the keys of their boxes."""
        found: set[Edge] = set()
        for (x, y), key in self.owner.items():
            for direction in "EW":
                start = (x + MOVES[direction][0], y)
                if start in self.owner or start in self.walked or self.at(*start) not in "─◀▶├┤┬┴┼╭╮╰╯":
                    continue
                found |= edges_between(self.follow(start, direction, key))
        return found

    def follow(self, start: tuple[int, int], direction: str, key: str) -> list[Port]:
        """Return all ends of the lines that join the one which starts at a cell."""
        ports, ends = [], [(start, direction, key)]
        seen_joints: set[tuple[int, int]] = set()
        while ends:
            cell, way, box = ends.pop()
            run = [box]
            text, here, away, stop = self.run(cell, way)
            if stop in self.owner:
                # A straight line from box to box.
                other = self.owner[stop]
                return [Port(box, text, here, False), Port(other, text, away, False)]
            ports.append(Port(run[0], text, here, away))
            joints = [stop]
            while joints:
                joint = joints.pop()
                if joint in seen_joints:
                    continue
                seen_joints.add(joint)
                self.walked.add(joint)
                for arm in ARMS[self.at(*joint)]:
                    x, y = joint[0] + MOVES[arm][0], joint[1] + MOVES[arm][1]
                    if arm in "NS":
                        if (x, y) in self.owner:
                            ports.append(Port(self.owner[x, y], "", False, False))
                        else:
                            assert BACK[arm] in ARMS.get(self.at(x, y), ""), f"a loose end at {joint}"
                            joints.append((x, y))
                    elif (x, y) not in self.walked:
                        ends.extend(self.other_end((x, y), arm))
        return ports

    def other_end(self, cell: tuple[int, int], way: str) -> list[tuple[tuple[int, int], str, str]]:
        """Walk from a trunk to the box at the end of a run, and return where the run starts from there."""
        x, y = cell
        while (x, y) not in self.owner:
            assert self.at(x, y) != " " or self.at(x + MOVES[way][0], y) != " ", f"a loose end at {(x, y)}"
            x += MOVES[way][0]
        return [((x - MOVES[way][0], y), BACK[way], self.owner[x, y])]

    def run(self, cell: tuple[int, int], way: str) -> tuple[str, bool, bool, tuple[int, int]]:
        """Walk away from a box; return the words, whether heads point at it and away, and where the run ends."""
        x, y = cell
        cells: list[str] = []
        while (x, y) not in self.owner and (self.at(x, y) in "─◀▶" or not ARMS.get(self.at(x, y))):
            assert (x, y) not in self.walked, f"two lines share {(x, y)}"
            self.walked.add((x, y))
            cells.append(self.at(x, y))
            x += MOVES[way][0]
        here = HEADS.get(cells[0]) == BACK[way] if cells else False
        away = HEADS.get(cells[-1]) == way if cells else False
        text = "".join(cells if way == "E" else cells[::-1]).strip("─◀▶").strip()
        return text, here, away, (x, y)


def edges_between(ports: list[Port]) -> set[Edge]:
    """Return the relations that joined lines tell: all but one of their ends say how they relate to that one."""
    if len(ports) == 2:
        one, other = ports
        words = (one.words or other.words).split(", ")
        there = other.points_here or one.points_away
        back = one.points_here or other.points_away
        two: set[Edge] = {(one.key, word, other.key) for word in words if there}
        return two | {(other.key, word, one.key) for word in words if back}
    inner = {port.key for port in ports if not port.words}
    assert len(inner) == 1, ports
    centre = inner.pop()
    edges: set[Edge] = set()
    for port in ports:
        for word in port.words.split(", ") if port.words else ():
            assert port.points_here != port.points_away, port
            edges.add((centre, word, port.key) if port.points_here else (port.key, word, centre))
    return edges


def told_in_boxes(picture: Picture, key_of: dict[str, str]) -> set[Edge]:
    """Return the relations that sentences in boxes tell.

    Args:
        picture: Of entities whose names are one word each.
        key_of: Ids by name.
    """
    grid = grid_of(picture)
    found: set[Edge] = set()
    for key, region in picture.regions.items():
        rows = [
            grid[y][region.x : region.x + region.width] for y in range(region.y, region.y + region.height)
        ]
        words = " ".join("".join(row[1:-1]) for row in rows).split()
        verbs: list[str] = []
        telling = False
        naming = False
        for word in words:
            if word in ("also", "↺"):
                verbs, telling, naming = [], True, False
            elif not telling:
                continue
            elif word == "itself":
                found |= {(key, verb, key) for verb in verbs}
                telling = False
            elif not naming:
                verbs.append(word.rstrip(","))
                naming = not word.endswith(",")
            elif word.rstrip(",") in key_of:
                found |= {(key, verb, key_of[word.rstrip(",")]) for verb in verbs}
    return found
