"""Maps what a model cites back to memories, and makes sure that they say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import one_line
from workbench.engine.reflection.model_mind.dropping import Unusable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.reflection.model_mind.showing import Shown

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
