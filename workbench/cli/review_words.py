"""Which items of a proposal a person means: an id, its last number, a range, a section, or all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.cli.printing import safe_line
from workbench.engine.errors import Ambiguous, NotFound
from workbench.engine.results.reflection import Review, ReviewItem

ALL = "all"
_NUMBER = re.compile(r"\d{1,6}")
_RANGE = re.compile(r"(\d{1,6})-(\d{1,6})")
_WORD = re.compile(r"\w+")


def chosen_items(
    review: Review, words: Sequence[str], sections: Sequence[str] = (), *, undecided: bool = True
) -> tuple[str, ...]:
    """Return the ids that words mean, each once, in the order they were said.

    What is named by number or id is meant in any case; a section or `all` means what nobody has decided yet, so
    that a decision made before stands.

    Args:
        review: The proposal.
        words: `all`, `r-012.3`, `3`, `1-4`, or a word of a section or kind, such as `archival`.
        sections: Words of sections alone.
        undecided: Whether a section or `all` means what is undecided; else what is decided.

    Raises:
        NotFound: A word means no item.
        Ambiguous: A number is that of several items.
    """
    found: dict[str, None] = {}
    for word in words:
        found.update(dict.fromkeys(_meant(review, word, undecided=undecided)))
    for section in sections:
        found.update(dict.fromkeys(_open(_of_section(review, section), undecided=undecided)))
    return tuple(found)


def one_item(review: Review, word: str) -> str:
    """Return the id that a word means; an id that is none of the proposal's comes back as it is."""
    number = _NUMBER.fullmatch(word)
    return _numbered(review, int(word)).id if number else word


def item_named(review: Review, word: str) -> ReviewItem:
    """Return the item that a word means.

    Raises:
        NotFound: There is none, or nothing waits.
        Ambiguous: A number is that of several items.
    """
    require_items(review)
    wanted = one_item(review, word)
    item = next((each for each in review.items if each.id == wanted), None)
    if item is None:
        raise NotFound(
            f"There is no item {safe_line(wanted)[:40]}.",
            where=review.path,
            remedy="See `workbench review` for the list.",
        )
    return item


def require_items(review: Review) -> None:
    """Let pass a proposal that has items.

    Raises:
        NotFound: Nothing waits for decisions.
    """
    if not review.items:
        raise NotFound(
            "No reflection waits for decisions.",
            where=review.path,
            remedy="Let one propose something with: workbench reflect",
        )


def _meant(review: Review, word: str, *, undecided: bool) -> list[str]:
    if word.casefold() == ALL:
        return _open(review.items, undecided=undecided)
    if any(item.id == word for item in review.items):
        return [word]
    if _NUMBER.fullmatch(word):
        return [_numbered(review, int(word)).id]
    span = _RANGE.fullmatch(word)
    if span:
        first, last = sorted((int(span[1]), int(span[2])))
        inside = [item for item in review.items if first <= _number(item) <= last]
        if not inside:
            raise _nothing(word)
        return [item.id for item in _own(review, inside) or inside]
    if word.startswith("r-"):
        # The door knows which ids are near.
        return [word]
    return _open(_of_section(review, word), undecided=undecided)


def _of_section(review: Review, word: str) -> list[ReviewItem]:
    """Return the items whose section or kind has a word that begins with this one."""
    wanted = word.casefold().split()
    found = [
        item
        for item in review.items
        if all(
            any(each.startswith(part) for each in _WORD.findall(f"{item.section} {item.kind}".casefold()))
            for part in wanted
        )
    ]
    if not found:
        sections = dict.fromkeys(" ".join(_WORD.findall(item.section)) for item in review.items)
        raise NotFound(
            f"No item is meant by “{word[:40]}”.",
            remedy=f"Name an id, a number, 1-4, all, or a section: {', '.join(sections)}.",
        )
    return found


def _open(items: Sequence[ReviewItem], *, undecided: bool) -> list[str]:
    return [item.id for item in items if (item.decision == "undecided") == undecided]


def _numbered(review: Review, number: int) -> ReviewItem:
    found = [item for item in review.items if _number(item) == number]
    meant = _own(review, found) or found
    if len(meant) == 1:
        return meant[0]
    if found:
        raise Ambiguous(
            f"{number} may be {', '.join(item.id for item in found[:5])}.", remedy="Give the whole id."
        )
    raise _nothing(str(number))


def _own(review: Review, items: Sequence[ReviewItem]) -> list[ReviewItem]:
    """Return the items of the proposal's own reflection, without those that came over from an earlier one."""
    return [item for item in items if item.id.startswith(f"{review.id}.")]


def _number(item: ReviewItem) -> int:
    last = item.id.rpartition(".")[2]
    return int(last) if _NUMBER.fullmatch(last) else -1


def _nothing(word: str) -> NotFound:
    return NotFound(f"No item has the number {word}.", remedy="See `workbench review` for the list.")
