"""QMD's collections, the questions it is asked, and results made from its matches."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path, PurePosixPath

from workbench.engine import layout
from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.errors import InvalidInput, OutsideWorkspace
from workbench.engine.identifiers import slug
from workbench.engine.results.recall import Hit, Signals
from workbench.engine.search.chunks import Within
from workbench.engine.search.outside_files import (
    absolute,
    files_below,
    has_link,
    is_file,
    is_folder,
    matches_glob,
    split_glob,
)
from workbench.engine.settings.sections import QmdSettings

_ADDRESS = re.compile(r"qmd://([^/]+)/(.+)", re.DOTALL)
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? @@[^\n]*\n?")
_TYPED = re.compile(r"^\s*(lex|vec|hyde|intent|expand)\s*:", re.IGNORECASE)
_WORD = re.compile(r"\w[\w.+#/@'’-]*", re.UNICODE)
_MOST_QUESTION = 2000
PREFIX = "qmd/"
_MARKDOWN = "**/*.md"
_NOT_PLAIN = re.compile(r"[^\w/.]+|_+")


class QmdFailed(Exception):
    """QMD failed; search goes on without it.

    Args:
        reason: What happened, in one sentence without a full stop.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class QmdMatch:
    """One result as QMD names it.

    Args:
        collection: Its name for the folder.
        relative: The file's path below it.
        first: First line of the snippet, 1-based.
        last: Last line, inclusive.
        score: 0–1; in small collections its keyword scores are often 0.
    """

    collection: str
    relative: str
    first: int
    last: int
    score: float
    snippet: str
    title: str


def question_for(query: str, mode: str) -> str:
    """Phrase a question so that QMD reads all of it as plain words.

    Its keyword search requires every word, so only significant words are passed on, and none as an exclusion; a quoted
    phrase stays whole.

    Args:
        query: What was asked.
        mode: `search`, `vsearch` or `query`.
    """
    plain = " ".join(query.replace("\0", " ").split())[:_MOST_QUESTION]
    if mode == "query":
        return _TYPED.sub(r"\1 ", plain)
    if mode == "vsearch" or '"' in plain:
        return plain
    words = [word.rstrip(".'’/-") for word in _WORD.findall(plain)]
    return " ".join([word for word in words if word.casefold() not in STOP_WORDS] or words)


def read_answer(output: bytes) -> tuple[QmdMatch, ...]:
    """Parse the JSON list of results, skipping other lines before it.

    Raises:
        QmdFailed: The output holds no such list.
    """
    text = output.decode("utf-8", "replace")
    start = 0 if text.startswith("[") else text.find("\n[") + 1
    try:
        results = json.loads(text[start:])
    except (ValueError, RecursionError) as error:
        raise QmdFailed("QMD’s answer is no JSON") from error
    if not isinstance(results, list):
        raise QmdFailed("QMD’s answer is no list of results")
    matches = tuple(filter(None, map(_match, results)))
    if results and not matches:
        raise QmdFailed("QMD’s answer has another form than this version knows")
    return matches


def _match(result: object) -> QmdMatch | None:
    if not isinstance(result, Mapping):
        return None
    address = _ADDRESS.fullmatch(str(result.get("file", "")))
    if address is None:
        return None
    given = result.get("snippet") or result.get("body") or ""
    snippet = given if isinstance(given, str) else ""
    hunk = _HUNK.match(snippet)
    first = int(hunk[1]) if hunk and len(hunk[1]) < 10 else _line(result.get("line"))
    body = (snippet[hunk.end() :] if hunk else snippet).rstrip("\n")
    # Blank lines around the text belong to no citation.
    first += len(body) - len(body.lstrip("\n"))
    body = body.strip("\n")
    title = result.get("title")
    return QmdMatch(
        collection=address[1],
        relative=address[2],
        first=max(1, first),
        last=max(1, first + body.count("\n")),
        score=_score(result.get("score")),
        snippet=body,
        title=title if isinstance(title, str) else "",
    )


def _line(value: object) -> int:
    is_line = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9
    return int(str(value)) if is_line else 1


def _score(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return min(1.0, max(0.0, float(value)))
    return 0.0


_DEFAULT = (
    ("memory-root", "", layout.CORE),
    ("memory-alt", "", "memory.md"),
    ("memory-dir", "memory", _MARKDOWN),
)


@dataclass(frozen=True)
class QmdCollection:
    """A folder that QMD indexes.

    Args:
        name: QMD's name for it.
        folder: Where it is, absolute.
        pattern: Glob of its files.
        inside: Its workspace-relative path with a trailing slash, "" for the workspace itself, None for a
            folder outside.
    """

    name: str
    folder: Path
    pattern: str
    inside: str | None

    def shown(self, relative: str) -> str:
        """Return a file's name for results: its path in the workspace, or `qmd/<collection>/<relative>`."""
        return f"{PREFIX}{self.name}/{relative}" if self.inside is None else self.inside + relative

    def place(self, relative: str) -> Path | None:
        """Return a file's absolute path, or None if it is a link or not in the collection."""
        try:
            relative = layout.normalise(relative)
            place = layout.resolve(self.folder, relative)
        except (OutsideWorkspace, InvalidInput):
            return None
        return place if is_file(place) and matches_glob(relative, self.pattern) else None

    def find(self, named: str) -> str | None:
        """Return the relative path of a file by QMD's name; older versions write names in simplified lower case."""
        if self.place(named) is not None:
            return str(PurePosixPath(named))
        wanted = _folded(named)
        files = files_below(self.folder, lambda relative: _folded(relative) == wanted)
        return next((file.relative for file in files if matches_glob(file.relative, self.pattern)), None)


def collections_of(root: Path, settings: QmdSettings) -> tuple[QmdCollection, ...]:
    """Return a workspace's collections: its memory files and the folders its user configured.

    Skips folders that do not exist or lie behind a link.
    """
    found = []
    if settings.include_default_memory:
        for name, below, pattern in _DEFAULT:
            folder = root / below
            there = is_folder(folder) if pattern == _MARKDOWN else is_file(folder / pattern)
            if there and not has_link(folder, root):
                found.append(QmdCollection(name, folder, pattern, f"{below}/" if below else ""))
    taken = {name for name, _, _ in _DEFAULT}
    for name, path in settings.paths.items():
        fixed, pattern = split_glob(path)
        folder = absolute(fixed or ".", root)
        if is_file(folder):
            folder, pattern = folder.parent, folder.name
        if not is_folder(folder) or has_link(folder):
            continue
        plain = _free(slug(name), taken)
        taken.add(plain)
        found.append(QmdCollection(plain, folder, pattern or _MARKDOWN, None))
    return tuple(found)


def configuration(collections: Iterable[QmdCollection]) -> str:
    """Return QMD's `index.yml`, written as JSON: valid YAML with every name and path quoted."""
    entries: dict[str, dict[str, object]] = {}
    for each in collections:
        entries[each.name] = {"path": str(each.folder), "pattern": each.pattern}
        if each.inside == "memory/":
            # The engine's own records are not memories.
            entries[each.name]["ignore"] = ["meta/**"]
    return json.dumps({"collections": entries}, ensure_ascii=False, indent=2) + "\n"


def find_file(collections: Iterable[QmdCollection], shown_path: str) -> Path | None:
    """Return the file of a path `qmd/<collection>/<relative>`, or None."""
    name, _, relative = shown_path.removeprefix(PREFIX).partition("/")
    for each in collections:
        if shown_path.startswith(PREFIX) and each.name == name and each.inside is None:
            return each.place(relative)
    return None


def _free(name: str, taken: set[str]) -> str:
    number = 2
    wanted = name
    while name in taken:
        name = f"{wanted}-{number}"
        number += 1
    return name


def _folded(path: str) -> str:
    parts = [_NOT_PLAIN.sub("-", part).strip("-") for part in path.casefold().split("/")]
    return "/".join(re.sub(r"-*\.-*", ".", part) for part in parts)


@dataclass(frozen=True)
class QmdAnswer:
    """QMD's answer.

    Args:
        hits: Best first. Scores are at least 1 / (1 + rank), since QMD's own fall to 0 in small collections;
            its own is in the signals.
        mode: `search`, `vsearch` or `query`.
        dropped: Number of results dropped because they name no file of the collections.
    """

    hits: tuple[Hit, ...]
    mode: str
    dropped: int = 0


def answer_of(
    matches: Sequence[QmdMatch],
    collections: Sequence[QmdCollection],
    settings: QmdSettings,
    within: Within,
    most: int,
) -> QmdAnswer:
    """Convert QMD's matches into results.

    Args:
        matches: Best first.
        collections: What QMD indexes.
        settings: Search mode and snippet length.
        within: Filter; days are those in file names.
        most: Most results.

    Raises:
        QmdFailed: None of several matches names a file of the collections.
    """
    by_name = {each.name: each for each in collections}
    hits: list[Hit] = []
    dropped = 0
    for match in matches:
        collection = by_name.get(match.collection)
        relative = collection.find(match.relative) if collection else None
        if collection is None or relative is None:
            dropped += 1
            continue
        path = collection.shown(relative)
        store = "extra" if collection.inside is None else layout.store_of(path)
        day = layout.day_in_name(path)
        if len(hits) < most and _fits(store, day, within):
            hit = _hit(match, path, store, day, settings)
            hits.append(replace(hit, score=max(hit.score, 1 / (2 + len(hits)))))
    if dropped and dropped == len(matches):
        raise QmdFailed("QMD’s answer names no file of its collections")
    return QmdAnswer(tuple(hits), settings.mode, dropped)


def _hit(match: QmdMatch, path: str, store: str, day: date | None, settings: QmdSettings) -> Hit:
    is_vector = settings.mode == "vsearch"
    most = settings.max_snippet_chars
    snippet = match.snippet if len(match.snippet) <= most else match.snippet[: most - 1] + "…"
    last = min(match.last, match.first + snippet.count("\n"))
    return Hit(
        id=f"file:{path}#L{match.first}-L{last}",
        path=path,
        start_line=match.first,
        end_line=last,
        snippet=snippet,
        score=match.score,
        store=store,
        status=None,
        signals=Signals(match.score if is_vector else None, None if is_vector else match.score, None, None),
        title=match.title,
        date=day.isoformat() if day else None,
    )


def _fits(store: str, day: date | None, within: Within) -> bool:
    if within.store not in (None, store):
        return False
    if within.after is None and within.before is None:
        return True
    return (
        day is not None
        and (within.after is None or day >= within.after)
        and (within.before is None or day <= within.before)
    )
