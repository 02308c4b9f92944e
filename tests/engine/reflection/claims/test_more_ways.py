"""Ways of saying that something changed, or of contradicting oneself, that name neither number nor “never” alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.claims.test_finder import found

UPDATES = [
    pytest.param(
        "Jobs go through RabbitMQ.", "Jobs run over NATS JetStream since last Wednesday.", id="the tool of a task"
    ),
    pytest.param(
        "I run all differential analysis with DESeq2.",
        "I moved the differential analysis over to ANCOM.",
        id="moved over to",
    ),
    pytest.param(
        "Terraform stays our tool for infrastructure.",
        "Infrastructure is described with OpenTofu from now on.",
        id="from now on",
    ),
    pytest.param(
        "Bettina leads the rotation.", "Jun has taken over the rotation as of today.", id="somebody took over"
    ),
    pytest.param(
        "We're on Postgres 14 in production.",
        "As of Saturday every one of our databases runs Postgres 16.",
        id="a version without a dot",
    ),
    pytest.param(
        "I'm using Chart.js 3.9 for the plots.", "Since the upgrade to Chart.js 4.4 all is fine.", id="upgraded"
    ),
    pytest.param("The train leaves at 10:00.", "The train leaves at 11:00, not 10:00.", id="not the old one"),
    pytest.param(
        "The nightly import starts at 02:00.", "The import now kicks off at 03:30.", id="another word for it"
    ),
    pytest.param(
        "Petrova comes every second Monday at 9.", "Petrova now comes every second Thursday.", id="recurring days"
    ),
    pytest.param(
        "Runbook for the restore: Farid, by 21 March.",
        "Runbook for the restore is postponed, Farid delivers it by 4 April.",
        id="by a day",
    ),
    pytest.param(
        "I've got 6 stations in the field.",
        "I want to mention that the network has grown to 9 stations.",
        id="the only two counts",
    ),
    pytest.param(
        "Right now checkout has a p95 of 420 ms on production.",
        "The p95 of checkout sits around 310 ms.",
        id="what held only right now",
    ),
    pytest.param(
        "The service has a test coverage of 71% at the moment.",
        "Coverage finally moved, we're up to 83% on the service.",
        id="what “we're up to” is of",
    ),
    pytest.param("公司预算是5万元。", "公司预算加到了8万元。", id="Chinese: no blanks around numbers"),
    pytest.param("会议在周三下午3点。", "会议改到周五下午3点。", id="Chinese: days of the week"),
    pytest.param("数据库用的是MySQL。", "数据库换成了PostgreSQL。", id="Chinese: changed for"),
    pytest.param("我住在上海。", "我搬到杭州了。", id="Chinese: moved house"),
]  # fmt: skip

CONTRADICTIONS = [
    pytest.param(
        "I've never taken out a loan in my life.",
        "With the loan I had for the camera back in 2021 I was unhappy.",
        id="the loan I had",
    ),
    pytest.param(
        "No compost heap yet, we've never had one in this garden.",
        "I turned the compost heap we built two years ago.",
        id="never had one",
    ),
    pytest.param(
        "I like plain functions much more than test classes.",
        "I prefer grouping tests in classes.",
        id="what was liked less",
    ),
    pytest.param("I love coriander.", "I can't stand the taste of coriander.", id="loved and hated"),
    pytest.param(
        "Noor is allergic to sesame seeds.", "Noor isn't allergic to sesame seeds.", id="so and not so"
    ),
    pytest.param("我喜欢喝咖啡。", "我不喜欢喝咖啡。", id="Chinese: liked and not"),
]

NEITHER = [
    pytest.param("Jobs go through RabbitMQ.", "Mails go through Postfix now.", id="another task"),
    pytest.param("My sister is in Porto.", "My sister is with Tom now.", id="a person is no place to fill"),
    pytest.param(
        "Jobs go through RabbitMQ.", "If jobs ran over NATS now, it would be faster.", id="supposed"
    ),
    pytest.param("I use Postgres 14.", "I now read about Windows 11.", id="another program's version"),
    pytest.param("I'm not sure where to start.", "Here's what I have so far.", id="nothing denied"),
    pytest.param("I had 3 objects.", "I need all 4 objects, not just 2 out of 4.", id="not just some"),
    pytest.param("I love coriander.", "I can't stand parsley.", id="another thing hated"),
    pytest.param("The game is over 500ms late.", "I want to get the game down to 290ms.", id="a goal"),
    pytest.param("I got 2 of 10 points.", "I got 2 of 12 points now.", id="out of how many"),
    pytest.param(
        "I can't do Mondays for the yoga course.", "The yoga course is now on Thursday.", id="what cannot be"
    ),
]


@pytest.mark.parametrize(("before", "after"), UPDATES)
def test_a_change_is_found_however_it_is_said(tmp_path: Path, before: str, after: str) -> None:
    (item,) = found(tmp_path, before, after)
    assert item.kind == "supersession"
    assert len({proof.id for proof in item.evidence}) == 2


@pytest.mark.parametrize(("one", "other"), CONTRADICTIONS)
def test_a_contradiction_is_found_however_it_is_said(tmp_path: Path, one: str, other: str) -> None:
    (item,) = found(tmp_path, one, other)
    assert item.kind == "contradiction"
    assert len({proof.id for proof in item.evidence}) == 2


@pytest.mark.parametrize(("one", "other"), NEITHER)
def test_what_is_said_of_something_else_is_no_conflict(tmp_path: Path, one: str, other: str) -> None:
    assert found(tmp_path, one, other) == ()


def test_what_is_taken_for_granted_is_quoted(tmp_path: Path) -> None:
    (item,) = found(
        tmp_path, "I've never taken out a loan.", "Is leasing like the loan I had back in 2021?", owner="Alex"
    )
    fields = dict(item.fields)
    assert fields["that"] == "Alex spoke of “the loan I had back in 2021”"


def test_words_before_a_colon_are_part_of_the_statement(tmp_path: Path) -> None:
    (item,) = found(
        tmp_path,
        "Electricity tariff: 31 cents per kWh at GreenFlow.",
        "Electricity tariff: now 27 cents per kWh.",
    )
    assert item.before.startswith("Electricity tariff: 31 cents")


HOSTILE = [
    ("I love it more than a b " * 24 + "\n") * 60,
    ("5, not just " * 45 + "\n") * 60,
    ("Aa Bb Cc Dd leads the " * 26 + "\n") * 60,
    ("5 of of the " * 45 + "\n") * 60,
    "数据库用的是" * 3000,
]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_text_made_to_be_slow_is_read_all_the_same(tmp_path: Path, text: str) -> None:
    (item,) = found(tmp_path, "My rent is $900.", text, "My rent is now $950.")
    assert item.kind == "supersession"
