"""A few values, one of which is taken by stepping through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class Steps:
    """A few values, one of which is taken.

    Args:
        values: In order.
        try_out: Told of each one that is looked at, and of the first where one leaves.
        take: Told of the one that is taken.
    """

    title: str
    values: Sequence[str]
    at: int
    try_out: Callable[[str], object]
    take: Callable[[str], object]
