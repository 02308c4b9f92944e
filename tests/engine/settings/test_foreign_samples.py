"""The sample configurations of Moltbot's documents, as printed: every key has an effect or a line that says why not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from workbench.engine.settings.foreign_files import read_foreign_document
from workbench.engine.settings.layers import load_settings
from workbench.engine.settings.sections import Settings, value_of


@dataclass(frozen=True)
class Sample:
    """A configuration as a document prints it.

    Args:
        text: The file.
        sets: What it sets here, in its user's own home.
        unused: Entries that set nothing here, each with a word of the reason.
    """

    text: str
    sets: Mapping[str, object]
    unused: Mapping[str, str] = field(default_factory=dict)


def _search(text: str) -> str:
    return "{ agents: { defaults: { memorySearch: {" + text + "} } } }"


SAMPLES = {
    "memory flush": Sample(
        """{ agents: { defaults: { compaction: {
          reserveTokensFloor: 20000,
          memoryFlush: {
            enabled: true,
            softThresholdTokens: 4000,
            systemPrompt: "Session nearing compaction. Store durable memories now.",
            prompt: "Write any lasting notes to memory/YYYY-MM-DD.md; reply with NO_REPLY if nothing to store."
          } } } } }""",
        {
            "flush.reserve_tokens": 20_000,
            "flush.enabled": True,
            "flush.soft_threshold_tokens": 4000,
            "flush.system_prompt": "Session nearing compaction. Store durable memories now.",
            "flush.prompt": "Write any lasting notes to memory/YYYY-MM-DD.md; reply with NO_REPLY if nothing to store.",
        },
    ),
    "plugin slot": Sample('{ plugins: { slots: { memory: "none" } } }', {"search.enabled": False}),
    "QMD": Sample(
        """{ memory: {
          backend: "qmd",
          citations: "auto",
          qmd: {
            includeDefaultMemory: true,
            update: { interval: "5m", debounceMs: 15000 },
            limits: { maxResults: 6, timeoutMs: 4000 },
            scope: { default: "deny", rules: [{ action: "allow", match: { chatType: "direct" } }] },
            paths: [{ name: "docs", path: "~/notes", pattern: "**/*.md" }]
          } } }""",
        {
            "search.backend": "qmd",
            "search.citations": "auto",
            "qmd.include_default_memory": True,
            "qmd.update_minutes": 5.0,
            "qmd.debounce_ms": 15_000,
            "qmd.max_results": 6,
            "qmd.timeout_ms": 4000,
            "qmd.scope": ("allow direct", "deny"),
            "qmd.paths": {"docs": "~/notes/**/*.md"},
        },
    ),
    "additional paths": Sample(
        _search('extraPaths: ["../team-docs", "/srv/shared-notes/overview.md"]'),
        {"search.extra_paths": ("../team-docs", "/srv/shared-notes/overview.md")},
    ),
    "Gemini": Sample(
        _search(
            'provider: "gemini", model: "gemini-embedding-001", remote: { apiKey: "YOUR_GEMINI_API_KEY" }'
        ),
        {
            "embedding.provider": "gemini",
            "embedding.model": "gemini-embedding-001",
            "embedding.api_key": "YOUR_GEMINI_API_KEY",
        },
    ),
    "OpenAI-compatible": Sample(
        _search("""provider: "openai", model: "text-embedding-3-small", remote: {
          baseUrl: "https://api.example.com/v1/",
          apiKey: "YOUR_OPENAI_COMPAT_API_KEY",
          headers: { "X-Custom-Header": "value" } }"""),
        {
            "embedding.provider": "openai",
            "embedding.base_url": "https://api.example.com/v1/",
            "embedding.api_key": "YOUR_OPENAI_COMPAT_API_KEY",
            "embedding.headers": {"X-Custom-Header": "value"},
        },
    ),
    "batch": Sample(
        _search("""provider: "openai", model: "text-embedding-3-small", fallback: "openai",
          remote: { batch: { enabled: true, concurrency: 2 } }, sync: { watch: true }"""),
        {
            "embedding.fallback": "openai",
            "embedding.batch": True,
            "embedding.batch_concurrency": 2,
            "search.watch": True,
        },
        {"provider": "its key"},
    ),
    "batch, deep dive": Sample(
        _search("""provider: "openai", model: "text-embedding-3-small",
          remote: { batch: { enabled: true, concurrency: 2, pollIntervalMs: 2000, timeoutMinutes: 60 } }"""),
        {"embedding.batch": True, "embedding.batch_poll": 2.0, "embedding.batch_timeout": 60.0},
        {"provider": "its key"},
    ),
    "hybrid": Sample(
        _search(
            "query: { hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3, candidateMultiplier: 4 } }"
        ),
        {
            "search.hybrid": True,
            "search.vector_weight": 0.7,
            "search.text_weight": 0.3,
            "search.candidate_multiplier": 4,
            "search.fusion": "weighted-sum",
        },
    ),
    "cache": Sample(
        _search("cache: { enabled: true, maxEntries: 50000 }"),
        {"search.cache_entries": 50_000},
        {"cache.enabled": "kept"},
    ),
    "session memory": Sample(
        _search('experimental: { sessionMemory: true }, sources: ["memory", "sessions"]'),
        {"search.sessions": True},
    ),
    "delta thresholds": Sample(
        _search(
            "sync: { sessions: { deltaBytes: 100000, /* ~100 KB */ deltaMessages: 50 // JSONL lines\n } }"
        ),
        {"search.session_delta_bytes": 100_000, "search.session_delta_messages": 50},
    ),
    "sqlite-vec": Sample(
        _search('store: { vector: { enabled: true, extensionPath: "/path/to/sqlite-vec" } }'),
        {},
        {"store.vector.enabled": "in this process", "store.vector.extensionPath": "no library"},
    ),
    "reference, deep dive": Sample(
        """{ "agents": { "defaults": { "memorySearch": {
          "enabled": true,
          "sources": ["memory"],  // 或 ["memory", "sessions"]
          "provider": "auto",     // "openai" | "gemini" | "local" | "auto"
          "model": "text-embedding-3-small",
          "fallback": "none",
          "local": { "modelPath": "hf:ggml-org/embeddinggemma-300M-GGUF/...", "modelCacheDir": null },
          "store": { "driver": "sqlite", "path": "~/.clawdbot/memory/{agentId}.sqlite", "vector": { "enabled": true } },
          "chunking": { "tokens": 400, "overlap": 80 },
          "sync": { "onSessionStart": true, "onSearch": true, "watch": true, "watchDebounceMs": 1500 },
          "query": { "maxResults": 6, "minScore": 0.35,
            "hybrid": { "enabled": true, "vectorWeight": 0.7, "textWeight": 0.3, "candidateMultiplier": 4 } },
          "cache": { "enabled": true, "maxEntries": 50000 }
          },
          "compaction": { "reserveTokensFloor": 20000,
            "memoryFlush": { "enabled": true, "softThresholdTokens": 4000 } } } } }""",
        {
            "search.enabled": True,
            "search.sessions": False,
            "embedding.fallback": "none",
            "search.chunk_tokens": 400,
            "search.sync_on_start": True,
            "search.sync_on_search": True,
            "search.max_results": 6,
            "search.min_score": 0.35,
            "flush.reserve_tokens": 20_000,
        },
        {
            "provider": "built-in",
            "store.driver": "SQLite",
            "store.path": "cache folder",
            "store.vector.enabled": "in this process",
            "cache.enabled": "kept",
        },
    ),
}
each_sample = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


@dataclass(frozen=True)
class Home:
    """A home with a Moltbot in it, and the workspace of its agent."""

    folder: Path

    @property
    def workspace(self) -> Path:
        return self.folder / "clawd"

    def settings(self) -> Settings:
        return load_settings(self.workspace, environment={"HOME": str(self.folder)})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "clawd").mkdir()
    (tmp_path / ".clawdbot").mkdir()
    return Home(tmp_path)


def leaves(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from leaves(each, f"{path}.{name}" if path else name)
    elif value is not None:
        yield path


def untold(settings: Settings, file: Path) -> list[str]:
    """Return the entries of a file that nothing is said of."""
    document = read_foreign_document(file)
    told = [entry.path for entry in settings.foreign]
    return [
        path
        for path in leaves(document)
        if not any(path == each or path.startswith(f"{each}.") for each in told)
        and not any(path.startswith(_left_aside(warning)) for warning in settings.warnings)
    ]


def _left_aside(warning: str) -> tuple[str, ...]:
    return tuple(word.rstrip(",") for word in warning.split() if "." in word[:-1])


@each_sample
def test_a_sample_in_its_users_home_leaves_nothing_unexplained(home: Home, sample: Sample) -> None:
    file = home.folder / ".clawdbot/moltbot.json"
    file.write_text(sample.text)
    settings = home.settings()
    assert untold(settings, file) == []
    assert settings.warnings == ()
    for key, value in sample.sets.items():
        assert value_of(settings, key) == value, key
        assert settings.origin(key).startswith("~/.clawdbot/moltbot.json ")
    said = {entry.path: entry.told for entry in settings.foreign if entry.told}
    for path, word in sample.unused.items():
        assert word in said[f"agents.defaults.memorySearch.{path}"]
    assert {path.removeprefix("agents.defaults.memorySearch.") for path in said} == set(sample.unused)


@each_sample
def test_a_sample_in_a_workspace_leaves_nothing_unexplained_and_sends_nothing(
    home: Home, sample: Sample
) -> None:
    file = home.workspace / "moltbot.json"
    file.write_text(sample.text)
    settings = home.settings()
    assert untold(settings, file) == []
    assert settings.embedding == Settings().embedding
    assert (settings.search.backend, dict(settings.qmd.paths)) == ("builtin", {})
    assert all(not path.startswith(("..", "/")) for path in settings.search.extra_paths)


@pytest.mark.parametrize(
    "path",
    [
        "agents.defaults.memorySearch.store.path",
        "agents.defaults.memorySearch.remote.batch.wait",
        "agents.defaults.memorySearch.query.hybrid.mmr.enabled",
        "agents.defaults.memorySearch.novelty",
        "agents.defaults.compaction.mode",
        "agents.defaults.compaction.memoryFlush.forceFlushTranscriptBytes",
        "memory.qmd.sessions.exportDir",
        "memory.qmd.update.embedInterval",
        "memory.search.store.driver",
        "session.scope",
        "session.sendPolicy.default",
        "session.store",
    ],
)
def test_a_key_that_nothing_follows_is_told_once(home: Home, path: str) -> None:
    text = "1"
    for name in reversed(path.split(".")):
        text = f'{{"{name}": {text}}}'
    (home.workspace / "openclaw.json").write_text(text)
    (entry,) = home.settings().foreign
    assert (entry.file, entry.path, entry.key) == ("openclaw.json", path, "")
    assert entry.told.startswith("not used: ")


@pytest.mark.parametrize("value", ["true", "1", "null", "[]"])
def test_odd_values_where_tables_are_expected_do_no_harm(home: Home, value: str) -> None:
    for place in ("agents", "memory", "session", "plugins"):
        (home.workspace / "openclaw.json").write_text(f'{{"{place}": {value}}}')
        assert home.settings().origins == {}


def test_reset_rules_are_taken_in_our_words(home: Home) -> None:
    (home.workspace / "moltbot.json").write_text(
        """{ session: {
          reset: { mode: "daily", atHour: 5, idleMinutes: 90 },
          resetByType: { group: { mode: "idle", idleMinutes: 30 } },
          resetByChannel: { discord: { mode: "idle" } },
          resetTriggers: ["/new", "/fresh"] } }"""
    )
    sessions = home.settings().sessions
    assert sessions.reset == "daily 5 idle 90"
    assert dict(sessions.reset_by_type) == {"group": "idle 30"}
    assert dict(sessions.reset_by_channel) == {"discord": "idle 60"}
    assert sessions.reset_triggers == ("/new", "/fresh")


def test_whose_session_a_direct_conversation_is_is_taken_over(home: Home) -> None:
    file = home.workspace / "moltbot.json"
    file.write_text(
        """{ session: { dmScope: "per-channel-peer", mainKey: "work",
             identityLinks: { mira: ["telegram:42", "discord:7"] } } }"""
    )
    settings = home.settings()
    assert (settings.sessions.direct_scope, settings.sessions.main_key) == ("per-channel-peer", "work")
    assert dict(settings.sessions.identity_links) == {"telegram:42": "mira", "discord:7": "mira"}
    assert untold(settings, file) == []


@pytest.mark.parametrize(
    "session",
    [
        {"dmScope": "per-moon"},
        {"mainKey": "a:b"},
        {"mainKey": ""},
        {"identityLinks": {"a:b": ["telegram:42"]}},
        {"identityLinks": {"mira": {"telegram": 42}}},
        {"identityLinks": ["mira"]},
    ],
)
def test_whose_session_it_is_is_left_as_it_was_where_that_means_nothing(
    home: Home, session: dict[str, object]
) -> None:
    file = home.workspace / "moltbot.json"
    file.write_text(json.dumps({"session": session}))
    settings = home.settings()
    assert settings.sessions == Settings().sessions
    assert untold(settings, file) == []


@pytest.mark.parametrize(
    ("session", "reset"),
    [
        ({"idleMinutes": 45}, "idle 45"),
        ({"reset": {"mode": "daily"}, "idleMinutes": 45}, "daily 4"),
        ({"reset": {"mode": "none"}}, "none"),
    ],
)
def test_the_older_way_of_a_reset_rule_counts_where_there_is_no_newer(
    home: Home, session: dict[str, object], reset: str
) -> None:
    file = home.workspace / "moltbot.json"
    file.write_text(json.dumps({"session": session}))
    settings = home.settings()
    assert settings.sessions.reset == reset
    assert untold(settings, file) == []


@pytest.mark.parametrize("mode", [{"atHour": 99}, {"mode": "weekly"}, {"idleMinutes": "soon"}, 5])
def test_a_reset_rule_that_means_nothing_is_left_aside(home: Home, mode: object) -> None:
    (home.workspace / "moltbot.json").write_text(json.dumps({"session": {"reset": mode}}))
    settings = home.settings()
    assert settings.sessions.reset == "daily 4"
    assert "session.reset" in settings.warnings[0]


@pytest.mark.parametrize(
    ("text", "sessions"),
    [
        ("experimental: { sessionMemory: true }", True),
        ('experimental: { sessionMemory: true }, sources: ["memory"]', False),
        ('experimental: { sessionMemory: false }, sources: ["memory", "sessions"]', False),
        ('sources: ["memory", "sessions"]', False),
    ],
)
def test_transcripts_are_searched_where_the_experiment_and_the_sources_say_so(
    home: Home, text: str, sessions: bool
) -> None:
    file = home.workspace / "moltbot.json"
    file.write_text(_search(text))
    settings = home.settings()
    assert settings.search.sessions is sessions
    assert untold(settings, file) == []


def test_one_bad_extra_path_costs_itself_alone(home: Home) -> None:
    (home.workspace / "moltbot.json").write_text(
        _search('extraPaths: ["notes", "../outside", 5, "more/a.md"]')
    )
    settings = home.settings()
    assert settings.search.extra_paths == ("notes", "more/a.md")
    assert len(settings.warnings) == 2
    assert "../outside" in settings.warnings[0]


def test_no_cache_means_no_entries_whatever_their_number(home: Home) -> None:
    (home.workspace / "moltbot.json").write_text(_search("cache: { enabled: false, maxEntries: 50000 }"))
    assert home.settings().search.cache_entries == 0


def test_a_fusion_that_was_chosen_stays(home: Home) -> None:
    (home.workspace / "moltbot.json").write_text(_search("query: { hybrid: { vectorWeight: 0.5 } }"))
    (home.workspace / "workbench.toml").write_text('[search]\nfusion = "two-grain"\n')
    assert home.settings().search.fusion == "two-grain"
