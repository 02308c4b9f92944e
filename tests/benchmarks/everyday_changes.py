"""How many changes told in everyday words reflection raises: `python -m tests.benchmarks.everyday_changes`.

Each pair is said on two days. All were written after the rules, which were not changed for those they miss.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.engine.reflection.snapshots import chat, snapshot
from workbench.engine.reflection.claims.finder import find_conflicts
from workbench.engine.reflection.model import Work

CHANGED = (
    ("I'm on the night shift.", "I'm no longer on the night shift."),
    ("I'm a member at Boulder Barn.", "I resigned from Boulder Barn today."),
    ("I smoke a pack a week.", "I gave up smoking cigarettes."),
    ("The bakery is on Elm Street.", "The bakery moved to Quay Lane."),
    ("The choir conductor is Ulla.", "Pia takes over the choir as conductor."),
    ("The invoice for the roof is 8,400 euros.", "Correction: the invoice is 9,100 euros."),
    ("The release is due on May 6.", "The release slipped to May 20."),
    ("I work at Nordwind.", "I quit my job at Nordwind."),
    ("i'm scared of heights", "i'm not scared of heights anymore"),
    ("My favorite podcast is Orbit.", "My current favorite podcast is Signal."),
    ("李雷负责测试。", "测试现在由韩梅梅负责。"),
    ("月租是3500元。", "月租改为4200元。"),
    ("Sam is our goalkeeper.", "Jo took over as goalkeeper."),
    ("I play tennis on Sundays.", "I stopped playing tennis."),
    ("My sister Ana lives in Graz.", "Ana moved to Linz."),
    ("The meeting point is Cafe Lumen.", "We meet at Cafe Prisma now."),
    ("The grant is 12,000 euros.", "Update: the grant is 15,000 euros."),
)
NOT_CHANGED = (
    ("My brother lives in Graz.", "I live in Linz."),
    ("Ben lives in Graz.", "Anna lives in Linz."),
    ("I'm hungry.", "Correction: dinner is at 7."),
    ("The roof costs 8,400 euros.", "Update: the kitchen costs 9,100 euros."),
    ("She works at Nordwind.", "I work at Südwind."),
    ("I quit smoking in 2019.", "I work at Smokehouse."),
    ("Ana is allergic to nuts.", "I'm not allergic to cats."),
    ("李雷负责测试。", "韩梅梅负责设计。"),
)


def is_raised(said: tuple[str, str]) -> bool:
    """Return whether the second of two statements is raised as a change of the first."""
    days = (chat(f"2026-01-{day:02}", ("user", text)) for day, text in enumerate(said, 1))
    with tempfile.TemporaryDirectory() as folder:
        return bool(find_conflicts(snapshot(Path(folder), [each for day in days for each in day]), Work()))


def main() -> None:
    """Print how many are raised, and which are missed or wrong."""
    missed = [said for said in CHANGED if not is_raised(said)]
    wrong = [said for said in NOT_CHANGED if is_raised(said)]
    print(
        f"{len(CHANGED) - len(missed)} of {len(CHANGED)} changes raised, {len(wrong)} of {len(NOT_CHANGED)} others"
    )
    for word, pairs in (("missed", missed), ("wrong", wrong)):
        for before, after in pairs:
            print(f"  {word}: {before} / {after}")


if __name__ == "__main__":
    main()
