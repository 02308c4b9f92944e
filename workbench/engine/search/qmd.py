"""QMD as a search backend: its collections and questions, its answers, and when its index is brought up to date."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path, PurePosixPath

from workbench.engine import layout
from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.clock import Clock
from workbench.engine.errors import InvalidInput, OutsideWorkspace, StorageError
from workbench.engine.file_access import open_regular_file, replace_file
from workbench.engine.identifiers import slug
from workbench.engine.patterns import lazy_pattern
from workbench.engine.process import (
    process_lock,
)
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
from workbench.engine.search.qmd_program import QmdFailed, QmdProgram
from workbench.engine.settings.sections import QmdSettings
from workbench.engine.values import dataclass

_ADDRESS = lazy_pattern(r"qmd://([^/]+)/(.+)", re.DOTALL)
_HUNK = lazy_pattern(r"@@ -(\d+)(?:,(\d+))? @@[^\n]*\n?")
_TYPED = lazy_pattern(r"^\s*(lex|vec|hyde|intent|expand)\s*:", re.IGNORECASE)
_WORD = lazy_pattern(r"\w[\w.+#/@'’-]*", re.UNICODE)
_MOST_QUESTION = 2000
PREFIX = "qmd/"
_MARKDOWN = "**/*.md"
_NOT_PLAIN = lazy_pattern(r"[^\w/.]+|_+")


@dataclass(frozen=True)
class QmdMatch:
    """One result as QMD names it.

    Args:
        first: First line of the snippet, 1-based, and `last` the last, inclusive.
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
    taken = {SESSIONS, *(name for name, _, _ in _DEFAULT)}
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
        within: Filter; days are those in file names.

    Raises:
        QmdFailed: None of several matches names a file of the collections.
    """
    by_name = {each.name: each for each in collections}
    hits: list[Hit] = []
    dropped = 0
    left = settings.max_injected_chars
    for match in matches:
        collection = by_name.get(match.collection)
        relative = collection.find(match.relative) if collection else None
        if collection is None or relative is None:
            dropped += 1
            continue
        path = collection.shown(relative)
        store = layout.store_of(path)
        if collection.inside is None:
            store = "session" if collection.name == SESSIONS else "extra"
        day = layout.day_in_name(path)
        if len(hits) < most and left > 0 and _fits(store, day, within):
            hit = _hit(match, path, store, day, min(left, settings.max_snippet_chars), settings.mode)
            left -= len(hit.snippet)
            hits.append(replace(hit, score=max(hit.score, 1 / (2 + len(hits)))))
    if dropped and dropped == len(matches):
        raise QmdFailed("QMD’s answer names no file of its collections")
    return QmdAnswer(tuple(hits), settings.mode, dropped)


def _hit(match: QmdMatch, path: str, store: str, day: date | None, most: int, mode: str) -> Hit:
    is_vector = mode == "vsearch"
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


def is_in_scope(rules: Sequence[str]) -> bool:
    """Return whether QMD answers in a direct conversation: the first rule that fits decides, and where none does, yes.

    A rule is `allow` or `deny`, and what it is about: kinds such as `direct`, `group` or `channel`, or nothing for all
    that is left. What names a channel or a key, as in `deny channel:discord`, fits no search: none comes from one.
    """
    for rule in rules:
        verdict, *about = rule.split()
        if all(each == "direct" for each in about):
            return verdict == "allow"
    return True


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


HOME = "qmd"
SESSIONS = "sessions"
UPDATE_SECONDS = 120.0
EMBED_SECONDS = 1800.0
MOST_FILE_BYTES = 4 * 1024 * 1024
_FAILURES_BEFORE_PAUSE = 3
_PAUSE = timedelta(seconds=60)
_MORE_WHERE_FILTERED = 5


def delete_home(cache_folder: Path) -> None:
    """Delete QMD's data for a workspace, which holds copies of texts, even if QMD is no longer used.

    Raises:
        StorageError: It cannot be deleted.
    """
    try:
        shutil.rmtree(cache_folder / HOME)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(
            f"What QMD keeps cannot be deleted: {error.strerror or error}.",
            where=str(cache_folder / HOME),
            remedy="Delete it: texts that were to be forgotten for good may still be in it.",
        ) from error


class QmdBackend:
    """QMD for one workspace, with its home in the cache folder.

    Args:
        root: The workspace folder, absolute.
        cache_folder: The workspace's cache folder; QMD's home is `qmd` in it.
        clock: For due updates and pauses.
        copy_transcripts: Brings copies of transcripts in a folder up to date; None to keep none.

    Attributes:
        failure: Why QMD last failed, or None.
        paused_until: End of the pause after failures, or None.
    """

    def __init__(
        self,
        settings: QmdSettings,
        root: Path,
        cache_folder: Path,
        clock: Clock,
        environment: Mapping[str, str] | None = None,
        copy_transcripts: Callable[[Path], None] | None = None,
    ) -> None:
        self._settings = settings
        self._root = root
        self._home = cache_folder / HOME
        self._mark = self._home / "updated"
        self._copies = self._home / SESSIONS
        self._copy_transcripts = copy_transcripts
        self._clock = clock
        self._program = QmdProgram(
            settings.command,
            root,
            self._home,
            os.environ if environment is None else environment,
            {"QMD_CONFIG_DIR": str(self._home), "INDEX_PATH": str(self._home / "index.sqlite")},
        )
        self._failures = 0
        self.failure: str | None = None
        self.paused_until: datetime | None = None
        self._dirty = settings.update_on_boot

    def search(self, query: str, max_results: int | None = None, within: Within | None = None) -> QmdAnswer:
        """Query QMD; the very first search also indexes the files, within the search timeout.

        Args:
            max_results: Most hits, where the settings do not say fewer.
            within: Filter; days are those in file names.

        Raises:
            QmdFailed: It cannot answer, or is paused after repeated failures.
        """
        within = within or Within()
        most = min(max_results or self._settings.max_results, self._settings.max_results)
        self._pass()
        collections = self._collections()
        question = question_for(query, self._settings.mode)
        if not question or not collections:
            return QmdAnswer((), self._settings.mode)
        count = most if within == Within() else most * _MORE_WHERE_FILTERED
        seconds = self._settings.timeout_ms / 1000
        try:
            self._lay_out(collections)
            self._index_first(seconds)
            matches = read_answer(
                self._program.run(
                    (self._settings.mode, "--index", "index", "--json", "-n", str(count), "--", question),
                    seconds,
                )
            )
            answer = answer_of(matches, collections, self._settings, within, most)
        except QmdFailed as failure:
            self._count(failure)
            raise
        self._failures, self.failure, self.paused_until = 0, None, None
        return answer

    def changed(self) -> None:
        """Note that files changed; the next update follows once the interval has passed."""
        self._dirty = True

    def is_due(self) -> bool:
        """Return whether an update is due: at the start, after a change, or by the clock."""
        last = self.last_update()
        if last is None:
            return True
        passed = self._clock.now() - last
        if self._dirty and passed >= timedelta(milliseconds=self._settings.debounce_ms):
            return True
        minutes = self._settings.update_minutes
        return minutes > 0 and passed >= timedelta(minutes=minutes)

    def refresh(self, seconds: float = UPDATE_SECONDS) -> None:
        """Update QMD's index, and its embeddings if enabled. Takes seconds to minutes.

        Args:
            seconds: Timeout of the update; embedding may take half an hour.

        Raises:
            QmdFailed: The update failed.
        """
        try:
            self._lay_out(self._collections())
            with self._alone(seconds):
                self._update(seconds)
            if self._settings.embed:
                self._program.run(("embed", "--index", "index"), EMBED_SECONDS)
        except QmdFailed as failure:
            self.failure = str(failure)
            raise
        self.failure = None

    def read(self, shown_path: str) -> bytes | None:
        """Return an outside file by its path `qmd/<collection>/<relative>`, at most 4 MiB of it.

        Returns:
            None if no collection has such a file.
        """
        place = find_file(self._collections(), shown_path)
        if place is None:
            return None
        try:
            with open_regular_file(place) as opened:
                return opened.read(MOST_FILE_BYTES)
        except OSError:
            return None

    def _collections(self) -> tuple[QmdCollection, ...]:
        found = collections_of(self._root, self._settings)
        if self._copy_transcripts is None:
            return found
        return (*found, QmdCollection(SESSIONS, self._copies, _MARKDOWN, None))

    def _pass(self) -> None:
        """Let one search try again after a pause; others wait for its outcome."""
        now = self._clock.now()
        if self.paused_until is None:
            return
        if now < self.paused_until:
            raise QmdFailed(f"QMD is not asked until {self.paused_until:%H:%M:%S} UTC, since {self.failure}")
        self.paused_until = now + _PAUSE

    def _count(self, failure: QmdFailed) -> None:
        self.failure = str(failure)
        self._failures += 1
        if self._failures >= _FAILURES_BEFORE_PAUSE:
            self.paused_until = self._clock.now() + _PAUSE

    def _lay_out(self, collections: tuple[QmdCollection, ...]) -> None:
        """Write QMD's configuration if it changed."""
        wanted = configuration(collections)
        place = self._home / "index.yml"
        try:
            (self._home if self._copy_transcripts is None else self._copies).mkdir(
                parents=True, exist_ok=True
            )
            if place.is_file() and place.read_text("utf-8") == wanted:
                return
            with replace_file(place, "QMD’s settings cannot be written") as file:
                file.write(wanted.encode())
        except OSError as error:
            raise QmdFailed(f"its folder cannot be written: {error.strerror}") from error
        except StorageError as error:
            raise QmdFailed(error.message.rstrip(".")) from error
        self._dirty = True

    def _index_first(self, seconds: float) -> None:
        index = self._home / "index.sqlite"
        if index.exists():
            return
        with self._alone(seconds):
            # Another thread or process may have made it meanwhile.
            if not index.exists():
                self._update(seconds)

    @contextmanager
    def _alone(self, seconds: float) -> Iterator[None]:
        """Update apart from other threads and processes: two at once would pull files from under each other."""
        try:
            with process_lock(self._home / "update.lock", seconds) as alone:
                if not alone:
                    raise QmdFailed(f"QMD was still being updated after {seconds:g} s")
                yield
        except StorageError as error:
            raise QmdFailed(error.message.rstrip(".")) from error

    def _update(self, seconds: float) -> None:
        self._dirty = False
        try:
            if self._copy_transcripts is not None:
                self._copy_transcripts(self._copies)
            elif self._copies.exists():
                shutil.rmtree(self._copies)
            self._program.run(("update", "--index", "index"), seconds)
            self._mark.touch()
            moment = self._clock.now().timestamp()
            os.utime(self._mark, (moment, moment))
        except QmdFailed:
            self._dirty = True
            raise
        except OSError as error:
            raise QmdFailed(f"its folder cannot be written: {error.strerror}") from error
        except StorageError as error:
            raise QmdFailed(error.message.rstrip(".")) from error

    def last_update(self) -> datetime | None:
        """Return the last update of its index, aware; None if never."""
        try:
            return datetime.fromtimestamp(self._mark.stat().st_mtime, UTC)
        except OSError:
            return None
