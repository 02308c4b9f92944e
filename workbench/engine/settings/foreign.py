"""What the entries in the settings files of OpenClaw, Moltbot and Clawdbot mean here, and which mean nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from workbench.engine.file_access import expand_home
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results import camel_case
from workbench.engine.settings.foreign_files import ForeignFile, entry_at, foreign_files, list_at
from workbench.engine.settings.schema import Kind, Unfit, Value
from workbench.engine.settings.sections import SCHEMA, ForeignEntry

_REMOTE = frozenset({"openai", "gemini"})

# The setting that an entry is, by its path below `agents.defaults.memorySearch`, in newer versions `memory.search`.
_SEARCH = {
    "enabled": "search.enabled",
    "query.maxResults": "search.max_results",
    "query.minScore": "search.min_score",
    "maxResults": "search.max_results",
    "minScore": "search.min_score",
    "query.hybrid.enabled": "search.hybrid",
    "query.hybrid.vectorWeight": "search.vector_weight",
    "query.hybrid.textWeight": "search.text_weight",
    "query.hybrid.candidateMultiplier": "search.candidate_multiplier",
    "chunking.tokens": "search.chunk_tokens",
    "chunking.overlap": "search.chunk_overlap",
    "experimental.sessionMemory": "search.sessions",
    "sources": "search.sessions",
    "extraPaths": "search.extra_paths",
    "sync.onSessionStart": "search.sync_on_start",
    "sync.onSearch": "search.sync_on_search",
    "sync.watch": "search.watch",
    "sync.watchDebounceMs": "search.watch_debounce_ms",
    "sync.intervalMinutes": "search.sync_minutes",
    "sync.sessions.deltaBytes": "search.session_delta_bytes",
    "sync.sessions.deltaMessages": "search.session_delta_messages",
    "cache.enabled": "search.cache_entries",
    "cache.maxEntries": "search.cache_entries",
    "provider": "embedding.provider",
    "fallback": "embedding.fallback",
    "model": "embedding.model",
    "outputDimensionality": "embedding.dimensions",
    "remote.baseUrl": "embedding.base_url",
    "remote.apiKey": "embedding.api_key",
    "remote.headers": "embedding.headers",
    "remote.batch.enabled": "embedding.batch",
    "remote.batch.concurrency": "embedding.batch_concurrency",
    "remote.batch.pollIntervalMs": "embedding.batch_poll",
    "remote.batch.timeoutMinutes": "embedding.batch_timeout",
    "local.modelPath": "embedding.model_path",
    "local.modelCacheDir": "embedding.model_folder",
}
# Below `agents.defaults.compaction`.
_COMPACTION = {
    "reserveTokensFloor": "flush.reserve_tokens",
    "keepRecentTokens": "sessions.keep_recent_tokens",
    "memoryFlush.enabled": "flush.enabled",
    "memoryFlush.softThresholdTokens": "flush.soft_threshold_tokens",
    "memoryFlush.systemPrompt": "flush.system_prompt",
    "memoryFlush.prompt": "flush.prompt",
}
# Below `memory`.
_MEMORY = {
    "backend": "search.backend",
    "citations": "search.citations",
    "qmd.command": "qmd.command",
    "qmd.searchMode": "qmd.mode",
    "qmd.includeDefaultMemory": "qmd.include_default_memory",
    "qmd.paths": "qmd.paths",
    "qmd.scope": "qmd.scope",
    "qmd.sessions.enabled": "qmd.transcripts",
    "qmd.sessions.retentionDays": "qmd.transcript_days",
    "qmd.update.interval": "qmd.update_minutes",
    "qmd.update.debounceMs": "qmd.debounce_ms",
    "qmd.update.onBoot": "qmd.update_on_boot",
    "qmd.limits.maxResults": "qmd.max_results",
    "qmd.limits.maxSnippetChars": "qmd.max_snippet_chars",
    "qmd.limits.maxInjectedChars": "qmd.max_injected_chars",
    "qmd.limits.timeoutMs": "qmd.timeout_ms",
}
# Below `session`.
_SESSION = {
    "reset": "sessions.reset",
    "idleMinutes": "sessions.reset",
    "resetByType": "sessions.reset_by_type",
    "resetByChannel": "sessions.reset_by_channel",
    "resetTriggers": "sessions.reset_triggers",
    "dmScope": "sessions.direct_scope",
    "mainKey": "sessions.main_key",
    "identityLinks": "sessions.identity_links",
}


_DEFAULTS = "agents.defaults.memorySearch"
_MAPPED: dict[str, str] = {
    **{f"memory.{camel_case(key)}": key for key in SCHEMA},
    **{f"memory.{path}": key for path, key in _MEMORY.items()},
    **{f"memory.search.{path}": key for path, key in _SEARCH.items()},
    **{f"{_DEFAULTS}.{path}": key for path, key in _SEARCH.items()},
    **{f"agents.defaults.compaction.{path}": key for path, key in _COMPACTION.items()},
    **{f"session.{path}": key for path, key in _SESSION.items()},
    "plugins.slots.memory": "search.enabled",
}
# What is looked at; all else in such a file is no memory's business.
_LOOKED_AT = (_DEFAULTS, "agents.defaults.compaction", "memory", "session", "plugins.slots.memory")
# Patterns of paths, why nothing here follows such an entry, and what to do instead.
_UNUSED = (
    ("*.store.driver", "the index is always SQLite", ""),
    (
        "*.store.path",
        "the index of each workspace lies in the cache folder, and the database of another program is never written",
        "set paths.cache in your own config.toml to keep it elsewhere",
    ),
    (
        "*.store.vector.enabled",
        "vectors are always kept beside the words and compared in this process",
        "set embedding.provider to none in your own config.toml to search by words alone",
    ),
    (
        "*.store.vector.extensionPath",
        "vectors are compared without sqlite-vec, and no library that a file names is loaded",
        "",
    ),
    ("*.store.*", "the index of Workbench has a form of its own", ""),
    (
        "*.remote.batch.wait",
        "a job is always waited for, in the background, while words are searched",
        "set embedding.batch_timeout in your own config.toml to wait less long",
    ),
    ("*.query.hybrid.mmr*", "results that say the same are always left out", ""),
    ("*.query.hybrid.temporalDecay*", "age counts by decay", "set decay.lambda"),
    ("*.multimodal*", "only text is searched", ""),
    ("*.local.contextSize", "the context of a local model follows from its file", ""),
    (
        "memory.qmd.sessions.*",
        "the copies of transcripts lie in the cache folder, where a purge reaches them",
        "set paths.cache in your own config.toml to keep them elsewhere",
    ),
    ("memory.qmd.mcporter*", "QMD is run by itself", ""),
    (
        "memory.qmd.update.*",
        "QMD is updated by qmd.update_minutes, debounce_ms and update_on_boot alone",
        "",
    ),
    (
        "agents.defaults.compaction.memoryFlush.*",
        "what is worth keeping is saved as `workbench sessions flush` does",
        "set flush.soft_threshold_tokens",
    ),
    ("agents.defaults.compaction.*", "a session is compacted when somebody asks for it", ""),
    ("session.store", "sessions are kept beside the state", "set sessions.path in your own config.toml"),
    ("session.sendPolicy*", "Workbench sends nothing to anybody", ""),
    ("session.typing*", "Workbench talks to nobody", ""),
    ("session.agentToAgent*", "agents meet in the proposals they make", ""),
    ("session.*", "whoever calls names the session by its key", ""),
)
# Where such a file keeps the keys of its providers, and what they are here.
_KEYS = {"openai": "models.providers.openai", "gemini": "models.providers.google"}
_KEY_ENTRIES = {
    "apiKey": "embedding.api_key",
    "baseUrl": "embedding.base_url",
    "headers": "embedding.headers",
}
_MINUTES = {"ms": 1 / 60_000, "s": 1 / 60, "m": 1.0, "h": 60.0, "d": 1440.0}
_DURATION = lazy_pattern(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?")
_NAME = lazy_pattern(r"[^\W_][\w.-]{0,63}")
_VARIABLE = lazy_pattern(r"\$\{([A-Z_][A-Z0-9_]*)\}")
_PERSONAL = (
    "end points, keys and places outside the workspace are taken from the environment and your own "
    "config.toml only"
)


@dataclass
class ForeignSettings:
    """What the files of other programs say.

    Args:
        values: By dotted key.
        origins: The file and the entry of each value.
        warnings: What could not be followed, one sentence each.
        entries: Every entry that was looked at, and what became of it.
    """

    values: dict[str, Value] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    entries: list[ForeignEntry] = field(default_factory=list)


def read_foreign(root: Path, environment: Mapping[str, str], *, home: bool) -> ForeignSettings:
    """Read the settings of other programs: the user's own, and over them those in the workspace.

    None of these files raises: whatever cannot be read or followed is told of.

    Args:
        root: The workspace folder.
        environment: Variables that say where the user's own file lies.
        home: Whether the user's own file is read.
    """
    found = ForeignSettings()
    for file in foreign_files(root, environment, found.warnings, home=home):
        _Reading(file, environment, found).take_in()
    return found


class _Reading:
    """One file as it is taken in.

    Args:
        file: The file.
        environment: Variables that a user's own file may name as `${NAME}`.
        found: What is added to.
    """

    def __init__(self, file: ForeignFile, environment: Mapping[str, str], found: ForeignSettings) -> None:
        self._file = file
        self._environment = environment
        self._found = found
        self._refused: list[str] = []

    def take_in(self) -> None:
        """Take in every entry that is about memory."""
        entries = dict(self._entries())
        for path, (plain, value) in entries.items():
            self._entry(path, plain, value)
        if self._file.is_owner:
            self._choose_provider(entries)
            self._name_transcripts()
        if entry_at(self._file.document, "$include") is not None:
            self._tell("$include", "further files are not read", "write what is to be followed into this one")
        if self._refused:
            why = _PERSONAL
            if self._file.state is not None:
                why += ", and from this file only for the workspaces of its agents"
            self._found.warnings.append(
                f"{self._file.name}: {', '.join(self._refused)} was left aside; {why}."
            )

    def _entries(self) -> Iterator[tuple[str, tuple[str, object]]]:
        """Yield the entries by path, each as of all agents; those of this workspace’s agent come last."""
        document = self._file.document
        for path in _LOOKED_AT:
            yield from ((each, (each, value)) for each, value in _leaves(entry_at(document, path), path))
        for at, agent in enumerate(list_at(document, "agents.list")):
            if self._file.is_owner and isinstance(agent, Mapping) and agent.get("id") == self._file.agent:
                yield from self._of_agent(agent.get("memorySearch"), f"agents.list[{at}].memorySearch")
        if self._file.is_owner:
            for place in (
                f"agents.entries.{self._file.agent}.memorySearch",
                f"agents.entries.{self._file.agent}.memory.search",
            ):
                yield from self._of_agent(entry_at(document, place), place)

    def _of_agent(self, value: object, place: str) -> Iterator[tuple[str, tuple[str, object]]]:
        for plain, each in _leaves(value, _DEFAULTS):
            yield place + plain.removeprefix(_DEFAULTS), (plain, each)

    def _entry(self, path: str, plain: str, value: object) -> None:
        if value is None:
            return
        key = _MAPPED.get(plain)
        if key is None:
            self._unused(path, plain)
            return
        spec = SCHEMA[key]
        if spec.personal and not self._file.is_owner:
            self._refused.append(path)
            return
        try:
            value = self._meant(path, plain, value)
        except _Settled:
            return
        if spec.kind is Kind.PATHS and isinstance(value, list):
            value = self._followed(path, key, value)
            if not value:
                return
        self._set(path, key, value)

    def _set(self, path: str, key: str, value: object) -> None:
        value = self._filled(value)
        if self._file.is_owner and isinstance(value, str) and (missing := _VARIABLE.search(value)):
            self._found.warnings.append(
                f"{self._file.name}: {path} was left aside, it names the variable {missing[1]}, which is not set."
            )
            return
        try:
            self._found.values[key] = SCHEMA[key].check(value, confined=not self._file.is_owner)
        except Unfit as error:
            self._found.warnings.append(f"{self._file.name}: {path} was left aside, it {error}.")
            return
        self._found.origins[key] = f"{self._file.name} {path}"
        self._found.entries.append(ForeignEntry(self._file.name, path, key))

    def _meant(self, path: str, plain: str, value: object) -> object:
        """Return an entry's value as our setting takes it.

        Raises:
            _Settled: The entry sets nothing here, which has been told.
        """
        name = plain.removeprefix("memory.search.").removeprefix(f"{_DEFAULTS}.")
        match name:
            case "memory.qmd.update.interval" if isinstance(value, str):
                span = _DURATION.fullmatch(value.strip())
                return float(span[1]) * _MINUTES[span[2] or "m"] if span else value
            case "remote.batch.pollIntervalMs" if _is_number(value):
                return float(str(value)) / 1000
            case "memory.qmd.paths" if isinstance(value, list):
                return dict(_collections(value))
            case "memory.qmd.scope":
                return list(_scope_rules(value))
            case "session.idleMinutes" if entry_at(self._file.document, "session.reset") is not None:
                raise self._as_it_is(path, "session.reset is what counts")
            case "session.reset" | "session.idleMinutes":
                return _policy(value if name == "session.reset" else {"mode": "idle", "idleMinutes": value})
            case "session.resetByType" | "session.resetByChannel" if isinstance(value, Mapping):
                return {str(each): _policy(row) for each, row in value.items()}
            case "session.mainKey" if isinstance(value, str) and not _NAME.fullmatch(value.strip()):
                raise self._as_it_is(path, "it cannot be the name of a session, so that is main")
            case "session.identityLinks" if isinstance(value, Mapping):
                if not all(isinstance(name, str) and _NAME.fullmatch(name.strip()) for name in value):
                    raise self._as_it_is(path, "a name in it cannot stand in the key of a session")
                return dict(_linked(value))
            case "plugins.slots.memory":
                return self._of_plugin(path, value)
            case "cache.enabled" if isinstance(value, bool):
                if value:
                    raise self._as_it_is(path, "made vectors are kept")
                return 0
            case "cache.maxEntries" if (
                entry_at(self._file.document, plain.replace("maxEntries", "enabled")) is False
            ):
                raise self._as_it_is(path, "cache.enabled is false")
            case "provider" if value == "auto":
                raise _Settled
            case "sources" | "experimental.sessionMemory":
                return self._searches_sessions(path, plain)
        return value

    def _of_plugin(self, path: str, value: object) -> bool:
        if value not in ("none", "memory-core"):
            raise self._as_it_is(path, "Workbench is what looks after memory here, whatever plugin is named")
        return value != "none"

    def _searches_sessions(self, path: str, plain: str) -> object:
        """Return whether transcripts are searched: where the experiment is on and the sources, if named, name them."""
        place = plain.removesuffix("sources").removesuffix("experimental.sessionMemory")
        sources = entry_at(self._file.document, f"{place}sources")
        on = entry_at(self._file.document, f"{place}experimental.sessionMemory")
        if sources is not None and (not isinstance(sources, list) or "memory" not in sources):
            raise self._as_it_is(path, "memory itself is always searched")
        if plain.endswith("sources"):
            if "sessions" in (sources or ()) and on is not True:
                self._tell(
                    path,
                    "sessions are searched only with experimental.sessionMemory",
                    "set that to true",
                    used=False,
                )
                raise _Settled
            return "sessions" in (sources or ())
        if on is True and sources is not None and "sessions" not in sources:
            raise self._as_it_is(path, "sources does not name sessions")
        return on

    def _followed(self, path: str, key: str, paths: list[object]) -> list[object]:
        """Return the paths that may be followed; a bad one costs itself alone."""
        spec, kept = SCHEMA[key], list[object]()
        for each in paths:
            try:
                spec.check([each], confined=not self._file.is_owner)
            except Unfit as error:
                shown = f"“{each[:80]}”" if isinstance(each, str) else "an entry"
                self._found.warnings.append(
                    f"{self._file.name}: {shown} of {path} was left aside, it {error}."
                )
            else:
                kept.append(each)
        return kept

    def _filled(self, value: object) -> object:
        """Return a text with the variables that it names, in a user's own file alone."""
        if self._file.is_owner and isinstance(value, str):
            return _VARIABLE.sub(lambda match: self._environment.get(match[1], match[0]), value)
        if self._file.is_owner and isinstance(value, Mapping):
            return {name: self._filled(each) for name, each in value.items()}
        return value

    def _choose_provider(self, entries: Mapping[str, tuple[str, object]]) -> None:
        """Choose what makes vectors where that is left open, and take its key where this file has one elsewhere.

        Args:
            entries: Those of the file, by path.
        """
        found = self._found
        wanted = (f"{_DEFAULTS}.provider", "memory.search.provider")
        named = [(path, value) for path, (plain, value) in entries.items() if plain in wanted]
        path, value = named[-1] if named else ("", None)
        provider = str(value)
        if value in (None, "auto"):
            provider, reason = self._at_hand(is_asked=value == "auto")
            if provider:
                self._set(path or reason, "embedding.provider", provider)
            elif path:
                self._tell(
                    path, "no model file and no key stands in this file; the built-in table goes on", ""
                )
        place = _KEYS.get(provider)
        # A key for the provider's own server is none for another.
        for entry, key in _KEY_ENTRIES.items() if place and "embedding.base_url" not in found.values else ():
            path = f"{place}.{entry}"
            if key not in found.values and (value := entry_at(self._file.document, path)) is not None:
                self._set(path, key, value)

    def _at_hand(self, *, is_asked: bool) -> tuple[str, str]:
        """Return what can make vectors, and the entry that says so: a model that is here, OpenAI, Gemini, or nothing.

        Args:
            is_asked: Whether keys that the file holds for conversations may be used, too.
        """
        found = self._found
        model = str(found.values.get("embedding.model_path", ""))
        if model and expand_home(model).is_file():
            return "local", found.origins["embedding.model_path"].rpartition(" ")[2]
        if found.values.get("embedding.api_key"):
            return "openai", found.origins["embedding.api_key"].rpartition(" ")[2]
        for provider, place in _KEYS.items() if is_asked else ():
            if isinstance(entry_at(self._file.document, f"{place}.apiKey"), str):
                return provider, f"{place}.apiKey"
        return "", ""

    def _name_transcripts(self) -> None:
        """Search the transcripts of this workspace's agent where sessions are searched and no folder is named."""
        found, file = self._found, self._file
        folder = file.state / "agents" / file.agent / "sessions" if file.state else None
        wanted = next((key for key in ("search.sessions", "qmd.transcripts") if found.values.get(key)), "")
        if wanted and folder and "search.session_paths" not in found.values and folder.is_dir():
            found.values["search.session_paths"] = (str(folder),)
            found.origins["search.session_paths"] = found.origins[wanted]

    def _unused(self, path: str, plain: str) -> None:
        for pattern, why, instead in _UNUSED:
            if fnmatchcase(plain, pattern):
                self._tell(path, why, instead)
                return
        self._tell(path, "Workbench has nothing that it could set", "")

    def _tell(self, path: str, why: str, instead: str, *, used: bool = False) -> None:
        told = why if used else f"not used: {why}"
        self._found.entries.append(
            ForeignEntry(
                self._file.name,
                path,
                told=told,
                instead=f"{instead[0].upper()}{instead[1:]}." if instead else "",
            )
        )

    def _as_it_is(self, path: str, why: str) -> _Settled:
        self._tell(path, why, "", used=True)
        return _Settled()


class _Settled(Exception):
    """The entry sets nothing, and why has been told."""


def without_key(values: dict[str, Value], origins: dict[str, str]) -> ForeignEntry | None:
    """Take out a provider that another program's file names without a key: it would answer nothing.

    Args:
        values: All settings, the user's own included; the provider is another program's.
        origins: Where each comes from.
    """
    if values.get("embedding.provider") not in _REMOTE:
        return None
    if values.get("embedding.api_key") or values.get("embedding.base_url"):
        return None
    del values["embedding.provider"]
    file, _, path = origins.pop("embedding.provider").rpartition(" ")
    return ForeignEntry(
        file,
        path,
        told="not used: its key stands nowhere in this file, and Workbench looks for none elsewhere",
        instead="Set embedding.provider and embedding.api_key in your own config.toml.",
    )


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    """Yield the entries below a path; a table that is one setting is one entry."""
    key = _MAPPED.get(path)
    if isinstance(value, Mapping) and (key is None or path == "plugins.slots.memory"):
        for name, each in value.items():
            yield from _leaves(each, f"{path}.{name}")
    elif value is not None and (path not in _LOOKED_AT or key):
        yield path, value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _collections(paths: list[object]) -> Iterator[tuple[str, object]]:
    """Yield QMD's further folders by name, each with its pattern at the end."""
    for number, each in enumerate(paths, 1):
        if isinstance(each, Mapping) and isinstance(each.get("path"), str):
            pattern = each.get("pattern")
            path = each["path"].rstrip("/")
            name = str(each.get("name") or f"{os.path.basename(path)}-{number}")  # noqa: PTH119 - text, not a place
            yield name, f"{path}/{pattern}" if isinstance(pattern, str) and pattern else path
        else:
            yield f"{number}", each


def _linked(people: Mapping[object, object]) -> Iterator[tuple[str, object]]:
    """Yield each account with the name of the person whose it is; what is no list of accounts is not changed."""
    for name, accounts in people.items():
        if isinstance(accounts, list):
            yield from ((str(account), name) for account in accounts)
        else:
            yield str(name), accounts


def _scope_rules(scope: object) -> Iterator[object]:
    """Yield the rules of a scope in our words, such as `allow direct`; the last is for all that is left."""
    if not isinstance(scope, Mapping):
        yield scope
        return
    rules = scope.get("rules")
    for rule in rules if isinstance(rules, list) else ():
        given = rule.get("match") if isinstance(rule, Mapping) else None
        match = given if isinstance(given, Mapping) else {}
        words = [str(match["chatType"])] if match.get("chatType") else []
        words += [f"{name}:{match[name]}" for name in ("channel", "keyPrefix") if match.get(name)]
        yield " ".join((str(rule.get("action")) if isinstance(rule, Mapping) else "", *words))
    yield str(scope.get("default", "allow"))


def _policy(row: object) -> object:
    """Return when a session ends in our words; a row that says something else is not changed."""
    if not isinstance(row, Mapping):
        return row
    mode, hour, minutes = row.get("mode", "daily"), row.get("atHour"), row.get("idleMinutes")
    if mode == "none":
        return "none"
    if mode not in ("daily", "idle") or not all(
        each is None or type(each) is int for each in (hour, minutes)
    ):
        return row
    if not (hour is None or 0 <= hour < 24) or not (minutes is None or 0 < minutes <= 525_600):
        return row
    words = [f"daily {4 if hour is None else hour}"] if mode == "daily" else []
    if mode == "idle" or minutes is not None:
        words.append(f"idle {60 if minutes is None else minutes}")
    return " ".join(words)
