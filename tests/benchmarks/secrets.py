"""How many secrets are recognised, and how many look-alikes taken for one: `python -m tests.benchmarks.secrets`.

Rules were written looking at the half `open` alone; `held_out` is the half to judge by. With `--speed FOLDER` it also
says how fast the files of a folder are looked through, and what is found in them.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from tests.engine.secrets.labelled_set import Labelled, read
from workbench.engine.secrets.detection import Secret, find_secrets

Half = Literal["open", "held_out"]
HALVES: Final[tuple[Half, ...]] = ("open", "held_out")
_RUNS: Final = 3


@dataclass(frozen=True)
class Score:
    """What was found in one half of the set.

    Args:
        half: Which.
        secrets: How many are labelled.
        missed: Texts with one that is not wholly covered by what was found.
        look_alikes: How many are labelled.
        false_alarms: Texts in which something else was found than what is labelled.
    """

    half: Half
    secrets: int
    missed: tuple[Labelled, ...]
    look_alikes: int
    false_alarms: tuple[Labelled, ...]

    @property
    def recall(self) -> float:
        """Return the share of secrets that were found."""
        return 1 - len(self.missed) / self.secrets

    @property
    def precision(self) -> float:
        """Return the share of alarms that were right."""
        right = self.secrets - len(self.missed)
        return right / (right + len(self.false_alarms))


def score(half: Half) -> Score:
    """Return what is found in one half of the labelled set."""
    secrets, look_alikes = read(half, "secrets"), read(half, "look_alikes")
    missed = [
        each for each in secrets for span in each.secrets if not _is_covered(span, find_secrets(each.text))
    ]
    false = [
        each for each in secrets if any(not _is_labelled(found, each) for found in find_secrets(each.text))
    ]
    false += [each for each in look_alikes if find_secrets(each.text)]
    labelled = sum(len(each.secrets) for each in secrets)
    return Score(half, labelled, tuple(missed), len(look_alikes), tuple(false))


def _is_covered(span: tuple[int, int], found: tuple[Secret, ...]) -> bool:
    covered = {at for each in found for at in range(each.start, each.start + len(each.text))}
    return covered.issuperset(range(*span))


def _is_labelled(found: Secret, text: Labelled) -> bool:
    return any(found.start < end and start < found.start + len(found.text) for start, end in text.secrets)


def print_speed(folder: Path) -> None:
    """Print how fast the files of a folder are looked through, and what is found in them by kind."""
    texts = [path.read_text("utf-8", "replace") for path in sorted(folder.rglob("*")) if path.is_file()]
    size = sum(len(text.encode()) for text in texts) / 1e6
    best, alarms = float("inf"), Counter[str]()
    for _ in range(_RUNS):
        begun = time.process_time()
        alarms = Counter(found.kind for text in texts for found in find_secrets(text))
        best = min(best, time.process_time() - begun)
    print(f"{len(texts)} files, {size:.1f} MB: {best:.2f} s, {size / best:.1f} MB/s")
    for kind, number in alarms.most_common():
        print(f"  {number:5} {kind}")


def main() -> None:
    """Print recall and precision, and speed where a folder is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--speed", type=Path, metavar="FOLDER", help="a folder of files to look through")
    parser.add_argument("--missed", action="store_true", help="show what was missed in the open half")
    asked = parser.parse_args()
    for half in HALVES:
        found = score(half)
        print(
            f"{half:9} recall {found.recall:.1%} ({found.secrets - len(found.missed)} of {found.secrets}), "
            f"precision {found.precision:.1%}, {len(found.false_alarms)} false alarms among "
            f"{found.look_alikes} look-alikes"
        )
        if asked.missed and half == "open":
            for each in (*found.missed, *found.false_alarms):
                print(f"  {each.group}: {each.text!r}")
    if asked.speed:
        print_speed(asked.speed)


if __name__ == "__main__":
    main()
