"""Compares two records step by step."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Step = dict[str, Any]
_MOST_LINES = 40
# In JSON, what is said to people.
_SAID = frozenset({"message", "remedy"})


@dataclass(frozen=True)
class Difference:
    """What differs in one step.

    Args:
        step: The file of the record and the step in it.
        lines: A diff.
        is_wording: Whether nothing but what people read differs.
    """

    step: str
    lines: tuple[str, ...]
    is_wording: bool


def compare(older: Path, newer: Path) -> Iterator[Difference]:
    """Yield what differs between two records, in their order."""
    names = sorted({file.name for folder in (older, newer) for file in folder.glob("*.json")})
    for name in names:
        before, after = _steps(older / name), _steps(newer / name)
        for step in [*before, *(step for step in after if step not in before)]:
            one, other = before.get(step), after.get(step)
            if one != other or _lines(one) != _lines(other):
                diff = difflib.unified_diff(_lines(one), _lines(other), "before", "after", n=2, lineterm="")
                yield Difference(
                    f"{name}: {step}", tuple(diff), _lines(_unsaid(one)) == _lines(_unsaid(other))
                )


def report(older: Path, newer: Path, *, only_wording: bool) -> int:
    """Print what differs, and return the exit code: 1 where something does.

    Args:
        older: A record.
        newer: Another.
        only_wording: Only list the steps in which nothing but what people read differs, and let them pass.
    """
    failed, notes = 0, []
    for each in compare(older, newer):
        if only_wording and each.is_wording:
            notes.append(each)
            continue
        failed += 1
        print(f"\n=== {each.step}")
        print("\n".join(each.lines[:_MOST_LINES]))
        if len(each.lines) > _MOST_LINES:
            print(f"… {len(each.lines) - _MOST_LINES} more lines")
    if notes:
        print(f"\nOnly the wording differs in {len(notes)} steps:")
        for each in notes:
            print(f"  {each.step}")
            changed = [line for line in each.lines[2:] if line[:1] in "+-"]
            print("\n".join(f"    {line}" for line in changed[:6]))
    print(f"\n{failed} steps differ" + (f", {len(notes)} in their wording alone." if only_wording else "."))
    return 1 if failed else 0


def _steps(file: Path) -> dict[str, Step]:
    if not file.exists():
        return {}
    steps: list[Step] = json.loads(file.read_bytes())
    return {step["step"]: step for step in steps}


def _lines(step: Step | None) -> list[str]:
    return [] if step is None else json.dumps(step, ensure_ascii=False, indent=1).split("\n")


def _unsaid(step: Step | None) -> Step | None:
    """Return a step without what is said to people."""
    if step is None:
        return None
    kept = {key: _without_words(each) for key, each in step.items() if key not in ("stdout", "stderr")}
    return kept if "changed" not in step else {**kept, "changed": step["changed"]}


def _without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: None if key in _SAID else _without_words(each) for key, each in value.items()}
    return [_without_words(each) for each in value] if isinstance(value, list) else value
