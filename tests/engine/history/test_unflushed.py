"""Files that can be made anew are replaced whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine.history.state_files import replace_unflushed


@pytest.mark.parametrize("content", [b"", b"shorter", b"x" * 100_000])
def test_the_new_content_takes_the_place_of_the_old(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "derived"
    place.write_bytes(b"what stood there before")
    replace_unflushed(place, content, tmp_path / "derived.tmp")
    assert place.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["derived"]


def test_what_cannot_be_replaced_stays_and_nothing_lies_about(tmp_path: Path) -> None:
    place = tmp_path / "derived"
    (place / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match="derived"):
        replace_unflushed(place, b"new", tmp_path / "derived.tmp")
    assert [entry.name for entry in tmp_path.iterdir()] == ["derived"]
