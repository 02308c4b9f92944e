"""Weights are fitted to verdicts, tried on conversations left out, and written where they are read."""

from __future__ import annotations

import tomllib

import pytest

from tools.fit_worth import WORTH, Judged, digest, fit, left_out, with_model


def verdicts(conversation: str) -> list[Judged]:
    return [
        Judged(conversation, features, "begun", 4.0, good)
        for features, good, times in (
            (("did", "a name"), True, 9),
            (("did",), True, 5),
            (("under way", "a name"), False, 6),
            (("under way",), False, 9),
        )
        for _ in range(times)
    ]


def test_what_goes_with_the_verdicts_gets_weight_in_their_direction() -> None:
    made = fit(verdicts("a"))
    assert made.weights["did"] > 0 > made.weights["under way"]
    assert made.odds(("did", "a name")) > 0 > made.odds(("under way",))


def test_a_rare_feature_is_drawn_towards_nothing() -> None:
    rare = [*verdicts("a"), Judged("a", ("did", "once"), "begun", 4.0, good=False)]
    assert abs(fit(rare, shrink=100.0).weights.get("once", 0.0)) < abs(fit(rare, shrink=1.0).weights["once"])


def test_each_conversation_is_judged_by_the_others() -> None:
    odd = [Judged("b", ("did",), "begun", 4.0, good=False)]
    (tried,) = [each for each in left_out([*verdicts("a"), *odd]) if not each[0].good and each[1] > 0]
    assert tried[0] == odd[0]


def test_the_file_keeps_all_but_its_weights() -> None:
    text = WORTH.read_text(encoding="utf-8")
    made = fit(verdicts("a"))
    written = with_model(text, made)
    before, after = tomllib.loads(text), tomllib.loads(written)
    assert after.pop("model") == {"base": made.base, "weights": made.weights}
    before.pop("model")
    assert after == before


@pytest.mark.parametrize("quote", ["I sailed  to\nÖland", "I sailed to Öland"])
def test_a_verdict_is_found_by_words_whatever_their_spacing(quote: str) -> None:
    assert digest("a", quote) == digest("a", "I sailed to Öland") != digest("b", "I sailed to Öland")
