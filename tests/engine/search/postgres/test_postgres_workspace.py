"""A workspace whose index is in PostgreSQL: chosen by its user alone, and answered from this machine without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.search.postgres.shelf import Database
from workbench.engine.clock import FixedClock
from workbench.engine.errors import InvalidSetting, StorageError
from workbench.engine.workspace import Workspace

_NOBODY = "postgresql://nobody:hushhush@127.0.0.1:1/none"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "memory-of-somebody"
    episodes = root / "memory" / "episodes"
    episodes.mkdir(parents=True)
    (episodes / "2026-02-01.md").write_text(
        "# 2026-02-01 — Episode Log\n\n## 09:00 | decision | confidence:high\n\nThe boat is painted green.\n\n"
        "## 10:00 | event | confidence:high\n\nThe key is ghp_x7Kq2mZp9LwRt4VbN8sYc3JdF6hG1aQ5eU0o.\n",
        encoding="utf-8",
    )
    return root


def ask(root: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> tuple[Workspace, list[str]]:
    monkeypatch.setenv("WORKBENCH_SEARCH_BACKEND", "postgres")
    monkeypatch.setenv("WORKBENCH_HUB_URL", url)
    workspace = Workspace.open(root, role="reader", clock=FixedClock())
    # A question waits for the index for a moment only, and making the tables may take longer.
    workspace.index()
    return workspace, [hit.id for hit in workspace.search("What colour is the boat?").results]


def test_the_database_answers_and_holds_no_secret(
    root: Path, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    workspace, found = ask(root, monkeypatch, database.url)
    with workspace:
        assert found[0] == "episode:2026-02-01:09:00"
        status = workspace.index_status()
        assert (status.backend, status.fallback, status.dirty) == ("postgres", None, False)
        assert workspace.search("What colour is the boat?").fallback is None
        check = {check.name: check for check in workspace.doctor().checks}["search"]
        assert check.state == "ok"
        assert f"2 chunks in PostgreSQL at {status.place}, vectors by builtin" in check.detail
    every = b"".join(bytes(text) for (text,) in database.rows("SELECT text FROM chunks"))
    assert b"painted green" in every
    assert b"ghp_" not in every
    assert database.rows("SELECT count(*) FROM postings WHERE position('x7kq2mzp9' in term) > 0") == [(0,)]


def test_without_the_server_the_index_here_answers_and_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, found = ask(root, monkeypatch, _NOBODY)
    with workspace:
        assert found[0] == "episode:2026-02-01:09:00"
        told = workspace.search("What colour is the boat?").fallback or ""
        status = workspace.index()
        doctor = {check.name: check for check in workspace.doctor().checks}
    assert "127.0.0.1:1/none cannot be used" in told
    assert "index on this machine answers instead" in told
    assert "hushhush" not in told
    assert (status.backend, status.chunks) == ("builtin", 2)
    assert status.fallback == told
    assert doctor["search"].state == "degraded"


def test_a_purge_waits_for_the_server_and_then_reaches_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, database: Database
) -> None:
    held = "SELECT count(*) FROM chunks WHERE position('Jansdotter'::bytea in text) > 0"
    monkeypatch.setenv("WORKBENCH_SEARCH_BACKEND", "postgres")
    monkeypatch.setenv("WORKBENCH_HUB_URL", database.url)
    with Workspace.open(root, role="person", clock=FixedClock()) as workspace:
        purged = workspace.remember("The keeper is Tove Jansdotter.", store="episodic").id
        workspace.search("keeper")
    assert database.rows(held) == [(1,)]
    monkeypatch.setenv("WORKBENCH_HUB_URL", _NOBODY)
    with Workspace.open(root, role="person", clock=FixedClock()) as workspace:
        for act in (
            lambda: workspace.forget(ids=[purged], apply=True, hard=True, purge_history=True),
            lambda: workspace.remember("Written meanwhile.", store="episodic"),
        ):
            with pytest.raises(StorageError, match="until it is, nothing can be written"):
                act()
    monkeypatch.setenv("WORKBENCH_HUB_URL", database.url)
    with Workspace.open(root, role="person", clock=FixedClock()) as workspace:
        workspace.search("keeper")
        assert workspace.audit_verify().ok
    assert database.rows(held) == [(0,)]
    assert not [path for path in root.rglob("*.*") if path.is_file() and b"Jansdotter" in path.read_bytes()]


def test_a_folder_cannot_send_its_memory_to_a_server(root: Path) -> None:
    for line in ('[search]\nbackend = "postgres"\n', f'[hub]\nurl = "{_NOBODY}"\n'):
        (root / "workbench.toml").write_text(line, encoding="utf-8")
        with pytest.raises(InvalidSetting, match="opening somebody’s folder must not") as refused:
            Workspace.open(root, role="reader")
        assert "hushhush" not in str(refused.value)


def test_without_an_address_the_setting_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_SEARCH_BACKEND", "postgres")
    with Workspace.open(root, role="reader") as workspace, pytest.raises(InvalidSetting) as refused:
        workspace.search("boat")
    assert refused.value.where == "hub.url"
