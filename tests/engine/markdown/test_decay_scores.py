"""The scores file: what is not named keeps its bytes, and one broken entry hides no other."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import DocumentError
from workbench.engine.markdown.decay_scores import DecayScores, ScoreEntry

ENTRY = ScoreEntry("episodic", 1.0, "2026-02-02T14:30:00Z", "2026-02-02T16:00:00Z", 2, 0.8, 0.92)
SAMPLE = """{
  "version": 2,
  "last_updated": "2026-02-02T16:00:00Z",
  "folded":  {"a": 1},
  "entries": {
    "episode:2026-02-02:14:30": {"store": "episodic", "base_relevance": 1.00, "note": "mine" },
    "entity:concept--oauth2-pkce": {
      "store": "semantic", "access_count": 1, "pinned": true
    }
  }
}
"""

ids = st.text(max_size=8).map(lambda text: f"vault:{text}")
scores = st.builds(
    ScoreEntry,
    store=st.text(max_size=5),
    base_relevance=st.floats(0, 1),
    created=st.just("2026-02-02T14:30:00Z"),
    last_accessed=st.just(""),
    access_count=st.integers(0, 10**6),
    type_weight=st.floats(0, 2),
    current_score=st.floats(0, 9),
    pinned=st.booleans(),
    extra=st.sampled_from([(), (("note", "é \ud800"), ("list", [1, {"a": None}]))]),
)


def read(text: str) -> DecayScores:
    return DecayScores.parse(text.encode())


def test_the_sample_is_read() -> None:
    file = read(SAMPLE)
    assert (file.version, file.last_updated, dict(file.extra)) == (
        2,
        "2026-02-02T16:00:00Z",
        {"folded": {"a": 1}},
    )
    assert list(file.entries) == ["episode:2026-02-02:14:30", "entity:concept--oauth2-pkce"]
    assert file.entries["episode:2026-02-02:14:30"].extra == (("note", "mine"),)
    assert file.entries["entity:concept--oauth2-pkce"].pinned
    assert file.problems == ()


def test_an_update_touches_only_what_it_names() -> None:
    file = read(SAMPLE).update({"vault:x": ENTRY}, extra={"folded": {"a": 2}})
    text = file.content.decode()
    assert text.startswith(SAMPLE.replace('{"a": 1}', '{"a": 2}')[: SAMPLE.index("\n  }\n}")])
    assert json.loads(text)["entries"]["vault:x"]["access_count"] == 2
    assert file.update({"vault:x": None}, extra={"folded": {"a": 1}}).content.decode() == SAMPLE


def test_new_outer_keys_and_missing_parts_are_added() -> None:
    file = read("{}").update({"vault:x": ENTRY}, last_updated="t", extra={"checked": None})
    assert json.loads(file.content) == {
        "last_updated": "t",
        "checked": None,
        "entries": {"vault:x": json.loads(read("").update({"vault:x": ENTRY}).content)["entries"]["vault:x"]},
    }


@given(
    before=st.dictionaries(ids, scores, max_size=4),
    changes=st.dictionaries(ids, st.none() | scores, max_size=4),
)
def test_entries_read_back_and_keep_their_order(
    before: dict[str, ScoreEntry], changes: dict[str, ScoreEntry | None]
) -> None:
    file = read("").update(before)
    assert dict(file.entries) == before
    after = file.update(changes)
    expected = {key: value for key, value in {**before, **changes}.items() if value is not None}
    assert dict(after.entries) == expected
    assert list(after.entries) == list(expected)
    assert after.problems == ()


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        ('{"base_relevance": "high"}', "base_relevance"),
        ('{"access_count": 1.5}', "access_count"),
        ('{"pinned": 1}', "pinned"),
        ('{"current_score": NaN}', "current_score"),
        ('{"current_score": 1e999}', "current_score"),
        ('{"created": 5}', "created"),
        ("[]", "object"),
    ],
)
def test_an_ill_typed_entry_hides_no_other(bad: str, word: str) -> None:
    file = read(SAMPLE.replace('"entries": {', '"entries": {\n    "vault:bad": ' + bad + ","))
    assert len(file.entries) == 2
    (problem,) = file.problems
    assert problem.line == 6
    assert word in problem.message
    assert file.update({"vault:y": ENTRY}).content.decode().count(bad) == 1


@pytest.mark.parametrize(
    "broken", ['"store": "episodic",,', '"store" "episodic",', '"store": "episodic"} {', "{{"]
)
def test_broken_json_is_reported_with_its_line_and_the_rest_is_read(broken: str) -> None:
    file = read(SAMPLE.replace('"store": "episodic",', broken))
    assert "entity:concept--oauth2-pkce" in file.entries
    assert file.problems[0].line == 6
    with pytest.raises(DocumentError, match=":6:"):
        file.update({"vault:x": replace(ENTRY, pinned=True)})


def test_a_torn_file_keeps_what_stands_before_the_tear() -> None:
    file = read(SAMPLE[: SAMPLE.index('"pinned"')])
    assert list(file.entries) == ["episode:2026-02-02:14:30"]
    assert file.problems


def test_text_behind_the_end_is_reported() -> None:
    file = read(SAMPLE + "x")
    assert len(file.entries) == 2
    assert file.problems[0].line == 12
