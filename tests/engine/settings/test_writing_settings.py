"""Writing one setting changes that setting and nothing else."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import InvalidSetting
from workbench.engine.settings.layers import load_settings, remember_usual, write_setting
from workbench.engine.settings.sections import Settings, system_timezone, user_settings_file

WRITTEN = b"""# ours
timezone = 'UTC'   # where we are

[core]   # budgets
cap = 2_000   # tight

# the end
"""


def test_comments_order_and_spelling_stay() -> None:
    result = write_setting(WRITTEN, "core.cap", 2500)
    assert result == WRITTEN.replace(b"2_000", b"2500")


def test_a_new_section_goes_to_the_end() -> None:
    result = write_setting(WRITTEN, "decay.lambda", 0.05)
    assert result.startswith(WRITTEN)
    assert tomllib.loads(result.decode())["decay"] == {"lambda": 0.05}


def test_a_new_top_key_stands_before_the_sections() -> None:
    result = write_setting(b"[core]\ncap = 2000\n", "timezone", "Asia/Taipei")
    assert tomllib.loads(result.decode()) == {"timezone": "Asia/Taipei", "core": {"cap": 2000}}


def test_an_empty_file() -> None:
    assert write_setting(b"", "timezone", "Europe/Berlin") == b'timezone = "Europe/Berlin"\n'
    assert write_setting(b"", "decay.lambda", 0.05) == b"[decay]\nlambda = 0.05\n"


@pytest.mark.parametrize("key", ["core.cap", "decay.lambda", "timezone"])
def test_windows_lines_and_bom_stay(key: str) -> None:
    content = b"\xef\xbb\xbf" + WRITTEN.replace(b"\n", b"\r\n")
    values = {"core.cap": 2500, "decay.lambda": 0.05, "timezone": "Asia/Taipei"}
    result = write_setting(content, key, values[key])
    assert result.startswith(b"\xef\xbb\xbf#")
    assert result.count(b"\n") == result.count(b"\r\n")
    assert result.replace(b"\r\n", b"\n") == b"\xef\xbb\xbf" + write_setting(WRITTEN, key, values[key])


@pytest.mark.parametrize(
    ("content", "key", "value", "words"),
    [
        (b"", "decay.lamda", 0.1, "decay.lambda"),
        (b"", "decay.lambda", "fast", "number from 0 to 10"),
        (b"", "model.base_url", "http://x", "may not set"),
        (b"", "editor", "vi", "may not set"),
        (b"x = [", "decay.lambda", 0.1, "no TOML"),
        (b"x = 1", "decay.lambda", 0.1, "no setting x"),
    ],
)
def test_what_cannot_be_written(content: bytes, key: str, value: object, words: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        write_setting(content, key, value)
    assert words in str(caught.value)


LINES = ["timezone = 'UTC'", "# note", "", "core.cap = 400", "graph.depth = 1", "decay.auto_base = 0.6"]
INLINE = ["# note", "decay = {lambda = 0.1, auto_base = 0.6}"]


@given(st.lists(st.sampled_from(LINES), unique=True) | st.just(INLINE), st.floats(0, 10))
def test_the_value_reads_back_and_every_other_stays(lines: list[str], value: float) -> None:
    content = "".join(line + "\n" for line in lines).encode()
    before = tomllib.loads(content.decode())
    after = tomllib.loads(write_setting(content, "decay.lambda", value).decode())
    assert after["decay"]["lambda"] == value
    before.setdefault("decay", {})["lambda"] = value
    assert after == before


def test_state_and_cache_belong_to_the_real_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one, other = tmp_path / "one", tmp_path / "a" / "one"
    one.mkdir()
    other.mkdir(parents=True)
    (tmp_path / "link").symlink_to(one)
    settings = Settings()
    assert settings.state_directory(one).parent == tmp_path / "state" / "workbench"
    assert settings.cache_directory(one).parent == tmp_path / "cache" / "workbench"
    assert settings.state_directory(one) == settings.state_directory(tmp_path / "link")
    assert settings.state_directory(one) != settings.state_directory(other)
    assert settings.state_directory(one).name.startswith("one-")
    assert not settings.state_directory(one).exists()


def test_a_setting_moves_state_and_cache(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[paths]\nstate = '/srv/state'\ncache = '/srv/cache'\n")
    settings = load_settings(tmp_path, environment={"WORKBENCH_CONFIG": str(tmp_path / "config.toml")})
    assert settings.state_directory(tmp_path).parent == Path("/srv/state")
    assert settings.cache_directory(tmp_path).parent == Path("/srv/cache")


def test_the_users_file_is_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_settings_file({}) == tmp_path / "workbench" / "config.toml"
    assert user_settings_file({"WORKBENCH_CONFIG": "/x/y.toml"}) == Path("/x/y.toml")


def test_the_systems_zone_has_a_name() -> None:
    from zoneinfo import ZoneInfo

    assert ZoneInfo(system_timezone()).key == system_timezone()


def test_the_usual_workspace_is_remembered_and_comments_stay(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('# mine\neditor = "vi"\n')
    assert remember_usual(file, tmp_path) == ""
    assert file.read_text().startswith('# mine\neditor = "vi"\n')
    assert tomllib.loads(file.read_text())["workspace"] == str(tmp_path)
    file.write_text("[[")
    assert remember_usual(file, tmp_path) != ""
