"""Settings of other products beside the memory: mapped where they fit, never an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from workbench.engine.settings.layers import load_settings
from workbench.engine.settings.sections import Settings

JANUARY = """{
  // written by hand
  agents: { defaults: {
    model: "somebody/else",
    memorySearch: {
      enabled: true,
      provider: "openai", remote: { apiKey: "sk-secret", baseUrl: "https://api.example.com/v1/" },
      query: { maxResults: 12, minScore: .25, hybrid: { vectorWeight: 0.6, textWeight: 0.4 } },
      extraPaths: ["notes"],
      sync: { watch: false, sessions: { deltaBytes: 5, deltaMessages: 6, } },
    },
    compaction: { reserveTokensFloor: 10000, memoryFlush: { enabled: false, softThresholdTokens: 3000 } },
  } },
  channels: { telegram: { token: "x" } },
}
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "config.toml").write_text("")
    return {"WORKBENCH_CONFIG": str(tmp_path / "config.toml")}


@pytest.mark.parametrize("name", ["openclaw.json", "moltbot.json", "clawdbot.json"])
def test_memory_keys_are_mapped_and_the_rest_is_none_of_our_business(
    tmp_path: Path, environment: dict[str, str], name: str
) -> None:
    (tmp_path / name).write_text(JANUARY)
    settings = load_settings(tmp_path, environment=environment)
    assert (settings.search.max_results, settings.search.min_score) == (12, 0.25)
    assert (settings.search.vector_weight, settings.search.text_weight) == (0.6, 0.4)
    assert settings.search.extra_paths == ("notes",)
    assert settings.search.watch is False
    assert (settings.search.session_delta_bytes, settings.search.session_delta_messages) == (5, 6)
    assert settings.flush.enabled is False
    assert (settings.flush.reserve_tokens, settings.flush.soft_threshold_tokens) == (10_000, 3000)
    assert settings.origin("search.min_score") == f"{name} agents.defaults.memorySearch.query.minScore"


def test_end_points_and_keys_are_left_aside_and_said(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "clawdbot.json").write_text(JANUARY)
    settings = load_settings(tmp_path, environment=environment)
    assert settings.embedding == Settings().embedding
    assert len(settings.warnings) == 1
    assert "remote.apiKey" in settings.warnings[0]
    assert "config.toml" in settings.warnings[0]
    assert "sk-secret" not in settings.warnings[0]


def test_the_settings_of_qmd_are_mapped_but_programs_and_places_are_left_aside(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "moltbot.json").write_text(
        """{ memory: { backend: "qmd", citations: "off", qmd: {
          command: "/tmp/x", includeDefaultMemory: false,
          update: { interval: "90s", debounceMs: 1000, onBoot: false },
          limits: { maxResults: 9, timeoutMs: 2000, maxSnippetChars: 300 },
          paths: [{ name: "docs", path: "~/notes", pattern: "**/*.md" }] } } }"""
    )
    settings = load_settings(tmp_path, environment=environment)
    assert settings.search.backend == "builtin"
    assert settings.search.citations == "off"
    assert (settings.qmd.command, dict(settings.qmd.paths)) == ("qmd", {})
    assert settings.qmd.include_default_memory is False
    assert (settings.qmd.update_minutes, settings.qmd.debounce_ms, settings.qmd.update_on_boot) == (
        1.5,
        1000,
        False,
    )
    assert (settings.qmd.max_results, settings.qmd.timeout_ms, settings.qmd.max_snippet_chars) == (
        9,
        2000,
        300,
    )
    (warning,) = settings.warnings
    assert all(path in warning for path in ("memory.backend", "memory.qmd.command", "memory.qmd.paths"))


@pytest.mark.parametrize(
    ("interval", "minutes"), [("5m", 5), ("2h", 120), ("1d", 1440), ("500ms", 1 / 120), (7, 7)]
)
def test_spans_of_time_are_taken_in_minutes(
    tmp_path: Path, environment: dict[str, str], interval: object, minutes: float
) -> None:
    (tmp_path / "openclaw.json").write_text(
        json.dumps({"memory": {"qmd": {"update": {"interval": interval}}}})
    )
    assert load_settings(tmp_path, environment=environment).qmd.update_minutes == pytest.approx(minutes)


def test_the_newest_product_wins(tmp_path: Path, environment: dict[str, str]) -> None:
    for name, results in (("clawdbot.json", 1), ("openclaw.json", 3), ("moltbot.json", 2)):
        (tmp_path / name).write_text(json.dumps({"memory": {"search": {"query": {"maxResults": results}}}}))
    assert load_settings(tmp_path, environment=environment).search.max_results == 3


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b"{a: " * 20_000, b"{" + b" " * 600_000 + b"}", b""],
    ids=["torn", "list", "bytes", "deep list", "deep object", "large", "empty"],
)
def test_a_broken_file_is_one_warning(tmp_path: Path, environment: dict[str, str], content: bytes) -> None:
    (tmp_path / "openclaw.json").write_bytes(content)
    (tmp_path / "moltbot.json").write_text('{"memory": {"graph": {"depth": 1}}}')
    settings = load_settings(tmp_path, environment=environment)
    assert len(settings.warnings) == 1
    assert settings.warnings[0].startswith("openclaw.json was left aside")
    assert settings.graph.depth == 1


def test_a_link_is_a_warning(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "elsewhere.json").write_text('{"memory": {"graph": {"depth": 1}}}')
    (tmp_path / "openclaw.json").symlink_to(tmp_path / "elsewhere.json")
    settings = load_settings(tmp_path, environment=environment)
    assert settings.graph.depth == 2
    assert "symbolic link" in settings.warnings[0]


@pytest.mark.parametrize(
    "memory",
    [
        {"graph": {"depth": "deep"}},
        {"graph": {"depth": 99}},
        {"decay": {"activeThreshold": 0.01}},
        {"search": {"extraPaths": ["../outside"]}},
        {"search": {"sessionPaths": ["/srv/sessions"]}},
        {"qmd": {"update": {"interval": "soon"}}},
        {"search": {"extraPaths": [{"path": "x", "pattern": "*.md"}]}},
    ],
)
def test_what_does_not_fit_is_left_aside(
    tmp_path: Path, environment: dict[str, str], memory: dict[str, object]
) -> None:
    (tmp_path / "openclaw.json").write_text(json.dumps({"memory": memory}))
    settings = load_settings(tmp_path, environment=environment)
    assert len(settings.warnings) == 1
    assert settings.origins == {}


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["memory", "agents", "defaults", "memorySearch", "search", "decay", "lambda", "query"]
                ),
                inner,
            )
        ),
    )
)
@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_document_is_an_error(tmp_path: Path, environment: dict[str, str], document: object) -> None:
    (tmp_path / "openclaw.json").write_text(json.dumps(document))
    load_settings(tmp_path, environment=environment)
