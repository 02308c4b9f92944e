"""What differs between two versions: files of two trees, lines of two contents, units of a document."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from workbench.engine.history.git_objects import TreeChange, libgit2
from workbench.engine.layout import shown
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Hashable


SIMILAR = 60
# Similarity is computed pairwise; past this many, only identical content counts as a rename.
_MOST_PAIRS = 10_000

_LINE_END = lazy_pattern(r"\r\n|\n|\r")

Opcode = tuple[str, int, int, int, int]

LINE_END = lazy_pattern(r"\r\n|\n|\r")
_ENTRY = lazy_pattern(r"^(\d{1,2}:\d{2})(?::\d{2})?(?:\s+#(\d+))?(?=\s|\||$)")
_PROPOSAL = lazy_pattern(r"^Proposal #(\d{1,9})(?!\w)")
_BLOCK_ID = lazy_pattern(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*$")
_TABLE = lazy_pattern(r"^\s*\[\[?([^\[\]]+)\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = lazy_pattern(r"^([A-Za-z0-9_.\"'-]+)\s*=")
_FRONT_KEY = lazy_pattern(r"^([^\s:#-][^:]*):")
# What a link follows is a relation, of which there may be several.
_LABEL = lazy_pattern(
    r"^[ \t]*[-+*][ \t]+[*_]*([^:：*_\[\]\n]{1,40}?)[*_]*[:：][*_]*(?=[ \t]+(?!\[\[)\S|[^\x00-\x7f])"
)
_BOM = "\ufeff"
HEADINGS = frozenset({"title", "heading", "entry"})

Section = tuple[str, ...]

_ALIKE = 0.6
_COMPARED_CHARACTERS = 2000


def split_lines(text: str) -> list[str]:
    """Split a text into lines without their ends; only LF, CRLF and CR end a line."""
    lines = _LINE_END.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def line_opcodes(old: Sequence[str], new: Sequence[str], *, autojunk: bool = False) -> list[Opcode]:
    """Return opcodes like `difflib`'s, faster for texts with a common beginning or end.

    Args:
        autojunk: Pass over lines that occur all over a long text: faster, where a shorter difference is not needed.
    """
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    opcodes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    if inner_old and inner_new:
        matcher = SequenceMatcher(None, inner_old, inner_new, autojunk=autojunk)
        opcodes += [(k, a + head, b + head, c + head, d + head) for k, a, b, c, d in matcher.get_opcodes()]
    elif inner_old or inner_new:
        kind = "delete" if inner_old else "insert"
        opcodes.append((kind, head, head + len(inner_old), head, head + len(inner_new)))
    if tail:
        opcodes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return opcodes


def diff_text(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return the unified diff of two contents of a file, without git's header lines.

    Args:
        path: Shown as the file's name.
        before: The older content, None if there was no file.
        after: The newer content, None if there is no file.
    """
    name = shown(path)
    flag = libgit2().enums.DiffOption.FORCE_TEXT
    patch = libgit2().Patch.create_from(before, after, name, name, flag=flag)
    text = (patch.data if patch else b"").decode("utf-8", "replace")
    start = text.find("\n--- ") + 1
    return text[start:] if start else ""


def line_counts(before: bytes | None, after: bytes | None) -> tuple[int, int]:
    """Return the number of lines added and removed between two contents."""
    flag = libgit2().enums.DiffOption.FORCE_TEXT
    patch = libgit2().Patch.create_from(before, after, "a", "a", flag=flag, context_lines=0)
    _, added, removed = patch.line_stats if patch else (0, 0, 0)
    return int(added), int(removed)


def similarity(before: bytes, after: bytes) -> int:
    """Return the similarity of two contents by lines, 0 to 100: shared bytes over the larger size."""
    if before == after:
        return 100
    larger = max(len(before), len(after))
    if not larger or min(len(before), len(after)) * 100 < larger * SIMILAR:
        return 0
    counts: dict[bytes, int] = {}
    for line in before.splitlines(keepends=True):
        counts[line] = counts.get(line, 0) + 1
    shared = 0
    for line in after.splitlines(keepends=True):
        if counts.get(line, 0):
            counts[line] -= 1
            shared += len(line)
    return shared * 100 // larger


def with_renames(changes: Sequence[TreeChange], read_blob: Callable[[str], bytes]) -> list[TreeChange]:
    """Join added and deleted files into renames if their contents are at least 60 % alike.

    Args:
        changes: Every file that differs, without renames.
        read_blob: Returns a blob's content.
    """
    gone = {change.path: change for change in changes if change.new_blob is None}
    come = [change for change in changes if change.old_blob is None]
    pairs = _pairs(come, list(gone.values()), read_blob) if gone and come else {}
    sources = set(pairs.values())
    return [
        TreeChange(change.path, gone[pairs[change.path]].old_blob, change.new_blob, pairs[change.path])
        if change.path in pairs and change.old_blob is None
        else change
        for change in changes
        if not (change.new_blob is None and change.path in sources)
    ]


def _pairs(
    come: Sequence[TreeChange], gone: Sequence[TreeChange], read_blob: Callable[[str], bytes]
) -> dict[str, str]:
    """Pair new paths with old paths, identical contents first, then the most similar; each used once."""
    pairs: dict[str, str] = {}
    by_blob: dict[str | None, list[str]] = {}
    for change in reversed(gone):
        by_blob.setdefault(change.old_blob, []).append(change.path)
    for change in come:
        if by_blob.get(change.new_blob):
            pairs[change.path] = by_blob[change.new_blob].pop()
    taken = set(pairs.values())
    left = [change for change in gone if change.path not in taken]
    new = [change for change in come if change.path not in pairs]
    if len(left) * len(new) > _MOST_PAIRS:
        return pairs
    before = {change.path: read_blob(change.old_blob or "") for change in left} if new else {}
    scored = []
    for one in new:
        after = read_blob(one.new_blob or "")
        scored += [(-similarity(content, after), one.path, path) for path, content in before.items()]
    for score, new_path, old_path in sorted(scored):
        if -score >= SIMILAR and new_path not in pairs and old_path not in taken:
            pairs[new_path] = old_path
            taken.add(old_path)
    return pairs


@dataclass(frozen=True)
class Unit:
    """A piece of a file that is added, changed or removed as a whole.

    Args:
        kind: `title`, `heading`, `entry` (a heading with a time, or of a proposal, and its contents), `item` (of a
            list, with what is nested in it), `comment`, `front` (a key of the front matter) or `text` (any other
            block).
        key: Identifies the unit regardless of its text and position; None if only its text does.
        section: The enclosing headings, without the title.
        text: Its source, without the final line end.
        level: The level of a heading or entry, 1–6; 0 for everything else.
        owner: Position of the enclosing heading, -1 if there is none.
    """

    kind: str
    key: tuple[str, ...] | None
    section: Section
    text: str
    level: int = 0
    owner: int = -1

    @property
    def meaning(self) -> str:
        """Return the text for comparison: line ends and trailing blanks normalised."""
        return "\n".join(line.rstrip() for line in LINE_END.split(self.text))

    @property
    def name(self) -> str:
        """Return a short description of the unit for a person."""
        if self.key and self.key[0] == "block":
            return f"^{self.key[1]}"
        first = LINE_END.split(self.text)[0].strip()
        return first if len(first) <= 80 else first[:79] + "…"


@dataclass(frozen=True)
class DocumentUnits:
    """A file split into units; mark, gaps and units interleaved reproduce the file.

    Args:
        units: In file order.
        gaps: The text before the first unit, between units, and after the last; one more than there are units.
        mark: The byte order mark, or empty.
        newline: The file's line end.
    """

    units: tuple[Unit, ...]
    gaps: tuple[str, ...]
    mark: str
    newline: str

    def places_of(self, line: int) -> list[int]:
        """Return the positions of the units that contain a line (1-based): one, or none between units."""
        position = 1
        for place, (gap, unit) in enumerate(zip(self.gaps, self.units, strict=False)):
            position += len(LINE_END.findall(gap))
            end = position + len(LINE_END.findall(unit.text))
            if position <= line <= end:
                return [place]
            position = end
        return []

    def render(self) -> bytes:
        """Return the file's bytes."""
        parts = [self.mark, self.gaps[0]]
        for unit, gap in zip(self.units, self.gaps[1:], strict=True):
            parts += [unit.text, gap]
        return "".join(parts).encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class _Span:
    """The lines `start` to `end` (0-based, `end` excluded) of a unit."""

    start: int
    end: int
    kind: str
    title: str = ""
    level: int = 0
    key: tuple[str, ...] | None = None


def parse_units(content: bytes, *, markdown: bool) -> DocumentUnits:
    """Split a file into units.

    Args:
        content: UTF-8; invalid bytes survive unchanged.
        markdown: Whether to read Markdown structure; otherwise each line is a unit, and `[table]` and
            `key =` identify units as in TOML.
    """
    text = content.decode("utf-8", "surrogateescape")
    mark = _BOM if text.startswith(_BOM) else ""
    text = text[len(mark) :]
    line_ends = list(LINE_END.finditer(text))
    starts = [0, *(match.end() for match in line_ends)]
    ends = [*(match.start() for match in line_ends), len(text)]
    lines = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    spans = _markdown_spans(lines) if markdown else _line_spans(lines)
    gaps, position = [], 0
    for span in spans:
        gaps.append(text[position : starts[span.start]])
        position = ends[span.end - 1]
    gaps.append(text[position:])
    sources = [text[starts[span.start] : ends[span.end - 1]] for span in spans]
    newline = Counter(match.group() for match in line_ends).most_common(1)
    return DocumentUnits(_units(spans, sources), tuple(gaps), mark, newline[0][0] if newline else "\n")


def unit_name(unit: Unit) -> str:
    """Return the name of a unit in trailers: one line, unique within its file."""
    if unit.key and unit.key[0] == "block":
        return unit.name
    if unit.key and unit.key[0] == "key":
        return " / ".join(part for part in unit.key[1:] if part)
    return " / ".join((*unit.section, unit.name))


def with_text(unit: Unit, text: str) -> Unit:
    return replace(unit, text=text)


def _units(spans: list[_Span], sources: list[str]) -> tuple[Unit, ...]:
    """Give each span its section, owner and key; keys that are not unique are dropped."""
    sole_title = sum(span.kind == "heading" and span.level == 1 for span in spans) == 1
    above: list[int] = []
    units: list[Unit] = []
    for position, (span, source) in enumerate(zip(spans, sources, strict=True)):
        if span.level:
            while above and units[above[-1]].level >= span.level:
                above.pop()
        kind = "title" if sole_title and span.kind == "heading" and span.level == 1 else span.kind
        section = tuple(spans[i].title for i in above if units[i].kind != "title")
        key = span.key
        if kind == "title":
            key = ("title",)
        elif span.kind == "heading":
            key = ("heading", *section, span.title)
        units.append(Unit(kind, key, section, source, span.level, above[-1] if above else -1))
        if span.kind == "heading":
            above.append(position)
    uses = Counter(unit.key for unit in units)
    return tuple(
        unit if uses[unit.key] < 2 or unit.key is None else replace(unit, key=None) for unit in units
    )


def _line_spans(lines: list[str]) -> list[_Span]:
    spans, table = [], ""
    for number, line in enumerate(lines):
        heading, assignment = _TABLE.match(line), _ASSIGNMENT.match(line)
        if heading:
            table = heading.group(1).strip()
            spans.append(_Span(number, number + 1, "heading", table, 1))
        elif assignment:
            spans.append(_Span(number, number + 1, "line", key=("key", table, assignment.group(1))))
        elif line.strip():
            spans.append(_Span(number, number + 1, "line"))
    return spans


def _front_matter(lines: list[str]) -> list[_Span]:
    """Return the parts of the front matter: its fences, and one span per key with all its lines."""
    if lines[0].rstrip() != "---":
        return []
    close = next((n for n, line in enumerate(lines) if n and line.rstrip() in ("---", "...")), None)
    if close is None:
        return []
    spans = [_Span(0, 1, "front", key=("front", ""))]
    for number in range(1, close):
        key = _FRONT_KEY.match(lines[number])
        if key:
            spans.append(_Span(number, number + 1, "front", key=("front", key.group(1).strip())))
        elif len(spans) > 1:
            spans[-1] = replace(spans[-1], end=number + 1)
        elif lines[number].strip():
            spans.append(_Span(number, number + 1, "front"))
    return [*spans, _Span(close, close + 1, "front", key=("front", "", "end"))]


def _markdown_spans(lines: list[str]) -> list[_Span]:
    from markdown_it import MarkdownIt

    spans = _front_matter(lines)
    offset = spans[-1].end if spans else 0
    tokens = MarkdownIt("commonmark").enable("table").parse("\n".join(lines[offset:]))
    blocks: list[_Span] = []
    for index, token in enumerate(tokens):
        if token.map is None or token.nesting < 0:
            continue
        start, end = token.map[0] + offset, token.map[1] + offset
        if token.type == "heading_open" and token.level == 0:
            blocks.append(_heading_span(start, end, tokens[index + 1].content.strip(), int(token.tag[1:])))
        elif token.type == "list_item_open" and token.level == 1:
            named = tokens[index + 1].type == "paragraph_open"
            block = _BLOCK_ID.search(tokens[index + 2].content) if named else None
            blocks.append(_Span(start, end, "item", key=("block", block.group(1)) if block else None))
        elif token.level == 0 and token.type not in ("bullet_list_open", "ordered_list_open"):
            kind = "comment" if lines[start].lstrip().startswith("<!--") else "text"
            kind = "rule" if token.type == "hr" else kind
            block = _BLOCK_ID.search(tokens[index + 1].content) if token.type == "paragraph_open" else None
            blocks.append(_Span(start, end, kind, key=("block", block.group(1)) if block else None))
    return spans + _whole_entries(_with_loose_lines(blocks, lines, offset))


def _heading_span(start: int, end: int, title: str, level: int) -> _Span:
    entry = _ENTRY.match(title)
    if entry and level > 1:
        return _Span(start, end, "entry", title, level, ("entry", entry.group(1), entry.group(2) or "1"))
    proposal = _PROPOSAL.match(title)
    if proposal and level == 2:
        return _Span(start, end, "entry", title, level, ("proposal", proposal.group(1)))
    return _Span(start, end, "heading", title, level)


def _with_loose_lines(blocks: list[_Span], lines: list[str], offset: int) -> list[_Span]:
    """Trim blank ends off the blocks, and add the lines that no block claims (link definitions)."""
    spans: list[_Span] = []
    position = offset
    for block in [*blocks, _Span(len(lines), len(lines), "end")]:
        for number in range(position, block.start):
            if not lines[number].strip():
                continue
            if spans and spans[-1].end == number and spans[-1].kind == "loose":
                spans[-1] = replace(spans[-1], end=number + 1)
            else:
                spans.append(_Span(number, number + 1, "loose"))
        end = block.end
        while end > block.start and not lines[end - 1].strip():
            end -= 1
        if end > block.start:
            spans.append(replace(block, end=end))
        position = max(position, end)
    return [replace(span, kind="text") if span.kind == "loose" else span for span in spans]


def _whole_entries(spans: list[_Span]) -> list[_Span]:
    """Extend each entry up to the next heading of its level or above."""
    whole: list[_Span] = []
    for span in spans:
        inside = whole and whole[-1].kind == "entry"
        # A rule before the next proposal does not belong to this one.
        parts = span.kind == "rule" and inside and whole[-1].key and whole[-1].key[0] == "proposal"
        if inside and not parts and not 0 < span.level <= whole[-1].level:
            whole[-1] = replace(whole[-1], end=span.end)
        else:
            whole.append(replace(span, kind="text") if span.kind == "rule" else span)
    return whole


def match_units(left: Sequence[Unit], right: Sequence[Unit]) -> dict[int, int]:
    """Pair the units of two versions.

    By key first, then by equal text in the same section, then by equal text anywhere. Then items of the same label
    (`Drink: tea`, `Drink: coffee`) pair as changed, where their section has no second one of it. Last, units of one
    kind beside a paired unit under the same heading with similar text do.

    Returns:
        Positions in `left` to positions in `right`; one to one, unordered.
    """
    pairs: dict[int, int] = {}
    keys = {unit.key: position for position, unit in enumerate(right) if unit.key}
    for position, unit in enumerate(left):
        if unit.key in keys and unit.key:
            pairs[position] = keys[unit.key]
    _pair_equal(left, right, pairs, lambda unit: (unit.kind, unit.section, unit.meaning))
    _pair_equal(left, right, pairs, lambda unit: (unit.kind, unit.meaning))
    _pair_labelled(left, right, pairs)
    _pair_alike(left, right, pairs)
    return pairs


def moved_units(left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int]) -> set[int]:
    """Return the left units that are under another heading, or in another order, in the right version."""
    moved = {
        i for i, j in pairs.items() if left[i].kind != "title" and not _same_owner(left, right, pairs, i, j)
    }
    return moved | _out_of_order(sorted((i, j) for i, j in pairs.items() if i not in moved))


def _same_owner(left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int], i: int, j: int) -> bool:
    """Return True if two units are under the same heading; an added or removed title is ignored."""
    ours, theirs = left[i].owner, right[j].owner
    if ours >= 0 and pairs.get(ours) == theirs:
        return True
    return all(owner < 0 or units[owner].kind == "title" for owner, units in ((ours, left), (theirs, right)))


def _out_of_order(pairs: Sequence[tuple[int, int]]) -> set[int]:
    """Return the left positions that moved: all but a longest run of pairs in the same order.

    Args:
        pairs: Sorted by left position.
    """
    tails: list[int] = []
    tail_of: list[int] = []
    previous: list[int] = []
    for index, (_, right) in enumerate(pairs):
        length = bisect_left(tails, right)
        previous.append(tail_of[length - 1] if length else -1)
        tails[length : length + 1] = [right]
        tail_of[length : length + 1] = [index]
    kept, index = set(), tail_of[-1] if tail_of else -1
    while index >= 0:
        kept.add(index)
        index = previous[index]
    return {left for index, (left, _) in enumerate(pairs) if index not in kept}


def _pair_equal(
    left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int], signature: Callable[[Unit], Hashable]
) -> None:
    taken = set(pairs.values())
    free_left = [i for i in range(len(left)) if i not in pairs and left[i].key is None]
    free_right = [j for j in range(len(right)) if j not in taken and right[j].key is None]
    if not free_left or not free_right:
        return
    ours = [signature(left[i]) for i in free_left]
    theirs = [signature(right[j]) for j in free_right]
    for block in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            pairs[free_left[block.a + step]] = free_right[block.b + step]
            taken.add(free_right[block.b + step])
    elsewhere: dict[Hashable, list[int]] = {}
    for sign, j in zip(reversed(theirs), reversed(free_right), strict=True):
        if j not in taken:
            elsewhere.setdefault(sign, []).append(j)
    for sign, i in zip(ours, free_left, strict=True):
        if i not in pairs and elsewhere.get(sign):
            pairs[i] = elsewhere[sign].pop()


def _pair_labelled(left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int]) -> None:
    theirs, taken = _by_label(right), set(pairs.values())
    for name, i in _by_label(left).items():
        j = theirs.get(name)
        if j is not None and i not in pairs and j not in taken:
            pairs[i] = j


def _by_label(units: Sequence[Unit]) -> dict[Hashable, int]:
    """Return the positions of items by section and label, of each label that stands once in its section."""
    found: dict[Hashable, list[int]] = {}
    for at, unit in enumerate(units):
        if unit.kind == "item" and unit.key is None and (label := _LABEL.match(unit.text)):
            found.setdefault((unit.section, label[1].casefold()), []).append(at)
    return {name: places[0] for name, places in found.items() if len(places) == 1}


def _pair_alike(left: Sequence[Unit], right: Sequence[Unit], pairs: dict[int, int]) -> None:
    taken = set(pairs.values())
    free: dict[tuple[int, str], list[int]] = {}
    for j, unit in enumerate(right):
        if j not in taken and unit.key is None:
            free.setdefault((unit.owner, unit.kind), []).append(j)
    for i, unit in enumerate(left):
        if i in pairs or unit.key is not None:
            continue
        owner = pairs.get(unit.owner, -2) if unit.owner >= 0 else -1
        candidates = free.get((owner, unit.kind), [])
        for j in candidates:
            beside = pairs.get(i - 1, -1) == j - 1 or (i + 1 in pairs and pairs[i + 1] == j + 1)
            if beside and _alike(unit.meaning, right[j].meaning):
                pairs[i] = j
                candidates.remove(j)
                break


def _alike(one: str, other: str) -> bool:
    matcher = SequenceMatcher(None, one[:_COMPARED_CHARACTERS], other[:_COMPARED_CHARACTERS], autojunk=False)
    return matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE
