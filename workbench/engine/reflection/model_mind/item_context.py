"""What an item of an answer is read against, and how its words are made fit to be kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.catalog.records import FactRecord
from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import clean_line, clip, one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.model_mind.dropping import Unusable
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.markdown.review import ReviewItem
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


_LONGEST_QUOTE: Final = 200
_MOST: Final = 6
# Models write these as the other, one character for one.
_ALIKE: Final = str.maketrans("’‘“”–—\u00a0", "''\"\"-- ")
_AROUND: Final = " \"'“”‘’….,;"


def read_evidence(cited: Sequence[dict[str, Any]], shown: Shown, *, least: int = 1) -> tuple[Evidence, ...]:
    """Return what an item cites.

    Args:
        cited: Handles and quotes, as the schema of evidence has them.
        shown: What the model was shown.
        least: Different memories that have to be cited.

    Raises:
        Unusable: A handle was not shown, a quote is not in its memory, or there are too few.
    """
    found: dict[tuple[str, str], Evidence] = {}
    for each in cited[:_MOST]:
        source = shown.find(each["ref"])
        if source is None:
            raise Unusable(f"{each['ref'][:20]!r} was not shown")
        text = shown.text_of(source.id)
        quote = verbatim(each["quote"], source.text if text is None else text)
        if not quote:
            raise Unusable(f"{each['ref']} does not say “{one_line(each['quote'])[:60]}”")
        found.setdefault((source.id, quote), Evidence(source.id, quote))
    if len({evidence.id for evidence in found.values()}) < least:
        raise Unusable("it cites nothing" if least == 1 else "it does not cite both sides")
    return tuple(found.values())


def verbatim(quote: str, text: str) -> str:
    """Return a quote as the text has it, where only case, quotation marks, dashes or white space differ.

    Returns:
        Words of the text, at most 200 characters of them, on one line; empty where it does not say them.
    """
    whole = one_line(text)
    for wanted in (one_line(quote), one_line(quote).strip(_AROUND)):
        if not wanted:
            continue
        for fold in (str, _alike):
            at = fold(whole).find(fold(wanted))
            if at >= 0:
                return _shortened(whole[at : at + len(wanted)])
    return ""


def _alike(text: str) -> str:
    lowered = text.lower()
    # Some letters have a small form of two characters, and places would no longer match.
    return (lowered if len(lowered) == len(text) else text).translate(_ALIKE)


def _shortened(quote: str) -> str:
    if len(quote) <= _LONGEST_QUOTE:
        return quote.strip()
    cut = quote.rfind(" ", 0, _LONGEST_QUOTE + 1)
    return quote[: cut if cut > 0 else _LONGEST_QUOTE].strip()
