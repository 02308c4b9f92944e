"""What a reflection builds on counts as relevant; what it lets go of does not."""

from __future__ import annotations

from dataclasses import replace

from workbench.engine.markdown.review import Evidence
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.review.plan import still_relevant

FIRST = Evidence("episode:2026-01-01:09:00#2", "ninety")
SECOND = Evidence("entity:project--harbor#^f1", "sixty")
LINE = Evidence("file:memory/2026-01-01.md#L3-L3", "sixty")


def test_evidence_counts_once_but_not_the_old_side_nor_what_is_let_go() -> None:
    proposed = (
        forms.supersession("project--harbor", "ninety", "sixty", (FIRST, SECOND), reason="Later."),
        forms.fact("project--harbor", "sixty", (SECOND, LINE), reason="Said."),
        forms.archive(
            "episode:2025-01-01:09:00",
            "A bug",
            (Evidence("episode:2025-01-01:09:00", "A"),),
            reason="",
            score=0,
        ),
    )
    items = tuple(replace(item, id=f"r-001.{number}") for number, item in enumerate(proposed, 1))
    assert still_relevant(items) == {"entity:project--harbor": ("r-001.1", "r-001.2")}
    said = forms.fact("project--harbor", "x", (FIRST,), reason="Said.")
    assert still_relevant((said,)) == {FIRST.id: (said.id,)}
