"""A small workspace of another program, to be imported."""

from __future__ import annotations

from pathlib import Path

from tests.engine.transfer.reading_all import write

LOG = "# 2026-05-12\n\n- Took the tram\n\n## 14:20 Deploy\nDeployed to eu-2.\n"

MEMORY = "# Memory\n\n## Facts\n- Deploys happen on Tuesdays\n- The cat is called Miso\n"


def write_claw(folder: Path) -> Path:
    """Write it below a folder, and return where it is."""
    return write(
        folder / "claw",
        {"MEMORY.md": MEMORY, "memory/2026-05-12.md": LOG, "memory/recipes.md": "# Recipes\n\nBoil water.\n"},
    )
