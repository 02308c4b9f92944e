"""Deciding on a conflict between devices: this, that or both, in every kind of file."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workbench.engine.errors import InvalidInput, Stale
from workbench.engine.sync.conflicts import Decision
from workbench.engine.sync.deciding import decided_content, stands_there
from workbench.engine.sync.joining import Moments, Side, join

NOW = datetime(2026, 11, 24, tzinfo=UTC)
AT = Moments(Side("desk", "a" * 40, NOW), Side("lap", "b" * 40, NOW))
CASES = {
    "MEMORY.md": (
        b"# Core\n\n- A: 1\n- B\n",
        b"# Core\n\n- A: 2\n- B\n",
        b"# Core\n\n- A: 3\n- B\n",
        b"- A: 2\n- A: 3\n",
    ),
    "memory/graph/entities/person--a.md": (
        b"# A\n\n## Facts\n- One ^f1\n",
        b"# A\n\n## Facts\n- Two ^f1\n",
        b"# A\n\n## Facts\n- Three ^f1\n",
        b"- Two ^f1\n- Three ^f",
    ),
    "memory/vault/crlf.md": (
        b"# T\r\n\r\nOne\r\n\r\nEnd\r\n",
        b"# T\r\n\r\nOne two\r\n\r\nEnd\r\n",
        b"# T\r\n\r\nOne too\r\n\r\nEnd\r\n",
        b"One two\r\n\r\nOne too\r\n",
    ),
    "workbench.toml": (b'a = "1"\n', b'a = "2"\n', b'a = "3"\n', b""),
    "openclaw.json": (b'{"a": {"b": 1}}\n', b'{"a": {"b": 2}}\n', b'{"a": {"b": 3}}\n', b""),
    "memory/vault/gone.md": (b"One\n", b"Two\n", None, b""),
}


@pytest.mark.parametrize("path", CASES)
def test_this_leaves_the_file_that_puts_in_what_waits_and_both_keeps_both(path: str) -> None:
    base, desk, lap, both = CASES[path]
    told = join({path: base}, {path: desk}, {} if lap is None else {path: lap}, at=AT)
    (record,) = told.conflicts
    content = told.files.get(path, desk)
    assert stands_there(record, content)
    assert decided_content(record, Decision.THIS, content) == content
    assert decided_content(record, Decision.THAT, content) == lap
    if both:
        kept = decided_content(record, Decision.BOTH, content)
        assert kept is not None
        assert both in kept
    else:
        with pytest.raises(InvalidInput, match="beside each other"):
            decided_content(record, Decision.BOTH, content)


def test_a_file_that_was_changed_again_is_not_overwritten() -> None:
    base, desk, lap, _ = CASES["MEMORY.md"]
    assert lap is not None
    (record,) = join({"MEMORY.md": base}, {"MEMORY.md": desk}, {"MEMORY.md": lap}, at=AT).conflicts
    with pytest.raises(Stale, match="changed again"):
        decided_content(record, Decision.THAT, b"# Core\n\n- A: 9\n- B\n")
