"""How much of what reflection by rules learns from an agent's own log rests on lines that a reader found worth keeping.

    python -m tests.benchmarks.agent_log [--show]

The log beside this program, three weeks in English and Chinese, was written before its author had looked at the rules.
`labels.json` names the lines worth keeping, and both lines of each change of fact. An item counts as founded when a
line that it cites is worth keeping. That is more than the share of items worth a person's time: a founded item may
still be about the wrong subject or read badly, which only a reader sees.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.benchmarks.reflection import read_passages
from tests.engine.reflection.snapshots import check_quotes, snapshot
from workbench.engine.identifiers import FILE_ID
from workbench.engine.reflection.claims import find_conflicts
from workbench.engine.reflection.extraction import extract_knowledge
from workbench.engine.reflection.model import Agenda, Work

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.markdown.review import ReviewItem

LOG: Final = Path(__file__).with_name("agent_log")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print what it finds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--show", action="store_true", help="print the items, those that are not founded marked"
    )
    options = parser.parse_args(arguments)
    labels = json.loads((LOG / "labels.json").read_text(encoding="utf-8"))
    worth = {(path, line) for path, line in labels["worth"]}
    with tempfile.TemporaryDirectory() as empty:
        made = snapshot(Path(empty), list(read_passages(LOG)))
        learned = [item for item in extract_knowledge(made, Agenda(()), Work()) if item.kind == "fact"]
        raised = find_conflicts(made, Work())
        check_quotes(made, [*learned, *raised])
    founded = [bool(cited(item) & worth) for item in learned]
    if options.show:
        for item, good in zip(learned, founded, strict=True):
            print(f"{' ' if good else '-'} {item.target}: {item.text}")
    reached = set().union(*map(cited, [*learned, *raised])) & worth
    changes = [tuple((path, line) for path, line in change) for change in labels["changes"]]
    hits = sum(any(set(change) <= cited(item) for item in raised) for change in changes)
    print(
        f"facts {len(learned)}, founded {sum(founded)}; lines worth keeping reached {len(reached)} of {len(worth)}"
    )
    print(f"changes raised {hits} of {len(changes)}")
    return 0


def cited(item: ReviewItem) -> set[tuple[str, int]]:
    """Return the lines that an item cites, as path and number."""
    found: set[tuple[str, int]] = set()
    for proof in item.evidence:
        lines = FILE_ID.match(proof.id)
        if lines and lines["start"]:
            last = int(lines["end"] or lines["start"])
            found.update((lines["path"], line) for line in range(int(lines["start"]), last + 1))
    return found


if __name__ == "__main__":
    sys.exit(main())
