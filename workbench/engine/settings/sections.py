"""Every setting with its default (the single table behind loading, writing and help), and the user's folders."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import Field, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workbench.engine import layout
from workbench.engine.identifiers import slug
from workbench.engine.settings.schema import (
    ENDPOINT,
    OUTSIDE,
    PROGRAM,
    TASTE,
    Kind,
    Spec,
    Value,
    choice,
    is_zone,
    number,
    of,
    whole,
)
from workbench.engine.values import dataclass

DIRECT_SCOPES = ("main", "per-peer", "per-channel-peer", "per-account-channel-peer")


@dataclass(frozen=True)
class SessionSettings:
    """The session layer."""

    path: str = of(Kind.PATH, "", "folder of sessions.json and transcripts, if not under the state", OUTSIDE)
    reset: str = of(Kind.TEXT, "daily 4", "when a session ends: daily HOUR, idle MINUTES, both, or none")
    reset_by_type: Mapping[str, str] = of(Kind.TABLE, {}, "the same for direct, group or thread")
    reset_by_channel: Mapping[str, str] = of(Kind.TABLE, {}, "the same by channel; stronger than the type")
    reset_triggers: tuple[str, ...] = of(
        Kind.TEXTS, ("/new", "/reset"), "words by which a message begins a new session"
    )
    reset_senders: tuple[str, ...] = of(
        Kind.TEXTS,
        ("direct",),
        "who may begin one by such a word: senders such as telegram:42, direct for all who talk alone with the "
        "agent, * for everybody",
    )
    on_reset: tuple[str, ...] = of(
        Kind.TEXTS,
        (),
        "program and arguments that are run when somebody starts a session over, with the ended one as JSON on stdin",
        PROGRAM,
    )
    on_reset_seconds: float = number(10.0, 0.1, 600, "seconds after which it is ended", PROGRAM)
    direct_scope: str = choice(
        "main",
        DIRECT_SCOPES,
        "whether direct conversations join the main session, or which have one of their own",
    )
    direct_scope_by_peer: Mapping[str, str] = of(
        Kind.TABLE, {}, "the same for one such as telegram:42, or * for all, whatever is there already"
    )
    main_key: str = of(Kind.TEXT, "main", "name of the main session")
    identity_links: Mapping[str, str] = of(
        Kind.TABLE, {}, "one name for several accounts of a person: telegram:42 = mira"
    )
    window: int = whole(
        200_000, 1000, 10_000_000, "tokens of the model’s context window where a session does not say"
    )
    keep_recent_tokens: int = whole(
        20_000, 0, 10_000_000, "tokens of the newest messages that a compaction keeps"
    )
    history_turns: int = whole(0, 0, 1_000_000, "newest turns that a model is shown; 0 for all that fit")
    direct_history_turns: int = whole(0, 0, 1_000_000, "the same for direct conversations")


@dataclass(frozen=True)
class EmbeddingSettings:
    """Where embeddings are made."""

    provider: str = choice(
        "builtin", ("builtin", "local", "openai", "gemini", "none"), "what makes embeddings", ENDPOINT
    )
    fallback: str = choice(
        "builtin", ("builtin", "local", "openai", "gemini", "none"), "what steps in", ENDPOINT
    )
    model: str = of(Kind.TEXT, "", "name of the embedding model", ENDPOINT)
    base_url: str = of(Kind.TEXT, "", "end point of the embedding server", ENDPOINT)
    api_key: str = of(Kind.TEXT, "", "key of the embedding server", ENDPOINT, secret=True)
    headers: Mapping[str, str] = of(Kind.TABLE, {}, "further request headers", ENDPOINT, secret=True)
    timeout: float = number(60.0, 0.1, 3600, "seconds to wait for one answer of it", ENDPOINT)
    concurrency: int = whole(4, 1, 64, "requests to it at once", ENDPOINT)
    dimensions: int = whole(0, 0, 65_536, "dimensions to ask the model for; 0 for its own", ENDPOINT)
    query_prefix: str = of(
        Kind.TEXT, "auto", "text put before questions; auto for what the model was made for", ENDPOINT
    )
    passage_prefix: str = of(
        Kind.TEXT, "auto", "text put before what is indexed; auto for the model’s own", ENDPOINT
    )
    model_path: str = of(Kind.PATH, "", "a GGUF file, or an hf: address", OUTSIDE)
    model_folder: str = of(Kind.PATH, "", "folder of downloaded models; empty for the user’s cache", OUTSIDE)
    download_url: str = of(
        Kind.TEXT, "https://huggingface.co", "hub that hf: addresses are downloaded from", ENDPOINT
    )
    batch: bool = of(Kind.SWITCH, False, "whether big backfills use the batch API", ENDPOINT)
    batch_concurrency: int = whole(2, 1, 64, "batch jobs at once", ENDPOINT)
    batch_poll: float = number(5.0, 0.01, 3600, "seconds between questions after a batch job", ENDPOINT)
    batch_timeout: float = number(60.0, 0.01, 10_080, "minutes that a batch job may take", ENDPOINT)
    fallback_model: str = of(Kind.TEXT, "", "name of the model that steps in", ENDPOINT)
    fallback_base_url: str = of(Kind.TEXT, "", "end point of the server that steps in", ENDPOINT)
    fallback_api_key: str = of(Kind.TEXT, "", "key of the server that steps in", ENDPOINT, secret=True)


@dataclass(frozen=True)
class ModelSettings:
    """The chat model for routing and reflection; optional. A local file takes precedence over a server."""

    path: str = of(Kind.PATH, "", "a GGUF file of a chat model, run on this machine", OUTSIDE)
    base_url: str = of(Kind.TEXT, "", "end point of an OpenAI-compatible server", ENDPOINT)
    api_key: str = of(Kind.TEXT, "", "its key", ENDPOINT, secret=True)
    name: str = of(Kind.TEXT, "", "name of the model", ENDPOINT)
    headers: Mapping[str, str] = of(Kind.TABLE, {}, "further request headers", ENDPOINT, secret=True)
    timeout: float = number(20.0, 0.1, 3600, "seconds to wait for it where somebody waits", ENDPOINT)
    reflection_timeout: float = number(
        300.0, 0.1, 86_400, "seconds to wait for one answer in a reflection", ENDPOINT
    )
    context: int = whole(
        8192, 4096, 1_000_000, "tokens of question and answer that it takes at once", ENDPOINT
    )

    @property
    def configured(self) -> bool:
        """Return whether a model is configured."""
        return bool(self.path or (self.name and (self.base_url or self.api_key)))

    @property
    def told(self) -> str:
        """Describe the model for people, or return ""."""
        if not self.configured:
            return ""
        return self.path or f"{self.name} at {self.base_url or 'OpenAI'}"


Fusion = Literal["two-grain", "weighted-sum"]


@dataclass(frozen=True)
class CoreSettings:
    """Token budgets of core memory (design document §4)."""

    cap: int = whole(3000, 100, 1_000_000, "most tokens of core memory")
    identity_budget: int = whole(500, 0, 1_000_000, "tokens of Identity")
    active_context_budget: int = whole(1000, 0, 1_000_000, "tokens of Active Context")
    persona_budget: int = whole(500, 0, 1_000_000, "tokens of Persona")
    critical_facts_budget: int = whole(1000, 0, 1_000_000, "tokens of Critical Facts")

    @property
    def budgets(self) -> dict[str, int]:
        """Return the token budget of each of the four blocks, by heading."""
        return {
            "Identity": self.identity_budget,
            "Active Context": self.active_context_budget,
            "Persona": self.persona_budget,
            "Critical Facts": self.critical_facts_budget,
        }


@dataclass(frozen=True)
class BriefSettings:
    """What an agent is given at the start of a session, beside core memory."""

    log_tokens: int = whole(
        2000, 0, 8000, "most tokens of the log of today and yesterday in a brief; 0 leaves it out"
    )


@dataclass(frozen=True)
class DecaySettings:
    """Constants of forgetting (design document §9), and when journalled accesses are folded."""

    lambda_: float = number(0.03, 0, 10, "decay per day; higher forgets faster")
    active_threshold: float = number(0.5, 0, 1, "least score of an active memory")
    fading_threshold: float = number(0.2, 0, 1, "least score of a fading memory")
    archive_threshold: float = number(0.05, 0, 1, "score below which a memory is hidden from search")
    core_weight: float = number(1.5, 0, 100, "type weight of core memory")
    episodic_weight: float = number(0.8, 0, 100, "type weight of episodes")
    semantic_weight: float = number(1.2, 0, 100, "type weight of facts and entities")
    procedural_weight: float = number(1.0, 0, 100, "type weight of procedures")
    explicit_base: float = number(1.0, 0, 1, "base relevance of what somebody asked to remember")
    auto_base: float = number(0.7, 0, 1, "base relevance of what was noticed")
    inferred_base: float = number(0.5, 0, 1, "base relevance of what was inferred")
    fold_accesses: int = whole(50, 1, 100_000, "journalled accesses that are due to be folded")
    fold_minutes: int = whole(60, 1, 525_600, "minutes after which journalled accesses are due")


@dataclass(frozen=True)
class AuditSettings:
    """How long the audit log reaches back, and what raises an alert (design document §12)."""

    retention_days: int = whole(90, 1, 36_500, "days that the audit log keeps before its monthly digests")
    critical_alerts: bool = of(
        Kind.SWITCH,
        True,
        "whether a change of a critical file, or of USER.md or TOOLS.md from outside, raises an alert; of settings it "
        "always does",
    )
    critical_files: tuple[str, ...] = of(
        Kind.PATHS, (), "files that are critical beside SOUL.md, IDENTITY.md and settings"
    )

    @property
    def critical(self) -> frozenset[str]:
        """Return the paths of all critical files."""
        return layout.CRITICAL | frozenset(filter(layout.can_be_critical, self.critical_files))


@dataclass(frozen=True)
class VaultSettings:
    """Who writes the notes that never fade (design document §12.1)."""

    main_writes: bool = of(
        Kind.SWITCH,
        True,
        "whether the main agent may write notes of the vault; false leaves them to a person",
    )


@dataclass(frozen=True)
class ReflectionSettings:
    """When reflection runs and how much it may propose (design document §10.1, §10.2)."""

    token_budget: int = whole(8000, 500, 1_000_000, "most output tokens of a cycle")
    frequency: str = choice(
        "daily+session-end", ("daily+session-end", "daily", "session-end", "manual"), "what sets a cycle off"
    )
    time: str = of(Kind.TIME, "03:00", "when the daily cycle runs")
    threshold: int = whole(20, 1, 100_000, "unprocessed episodes that set a cycle off")
    items: int = whole(25, 1, 1000, "most changes that one reflection proposes; the rest come next")
    model: bool = of(Kind.SWITCH, True, "whether the configured chat model reflects, rather than rules")
    sampling: bool = of(
        Kind.SWITCH,
        False,
        "whether a client that offers its model (MCP sampling) is asked for each part, at its cost",
        ENDPOINT,
    )


@dataclass(frozen=True)
class ProposalSettings:
    """Who decides on proposals by agents (design document §13.4)."""

    mode: str = choice(
        "batch",
        ("batch", "auto", "manual"),
        "who decides: the main agent, nobody for what trusted agents are sure of, or the person alone",
    )
    trusted: tuple[str, ...] = of(
        Kind.TEXTS, (), "agents whose proposals are stored at once in the mode “auto”"
    )
    auto_confidence: str = choice(
        "high", ("high", "medium", "low"), "least confidence of what is stored at once"
    )


@dataclass(frozen=True)
class GraphSettings:
    """The knowledge graph."""

    depth: int = whole(2, 0, 6, "hops that search and graph follow from an entity")
    relations: tuple[str, ...] = of(Kind.TEXTS, (), "relation types beside those of graph/relations.md")


@dataclass(frozen=True)
class SearchSettings:
    """Recall: results, index and embeddings."""

    enabled: bool = of(Kind.SWITCH, True, "whether agents are offered search and the reading of files")
    max_results: int = whole(20, 1, 1000, "most results of a search")
    min_score: float = number(0.1, 0, 1, "least score of a result where no budget of tokens is filled")
    fusion: Fusion = choice("two-grain", get_args(Fusion), "how keywords and meaning make one score")
    hybrid: bool = of(Kind.SWITCH, True, "whether words count beside meaning")
    vector_weight: float = number(0.7, 0, 1, "share of meaning in the weighted sum")
    text_weight: float = number(0.3, 0, 1, "share of keywords in the weighted sum")
    candidate_multiplier: int = whole(
        4, 1, 100, "pieces of memory that each lane finds for the weighted sum, per result"
    )
    chunk_tokens: int = whole(400, 50, 8000, "tokens of a chunk of free text")
    chunk_overlap: int = whole(80, 0, 4000, "tokens that two chunks share")
    sessions: bool = of(Kind.SWITCH, False, "whether session transcripts are searched")
    extra_paths: tuple[str, ...] = of(Kind.PATHS, (), "further Markdown files and folders to search")
    watch: bool = of(Kind.SWITCH, True, "whether the index follows file changes")
    watch_debounce_ms: int = whole(1500, 0, 600_000, "milliseconds of quiet before a change is indexed")
    sync_on_search: bool = of(
        Kind.SWITCH,
        True,
        "whether a search first takes in what changed, rather than answer from the index as it is",
    )
    sync_on_start: bool = of(Kind.SWITCH, True, "whether the index is brought up to date as a session begins")
    sync_minutes: float = number(
        5.0, 0, 525_600, "minutes after which the bench looks at everything again; 0 for never"
    )
    cache_entries: int = whole(50_000, 0, 10_000_000, "most cached embeddings")
    session_delta_bytes: int = whole(
        100_000, 0, 1_000_000_000, "new bytes of a transcript before it is indexed"
    )
    session_delta_messages: int = whole(50, 0, 1_000_000, "new messages of a transcript before it is indexed")
    session_paths: tuple[str, ...] = of(Kind.PATHS, (), "transcripts (*.jsonl) and folders of them", OUTSIDE)
    backend: str = choice("builtin", ("builtin", "postgres", "qmd"), "what searches", PROGRAM)
    citations: str = choice("auto", ("auto", "on", "off"), "whether results say how to cite them")


@dataclass(frozen=True)
class QmdSettings:
    """The QMD program, when it replaces the built-in index."""

    command: str = of(Kind.TEXT, "qmd", "the program, or its absolute path", PROGRAM)
    mode: str = choice(
        "search", ("search", "vsearch", "query"), "how it searches; only search needs no model", ENDPOINT
    )
    embed: bool = of(
        Kind.SWITCH, False, "whether it makes embeddings, for which it downloads a model", ENDPOINT
    )
    include_default_memory: bool = of(Kind.SWITCH, True, "whether it searches MEMORY.md and memory/")
    paths: Mapping[str, str] = of(
        Kind.TABLE, {}, "further folders by name, with a pattern at the end or without", OUTSIDE
    )
    update_minutes: float = number(5.0, 0, 525_600, "minutes between its updates; 0 for none by the clock")
    debounce_ms: int = whole(15_000, 0, 3_600_000, "milliseconds that lie at least between two updates")
    update_on_boot: bool = of(
        Kind.SWITCH, True, "whether it is brought up to date when a workspace is opened"
    )
    max_results: int = whole(6, 1, 1000, "most results that it is asked for")
    max_snippet_chars: int = whole(700, 40, 10_000, "most characters of a snippet")
    max_injected_chars: int = whole(4000, 40, 1_000_000, "most characters of all snippets of an answer")
    timeout_ms: int = whole(4000, 50, 600_000, "milliseconds to wait for its answer to a search")
    scope: tuple[str, ...] = of(
        Kind.TEXTS,
        ("allow direct", "deny"),
        "conversations whose searches it answers, the first rule that fits: allow direct, deny channel:NAME, deny",
    )
    transcripts: bool = of(Kind.SWITCH, False, "whether it searches copies of transcripts")
    transcript_days: int = whole(0, 0, 36_500, "days for which a transcript is copied; 0 for ever")


@dataclass(frozen=True)
class HubSettings:
    """The PostgreSQL server that keeps the index of many memories, or of one where `search.backend` is postgres."""

    url: str = of(
        Kind.TEXT, "", "address of the database, postgresql://USER@HOST/DATABASE", ENDPOINT, secret=True
    )
    connections: int = whole(8, 2, 200, "most connections of this process", ENDPOINT)
    connect_seconds: float = number(3.0, 0.1, 60, "seconds to wait for a connection", ENDPOINT)
    statement_seconds: float = number(30.0, 0.1, 3600, "seconds that one statement may take", ENDPOINT)


@dataclass(frozen=True)
class FlushSettings:
    """Saving what matters before a session is compacted."""

    enabled: bool = of(Kind.SWITCH, True, "whether memory is flushed before compaction")
    reserve_tokens: int = whole(20_000, 0, 10_000_000, "tokens of the context window kept free")
    soft_threshold_tokens: int = whole(
        4000, 0, 10_000_000, "tokens before the reserve at which the flush runs"
    )
    system_prompt: str = of(Kind.TEXT, "", "system prompt of the flush, if not ours")
    prompt: str = of(Kind.TEXT, "", "prompt of the flush, if not ours")


@dataclass(frozen=True)
class SecretSettings:
    """Handling of keys, tokens and passwords, which history would remember."""

    hold_back: bool = of(Kind.SWITCH, True, "whether what looks like a secret waits for a person")
    allow: tuple[str, ...] = of(
        Kind.TEXTS, (), "digests of secrets that may be stored, as `workbench secrets` names them"
    )


@dataclass(frozen=True)
class HistorySettings:
    """The writer's lock."""

    lock_timeout: float = number(10.0, 0, 3600, "seconds to wait for another writer")


@dataclass(frozen=True)
class SyncSettings:
    """Carrying memory between devices."""

    minutes: int = whole(
        15, 0, 10_080, "minutes between two syncs by the daemon, where a remote was named; 0 for none"
    )


@dataclass(frozen=True)
class TriggerSettings:
    """Trigger phrases (design document §8.1)."""

    phrases: str = of(Kind.PATH, "", "a file with further trigger phrases")


@dataclass(frozen=True)
class PathSettings:
    """Folders for derived state; empty for the system's defaults."""

    state: str = of(Kind.PATH, "", "folder of the access journal and the like", OUTSIDE)
    cache: str = of(Kind.PATH, "", "folder of index and embedding cache", OUTSIDE)


@dataclass(frozen=True)
class BenchSettings:
    """The look and keys of the bench."""

    theme: str = of(Kind.TEXT, "", "name of the theme, or auto to follow the terminal", TASTE)
    motion: str = choice("full", ("full", "reduced"), "whether anything blinks or glides", TASTE)
    plain: bool = of(
        Kind.SWITCH, False, "whether all is said in words, without lines and signs, for screen readers", TASTE
    )
    rows: str = choice("compact", ("compact", "comfortable"), "whether rows of lists stand apart", TASTE)
    keymap: Mapping[str, str] = of(Kind.TABLE, {}, "key of each command by its name", TASTE)


@dataclass(frozen=True)
class ForeignEntry:
    """What became of one entry in a settings file of OpenClaw, Moltbot or Clawdbot.

    Args:
        file: As people are shown it, such as `~/.clawdbot/moltbot.json`.
        path: Of the entry, dotted.
        key: The setting that it is; "" where it sets nothing.
        told: Why it sets nothing.
        instead: What to do instead, as a sentence, or "".
    """

    file: str
    path: str
    key: str = ""
    told: str = ""
    instead: str = ""


@dataclass(frozen=True)
class Settings:
    """All settings in force for a workspace.

    Args:
        origins: Origin of each value other than a default, by dotted key, for example `workbench.toml:4`,
            `WORKBENCH_DECAY_LAMBDA` or `openclaw.json`.
        warnings: What was ignored, one sentence each.
        foreign: What became of each entry in the files of other programs.
        broken: Why the settings files were unusable, so that these are the defaults; else "".
    """

    timezone: str = of(Kind.ZONE, "", "time zone of episodes and of calendar days")
    editor: str = of(Kind.TEXT, "", "program that edits a file", PROGRAM)
    workspace: str = of(Kind.PATH, "", "workspace to open where none is given", OUTSIDE)
    home_settings: bool = of(
        Kind.SWITCH,
        True,
        "whether openclaw.json, moltbot.json or clawdbot.json in your home is read",
        OUTSIDE,
    )
    core: CoreSettings = field(default_factory=CoreSettings)
    brief: BriefSettings = field(default_factory=BriefSettings)
    decay: DecaySettings = field(default_factory=DecaySettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    vault: VaultSettings = field(default_factory=VaultSettings)
    reflection: ReflectionSettings = field(default_factory=ReflectionSettings)
    proposals: ProposalSettings = field(default_factory=ProposalSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    qmd: QmdSettings = field(default_factory=QmdSettings)
    hub: HubSettings = field(default_factory=HubSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    flush: FlushSettings = field(default_factory=FlushSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    secrets: SecretSettings = field(default_factory=SecretSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    sync: SyncSettings = field(default_factory=SyncSettings)
    triggers: TriggerSettings = field(default_factory=TriggerSettings)
    paths: PathSettings = field(default_factory=PathSettings)
    bench: BenchSettings = field(default_factory=BenchSettings)
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    foreign: tuple[ForeignEntry, ...] = ()
    broken: str = ""

    def origin(self, key: str) -> str:
        """Return the origin of a dotted key's value; `default` if nobody set it."""
        return self.origins.get(key, "default")

    @cached_property
    def zone(self) -> ZoneInfo:
        """Return the workspace's time zone, or the system's if none is set."""
        return ZoneInfo(self.timezone or system_timezone())

    @property
    def trials_directory(self) -> Path:
        """Return the folder that records failed first runs of local models, for all workspaces."""
        return shared_directory("cache", self.paths.cache) / "local-models"

    def state_directory(self, root: Path) -> Path:
        """Return the outside folder for state that is not derivable but expendable, named after the workspace's path.

        `Workspace.state` says whether it is this workspace's own.

        Args:
            root: The workspace folder. Nothing is created.
        """
        return workspace_directory("state", self.paths.state, root)

    def cache_directory(self, root: Path) -> Path:
        """Return the folder outside the workspace for what can be rebuilt from it.

        Args:
            root: The workspace folder. Nothing is created.
        """
        return workspace_directory("cache", self.paths.cache, root)


def _section_class(item: Field[Any]) -> type[Any] | None:
    factory: Any = item.default_factory
    return factory if isinstance(factory, type) and hasattr(factory, "__dataclass_fields__") else None


def _table() -> dict[str, Spec]:
    table: dict[str, Spec] = {}
    for item in fields(Settings):
        if "spec" in item.metadata:
            table[item.name] = item.metadata["spec"]
        elif section := _section_class(item):
            for inner in fields(section):
                table[f"{item.name}.{inner.name.rstrip('_')}"] = inner.metadata["spec"]
    return table


SCHEMA: Mapping[str, Spec] = _table()
"""Every setting by dotted key, as in `workbench.toml`."""


def environment_name(key: str) -> str:
    """Return the environment variable of a dotted key: `WORKBENCH_DECAY_LAMBDA` for `decay.lambda`."""
    return "WORKBENCH_" + key.replace(".", "_").upper()


def default_of(key: str) -> Value:
    """Return the default of a dotted key."""
    return value_of(Settings(), key)


def value_of(settings: Settings, key: str) -> Value:
    """Return the value of a dotted key."""
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, "lambda_" if name == "lambda" else name)
    return value  # type: ignore[no-any-return]  # the schema's keys name fields of these types


def shown_value(settings: Settings, key: str) -> str:
    """Return the value of a dotted key as people may see it."""
    value = value_of(settings, key)
    if SCHEMA[key].secret:
        return "(not shown)"
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return ", ".join(value) or "none"
        case Mapping():
            return ", ".join(f"{name}: {each}" for name, each in value.items()) or "none"
        case float():
            return f"{value:g}"
    return f"“{value}”" if isinstance(value, str) else str(value)


def assemble(values: Mapping[str, Value], origins: Mapping[str, str], warnings: tuple[str, ...]) -> Settings:
    """Build settings from checked values by dotted key; the rest keep their defaults."""
    top: dict[str, Any] = {}
    sections: dict[str, dict[str, Value]] = {}
    for key, value in values.items():
        section, dot, name = key.partition(".")
        if dot:
            sections.setdefault(section, {})["lambda_" if name == "lambda" else name] = value
        else:
            top[key] = value
    for item in fields(Settings):
        if item.name in sections and (section_class := _section_class(item)):
            top[item.name] = section_class(**sections[item.name])
    return Settings(**top, origins=dict(origins), warnings=warnings)


def system_timezone() -> str:
    """Return the system's IANA time zone, or `UTC`."""
    import tzlocal

    try:
        name = tzlocal.get_localzone_name()
    except (ZoneInfoNotFoundError, ValueError):
        return "UTC"
    return name if name and is_zone(name) else "UTC"


def user_settings_file(environment: Mapping[str, str]) -> Path:
    """Return the user's own settings file: `WORKBENCH_CONFIG`, else `config.toml` in the user's folder."""
    given = environment.get("WORKBENCH_CONFIG")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_config_dir

    return Path(user_config_dir("workbench", appauthor=False)) / "config.toml"


def workspace_directory(purpose: str, configured: str, root: Path) -> Path:
    """Return a workspace's folder below the user's state or cache folder.

    Args:
        purpose: `state` or `cache`.
        configured: The folder the user chose for all workspaces, or "".
        root: The workspace folder; keyed by its real path, so that links to it share one folder.
    """
    base = shared_directory(purpose, configured)
    real = os.path.realpath(root)
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:16]
    return base / f"{slug(os.path.basename(real), limit=32)}-{digest}"  # noqa: PTH119 - realpath gave text


def shared_directory(purpose: str, configured: str) -> Path:
    """Return the folder shared by all workspaces of the user.

    Args:
        purpose: `state` or `cache`.
        configured: The folder the user chose, or "".
    """
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_dir, user_state_dir

    directory = user_state_dir if purpose == "state" else user_cache_dir
    return Path(directory("workbench", appauthor=False))
