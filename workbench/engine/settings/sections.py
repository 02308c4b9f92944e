"""Every setting with its default: the single table behind loading, writing and help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

from workbench.engine import layout
from workbench.engine.settings.schema import (
    ENDPOINT,
    OUTSIDE,
    PROGRAM,
    TASTE,
    Kind,
    Spec,
    Value,
    choice,
    number,
    of,
    whole,
)

if TYPE_CHECKING:
    from pathlib import Path
    from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class SessionSettings:
    """The session layer."""

    path: str = field(
        default="",
        metadata=of(Kind.PATH, "folder of sessions.json and transcripts, if not under the state", OUTSIDE),
    )
    reset: str = field(
        default="daily 4",
        metadata=of(Kind.TEXT, "when a session ends: daily HOUR, idle MINUTES, both, or none"),
    )
    reset_by_type: Mapping[str, str] = field(
        default_factory=dict, metadata=of(Kind.TABLE, "the same for direct, group or thread")
    )
    reset_by_channel: Mapping[str, str] = field(
        default_factory=dict, metadata=of(Kind.TABLE, "the same by channel; stronger than the type")
    )
    reset_triggers: tuple[str, ...] = field(
        default=("/new", "/reset"), metadata=of(Kind.TEXTS, "words by which a message begins a new session")
    )
    window: int = field(
        default=200_000,
        metadata=whole(1000, 10_000_000, "tokens of the model’s context window where a session does not say"),
    )
    keep_recent_tokens: int = field(
        default=20_000,
        metadata=whole(0, 10_000_000, "tokens of the newest messages that a compaction keeps"),
    )
    history_turns: int = field(
        default=0, metadata=whole(0, 1_000_000, "newest turns that a model is shown; 0 for all that fit")
    )
    direct_history_turns: int = field(
        default=0, metadata=whole(0, 1_000_000, "the same for direct conversations")
    )


@dataclass(frozen=True)
class EmbeddingSettings:
    """Where embeddings are made."""

    provider: str = field(
        default="builtin",
        metadata=choice(("builtin", "local", "openai", "gemini", "none"), "what makes embeddings", ENDPOINT),
    )
    fallback: str = field(
        default="builtin",
        metadata=choice(("builtin", "local", "openai", "gemini", "none"), "what steps in", ENDPOINT),
    )
    model: str = field(default="", metadata=of(Kind.TEXT, "name of the embedding model", ENDPOINT))
    base_url: str = field(default="", metadata=of(Kind.TEXT, "end point of the embedding server", ENDPOINT))
    api_key: str = field(
        default="", repr=False, metadata=of(Kind.TEXT, "key of the embedding server", ENDPOINT, secret=True)
    )
    headers: Mapping[str, str] = field(
        default_factory=dict,
        repr=False,
        metadata=of(Kind.TABLE, "further request headers", ENDPOINT, secret=True),
    )
    timeout: float = field(
        default=60.0, metadata=number(0.1, 3600, "seconds to wait for one answer of it", ENDPOINT)
    )
    concurrency: int = field(default=4, metadata=whole(1, 64, "requests to it at once", ENDPOINT))
    dimensions: int = field(
        default=0, metadata=whole(0, 65_536, "dimensions to ask the model for; 0 for its own", ENDPOINT)
    )
    query_prefix: str = field(
        default="auto",
        metadata=of(Kind.TEXT, "text put before questions; auto for what the model was made for", ENDPOINT),
    )
    passage_prefix: str = field(
        default="auto",
        metadata=of(Kind.TEXT, "text put before what is indexed; auto likewise", ENDPOINT),
    )
    model_path: str = field(default="", metadata=of(Kind.PATH, "a GGUF file, or an hf: address", OUTSIDE))
    model_folder: str = field(
        default="",
        metadata=of(Kind.PATH, "folder of downloaded models; empty for the user’s cache", OUTSIDE),
    )
    download_url: str = field(
        default="https://huggingface.co",
        metadata=of(Kind.TEXT, "hub that hf: addresses are downloaded from", ENDPOINT),
    )
    batch: bool = field(
        default=False, metadata=of(Kind.SWITCH, "whether big backfills use the batch API", ENDPOINT)
    )
    batch_concurrency: int = field(default=2, metadata=whole(1, 64, "batch jobs at once", ENDPOINT))
    batch_poll: float = field(
        default=5.0, metadata=number(0.01, 3600, "seconds between questions after a batch job", ENDPOINT)
    )
    batch_timeout: float = field(
        default=60.0, metadata=number(0.01, 10_080, "minutes that a batch job may take", ENDPOINT)
    )
    fallback_model: str = field(
        default="", metadata=of(Kind.TEXT, "name of the model that steps in", ENDPOINT)
    )
    fallback_base_url: str = field(
        default="", metadata=of(Kind.TEXT, "end point of the server that steps in", ENDPOINT)
    )
    fallback_api_key: str = field(
        default="",
        repr=False,
        metadata=of(Kind.TEXT, "key of the server that steps in", ENDPOINT, secret=True),
    )


@dataclass(frozen=True)
class ModelSettings:
    """The chat model for routing and reflection; optional. A local file takes precedence over a server."""

    path: str = field(
        default="", metadata=of(Kind.PATH, "a GGUF file of a chat model, run on this machine", OUTSIDE)
    )
    base_url: str = field(
        default="", metadata=of(Kind.TEXT, "end point of an OpenAI-compatible server", ENDPOINT)
    )
    api_key: str = field(default="", repr=False, metadata=of(Kind.TEXT, "its key", ENDPOINT, secret=True))
    name: str = field(default="", metadata=of(Kind.TEXT, "name of the model", ENDPOINT))
    headers: Mapping[str, str] = field(
        default_factory=dict,
        repr=False,
        metadata=of(Kind.TABLE, "further request headers", ENDPOINT, secret=True),
    )
    timeout: float = field(
        default=20.0, metadata=number(0.1, 3600, "seconds to wait for it where somebody waits", ENDPOINT)
    )
    reflection_timeout: float = field(
        default=300.0,
        metadata=number(0.1, 86_400, "seconds to wait for one answer in a reflection", ENDPOINT),
    )
    context: int = field(
        default=8192,
        metadata=whole(4096, 1_000_000, "tokens of question and answer that it takes at once", ENDPOINT),
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

    cap: int = field(default=3000, metadata=whole(100, 1_000_000, "most tokens of core memory"))
    identity_budget: int = field(default=500, metadata=whole(0, 1_000_000, "tokens of Identity"))
    active_context_budget: int = field(default=1000, metadata=whole(0, 1_000_000, "tokens of Active Context"))
    persona_budget: int = field(default=500, metadata=whole(0, 1_000_000, "tokens of Persona"))
    critical_facts_budget: int = field(default=1000, metadata=whole(0, 1_000_000, "tokens of Critical Facts"))

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
class DecaySettings:
    """Constants of forgetting (design document §9), and when journalled accesses are folded."""

    lambda_: float = field(default=0.03, metadata=number(0, 10, "decay per day; higher forgets faster"))
    active_threshold: float = field(default=0.5, metadata=number(0, 1, "least score of an active memory"))
    fading_threshold: float = field(default=0.2, metadata=number(0, 1, "least score of a fading memory"))
    archive_threshold: float = field(
        default=0.05, metadata=number(0, 1, "score below which a memory is hidden from search")
    )
    core_weight: float = field(default=1.5, metadata=number(0, 100, "type weight of core memory"))
    episodic_weight: float = field(default=0.8, metadata=number(0, 100, "type weight of episodes"))
    semantic_weight: float = field(default=1.2, metadata=number(0, 100, "type weight of facts and entities"))
    procedural_weight: float = field(default=1.0, metadata=number(0, 100, "type weight of procedures"))
    explicit_base: float = field(
        default=1.0, metadata=number(0, 1, "base relevance of what somebody asked to remember")
    )
    auto_base: float = field(default=0.7, metadata=number(0, 1, "base relevance of what was noticed"))
    inferred_base: float = field(default=0.5, metadata=number(0, 1, "base relevance of what was inferred"))
    fold_accesses: int = field(
        default=50, metadata=whole(1, 100_000, "journalled accesses that are due to be folded")
    )
    fold_minutes: int = field(
        default=60, metadata=whole(1, 525_600, "minutes after which journalled accesses are due")
    )


@dataclass(frozen=True)
class AuditSettings:
    """How long the audit log reaches back, and what raises an alert (design document §12)."""

    retention_days: int = field(
        default=90, metadata=whole(1, 36_500, "days that the audit log keeps before its monthly digests")
    )
    critical_alerts: bool = field(
        default=True,
        metadata=of(
            Kind.SWITCH, "whether a change of a critical file raises an alert; of settings it always does"
        ),
    )
    critical_files: tuple[str, ...] = field(
        default=(),
        metadata=of(Kind.PATHS, "files that are critical beside SOUL.md, IDENTITY.md and settings"),
    )

    @property
    def critical(self) -> frozenset[str]:
        """Return the paths of all critical files."""
        return layout.CRITICAL | frozenset(filter(layout.can_be_critical, self.critical_files))


@dataclass(frozen=True)
class ReflectionSettings:
    """When reflection runs and how much it may propose (design document §10.1, §10.2)."""

    token_budget: int = field(default=8000, metadata=whole(500, 1_000_000, "most output tokens of a cycle"))
    frequency: str = field(
        default="daily+session-end",
        metadata=choice(("daily+session-end", "daily", "session-end", "manual"), "what sets a cycle off"),
    )
    time: str = field(default="03:00", metadata=of(Kind.TIME, "when the daily cycle runs"))
    threshold: int = field(
        default=20, metadata=whole(1, 100_000, "unprocessed episodes that set a cycle off")
    )
    items: int = field(
        default=60, metadata=whole(1, 1000, "most changes that one reflection proposes; the rest come next")
    )
    model: bool = field(
        default=True,
        metadata=of(Kind.SWITCH, "whether the configured chat model reflects, rather than rules"),
    )


@dataclass(frozen=True)
class ProposalSettings:
    """Who decides on proposals by agents (design document §13.4)."""

    mode: str = field(
        default="batch",
        metadata=choice(
            ("batch", "auto", "manual"),
            "who decides: the main agent, nobody for what trusted agents are sure of, or the person alone",
        ),
    )
    trusted: tuple[str, ...] = field(
        default=(), metadata=of(Kind.TEXTS, "agents whose proposals are stored at once in the mode “auto”")
    )
    auto_confidence: str = field(
        default="high",
        metadata=choice(("high", "medium", "low"), "least confidence of what is stored at once"),
    )


@dataclass(frozen=True)
class GraphSettings:
    """The knowledge graph."""

    depth: int = field(default=2, metadata=whole(0, 6, "hops that traversal follows"))
    relations: tuple[str, ...] = field(
        default=(), metadata=of(Kind.TEXTS, "relation types beside those of graph/relations.md")
    )


@dataclass(frozen=True)
class SearchSettings:
    """Recall: results, index and embeddings."""

    max_results: int = field(default=20, metadata=whole(1, 1000, "most results of a search"))
    min_score: float = field(
        default=0.1, metadata=number(0, 1, "least score of a result where no budget of tokens is filled")
    )
    fusion: Fusion = field(
        default="two-grain", metadata=choice(get_args(Fusion), "how keywords and meaning make one score")
    )
    vector_weight: float = field(default=0.7, metadata=number(0, 1, "share of meaning in the weighted sum"))
    text_weight: float = field(default=0.3, metadata=number(0, 1, "share of keywords in the weighted sum"))
    candidate_multiplier: int = field(
        default=4,
        metadata=whole(1, 100, "pieces of memory that each lane finds for the weighted sum, per result"),
    )
    chunk_tokens: int = field(default=400, metadata=whole(50, 8000, "tokens of a chunk of free text"))
    chunk_overlap: int = field(default=80, metadata=whole(0, 4000, "tokens that two chunks share"))
    sessions: bool = field(
        default=False, metadata=of(Kind.SWITCH, "whether session transcripts are searched")
    )
    extra_paths: tuple[str, ...] = field(
        default=(), metadata=of(Kind.PATHS, "further Markdown files and folders to search")
    )
    watch: bool = field(default=True, metadata=of(Kind.SWITCH, "whether the index follows file changes"))
    watch_debounce_ms: int = field(
        default=1500, metadata=whole(0, 600_000, "milliseconds of quiet before a change is indexed")
    )
    sync_minutes: float = field(
        default=5.0,
        metadata=number(0, 525_600, "minutes after which the bench looks at everything again; 0 for never"),
    )
    cache_entries: int = field(default=50_000, metadata=whole(0, 10_000_000, "most cached embeddings"))
    session_delta_bytes: int = field(
        default=100_000, metadata=whole(0, 1_000_000_000, "new bytes of a transcript before it is indexed")
    )
    session_delta_messages: int = field(
        default=50, metadata=whole(0, 1_000_000, "new messages of a transcript before it is indexed")
    )
    session_paths: tuple[str, ...] = field(
        default=(), metadata=of(Kind.PATHS, "transcripts (*.jsonl) and folders of them", OUTSIDE)
    )
    backend: str = field(default="builtin", metadata=choice(("builtin", "qmd"), "what searches", PROGRAM))
    citations: str = field(
        default="auto", metadata=choice(("auto", "on", "off"), "whether results say how to cite them")
    )


@dataclass(frozen=True)
class QmdSettings:
    """The QMD program, when it replaces the built-in index."""

    command: str = field(default="qmd", metadata=of(Kind.TEXT, "the program, or its absolute path", PROGRAM))
    mode: str = field(
        default="search",
        metadata=choice(
            ("search", "vsearch", "query"), "how it searches; only search needs no model", ENDPOINT
        ),
    )
    embed: bool = field(
        default=False,
        metadata=of(Kind.SWITCH, "whether it makes embeddings, for which it downloads a model", ENDPOINT),
    )
    include_default_memory: bool = field(
        default=True, metadata=of(Kind.SWITCH, "whether it searches MEMORY.md and memory/")
    )
    paths: Mapping[str, str] = field(
        default_factory=dict,
        metadata=of(Kind.TABLE, "further folders by name, with a pattern at the end or without", OUTSIDE),
    )
    update_minutes: float = field(
        default=5.0, metadata=number(0, 525_600, "minutes between its updates; 0 for none by the clock")
    )
    debounce_ms: int = field(
        default=15_000, metadata=whole(0, 3_600_000, "milliseconds that lie at least between two updates")
    )
    update_on_boot: bool = field(
        default=True, metadata=of(Kind.SWITCH, "whether it is brought up to date when a workspace is opened")
    )
    max_results: int = field(default=6, metadata=whole(1, 1000, "most results that it is asked for"))
    max_snippet_chars: int = field(default=700, metadata=whole(40, 10_000, "most characters of a snippet"))
    timeout_ms: int = field(
        default=4000, metadata=whole(50, 600_000, "milliseconds to wait for its answer to a search")
    )


@dataclass(frozen=True)
class FlushSettings:
    """Saving what matters before a session is compacted."""

    enabled: bool = field(
        default=True, metadata=of(Kind.SWITCH, "whether memory is flushed before compaction")
    )
    reserve_tokens: int = field(
        default=20_000, metadata=whole(0, 10_000_000, "tokens of the context window kept free")
    )
    soft_threshold_tokens: int = field(
        default=4000, metadata=whole(0, 10_000_000, "tokens before the reserve at which the flush runs")
    )
    system_prompt: str = field(default="", metadata=of(Kind.TEXT, "system prompt of the flush, if not ours"))
    prompt: str = field(default="", metadata=of(Kind.TEXT, "prompt of the flush, if not ours"))


@dataclass(frozen=True)
class SecretSettings:
    """Handling of keys, tokens and passwords, which history would remember."""

    hold_back: bool = field(
        default=True, metadata=of(Kind.SWITCH, "whether what looks like a secret waits for a person")
    )
    allow: tuple[str, ...] = field(
        default=(),
        metadata=of(Kind.TEXTS, "digests of secrets that may be stored, as `workbench secrets` names them"),
    )


@dataclass(frozen=True)
class HistorySettings:
    """The writer's lock."""

    lock_timeout: float = field(default=10.0, metadata=number(0, 3600, "seconds to wait for another writer"))


@dataclass(frozen=True)
class TriggerSettings:
    """Trigger phrases (design document §8.1)."""

    phrases: str = field(default="", metadata=of(Kind.PATH, "a file with further trigger phrases"))


@dataclass(frozen=True)
class PathSettings:
    """Folders for derived state; empty for the system's defaults."""

    state: str = field(
        default="", metadata=of(Kind.PATH, "folder of the access journal and the like", OUTSIDE)
    )
    cache: str = field(default="", metadata=of(Kind.PATH, "folder of index and embedding cache", OUTSIDE))


@dataclass(frozen=True)
class BenchSettings:
    """The look and keys of the TUI."""

    theme: str = field(default="", metadata=of(Kind.TEXT, "name of the theme", TASTE))
    keymap: Mapping[str, str] = field(
        default_factory=dict, metadata=of(Kind.TABLE, "key of each command by its name", TASTE)
    )


@dataclass(frozen=True)
class Settings:
    """All settings in force for a workspace.

    Args:
        origins: Origin of each value other than a default, by dotted key, for example `workbench.toml:4`,
            `WORKBENCH_DECAY_LAMBDA` or `openclaw.json`.
        warnings: What was ignored, one sentence each.
        broken: Why the settings files were unusable, so that these are the defaults; else "".
    """

    timezone: str = field(default="", metadata=of(Kind.ZONE, "time zone of episodes and of calendar days"))
    editor: str = field(default="", metadata=of(Kind.TEXT, "program that edits a file", PROGRAM))
    workspace: str = field(
        default="", metadata=of(Kind.PATH, "workspace to open where none is given", OUTSIDE)
    )
    core: CoreSettings = field(default_factory=CoreSettings)
    decay: DecaySettings = field(default_factory=DecaySettings)
    audit: AuditSettings = field(default_factory=AuditSettings)
    reflection: ReflectionSettings = field(default_factory=ReflectionSettings)
    proposals: ProposalSettings = field(default_factory=ProposalSettings)
    graph: GraphSettings = field(default_factory=GraphSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    qmd: QmdSettings = field(default_factory=QmdSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    flush: FlushSettings = field(default_factory=FlushSettings)
    sessions: SessionSettings = field(default_factory=SessionSettings)
    secrets: SecretSettings = field(default_factory=SecretSettings)
    history: HistorySettings = field(default_factory=HistorySettings)
    triggers: TriggerSettings = field(default_factory=TriggerSettings)
    paths: PathSettings = field(default_factory=PathSettings)
    bench: BenchSettings = field(default_factory=BenchSettings)
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    broken: str = ""

    def origin(self, key: str) -> str:
        """Return the origin of a dotted key's value; `default` if nobody set it."""
        return self.origins.get(key, "default")

    @cached_property
    def zone(self) -> ZoneInfo:
        """Return the workspace's time zone, or the system's if none is set."""
        from zoneinfo import ZoneInfo

        return ZoneInfo(self.timezone or system_timezone())

    @property
    def trials_directory(self) -> Path:
        """Return the folder that records failed first runs of local models, for all workspaces."""
        from workbench.engine.settings.directories import shared_directory

        return shared_directory("cache", self.paths.cache) / "local-models"

    def state_directory(self, root: Path) -> Path:
        """Return the outside folder for state that is not derivable but expendable, named after the workspace's path.

        `Workspace.state` says whether it is this workspace's own.

        Args:
            root: The workspace folder. Nothing is created.
        """
        from workbench.engine.settings.directories import workspace_directory

        return workspace_directory("state", self.paths.state, root)

    def cache_directory(self, root: Path) -> Path:
        """Return the folder outside the workspace for what can be rebuilt from it.

        Args:
            root: The workspace folder. Nothing is created.
        """
        from workbench.engine.settings.directories import workspace_directory

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
    from zoneinfo import ZoneInfoNotFoundError

    import tzlocal

    from workbench.engine.settings.schema import is_zone

    try:
        name = tzlocal.get_localzone_name()
    except (ZoneInfoNotFoundError, ValueError):
        return "UTC"
    return name if name and is_zone(name) else "UTC"
