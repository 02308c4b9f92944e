"""Small files of derived state outside the workspace; losing one, or failing to keep it, costs time only."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from workbench.engine.history.unflushed import replace_unflushed


def read_state(file: Path) -> Any:
    """Return what a JSON file of state holds, or None where it is missing or unreadable."""
    try:
        return json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None


def write_state(file: Path, content: bytes) -> bool:
    """Replace a file of state as a whole; return whether that was possible."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_unflushed(file, content, temporary)
    except OSError:
        return False
    return True
