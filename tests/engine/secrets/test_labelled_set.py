"""What is recognised in the labelled set."""

from __future__ import annotations

import pytest

from tests.benchmarks.secrets import Half, score
from tests.engine.secrets.labelled_set import read
from workbench.engine.secrets.detection import find_secrets, masked


def test_the_labelled_set_is_large_and_says_nothing_twice() -> None:
    secrets = [*read("open", "secrets"), *read("held_out", "secrets")]
    look_alikes = [*read("open", "look_alikes"), *read("held_out", "look_alikes")]
    assert len(secrets) >= 200
    assert len(look_alikes) >= 400
    assert len({each.text for each in [*secrets, *look_alikes]}) == len(secrets) + len(look_alikes)
    assert all(each.secrets for each in secrets)
    assert not any(each.secrets for each in look_alikes)


def test_values_are_the_same_whenever_the_set_is_read() -> None:
    assert read("open", "secrets") == read("open", "secrets")


@pytest.mark.parametrize("half", ["open", "held_out"])
def test_secrets_are_recognised_and_nothing_else(half: Half) -> None:
    found = score(half)
    assert [each.text for each in found.false_alarms] == []
    assert found.recall >= 0.97, [each.text for each in found.missed]


@pytest.mark.parametrize("half", ["open", "held_out"])
def test_what_is_masked_holds_no_further_secret(half: Half) -> None:
    left = [each.text for each in read(half, "secrets") if find_secrets(masked(each.text))]
    assert left == []
