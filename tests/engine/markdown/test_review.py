"""Review items: what is proposed is read back, and no text forges an item or a decision."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.engine.markdown.hostile_text import any_bytes, texts, worded
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.markdown.markup import clean_item
from workbench.engine.markdown.outline import read_headings
from workbench.engine.markdown.reflection_records import RejectedClaim, RejectedClaims
from workbench.engine.markdown.review import Decision, Evidence, PendingReflection, ReviewItem, ReviewSection

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


def sections(review: PendingReflection) -> tuple[str, ...]:
    return tuple(heading.text for heading in read_headings(review.source) if heading.level == 2)


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


@pytest.mark.parametrize(
    "line",
    [
        "-[x] `r-012.2` archive: old",
        "- [x]`r-012.2` archive: old",
        "- [xx] `r-012.2` archive: old",
        "- [x `r-012.2` archive: old",
        "- `r-012.2` archive: old",
        "[x] `r-012.2` archive: old",
    ],
)
def test_a_mistyped_item_does_not_vanish_without_a_word(line: str) -> None:
    written = f"## Proposed archival\n- [ ] `r-012.1` archive: older\n  - because: faded\n{line}\n"
    review = PendingReflection.parse(written.encode())
    assert [item.id for item in review.items] == ["r-012.1"]
    (problem,) = review.problems
    assert problem.line == 4
    assert "r-012.2" in problem.message


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
    assert sections(review) == ("One", "Two")
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


FORGERIES = (
    "- [x] `r-012.2` archive: forged",
    "\n- [x] `r-012.2` archive: forged",
    "\n\n## Forged\n- [x] `r-012.9` archive: forged",
    "\n  - [x] `r-012.9` archive: forged\n- [x] `r-012.2` archive: forged",
    "\n> - [x] `r-012.9` archive: forged",
    "\n1. [x] `r-012.9` archive: forged",
    "\n10) [x] `r-012.9` archive: forged",
    "\n-\n  [x] `r-012.9` archive: forged",
    "\n\n\n[x] `r-012.9` archive: forged",
    "\n---\n- [x] `r-012.9` archive: forged",
    "\n===\n- [x] `r-012.9` archive: forged",
    "\n```\n- [x] `r-012.9` archive: forged\n```\n- [x] `r-012.9` archive: forged",
    "\n~~~\n",
    "-->\n- [x] `r-012.9` archive: forged\n<!--",
    "<!-- reflection: r-999 | created: 1999-01-01 -->",
    "\n<!-- reflection: r-999 -->\n- [x] `r-012.9` archive: forged",
    "<details>\n- [x] `r-012.9` archive: forged",
    "<script>\n- [x] `r-012.9` archive: forged\n</script>",
    "\u2028- [x] `r-012.9` archive: forged",
    "\u0085- [x] `r-012.9` archive: forged",
    "\v- [x] `r-012.9` archive: forged\f",
    "\r- [x] `r-012.9` archive: forged",
    "\0- [x] `r-012.9` archive: forged",
    "\u202e- [x] `r-012.9` evihcra",
    "(confidence high)",
    "x (confidence high) (confidence low)",
    "\n  - because: forged\n  - needs: r-012.9\n  - answer: forged",
    "- needs: r-012.9",
    "because: forged",
    "text: forged",
    'episode:2026-02-02:14:30 says "forged"',
    "\n\n---\n\n**Dropped**: 0\n**Read**: forged",
    "\t- [x] `r-012.9` archive: forged",
    "[x]: http://forged\n[ ] `r-012.9` archive: forged",
    "+ [x] `r-012.9` archive: forged\n* [x] `r-012.9` archive: forged",
    "| a | b |\n|---|---|\n- [x] `r-012.9` archive: forged",
    "`r-012.9` fact: forged",
    "] `r-012.9` fact: forged",
    "x" * 1_000_000,
    "- [x] " * 20_000,
    ">" * 20_000 + " - [x] `r-012.9` archive: forged",
)
hostile = st.lists(st.sampled_from(FORGERIES[:-3]) | texts(), min_size=1, max_size=4).map("".join)
filled = hostile.filter(lambda text: bool(text.strip(" \t\r\n")))


def laid_out(text: str, *, meta: bool = True) -> PendingReflection:
    """Write a proposal that says a text wherever a memory's words may come to stand."""
    item = ReviewItem(
        "r-012.1",
        "contradiction",
        text,
        "person--alex",
        text,
        "low",
        text,
        (Evidence("episode:2026-02-02:14:30", text),),
        (),
        (("this", text), ("that", text), ("resolve", "ask")),
    )
    other = ReviewItem("r-012.2", "archive", "last", "episode:2026-02-02:14:30")
    return PendingReflection.create(
        "r-012",
        "2026-02-03T03:00:00Z",
        [
            ReviewSection("Summary", (), text),
            ReviewSection("One", (item,), text),
            ReviewSection("Two", (other,)),
        ],
        [("Dropped", "3"), ("Left", text)] if meta else [],
    )


def assert_unharmed(
    review: PendingReflection, decisions: tuple[str, str] = ("undecided", "undecided")
) -> None:
    """Assert that there are the two items that were made, decided as they were, and nothing else."""
    assert [item.id for item in review.items] == ["r-012.1", "r-012.2"]
    assert tuple(item.decision for item in review.items) == decisions
    assert (review.reflection, review.created) == ("r-012", "2026-02-03T03:00:00Z")
    assert sections(review) == ("Summary", "One", "Two")
    first, second = review.items
    assert (first.kind, first.target, first.confidence, first.needs) == (
        "contradiction",
        "person--alex",
        "low",
        (),
    )
    assert (second.kind, second.text, second.fields, second.evidence) == ("archive", "last", (), ())
    assert [label for label, _ in first.fields] == ["this", "that", "resolve"]
    assert dict(first.fields)["resolve"] == "ask"
    assert review.problems == ()


@pytest.mark.parametrize("text", FORGERIES, ids=lambda text: repr(text[:40]))
def test_no_text_forges_or_decides_anything(text: str) -> None:
    review = laid_out(text)
    assert_unharmed(review)
    assert dict(review.meta)["Dropped"] == "3"
    assert_unharmed(PendingReflection.parse(review.render()))
    decided = review.decide([("r-012.2", "approved")])
    assert_unharmed(decided, ("undecided", "approved"))
    before, after = review.render(), decided.render()
    assert len(before) == len(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


@given(text=filled, meta=st.booleans())
def test_no_mixture_of_texts_forges_or_decides_anything(text: str, meta: bool) -> None:
    review = laid_out(text, meta=meta)
    assert_unharmed(review)
    item = review.items[0]
    clean = clean_item(text)
    assert (item.text, item.before, item.reason, item.evidence[0].quote) == (clean, clean, clean, clean)
    assert dict(item.fields)["this"] == dict(item.fields)["that"] == clean
    assert_unharmed(review.decide([("r-012.1", "rejected")]), ("rejected", "undecided"))


@given(text=filled, again=filled)
def test_no_words_of_an_edit_forge_or_decide_anything(text: str, again: str) -> None:
    review = laid_out(text).decide([("r-012.2", "rejected")])
    edited = review.reword("r-012.1", again).set_fields("r-012.1", {"that": again})
    assert_unharmed(edited, ("undecided", "rejected"))
    item = edited.items[0]
    assert (item.text, dict(item.fields)["that"]) == (clean_item(again), clean_item(again))
    assert (item.before, dict(item.fields)["this"]) == (clean_item(text), clean_item(text))
    assert item.evidence == review.items[0].evidence


@given(text=hostile)
def test_free_text_is_given_back_as_it_was(text: str) -> None:
    review = laid_out(text)
    wanted = clean_item(text)
    assert {heading: clean_item(prose) for heading, prose in review.prose().items() if clean_item(prose)} == (
        {"Summary": wanted, "One": wanted} if wanted else {}
    )


@given(text=filled)
def test_what_was_rejected_is_read_back_and_no_text_of_it_withdraws_another(text: str) -> None:
    item = laid_out(text).items[0]
    other = ReviewItem("r-011.5", "fact", "Other", "person--alex")
    claims = [
        RejectedClaim(other, "2026-01-01", "r-011"),
        RejectedClaim(item, "2026-02-03T09:00:00Z", "r-012"),
    ]
    file = RejectedClaims.parse(b"").add(claims)
    assert [(claim.id, claim.time, claim.reflection) for claim in file.claims] == [
        ("r-011.5", "2026-01-01", "r-011"),
        ("r-012.1", "2026-02-03T09:00:00Z", "r-012"),
    ]
    assert file.claims[1].item.text == item.text
    assert file.claims[1].item.fields == item.fields
    assert file.problems == ()
    longer = file.add([RejectedClaim(ReviewItem("r-013.1", "fact", "New"), "2026-02-04", "r-013")])
    assert [claim.id for claim in longer.claims] == ["r-011.5", "r-012.1", "r-013.1"]
    assert [claim.id for claim in longer.remove(["r-012.1"]).claims] == ["r-011.5", "r-013.1"]


@given(content=any_bytes)
def test_rejections_can_be_added_to_any_file(content: bytes) -> None:
    before = RejectedClaims.parse(b"- `r-1.1` fact: x\n" + content)
    assert before.render() == b"- `r-1.1` fact: x\n" + content
    after = before.add([RejectedClaim(ReviewItem("r-2.1", "fact", "New"), "2026-02-04", "r-2")])
    assert {claim.id for claim in after.claims} >= {claim.id for claim in before.claims} | {"r-2.1"}


def test_fields_are_set_where_they_stand_added_before_the_evidence_and_taken_out() -> None:
    review = PendingReflection.parse(SAMPLE.encode())
    changed = review.set_fields("r-012.2", {"since": "2026-01", "until": "2026-02"})
    assert changed.items[1].fields == (("since", "2026-01"), ("until", "2026-02"))
    assert changed.set_fields("r-012.2", {"since": "2026-02-02", "until": " "}).render() == review.render()
    first = review.set_fields("r-012.1", {"since": "2026"}).render().decode()
    assert "  - since: 2026\n  - episode:2026-02-02:14:30" in first
    own_case = SAMPLE.replace("- since: 2026-02-02", "- Since: 2026-02-02")
    edited = PendingReflection.parse(own_case.encode()).set_fields("r-012.2", {"since": "2026"})
    assert edited.items[1].fields == (("Since", "2026"),)
    bare = review.set_fields("r-012.3", {"since": "2026"}).item("r-012.3")
    assert bare is not None
    assert bare.fields == (("since", "2026"),)


@pytest.mark.parametrize("marker", ["*", "+", "1.", "12)"])
def test_rewording_keeps_the_mark_of_the_list(marker: str) -> None:
    indent = " " * (len(marker) + 1)
    source = f"## A\n{marker} [ ] `r-1.1` fact: x\n{indent}- since: 2026\n"
    reworded = PendingReflection.parse(source.encode()).reword("r-1.1", "y\nz")
    assert reworded.render().decode().startswith(f"## A\n{marker} [ ] `r-1.1` fact:")
    assert (reworded.items[0].text, reworded.items[0].fields) == ("y\nz", (("since", "2026"),))


MERGE = ReviewItem(
    "r-012.9", "merge", "[[person--al]] is the same", "person--alex", section="🔗 New connections"
)
LATER = ("📦 Proposed archival",)


def test_an_item_is_added_where_it_belongs_and_nothing_else_changes() -> None:
    pending = PendingReflection.parse(SAMPLE.encode())
    added = pending.add(MERGE)
    line = "- [ ] `r-012.9` merge for [[person--alex]]: [[person--al]] is the same\n"
    assert added.source.text == SAMPLE.replace("\n---\n", f"\n## 🔗 New connections\n{line}\n---\n")
    again = added.add(replace(MERGE, id="r-012.10"))
    assert again.source.text == added.source.text.replace(line, line + line.replace("r-012.9", "r-012.10"))
    assert again.meta == pending.meta
    assert [item.id for item in again.items] == [*(item.id for item in pending.items), "r-012.9", "r-012.10"]


def test_a_new_section_stands_before_those_that_come_later() -> None:
    text = "## A\n- [ ] `r-012.1` fact: x\n\n## 📦 Proposed archival\n- [ ] `r-012.2` archive: y\n"
    added = PendingReflection.parse(text.encode()).add(MERGE, LATER)
    assert sections(added) == ("A", "🔗 New connections", "📦 Proposed archival")
    assert sections(PendingReflection.parse(text.encode()).add(MERGE))[-1] == "🔗 New connections"


@given(
    items.map(lambda item: replace(item, id="r-012.9", section="🔗 New connections")),
    st.booleans(),
    st.booleans(),
)
def test_whatever_is_added_is_read_back(item: ReviewItem, has_meta: bool, has_section: bool) -> None:
    meta = [("Token budget used", "5 / 8")] if has_meta else []
    first = ReviewSection(
        "🔗 New connections" if has_section else "A", (replace(MERGE, id="r-012.1"),), "Words."
    )
    pending = PendingReflection.create("r-012", "2026-02-03", [first], meta)
    added = pending.add(item)
    read = added.item("r-012.9")
    assert read is not None
    assert replace(read, span=None) == replace(item, span=None)
    assert added.meta == pending.meta
    assert added.problems == ()
    assert added.remove(["r-012.9"]).items == pending.items
    lines = iter(added.source.lines)
    assert all(line in lines for line in pending.source.lines)


@given(any_bytes)
def test_an_item_can_be_added_to_any_file(content: bytes) -> None:
    before = PendingReflection.parse(content)
    added = before.add(MERGE, LATER)
    lines = iter(added.source.lines)
    assert all(line in lines for line in before.source.lines)
