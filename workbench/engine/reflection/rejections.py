"""What a person rejected stays away, on every path, until there is new evidence for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import EPISODE_ID
from workbench.engine.language.sentences import split_sentences
from workbench.engine.layout import day_in_name
from workbench.engine.markdown.reflection_records import RejectedClaim, RejectedClaims
from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import clip
from workbench.engine.reflection.claim_keys import NEAR, Claim, claim_of, nearness, same, statement
from workbench.engine.reflection.items import ANSWER, AS_OF, OF_PROPOSAL, PROPOSED, RESEMBLES, RESOLVE, SCORE
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem

_PASSING: Final = (ANSWER, AS_OF, OF_PROPOSAL, PROPOSED, RESEMBLES, RESOLVE, SCORE)
_LIKE_ENOUGH: Final = 0.8
_MOST_SENTENCES: Final = 200

Moments = Callable[[str], datetime | None]
"""Tells when a memory was made, by its id; a time without a zone is in the workspace's."""


@dataclass(frozen=True)
class HeldBack:
    """What a person gets to see of proposed items, and what they do not."""

    kept: tuple[ReviewItem, ...]
    held: tuple[ReviewItem, ...]


def remember(content: bytes | None, items: Iterable[ReviewItem], reflection: str, time: str) -> bytes:
    """Return `rejected.md` with some rejected items in it.

    Args:
        content: The file as it is, None where there is none.
        items: What was rejected.
        reflection: In which proposal, `r-012`.
        time: When, ISO 8601 with an offset, in the workspace's zone.
    """
    claims = [RejectedClaim(_kept_of(item), time, reflection) for item in items]
    return RejectedClaims.parse(content or b"").add(claims).render()


def withdraw_approved(content: bytes, items: Iterable[ReviewItem]) -> bytes:
    """Return `rejected.md` without what a person has approved since: their last word counts.

    Args:
        content: The file as it is.
        items: What was approved and applied.
    """
    rejected = RejectedClaims.parse(content)
    approved = [claim_of(item) for item in items]
    known = [(claim.id, claim_of(claim.item)) for claim in rejected.claims]
    gone = [claim_id for claim_id, claim in known if any(same(claim, each) for each in approved)]
    return rejected.remove(gone).render()


def claim_key(item: ReviewItem) -> str:
    """Return a line that items of the same value share, however they are worded and whatever kind says it."""
    return claim_of(item).key


def hold_back(
    items: Iterable[ReviewItem],
    rejected: RejectedClaims,
    moment_of: Moments | None = None,
    absorbed: Callable[[str], Sequence[str]] = lambda _: (),
) -> HeldBack:
    """Keep from a person what they rejected before, unless a memory that is newer than that says so as well.

    What is near a rejected claim is kept and says so in its field `RESEMBLES`, and so does what comes back. What
    needs an entity that stays away stays away with it.

    Args:
        items: As the phases made them; doing this again changes nothing.
        rejected: What was rejected so far.
        moment_of: Tells when a memory was made; what their ids say, by default. Evidence without a time is
            not new.
        absorbed: Gives the ids of the entities that were merged into one: what was rejected of them was
            rejected of it.
    """
    proposed = tuple(items)
    if not rejected.claims:
        return HeldBack(proposed, ())
    known = _Known(rejected.claims)
    moments = moment_of or moment_in_id
    kept: list[ReviewItem] = []
    held: list[ReviewItem] = []
    for item in proposed:
        found = known.like(*_forms(claim_of(item), absorbed))
        new = _new_evidence(item, found.same, moments) if found.same else []
        needs_rejected = any(known.entity(need, item, moments) for need in item.needs)
        if needs_rejected or (found.same and not new):
            held.append(item)
        elif found.same:
            told = f"rejected as {_told(found.same[-1])}; new: {', '.join(new)}"
            kept.append(_resembling(item, told))
        elif found.near is not None:
            said = clip(found.near.item.text or found.near.item.before)
            kept.append(_resembling(item, f"{_told(found.near)}, rejected: “{said}”"))
        else:
            kept.append(item)
    return _without_needing(kept, held)


def rejected_before(
    text: str, subjects: Sequence[str], rejected: RejectedClaims
) -> tuple[RejectedClaim, ...]:
    """Return what a person rejected that a text says again.

    Args:
        text: A memory, of one sentence or many.
        subjects: The entities (`type--slug`, or with `entity:` before it) that it is about.
        rejected: What was rejected so far.
    """
    if not rejected.claims:
        return ()
    known = _Known(rejected.claims)
    about = [subject.removeprefix("entity:") for subject in subjects] or [""]
    found: dict[str, RejectedClaim] = {}
    for sentence in split_sentences(text)[:_MOST_SENTENCES]:
        for subject in about:
            like = known.like(statement(sentence, subject), least=_LIKE_ENOUGH)
            for claim in (*like.same, *((like.near,) if like.near else ())):
                found.setdefault(claim.id, claim)
    return tuple(found.values())


def warnings_of(claims: Iterable[RejectedClaim]) -> tuple[str, ...]:
    """Warn that a person rejected this, one sentence for each claim."""
    return tuple(
        f"This was rejected by the person as {_told(claim)}: “{clip(claim.item.text)}”." for claim in claims
    )


def moment_in_id(memory_id: str) -> datetime | None:
    """Return when a memory was made, as far as its id says: an episode's time, the start of a daily log's day."""
    episode = EPISODE_ID.match(memory_id)
    if episode:
        return _read(f"{episode[1]}T{episode[2]}")
    day = day_in_name(memory_id.removeprefix("file:").partition("#")[0])
    return datetime.combine(day, datetime.min.time()) if day and memory_id.startswith("file:") else None


@dataclass(frozen=True)
class _Like:
    """Rejected claims that come to the same, oldest first, and else the nearest one."""

    same: tuple[RejectedClaim, ...]
    near: RejectedClaim | None = None


class _Known:
    """Rejected claims, found by their words and by what they are about."""

    def __init__(self, claims: Sequence[RejectedClaim]) -> None:
        self._claims = [(claim_of(claim.item), claim) for claim in claims]
        self._by_word: dict[str, list[int]] = {}
        self._entities: dict[str, list[RejectedClaim]] = {}
        for at, (claim, rejected) in enumerate(self._claims):
            for word in _handles(claim):
                self._by_word.setdefault(word, []).append(at)
            if kind_of(rejected.item.kind) is Kind.ENTITY:
                self._entities.setdefault(claim.subject, []).append(rejected)

    def like(self, *forms: Claim, least: float = NEAR) -> _Like:
        """Return what a claim, in any of its forms, was rejected as."""
        pairs = [
            (form, at)
            for form in forms
            for at in sorted({at for word in _handles(form) for at in self._by_word.get(word, ())})
        ]
        alike = {at: self._claims[at][1] for form, at in pairs if same(form, self._claims[at][0])}
        if alike:
            return _Like(tuple(sorted(alike.values(), key=lambda rejected: rejected.time)))
        rated = [(nearness(form, self._claims[at][0]), -at, self._claims[at][1]) for form, at in pairs]
        nearest = max(rated, key=lambda each: each[:2], default=None)
        return _Like((), nearest[2] if nearest and nearest[0] >= least else None)

    def entity(self, name: str, item: ReviewItem, moments: Moments) -> bool:
        """Return whether an entity was rejected and this item brings nothing new for it."""
        found = self._entities.get(name.removeprefix("entity:"), [])
        return bool(found) and not _new_evidence(item, found, moments)


def _forms(claim: Claim, absorbed: Callable[[str], Sequence[str]]) -> list[Claim]:
    """Return a claim as it is, and as it was said of the entities that its own has absorbed."""
    if "--" not in claim.subject:
        return [claim]
    others = (each.removeprefix("entity:") for each in absorbed(claim.subject))
    return [claim, *(replace(claim, subject=other) for other in others)]


def _handles(claim: Claim) -> set[str]:
    """Return what a claim can be found by."""
    words = {*claim.words, *(word for side in claim.sides for word in side)}
    return words | ({f"about {claim.subject}"} if claim.subject else set())


def _new_evidence(item: ReviewItem, rejected: Sequence[RejectedClaim], moments: Moments) -> list[str]:
    """Return the memories that speak for an item, did not speak for a rejected one, and are newer than that."""
    known = {proof.id for claim in rejected for proof in claim.item.evidence}
    rejections = [_moment(claim.time) for claim in rejected]
    dated = [moment for moment in rejections if moment is not None]
    # What somebody wrote down without a date stays away for good.
    if len(dated) < len(rejections):
        return []
    after = max(dated)
    fresh = (proof.id for proof in item.evidence if proof.id not in known)
    return [each for each in dict.fromkeys(fresh) if _is_newer(moments(each), after)]


def _is_newer(moment: datetime | None, after: datetime) -> bool:
    if moment is None:
        return False
    return (moment if moment.tzinfo else moment.replace(tzinfo=after.tzinfo)) > after


def _moment(text: str) -> datetime | None:
    moment = _read(text)
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def _read(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _without_needing(kept: list[ReviewItem], held: list[ReviewItem]) -> HeldBack:
    """Take out what needs an entity that stays away, and what needs that."""
    gone = {each.target for each in held if kind_of(each.kind) is Kind.ENTITY}
    for item in [item for item in kept if gone.intersection(item.needs)]:
        kept.remove(item)
        held.append(item)
    return HeldBack(tuple(kept), tuple(held))


def _resembling(item: ReviewItem, told: str) -> ReviewItem:
    others = tuple(pair for pair in item.fields if pair[0] != RESEMBLES)
    return replace(item, fields=(*others, (RESEMBLES, told)))


def _told(claim: RejectedClaim) -> str:
    return f"{claim.id} on {claim.day}" if claim.day else claim.id


def _kept_of(item: ReviewItem) -> ReviewItem:
    """Return what has to be known of an item to know it again; its quotes stay with their memories."""
    return replace(
        item,
        reason="",
        confidence="",
        needs=(),
        evidence=tuple(Evidence(proof.id, "") for proof in item.evidence),
        fields=tuple(pair for pair in item.fields if pair[0] not in _PASSING),
        decision="rejected",
    )
