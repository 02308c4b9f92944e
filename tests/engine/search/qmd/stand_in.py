"""A program that stands in for QMD and does, or fails to do, what a test wants of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

_BEGINNING = """#!{python} -S
import json, os, sys, time
from pathlib import Path
home = Path(os.environ["QMD_CONFIG_DIR"])
with (home / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]) + "\\n")
if sys.argv[1] in ("update", "embed"):
    Path(os.environ["INDEX_PATH"]).touch()
    {updating}
    sys.exit(0)
{searching}
"""


def write_stand_in(place: Path, searching: str, updating: str = "pass") -> Path:
    """Write the program.

    Args:
        place: Where to.
        searching: Python that answers a search.
        updating: Python that runs when the index is brought up to date.
    """
    place.write_text(_BEGINNING.format(python=sys.executable, searching=searching, updating=updating))
    place.chmod(0o755)
    return place


def answering(*results: Mapping[str, object]) -> str:
    """Return Python that answers with these results."""
    return f"sys.stdout.write({json.dumps(list(results))!r})"


def result(address: str, **more: object) -> dict[str, object]:
    """Return one result as QMD 2 gives it."""
    given = {
        "docid": "#30d151",
        "score": 0.56,
        "file": f"qmd://{address}",
        "line": 5,
        "title": "Title",
        "snippet": "@@ -4,3 @@ (3 before, 0 after)\n- The staging host is eu-2\n- Deploys are on Tuesdays\n",
    }
    return given | more


def calls_of(home: Path) -> list[tuple[list[str], dict[str, str], str]]:
    """Return arguments, environment and folder of each run of the program so far."""
    place = home / "calls.jsonl"
    return [tuple(json.loads(line)) for line in place.read_text().splitlines()] if place.exists() else []
