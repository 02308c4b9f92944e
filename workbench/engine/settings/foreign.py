"""Translates memory settings of `openclaw.json`, `moltbot.json` and `clawdbot.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import OutsideWorkspace
from workbench.engine.file_access import read_regular_file
from workbench.engine.settings.relaxed_json import read_relaxed_json
from workbench.engine.settings.schema import Unfit, Value
from workbench.engine.settings.sections import SCHEMA

LARGEST = 512 * 1024

# Paths below `agents.defaults.memorySearch`, or in newer versions below `memory.search`.
_SEARCH = {
    "query.maxResults": "search.max_results",
    "query.minScore": "search.min_score",
    "maxResults": "search.max_results",
    "minScore": "search.min_score",
    "query.hybrid.vectorWeight": "search.vector_weight",
    "query.hybrid.textWeight": "search.text_weight",
    "query.hybrid.candidateMultiplier": "search.candidate_multiplier",
    "chunking.tokens": "search.chunk_tokens",
    "chunking.overlap": "search.chunk_overlap",
    "experimental.sessionMemory": "search.sessions",
    "extraPaths": "search.extra_paths",
    "sync.watch": "search.watch",
    "sync.watchDebounceMs": "search.watch_debounce_ms",
    "sync.intervalMinutes": "search.sync_minutes",
    "sync.sessions.deltaBytes": "search.session_delta_bytes",
    "sync.sessions.deltaMessages": "search.session_delta_messages",
    "cache.maxEntries": "search.cache_entries",
    "provider": "embedding.provider",
    "fallback": "embedding.fallback",
    "model": "embedding.model",
    "remote.baseUrl": "embedding.base_url",
    "remote.apiKey": "embedding.api_key",
    "remote.headers": "embedding.headers",
    "remote.batch.enabled": "embedding.batch",
    "remote.batch.concurrency": "embedding.batch_concurrency",
    "local.modelPath": "embedding.model_path",
    "local.modelCacheDir": "embedding.model_folder",
}
_FLUSH = {
    "reserveTokensFloor": "flush.reserve_tokens",
    "memoryFlush.enabled": "flush.enabled",
    "memoryFlush.softThresholdTokens": "flush.soft_threshold_tokens",
    "memoryFlush.systemPrompt": "flush.system_prompt",
    "memoryFlush.prompt": "flush.prompt",
}
# Paths below `memory`.
_MEMORY = {
    "backend": "search.backend",
    "citations": "search.citations",
    "qmd.update.interval": "qmd.update_minutes",
    "qmd.update.debounceMs": "qmd.debounce_ms",
    "qmd.update.onBoot": "qmd.update_on_boot",
    "qmd.limits.maxResults": "qmd.max_results",
    "qmd.limits.maxSnippetChars": "qmd.max_snippet_chars",
    "qmd.limits.timeoutMs": "qmd.timeout_ms",
}
_MINUTES = {"ms": 1 / 60_000, "s": 1 / 60, "m": 1.0, "h": 60.0, "d": 1440.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?")


def _camel(key: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), key)


_MAPPED: dict[str, str] = {
    **{f"memory.{_camel(key)}": key for key in SCHEMA},
    **{f"memory.{path}": key for path, key in _MEMORY.items()},
    **{f"memory.search.{path}": key for path, key in _SEARCH.items()},
    **{f"agents.defaults.memorySearch.{path}": key for path, key in _SEARCH.items()},
    **{f"agents.defaults.compaction.{path}": key for path, key in _FLUSH.items()},
}


def read_foreign(root: Path) -> tuple[dict[str, Value], dict[str, str], list[str]]:
    """Read the foreign settings files of a workspace; for a key in several, the newest product wins.

    A foreign file never raises: unreadable files, unfit values and settings a workspace may not choose are
    ignored with a
    warning.

    Args:
        root: The workspace folder.

    Returns:
        Values and origins by dotted key, and warnings.
    """
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    warnings: list[str] = []
    for name in reversed(layout.FOREIGN_SETTINGS):
        try:
            document = _read(layout.resolve(root, name))
        except (OSError, OutsideWorkspace, ValueError, RecursionError) as error:
            warnings.append(f"{name} was left aside: {_reason(error)}.")
            continue
        if document is None:
            continue
        refused: list[str] = []
        for path, key in _MAPPED.items():
            value = _at(document, path)
            if value is None:
                continue
            spec = SCHEMA[key]
            if spec.personal:
                refused.append(path)
                continue
            try:
                values[key] = spec.check(_in_our_unit(path, value), confined=True)
            except Unfit as error:
                warnings.append(f"{name}: {path} was left aside, it {error}.")
            else:
                origins[key] = f"{name} {path}"
        if refused:
            warnings.append(
                f"{name}: {', '.join(refused)} was left aside; end points, keys and places outside the "
                "workspace are taken from the environment and your own config.toml only."
            )
    return values, origins, warnings


def _read(path: Path) -> Mapping[str, Any] | None:
    content = read_regular_file(path, LARGEST + 1)
    if content is None:
        return None
    if len(content) > LARGEST:
        raise ValueError("it is larger than 512 KiB")
    document = read_relaxed_json(content.decode("utf-8-sig"))
    if not isinstance(document, dict):
        raise ValueError("it holds no object")
    return document


def _at(document: Mapping[str, Any], path: str) -> object:
    value: object = document
    for part in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def _in_our_unit(path: str, value: object) -> object:
    """Return a duration such as `5m` in minutes (also the unit of bare numbers), anything else unchanged."""
    if _MAPPED[path] == "qmd.update_minutes" and isinstance(value, str):
        span = _DURATION.fullmatch(value.strip())
        if span:
            return float(span[1]) * _MINUTES[span[2] or "m"]
    return value


def _reason(error: Exception) -> str:
    if isinstance(error, OutsideWorkspace):
        return "a symbolic link stands on its path"
    if isinstance(error, UnicodeDecodeError):
        return "it is no UTF-8 text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError):
        return f"it cannot be read ({error.strerror})"
    return f"it cannot be read as JSON5 ({str(error).splitlines()[0][:120]})"
