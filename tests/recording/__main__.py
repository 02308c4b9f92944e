"""Records what the program does, so that two states of it can be compared.

python -m tests.recording record DIR
python -m tests.recording compare DIR_A DIR_B [--only-wording]
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from tests.recording.comparing import report
from tests.recording.folders import FOLDERS
from tests.recording.recorder import Recorder, check_coverage, scratch_folder, unused_options
from tests.recording.stage import Stage


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.recording", description=(__doc__ or "").split("\n")[0]
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    record = verbs.add_parser("record", help="write a record into a new or empty folder")
    record.add_argument("folder", type=Path)
    record.add_argument(
        "--part", action="append", choices=("methods", "tools", "commands", "processes"), default=[]
    )
    record.add_argument("--only", action="append", choices=[each.name for each in FOLDERS], default=[])
    compare = verbs.add_parser("compare", help="say what differs between two records")
    compare.add_argument("older", type=Path)
    compare.add_argument("newer", type=Path)
    compare.add_argument("--only-wording", action="store_true", help="let what people read differ")
    verbs.add_parser("coverage", help="say what is recorded, and which options are not")
    given = parser.parse_args()
    if given.verb == "compare":
        for folder in (given.older, given.newer):
            if not any(folder.glob("*.json")):
                parser.error(f"{folder} holds no record")
        return report(given.older, given.newer, only_wording=given.only_wording)
    if given.verb == "coverage":
        print(check_coverage())
        print("Options that no line gives:", ", ".join(unused_options()) or "none")
        return 0
    return _record(given.folder.resolve(), frozenset(given.part), frozenset(given.only))


def _record(folder: Path, parts: frozenset[str], only: frozenset[str]) -> int:
    if "PYTHONHASHSEED" not in os.environ:
        # What `--explain` tells of memories that rank alike comes in the order of a set.
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "PYTHONHASHSEED": "0"})
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        print(f"{folder} is not empty.", file=sys.stderr)
        return 2
    with scratch_folder() as scratch:
        try:
            recorder = Recorder(Stage(scratch), folder, parts, only)
            recorder.record()
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"{sum(recorder.counts.values())} steps: {recorder.counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
