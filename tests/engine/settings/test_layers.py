"""Which layer wins, what each may set, and how a fault is told."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine import layout
from workbench.engine.errors import InvalidSetting, OutsideWorkspace, StorageError, WorkbenchError
from workbench.engine.settings.layers import load_settings
from workbench.engine.settings.schema import Kind, Spec, Value, leads_outside
from workbench.engine.settings.sections import SCHEMA, Settings, default_of, environment_name, value_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    user_file = tmp_path / "config.toml"
    user_file.write_text("")
    return {"WORKBENCH_CONFIG": str(user_file)}


def user_says(environment: Mapping[str, str], text: str) -> None:
    Path(environment["WORKBENCH_CONFIG"]).write_text(text)


def test_defaults_are_the_design_documents(root: Path, environment: dict[str, str]) -> None:
    settings = load_settings(root, environment=environment)
    assert settings == Settings()
    assert settings.core.cap == 3000
    assert settings.core.budgets == {
        "Identity": 500,
        "Active Context": 1000,
        "Persona": 500,
        "Critical Facts": 1000,
    }
    assert (settings.decay.lambda_, settings.decay.archive_threshold) == (0.03, 0.05)
    assert (settings.search.max_results, settings.search.min_score) == (20, 0.1)
    assert (settings.reflection.token_budget, settings.audit.retention_days) == (8000, 90)
    assert settings.audit.critical_alerts
    assert settings.graph.depth == 2
    assert settings.origin("core.cap") == "default"


def test_files_that_cannot_be_critical_are_told(root: Path, environment: dict[str, str]) -> None:
    useless = ["notes.txt", "memory/meta/decay-scores.json", "memory/.hidden.md", "elsewhere/a.md"]
    named = [*useless, "USER.md", "memory/vault/promise.md"]
    (root / "workbench.toml").write_text(f"[audit]\ncritical_files = {named}\n")
    settings = load_settings(root, environment=environment)
    assert settings.audit.critical == layout.CRITICAL | {"USER.md", "memory/vault/promise.md"}
    assert len(settings.warnings) == len(useless)
    for path, warning in zip(useless, settings.warnings, strict=True):
        assert warning.startswith("workbench.toml:2: ")
        assert f"“{path}”" in warning


def test_environment_over_workspace_over_user_over_foreign(root: Path, environment: dict[str, str]) -> None:
    (root / "openclaw.json").write_text(
        '{"memory": {"core": {"cap": 1001}, "decay": {"lambda": 0.1}, '
        '"graph": {"depth": 1}, "search": {"maxResults": 5}}}'
    )
    user_says(environment, "[core]\ncap = 1002\n[decay]\nlambda = 0.2\n[graph]\ndepth = 3\n")
    (root / "workbench.toml").write_text("[core]\ncap = 1003\n\n[decay]\n# slower\nlambda = 0.3\n")
    settings = load_settings(root, environment={**environment, "WORKBENCH_CORE_CAP": "1004"})
    assert (settings.core.cap, settings.decay.lambda_) == (1004, 0.3)
    assert (settings.graph.depth, settings.search.max_results) == (3, 5)
    assert settings.origins == {
        "core.cap": "WORKBENCH_CORE_CAP",
        "decay.lambda": "workbench.toml:6",
        "graph.depth": f"{environment['WORKBENCH_CONFIG']}:6",
        "search.max_results": "openclaw.json memory.search.maxResults",
    }


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("[decay]\n\nlamda = 0.1\n", "workbench.toml:3", ["decay.lamda", "decay.lambda", "from 0 to 10"]),
        ("decay.lamda = 0.1\n", "workbench.toml:1", ["decay.lambda"]),
        ("[decay]\nlambda = 'fast'\n", "workbench.toml:2", ["decay.lambda", "number from 0 to 10", "fast"]),
        ("[decay]\nlambda = true\n", "workbench.toml:2", ["not True"]),
        ("[decay]\nlambda = nan\n", "workbench.toml:2", ["number from 0 to 10"]),
        ("[core]\ncap = 2000.0\n", "workbench.toml:2", ["whole number from 100 to 1,000,000"]),
        ("core = 3000\n", "workbench.toml:1", ["core is a section", "[core]"]),
        ("[core.budgets]\nidentity = 1\n", "workbench.toml", ["core.budgets"]),
        ("time_zone = 'UTC'\n", "workbench.toml:1", ["Perhaps timezone"]),
        ("timezone = 'Mars/Phobos'\n", "workbench.toml:1", ["IANA", "Mars/Phobos"]),
        ("timezone = '../../etc/passwd'\n", "workbench.toml:1", ["IANA"]),
        ("timezone = 'Europe'\n", "workbench.toml:1", ["IANA"]),
        ("[wardrobe]\nx = 1\n", "workbench.toml:1", ["wardrobe", "sections audit"]),
        ("[reflection]\nfrequency = 'hourly'\n", "workbench.toml:2", ["daily+session-end", "hourly"]),
        ("[reflection]\ntime = '24:00'\n", "workbench.toml:2", ["time of day"]),
        ("[graph]\nrelations = ['a', 1]\n", "workbench.toml:2", ["list of texts"]),
        (
            "[decay]\nactive_threshold = 0.1\n",
            "workbench.toml:2",
            ["active_threshold = 0.1", "0.5, 0.2, 0.05"],
        ),
        (
            "[search]\nchunk_tokens = 60\n",
            "workbench.toml:2",
            ["chunk_tokens = 60, search.chunk_overlap = 80"],
        ),
        ("x = [\n\n", "workbench.toml:3", ["no TOML"]),
        ("a = 1\na = 2\n", "workbench.toml:2", ["no TOML"]),
    ],
)
def test_a_fault_names_file_line_and_what_is_taken(
    root: Path, environment: dict[str, str], text: str, where: str, words: list[str]
) -> None:
    (root / "workbench.toml").write_text(text)
    with pytest.raises(InvalidSetting) as caught:
        load_settings(root, environment=environment)
    assert caught.value.where is not None
    assert caught.value.where.startswith(where)
    for word in words:
        assert word in str(caught.value)


def test_a_file_that_is_no_text_is_a_fault(root: Path, environment: dict[str, str]) -> None:
    (root / "workbench.toml").write_bytes(b"timezone = '\xff'")
    with pytest.raises(InvalidSetting, match="UTF-8"):
        load_settings(root, environment=environment)


def test_bom_and_windows_lines_are_read(root: Path, environment: dict[str, str]) -> None:
    (root / "workbench.toml").write_bytes(b"\xef\xbb\xbf[core]\r\ncap = 2000\r\n")
    settings = load_settings(root, environment=environment)
    assert settings.core.cap == 2000
    assert settings.origin("core.cap") == "workbench.toml:2"


PERSONAL = {
    "model.base_url": "'http://evil.example'",
    "model.api_key": "'k'",
    "model.name": "'m'",
    "model.headers": "{X = 'y'}",
    "model.timeout": "5",
    "embedding.provider": "'openai'",
    "embedding.base_url": "'http://evil.example'",
    "embedding.model_path": "'model.gguf'",
    "editor": "'rm -rf ~'",
    "workspace": "'elsewhere'",
    "paths.state": "'state'",
    "paths.cache": "'cache'",
    "bench.theme": "'loud'",
    "bench.keymap": "{undo = 'x'}",
}


@pytest.mark.parametrize("key", PERSONAL)
def test_a_workspace_may_not_choose_end_points_programs_or_places(
    root: Path, environment: dict[str, str], key: str
) -> None:
    text = f"{key} = {PERSONAL[key]}\n"
    (root / "workbench.toml").write_text(text)
    with pytest.raises(InvalidSetting, match=r"may not set") as caught:
        load_settings(root, environment=environment)
    assert key in caught.value.message
    assert environment["WORKBENCH_CONFIG"] in str(caught.value)
    (root / "workbench.toml").unlink()
    user_says(environment, text)
    assert load_settings(root, environment=environment).origin(key).endswith("config.toml:1")


def test_every_personal_setting_is_refused_to_a_workspace() -> None:
    dangerous = {key for key in SCHEMA if key.startswith(("model.", "embedding.", "paths."))}
    dangerous |= {
        "search.backend",
        "search.session_paths",
        "qmd.command",
        "qmd.mode",
        "qmd.embed",
        "qmd.paths",
        "sessions.on_reset",
        "sessions.on_reset_seconds",
    }
    assert dangerous <= {key for key, spec in SCHEMA.items() if spec.personal}


@pytest.mark.parametrize(
    "path",
    ["/etc", "~/x", "../x", "a/../../x", "C:\\x", "c:/x", "a\\..\\x", "\\\\host\\share", "//host/share"],
)
def test_a_workspace_may_not_name_outside_paths(root: Path, environment: dict[str, str], path: str) -> None:
    (root / "workbench.toml").write_text(f"[search]\nextra_paths = ['{path}']\n")
    with pytest.raises(InvalidSetting, match="inside the workspace"):
        load_settings(root, environment=environment)
    (root / "workbench.toml").write_text(f"[triggers]\nphrases = '{path}'\n")
    with pytest.raises(InvalidSetting, match="inside the workspace"):
        load_settings(root, environment=environment)


def test_paths_inside_are_fine_and_the_user_may_name_any(root: Path, environment: dict[str, str]) -> None:
    (root / "workbench.toml").write_text("[search]\nextra_paths = ['notes/a.md']\n")
    assert load_settings(root, environment=environment).search.extra_paths == ("notes/a.md",)
    (root / "workbench.toml").unlink()
    user_says(environment, "[search]\nextra_paths = ['/srv/notes']\n")
    assert load_settings(root, environment=environment).search.extra_paths == ("/srv/notes",)


def test_a_secret_is_never_shown(root: Path, environment: dict[str, str]) -> None:
    user_says(environment, "[model]\napi_key = 'sk-secret'\nbase_url = 'http://localhost'\nname = 'm'\n")
    settings = load_settings(root, environment=environment)
    assert settings.model.api_key == "sk-secret"
    assert settings.model.configured
    assert "sk-secret" not in repr(settings)
    user_says(environment, "[model]\napi_key = ['sk-secret']\n")
    with pytest.raises(InvalidSetting) as caught:
        load_settings(root, environment=environment)
    assert "sk-secret" not in str(caught.value)


def test_environment_values_of_every_kind(root: Path, environment: dict[str, str]) -> None:
    settings = load_settings(
        root,
        environment={
            **environment,
            "WORKBENCH_DECAY_LAMBDA": "0.05",
            "WORKBENCH_AUDIT_CRITICAL_ALERTS": "off",
            "WORKBENCH_GRAPH_RELATIONS": "mentors, reviews",
            "WORKBENCH_MODEL_HEADERS": "X-Org=acme, X-Sig=a=b",
            "WORKBENCH_TIMEZONE": "Asia/Taipei",
            "WORKBENCH_CORE_CAP": "",
            "WORKBENCH_NOW": "2026-02-02",
        },
    )
    assert settings.decay.lambda_ == 0.05
    assert settings.audit.critical_alerts is False
    assert settings.graph.relations == ("mentors", "reviews")
    assert settings.model.headers == {"X-Org": "acme", "X-Sig": "a=b"}
    assert settings.zone.key == "Asia/Taipei"
    assert settings.core.cap == 3000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("WORKBENCH_CORE_CAP", "many"),
        ("WORKBENCH_CORE_CAP", "1.5"),
        ("WORKBENCH_DECAY_LAMBDA", "inf"),
        ("WORKBENCH_AUDIT_CRITICAL_ALERTS", "maybe"),
        ("WORKBENCH_MODEL_HEADERS", "X-Org"),
    ],
)
def test_an_ill_typed_variable_is_named(
    root: Path, environment: dict[str, str], name: str, text: str
) -> None:
    with pytest.raises(InvalidSetting) as caught:
        load_settings(root, environment={**environment, name: text})
    assert caught.value.where == name


def test_a_mistyped_variable_is_a_warning(root: Path, environment: dict[str, str]) -> None:
    settings = load_settings(root, environment={**environment, "WORKBENCH_DECAY_LAMDA": "3"})
    assert settings.warnings == (
        "WORKBENCH_DECAY_LAMDA sets nothing; perhaps WORKBENCH_DECAY_LAMBDA is meant.",
    )


def test_the_editor_falls_back_to_the_systems(root: Path, environment: dict[str, str]) -> None:
    settings = load_settings(root, environment={**environment, "EDITOR": "nano", "VISUAL": "code -w"})
    assert (settings.editor, settings.origin("editor")) == ("code -w", "VISUAL")
    user_says(environment, "editor = 'vim'\n")
    assert load_settings(root, environment={**environment, "EDITOR": "nano"}).editor == "vim"


def test_a_named_user_file_must_exist(root: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="no such file"):
        load_settings(root, environment={"WORKBENCH_CONFIG": str(tmp_path / "none.toml")})


def test_a_linked_settings_file_is_refused(root: Path, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text("[core]\ncap = 100\n")
    (root / "workbench.toml").symlink_to(tmp_path / "other.toml")
    with pytest.raises(OutsideWorkspace):
        load_settings(root, environment=environment)


def test_a_settings_file_that_is_a_folder_is_told(root: Path, environment: dict[str, str]) -> None:
    (root / "workbench.toml").mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        load_settings(root, environment=environment)


def test_without_a_workspace_the_user_and_environment_count(environment: dict[str, str]) -> None:
    user_says(environment, "workspace = '~/memory'\n")
    assert load_settings(None, environment=environment).workspace == "~/memory"


def test_every_key_has_its_variable_and_a_fit_default() -> None:
    assert len({environment_name(key) for key in SCHEMA}) == len(SCHEMA)
    for key, spec in SCHEMA.items():
        assert spec.check(default_of(key), confined=True) == value_of(Settings(), key)
        assert spec.about
        assert spec.takes


def spelled(value: Value) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, dict):
        return ",".join(f"{name}={item}" for name, item in value.items())
    return str(value)


@given(st.data())
def test_a_fit_value_spelled_in_the_environment_reads_back(data: st.DataObject) -> None:
    words = st.text("abcxyz", min_size=1)
    values: dict[Kind, st.SearchStrategy[Value]] = {
        Kind.WHOLE: st.integers(0, 100),
        Kind.NUMBER: st.floats(0, 100),
        Kind.SWITCH: st.booleans(),
        Kind.TEXTS: st.lists(words).map(tuple),
        Kind.TABLE: st.dictionaries(words, words),
    }
    kind = data.draw(st.sampled_from(sorted(values)))
    value = data.draw(values[kind])
    assert Spec(kind, "anything", 0, 100).read(spelled(value)) == value


@given(st.text())
def test_no_confined_path_leaves_the_folder(path: str) -> None:
    if not leads_outside(path):
        whole = Path("/base/folder").joinpath(path)
        assert ".." not in whole.parts
        assert whole.is_relative_to("/base/folder")


@given(st.text(max_size=200))
def test_any_text_is_settings_or_a_clear_error(text: str) -> None:
    from workbench.engine.settings.layers import read_toml

    fault: WorkbenchError | None = None
    try:
        values, origins = read_toml(text.encode(errors="surrogatepass"), "workbench.toml", personal=False)
    except WorkbenchError as error:
        fault = error
    else:
        assert values.keys() == origins.keys()
    if fault:
        assert isinstance(fault, InvalidSetting)
        assert fault.where
        assert fault.remedy


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("make", ["mkfifo", "mkdir"])
def test_what_is_no_file_is_refused_and_never_waited_for(
    root: Path, environment: dict[str, str], make: str
) -> None:
    place = root / layout.SETTINGS
    getattr(os, make)(place)
    with pytest.raises(StorageError, match="no file") as refused:
        load_settings(root, environment=environment)
    assert refused.value.where == layout.SETTINGS
    place.rename(root / "openclaw.json")
    (warning,) = load_settings(root, environment=environment).warnings
    assert warning == "openclaw.json was left aside: it cannot be read (not a regular file)."
