"""Requests: what they check, and what of them is kept while they wait."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.engine.errors import InvalidInput
from workbench.engine.requests import ProposeRequest, RememberRequest, SearchRequest


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"max_results": 0}, "max_results is 0."),
        ({"budget": -1}, "budget is -1."),
        ({"max_results": 10**22}, "max_results is 10,000,000,000,000,000,000,000."),
        ({"min_score": 1.5}, "min_score is 1.5."),
        ({"min_score": float("nan")}, "min_score is nan."),
        ({"store": "attic"}, "There is no store “attic”."),
    ],
)
def test_a_search_that_makes_no_sense_is_refused_where_it_is_built(
    given: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        SearchRequest("tea", **given)
    assert caught.value.message == message


@pytest.mark.parametrize("kind", [RememberRequest, ProposeRequest])
def test_a_scope_is_understood_where_the_request_is_built(
    kind: type[RememberRequest] | type[ProposeRequest],
) -> None:
    assert kind("tea", scope="all").scope == "shared"
    assert kind("tea", scope="agent:main:telegram:group:123").scope == "group:telegram-123"
    with pytest.raises(InvalidInput, match="is no scope"):
        kind("tea", scope="somebody")


def test_what_is_kept_of_a_request_is_what_the_file_of_held_requests_holds() -> None:
    """Other versions read that file: no name in it may change."""
    assert set(RememberRequest("tea").as_arguments()) == {
        "text", "store", "type", "tags", "entities", "block", "confidence", "source", "origins", "pinned", "scope",
        "on",
    }  # fmt: skip
    assert set(ProposeRequest("tea").as_arguments()) == {
        "content", "store", "type", "tags", "entities", "confidence", "trigger", "core_worthy", "origins", "scope",
    }  # fmt: skip


def test_a_request_that_was_kept_is_read_back_with_the_text_that_is_let_in() -> None:
    request = RememberRequest(
        "The code is 1234",
        store="semantic",
        tags=("door",),
        entities=("place:Cellar",),
        source="conversation",
        pinned=True,
        scope="group:family",
    )
    kept = json.loads(json.dumps(request.as_arguments()))
    assert RememberRequest.from_arguments("The code is 1234", kept) == request
    assert RememberRequest.from_arguments("Left out", kept).text == "Left out"
    # A proposal keeps more than remembering takes.
    proposed = ProposeRequest("Tea at four", tags=("tea",), trigger="asked").as_arguments()
    assert RememberRequest.from_arguments("Tea at four", proposed) == RememberRequest(
        "Tea at four", tags=("tea",), confidence="medium"
    )
