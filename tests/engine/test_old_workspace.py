"""A workspace and its state as an earlier version left them open unchanged.

`old_workspace/made.sh` says how they were made. Its state and cache were those of a folder elsewhere; here they are put
where that version would have kept them for the folder at hand.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.engine.clock import FixedClock
from workbench.engine.history.journal import JOURNAL_FILE, boot_id
from workbench.engine.workspace import Workspace

PACKED = Path(__file__).parent / "old_workspace" / "workspace.tar.xz"
MADE_IN, CLOCK = "/tmp/oldhome2/memory", FixedClock(datetime(2026, 3, 3, 9, tzinfo=UTC))


def key(root: str) -> str:
    return f"memory-{hashlib.sha256(root.encode()).hexdigest()[:16]}"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = Path(os.path.realpath(tmp_path))
    with tarfile.open(PACKED) as packed:
        # Python before 3.11.4 knows no filters; the archive is ours.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(home)
    place = home / "memory"
    for purpose, folder in (("STATE", ".local/state/workbench"), ("CACHE", ".cache/workbench")):
        monkeypatch.setenv(f"WORKBENCH_PATHS_{purpose}", str(home / folder))
        (home / folder / key(MADE_IN)).rename(home / folder / key(str(place)))
    owner = home / ".local/state/workbench" / key(str(place)) / "workspace.json"
    owner.write_text(owner.read_text().replace(MADE_IN, str(place)))
    # As though the machine had not been started again since: else the journal is looked through once.
    journal = place / ".audit" / JOURNAL_FILE
    first, _, rest = journal.read_bytes().partition(b"\n")
    journal.write_bytes(b" ".join((*first.split()[:2], (boot_id() or "-").encode())) + b"\n" + rest)
    return place


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def memory(root: Path) -> Iterator[Workspace]:
    with Workspace.open(root, role="person", clock=CLOCK) as memory:
        yield memory


def test_reading_changes_no_byte_and_finds_everything(root: Path) -> None:
    before = files(root)
    with Workspace.open(root, role="person", clock=CLOCK) as memory:
        found = memory.search("When does Mira pay?").results
        assert "Mira pays within 30 days" in found[0].snippet
        assert memory.show("episode:2026-03-02:09:20").text == "we decided to move the berth to number seven"
        assert [item.id for item in memory.review().items] == ["r-001.1", "r-001.2", "r-001.4"]
        assert [each.content for each in memory.proposals().proposals] == ["Mira prefers letters to calls"]
        assert memory.audit_verify(deep=True).ok
        assert [alert.file for alert in memory.brief().alerts] == ["SOUL.md"]
        assert "The harbour closes in January" in memory.brief().core
    assert files(root) == before


def test_its_state_is_taken_over(root: Path, memory: Workspace) -> None:
    assert memory.state == root.parent / ".local/state/workbench" / key(str(root))
    assert (memory.state / "accesses.jsonl").exists()
    entries = {one.id: one for one in memory.decay().entries}
    assert {name for name, one in entries.items() if one.status == "pinned"} == {"episode:2026-03-02:09:20"}
    # Its score counts an access that is noted in the state alone.
    assert entries["episode:2026-03-02:09:10"].access_count == 2


def test_what_was_done_then_is_taken_back_now(memory: Workspace) -> None:
    memory.restore("episode:2026-03-02:10:00")
    assert any("crane" in hit.snippet for hit in memory.search("crane").results)
    memory.rollback(reflection="r-001")
    assert "Mira pays" not in memory.show("entity:person--mira").text
    assert memory.audit_verify().ok
