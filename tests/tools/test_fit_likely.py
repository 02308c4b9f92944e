"""The weights of what likely does not go together: fitted, held against labels, and written for people to read."""

from __future__ import annotations

import tomllib

import numpy as np

from tests.engine.reflection.snapshots import chat
from tools.fit_likely import (
    FAMILIES,
    LIKELY,
    Chat,
    fit,
    raised,
    read_chat,
    short_chats,
    threshold,
    with_model,
)
from workbench.engine.reflection.claims.likely import FEATURES


def test_what_labels_speak_for_is_raised_first() -> None:
    talks = [talk for talk in short_chats() if talk.pairs]
    real = [bool(bag) for talk in talks for bag in (talk.bags or [[]])]
    found = raised(talks, fit(talks))
    half = sum(real) // 2
    assert np.mean([is_real for _, is_real in found[:half]]) > np.mean([is_real for _, is_real in found])


def test_the_threshold_is_where_a_share_is_still_real() -> None:
    tried = [(float(9 - place), place != 3) for place in range(20)]
    assert threshold(tried, 0.9) == (-10.0, 20, 19)
    assert threshold(tried[:5], 0.9) == (99.0, 0, 0)


def test_who_says_nothing_new_gives_no_pair() -> None:
    talk: Chat = read_chat("", chat("2026-01-01", ("user", "I water the basil.")), (), {}, own=True)
    assert (talk.pairs, talk.bags, talk.judged) == ([], [], {})


def test_weights_are_written_beside_the_cues() -> None:
    text = LIKELY.read_text(encoding="utf-8")
    weights = np.zeros(len(FEATURES))
    weights[FEATURES.index("words")] = 2.5
    written = tomllib.loads(with_model(text, dict.fromkeys(FAMILIES, (-4.0, weights)), 0.7))
    assert written["cues"] == tomllib.loads(text)["cues"]
    assert written["raised"] == 0.7
    assert written["model"]["values"] == {"base": -4.0, "weights": {"words": 2.5}}
