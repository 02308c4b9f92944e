"""PDF: text page by page, and clear words where there is none to be had."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from tests.engine.transfer.reading_all import notes, read_all, skipped


def document(*pages: str) -> bytes:
    """Write a PDF by hand."""
    parts = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for page in pages:
        stream = f"BT /F1 12 Tf 72 720 Td ({page}) Tj ET"
        parts.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        kids.append(f"{len(parts) + 1} 0 R")
        parts.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(parts)} 0 R"
            " /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
    parts[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    content, offsets = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        offsets.append(len(content))
        content += f"{number} 0 obj\n{part}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer\n<< /Size {len(parts) + 1} /Root 1 0 R >>\nstartxref\n{len(content)}\n%%EOF\n"
    return content + end.encode()


def test_pages_stand_below_headings(tmp_path: Path) -> None:
    place = tmp_path / "Garden book.pdf"
    place.write_bytes(document("Sow beans in May.", "", "Harvest in August."))
    (note,) = notes(read_all(place))
    assert note.path == "Garden book.md"
    assert note.text == "## Page 1\n\nSow beans in May.\n\n## Page 3\n\nHarvest in August.\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (document(""), "no text in it"),
        (document("x")[:200], "damaged"),
        (b"", "damaged"),
        (b"%PDF-1.4 nothing else", "damaged"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, content: bytes, told: str) -> None:
    place = tmp_path / "book.pdf"
    place.write_bytes(content)
    assert told in skipped(read_all(place))["book.pdf"]


def test_without_the_library_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "book.pdf"
    place.write_bytes(document("x"))
    usual = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("pypdf"):
            raise ImportError(name)
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install 'memory-workbench[pdf]'" in skipped(read_all(place))["book.pdf"]
