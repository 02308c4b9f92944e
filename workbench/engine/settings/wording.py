"""What each setting is called, the section it stands in, and how its value is said and understood."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from workbench.engine.patterns import lazy_pattern
from workbench.engine.settings.schema import Kind, Spec, Unfit, Value
from workbench.engine.settings.sections import SCHEMA

HALF_LIFE = "decay.lambda"
_HALF_LIFE_TAKES = "days, such as “23 days”; a rate of decay below 1, such as 0.03 a day; or “never”"
_DAYS = lazy_pattern(r"([\d.,]+)\s*(?:d|days?)?", re.IGNORECASE)


class Wording(NamedTuple):
    """How a setting is spoken of.

    Args:
        title: A word or a few.
        unit: What its number counts; empty for a mere number.
        explanation: A sentence instead of the schema's own phrase; empty where that does.
    """

    title: str
    unit: str = ""
    explanation: str = ""


_BENCH = {
    "bench.theme": Wording(
        "Theme", "", "The colours; auto follows the terminal's own ground, light or dark."
    ),
    "bench.motion": Wording("Motion"),
    "bench.rows": Wording("Rows", "", "How lists are set: row below row, or with a space below each."),
    "bench.plain": Wording("Plain, for screen readers"),
}
_KEYS = {"bench.keymap": Wording("Keys", "", "Keys by name of command; bench.toml counts more.")}
_FORGETTING = {
    HALF_LIFE: Wording(
        "Half-life", "days", "Days in which a memory that nobody uses loses half of its relevance."
    ),
    "decay.active_threshold": Wording("Active from"),
    "decay.fading_threshold": Wording("Dormant below", "", "Score below which a memory is dormant."),
    "decay.archive_threshold": Wording(
        "Archived below", "", "Score below which a memory is left out of search."
    ),
    "decay.core_weight": Wording("Weight of core memory"),
    "decay.episodic_weight": Wording("Weight of episodes"),
    "decay.semantic_weight": Wording("Weight of facts"),
    "decay.procedural_weight": Wording("Weight of procedures"),
    "decay.explicit_base": Wording("Begins, when asked for", "", "Score of what somebody asked to remember."),
    "decay.auto_base": Wording("Begins, when noticed", "", "Score of what the agent noticed by itself."),
    "decay.inferred_base": Wording("Begins, when inferred", "", "Score of what was inferred."),
    "decay.fold_accesses": Wording("Uses counted together", "uses"),
    "decay.fold_minutes": Wording("Uses counted after", "minutes"),
}
_CORE = {
    "core.cap": Wording("All of core memory", "tokens"),
    "core.identity_budget": Wording("Identity", "tokens"),
    "core.active_context_budget": Wording("Active context", "tokens"),
    "core.persona_budget": Wording("Persona", "tokens"),
    "core.critical_facts_budget": Wording("Critical facts", "tokens"),
    "brief.log_tokens": Wording("Log in a brief", "tokens"),
}
_REFLECTION = {
    "reflection.frequency": Wording("When"),
    "reflection.time": Wording("Daily at"),
    "reflection.threshold": Wording("After new episodes", "episodes"),
    "reflection.items": Wording("Changes at once", "changes"),
    "reflection.token_budget": Wording("Token budget", "tokens"),
    "reflection.model": Wording("By the model"),
    "reflection.sampling": Wording("By a client’s model"),
    "proposals.mode": Wording("Proposals of agents"),
    "proposals.trusted": Wording("Trusted agents"),
    "proposals.auto_confidence": Wording("Stored at once from"),
}
_SEARCH = {
    "search.max_results": Wording("Results", "results"),
    "search.min_score": Wording("Least score"),
    "search.enabled": Wording("Offered to agents"),
    "search.citations": Wording("Citations"),
    "search.fusion": Wording("Ranking"),
    "search.hybrid": Wording("Words count"),
    "search.vector_weight": Wording("Weight of meaning"),
    "search.text_weight": Wording("Weight of words"),
    "search.candidate_multiplier": Wording("Candidates a result"),
    "search.chunk_tokens": Wording("Size of a chunk", "tokens"),
    "search.chunk_overlap": Wording("Chunks share", "tokens"),
    "search.sessions": Wording("Transcripts"),
    "search.session_paths": Wording("Further transcripts"),
    "search.extra_paths": Wording("Further files"),
    "search.watch": Wording("Follow changes"),
    "search.watch_debounce_ms": Wording("After a change", "ms"),
    "search.sync_on_search": Wording("Look before a search"),
    "search.sync_on_start": Wording("Look at the start"),
    "search.sync_minutes": Wording("Look again every", "minutes"),
    "search.cache_entries": Wording("Cached embeddings"),
    "search.session_delta_bytes": Wording("Transcript grows by", "bytes"),
    "search.session_delta_messages": Wording("Transcript grows by messages", "messages"),
    "search.backend": Wording("Engine"),
    "graph.depth": Wording("Hops in the graph", "hops"),
    "graph.relations": Wording("Further relations"),
}
_MODELS = {
    "model.path": Wording("Chat model, file"),
    "model.base_url": Wording("Chat server"),
    "model.name": Wording("Chat model"),
    "model.api_key": Wording("Chat key", "", "Key of the chat server."),
    "model.headers": Wording("Chat headers"),
    "model.timeout": Wording("Wait for an answer", "seconds"),
    "model.reflection_timeout": Wording("Wait in a reflection", "seconds"),
    "model.context": Wording("Context of the chat model", "tokens"),
    "embedding.provider": Wording("Embeddings by"),
    "embedding.fallback": Wording("Embeddings else by", "", "What makes embeddings where the first cannot."),
    "embedding.model": Wording("Embedding model"),
    "embedding.model_path": Wording("Embedding model, file"),
    "embedding.model_folder": Wording("Downloaded models"),
    "embedding.download_url": Wording("Hub of models"),
    "embedding.base_url": Wording("Embedding server"),
    "embedding.api_key": Wording("Embedding key"),
    "embedding.headers": Wording("Embedding headers"),
    "embedding.dimensions": Wording("Dimensions"),
    "embedding.query_prefix": Wording("Before a question"),
    "embedding.passage_prefix": Wording("Before a text"),
    "embedding.timeout": Wording("Wait for embeddings", "seconds"),
    "embedding.concurrency": Wording("Requests at once", "requests"),
    "embedding.batch": Wording("Batch jobs"),
    "embedding.batch_concurrency": Wording("Batch jobs at once", "jobs"),
    "embedding.batch_poll": Wording("Ask a batch job every", "seconds"),
    "embedding.batch_timeout": Wording("A batch job may take", "minutes"),
    "embedding.fallback_model": Wording("Model that steps in"),
    "embedding.fallback_base_url": Wording("Server that steps in"),
    "embedding.fallback_api_key": Wording("Key of the server that steps in"),
}
_QMD = {
    "hub.url": Wording("Database"),
    "hub.connections": Wording("Connections"),
    "hub.connect_seconds": Wording("Wait for a connection", "seconds"),
    "hub.statement_seconds": Wording("A statement takes at most", "seconds"),
    "qmd.command": Wording("Program"),
    "qmd.mode": Wording("Mode"),
    "qmd.embed": Wording("Own embeddings"),
    "qmd.include_default_memory": Wording("Searches memory"),
    "qmd.paths": Wording("Further folders"),
    "qmd.update_minutes": Wording("Updates every", "minutes"),
    "qmd.debounce_ms": Wording("Between updates", "ms"),
    "qmd.update_on_boot": Wording("Updates at the start"),
    "qmd.max_results": Wording("Results", "results"),
    "qmd.max_snippet_chars": Wording("A snippet", "characters"),
    "qmd.max_injected_chars": Wording("All snippets", "characters"),
    "qmd.timeout_ms": Wording("Wait for an answer", "ms"),
    "qmd.scope": Wording("Answers"),
    "qmd.transcripts": Wording("Transcripts"),
    "qmd.transcript_days": Wording("Transcripts of", "days"),
}
_SESSIONS = {
    "sessions.reset": Wording("A session ends"),
    "sessions.reset_by_type": Wording("Ends, by type"),
    "sessions.reset_by_channel": Wording("Ends, by channel"),
    "sessions.reset_triggers": Wording("Words that begin one"),
    "sessions.reset_senders": Wording("Who may begin one"),
    "sessions.on_reset": Wording("Program at its end"),
    "sessions.on_reset_seconds": Wording("That program may take", "seconds"),
    "sessions.direct_scope": Wording("Direct conversations"),
    "sessions.direct_scope_by_peer": Wording("Direct, by person"),
    "sessions.main_key": Wording("Main session"),
    "sessions.identity_links": Wording("Accounts of a person"),
    "sessions.window": Wording("Context window", "tokens"),
    "sessions.keep_recent_tokens": Wording("Kept when compacted", "tokens"),
    "sessions.history_turns": Wording("Turns shown", "turns"),
    "sessions.direct_history_turns": Wording("Turns shown, direct", "turns"),
    "sessions.path": Wording("Folder of sessions"),
    "flush.enabled": Wording("Saved before compacting"),
    "flush.reserve_tokens": Wording("Kept free", "tokens"),
    "flush.soft_threshold_tokens": Wording("Saved so much earlier", "tokens"),
    "flush.system_prompt": Wording("System prompt of saving"),
    "flush.prompt": Wording("Prompt of saving"),
}
_SAFETY = {
    "audit.critical_alerts": Wording("Alerts"),
    "audit.critical_files": Wording("Critical files"),
    "audit.retention_days": Wording("Audit log", "days"),
    "vault.main_writes": Wording("Agent writes the vault"),
    "secrets.hold_back": Wording("Secrets wait"),
    "secrets.allow": Wording("Allowed secrets", "", "Digests of secrets that may be stored."),
}
_HERE = {
    "timezone": Wording("Time zone"),
    "editor": Wording("Editor"),
    "workspace": Wording("Usual workspace"),
    "home_settings": Wording("OpenClaw's settings"),
    "history.lock_timeout": Wording("Wait for another writer", "seconds"),
    "sync.minutes": Wording(
        "Sync devices", "minutes", "How often the daemon syncs with a remote that was named."
    ),
    "triggers.phrases": Wording("Trigger phrases"),
    "paths.state": Wording("Folder of state"),
    "paths.cache": Wording("Folder of caches"),
}
SECTIONS: Mapping[str, Mapping[str, Wording]] = {
    "Look": _BENCH,
    "Keys": _KEYS,
    "Forgetting": _FORGETTING,
    "Core budgets": _CORE,
    "Reflection": _REFLECTION,
    "Search": _SEARCH,
    "Models": _MODELS,
    "Sessions": _SESSIONS,
    "Safety": _SAFETY,
    "QMD": _QMD,
    "This machine": _HERE,
}
"""Every setting under the section that people find it in, in the order of both."""
_BY_KEY = {key: wording for section in SECTIONS.values() for key, wording in section.items()}


def wording(key: str) -> Wording:
    """Return how a setting is spoken of, its explanation included."""
    found = _BY_KEY[key]
    if found.explanation:
        return found
    about = SCHEMA[key].about
    return found._replace(explanation=about[:1].upper() + about[1:] + ".")


def takes(key: str) -> str:
    """Return what a setting takes, as a person would write it."""
    return _HALF_LIFE_TAKES if key == HALF_LIFE else SCHEMA[key].takes


def said(key: str, value: Value) -> str:
    """Return a value as people are told it: “23 days”, “on”, “0.08”, “3,000 tokens”.

    A secret is only said to be set or not.
    """
    spec, unit = SCHEMA[key], _BY_KEY[key].unit
    if spec.secret:
        return "set" if value else "not set"
    if key == HALF_LIFE and isinstance(value, int | float):
        if not value:
            return "never"
        days = math.log(2) / value
        return counted(f"{days:,.0f}" if days >= 10 else f"{days:.2g}", unit)
    match value:
        case bool():
            return "on" if value else "off"
        case int() | float():
            two = spec.kind is Kind.NUMBER and spec.most is not None and spec.most <= 1
            return counted(f"{value:.2f}" if two and round(value, 2) == value else f"{value:,.10g}", unit)
        case tuple():
            return ", ".join(value) or "none"
        case dict():
            return ", ".join(f"{name} = {each}" for name, each in value.items()) or "none"
    return value or "not set"


def counted(number: str, unit: str) -> str:
    """Return a number with its unit, which loses its plural for 1."""
    if not unit:
        return number
    return f"{number} {unit.removesuffix('s') if number == '1' and unit != 'ms' else unit}"


def written(key: str, value: Value) -> str:
    """Return a value as a person would write it into a line, to be changed there; nothing of a secret."""
    if SCHEMA[key].secret:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple | dict) and not value:
        return ""
    return said(key, value)


def meant(key: str, text: str) -> Value:
    """Return the value that a person wrote: “23 days”, “on”, “3,000 tokens”, “a, b”.

    A half-life is days, or below 1 the rate of decay a day; “never” does not decay.

    Raises:
        Unfit: It is not what the setting takes.
    """
    spec, unit = SCHEMA[key], _BY_KEY[key].unit
    if spec.kind in (Kind.TEXT, Kind.PATH, Kind.ZONE, Kind.CHOICE, Kind.TIME):
        return spec.check(text.strip(), confined=False)
    if key == HALF_LIFE:
        return _rate(spec, text)
    if spec.kind in (Kind.WHOLE, Kind.NUMBER):
        bare = (
            re.sub(rf"\s*{re.escape(unit.removesuffix('s'))}s?$", "", text.strip()) if unit else text.strip()
        )
        return spec.read(re.sub(r"(?<=\d)[,_ ](?=\d{3}\b)", "", bare))
    if spec.kind in (Kind.TEXTS, Kind.PATHS, Kind.TABLE) and text.strip() == "none":
        return spec.read("")
    return spec.read(text)


def _rate(spec: Spec, text: str) -> Value:
    if text.strip().lower() in ("never", "0"):
        return 0.0
    found = _DAYS.fullmatch(text.strip())
    try:
        number = float(found[1].replace(",", "")) if found else 0.0
    except ValueError:
        number = 0.0
    if number <= 0:
        raise Unfit(f"takes {_HALF_LIFE_TAKES}")
    if number < 1 and not text.rstrip().lower().endswith(("d", "day", "days")):
        return spec.check(number, confined=False)
    return spec.check(float(f"{math.log(2) / number:.4g}"), confined=False)
