"""What an item of an answer is read against, and how its words are made fit to be kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.catalog.records import FactRecord
from workbench.engine.memory.wording import clean_line, clip, one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.model_mind.dropping import Unusable
from workbench.engine.reflection.model_mind.evidence import read_evidence
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.model_mind.showing import Shown, Source, What
    from workbench.engine.reflection.model_mind.targets import Targets

Said = dict[str, Any]
Reader = Callable[["ItemContext", Said], "ReviewItem"]
"""Makes an item of what keeps the schema of its kind; raises `Unusable` or `InvalidInput` where it does not hold."""

_LONGEST: Final = 500
_LONGEST_REASON: Final = 240
_DAY: Final = lazy_pattern(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class ItemContext:
    """Where an answer's items come from.

    Args:
        snapshot: What the reflection looks at.
        shown: What the model was shown.
        targets: Finds entities; learns those that are proposed.
    """

    snapshot: Snapshot
    shown: Shown
    targets: Targets

    def evidence(self, said: Said, least: int = 1) -> tuple[Evidence, ...]:
        """Return what an item cites, of so many different memories at least."""
        return read_evidence(said["evidence"], self.shown, least=least)

    def cited(self, said: Said) -> list[Source]:
        """Return the memories that an item cites, in its order."""
        return [source for each in said["evidence"] if (source := self.shown.find(each["ref"])) is not None]

    def source(self, ref: str, *whats: What) -> Source:
        """Return what a handle stands for.

        Raises:
            Unusable: It was not shown, or stands for something else than is wanted.
        """
        source = self.shown.find(ref)
        if source is None or source.what not in whats:
            raise Unusable(f"{ref[:20]!r} is nothing that this can be done to")
        return source

    def title(self, source: Source) -> str:
        """Return a line that names a memory."""
        return one_line(self.snapshot.titles(source.id)) or one_line(source.text)[:80]


def line(text: str) -> str:
    """Return a statement as one line without what must not be kept.

    Raises:
        InvalidInput: It is empty or too long.
    """
    return clean_line(text, what="What it says", limit=_LONGEST).text


def reason(said: Said) -> str:
    """Return an item's reason as one line, cut where it is long.

    Raises:
        InvalidInput: It is empty.
    """
    return clip(clean_line(said["reason"], what="Its reason").text, _LONGEST_REASON)


def same(one: str, other: str) -> bool:
    """Return whether two statements differ in no more than case, blanks and a final stop."""
    return one_line(one).casefold().rstrip(" .。") == one_line(other).casefold().rstrip(" .。")


def day(text: str) -> str | None:
    """Return an ISO date; None for what is none."""
    if _DAY.fullmatch(text.strip()) is None:
        return None
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        return None


def day_of(source: Source) -> str | None:
    """Return the ISO date since which a memory says what it says; None where nothing tells."""
    record = source.record
    if isinstance(record, FactRecord):
        return record.since
    return getattr(record, "day", None) or None
