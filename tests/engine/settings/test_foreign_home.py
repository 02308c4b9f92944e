"""The settings of OpenClaw, Moltbot and Clawdbot where these programs keep them, and whom they may speak for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.settings.layers import load_settings
from workbench.engine.settings.sections import Settings

SENDING: dict[str, Any] = {
    "agents": {
        "defaults": {
            "memorySearch": {
                "provider": "openai",
                "remote": {"apiKey": "sk-own", "baseUrl": "https://api.example.com/v1"},
                "query": {"maxResults": 2},
            }
        }
    }
}


def write(home: Path, name: str, document: object) -> None:
    file = home / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(document))


def loaded(home: Path, workspace: Path, **environment: str) -> Settings:
    workspace.mkdir(parents=True, exist_ok=True)
    return load_settings(workspace, environment={"HOME": str(home), **environment})


def limited(results: int) -> dict[str, Any]:
    return {"agents": {"defaults": {"memorySearch": {"query": {"maxResults": results}}}}}


@pytest.mark.parametrize(
    "name",
    [
        ".openclaw/openclaw.json",
        ".clawdbot/moltbot.json",
        ".clawdbot/clawdbot.json",
        ".moltbot/moltbot.json",
        ".openclaw/moltbot.json",
    ],
)
def test_the_users_own_file_is_found_for_any_workspace(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, limited(2))
    settings = loaded(tmp_path, tmp_path / "anywhere")
    assert settings.search.max_results == 2
    assert settings.origin("search.max_results") == f"~/{name} agents.defaults.memorySearch.query.maxResults"


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({"OPENCLAW_STATE_DIR": "{}/elsewhere"}, "elsewhere/openclaw.json"),
        ({"CLAWDBOT_STATE_DIR": "{}/elsewhere"}, "elsewhere/clawdbot.json"),
        ({"MOLTBOT_CONFIG_PATH": "{}/elsewhere/mine.json"}, "elsewhere/mine.json"),
        ({"OPENCLAW_PROFILE": "work"}, ".openclaw-work/openclaw.json"),
        ({"CLAWDBOT_PROFILE": "work"}, ".clawdbot-work/moltbot.json"),
        ({"OPENCLAW_HOME": "{}/elsewhere"}, "elsewhere/.openclaw/openclaw.json"),
    ],
)
def test_variables_name_another_place(tmp_path: Path, environment: dict[str, str], name: str) -> None:
    write(tmp_path, ".openclaw/openclaw.json", limited(9))
    write(tmp_path, name, limited(2))
    named = {key: value.format(tmp_path) for key, value in environment.items()}
    assert loaded(tmp_path, tmp_path / "anywhere", **named).search.max_results == 2


def test_the_workspace_wins_over_the_home_and_our_own_settings_over_both(tmp_path: Path) -> None:
    workspace = tmp_path / "anywhere"
    write(
        tmp_path,
        ".openclaw/openclaw.json",
        {"memory": {"search": {"query": {"maxResults": 2, "minScore": 0.2}}}},
    )
    write(workspace, "clawdbot.json", limited(3))
    settings = loaded(tmp_path, workspace)
    assert (settings.search.max_results, settings.search.min_score) == (3, 0.2)
    (tmp_path / "config.toml").write_text("[search]\nmax_results = 4\n")
    config = str(tmp_path / "config.toml")
    assert loaded(tmp_path, workspace, WORKBENCH_CONFIG=config).search.max_results == 4


@pytest.mark.parametrize(
    ("state", "document", "workspace"),
    [
        (".clawdbot", {}, "clawd"),
        (".openclaw", {}, ".openclaw/workspace"),
        (".openclaw-work", {}, ".openclaw-work/workspace"),
        (".openclaw", {"agents": {"defaults": {"workspace": "~/agent"}}}, "agent"),
        (".openclaw", {"agent": {"workspace": "~/agent"}}, "agent"),
        (
            ".openclaw",
            {"agents": {"list": [{"id": "main"}, {"id": "coach", "workspace": "~/coach"}]}},
            "coach",
        ),
        (".openclaw", {"agents": {"entries": {"coach": {}}}}, ".openclaw/workspace-coach"),
    ],
)
def test_in_a_workspace_of_its_own_agents_it_says_who_makes_vectors(
    tmp_path: Path, state: str, document: dict[str, Any], workspace: str
) -> None:
    search = SENDING["agents"]["defaults"]["memorySearch"]
    agents = document.setdefault("agents", {})
    defaults = agents.setdefault("defaults", {})
    defaults["memorySearch"] = search
    write(tmp_path, f"{state}/openclaw.json", document)
    embedding = loaded(tmp_path, tmp_path / workspace).embedding
    assert (embedding.provider, embedding.api_key) == ("openai", "sk-own")


@pytest.mark.parametrize("workspace", ["Downloads/theirs", ".openclaw/other", "clawd-2"])
def test_nothing_of_somebody_elses_folder_is_sent_anywhere(tmp_path: Path, workspace: str) -> None:
    write(tmp_path, ".openclaw/openclaw.json", SENDING)
    settings = loaded(tmp_path, tmp_path / workspace)
    assert settings.embedding == Settings().embedding
    assert settings.search.max_results == 2
    (warning,) = settings.warnings
    assert "remote.apiKey" in warning
    assert "workspaces of its agents" in warning
    assert "sk-own" not in repr(settings)


def test_a_workspace_cannot_claim_to_be_an_agents(tmp_path: Path) -> None:
    workspace = tmp_path / "theirs"
    write(workspace, "openclaw.json", {**SENDING, "agent": {"workspace": str(workspace)}})
    write(workspace, ".openclaw/openclaw.json", SENDING)
    assert loaded(tmp_path, workspace).embedding == Settings().embedding


def test_what_an_agent_has_of_its_own_wins_in_its_workspace(tmp_path: Path) -> None:
    document = {
        "agents": {
            "defaults": {"memorySearch": {"query": {"maxResults": 2, "minScore": 0.2}}},
            "list": [
                {"id": "main"},
                {
                    "id": "coach",
                    "workspace": str(tmp_path / "coach"),
                    "memorySearch": {"query": {"maxResults": 5}},
                },
            ],
        }
    }
    write(tmp_path, ".openclaw/openclaw.json", document)
    search = loaded(tmp_path, tmp_path / "coach").search
    assert (search.max_results, search.min_score) == (5, 0.2)
    assert loaded(tmp_path, tmp_path / "anywhere").search.max_results == 2


def test_the_file_that_names_the_workspace_wins_over_the_one_that_programs_read_first(tmp_path: Path) -> None:
    write(tmp_path, ".openclaw/openclaw.json", limited(9))
    write(tmp_path, ".clawdbot/moltbot.json", limited(2))
    assert loaded(tmp_path, tmp_path / "clawd").search.max_results == 9
    write(tmp_path, ".openclaw/openclaw.json", {"agent": {"workspace": "~/other"}, **limited(9)})
    assert loaded(tmp_path, tmp_path / "clawd").search.max_results == 2


def test_its_home_can_be_left_unread(tmp_path: Path) -> None:
    write(tmp_path, ".openclaw/openclaw.json", limited(2))
    settings = loaded(tmp_path, tmp_path / "anywhere", WORKBENCH_HOME_SETTINGS="false")
    assert settings.search.max_results == 20
    assert settings.foreign == ()


def test_a_key_may_stand_in_a_variable(tmp_path: Path) -> None:
    search = {"provider": "openai", "remote": {"apiKey": "${THEIR_KEY}"}}
    write(tmp_path, ".clawdbot/moltbot.json", {"agents": {"defaults": {"memorySearch": search}}})
    found = loaded(tmp_path, tmp_path / "clawd", THEIR_KEY="sk-from-there")
    assert found.embedding.api_key == "sk-from-there"
    missing = loaded(tmp_path, tmp_path / "clawd")
    assert missing.embedding == Settings().embedding
    assert "THEIR_KEY" in missing.warnings[0]
    write(tmp_path / "clawd", "moltbot.json", {"memory": {"flush": {"prompt": "${THEIR_KEY}"}}})
    assert loaded(tmp_path, tmp_path / "clawd", THEIR_KEY="sk-from-there").flush.prompt == "${THEIR_KEY}"


@pytest.mark.parametrize(
    ("provider", "document", "chosen", "key"),
    [
        ("openai", {"openai": {"apiKey": "sk-1"}}, "openai", "sk-1"),
        ("gemini", {"google": {"apiKey": "AI-2"}}, "gemini", "AI-2"),
        ("auto", {"google": {"apiKey": "AI-2"}}, "gemini", "AI-2"),
        ("auto", {"openai": {"apiKey": "sk-1"}, "google": {"apiKey": "AI-2"}}, "openai", "sk-1"),
        ("auto", {}, "builtin", ""),
        (None, {"openai": {"apiKey": "sk-1"}}, "builtin", ""),
    ],
)
def test_the_key_of_a_provider_is_found_in_the_same_file(
    tmp_path: Path, provider: str | None, document: dict[str, object], chosen: str, key: str
) -> None:
    search = {"provider": provider} if provider else {"enabled": True}
    write(
        tmp_path,
        ".clawdbot/moltbot.json",
        {"agents": {"defaults": {"memorySearch": search}}, "models": {"providers": document}},
    )
    embedding = loaded(tmp_path, tmp_path / "clawd").embedding
    assert (embedding.provider, embedding.api_key) == (chosen, key)


def test_a_local_model_that_is_there_is_chosen_without_a_provider(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    search = {"local": {"modelPath": str(model)}}
    write(tmp_path, ".clawdbot/moltbot.json", {"agents": {"defaults": {"memorySearch": search}}})
    assert loaded(tmp_path, tmp_path / "clawd").embedding.provider == "builtin"
    model.touch()
    assert loaded(tmp_path, tmp_path / "clawd").embedding.provider == "local"


@pytest.mark.parametrize("provider", ["auto", None])
def test_a_model_that_is_still_to_be_downloaded_is_not_chosen_by_itself(
    tmp_path: Path, provider: str | None
) -> None:
    search = {"local": {"modelPath": "hf:owner/repository/model.gguf"}}
    write(
        tmp_path,
        ".clawdbot/moltbot.json",
        {"agents": {"defaults": {"memorySearch": search | ({"provider": provider} if provider else {})}}},
    )
    assert loaded(tmp_path, tmp_path / "clawd").embedding.provider == "builtin"


def test_the_key_of_one_server_is_not_sent_to_another(tmp_path: Path) -> None:
    search = {"provider": "openai", "remote": {"baseUrl": "https://elsewhere.example.com/v1"}}
    document = {
        "agents": {"defaults": {"memorySearch": search}},
        "models": {"providers": {"openai": {"apiKey": "sk-1"}}},
    }
    write(tmp_path, ".clawdbot/moltbot.json", document)
    embedding = loaded(tmp_path, tmp_path / "clawd").embedding
    assert (embedding.base_url, embedding.api_key) == ("https://elsewhere.example.com/v1", "")


def test_its_agents_transcripts_are_those_that_are_searched(tmp_path: Path) -> None:
    search = {"experimental": {"sessionMemory": True}, "sources": ["memory", "sessions"]}
    write(tmp_path, ".clawdbot/moltbot.json", {"agents": {"defaults": {"memorySearch": search}}})
    folder = tmp_path / ".clawdbot/agents/main/sessions"
    folder.mkdir(parents=True)
    assert loaded(tmp_path, tmp_path / "clawd").search.session_paths == (str(folder),)
    assert loaded(tmp_path, tmp_path / "anywhere").search.session_paths == ()


@pytest.mark.parametrize("content", ["{", "[]", "\0"])
def test_a_broken_file_in_the_home_is_one_warning(tmp_path: Path, content: str) -> None:
    (tmp_path / ".openclaw").mkdir()
    (tmp_path / ".openclaw/openclaw.json").write_text(content)
    (warning,) = loaded(tmp_path, tmp_path / "anywhere").warnings
    assert warning.startswith("~/.openclaw/openclaw.json was left aside")
