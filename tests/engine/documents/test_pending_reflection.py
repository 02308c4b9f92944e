"""Review items: what is proposed is read back, and no text forges an item or a decision."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.engine.documents.hostile_text import any_bytes, texts, worded
from workbench.engine.documents import Decision, Evidence, PendingReflection, ReviewItem, ReviewSection
from workbench.engine.documents.items import clean_item
from workbench.engine.errors import InvalidInput, NotFound

SAMPLE = """# Reflection Summary — 2026-02-03

<!-- reflection: r-012 | created: 2026-02-03T03:00:00Z -->

## 🧠 New knowledge extracted
- [ ] `r-012.1` fact for [[person--alex]]: Prefers hybrid approaches over pure ones (confidence high)
  - because: chosen in three of the last four decisions
  - episode:2026-02-02:14:30 says "Chose hybrid approach"
- [X] `r-012.2` core change for `core:identity:name`: Name: Alex
  - was: Name: Al
  - needs: r-012.1
  - since: 2026-02-02
* [-] `r-012.3` archive: old
- [?] `r-012.4` archive: older
- [ ] `r-012.1` fact: twice
- [ ] a task of somebody
- [ ] `r-012.5`

---

**Reflection #**: 5
**Token budget used**: 5,200 / 8,000
"""

quotes = texts().map(clean_item)
items = st.builds(
    ReviewItem,
    id=st.just("r-012.1"),
    kind=st.sampled_from(["fact", "core change", "contradiction"]),
    text=worded.map(clean_item),
    target=st.sampled_from(["", "person--alex", "core:identity:name", "vault:my note.md"]),
    before=quotes,
    confidence=st.sampled_from(["", "high", "low"]),
    reason=quotes,
    evidence=st.lists(
        st.builds(Evidence, st.sampled_from(["episode:2026-02-02:14:30", "vault:my note.md"]), quotes),
        max_size=2,
    ).map(tuple),
    needs=st.sampled_from([(), ("r-012.2", "r-012.3")]),
    fields=worded.map(lambda text: (("since", clean_item(text)),)) | st.just(()),
    decision=st.sampled_from(["undecided", "approved", "rejected", "deferred"]),
)


def strip(item: ReviewItem) -> tuple[object, ...]:
    return (
        item.id,
        item.kind,
        item.text,
        item.target,
        item.before,
        item.confidence,
        item.reason,
        item.evidence,
        item.needs,
        item.fields,
        item.decision,
    )


def test_the_sample_is_read() -> None:
    review = PendingReflection.parse(SAMPLE.encode())
    assert (review.reflection, review.created) == ("r-012", "2026-02-03T03:00:00Z")
    assert review.meta == (("Reflection #", "5"), ("Token budget used", "5,200 / 8,000"))
    first, second, third, fourth = review.items
    assert (first.kind, first.target, first.text, first.confidence, first.reason) == (
        "fact",
        "person--alex",
        "Prefers hybrid approaches over pure ones",
        "high",
        "chosen in three of the last four decisions",
    )
    assert first.evidence == (Evidence("episode:2026-02-02:14:30", "Chose hybrid approach"),)
    assert (second.kind, second.target, second.text, second.before, second.needs, second.fields) == (
        "core change",
        "core:identity:name",
        "Name: Alex",
        "Name: Al",
        ("r-012.1",),
        (("since", "2026-02-02"),),
    )
    assert [item.decision for item in review.items] == ["undecided", "approved", "rejected", "undecided"]
    assert [problem.line for problem in review.problems] == [14, 15, 17]
    assert third.text == "old"
    assert fourth.id == "r-012.4"


def test_deciding_changes_one_character() -> None:
    review = PendingReflection.parse(SAMPLE.encode())
    decided = review.decide([("r-012.1", "approved"), ("r-012.3", "deferred")])
    assert decided.render().decode() == SAMPLE.replace(
        "- [ ] `r-012.1` fact for", "- [x] `r-012.1` fact for"
    ).replace("* [-]", "* [>]")
    with pytest.raises(NotFound, match=r"r-099\.1"):
        review.decide([("r-099.1", "approved")])
    with pytest.raises(InvalidInput):
        review.decide([("r-012.1", "maybe")])  # type: ignore[list-item]  # what a caller may get wrong


def test_rewording_keeps_the_evidence() -> None:
    review = PendingReflection.parse(SAMPLE.encode()).reword("r-012.1", "Other\nwords")
    item = review.items[0]
    assert (item.text, item.confidence) == ("Other\nwords", "high")
    assert item.evidence == (Evidence("episode:2026-02-02:14:30", "Chose hybrid approach"),)
    again = review.reword("r-012.1", "Prefers hybrid approaches over pure ones")
    assert again.render().decode() == SAMPLE


def test_removing_takes_the_evidence_too() -> None:
    review = PendingReflection.parse(SAMPLE.encode()).remove(["r-012.1", "r-012.3"])
    assert "Chose hybrid" not in review.render().decode()
    assert [item.id for item in review.items][:2] == ["r-012.2", "r-012.4"]


@given(item=items, prose=texts(), decision=st.sampled_from(["approved", "rejected"]))
def test_what_is_proposed_is_read_back(item: ReviewItem, prose: str, decision: Decision) -> None:
    other = ReviewItem("r-012.2", "archive", "last")
    review = PendingReflection.create(
        "r-012",
        "2026-02-03T03:00:00Z",
        [ReviewSection("One", (item,), prose), ReviewSection("Two", (other,))],
        [("Reflection #", "5")],
    )
    assert [strip(read) for read in review.items] == [strip(item), strip(other)]
    assert review.sections == ("One", "Two")
    assert review.meta == (("Reflection #", "5"),)
    decided = review.decide([(item.id, decision)])
    assert [read.decision for read in decided.items] == [decision, "undecided"]


@example(item=ReviewItem("r-012.1", "fact", "x", evidence=(Evidence("episode:1", "\x1f"),)), text="\x1f\n")
@given(item=items, text=worded)
def test_rewording_touches_nothing_but_the_text(item: ReviewItem, text: str) -> None:
    review = PendingReflection.create("r-012", "2026-02-03", [ReviewSection("One", (item,))])
    reworded = review.reword(item.id, text)
    expected = [clean_item(text) if at == 2 else part for at, part in enumerate(strip(item))]
    assert list(strip(reworded.items[0])) == expected
    assert len(reworded.items) == 1


@given(content=any_bytes)
def test_any_item_found_can_be_decided(content: bytes) -> None:
    review = PendingReflection.parse(b"## A\n- [ ] `r-1.1` fact: x\n" + content)
    decided = review.decide([(item.id, "approved") for item in review.items])
    assert [item.decision for item in decided.items] == ["approved"] * len(review.items)
