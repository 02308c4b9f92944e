"""The text of PDF files, page by page; needs the extra `memory-workbench[pdf]`."""

from __future__ import annotations

import logging
from typing import BinaryIO

from workbench.engine.errors import DocumentError
from workbench.engine.importing.opening import FoundFile, open_file, shown

SUFFIX = ".pdf"
MOST_BYTES = 200 << 20
MOST_PAGES = 3_000
MOST_CHARACTERS = 8 << 20


def read_pdf(found: FoundFile) -> str:
    """Return the text of a PDF as Markdown, each page below a heading of its own.

    Raises:
        DocumentError: pypdf is not installed, the file is damaged, locked or too long, or there is no text in it.
    """
    where = shown(found.relative)
    if found.size > MOST_BYTES:
        raise DocumentError(
            f"It is longer than {MOST_BYTES >> 20} MB.", where=where, remedy="Part it into several documents."
        )
    with open_file(found.place) as opened:
        pages = _pages(opened, where)
    if not any(page.strip() for page in pages):
        raise DocumentError(
            "There is no text in it, only pictures.",
            where=where,
            remedy="Let a program recognise its text first.",
        )
    parts = [f"## Page {number}\n\n{page.strip()}" for number, page in enumerate(pages, 1) if page.strip()]
    return "\n\n".join(parts) + "\n"


def _pages(opened: BinaryIO, where: str) -> list[str]:
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise DocumentError(
            "Reading PDF needs a library that is not installed.",
            where=where,
            remedy="Install it with: pip install 'memory-workbench[pdf]'",
        ) from error
    # It tells of every oddity of every file; what matters is what comes of it.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    size = 0
    try:
        reader = pypdf.PdfReader(opened)
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError("It is locked with a password.", where=where, remedy="Unlock it first.")
        if len(reader.pages) > MOST_PAGES:
            raise DocumentError(
                f"It has more than {MOST_PAGES:,} pages.",
                where=where,
                remedy="Part it into several documents.",
            )
        for page in reader.pages:
            text = page.extract_text().encode("utf-8", "replace").decode().replace("\0", "")
            size += len(text)
            if size > MOST_CHARACTERS:
                raise DocumentError(
                    f"It holds more than {MOST_CHARACTERS >> 20} million characters.",
                    where=where,
                    remedy="Part it into several documents.",
                )
            pages.append(text)
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        OSError,
    ) as error:
        raise DocumentError(
            f"It is damaged: {str(error)[:120] or type(error).__name__}.",
            where=where,
            remedy="Export it again.",
        ) from error
    return pages
