"""The proposal as a person reads it: the file's items with what the workspace knows about each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from workbench.engine.clock import time_or_none
from workbench.engine.memory.wording import one_line
from workbench.engine.reflection.due import AGEING_HOURS
from workbench.engine.reflection.files import read_account, reflection_of
from workbench.engine.reflection.items import AS_OF, PROPOSED, RESEMBLES, fields_of
from workbench.engine.reflection.kinds import FORMS, SUMMARY, Kind, Risk, kind_of
from workbench.engine.results import reviews as reflection_results
from workbench.engine.results.reviews import CoreTokens, Quoted, Review, TokenUse
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.markdown.review import Evidence, PendingReflection, ReviewItem

_HIDDEN: Final = (AS_OF, PROPOSED, RESEMBLES)


@dataclass(frozen=True)
class Standing:
    """How the items stand at this moment.

    Args:
        core_tokens: Of core memory now, and with everything applied that is approved.
        waits: Why an approved item would not be applied, by id.
        stale: What stands there now, and why that makes it stale, by the id of each item that is.
        title: Gives a line that names a memory by its id; the id where nothing is known of it.
        text_of: Gives a memory's own words, None where there is no such memory.
    """

    core_tokens: CoreTokens
    waits: Mapping[str, str] = field(default_factory=dict)
    stale: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    title: Callable[[str], str] = str
    text_of: Callable[[str], str | None] = lambda _: None


def overview(pending: PendingReflection, standing: Standing, now: datetime, cap: int) -> Review:
    """Return the proposal with everything a person needs to decide on it.

    Args:
        pending: The file.
        standing: How its items stand.
        now: Aware.
        cap: Of the output tokens of a cycle, where the file does not say.
    """
    prose = pending.prose()
    account = read_account(pending.meta)
    created = time_or_none(pending.created)
    age = max((now - created).total_seconds() / 3600, 0.0) if created and pending.items else 0.0
    labels = {item.target: item.text for item in pending.items if item.kind == Kind.ENTITY}
    return Review(
        id=reflection_of(pending) if pending.items else "",
        created=created if pending.items else None,
        age_hours=round(age, 2),
        ageing=age > AGEING_HOURS,
        items=tuple(_item(item, standing, labels) for item in pending.items),
        tokens=TokenUse(account.spent, cap if account.cap is None else account.cap),
        core_tokens=standing.core_tokens,
        dropped=account.dropped,
        held_back=account.held_back,
        left=account.left,
        opening=prose.get(SUMMARY, ""),
        prose={heading: text for heading, text in prose.items() if heading != SUMMARY},
        problems=tuple(f"{problem.line}: {problem.message} {problem.remedy}" for problem in pending.problems),
        path=pending.path,
        sections=dict(Counter(item.section for item in pending.items)),
    )


def still_says(text: str | None, quote: str) -> bool:
    """Return whether a memory says what is quoted from it; runs of white space count as one blank."""
    return text is not None and one_line(quote) in one_line(text)


def _item(item: ReviewItem, standing: Standing, labels: Mapping[str, str]) -> reflection_results.ReviewItem:
    kind = kind_of(item.kind)
    fields = fields_of(item)
    now, why_stale = standing.stale.get(item.id, ("", ""))
    return reflection_results.ReviewItem(
        id=item.id,
        kind=item.kind,
        target=item.target,
        before=item.before,
        after=item.text,
        confidence=item.confidence,
        reason=item.reason,
        evidence=tuple(_quoted(proof, standing) for proof in item.evidence),
        decision=item.decision,
        stale=item.id in standing.stale,
        now=now,
        section=item.section,
        risk=str(FORMS[kind].risk if kind else Risk.MEDIUM),
        needs=item.needs,
        waits=standing.waits.get(item.id, ""),
        fields={label: text for label, text in fields.items() if label not in _HIDDEN},
        resembles=fields.get(RESEMBLES, ""),
        title=_title(item, standing, labels),
        line=item.span.start if item.span else 0,
        why_stale=why_stale,
    )


def _quoted(proof: Evidence, standing: Standing) -> Quoted:
    text = standing.text_of(proof.id)
    return Quoted(proof.id, proof.quote, found=still_says(text, proof.quote))


def _title(item: ReviewItem, standing: Standing, labels: Mapping[str, str]) -> str:
    """Return what an item is about, in words: the entity a fact is of, the block an item of core memory is in."""
    if not item.target:
        return ""
    if item.target.startswith("core:"):
        return item.target.split(":")[1].replace("-", " ").capitalize()
    target = item.target.partition("#")[0]
    known = f"entity:{target}" if "--" in target and ":" not in target else target
    title = standing.title(known)
    return labels.get(target, item.target) if title == known else title
